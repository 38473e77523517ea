"""Resolutions: how many times fewer places each part gives than a graph takes, and the way there.

Strides, pools and enlargements are followed from the inputs on; sizes need not be known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from netloupe.explorer.notation import write_count
from netloupe.explorer.patterns import Detail
from netloupe.explorer.patterns.convolution_details import ResamplingDetails, StridedDetails
from netloupe.explorer.patterns.readings import read_ints
from netloupe.explorer.patterns.resampling import read_scale

from .outline import Outline, OutlinePart
from .pieces import is_told
from .sizes import read_stated_shape

#: kinds of block that work on maps
_MAPS = frozenset(
    {"atrous pyramid", "conv", "excitation", "group", "inverted", "pyramid pooling", "residual"}
    | {"separable"}
)
_LEAST_STEPS = 2
_MOST_PASSED = 6


@dataclass(frozen=True)
class Levels:
    """The way of a network through resolutions.

    Parameters
    ----------
    title
        What a network is called that goes this way; "" for others.
    text
        What is said of it.
    facts
        The same by name.
    """

    title: str = ""
    text: str = ""
    facts: tuple[tuple[str, Detail], ...] = ()


def find_levels(outline: Outline) -> Levels:
    """Return the way through resolutions where it is down and up again, or up alone."""
    found = _follow(outline)
    steps = _leave_out_pyramids(outline, _list_steps(outline, found))
    downs = [part for part, ratio in steps if ratio > 1]
    ups = [part for part, ratio in steps if ratio < 1]
    if len(ups) < _LEAST_STEPS:
        return Levels()
    if not downs:
        return Levels(text=_write_growth(outline, [found[id(part)] for part in ups]))
    lower = {found[id(part)] for part in downs}
    higher = {_find_joined(outline, found, part) for part in ups}
    count = len(higher - {None})
    if None in lower or len(lower) < _LEAST_STEPS or count < _LEAST_STEPS:
        return Levels()
    if downs[-1].place > ups[0].place:
        return Levels(text=_count_resolutions(outline, found))
    skips = _list_skips(outline, downs[-1], ups[0])
    facts: tuple[tuple[str, Detail], ...] = (("downs", len(lower)), ("ups", count))
    text = f"{write_count(len(lower), 'level')} down, {count:,} up"
    if skips:
        is_each = len(skips) == count
        text += ", skips at each level" if is_each else f", {write_count(len(skips), 'skip')}"
        facts += (("skips", len(skips)),)
    return Levels("Convolutional encoder-decoder", text, facts)


def _count_resolutions(outline: Outline, found: dict[int, Fraction | None]) -> str:
    """Return at how many resolutions there are several blocks; "" for fewer than three."""
    counts = Counter(found[id(part)] for part in outline.parts if part.kind in _MAPS)
    number = sum(count > 1 for factor, count in counts.items() if factor is not None)
    return f"maps of {number:,} resolutions" if number > _LEAST_STEPS else ""


def _find_joined(
    outline: Outline, found: dict[int, Fraction | None], part: OutlinePart
) -> Fraction | None:
    """Return the resolution of what is made larger: if that is not known, of what it meets."""
    current = part
    for _ in range(_MOST_PASSED):
        if found[id(current)] is not None:
            return found[id(current)]
        users = outline.users(current)
        if not users:
            return None
        current = users[0]
    return None


def _write_growth(outline: Outline, factors: Sequence[Fraction | None]) -> str:
    """Return how much larger a result is: by both sizes where the file states them."""
    shapes = [
        read_stated_shape(value)
        for value in (*outline.graph.inputs[:1], *outline.graph.outputs[:1])
    ]
    sizes = [[dim for dim in shape[2:] if isinstance(dim, int)] for shape in shapes if shape]
    if len(sizes) == 2 and len(sizes[0]) == len(sizes[1]) > 1 and sizes[0] != sizes[1]:
        before, after = (" × ".join(f"{dim:,}" for dim in size) for size in sizes)
        return f"{before} → {after}"
    known = [1 / factor for factor in factors if factor is not None]
    is_whole = len(known) == len(factors) and max(known).denominator == 1
    return f"×{max(known)} resolution" if is_whole else ""


def _follow(outline: Outline) -> dict[int, Fraction | None]:
    """Return for each part, by its id, how many places of the input one of its places stands for.

    None where that is not known; what joins values takes that of any that is known.
    """
    found: dict[int, Fraction | None] = {}
    for part in outline.parts:
        before = [found.get(id(giver)) for giver in outline.givers(part)]
        known = [factor for factor in before if factor is not None]
        if part.has("resamples") and read_scale(outline.operations, part.end) is None:
            found[id(part)] = None
            continue
        start = known[0] if known else (None if before else Fraction(1))
        found[id(part)] = None if start is None else start * _read_ratio(outline, part)
    return found


def _read_ratio(outline: Outline, part: OutlinePart) -> Fraction:
    """Return of how many places a part makes one; below 1 where it makes several of one."""
    if part.has("resamples"):
        return Fraction(1, read_scale(outline.operations, part.end) or 1)
    if part.kind == "pixel shuffle":
        return Fraction(1, part.details.read_as(ResamplingDetails).factor or 1)
    stride = part.details.read_as(StridedDetails).stride
    sizes = (stride,) if isinstance(stride, int) else stride or ()
    if part.is_pool:
        sizes = read_ints(outline.operations.nodes[part.end], "strides")
    size = max(sizes, default=1)
    if size < 1:
        return Fraction(1)
    return Fraction(1, size) if part.enlarges else Fraction(size)


def _list_steps(
    outline: Outline, found: dict[int, Fraction | None]
) -> list[tuple[OutlinePart, Fraction]]:
    """Return the parts at which the resolution of maps changes, each change once.

    Of several ways that lead to one resolution from the same value, one counts. What spreads one
    vector over all places is none.
    """
    steps: dict[tuple[int, Fraction], tuple[OutlinePart, Fraction]] = {}
    pooled: set[int] = set()
    for part in outline.parts:
        givers = outline.givers(part)
        is_pooled = part.has("pools_all", "reduces")
        if is_pooled or (givers and all(id(giver) in pooled for giver in givers)):
            pooled.add(id(part))
            continue
        ratio = _read_ratio(outline, part)
        if part.has("resamples") and found[id(part)] is None:
            ratio = Fraction(1, 2)
        if ratio != 1:
            source = id(givers[0]) if givers else 0
            steps.setdefault((source, ratio), (part, ratio))
    return list(steps.values())


def _leave_out_pyramids(
    outline: Outline, steps: list[tuple[OutlinePart, Fraction]]
) -> list[tuple[OutlinePart, Fraction]]:
    """Return steps without pools of one value to several sizes, and what undoes them.

    H. Zhao and others, Pyramid Scene Parsing Network, 2017, figure 3.
    """
    sources: dict[int, list[OutlinePart]] = {}
    for part, ratio in steps:
        givers = outline.givers(part)
        if ratio > 1 and part.is_pool and len(givers) == 1:
            sources.setdefault(id(givers[0]), []).append(part)
    pools = {id(part) for pools in sources.values() if len(pools) > 1 for part in pools}
    return [
        (part, ratio)
        for part, ratio in steps
        if id(part) not in pools and not (ratio < 1 and _leads_from(outline, part, pools))
    ]


def _leads_from(outline: Outline, part: OutlinePart, pools: set[int]) -> bool:
    """Return whether a part takes what one of some pools gave, in a row."""
    for _ in range(_MOST_PASSED):
        givers = outline.givers(part)
        if len(givers) != 1:
            return False
        part = givers[0]
        if id(part) in pools:
            return True
    return False


def _list_skips(outline: Outline, last: OutlinePart, first: OutlinePart) -> list[OutlinePart]:
    """Return what puts a value from before the lowest level beside one from behind it."""
    skips = []
    for part in outline.parts:
        if part.place <= first.place or not part.has("adds", "joins"):
            continue
        places = [_find_source(outline, giver) for giver in outline.givers(part)]
        if len(places) > 1 and min(places) < last.place and max(places) >= first.place:
            skips.append(part)
    return skips


def _find_source(outline: Outline, part: OutlinePart) -> int:
    """Return the place of the part that gives a value, back through what only passes it."""
    for _ in range(_MOST_PASSED):
        givers = outline.givers(part)
        if part.kind == "gate" and givers:  # a skip may be gated
            part = min(givers, key=lambda one: one.place)
            continue
        if is_told(part) or part.has("adds", "joins", "resamples") or len(givers) != 1:
            return part.place
        part = givers[0]
    return part.place


def works_on_maps(parts: Sequence[OutlinePart]) -> bool:
    """Return whether most of some parts are of kinds that work on maps."""
    return 2 * sum(part.kind in _MAPS for part in parts) > len(parts)
