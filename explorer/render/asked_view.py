"""The view that options ask for: which graph, what of it is in focus, and what is open at first."""

from __future__ import annotations

from typing import Any, Protocol

from netloupe.explorer.errors import NotFoundError, ViewError
from netloupe.explorer.layout import Composer, FirstView
from netloupe.explorer.model import (
    Graph,
    Model,
    Node,
    SparseTensor,
    Tensor,
    is_constant_node,
)
from netloupe.explorer.model.collector import collector_paused
from netloupe.explorer.model.paths import find_holder
from netloupe.explorer.options import Direction
from netloupe.explorer.view import (
    NO_OPERAND_KINDS,
    OperandKinds,
    View,
    ViewOptions,
    expand_view,
    find_neighbourhood,
    nodes_inside,
)

from .labels import Labels


class Opener(Protocol):
    """What opens the groups of a view in which all are closed."""

    def open(self, view: View, direction: Direction = ...) -> None:
        """Open them; values flow in a direction."""
        ...


def make_view(
    model: Model,
    options: ViewOptions,
    first: Opener | None = None,
    operand_kinds: OperandKinds = NO_OPERAND_KINDS,
) -> tuple[View, list[str]]:
    """Return the view that options ask for, opened as they say, and notices about it.

    Parameters
    ----------
    model, options
        What is shown, and how.
    first
        Opens what a first look should see, where ``expand`` is ``auto``.
    operand_kinds
        As for :class:`~netloupe.explorer.view.View`.

    Raises
    ------
    NotFoundError
        Where ``graph`` or ``focus`` names nothing.
    ViewError
        Where they name something of the wrong kind.
    """
    graph = model.graph
    if options.graph:
        found = model[options.graph]
        if not isinstance(found, Graph):
            raise ViewError(f"{model.source}: {options.graph!r} is no graph but a part of one.")
        graph = found
    only = None
    if options.focus:
        graph, seeds = _find_focus(model, graph if options.graph else None, options)
        if not seeds:
            raise ViewError(f"{model.source}: no node gives or uses {options.focus!r}.")
        only = find_neighbourhood(graph, seeds, options.hops)
    with collector_paused():
        view = View(
            model,
            graph,
            options.grouping,
            only,
            options.unnamed_blocks,
            operand_kinds=operand_kinds,
        )
        if options.expand == "auto":
            first = first or FirstView(Composer(), Labels(options.details, options.direction))
            first.open(view, options.direction)
            return view, []
        notice = expand_view(view, options.expand)
    return view, [notice] if notice else []


def _find_focus(
    model: Model, graph: Graph | None, options: ViewOptions
) -> tuple[Graph, list[Node]]:
    """Return the graph of the element in focus and the nodes that it consists of."""
    path = options.focus
    try:
        found: Any = model[path]
    except NotFoundError:
        group = _find_group(model, graph, options)
        if group is None:
            raise
        return group
    if found is model:  # whose path is "model", as many a group is called
        group = _find_group(model, graph, options)
        return group or (model.graph, list(model.graph.nodes))
    if isinstance(found, Tensor | SparseTensor):
        found = find_holder(model, found.path)
    if isinstance(found, Graph):
        return found, list(found.nodes)
    if isinstance(found, Node):
        return found.graph, [found, *_list_users(found)] if is_constant_node(found) else [found]
    nodes = [found.producer] if found.producer is not None else []
    nodes += [node for node in found.users if node.graph is found.graph]
    return found.graph, nodes


def _find_group(
    model: Model, graph: Graph | None, options: ViewOptions
) -> tuple[Graph, list[Node]] | None:
    """Return the nodes of the group in focus and their graph; None where there is no group."""
    for candidate in [graph] if graph is not None else model.graphs:
        borders = View(model, candidate, options.grouping).borders(candidate)
        group = borders.tree.find(options.focus)
        if group is not None:
            return candidate, [group] if isinstance(group, Node) else nodes_inside(group)
    return None


def _list_users(node: Node) -> list[Node]:
    """Return the nodes of a node's own graph that take what it gives."""
    users = [user for value in node.outputs if value is not None for user in value.users]
    return [user for user in users if user.graph is node.graph]
