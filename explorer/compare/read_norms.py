"""Which number norms add, and over which axes they go, as one operator or written out.

Sources: onnx/docs/Operators.md: LayerNormalization, RMSNormalization, ReduceMean;
ContribOperators.md of ONNX Runtime: SkipLayerNormalization, SimplifiedLayerNormalization.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Node, TensorType, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import CONVERTING_TRAITS, find_default, find_schema
from netloupe.explorer.progress import is_ending

from .changes import Change
from .pair import Pair
from .passed_values import MOST_PASSED

#: a value has no more axes
_MOST_AXES = 16
#: what is stored in 16 bits is rounded by so much, and what is stored in 32 by less
_NEAR_IN_HALF, _NEAR = 1e-2, 1e-6


class _Norm(NamedTuple):
    """What a norm says of itself; None for what cannot be told.

    ``axes`` are counted from the last, -1, and in order.
    """

    epsilon: float | None
    axes: tuple[int, ...] | None
    is_half: bool = False


def compare_norms(pair: Pair) -> Iterator[Change]:
    """Yield in what two norms differ, of which either may be written out as several nodes."""
    rank = _find_rank((*pair.left, *pair.right))
    one, other = _read_norm(pair.left, rank), _read_norm(pair.right, rank)
    if one is None or other is None:
        return
    if one.epsilon is not None and other.epsilon is not None:
        near = _NEAR_IN_HALF if one.is_half or other.is_half else _NEAR
        if not math.isclose(one.epsilon, other.epsilon, rel_tol=near):
            yield Change("epsilon", one.epsilon, other.epsilon)
    if one.axes is not None and other.axes is not None and one.axes != other.axes:
        yield Change("axes", one.axes, other.axes)


def _read_norm(nodes: tuple[Node, ...], rank: int | None) -> _Norm | None:
    heads = [node for node in nodes if node.operator.has("normalizes_last_axes")]
    has_mean = any(node.operator.has("averages") for node in nodes)
    if not heads:
        return _read_written_out(nodes, rank) if has_mean else None
    if len(heads) > 1 or has_mean:
        return None
    head = heads[0]
    epsilon = _read_attribute(head, "epsilon")
    axis, axes = _read_attribute(head, "axis", -1), None
    if isinstance(axis, int) and (axis < 0 or rank is not None):
        first = axis if axis < 0 else axis - (rank or 0)
        axes = tuple(range(first, 0)) if -_MOST_AXES <= first < 0 else None
    return _Norm(float(epsilon) if isinstance(epsilon, int | float) else None, axes)


def _read_attribute(node: Node, name: str, without: object = None) -> object:
    """Return what holds of an attribute, stated or not; ``without`` where the operator has none."""
    stated = node.attributes.get(name)
    if stated is not None:
        return None if stated.reference else stated.value
    schema = find_schema(node.domain, node.op_type, node.opset_version)
    known = None if schema is None else find_default(schema, name)
    return without if known is None else known


def _read_written_out(nodes: tuple[Node, ...], rank: int | None) -> _Norm:
    """Return what a written-out norm adds to the mean of squares, and the axes of its means."""
    inside = {*nodes}
    found: list[tuple[float, bool]] = []
    for node in nodes:
        if not node.operator.has("adds") or len(node.inputs) != 2:
            continue
        for data, value in (node.inputs, node.inputs[::-1]):
            source = find_source(data, *CONVERTING_TRAITS, most=MOST_PASSED)
            giver = None if source is None else source.producer
            number = read_one_float(value)
            if number and giver is not None and giver in inside and giver.operator.has("averages"):
                found.append(number)
    epsilon = found[0] if len(found) == 1 else (None, False)
    axes = {_read_axes(node, rank) for node in nodes if node.operator.has("averages")}
    return _Norm(epsilon[0], axes.pop() if len(axes) == 1 else None, epsilon[1])


def read_one_float(value: Value | None) -> tuple[float, bool] | None:
    """Return the one number that a constant holds, and whether in 16 bits; None for others."""
    tensor = None if value is None else find_stored_tensor(value)
    if tensor is None or tensor.size != 1 or not tensor.dtype.is_float:
        return None
    try:
        number = float(tensor.numpy().reshape(-1)[0])
    except NetloupeError as error:
        if is_ending(error):
            raise
        return None
    return number, tensor.dtype.bits is not None and tensor.dtype.bits < 32


def _read_axes(node: Node, rank: int | None) -> tuple[int, ...] | None:
    """Return the axes that a mean goes over, in order and counted from the last one."""
    stated = node.attributes.get("axes")
    axes = stated.value if stated is not None and not stated.reference else None
    stored = node.input(1)
    if stated is None and stored is not None:
        tensor = find_stored_tensor(stored)
        if tensor is None or not tensor.dtype.is_integer or tensor.size > _MOST_AXES:
            return None
        try:
            axes = tuple(int(axis) for axis in tensor.numpy().reshape(-1))
        except NetloupeError as error:
            if is_ending(error):
                raise
            return None
    if not isinstance(axes, tuple) or not axes or not all(isinstance(a, int) for a in axes):
        return None
    if rank is None and any(axis >= 0 for axis in axes):
        return None
    return tuple(sorted(axis if axis < 0 else axis - (rank or 0) for axis in axes))


def _find_rank(nodes: tuple[Node, ...]) -> int | None:
    """Return how many axes there are of what norms take; None where it is not known."""
    for node in nodes:
        if not node.operator.has("averages", "normalizes_last_axes"):
            continue
        # a mean may leave out the axes that it goes over: of that only what it takes counts
        outputs = () if node.operator.has("averages") else node.outputs[:1]
        for value in (*node.inputs[:1], *outputs):
            kind = None if value is None else value.type
            if isinstance(kind, TensorType) and kind.shape is not None:
                return len(kind.shape)
    return None
