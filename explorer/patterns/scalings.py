"""Results of layers that are multiplied by one number: part of the layer for whoever draws it."""

from __future__ import annotations

from netloupe.explorer.dataflow import find_taking, trace_back
from netloupe.explorer.model import Graph, Node, Value, find_nodes_with, is_constant
from netloupe.explorer.notation import write_number
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.roles import find_weight

from .readings import read_scalar

#: so many nodes that arrange are looked through
_MOST_BETWEEN = 4
_BOTH = 2
#: the layers whose results are told with the number that multiplies them
_GIVERS = ("multiplies", "convolves", "looks_up")


def list_scalings(graph: Graph) -> list[int]:
    """Return the indices of the nodes that multiply only what a layer with weights gives.

    Most factors take nothing that could be such, and are not looked at; in a body, what is around
    it may give that.
    """
    factors = find_nodes_with(graph, "multiplies_elements", "divides")
    if graph.parent_node is None:
        factors = factors[find_taking(graph, *_GIVERS, *LAYOUT_TRAITS)[factors]]
    return [index for index in factors.tolist() if read_scaling(graph.nodes[index])]


def read_scaling(node: Node) -> str:
    """Return ``× 8`` of a node that multiplies only what a layer with weights gives; "" for others.

    So embeddings are scaled by the root of their width (A. Vaswani and others, Attention Is All You
    Need, 2017, section 3.4), and queries by that of a head.
    """
    operator = node.operator
    if not operator.has("multiplies_elements", "divides") or len(node.inputs) != _BOTH:
        return ""
    computed = [value for value in node.inputs if value is not None and not is_constant(value)]
    if len(computed) != 1 or len(computed[0].users) != 1 or not _may_be_scaled(computed[0]):
        return ""
    path = [computed[0], *trace_back(computed[0], *LAYOUT_TRAITS, most=_MOST_BETWEEN)]
    if any(value.is_output or len(value.users) != 1 for value in path):
        return ""
    giver = path[-1].producer
    if giver is None or not giver.operator.has(*_GIVERS) or find_weight(giver) is None:
        return ""
    # the number last: to read it costs more than to see what it is multiplied with
    places = range(1, _BOTH) if operator.has("divides") else range(_BOTH)
    number = next((n for p in places if (n := read_scalar(node.inputs[p])) is not None), None)
    if not number:
        return ""
    sign = "÷" if operator.has("divides") else "×"
    return f"{sign} {write_number(float(f'{number:.4g}'))}".replace("-", "−")


def _may_be_scaled(value: Value) -> bool:
    """Return whether a layer gives the value, or what may stand between: asked of very many."""
    giver = value.producer
    return giver is not None and giver.operator.has(*_GIVERS, *LAYOUT_TRAITS)
