"""How many weights QMoE holds: its experts' integers are packed into bytes.

ONNX Runtime, ContribOperators.md, QMoE: of each of up to three layers the weights, scales and zero
points; ``expert_weight_bits`` of all, or ``fcN_expert_weight_bits`` of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.model import Graph, Node, Value, find_operators

_DOMAIN = "com.microsoft"
#: inputs that hold weights, scales and zero points, by layer
_LAYERS = ((2, 3, 11), (5, 6, 12), (8, 9, 13))
#: inputs that scale what is put in and the result: no weights either
_SCALES = (15, 16, 17, 18, 19, 20)
_USUAL_BITS = 4


class ExpertOperand(NamedTuple):
    """An operand of QMoE that is stored as numbers of another kind than it is.

    Parameters
    ----------
    value
        The operand.
    per_byte
        How many weights each byte holds; 0 for scales and zero points.
    """

    value: Value
    per_byte: int


def list_expert_operands(graph: Graph) -> Iterator[ExpertOperand]:
    """Yield weights, scales and zero points of the experts in a graph."""
    for index in find_operators(graph, {"QMoE"}).tolist():
        node = graph.nodes[index]
        if node.domain != _DOMAIN:
            continue
        for number, (weights, *others) in enumerate(_LAYERS, 1):
            value = node.input(weights)
            bits = _read_bits(node, number)
            if value is not None and bits is not None:
                yield ExpertOperand(value, 8 // bits)
            for place in others:
                if (value := node.input(place)) is not None:
                    yield ExpertOperand(value, 0)
        for place in _SCALES:
            if (value := node.input(place)) is not None:
                yield ExpertOperand(value, 0)


def _read_bits(node: Node, layer: int) -> int | None:
    """Return the bits of each weight of a layer; None for a number that is not documented."""
    for name in (f"fc{layer}_expert_weight_bits", "expert_weight_bits"):
        attribute = node.attributes.get(name)
        if attribute is not None and isinstance(attribute.value, int):
            return attribute.value if attribute.value in (2, 4, 8) else None
    return _USUAL_BITS
