"""Ratios in the left margin of a still picture: at 1/4, 1/8 … of the image's resolution.

Papers on hierarchical networks write them beside their stages. Which resolution a box works at is
that of what it gives; where the main stream changes it once or never there is nothing to tell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from netloupe.explorer.layout import Scene, SceneBox
from netloupe.explorer.layout.level import Child, Level, Wire
from netloupe.explorer.layout.longest_path import find_longest_path
from netloupe.explorer.layout.stream_sizes import is_stage
from netloupe.explorer.layout.value_sizes import Size, ValueSizes, find_sizes
from netloupe.explorer.model import Model, TensorType, Value
from netloupe.explorer.model.paths import find_element

from .legend import Placed
from .marks import TextMark
from .sizes import TEXT_STYLES
from .theme import Theme

#: how much wider a picture with ratios is
RATIO_ROOM = 44.0
_LEFT = 16.0
#: from the middle of a line of text to its baseline
_BASELINE = 4.2
#: so many ratios make it worth a margin
_LEAST_RATIOS = 2
#: below the upper border of an open group, where its ratio stands
_HEADER = 16.0
#: ratios are at least so far from each other
_APART = 18.0
_MOST_RATIO = 64
#: pictures of more boxes are no figures
_MOST_BOXES = 400
#: so many values that run as one edge are looked at
_MOST_BUNDLED = 8


class Ratio(NamedTuple):
    """A ratio and the height at which it stands in the picture."""

    y: float
    text: str


class _Found(NamedTuple):
    """At which ratio a box works, where it stands, and whether that is no chance."""

    y: float
    middle: float
    ratio: int
    is_sure: bool
    number: int
    low: float
    high: float


def find_ratios(scene: Scene, model: Model) -> list[Ratio]:
    """Return the ratios of a picture that runs down in one column; none for any other."""
    if scene.direction != "TB" or len(scene.boxes) > _MOST_BOXES:
        return []
    if any(zoom.side < 0 for zoom in scene.zooms):
        return []  # they would stand far from their boxes
    sizes = find_sizes(model)
    found_image = _find_image(scene, sizes)
    if found_image is None:
        return []
    source, image = found_image
    found: list[_Found] = []
    beside = _find_beside(scene)
    stream = _find_stream(scene) & _find_behind(scene, source)
    given = {edge.source: edge.value for edge in reversed(scene.edges)}
    many = _find_with_many(scene, model, sizes)
    joined = _find_behind(scene, *_list_other_rows(scene, source))
    for number, box in enumerate(scene.boxes):
        if number not in stream or number in many or not _is_told(box):
            continue
        if _find_outermost(scene, number) in beside:
            continue
        ratio = _find_ratio(sizes, given.get(number), image, may_be_row=number not in joined)
        if ratio:
            y = box.y + (_HEADER if box.item.is_open else box.height / 2)
            size = sizes.find(given[number])
            is_sure = size is None or size.is_picture or len(size.places) < len(image.places)
            middle, ends = round(box.x + box.width / 2), (box.y, box.y + box.height)
            found.append(_Found(y, middle, ratio, is_sure, number, *ends))
    goes_up = any(
        edge.points[1] > edge.points[-1] + 1
        and edge.kind == "data"
        and (edge.source < 0 or _find_outermost(scene, edge.source) not in beside)
        for edge in scene.edges
    )
    if goes_up:
        found = _choose_rows(found, _find_taken(scene, sizes, image))
    kept: list[Ratio] = []
    last = 1
    for y, _, ratio, is_sure, *_ in sorted(found):
        if not is_sure and ratio < last:
            continue  # tokens by heads, as large as a map by chance
        if ratio != last and ratio > 1 and (not kept or y - kept[-1].y >= _APART):
            kept.append(Ratio(y, f"1/{ratio}"))
        last = ratio
    return kept if len({ratio.text for ratio in kept}) >= _LEAST_RATIOS else []


def mark_ratios(
    ratios: Sequence[Ratio], left: float, top: float, theme: Theme
) -> tuple[Placed, ...]:
    """Return what is drawn, at a corner of the sheet."""
    size = TEXT_STYLES["label"][0]
    return tuple(
        (left + _LEFT, top + y + _BASELINE, TextMark(0, 0, text, size, True, theme.edge_label))
        for y, text in ratios
    )


def _choose_rows(found: Sequence[_Found], taken: Mapping[int, int]) -> list[_Found]:
    """Return of a U and of lanes each ratio once, beside what is furthest left.

    A ratio in the margin is read as that of all boxes at its height. Stages on the way down may
    halve what they give, and those on the way up double it, behind layers at the resolution that
    both take (J. Ho and others, Denoising Diffusion Probabilistic Models, 2020, appendix B): then
    that is told. What is not so of a whole row is left out.
    """
    chosen = _choose_left(found)
    if not all(_is_of_row(one, found) for one in chosen):
        found = [one._replace(ratio=taken.get(one.number, 0)) for one in found]
        found = [one for one in found if one.ratio]
        chosen = _choose_left(found)
    return [one for one in chosen if _is_of_row(one, found)]


def _choose_left(found: Sequence[_Found]) -> list[_Found]:
    ordered = sorted(found, key=lambda each: (-each.middle, -each.y))
    return [*{each.ratio: each for each in ordered}.values()]


def _is_of_row(one: _Found, found: Sequence[_Found]) -> bool:
    """Return whether all boxes at the height of a ratio work at it."""
    return all(other.ratio == one.ratio for other in found if other.low < one.y < other.high)


def _find_taken(scene: Scene, sizes: ValueSizes, image: Size) -> dict[int, int]:
    """Return by box the ratio of the maps that it takes, where it is the same of all of them."""
    found: dict[int, set[int]] = {}
    for edge in scene.edges:
        size = sizes.find(edge.value)
        if size is not None and len(size.places) == len(image.places):
            ratio = _find_ratio(sizes, edge.value, image, may_be_row=False)
            found.setdefault(edge.target, set()).add(ratio)
    return {box: ratios.pop() for box, ratios in found.items() if len(ratios) == 1}


def _is_told(box: SceneBox) -> bool:
    """Return whether a box is at the top or in a stage, and no input, output or stub."""
    if box.item.is_terminal or box.item.kind == "stub":
        return False
    if box.item.is_open and is_stage(box.item):
        return False  # what is inside tells it
    outer = box.item.parent
    return outer is None or is_stage(outer)


def _find_stream(scene: Scene) -> set[int]:
    """Return the boxes on the longest way through the picture and through each open group."""
    members: dict[int, list[int]] = {}
    for number, box in enumerate(scene.boxes):
        members.setdefault(box.parent, []).append(number)
    places = {number: at for inside in members.values() for at, number in enumerate(inside)}
    wires: dict[int, list[Wire]] = {}
    for edge in scene.edges:
        ends = edge.source, edge.target
        inner = max(ends, key=lambda end: scene.boxes[end].depth if end >= 0 else -1)
        if inner < 0:
            continue
        around = scene.boxes[inner].parent
        local = [places[end] if end >= 0 and end != around else -1 for end in ends]
        is_main = edge.source < 0 or scene.boxes[edge.source].item.kind != "stub"
        wires.setdefault(around, []).append(Wire(local[0], local[1], is_main=is_main))
    found: set[int] = set()
    for around, inside in members.items():
        level = Level("TB", [Child(0.0, 0.0)] * len(inside), 1, 1, wires.get(around, []))
        for number in find_longest_path(level):
            wire = level.wires[number]
            found.update(inside[end] for end in (wire.source, wire.target) if end >= 0)
    return found


def _find_with_many(scene: Scene, model: Model, sizes: ValueSizes) -> set[int]:
    """Return the boxes at which several resolutions live together: they have no ratio.

    Such give another box pictures of several, or take several and give several.
    """
    found: dict[tuple[int, int], set[int]] = {}
    given: dict[int, set[int]] = {}
    taken: dict[int, set[int]] = {}
    for edge in scene.edges:
        known = found.setdefault((edge.source, edge.target), set())
        values = [find_element(model, path) for path in edge.bundle[:_MOST_BUNDLED]]
        for value in (edge.value, *values):
            size = sizes.find(value) if isinstance(value, Value) else None
            if size is not None and size.is_picture and size.resolution:
                known.add(size.resolution)
        given.setdefault(edge.source, set()).update(known)
        taken.setdefault(edge.target, set()).update(known)
    many = {source for (source, _), resolutions in found.items() if len(resolutions) > 1}
    both = {box for box, resolutions in given.items() if len(resolutions) > 1}
    return many | {box for box in both if len(taken.get(box, ())) > 1}


def _find_beside(scene: Scene) -> set[int]:
    """Return the frames that show beside the picture what is in a closed box of it."""
    if not scene.zooms:
        return set()
    closed = {box.item.key for box in scene.boxes if not box.item.is_open}
    return {n for n, box in enumerate(scene.boxes) if box.item.is_open and box.item.key in closed}


def _find_outermost(scene: Scene, number: int) -> int:
    while scene.boxes[number].parent >= 0:
        number = scene.boxes[number].parent
    return number


def _find_image(scene: Scene, sizes: ValueSizes) -> tuple[int, Size] | None:
    """Return the box of the image that comes in, and its size.

    It is the largest input with two axes of places.
    """
    found = [
        (number, size)
        for number, box in enumerate(scene.boxes)
        if box.item.kind == "input" and isinstance(box.item.element, Value)
        for size in [sizes.find(box.item.element)]
        if size is not None and size.is_picture and len(size.places) == 2 and size.resolution
    ]
    return max(found, key=lambda each: each[1].resolution or 0, default=None)


def _list_other_rows(scene: Scene, source: int) -> list[int]:
    """Return the inputs besides the image that have places: rows behind them are not its patches.

    What has one number for a picture, as a step or a class, gives no place.
    """
    return [
        number
        for number, box in enumerate(scene.boxes)
        if number != source
        and box.item.kind == "input"
        and isinstance(box.item.element, Value)
        and isinstance(box.item.element.type, TensorType)
        and any(dim.value != 1 for dim in (box.item.element.type.shape or ())[1:])
    ]


def _find_behind(scene: Scene, *sources: int) -> set[int]:
    """Return the boxes that values of some come to: a scale beside the stream has no ratio."""
    following: dict[int, list[int]] = {}
    for edge in scene.edges:
        following.setdefault(edge.source, []).append(edge.target)
    found, pending = {*sources}, [*sources]
    while pending:
        for target in following.get(pending.pop(), ()):
            if target >= 0 and target not in found:
                found.add(target)
                pending.append(target)
    return found


def _find_ratio(sizes: ValueSizes, value: Value | None, image: Size, *, may_be_row: bool) -> int:
    """Return how often a value's places go into the image's along each axis; 0 for unknown.

    Places in a row are patches where only the image gives them.
    """
    size = sizes.find(value) if value is not None else None
    if size is None or not size.resolution or not image.resolution:
        return 0
    if size.resolution == 1:
        return 0  # a mean over all
    if len(size.places) == 2:
        axes = [*zip(image.amounts, size.amounts, strict=True)]
        ratios = _list_ratios([(whole, part) for whole, part in axes if whole and part])
    elif may_be_row and len(size.places) == 1 and image.resolution % size.resolution == 0:
        ratios = {math.isqrt(image.resolution // size.resolution)}  # patches in a row
        if ratios != {math.sqrt(image.resolution / size.resolution)} or _is_map(size, image):
            return 0
    else:
        return 0
    ratio = ratios.pop() if len(ratios) == 1 else 0
    return ratio if ratio <= _MOST_RATIO else 0


def _is_map(size: Size, image: Size) -> bool:
    """Return whether what may be a row of patches has an image's sides: a map without channels."""
    sides = (*size.amounts, int(size.channels) if size.channels.isdecimal() else None)
    axes = [
        (whole, part) for whole, part in zip(image.amounts, sides, strict=True) if whole and part
    ]
    return len(axes) == len(sides) and bool(_list_ratios(axes))


def _list_ratios(axes: Sequence[tuple[int, int]]) -> set[int]:
    """Return by which whole number all sides of an image were divided; nothing for none.

    Halves, quarters and so on may be rounded up, as strides of two round.
    """
    whole, part = axes[0] if axes else (1, 1)
    ratio = whole / part
    likely = {2 ** math.floor(math.log2(ratio)), 2 ** math.ceil(math.log2(ratio))}
    halved = {power for power in likely if all(-(-size // power) == left for size, left in axes)}
    exact = {size // left if size % left == 0 else 0 for size, left in axes}
    return exact if len(exact) == 1 and 0 not in exact else halved if len(halved) == 1 else set()
