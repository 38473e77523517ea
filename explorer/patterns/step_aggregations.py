"""Blocks whose steps follow one another, and all of whose results are joined at the end."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count

from .convolutions import is_pointwise
from .details import span_features
from .found_blocks import FoundBlock, FoundBlocks
from .linear import write_widths
from .walks import walk_back
from .whole_groups import make_whole_block

#: of blocks with more parts nobody asks
_MOST_PARTS = 200
#: a part goes around and one to the first step, or one does both
_BOTH = 2
#: what steps are made of; what attends, say, is more than such a block
_STEPS = frozenset({"conv", "csp", "elan", "inverted", "residual"})
_BETWEEN = ("adds", "joins", "slices", "splits")
#: what is called otherwise where the steps are such
_OWN_NAMES = ("residual", "inverted", "csp")


def find_step_aggregations(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find convolutions in steps, behind whose last all that the steps gave is joined and mixed.

    The channels of a 1×1 convolution are split, or two such stand side by side; each step takes
    what the one before gave, and a 1×1 convolution mixes all (C. Wang and others, Designing Network
    Design Strategies Through Gradient Path Analysis, 2022, figure 6: ELAN; C. Wang and others,
    YOLOv9, 2024, figure 4: GELAN, whose steps are any blocks).
    """
    operations = blocks.operations
    outline = blocks.list_outermost()
    last = outline[-1] if outline else None
    if not isinstance(last, FoundBlock) or last.kind != "conv" or not is_pointwise(last):
        return
    if len(outline) > _MOST_PARTS:
        return
    taken = operations.operands[min(last.numbers)]
    join = operations.giver(taken[0]) if taken else None
    if join is None or not operations.nodes[join].operator.has("joins"):
        return
    joined = [*dict.fromkeys(operations.operands[join])]
    steps = _list_steps(blocks, joined)
    if steps is None:
        return
    begins, regions = steps
    if {*range(len(operations))} != {join, *last.numbers, *begins}.union(*regions):
        return
    ends = [(part.end if isinstance(part, FoundBlock) else part, part) for part in outline]
    inside = [[part for end, part in ends if end in region] for region in regions]
    if not all(_is_of_steps(blocks, part) for parts in inside for part in parts):
        return
    kinds = [[one.kind for one in parts if isinstance(one, FoundBlock)] for parts in inside]
    if len(joined) > _BOTH and all(len(own) == 1 and own[0] in _OWN_NAMES for own in kinds):
        return
    convolutions = [_count_convolutions(blocks, region) for region in regions]
    if not all(convolutions):
        return
    first = blocks.holding(min(begins), "conv")
    widths = span_features(first.details, last.details) if first is not None else None
    facts = [write_widths(*widths)] if widths is not None else []
    facts.append(write_count(len(regions), "step"))
    if len({*convolutions}) == 1:
        each = " each" if len(regions) > 1 else ""
        facts.append(f"{write_count(convolutions[0], 'convolution')}{each}")
    yield make_whole_block(blocks, "elan", "ELAN block", tuple(facts))


def _is_of_steps(blocks: FoundBlocks, part: FoundBlock | int) -> bool:
    if isinstance(part, FoundBlock):
        return part.kind in _STEPS
    return blocks.operations.nodes[part].operator.has(*_BETWEEN)


def _list_steps(
    blocks: FoundBlocks, joined: list[Value]
) -> tuple[frozenset[int], list[frozenset[int]]] | None:
    """Return the operations before the steps, and those of each step; None where these are none."""
    operations = blocks.operations
    givers = [operations.giver(value) for value in joined]
    if any(giver is None for giver in givers):
        return None
    order = sorted(range(len(joined)), key=lambda n: givers[n] or 0)
    begins = set[int]()
    starts: list[Value] = []
    rest: list[Value] = []
    for place in order:
        value, giver = joined[place], givers[place]
        own = _begin(blocks, giver)
        if own and not rest:
            begins |= own
            starts.append(value)
        else:
            rest.append(value)
    if not 0 < len(starts) <= _BOTH or not rest:
        return None
    regions: list[frozenset[int]] = []
    before: set[Value] = {*starts}
    for value in rest:
        region = walk_back(operations, value, before, len(operations))
        if region is None or not region.isdisjoint(begins):
            return None
        regions.append(frozenset(region))
        before = {value}
    if sum(map(len, regions)) != len(frozenset[int]().union(*regions)):
        return None
    return frozenset(begins), regions


def _begin(blocks: FoundBlocks, giver: int | None) -> frozenset[int]:
    """Return the operations of a convolution of what enters, or of a part of its result."""
    operations = blocks.operations
    if giver is None:
        return frozenset()
    own: set[int] = set()
    if operations.nodes[giver].operator.has("slices", "splits"):
        own.add(giver)
        before = operations.giver(operations.operands[giver][0])
    else:
        before = giver
    found = blocks.ending(before, "conv")
    if found is None or not is_pointwise(found):
        return frozenset()
    taken = operations.operands[min(found.numbers)]
    if not taken or operations.giver(taken[0]) is not None:
        return frozenset()
    return frozenset(own | found.numbers)


def _count_convolutions(blocks: FoundBlocks, region: frozenset[int]) -> int:
    return sum(blocks.operations.nodes[number].operator.has("convolves") for number in region)
