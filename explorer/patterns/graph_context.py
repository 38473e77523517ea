"""What is known of a graph, whichever of its blocks is looked at; found when first asked for."""

from __future__ import annotations

from functools import cached_property

from netloupe.explorer.dataflow import is_input_independent, is_of_shapes
from netloupe.explorer.model import Graph, Node, Value, find_nodes_where
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.operators import Operator

from .shape_values import ShapeValues
from .stored_kernels import read_kernel_form
from .stored_positions import StoredMask, read_stored_mask


class GraphContext:
    """What recognition needs to know of a graph beyond a block: found once for all blocks.

    Parameters
    ----------
    graph
        The graph; its nodes do not change.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        #: of the values that were asked for, whether they follow from constants and shapes alone
        self.unchanging: dict[Value, bool] = {}
        self._lists = ShapeValues()
        self._masks: dict[Value, StoredMask | None] = {}
        self._forms: dict[Value, str] = {}

    def is_unchanging(self, value: Value) -> bool:
        """Return whether a value follows from constants and shapes alone.

        So do weights, masks of positions, scales and sizes. Of a value of a graph around it
        counts whether it depends on an input.
        """
        known = self.unchanging.get(value)
        if known is None:
            known = self.unchanging[value] = self._is_unchanging(value)
        return known

    def _is_unchanging(self, value: Value) -> bool:
        if value.graph is not self.graph:
            return is_input_independent(value)
        if is_of_shapes(value):
            return True
        return self.measures_scales and self._is_scale(value)

    @cached_property
    def measures_scales(self) -> bool:
        """Whether a node of the graph measures a scale or zero point, which follows from data."""
        return bool(len(find_nodes_where(self.graph, _gives_scale)))

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

    def read_mask(self, value: Value | None) -> StoredMask | None:
        """Return which tokens a stored mask lets each token see; None for what is no such mask."""
        if value is None:
            return None
        if value not in self._masks:
            self._masks[value] = read_stored_mask(value)
        return self._masks[value]

    def read_form(self, value: Value | None) -> str:
        """Return ``masked``, ``zero`` or ``blurring`` for a kernel of such numbers; else ""."""
        if value is None:
            return ""
        if value not in self._forms:
            self._forms[value] = read_kernel_form(self.graph, value)
        return self._forms[value]

    def read_list(self, value: Value | None) -> tuple[int | str, ...]:
        """Return the elements of a list of sizes: numbers, and ``?`` or symbols for others.

        Nothing where not even their number is known.
        """
        known = self._lists.of(value)
        return known if isinstance(known, tuple) else () if known is None else (known,)


def find_graph_context(graph: Graph) -> GraphContext:
    """Return what is known of a graph; it is found once."""
    return find_kept(graph, GraphContext, lambda: GraphContext(graph))


def _gives_scale(operator: Operator) -> bool:
    """Return whether an operator tells scale and zero point as results."""
    return operator.results.find("data.scale") is not None


def _measures_scale(node: Node) -> bool:
    return _gives_scale(node.operator)


def _is_measured(value: Value) -> bool:
    node = value.producer
    return node is not None and _measures_scale(node) and value.output_index > 0
