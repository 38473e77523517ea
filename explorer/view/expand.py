"""What to open: the first view, everything, nothing, or so many levels."""

from __future__ import annotations

import re
from collections import Counter

from netloupe.explorer.errors import ViewError
from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Function, Node

from .item import Item
from .view import View

#: a first view has about so many boxes at most
FIRST_VIEW_BOXES = 60
#: what would otherwise be a picture of so few boxes is opened even if it holds many
LONELY_BOXES = 4
MOST_CHILDREN = 400
#: siblings alike in so large a number are repeats: a first view leaves them closed
REPEATS = 3
#: no picture has more boxes than this; calls of functions can multiply without end
MOST_BOXES = 100_000

_DIGITS = re.compile(r"\d+")


def expand_view(view: View, expand: str | int) -> str | None:
    """Open the groups of a view.

    Parameters
    ----------
    view
        The view, with everything closed.
    expand
        ``auto`` (a readable first view), ``all``, ``none``, or a number of levels.

    Returns
    -------
    str or None
        A notice where not everything that was asked for could be opened.

    Raises
    ------
    ViewError
        For anything else.
    """
    if expand == "auto":
        _expand_first_view(view)
        return None
    if expand == "none":
        return None
    if expand == "all":
        return _expand_levels(view, None)
    try:
        levels = int(expand)
    except (TypeError, ValueError):
        levels = -1
    if levels < 0:
        raise ViewError(
            f"expand={expand!r} is unknown. Choose auto, all, none or a number of levels."
        )
    return _expand_levels(view, levels)


def _expand_levels(view: View, levels: int | None) -> str | None:
    boxes = len(view.root.children)
    layer = [view.root]
    depth = 0
    while layer and (levels is None or depth < levels):
        following = []
        for item in layer:
            for child in item.children:
                if not child.openable or _is_recursive(child):
                    continue
                if boxes > MOST_BOXES:
                    return (
                        f"Only the first {MOST_BOXES:,} boxes are open. "
                        "Open a part of the model to see all of it."
                    )
                view.open_item(child)
                boxes += len(child.children)
                following.append(child)
        layer = following
        depth += 1
    return None


def _expand_first_view(view: View) -> None:
    """Open level by level what fits, leaving repeated siblings closed."""
    layer = [view.root]
    boxes = _count_boxes(view.root)
    while layer:
        following = []
        for item in layer:
            alike = Counter(_likeness(child) for child in item.children if child.openable)
            for child in item.children:
                if not child.openable or _is_recursive(child):
                    continue
                lonely = boxes <= LONELY_BOXES
                if alike[_likeness(child)] >= REPEATS and not lonely:
                    continue
                view.open_item(child)
                added = _count_boxes(child)
                if boxes + added <= FIRST_VIEW_BOXES or (lonely and added <= MOST_CHILDREN):
                    boxes += added
                    following.append(child)
                else:
                    view.close_item(child)
        layer = following


def _count_boxes(item: Item) -> int:
    return sum(child.kind in ("node", "group", "branch") for child in item.children)


def _likeness(item: Item) -> tuple[str, ...]:
    """Return what repeated siblings have in common: the label without numbers, or the op."""
    element = item.element
    if isinstance(element, Group):
        return ("group", _DIGITS.sub("#", element.label), element.type_name)
    if isinstance(element, Node):
        return ("node", element.domain, element.op_type, element.overload)
    return (item.kind, item.path)


def _is_recursive(item: Item) -> bool:
    """Return whether opening a call would show a function inside itself."""
    element = item.element
    function = element.function if isinstance(element, Node) else None
    caller: Item | None = item
    while caller is not None and function is not None:
        graph = caller.instance.graph
        if isinstance(graph, Function) and graph is function:
            return True
        caller = caller.instance.caller
    return False
