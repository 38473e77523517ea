"""Stored tokens that are put beside those of a stream: for a class, as registers or prompts."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import find_source, is_input_independent
from netloupe.explorer.model import Node, Tensor, Value, is_constant
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.notation import write_count
from netloupe.explorer.operators import LAYOUT_TRAITS

from .added_positions import is_attended_to
from .found_blocks import FoundBlock, FoundBlocks
from .readings import read_int, read_numbers

#: batch, tokens, features
_RANK = 3
#: what has fewer features is a coordinate
_LEAST_FEATURES = 8
#: in the name of what a module stores
_OF_MODULE = "."
#: of larger tables it is not read whether all numbers are the same
_MOST_READ = 1 << 16


def find_added_tokens(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find tokens that are cut in two and joined again with stored ones between.

    So registers stand between the token of the class and those of patches (T. Darcet and others,
    Vision Transformers Need Registers, 2024, section 2.2).
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        name = name_added_tokens(node) if node.operator.has("joins") else ""
        givers = {*operations.givers(join)} if name else set()
        if not givers or not all(_takes_part(blocks, giver) for giver in givers):
            continue
        of = {operations.operands[giver][0] for giver in givers}
        numbers = {join, *givers}
        if len(of) == 1 and operations.is_closed(numbers, join):
            yield FoundBlock("added tokens", name, frozenset(numbers), join)


def _takes_part(blocks: FoundBlocks, number: int) -> bool:
    operations = blocks.operations
    is_part = operations.nodes[number].operator.has("splits", "slices")
    return is_part and blocks.owner[number] is None and len(operations.operands[number]) == 1


def name_added_tokens(node: Node) -> str:
    """Return ``+ 4 learned tokens`` of a node that joins stored tokens to a stream; "" for others.

    The stream has a batch, tokens and features, and attention mixes them later, as with the token
    of the class (J. Devlin and others, BERT, 2019, section 3; A. Dosovitskiy and others, An Image
    Is Worth 16x16 Words, 2021, equation 1) or prompts (M. Jia and others, Visual Prompt Tuning,
    2022).
    """
    values = [value for value in node.inputs if value is not None]
    if not node.operator.has("joins") or len(values) < 2 or read_int(node, "axis") not in (1, -2):
        return ""
    facts = find_value_facts(node.graph.model)
    stored = [value for value in values if is_constant(value) or is_input_independent(value)]
    if not 0 < len(stored) < len(values):
        return ""
    count, sizes = 0, 0
    for value in stored:
        dims = facts.find_dims(value)
        if dims is None or len(dims) != _RANK or not isinstance(dims[1], int):
            return ""
        if not isinstance(dims[2], int) or dims[2] < _LEAST_FEATURES:
            return ""
        learned = _count_learned(value, dims[2])
        if not learned:
            return ""
        count += dims[1]
        sizes += learned
    if not is_attended_to(node):
        return ""
    if sizes not in (1, count):
        return ""
    if all(map(_is_zero, stored)):  # as what is predicted first has nothing before it
        return f"+ {write_count(count, 'token')} of zeros"
    if sizes == 1 < count:  # as a token that stands for each one that is hidden
        return f"+ learned token ×{count:,}"
    return f"+ {write_count(count, 'learned token')}"


def _is_zero(value: Value) -> bool:
    """Return whether all stored numbers of tokens are zero, and are no parameters.

    Those of a module, whose path is in their name, begin so in a network that is not trained yet.
    """
    source = find_source(value, *LAYOUT_TRAITS, "broadcasts", "picks")
    if source is None or (source.initializer is not None and _OF_MODULE in source.name):
        return False
    tensor = find_stored_tensor(source)
    return tensor is not None and {*read_numbers(tensor, _MOST_READ)} == {0.0}


def _count_learned(value: Value, width: int) -> int:
    """Return how many tokens are stored whose numbers differ, or may: equal ones fill a place."""
    source = find_source(value, *LAYOUT_TRAITS, "broadcasts", "picks")
    tensor = None if source is None else find_stored_tensor(source)
    if tensor is None or not tensor.dtype.is_float:
        return 0
    is_even = len({*read_numbers(tensor, _MOST_READ)}) == 1
    is_filled = is_even and source is not None and source.producer is not None
    return 0 if is_filled else _count_different(tensor, tensor.size // width)


def _count_different(tensor: Tensor, count: int) -> int:
    """Return 1 where some stored tokens are all the same one, else how many there are.

    An exporter that computes beforehand stores a token that is repeated as often as it is taken.
    Where all numbers are the same, nothing was learned yet.
    """
    numbers = read_numbers(tensor, _MOST_READ)
    width = len(numbers) // count if count else 0
    is_one = (
        bool(width)
        and len({*numbers}) > 1
        and all(
            numbers[place : place + width] == numbers[:width]
            for place in range(0, len(numbers), width)
        )
    )
    return 1 if is_one else count
