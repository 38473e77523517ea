"""Which boxes show an element now: the one map for what is selected, marked, counted and spoken."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from netloupe.explorer.model import (
    Function,
    Graph,
    Model,
    Node,
    Value,
    is_constant,
    is_constant_node,
)
from netloupe.explorer.model.paths import find_holder

from .item import Item
from .targets import list_takers
from .view import View

#: of what very many nodes have as a row, so many of them are looked at
MOST_TAKERS = 200


def list_showing(view: View, path: str) -> list[Item]:
    """Return the boxes drawn now that are an element, have it on their face, or hide it.

    Several where it is a row of several nodes, or in a function that is called in several places;
    none where the picture does not show it, such as a weight that nothing uses.

    Parameters
    ----------
    view
        What is drawn.
    path
        The path of a node, value, initializer, graph, group, or tensor in an attribute.
    """
    found = dict.fromkeys(_find_shown(view, path))
    element = None if path.endswith("/") else find_holder(view.model, path)
    if element is None:
        return [*found]
    if not found and element.path != path:  # a tensor in an attribute
        found |= dict.fromkeys(_find_shown(view, element.path))
    if element.path == path or not found:
        for node in islice(list_constant_takers(element), MOST_TAKERS):
            found |= dict.fromkeys(_find_shown(view, node.path))
    if not found:
        graph = element if isinstance(element, Graph) else element.graph
        found = dict.fromkeys(_list_around(view, graph))
    # an open box around another one only holds it
    around = {outer for item in found for outer in _list_outer(item)}
    return [item for item in found if item not in around]


def _list_outer(item: Item) -> Iterator[Item]:
    while item.parent is not None:
        item = item.parent
        yield item


def _find_shown(view: View, path: str) -> list[Item]:
    item = view.shown(path)
    return [item] if item is not None and item is not view.root else []


def list_constant_takers(element: object) -> Iterator[Node]:
    """Yield the nodes that have a constant as a row."""
    if isinstance(element, Node) and is_constant_node(element):
        for value in element.outputs:
            if value is not None:
                yield from list_takers(value)
    elif isinstance(element, Value) and is_constant(element):
        yield from list_takers(element)


def _list_around(view: View, graph: Graph) -> list[Item]:
    """Return the boxes of the nodes whose graphs a graph is or is in, the nearest that are drawn.

    A body belongs to a node, a function to all its calls.
    """
    pending, seen = [graph], {graph}
    for inner in pending:
        if inner is view.graph:
            continue
        holder = inner.parent_node
        calls = [holder] if holder is not None else _list_calls(view.model, inner)
        found = [item for call in calls for item in _find_shown(view, call.path)]
        if found:
            return found
        for outer in dict.fromkeys(call.graph for call in calls):
            if outer not in seen:
                seen.add(outer)
                pending.append(outer)
    return []


def _list_calls(model: Model, graph: Graph) -> list[Node]:
    if not isinstance(graph, Function):
        return []
    return [node for each in model.graphs for node in each.nodes if node.function is graph]
