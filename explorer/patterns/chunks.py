"""Parts of a signal or a picture at equal distances, put beside one another, and added up again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node
from netloupe.explorer.model.constant import constant_tensor

from .found_blocks import FoundBlock, FoundBlocks
from .picked_parts import place_axis, read_parts
from .readings import read_int, read_ints, read_numbers

#: fewer parts are halves
_LEAST = 3
_BOTH = 2


class _Series(NamedTuple):
    """Parts of one axis at equal distances."""

    axis: int
    size: int | None
    first: int
    parts: int
    length: int
    hop: int


def find_chunks(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find parts of one value, as long as one another and as far apart, that are joined.

    So signals become frames or chunks that overlap (Y. Luo and others, Dual-path RNN, 2020, section
    2.1.1; `torch.Tensor.unfold`). Twice in a row, along height and width, it is a picture cut into
    squares.
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        if not node.operator.has("joins") or blocks.owner[join] is not None:
            continue
        slices = [operations.giver(value) for value in operations.operands[join]]
        series = _read_series(blocks, slices)
        if series is None:
            continue
        numbers = {join, *(number for number in slices if number is not None)}
        before = operations.giver(operations.operands[slices[0] or 0][0])
        inner = blocks.ending(before, "chunks")
        is_square = inner is not None and _cuts_whole(inner) and series.hop == series.length
        if inner is not None and is_square and numbers.issuperset(operations.users[inner.end]):
            size = f"{inner.facts[0].rpartition(' ')[2]}×{series.length}"
            every = inner.numbers | numbers
            yield FoundBlock("chunks", "Unfold", every, join, (size,), parts=(inner,))
            continue
        if not operations.is_closed(numbers, join):
            continue
        row = _read_row(node, series)
        if row:  # what lies side by side is put side by side
            yield FoundBlock("chunks", "Slice", frozenset(numbers), join, (row,))
        else:
            facts = [f"{series.parts:,} of {series.length:,}"]
            if series.hop != series.length:
                facts.append(f"hop {series.hop:,}")
            yield FoundBlock("chunks", "Chunks", frozenset(numbers), join, tuple(facts))


def _read_row(join: Node, series: _Series) -> str:
    """Return which places parts are altogether that are joined as they were; "" for others."""
    total = series.parts * series.length
    facts = find_value_facts(join.graph.model)
    axis = place_axis(read_int(join, "axis"), facts.find_dims(join.output(0)))
    is_row = axis == series.axis and series.hop == series.length
    taken = (value.producer for value in join.inputs if value is not None)
    if not is_row or not all(node is not None and node.operator.has("slices") for node in taken):
        return ""
    if series.size is None:
        return ""
    if series.first == 0:
        return f"first {total:,} of {series.size:,}"
    if series.first + total == series.size:
        return f"last {total:,} of {series.size:,}"
    return f"{series.first:,} … {series.first + total - 1:,} of {series.size:,}"


def _cuts_whole(found: FoundBlock) -> bool:
    return found.name == "Chunks" and len(found.facts) == 1


def _read_series(blocks: FoundBlocks, slices: list[int | None]) -> _Series | None:
    """Return what slices of one value take, in order; None where they are no such series."""
    operations = blocks.operations
    numbers = [number for number in slices if number is not None]
    if len(numbers) < max(_LEAST, len(slices)) or len({*numbers}) < len(numbers):
        return None
    starts, lengths, axes, of = [], set(), set(), set()
    sizes: set[int | None] = set()
    for number in numbers:
        node = operations.nodes[number]
        if not node.operator.has("slices") or blocks.owner[number] is not None:
            return None
        parts = [part for part in read_parts(node) if not (part.start == 0 and part.is_to_end)] or [
            *read_parts(node)
        ]
        if len(parts) != 1 or len(operations.operands[number]) != 1:
            return None
        (part,) = parts
        if not isinstance(part.start, int) or not isinstance(part.length, int):
            return None
        starts.append(part.start)
        lengths.add(part.length)
        axes.add(part.axis)
        of.add(operations.operands[number][0])
        sizes.add(part.size if isinstance(part.size, int) else None)
    hops = {second - first for first, second in pairwise(starts)}
    axis = axes.pop()
    if axes or axis is None or len(of) != 1 or len(lengths) != 1 or len(hops) != 1:
        return None
    (hop,), (length,) = hops, lengths
    size = sizes.pop() if len(sizes) == 1 else None
    return (
        _Series(axis, size, starts[0], len(numbers), length, hop)
        if hop > 0 and length > 0
        else None
    )


def find_overlap_adds(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find parts that are moved along an axis by zeros beside them, and added.

    So chunks become one signal again (Y. Luo and others, Dual-path RNN, 2020, section 2.1.3).
    """
    operations = blocks.operations
    for total, kind in enumerate(operations.kinds):
        if kind != "Add" or blocks.owner[total] is not None:
            continue
        pads = operations.givers(total)
        if len({*pads}) != _BOTH or len(operations.operands[total]) != _BOTH:
            continue
        if not all(operations.nodes[pad].operator.has("pads") for pad in pads):
            continue
        slices = {giver for pad in pads for giver in operations.givers(pad)}
        if len(slices) != _BOTH or not all(
            operations.nodes[one].operator.has("slices", "splits") for one in slices
        ):
            continue
        numbers = {total, *pads, *slices}
        of = {value for one in slices for value in operations.operands[one]}
        is_free = all(blocks.owner[number] is None for number in numbers)
        moved = {_read_pads(operations.nodes[pad]) for pad in pads}
        if len(moved) < _BOTH and moved != {()}:
            continue  # both are at the same places
        if is_free and len(of) == 1 and operations.is_closed(numbers, total):
            yield FoundBlock("overlap", "Overlap-add", frozenset(numbers), total)


def _read_pads(node: Node) -> tuple[float, ...]:
    """Return how many zeros a node puts around; nothing where that is not known."""
    stated, value = read_ints(node, "pads"), node.input(1)
    return stated or (read_numbers(constant_tensor(value)) if value is not None else ())
