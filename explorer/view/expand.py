"""What to open: the first view, everything, nothing, or so many levels."""

from __future__ import annotations

from collections import Counter

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Function, Graph, Node
from netloupe.explorer.options import check_option
from netloupe.explorer.progress import step

from .group_borders import body_graphs
from .item import Item
from .opened import likeness
from .view import View

#: a first view has about so many boxes, inputs, outputs and stubs counted
FIRST_VIEW_BOXES = 60
#: with fewer than so many, it may grow to so many
LEAST_BOXES = 15
MOST_BOXES_AT_FIRST = 120
#: what would otherwise be a picture of so few boxes is opened even if it holds many
LONELY_BOXES = 4
MOST_CHILDREN = 400
#: siblings alike in so large a number are left closed where there is enough else to see
ALIKE = 3
#: no picture has more boxes than this; calls of functions can multiply without end
MOST_BOXES = 150_000


def expand_view(view: View, expand: str | int) -> str | None:
    """Open the groups of a view; each one opened is a step of the work (see ``steps``).

    Parameters
    ----------
    view
        The view, with everything closed.
    expand
        ``auto`` (a readable first view), ``all`` (repeats unrolled and shape arithmetic
        unfolded), ``none``, or a number of levels. Lists of inputs or outputs stay closed.

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
        view.show_shapes()
        return _expand_levels(view, None)
    return _expand_levels(view, check_option("expand", expand))


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
                if child.is_terminal:
                    continue  # a list of inputs is opened on demand
                if boxes > MOST_BOXES:
                    return (
                        f"Only the first {MOST_BOXES:,} boxes are open. "
                        "Open a part of the model to see all of it."
                    )
                step()
                if levels is None and child.repeat is not None:
                    view.unroll(child.key)
                view.open_item(child)
                boxes += len(child.children)
                following.append(child)
        layer = following
        depth += 1
    return None


def _expand_first_view(view: View) -> None:
    """Open what fits, level by level and in each the largest first, not all of siblings alike.

    Where the picture would have fewer than ``LEAST_BOXES``, more is allowed: siblings alike
    are opened too, and so are larger groups up to ``MOST_BOXES_AT_FIRST``.
    """
    boxes = len(view.root.children)
    layer = [view.root]
    while layer:
        following = []
        alike: Counter[tuple[str, ...]] = Counter()
        candidates = []
        for item in layer:
            found = [
                child
                for child in item.children
                if child.openable and not child.is_open and not child.is_terminal
            ]
            alike.update(likeness(child) for child in found)
            candidates += found
        candidates.sort(key=lambda child: -_weight(child))  # stable: the first of equal ones
        for child in candidates:
            is_small = boxes < LEAST_BOXES
            kind = likeness(child)
            if _is_recursive(child) or (alike[kind] >= ALIKE and not is_small):
                continue
            if child.repeat is not None and isinstance(child.repeat.children[0], Node):
                continue  # one node of many tells no more than the stack
            room = (MOST_BOXES_AT_FIRST if is_small else FIRST_VIEW_BOXES) - boxes
            if boxes <= LONELY_BOXES:
                room = MOST_CHILDREN
            if _count_at_least(child) > room:
                continue
            step()
            view.open_item(child)
            if len(child.children) <= room:
                boxes += len(child.children)
                following.append(child)
            else:
                view.close_item(child)
        layer = following


def _weight(item: Item) -> int:
    """Return how much an item holds: of a repeat all repetitions."""
    element = item.element
    if isinstance(element, Group):
        return element.node_count
    graphs = body_graphs(element) if isinstance(element, Node) else [element]
    return sum(len(graph.nodes) for graph in graphs if isinstance(graph, Graph))


def _count_at_least(item: Item) -> int:
    """Return a number of boxes that opening an item adds at least, without making them."""
    repeat = item.repeat
    element = repeat.children[item.shown] if repeat is not None else item.element
    if isinstance(element, Node):
        return max(len(body_graphs(element)), 1)
    if not isinstance(element, Group):
        return 1
    return sum(not isinstance(child, Group) or child.kind != "shape" for child in element.children)


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
