"""How many weights QMoE holds: its experts' integers are packed into bytes.

ONNX Runtime, ContribOperators.md, QMoE: of each of up to three layers the weights, scales and zero
points; ``expert_weight_bits`` of all, or ``fcN_expert_weight_bits`` of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.model import Graph, Node, Value, find_nodes_where
from netloupe.explorer.operators import Operator, kind_of

_USUAL_BITS = 4


class ExpertOperand(NamedTuple):
    """An operand of QMoE that is stored as numbers of another kind than it is.

    Parameters
    ----------
    per_byte
        How many weights each byte holds; 0 for scales and zero points.
    """

    value: Value
    per_byte: int


def list_expert_operands(graph: Graph) -> Iterator[ExpertOperand]:
    """Yield weights, scales and zero points of the experts in a graph."""
    for index in find_nodes_where(graph, _packs_experts).tolist():
        node = graph.nodes[index]
        for role, value in zip(node.operator.operands.names, node.inputs, strict=False):
            owner, _, part = role.partition(".")
            if value is None:
                continue
            if part or role == "setting":  # scales what is put in, weights or the result
                yield ExpertOperand(value, 0)
            elif kind_of(owner) == "weight":
                bits = _read_bits(node, owner.removeprefix("weight"))
                if bits is not None:
                    yield ExpertOperand(value, 8 // bits)


def _packs_experts(operator: Operator) -> bool:
    return operator.has("routes_experts") and operator.has("packed_weight")


def _read_bits(node: Node, layer: str) -> int | None:
    """Return the bits of each weight of a layer; None for a number that is not documented."""
    for name in (f"fc{layer}_expert_weight_bits", "expert_weight_bits"):
        attribute = node.attributes.get(name)
        if attribute is not None and isinstance(attribute.value, int):
            return attribute.value if attribute.value in (2, 4, 8) else None
    return _USUAL_BITS
