"""What is known of a graph, whichever of its blocks is looked at; found when first asked for."""

from __future__ import annotations

import numpy as np

from netloupe.explorer.model import Graph, Node, Value, find_nodes_with
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.roles import is_input_independent
from netloupe.explorer.roles.determined_nodes import find_determined_nodes, list_edges

from .shape_values import ShapeValues
from .stored_positions import hides_later


class GraphContext:
    """What recognition needs to know of a graph beyond a block: found once for all blocks.

    Parameters
    ----------
    graph
        The graph; its nodes do not change.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._unchanging: bytes | None = None
        self._lists = ShapeValues()
        self._masks: dict[Value, bool] = {}

    def is_unchanging(self, value: Value) -> bool:
        """Return whether a value follows from constants and shapes alone.

        So do weights, masks of positions, scales and sizes. Of a value of a graph around it
        counts whether it depends on an input.
        """
        node = value.producer
        if node is None or value.graph is not self.graph:
            return value.initializer is not None or is_input_independent(value)
        if self._unchanging is None:
            self._unchanging = _find_unchanging(self.graph)
        return bool(self._unchanging[self.graph.index_of(node)]) or self._is_scale(value)

    def _is_scale(self, value: Value) -> bool:
        """Return whether a value is a scale or zero point that is measured, which is no data.

        Or the product of such a scale and that of a weight.
        """
        node = value.producer
        if node is None:
            return False
        if _measures_scale(node):
            return _is_measured(value)
        if not node.operator.has("multiplies_elements"):
            return False
        return len(node.inputs) == 2 and all(
            operand is not None
            and operand.producer is not node
            and (operand.initializer is not None or _is_measured(operand))
            for operand in node.inputs
        )

    def hides_later(self, value: Value | None) -> bool:
        """Return whether a value is a stored mask that hides from each token what is after it."""
        if value is None:
            return False
        if value not in self._masks:
            self._masks[value] = hides_later(value)
        return self._masks[value]

    def read_list(self, value: Value | None) -> tuple[int | str, ...]:
        """Return the elements of a list of sizes: numbers, and ``?`` or symbols for others.

        Nothing where not even their number is known.
        """
        known = self._lists.of(value)
        return known if isinstance(known, tuple) else () if known is None else (known,)


def find_graph_context(graph: Graph) -> GraphContext:
    """Return what is known of a graph; it is found once."""
    return find_kept(graph, GraphContext, lambda: GraphContext(graph))


def _measures_scale(node: Node) -> bool:
    """Return whether a node tells scale and zero point as results."""
    return node.operator.results.find("data.scale") is not None


def _is_measured(value: Value) -> bool:
    node = value.producer
    return node is not None and _measures_scale(node) and value.output_index > 0


def _find_unchanging(graph: Graph) -> bytes:
    """Return a byte for each node: 1 where its results follow from constants and shapes alone."""
    wiring = graph.wiring
    count = len(graph.nodes)
    readers = np.zeros(count, np.bool_)
    readers[find_nodes_with(graph, "reads_shape")] = True
    varying = np.zeros(len(wiring.values) + 1, np.bool_)  # the last is for what is left out
    for number in np.flatnonzero(wiring.producers < 0).tolist():
        value = wiring.values[number]
        varying[number] = value.initializer is None and not is_input_independent(value)
    targets = np.repeat(np.arange(count), np.diff(wiring.bounds))
    allowed = np.ones(count, np.bool_)
    allowed[targets[varying[wiring.used]]] = False
    allowed[list(wiring.with_others)] = False
    allowed |= readers
    sources, ends = list_edges(graph)
    kept = ~readers[ends]
    return find_determined_nodes(allowed, sources[kept], ends[kept]).tobytes()
