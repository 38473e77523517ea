"""Where nodes belong that a quantizer put between those of an author's program.

A quantizer names what it adds after values: what quantizes the result of a norm bears the name of
the norm, and what it leaves of an activation that it folded away, whose scope holds nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.dataflow import list_users
from netloupe.explorer.model import Graph, Node, find_nodes_with, is_constant

Scope = tuple[str, ...]


def find_quantizer_scopes(graph: Graph, of_node: Sequence[Scope | None]) -> dict[int, Scope]:
    """Return the scopes of the nodes that only quantize or dequantize, where these are others.

    What gives a scale and a zero point beside the elements serves the products that take all of
    them, and stands with these: only the value itself goes from one module to the next. Where all
    of a scope quantizes, or none is told, it joins the scope of what it quantizes.

    Parameters
    ----------
    graph
        The graph.
    of_node
        The scope of each node by index; None where it is not known.
    """
    quantizers = {
        index: graph.nodes[index]
        for index in find_nodes_with(graph, "dequantizes", "quantizes").tolist()
    }
    quantizers = {
        index: node
        for index, node in quantizers.items()
        if (data := node.input(0)) is not None and not is_constant(data)
    }
    if not quantizers:
        return {}
    held: set[Scope] = set()
    for index, scope in enumerate(of_node):
        if index not in quantizers:
            while scope and scope not in held:
                held.add(scope)
                scope = scope[:-1]
    found: dict[int, Scope] = {}
    for index, node in quantizers.items():
        scope = of_node[index] or ()
        if sum(value is not None and value.is_used for value in node.outputs) > 1:
            moved = _find_taking(node, graph, of_node)
            if moved and moved != scope[: len(moved)]:
                found[index] = moved
        elif scope not in held:
            giver = node.input(0)
            before = giver.producer if giver is not None else None
            if before is not None and before.graph is graph:
                place = graph.index_of(before)
                given = found.get(place, of_node[place])
                if given is not None:
                    found[index] = given
    return found


def _find_taking(node: Node, graph: Graph, of_node: Sequence[Scope | None]) -> Scope:
    """Return the innermost scope around all that takes what a node gives; () for none."""
    around: Scope | None = None
    for user in list_users(node):
        scope = of_node[graph.index_of(user)] if user.graph is graph else None
        if scope is None:
            return ()
        if around is None:
            around = scope
        while around != scope[: len(around)]:
            around = around[:-1]
    return around or ()
