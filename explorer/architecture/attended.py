"""Over how many tokens the self-attentions of one block go, where it has two that differ.

So a transformer of videos attends over frames and then over patches (G. Bertasius and others, Is
Space-Time Attention All You Need, 2021, figure 2), and one of tables over features and then over
rows (G. Somepalli and others, SAINT, 2021, figure 1).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from netloupe.explorer.model.constant import constant_tensor
from netloupe.explorer.patterns.operations import list_data
from netloupe.explorer.patterns.readings import read_numbers
from netloupe.explorer.patterns.transformer_details import AttentionDetails

from .outline import Outline, OutlinePart
from .pieces import Piece
from .sizes import read_stated_shape

#: how self-attention is told, with its heads
_SAID = re.compile(r"self-attentions?(?: (?:of )?\d+ heads?(?: × \d+)?)?")
#: how blocks are told of which nothing more is said
_BARE = re.compile(r"(\d{1,3}) transformer blocks")
#: of fewer blocks it may be by chance that they take turns
_LEAST_TURNS = 2
#: the sizes of what is split into heads: batch, tokens, heads, width of each
_LEAST_DIMS = 4
_TOKENS = " tokens"

Size = int | str


def add_attended(outline: Outline, text: str, pieces: Sequence[Piece]) -> str:
    """Return a text with how many tokens the two self-attentions of each block go over."""
    found = _SAID.search(text)
    if found is None:
        return text
    told = _tell_turns(outline, [part for piece in pieces for part in _list_attentions(piece)])
    if not told:
        return text
    way = f"over {told[0]}, then over {told[1]}"
    is_inside = text[: found.start()].count("(") > text[: found.start()].count(")")
    way = f", {way}" if is_inside else f" ({way})"
    return f"{text[: found.end()]}{way}{text[found.end() :]}"


def add_turns(outline: Outline, clauses: Sequence[str]) -> list[str]:
    """Return clauses with what blocks of a transformer, told alone, attend over in turn.

    As the columns of a table and its rows (G. Somepalli and others, SAINT: Improved Neural Networks
    for Tabular Data via Row Attention and Contrastive Pre-Training, 2021, figure 1).
    """
    bare = [at for at, clause in enumerate(clauses) if _BARE.fullmatch(clause)]
    parts = outline.of_kind("attention")
    if len(bare) != 1 or int(_BARE.fullmatch(clauses[bare[0]])[1]) != len(parts):  # type: ignore[index]
        return [*clauses]
    told = _tell_turns(outline, parts)
    way = f" (attention in turn over {told[0]} and over {told[1]})" if told else ""
    return [f"{clause}{way}" if at == bare[0] else clause for at, clause in enumerate(clauses)]


def _tell_turns(outline: Outline, parts: Sequence[OutlinePart]) -> list[str]:
    """Return what two attentions in turn go over; nothing where that is not known, or the same."""
    if len(parts) < 2 * _LEAST_TURNS or len(parts) % 2:
        return []
    sizes = [_find_size(outline, part) for part in parts]
    first, second = sizes[:2]
    if first == second or sizes != [first, second] * (len(sizes) // 2):
        return []
    if not all(two.follows(one) for one, two in zip(parts[::2], parts[1::2], strict=True)):
        return []  # they are of two streams
    told = [_write_size(outline, one) for one in (first, second)]
    if not all(told):
        return []
    if all(one.endswith(_TOKENS) for one in told):
        told[0] = told[0].removesuffix(_TOKENS)
    return told


def _list_attentions(piece: Piece) -> Sequence[OutlinePart]:
    if piece.layer is not None:
        return piece.layer.attentions
    return [part for part in piece.parts if part.kind == "attention"]


def _write_size(outline: Outline, size: Size) -> str:
    """Return what attention goes over: tokens, or what a graph takes together as a batch."""
    batch = _find_batch(outline)
    if isinstance(size, str):
        return "the batch" if size == batch else ""
    if size and size == batch:
        return f"the batch of {size:,}"
    return f"{size:,}{_TOKENS}" if size else ""


def _find_batch(outline: Outline) -> Size:
    """Return the first size of all inputs, if it is more than one; else 0."""
    shapes = [read_stated_shape(value) for value in outline.graph.inputs if not value.initializer]
    firsts = {shape[0] if shape else None for shape in shapes}
    first = firsts.pop() if len(firsts) == 1 else None
    return 0 if first in (None, 1) else first or 0


def _find_size(outline: Outline, part: OutlinePart) -> Size:
    """Return over how many keys the shares of attention go; 0 where that is not known."""
    operations = outline.operations
    numbers = part.numbers.union(*(inner.numbers for inner in part.parts))
    for number in sorted(numbers):
        node = operations.nodes[number]
        if node.operator.has("distributes"):
            shape = read_stated_shape(node.output(0))
            if shape and shape[-1]:
                return shape[-1]
            return _find_split(outline, part, numbers)
    return 0


def _find_split(outline: Outline, part: OutlinePart, numbers: frozenset[int]) -> int:
    """Return how many tokens are split into heads before products of attention; 0 if unknown."""
    operations = outline.operations
    details = part.details.read_as(AttentionDetails)
    sizes = set()
    for number in numbers:
        for value in list_data(operations.nodes[number]):
            for before in operations.path(value) if value is not None else ():
                shape = before.input(1) if before.operator.has("reshapes") else None
                dims = read_numbers(constant_tensor(shape)) if shape is not None else ()
                heads = details.heads, details.head_width
                if len(dims) >= _LEAST_DIMS and dims[-2:] == heads:
                    sizes.add(int(dims[1]))
    return sizes.pop() if len(sizes) == 1 and min(sizes, default=0) > 1 else 0
