"""Nodes that change nothing, as exporters leave them where sizes happen to fit."""

from __future__ import annotations

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import trace_back_where
from netloupe.explorer.model import Graph, Node, Value
from netloupe.explorer.operators import LAYOUT_TRAITS

from .picked_parts import read_limits, read_parts


def is_idle(node: Node) -> bool:
    """Return whether a node gives what it takes: it pads by nothing, or slices all there is.

    So images whose sizes fit the windows already are padded (Z. Liu and others, Swin Transformer,
    2021, section 3.2, as libraries write it).
    """
    operator = node.operator
    if operator.has("pads"):
        return {*(read_limits(node, "pads", find_value_facts(node.graph.model)) or (None,))} == {0}
    if operator.has("slices"):
        parts = read_parts(node)
        return bool(parts) and all(
            part.start == 0 and part.step == 1 and part.is_to_end for part in parts
        )
    return False


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
