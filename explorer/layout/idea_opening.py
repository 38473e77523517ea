"""The opening of ideas: what a shown block of a stack, or an inset, is about, on trial."""

from __future__ import annotations

from netloupe.explorer.view import Item, count_held_nodes, is_recursive, sibling_key

from .first_view_search import LEAST_ZOOM_WITH_TWO, MOST_WITH_INSETS, Search
from .inset_scene import open_inset
from .opening_worth import shows_enough
from .shown_items import list_closed, list_keys, list_opened
from .shut_ideas import find_name, holds_idea, is_shut_idea, shows_work
from .stacks import is_in_stack

#: a repetition with what it is about open in it has so many boxes at most, or all have so many, and
#: all fits so
_MOST_IN_FRAME, _MOST_WITH_FRAME, _LEAST_ZOOM_WITH_IDEA = 14, 24, 0.7
#: a picture with a second inset behind the first is so much longer than wide at most
_MOST_ASPECT = 2.8
#: a picture of more boxes than a figure has becomes so much smaller at most
_AS_LARGE = 0.97
#: what it is about alone has so many
_MOST_IN_IDEA = 18


def open_ideas(search: Search) -> None:
    """Open what a shown repetition, or what is beside the picture, is about.

    That is the block in it whose closed box can only list its parts. It is opened where the
    whole remains as readable as it has to be for a stack.
    """
    refused: set[tuple[str, ...]] = set()
    while True:
        candidates: dict[tuple[object, ...], list[Item]] = {}
        for item in search.list_closed():
            outer = _find_frame(search, item)
            if outer is None or not item.openable or is_recursive(item):
                continue
            if is_shut_idea(item.element, outer.element) and not _is_shown_by_sibling(item):
                candidates.setdefault((id(outer), *sibling_key(item)), []).append(item)
        tried = [items for items in candidates.values() if list_keys(items) not in refused]
        if not tried:
            return
        chosen = max(tried, key=lambda items: sum(map(count_held_nodes, items)))
        refused.add(list_keys(chosen))
        ways = [chosen[:1], chosen] if holds_idea(chosen[0].element) else [chosen, chosen[:1]]
        is_open = any(_open_idea(search, items) for items in ways[: len(chosen)])
        if not is_open and len(search.insets) == 1 and not count_ideas(search):
            _draw_idea(search, chosen[0])


def _is_shown_by_sibling(item: Item) -> bool:
    """Return whether what is like an item is open beside it, and shows what both are about."""
    around, name = item.parent, find_name(item.element)
    return around is not None and any(
        (sibling_key(child) == sibling_key(item) and holds_idea(child.element))
        or (name and find_name(child.element) == name)
        for child in around.children
        if child.is_open
    )


def _draw_idea(search: Search, item: Item) -> None:
    """Draw a block in an inset beside that, where it has too many boxes to be open in it."""
    inset = open_inset(search.view_of(item), item)
    first = search.insets[0].item
    is_inside = _find_frame(search, item) is first and first.repeat is not None
    if not is_inside or not shows_work(inset.item):
        return
    if _count_in(search, inset.item) <= _MOST_IN_IDEA:
        is_added = search.add_inset(inset, least=_LEAST_ZOOM_WITH_IDEA)
        if is_added and max(search.size) > _MOST_ASPECT * min(search.size):
            search.insets.pop()


def _open_idea(search: Search, items: list[Item]) -> bool:
    """Open some blocks that are alike; return whether there is room, and they are worth it."""
    outer = _find_frame(search, items[0])
    assert outer is not None  # noqa: S101 - it was found before
    is_first = items[0].parent is outer and len(items) == 1
    least = _LEAST_ZOOM_WITH_IDEA if is_first else LEAST_ZOOM_WITH_TWO
    most, shown = MOST_WITH_INSETS, search.count_boxes()
    if is_first and shown > MOST_WITH_INSETS:  # the picture is large as it is, and remains so
        most, least = shown + _MOST_IN_FRAME, _AS_LARGE * search.zoom(in_columns=False)
    for item in items:
        search.open_item(item)
        if not shows_work(item):  # it is a frame around what it is about
            for inner in [c for c in item.children if is_shut_idea(c.element, item.element)]:
                search.open_item(inner)
    circles = sum(map(search.measure.is_round, search.list_closed()))
    is_room = search.count_boxes() - circles <= _MOST_WITH_FRAME
    if (
        (is_room or _count_in(search, outer) <= _MOST_IN_FRAME)
        and all(shows_enough(item) and _shows_work_inside(item) for item in items)
        and search.try_zoom(most, in_columns=False) >= least
    ):
        return True
    for item in items:
        search.view_of(item).close_item(item)
    return False


def _shows_work_inside(item: Item) -> bool:
    return shows_work(item) or any(one.is_open and shows_work(one) for one in item.children)


def count_ideas(search: Search) -> int:
    """Return how many blocks are open inside of what is shown of stacks."""
    frames = [item for item in search.view.open_items() if item.repeat is not None]
    frames += [inset.item for inset in search.insets]
    keys = {
        item.key
        for frame in frames
        for item in list_opened(frame)
        if is_shut_idea(item.element) and is_in_stack(item) and item.repeat is None
    }
    return len(keys)


def _find_frame(search: Search, item: Item) -> Item | None:
    """Return the shown repetition, or what is drawn beside the picture, around an item."""
    insets = [inset.item for inset in search.insets]
    outer = item.parent
    while outer is not None and outer.repeat is None and outer not in insets:
        outer = outer.parent
    return outer


def _count_in(search: Search, item: Item) -> int:
    """Return how many boxes an open item shows, circles left out."""
    closed = [one for one in list_closed(item) if one.kind != "stub"]
    return sum(not search.measure.is_round(one) for one in closed)
