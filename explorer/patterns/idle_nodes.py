"""Nodes that change nothing, as exporters leave them where sizes happen to fit."""

from __future__ import annotations

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import trace_back_where
from netloupe.explorer.model import Graph, Node, Value, find_nodes_with, is_constant
from netloupe.explorer.model.constant import constant_tensor
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.operators import LAYOUT_TRAITS

from .picked_parts import read_limits, read_parts
from .readings import read_scalar

#: what adds nothing, and what multiplies by nothing else than 1
_NEUTRAL = {"adds": 0.0, "subtracts": 0.0, "multiplies_elements": 1.0, "divides": 1.0}
_BOTH = 2
#: in a graph of more nodes nobody looks at each number
_MOST_NODES = 20_000


class _IdleNodes(dict[Node, bool]):
    """Whether nodes of a graph do nothing, of those that were asked for."""


class _Scalars(dict[Value, float | None]):
    """The stored numbers of a graph that were asked for: many nodes take the same."""


def is_idle(node: Node) -> bool:
    """Return whether a node gives what it takes: pads by nothing, slices all there is, adds 0.

    So images whose sizes fit the windows already are padded (Z. Liu and others, Swin Transformer,
    2021, section 3.2, as libraries write it), and sums of branches begin with a number that is 0.
    A program that packs however many values there are joins one alone.
    """
    operator = node.operator
    if operator.form == "Concat":
        return len(node.inputs) == 1 and _is_reshaped(node.input(0))
    if operator.has(*_NEUTRAL):
        if len(node.graph.nodes) > _MOST_NODES:
            return False
        look = _is_neutral
    elif operator.has("pads", "slices"):
        look = _moves_nothing
    else:
        return False
    known = find_kept(node.graph, _IdleNodes, _IdleNodes)
    if node not in known:
        known[node] = look(node)
    return known[node]


def _is_reshaped(value: Value | None) -> bool:
    """Return whether a value was put into the form in which others would be joined to it.

    In a densely connected network the first layer joins one value as all others join several.
    """
    maker = value.producer if value is not None else None
    return maker is not None and maker.operator.form == "Reshape"


def _moves_nothing(node: Node) -> bool:
    """Return whether a node pads by nothing, or slices all there is."""
    if node.operator.has("pads"):
        return {*(read_limits(node, "pads", find_value_facts(node.graph.model)) or (None,))} == {0}
    parts = read_parts(node)
    return bool(parts) and all(
        part.start == 0 and part.step == 1 and part.is_to_end for part in parts
    )


def list_idle(graph: Graph) -> list[int]:
    """Return the indices of the nodes of a graph that give what they take."""
    traits = ("joins", "pads", "slices", *(_NEUTRAL if len(graph.nodes) <= _MOST_NODES else ()))
    return [n for n in find_nodes_with(graph, *traits).tolist() if is_idle(graph.nodes[n])]


def _is_neutral(node: Node) -> bool:
    """Return whether a node computes with a plain number that changes nothing.

    A list of one number may have been learned, and a higher rank changes the shape.
    """
    if len(node.inputs) != _BOTH:
        return False
    operator = node.operator
    for place in (1,) if operator.has("subtracts", "divides") else (0, 1):
        value = node.inputs[place]
        if value is None or not is_constant(value):
            continue
        tensor = constant_tensor(value)
        if tensor is not None and not tensor.dims:
            neutral = next(number for trait, number in _NEUTRAL.items() if operator.has(trait))
            if _read_once(value) == neutral:
                return node.inputs[1 - place] is not None
    return False


def _read_once(value: Value) -> float | None:
    known = find_kept(value.graph, _Scalars, _Scalars)
    if value not in known:
        known[value] = read_scalar(value)
    return known[value]


def chooses_shape(node: Node) -> bool:
    """Return whether a node chooses how to lay out one and the same value, and changes no element.

    So an exporter writes a squeeze of an axis whose size it does not know: where the size is 1 the
    axis goes, else the value stays as it is.
    """
    if not node.operator.has("branches") or len(node.outputs) != 1:
        return False
    sources = {_find_source(graph) for graph in node.subgraphs}
    return len(sources) == 1 and None not in sources


def _find_source(branch: Graph) -> Value | None:
    """Return the value from outside that a branch gives, laid out in some way."""
    if len(branch.outputs) != 1:
        return None

    def lays_out(node: Node) -> bool:
        return node.graph is branch and node.operator.has(*LAYOUT_TRAITS)

    (given,) = branch.outputs
    source = [*trace_back_where(given, lays_out)][-1]
    is_inside = source.producer is not None and source.producer.graph is branch
    return None if is_inside or source.initializer is not None else source
