"""Heads of a detector: the same convolutions over each of several maps, all results joined."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value

from .convolution_details import ConvolutionDetails
from .found_blocks import FoundBlock, FoundBlocks
from .whole_groups import make_whole_block

HEADS = "Prediction heads"
_LEAST_MAPS, _MOST_CONVOLUTIONS = 2, 400
#: a sum over bins of a distribution may be written as one convolution besides
_MOST_OTHERS = 1
_CONVOLUTIONS = ("conv", "separable")
#: batch and channels stand before places
_FEATURES = 2
#: axes of what was predicted of all places, in a row
_IN_A_ROW = 3


def find_prediction_heads(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find what predicts from several maps: of each in the same way, the places put in one row.

    The maps are of different sizes, and none is resampled: what is fused is not predicted of each.

    W. Liu and others, SSD, 2016, figure 2; T. Lin and others, Focal Loss for Dense Object
    Detection, 2017, figure 3: classes and boxes of each place of a pyramid's levels.
    """
    towers = _list_towers(blocks)
    if towers is None:
        return
    ends = defaultdict[Value, list[FoundBlock]](list)
    for source, last in towers:
        ends[source].append(last)
    widths = [[_count_channels(last) for last in lasts] for lasts in ends.values()]
    counts = {len(lasts) for lasts in ends.values()}
    if len(ends) < _LEAST_MAPS or len(counts) != 1 or not all(map(all, widths)):
        return
    by_map = [frozenset(last.end for last in lasts) for lasts in ends.values()]
    if not _differ_in_size(ends) or not any(
        _joins_all(blocks, number, by_map)
        for number, node in enumerate(blocks.operations.nodes)
        if node.operator.has("joins")
    ):
        return
    facts = [f"{len(ends)} maps"]
    alike = {tuple(sorted(one)) for one in widths}
    if len(alike) == 1:
        (told,) = {tuple(one) for one in widths} if len({*map(tuple, widths)}) == 1 else alike
        facts.append(f"{' + '.join(f'{width:,}' for width in told)} channels")
    yield make_whole_block(blocks, "heads", HEADS, tuple(facts))


def _list_towers(blocks: FoundBlocks) -> list[tuple[Value, FoundBlock]] | None:
    """Return from which map each last convolution of a row comes; None where one is no such."""
    operations = blocks.operations
    convolutions = [
        part
        for part in blocks.list_outermost()
        if isinstance(part, FoundBlock) and part.kind in _CONVOLUTIONS
    ]
    if not _LEAST_MAPS <= len(convolutions) <= _MOST_CONVOLUTIONS:
        return None
    sources: dict[int, Value] = {}
    inner: set[int] = set()
    others = 0
    for found in convolutions:
        taken = operations.operands[min(found.numbers)]
        giver = operations.giver(taken[0]) if taken else None
        if not taken:
            return None
        if giver is None:
            sources[found.end] = taken[0]
        elif giver in sources:
            sources[found.end] = sources[giver]
            inner.add(giver)
        else:
            others += 1
    if others > _MOST_OTHERS:
        return None
    return [
        (sources[found.end], found)
        for found in convolutions
        if found.end in sources and found.end not in inner
    ]


def _differ_in_size(maps: Iterable[Value]) -> bool:
    """Return whether all maps are of different sizes, as far as these are known."""
    sizes = [find_value_facts(one.graph.model).find_dims(one) or () for one in maps]
    places = [tuple(dims[_FEATURES:]) for dims in sizes]
    are_known = all(own and all(isinstance(dim, int) for dim in own) for own in places)
    return are_known and len({*places}) == len(places)


def _count_channels(found: FoundBlock) -> int:
    """Return how many channels a convolution gives; 0 where that is not known."""
    return found.details.read_as(ConvolutionDetails).out_features or 0


def _joins_all(blocks: FoundBlocks, join: int, by_map: Sequence[frozenset[int]]) -> bool:
    """Return whether a join takes what is predicted of each map, whose places are put in a row."""
    operations = blocks.operations
    joined = operations.nodes[join].output(0)
    dims = None if joined is None else find_value_facts(joined.graph.model).find_dims(joined)
    if dims is None or len(dims) > _IN_A_ROW:
        return False
    found = [_find_heads(blocks, value, by_map) for value in operations.operands[join]]
    return all(place is not None for place in found) and {*found} == {*range(len(by_map))}


def _find_heads(blocks: FoundBlocks, value: Value, by_map: Sequence[frozenset[int]]) -> int | None:
    """Return of which map heads alone give a value; None where none do."""
    operations = blocks.operations
    ends = frozenset[int]().union(*by_map)
    found: set[int] = set()
    seen: set[int] = set()
    pending = [operations.giver(value)]
    while pending:
        number = pending.pop()
        if number is None or number in seen:
            continue
        seen.add(number)
        operator = operations.nodes[number].operator
        if number in ends:
            found.add(number)
        elif operator.has("resamples"):
            return None
        else:
            pending += operations.givers(number)
    places = [place for place, own in enumerate(by_map) if found & own]
    return places[0] if len(places) == 1 else None
