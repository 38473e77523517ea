"""Opening everything, nothing, or so many levels."""

from __future__ import annotations

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Function, Graph, Node
from netloupe.explorer.options import check_option
from netloupe.explorer.progress import step

from .group_borders import body_graphs
from .item import Item
from .view import View

#: no picture has more boxes than this; calls of functions can multiply without end
MOST_BOXES = 150_000


def expand_view(view: View, expand: str | int) -> str | None:
    """Open the groups of a view; each one opened is a step of the work (see ``steps``).

    Parameters
    ----------
    view
        The view, with everything closed.
    expand
        ``all`` (repeats unrolled and shape arithmetic unfolded), ``none``, or a number of
        levels; ``auto``, which depends on sizes, is for
        :class:`netloupe.explorer.layout.FirstView`. Lists of inputs or outputs stay closed.

    Returns
    -------
    str or None
        A notice where not everything that was asked for could be opened.

    Raises
    ------
    ViewError
        For anything else.
    """
    if expand == "none":
        return None
    if expand == "all":
        view.show_shapes()
        return _expand_levels(view, None)
    levels = check_option("expand", expand)
    assert isinstance(levels, int)  # noqa: S101 - whoever wants ``auto`` asks FirstView
    return _expand_levels(view, levels)


def _expand_levels(view: View, levels: int | None) -> str | None:
    boxes = len(view.root.children)
    layer = [view.root]
    depth = 0
    while layer and (levels is None or depth < levels):
        following = []
        for item in layer:
            for child in item.children:
                if not child.openable or is_recursive(child):
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


def count_held_nodes(item: Item) -> int:
    """Return how much an item holds: of a repeat all repetitions."""
    element = item.element
    if isinstance(element, Group):
        return element.node_count
    graphs = body_graphs(element) if isinstance(element, Node) else [element]
    return sum(len(graph.nodes) for graph in graphs if isinstance(graph, Graph))


def count_least(item: Item) -> int:
    """Return a number of boxes that opening an item adds at least, without making them."""
    repeat = item.repeat
    element = repeat.children[item.shown] if repeat is not None else item.element
    if isinstance(element, Node):
        return max(len(body_graphs(element)), 1)
    if not isinstance(element, Group):
        return 1
    return sum(not isinstance(child, Group) or child.kind != "shape" for child in element.children)


def is_recursive(item: Item) -> bool:
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
