"""Weights that no initializer holds: nodes give them, by a fill or from an attribute.

Exporters write weights as Constant, and tools that strip a model of its weights leave a fill
(ConstantOfShape) of their shape in their place. What a node gives is a weight where it reaches a
weight operand of an operator, perhaps in another shape or type, or in pieces that are put
together in another order: so exporters bring the gates of an LSTM into the order of ONNX. Or it is
computed of constants alone, as a weight that is normalized, or the branches of an If give one each.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from netloupe.explorer.model import Graph, Node, SparseTensor, Tensor, Value, find_nodes_where
from netloupe.explorer.model.storage import multiply_dims
from netloupe.explorer.model.stored_tensors import find_own_tensor
from netloupe.explorer.operators import LAYOUT_TRAITS, Operator, kept_with_catalogue

from .constants import is_scaled_again
from .elementwise import read_elements
from .stored_uses import is_stored_value

#: roles of operands that are learned
_LEARNED = ("bias", "factor", "peephole", "recurrent_weight", "slope", "weight")
#: so many values are looked at behind an operand
_MOST_STEPS = 64


class ProducedWeight(NamedTuple):
    """A weight that a node gives.

    Parameters
    ----------
    origin
        What the node gives.
    kind
        What it is at the operator that takes it.
    size
        How many numbers.
    bytes
        How many bytes the file has for them: none where they are filled.
    """

    origin: Value
    kind: Literal["parameter", "running statistic"]
    size: int
    bytes: int


@kept_with_catalogue(maxsize=1 << 12)
def list_measured_places(operator: Operator) -> tuple[int, ...]:
    """Return the operands that training only measures: mean and variance of a normalization."""
    return operator.operands.list_of("mean", "variance")


@kept_with_catalogue(maxsize=1 << 12)
def _list_learned_places(operator: Operator) -> tuple[int, ...]:
    if operator.operands.repeated:  # Einsum may sum over nothing, as where angles are computed
        return ()
    return operator.operands.list_of(*_LEARNED)


def find_produced_weights(graph: Graph) -> dict[Node, list[ProducedWeight]]:
    """Return by node the weights that it takes and that nodes of the same graph give."""
    found: dict[Node, list[ProducedWeight]] = {}
    for index in find_nodes_where(graph, lambda o: bool(_list_learned_places(o))).tolist():
        node = graph.nodes[index]
        operator = node.operator
        measured = list_measured_places(operator)
        for place in (*_list_learned_places(operator), *measured):
            value = node.input(place)
            if value is None or value.initializer is not None or value.producer is None:
                continue
            if not place and is_stored_value(node.input(1)):
                continue  # an initial state, and the second is the weight
            if operator.form == "InstanceNormalization" and is_scaled_again(node):
                continue
            kind: Literal["parameter", "running statistic"]
            kind = "running statistic" if place in measured else "parameter"
            for origin in _find_origins(value):
                size = _read_size(origin)
                if size is not None:
                    found.setdefault(node, []).append(ProducedWeight(origin, kind, *size))
    return found


def _find_origins(value: Value) -> list[Value]:
    """Return the values that nodes give by themselves and of which a value is put together.

    Initializers among what it is put together of are left out; where something is computed of what
    is no constant, there are none. Single numbers that others are computed with are no weights.
    """
    found: dict[Value, None] = {}
    factors: set[Value] = set()
    seen = {value}
    pending = [value]
    while pending:
        one = pending.pop()
        if one.initializer is not None:
            continue
        producer = one.producer
        if producer is None or len(seen) > _MOST_STEPS:
            return []
        if producer.operator.has("stores_constant", "fills"):
            if one.output_index:
                return []
            found[one] = None
            continue
        operator = producer.operator
        if operator.has("joins"):
            operands = [*producer.inputs]
        elif operator.has("elementwise", "reduces"):  # as where a weight is normalized
            operands = [each for each in producer.inputs if each is not None]
            factors.update(each for each in operands if each is not None)
        elif operator.has(*LAYOUT_TRAITS, "looks_up", "pads", "picks", "repeats"):
            operands = [*producer.inputs[:1]]
        elif operator.has("branches"):
            place = one.output_index
            operands = [
                given for branch in producer.subgraphs for given in branch.outputs[place:][:1]
            ]
        else:
            return []
        if not operands or None in operands or producer.domain != producer.graph.dialect.domain:
            return []
        new = [each for each in operands if each is not None and each not in seen]
        seen.update(new)
        pending += new
    return [one for one in found if one not in factors or (_read_size(one) or (2, 0))[0] > 1]


def _read_size(origin: Value) -> tuple[int, int] | None:
    """Return how many real numbers a node gives, in how many bytes of the file.

    None for other types, and where it is open.
    """
    producer = origin.producer
    if producer is None:
        return None
    if producer.operator.has("stores_constant"):
        tensor = find_own_tensor(origin)
        if tensor is None or not (tensor.dtype.is_float or tensor.dtype.is_complex):
            return None
        stored = None if isinstance(tensor, SparseTensor) else tensor.stored_bytes
        return tensor.size, (tensor.nbytes or 0) if stored is None else stored
    attribute = producer.attributes.get("value")
    filled = attribute.value if attribute is not None else None
    if isinstance(filled, Tensor) and not filled.dtype.is_float:
        return None
    wanted = producer.input(0)
    shape = None if wanted is None else find_own_tensor(wanted)
    dims = read_elements(shape) if isinstance(shape, Tensor) else None
    return None if dims is None else (multiply_dims(dims), 0)
