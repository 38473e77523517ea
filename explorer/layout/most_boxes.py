"""The bound of a first view: where more is drawn than a figure has, what says least is closed.

Limits while groups are opened are those of each step; several steps together may pass them.
"""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.grouping import Group
from netloupe.explorer.view import Item

from .first_view_search import MOST_WITH_INSETS, Search
from .shown_items import count_boxes, list_closed
from .telling import is_ordinary

#: what tells so much of a model stays open, however many boxes there are
_MOST_TOLD = 0.3
#: and so much of it where no ordinary network has such a block
_MUCH_OF_TELLING = 0.2


def close_to_most(search: Search) -> None:
    """Close insets and open blocks until a picture has as many boxes as a figure, the least first.

    Of each it is asked how much of the model its closed box would leave untold. What shows a
    repetition of the only open stack, and what tells much of the model, stays open.
    """
    insets = [*search.insets]
    states = [(view, view.open_state()) for view in search.views()]
    while _count(search) > MOST_WITH_INSETS:
        choices = [*_list_choices(search)]
        if not choices:  # the picture is large as it is: what it is about remains
            search.insets[:] = insets
            for view, state in states:
                view.reopen(state)
            return
        _, _, item = min(choices, key=lambda choice: choice[:2])
        inset = next((one for one in search.insets if one.item is item), None)
        if inset is None:
            search.view_of(item).close_item(item)
        else:
            search.insets.remove(inset)


def _list_choices(search: Search) -> Iterator[tuple[float, int, Item]]:
    """Yield what may be closed, with how much of the model that leaves untold, and its boxes."""
    insets = [inset.item for inset in search.insets]
    open_items = [item for item in search.list_open() if item.parent is not None]
    stacks = [item for item in open_items if item.repeat is not None]
    for item in open_items:
        element = item.element
        if not isinstance(element, Group) or (item.repeat is not None and len(stacks) == 1):
            continue
        if item not in insets and any(child.is_open for child in item.children):
            continue
        untold = _measure_untold(search, item)
        if untold < (_MOST_TOLD if is_ordinary(element) else _MUCH_OF_TELLING):
            yield untold, -_count_in(search, item), item


def _measure_untold(search: Search, item: Item) -> float:
    """Return how much of the model would be untold where something is closed, with what is alike.

    Of what is open in its place that is its own share.
    """
    from .idea_insets import list_open_blocks
    from .untold import list_untold, rate_face

    element = item.element
    inset = next((one for one in search.insets if one.item is item), None)
    if not isinstance(element, Group):
        return 0.0
    if inset is None:
        around = item.parent.element if item.parent is not None else None
        return rate_face(element, around) * element.share
    insets = [*search.insets]
    search.insets.remove(inset)
    blocks = list_untold(search.view.model, [*search.list_closed()], list_open_blocks(search))
    search.insets[:] = insets
    return max((block.untold for block in blocks if block.group is element), default=0.0)


def _count(search: Search) -> int:
    return count_boxes(one for one in search.list_closed() if _is_box(search, one))


def _count_in(search: Search, item: Item) -> int:
    return sum(_is_box(search, one) for one in list_closed(item))


def _is_box(search: Search, item: Item) -> bool:
    """Return whether a closed item is seen as a box: stubs and circles are none."""
    return item.kind != "stub" and not search.measure.is_round(item)
