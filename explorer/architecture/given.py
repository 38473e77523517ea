"""What goes into a graph, and what it gives: tokens, patches, classes, maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from netloupe.explorer.model import Value
from netloupe.explorer.patterns import Detail

from .given_maps import tell_maps
from .given_names import list_given_names, write_names
from .given_places import EACH_PLACE, write_outputs
from .given_sizes import has_features, has_places, read_sizes, states_width, write_sizes_given
from .layer_words import read_tokens, write_given, write_sizes
from .outline import Outline, OutlinePart
from .pieces import Piece, is_told, list_piece_weights
from .purposes import TARGET_ATTENTION
from .sizes import find_head, find_patch, find_token_tables, read_stated_shape, write_patches

_MOST_STEPS = 16
#: kinds of block that take features of one thing
_OF_FEATURES = frozenset(
    {"cross", "embedding", "factorization", "interaction", "linear", "mlp", "similarity"}
)
#: of features whose product is their cosine
_OF_COSINE = "L2 normalize"
#: outputs are not told one by one where there are more
_MOST_OUTPUTS = 6


@dataclass(frozen=True)
class Input:
    """What goes in, in words and by name."""

    text: str = ""
    facts: dict[str, Detail] = field(default_factory=dict)


def tell_taken(outline: Outline, pieces: Sequence[Piece]) -> tuple[Input, set[int]]:
    """Return what goes into a graph, and the ids of the pieces that are told so."""
    facts: dict[str, Detail] = {}
    words: list[str] = []
    told: set[int] = set()
    by_part = {id(piece.part): piece for piece in pieces}
    patch = find_patch(outline, len(outline.parts), of_pictures=False, may_overlap=True)
    convolutions = [piece for piece in pieces if piece.kind == "conv"]
    if patch is not None and len(pieces) > 1 and [one.part for one in convolutions] == [patch]:
        facts["patch"] = patch.kernel[0]
        words.append(write_patches(patch))
        told.add(id(convolutions[0]))
    tokens = find_token_tables(outline)
    if tokens and not _are_features(pieces, tokens[0]):
        facts |= read_tokens(outline, tokens)
        words += write_sizes(facts)
        told |= {id(by_part[id(one)]) for one in tokens[:1] if id(one) in by_part}
        told |= {id(piece) for piece in _list_positions(pieces, tokens[0], facts)}
        told |= {id(piece) for piece in _list_calls(outline, pieces, tokens[0])}
    return Input(", ".join(words), facts), told


def _list_calls(outline: Outline, pieces: Sequence[Piece], table: OutlinePart) -> Iterator[Piece]:
    """Yield all look-ups in a table, as of a question and of a document."""
    found = [piece for piece in pieces if piece.kind == "embedding"]
    own = [list_piece_weights(outline, piece) for piece in found if piece.part is table]
    for piece in found:
        if own and own[0] and list_piece_weights(outline, piece) == own[0]:
            yield piece


def _list_positions(
    pieces: Sequence[Piece], tokens: OutlinePart, facts: Mapping[str, Detail]
) -> list[Piece]:
    """Return the table of positions that sizes tell, where that is looked up; nothing if unsure."""
    found = [
        piece
        for piece in pieces
        if piece.kind == "embedding"
        and piece.part is not tokens
        and (piece.part.rows, piece.part.row_width) == (facts.get("positions"), tokens.row_width)
    ]
    return found if len(found) == 1 else []


def _are_features(pieces: Sequence[Piece], table: OutlinePart) -> bool:
    """Return whether rows of a table are of a feature, as of users, and of no text.

    So it is where nothing mixes what stands in a row, and no row is predicted.
    """
    widths = {width for p in pieces for width in (*p.part.widths[-1:], p.part.out_features)}
    return table.rows not in widths and all(
        piece.kind in _OF_FEATURES or piece.name == TARGET_ATTENTION for piece in pieces
    )


def _find_last(outline: Outline, value: Value) -> OutlinePart | None:
    """Return the block that gives an output, back through what is not told; None for several."""
    part = outline.giver(value)
    for _ in range(_MOST_STEPS):
        if part is None or is_told(part):
            return part
        givers = outline.givers(part)
        if len(givers) != 1:
            return None
        part = givers[0]
    return None


def tell_given(outline: Outline) -> tuple[dict[str, Detail], str, OutlinePart | None]:
    """Return what a graph gives, by name and in words, and the only part that gives it.

    As ``10 classes``, ``3 channels out``, ``2 maps out at 1/4 (1 and 5 channels)``, with the names
    of outputs that say something. Nothing where it is not plain what gives an output.
    """
    facts, words, head = _tell_given(outline)
    names = list_given_names(outline.graph)
    return facts, write_names(names, words) if words else write_sizes_given(outline.graph), head


def _tell_given(outline: Outline) -> tuple[dict[str, Detail], str, OutlinePart | None]:
    outputs = outline.graph.outputs
    heads = [_find_last(outline, output) for output in outputs[:_MOST_OUTPUTS]]
    widths = [_read_width(part) for part in heads]
    if len({id(part) for part in heads}) == 1 and heads[0] is not None and widths[0]:
        facts, words = _tell_one(outline, heads[0], widths[0])
        if words:
            return facts, words, heads[0]
    if len(outputs) <= _MOST_OUTPUTS and (maps := tell_maps(outline)):
        facts, words = maps
        is_only = len(outputs) == 1 and heads[0] is not None and heads[0].kind == "conv"
        return facts, words, heads[0] if is_only else None
    is_each_of_its_own = len({id(part) for part in heads}) == len(outputs)  # as class and scores
    are_features = all(widths) and all(map(states_width, outputs, widths))
    if is_each_of_its_own and 1 < len(outputs) <= _MOST_OUTPUTS and are_features:
        told = _list_widths(widths)
        if all(map(has_features, outputs, widths)):
            return {}, f"{len(outputs)} outputs of {told} features", None
        return {}, _write_shapes(outputs), None
    return {}, _write_joined(outline, outputs[0]) if len(outputs) == 1 else "", None


def _write_shapes(outputs: Sequence[Value]) -> str:
    """Return ``2 outputs of 24 × 7``, where all sizes are known and equal; else how many."""
    sizes = {read_sizes(output) for output in outputs}
    only = sizes.pop() if len(sizes) == 1 else ()
    told = f" of {' × '.join(f'{size:,}' for size in only)}" if only else ""
    return f"{len(outputs)} outputs{told}"


def _list_widths(widths: Sequence[int]) -> str:
    return f"{', '.join(f'{width:,}' for width in widths[:-1])} and {widths[-1]:,}"


def _write_joined(outline: Outline, output: Value) -> str:
    """Return of how many branches an output is the sum, or the product; "" where it is none.

    Branches have nothing that is told in common. A product of normalized features compares them by
    the cosine.
    """
    part = outline.giver(output)
    for _ in range(_MOST_STEPS):
        if part is None or is_told(part) or part.has("adds", "multiplies"):
            break
        givers = outline.givers(part)
        part = givers[0] if len(givers) == 1 else None
    if part is None or is_told(part) or not part.has("adds", "multiplies"):
        return ""
    values = outline.operands(part)
    branches = [found for value in values if (found := _find_last(outline, value)) is not None]
    if not 1 < len(branches) == len(values) or not _are_apart(outline, branches):
        return ""
    if part.has("multiplies"):
        is_cosine = all(giver.name == _OF_COSINE for giver in outline.givers(part))
        noun = "cosine similarity" if is_cosine else "dot products"
        return f"{noun} of {len(branches):,} branches"
    widths = {_read_width(branch) for branch in branches}
    if len(widths) != 1 or 0 in widths:
        return ""
    return f"sum of {len(branches):,} branches, {write_given(widths.pop(), 'outputs')}"


def _are_apart(outline: Outline, branches: Sequence[OutlinePart]) -> bool:
    """Return whether branches have nothing that is told in common."""
    told = sum(1 << one.place for one in outline.parts if is_told(one))
    seen = 0
    for branch in branches:
        own = (branch.before | 1 << branch.place) & told
        if seen & own:
            return False
        seen |= own
    return True


def _read_width(part: OutlinePart | None) -> int:
    """Return how many features a part gives; 0 for one that gives as many as it takes."""
    if part is None or (part.widths and part.widths[0] == part.widths[-1]):
        return 0
    return part.widths[-1] if part.widths else part.out_features


def _tell_one(outline: Outline, head: OutlinePart, width: int) -> tuple[dict[str, Detail], str]:
    tables = find_token_tables(outline)  # the largest first
    if tables and width == tables[0].rows:
        return {}, "output over the vocabulary"
    found = find_head(outline, [head])
    if found is None:
        return {}, ""
    count, is_one, classifies = found
    if is_one and classifies:
        return {"classes": count}, write_given(count, "classes")
    if head.kind == "conv" and (not is_one or _gives_map(outline, head)):
        return tell_maps(outline) or ({}, "")
    if not _may_be_given(outline, count):
        return {}, ""
    if _are_of_nodes(outline, count):
        return {"outputs": count}, f"{write_given(count, 'outputs')} at each node"
    are_placed = any(has_places(output, count) for output in outline.graph.outputs)
    words = write_outputs(outline.graph, count)
    at = EACH_PLACE if are_placed and words == write_given(count, "outputs") else ""
    return {"outputs": count}, f"{words}{at}"


def _are_of_nodes(outline: Outline, count: int) -> bool:
    """Return whether outputs are so many features of each node of a graph that comes in.

    Nodes stand on the first axis of what comes in, as messages are summed up by their numbers; a
    batch would have one number for each of several graphs.
    """
    if not outline.of_kind("graph network", "message passing"):
        return False
    inputs = [read_stated_shape(value) for value in outline.graph.inputs]
    nodes = {shape[0] for shape in inputs if shape is not None and len(shape) > 1} - {1}
    shapes = [read_stated_shape(output) for output in outline.graph.outputs]
    return all(
        shape is not None and len(shape) > 1 and shape[0] in nodes and shape[-1] == count
        for shape in shapes
    )


def _may_be_given(outline: Outline, count: int) -> bool:
    """Return whether an output has so many features, as far as sizes tell: patches are put back."""
    shapes = [read_stated_shape(output) for output in outline.graph.outputs]
    return any(
        shape is None or count in shape or not all(isinstance(dim, int) for dim in shape[1:])
        for shape in shapes
    )


def _gives_map(outline: Outline, head: OutlinePart) -> bool:
    """Return whether a convolution gives a place for each it takes, and no mean over all is near.

    Sizes of the outputs tell it, where the file states them.
    """
    shapes = [read_stated_shape(output) for output in outline.graph.outputs]
    if all(shapes):
        return all(shape is not None and len(shape) > 2 for shape in shapes)
    near = [head]
    for _ in range(_MOST_STEPS):
        givers = outline.givers(near[-1])
        if len(givers) != 1 or is_told(givers[0]):
            break
        near.append(givers[0])
    near += outline.users(head)
    return not any(part.has("pools_all", "reduces") for part in near)
