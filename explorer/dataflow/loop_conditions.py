"""Conditions that never end a loop: its number of turns is all that does."""

from __future__ import annotations

from netloupe.explorer.model import Graph, Value

from .constancy import is_input_independent


def find_fixed_condition(graph: Graph) -> Value | None:
    """Return what a Loop's graph gives as the condition to go on, where that is always the same.

    The operator specification of ONNX (Loop): the graph gives the condition first.
    """
    node = graph.parent_node
    given = next(iter(graph.outputs), None)
    if node is None or given is None or not node.operator.has("loops"):
        return None
    has_condition = graph.dialect.body_binding(node.operator).first_output > 0
    return given if has_condition and is_input_independent(given) else None
