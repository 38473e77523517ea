"""Numbers that were learned and stand in attributes: trees, coefficients, support vectors."""

from __future__ import annotations

from netloupe.explorer.model import Graph, Node, SparseTensor, Tensor, find_nodes_with

#: the attributes that hold learned real numbers: of linear models, of support vector machines and
#: of trees (ONNX, ai.onnx.ml); those of scalers and imputers are statistics, and the values of
#: nodes of trees are asked for apart
_LEARNED = (
    *("coefficients", "intercepts", "support_vectors", "rho", "prob_a", "prob_b"),
    *("nodes_splits", "leaf_weights", "membership_values"),
    *("class_weights", "target_weights", "base_values"),
)


def find_holders(graph: Graph) -> list[Node]:
    """Return the nodes of a graph whose attributes hold learned numbers."""
    return [graph.nodes[index] for index in find_nodes_with(graph, "fitted").tolist()]


def count_attribute_values(node: Node) -> int:
    """Return how many learned numbers the attributes of such a node hold.

    Of trees they are the thresholds of nodes that branch, and the weights of leaves. What a leaf
    has in place of a threshold says nothing, and which feature a node looks at is no number.
    """
    modes = node.attributes.get("nodes_modes")
    listed = modes.value if modes is not None and isinstance(modes.value, tuple) else ()
    leaves = sum(mode in ("LEAF", b"LEAF") for mode in listed)
    branches = max(_count(node, "nodes_values") - leaves, 0)
    return branches + sum(_count(node, name) for name in _LEARNED)


def _count(node: Node, name: str) -> int:
    """Return how many elements a list has, or a tensor that stands for it."""
    for written in (name, f"{name}_as_tensor"):
        attribute = node.attributes.get(written)
        value = None if attribute is None else attribute.value
        if isinstance(value, tuple):
            return len(value)
        if isinstance(value, Tensor | SparseTensor):
            return (value.values if isinstance(value, SparseTensor) else value).size
    return 0
