"""Nodes that pass on what a module is given, to its inside and also around it.

torch's older exporter follows tensors by identity. A module that begins by converting its input to
the type that it has already gives the name of the Cast to all further uses of that input: the
residual beside ``LlamaRMSNorm`` would seem to leave the norm. Such a node belongs before the
module, as everything that the module is given.
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import Graph, Node, Value, find_nodes_with, is_constant

Scope = tuple[str, ...]

#: of operators that give what they take, in another type at most
PASSING_TRAITS = ("casts", "copies")
#: of operators that turn the axes of a value or take a difference of two, which an optimiser does
#: once for several modules
_SHARED_TRAITS = ("permutes", "subtracts")


def find_module_input_nodes(graph: Graph, of_node: Sequence[Scope | None]) -> dict[int, Scope]:
    """Return the scopes of the nodes that pass on what both their module and others use.

    Parameters
    ----------
    graph
        The graph.
    of_node
        The scope of each node by index; None where it is not known.

    Returns
    -------
    dict
        The innermost scope around all users, by the index of the node; only of nodes in a scope
        that their operand comes from outside of, whose result is used inside and outside, and
        there by a node of that scope itself, as a residual sum is.
    """
    found: dict[int, Scope] = {}
    for index in find_nodes_with(graph, *PASSING_TRAITS, *_SHARED_TRAITS).tolist():
        scope, node = of_node[index], graph.nodes[index]
        value = node.output(0)
        if not scope or len(node.outputs) != 1 or value is None or len(value.users) < 2:
            continue
        users = [_find_scope(user, graph, of_node) for user in value.users]
        if node.operator.has(*_SHARED_TRAITS):
            scope = _leave_own(scope, users)
        around = [user for user in users if user is not None and not _is_inside(user, scope)]
        if not around or len(around) == len(users) or None in users:
            continue
        row, operand = _go_back(node, scope, graph, of_node)
        if operand is None or is_constant(operand):
            continue
        giver = () if operand.producer is None else _find_scope(operand.producer, graph, of_node)
        holder = _find_common(scope, around)
        is_shared = node.operator.has(*_SHARED_TRAITS) or holder in around
        if giver is not None and not _is_inside(giver, scope) and is_shared:
            found |= dict.fromkeys(row, holder)
    return found


def _leave_own(scope: Scope, users: Sequence[Scope | None]) -> Scope:
    """Return a scope without the last parts of it that none of the users is in."""
    while scope and not any(user is not None and _is_inside(user, scope) for user in users):
        scope = scope[:-1]
    return scope


def _go_back(
    node: Node, scope: Scope, graph: Graph, of_node: Sequence[Scope | None]
) -> tuple[list[int], Value | None]:
    """Return a node with those in a row before it that only pass on, and what these are given."""
    row: list[int] = []
    value: Value | None = None
    while node.operator.has(*PASSING_TRAITS, *_SHARED_TRAITS):
        inner = _find_scope(node, graph, of_node)
        if inner is None or not _is_inside(inner, scope):
            break
        row.append(graph.index_of(node))
        value = node.input(0)
        if value is None or value.producer is None or len(value.users) > 1:
            break
        node = value.producer
    return row, value


def _find_scope(node: Node, graph: Graph, of_node: Sequence[Scope | None]) -> Scope | None:
    return of_node[graph.index_of(node)] if node.graph is graph else None


def _is_inside(scope: Scope, outer: Scope) -> bool:
    return scope[: len(outer)] == outer


def _find_common(scope: Scope, others: Sequence[Scope]) -> Scope:
    """Return how far a scope begins as all of some others do."""
    common = len(scope)
    for other in others:
        while scope[:common] != other[:common]:
            common -= 1
    return scope[:common]
