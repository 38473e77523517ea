"""What a shown block is about, where that is a block with a name which it only shows closed.

A frame around several blocks of one kind, or around one block and a few layers, says little more
than its closed box: papers draw in its place what is in the block. So the ghost module is drawn in
K. Han and others, GhostNet, 2020, figure 2, and the transformer layer in J. Liang and others,
SwinIR, 2021, figure 2.
"""

from __future__ import annotations

from netloupe.explorer.grouping import Group
from netloupe.explorer.view import Item, is_recursive

from .first_view_search import LEAST_ZOOM_WITH_TWO, Search
from .opening_worth import (
    find_recognition,
    is_told_by_face,
    is_worth_a_frame,
    list_kinds,
    list_shown,
)
from .shown_items import list_closed, list_opened
from .telling import is_ordinary

#: a block that shows more boxes tells enough
_MOST_SHOWN = 6
#: one block has so much of the nodes of what is around it
_MOST_OF_FRAME = 0.5
#: a row has so many boxes at most, and its part is drawn as so many
_MOST_AROUND, _LEAST_TOLD = 3, 4
#: between the parts of a row
_AND = " · "
#: of so many boxes the block is then at most, and all fits so, or nearly as large as before
_MOST_IN_FRAME, _MOST_BOXES, _LEAST_ZOOM, _AS_LARGE = 14, 38, 0.7, 0.97


def open_hearts(search: Search) -> None:
    """Open in each inset, and in a shown repetition, the one kind of block that it is about.

    That is done where there is room for it.
    """
    frames = [item for item in search.view.open_items() if item.repeat is not None]
    for frame in (*frames, *(inset.item for inset in search.insets)):
        heart = _find_heart(frame)
        if heart is not None and not _is_shown(search, heart):
            _open(search, frame, heart)
        row = _find_row(frame)
        if row is not None:
            _open(search, frame, row, is_row=True)


def _find_heart(frame: Item) -> Item | None:
    """Return the first of the blocks of one kind that hold most of an open item."""
    shown = [box for box in list_shown(frame.children) if list_kinds(box.element)]
    if len(shown) > _MOST_SHOWN or any(box.is_open for box in shown):
        return None
    kinds: dict[str, list[tuple[Item, Group]]] = {}
    for box in shown:
        group, found = box.element, find_recognition(box.element)
        if isinstance(group, Group) and found is not None and found.family == "group":
            kinds.setdefault(found.name, []).append((box, group))
    whole = sum(_count(box) for box in shown)
    for row in kinds.values():
        item, group = row[0]
        is_most = sum(inner.node_count for _, inner in row) > _MOST_OF_FRAME * whole
        if is_most and item.openable and item.repeat is None and not is_recursive(item):
            return item if is_worth_a_frame(group) and not is_told_by_face(group) else None
    return None


def _find_row(frame: Item) -> Item | None:
    """Return the only closed box that not every network has, where it is a row with no name.

    Its closed box lists its parts, and one of these is what the frame is about: J. Yang and others,
    Focal Modulation Networks, 2022, figure 2, draw it in the layer.
    """
    box = _find_telling(frame)
    found = find_recognition(box.element) if box is not None else None
    is_row = found is None or _AND in found.name
    return box if box is not None and is_row and not is_told_by_face(box.element) else None


def _find_telling(frame: Item) -> Item | None:
    """Return the only box of an open item that not every network has, if it is closed."""
    shown = [box for box in list_shown(frame.children) if list_kinds(box.element)]
    telling = [box for box in shown if not is_ordinary(box.element)]
    if len(telling) != 1 or any(box.is_open for box in shown):
        return None
    (box,) = telling
    return box if box.openable and box.repeat is None and not is_recursive(box) else None


def _count(item: Item) -> int:
    return item.element.node_count if isinstance(item.element, Group) else 1


def _is_shown(search: Search, heart: Item) -> bool:
    """Return whether another block of a kind is open already."""
    found = find_recognition(heart.element)
    others = (find_recognition(item.element) for item in search.list_open())
    return found is not None and any(one is not None and one.name == found.name for one in others)


def _open(search: Search, frame: Item, heart: Item, *, is_row: bool = False) -> None:
    """Open a block if there is room, and of a row the part that not every network has."""
    view, least = search.view_of(heart), LEAST_ZOOM_WITH_TWO
    if view is not search.view:  # what stands beside the picture pulls nothing apart in it
        least = min(_LEAST_ZOOM, _AS_LARGE * search.zoom())
    before = {item.key for item in list_opened(frame)}
    search.open_item(heart)
    told = heart
    if is_row:
        inner = _find_telling(heart)
        if inner is not None and len(list_shown(heart.children)) <= _MOST_AROUND:
            search.open_item(inner)
            told = inner
    is_told = not is_row or (told is not heart and len(list_shown(told.children)) >= _LEAST_TOLD)
    boxes = [box for box in list_closed(frame) if box.kind != "stub"]
    boxes = [box for box in boxes if not search.measure.is_round(box)]
    if is_told and len(boxes) <= _MOST_IN_FRAME and search.try_zoom(_MOST_BOXES) >= least:
        return
    for item in reversed([*list_opened(frame)]):
        if item.key not in before:
            view.close_item(item)
