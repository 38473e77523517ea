"""Channels that are moved along time or places, some forth and some back, and computed with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from netloupe.explorer.costs.facts import Dims
from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node, Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .picked_parts import PickedPart, read_parts
from .readings import read_int, read_ints, read_str

#: what it is called where some features of each token are those of the one before
TOKEN_SHIFT = "Token shift"  # noqa: S105 - of tokens of a text
#: slices, joins and what puts them in place, in the longest of the spellings of exporters
_MOST_OF_SHIFT = 24
_MOVING = ("slices", "joins", "pads", "splits")
#: of what was joined before only parts are taken and moved
_PARTING = ("slices", "pads", "splits")
_SCATTER = "ScatterND"
#: axes of a video, and which of them is time, before or behind channels
_OF_VIDEO, _TIME = 5, (1, 2)
#: axes of tokens: of a batch, of places and of features
_OF_TOKENS = 3


def find_channel_shifts(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find channels of one value that are moved by one place along an axis, zeros where they left.

    Some are moved forth and some back, and others stay (J. Lin and others, TSM: Temporal Shift
    Module for Efficient Video Understanding, 2019, figure 1b). Of tokens some features are those of
    the token before (B. Peng, RWKV-LM, 2021, "time-shift").
    """
    operations = blocks.operations
    for end, node in enumerate(operations.nodes):
        is_end = node.operator.has("joins") or operations.kinds[end] == _SCATTER
        if not is_end or blocks.owner[end] is not None:
            continue
        user = operations.only_user(end)
        if user is not None and (operations.kinds[user] == _SCATTER or _moves(operations, user)):
            continue
        block = _find_shift(blocks, end, _MOVING) or _find_shift(blocks, end, _PARTING)
        if block is not None:
            yield block


def _find_shift(blocks: FoundBlocks, end: int, moving: Sequence[str]) -> FoundBlock | None:
    """Return the shift that ends in an operation, back through what moves values."""
    operations = blocks.operations
    found = _walk_back(blocks, end, moving)
    if found is None or not operations.is_closed(found[0], end):
        return None
    numbers, value = found
    axis = _find_axis(operations, numbers, value)
    dims = find_value_facts(operations.context.graph.model).find_dims(value)
    if axis is not None and moving is _MOVING:  # else maps that were put together are cut again
        is_over_time = dims is not None and len(dims) == _OF_VIDEO and axis in _TIME
        name = "Temporal shift" if is_over_time else "Channel shift"
    elif _takes_one_before(operations, numbers, dims):
        name = TOKEN_SHIFT
    else:
        return None
    return FoundBlock("unit", name, frozenset(numbers), end)


def _moves(operations: Operations, number: int) -> bool:
    return operations.nodes[number].operator.has(*_MOVING)


def _walk_back(
    blocks: FoundBlocks, end: int, moving: Sequence[str]
) -> tuple[set[int], Value] | None:
    """Return what only takes and moves parts of one value, and that value as it is taken."""
    operations = blocks.operations
    numbers = {end}
    of: dict[Value, Value] = {}
    pending = [end]
    while pending:
        number = pending.pop()
        for value in operations.nodes[number].inputs:
            if value is None or operations.is_fixed(value):
                continue
            source = operations.source(value)
            if source not in operations.operands[number]:
                continue
            giver = operations.giver(source)
            is_inner = giver is not None and (
                operations.kinds[giver] == _SCATTER or operations.nodes[giver].operator.has(*moving)
            )
            if giver is None or not is_inner:
                of.setdefault(source, value)
            elif giver not in numbers:
                numbers.add(giver)
                pending.append(giver)
        if len(numbers) > _MOST_OF_SHIFT or len(of) > 1:
            return None
    return (numbers, next(iter(of.values()))) if len(of) == 1 else None


def _find_axis(operations: Operations, numbers: set[int], value: Value) -> int | None:
    """Return along which axis parts are moved by one place forth and back; None for none."""
    parts: list[PickedPart] = []
    for number in numbers:
        node = operations.nodes[number]
        if node.operator.has("slices"):
            parts += read_parts(node)
    forth = {part.axis for part in parts if part.start == 1 and part.is_to_end}
    back = {part.axis for part in parts if part.start == 0 and _leaves_one(part)}
    moved = forth & back - {None}
    apart = {part.axis for part in parts if part.axis not in moved and not _is_whole(part)}
    return moved.pop() if len(moved) == 1 and len(apart) == 1 else None


def _takes_one_before(operations: Operations, numbers: set[int], dims: Dims | None) -> bool:
    """Return whether some features of tokens are moved to the token behind, and others stay.

    One pad does that, which puts a token before the first, and takes the last away.
    """
    nodes = [operations.nodes[number] for number in numbers]
    pads = [node for node in nodes if node.operator.has("pads")]
    if dims is None or len(dims) != _OF_TOKENS or len(pads) != 1 or _has_odd(nodes):
        return False
    kept = {value for node in nodes if node.operator.has("joins") for value in node.inputs}
    if pads[0].input(0) in kept:
        return False
    facts = find_value_facts(operations.context.graph.model)
    stated = read_ints(pads[0], "pads") or facts.find_elements(pads[0].input(1)) or ()
    parts = [part for node in nodes if node.operator.has("slices") for part in read_parts(node)]
    parts = [part for part in parts if not _is_whole(part)]
    taken = {part.axis for part in parts if not (part.start == 0 and _leaves_one(part))}
    taken |= {_find_split_axis(node) for node in nodes if node.operator.has("splits")}
    is_cut = any(part.axis == 1 and part.start == 0 and _leaves_one(part) for part in parts)
    before, behind = (0, 1, 0), ((0, 0, 0) if is_cut else (0, -1, 0))
    return tuple(stated) == (*before, *behind) and taken == {_OF_TOKENS - 1}


def _has_odd(nodes: list[Node]) -> bool:
    """Return whether a pad puts other values than zeros before the first token."""
    return any(
        node.operator.has("pads") and read_str(node, "mode") not in ("", "constant")
        for node in nodes
    )


def _find_split_axis(node: Node) -> int:
    axis = read_int(node, "axis") or 0
    return axis + _OF_TOKENS if axis < 0 else axis


def _leaves_one(part: PickedPart) -> bool:
    """Return whether all but the last place is taken."""
    if part.end == -1:
        return True
    return isinstance(part.size, int) and part.size > 1 and part.end == part.size - 1


def _is_whole(part: PickedPart) -> bool:
    return part.start == 0 and part.is_to_end
