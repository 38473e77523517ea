"""Graphs whose nodes do the same with the same values, in the same order."""

from __future__ import annotations

import numpy as np

from netloupe.explorer.model import Graph, Node, Tensor, Value
from netloupe.explorer.model.node_keys import key_attributes
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.model.wiring import Integers

#: what an operand is that no node gives
_CONSTANT, _INPUT, _OTHER, _ABSENT = -1, -2, -3, -4


def has_same_wiring(left: Graph, right: Graph) -> bool:
    """Return whether two graphs are the same but for names and the numbers in weights.

    Their nodes are, one after the other, of the same operator, have the same attributes and take
    the same: results of the same nodes, the same inputs, weights of the same type and dimensions.
    So it is with what constant nodes hold, whose numbers are weights as well.
    """
    if left is right:
        return True
    if len(left.nodes) != len(right.nodes) or len(left.inputs) != len(right.inputs):
        return False
    first, second = left.wiring, right.wiring
    if (
        not np.array_equal(first.bounds, second.bounds)
        or not np.array_equal(first.operators, second.operators)
        or first.with_others != second.with_others
        or not np.array_equal(_code_operands(left), _code_operands(right))
    ):
        return False
    return all(
        one.op_type == other.op_type
        and one.domain == other.domain
        and len(one.outputs) == len(other.outputs)
        and _have_same_attributes(one, other)
        and len(one.subgraphs) == len(other.subgraphs)
        for one, other in zip(left.nodes, right.nodes, strict=True)
    ) and _list_forms(left) == _list_forms(right)


def _have_same_attributes(one: Node, other: Node) -> bool:
    """Return whether two nodes of one operator have the same attributes, numbers of weights apart.

    The keys of constants are no help: where the reader leaves elements in the file they say from
    where, so that those of two readings of one file differ.
    """
    if key_attributes(one) == key_attributes(other):
        return True
    form = _find_form(one)
    return form is not None and form == _find_form(other)


def _find_form(node: Node) -> tuple[object, ...] | None:
    """Return type and dimensions of what a constant node holds; None for any other node."""
    if node.inputs or node.subgraphs or len(node.outputs) != 1:
        return None
    value = node.output(0)
    tensor = find_stored_tensor(value) if value is not None else None
    return None if tensor is None else (tensor.dtype.name, tensor.dims)


def _code_operands(graph: Graph) -> Integers:
    """Return for each operand what it is: shape (2, operands)."""
    wiring = graph.wiring
    places = {value: place for place, value in enumerate(graph.inputs)}
    codes = np.full((2, len(wiring.values) + 1), _ABSENT)
    for number, value in enumerate(wiring.values):
        index = wiring.producers[number]
        if index >= 0:
            codes[:, number] = index, value.output_index
        elif value.initializer is not None or value.is_parameter:
            codes[:, number] = _CONSTANT, 0
        elif value in places:
            codes[:, number] = _INPUT, places[value]
        else:
            codes[:, number] = _OTHER, 0
    return codes[:, wiring.used]


def _list_forms(graph: Graph) -> list[tuple[object, ...]]:
    """Return types and dimensions of the weights that nodes take, in order."""
    values = graph.wiring.values
    used = (values[number] for number in graph.wiring.used.tolist() if number >= 0)
    return [_describe(value) for value in used if value.initializer is not None]


def _describe(value: Value) -> tuple[object, ...]:
    tensor = value.initializer
    assert tensor is not None  # noqa: S101 - asked of such alone
    return tensor.dtype.name, tensor.dims, isinstance(tensor, Tensor)
