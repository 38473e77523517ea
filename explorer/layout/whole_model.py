"""A model that is one closed box, open in its place where that is all a picture would show.

Exporters write a model's own class around all of it, and authors a body beside a head. Closed it is
a list of parts under one name; a picture of more boxes than a figure has tells more than that.
"""

from __future__ import annotations

from netloupe.explorer.grouping import Group
from netloupe.explorer.view import Item, is_recursive

from .first_view_search import Search
from .shown_items import list_closed

#: a box is the model where it has so much of all nodes
_MOST_OF_MODEL = 0.6
#: it is opened where there are so few boxes around it, and so many boxes at most then
_MOST_AROUND, _MOST_BOXES = 12, 44
#: at which all fits into the window then
_LEAST_ZOOM = 0.45


def open_whole_model(search: Search) -> None:
    """Open what most of a model is in, where nothing of it is open and its box only lists parts."""
    if search.insets or search.shows_stack() or search.shows_levels():
        return
    if search.count_boxes() > _MOST_AROUND:
        return
    least = _MOST_OF_MODEL * len(search.view.graph.nodes)
    item = next(
        (
            item
            for item in list_closed(search.view.root)
            if isinstance(item.element, Group) and item.element.node_count >= least
        ),
        None,
    )
    if item is None or not _may_open(item) or not search.begin_trial():
        return
    state = search.view.open_state()
    search.open_item(item)
    if search.try_zoom(_MOST_BOXES) < _LEAST_ZOOM:
        search.view.close_all()
        search.view.reopen(state)


def _may_open(item: Item) -> bool:
    if not item.openable or item.repeat is not None or is_recursive(item):
        return False
    from .untold import rate_face

    return rate_face(item.element, item.parent.element if item.parent is not None else None) > 0
