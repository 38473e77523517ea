"""Where a fixed value comes from, through what changes nothing but its type or layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import (
    Function,
    Node,
    SparseTensor,
    SparseTensorType,
    Tensor,
    TensorType,
    Value,
    constant_tensor,
    find_constant_source,
)
from netloupe.explorer.operators import ARITHMETIC_TRAITS, HANDING_TRAITS

#: sizes of the axes; None for one that is not known
Dims = tuple[int | None, ...]

_QUANTIZING = ("dequantizes", "quantizes", "simulates_quantization")
#: steps back from an operand; calls that are compared; and steps in all
_MOST_STEPS = 64
_MOST_CALLS = 16
_MOST_WORK = 1_000
#: calls around calls of functions that are called from several places; sums in sums
_MOST_DEPTH = 50
_MOST_RANK = 32
#: an input of a function is looked for among so many
_MOST_FORMALS = 1_000


class Origin(NamedTuple):
    """Where a fixed value comes from.

    Parameters
    ----------
    tensor
        The stored tensor; None where the value is filled, computed, in another file, or another
        one in each call of a function.
    dims
        The sizes of the value's own axes, after what stands between; None where not even the
        rank is known.
    is_quantized
        Whether something between dequantizes it, or quantizes it.
    """

    tensor: Tensor | SparseTensor | None
    dims: Dims | None
    is_quantized: bool = False


def find_origin(value: Value, calls: Sequence[Node] = ()) -> Origin | None:
    """Return where a value comes from; None where it depends on an input of the model.

    Parameters
    ----------
    value
        Any value.
    calls
        The calls that lead to the function that the value is in, the outermost first. Without
        them all calls of it count: what they do not have in common is None.
    """
    return _Search().follow(value, list(calls))


def find_computed_dims(value: Value) -> Dims | None:
    """Return the sizes of what is computed element by element of stored values; None for others.

    As weights with noise are, and those that a program scales.
    """
    return _Search().broadcast(value)


class _Search:
    """A walk back from one value, of bounded length however functions call one another."""

    def __init__(self) -> None:
        self._work = 0
        self._depth = 0

    def follow(self, value: Value, calls: list[Node]) -> Origin | None:
        passed: list[Node] = []
        origin: Origin | None = None
        at: Value | None = value
        for _ in range(_MOST_STEPS):
            self._work += 1
            if at is None or self._work > _MOST_WORK:
                break
            origin = _read_end(at)
            if origin is not None:
                break
            node = at.producer
            if node is None:
                at, origin = self._leave_function(at, calls)
                if at is None:
                    break
            elif _is_converting(node) and at.output_index == 0:
                passed.append(node)
                at = node.input(0)
            else:
                function = node.function
                if function is None or at.output_index >= len(function.outputs):
                    break
                calls.append(node)
                at = function.outputs[at.output_index]
        if origin is None:
            return Origin(None, read_stated_dims(value)) if is_input_independent(value) else None
        dims, is_quantized = origin.dims, origin.is_quantized
        for node in reversed(passed):
            dims = convert_dims(node, dims)
            given = node.output(0)
            if dims is None and given is not None:
                dims = read_stated_dims(given)
            is_quantized = is_quantized or node.operator.has(*_QUANTIZING)
        return Origin(origin.tensor, dims, is_quantized)

    def broadcast(self, value: Value) -> Dims | None:
        """Return the sizes of what arithmetic gives, behind what only arranges it."""
        passed: list[Node] = []
        node = value.producer
        while node is not None and _is_converting(node) and len(passed) < _MOST_STEPS:
            passed.append(node)
            given = node.input(0)
            node = None if given is None else given.producer
        self._work += 1
        is_beyond = self._work > _MOST_WORK or self._depth >= _MOST_DEPTH
        if node is None or not node.operator.has(*ARITHMETIC_TRAITS) or is_beyond:
            return None
        shapes: list[tuple[int, ...]] = []
        for operand in node.inputs:
            origin = None if operand is None else self.follow(operand, [])
            dims = None if origin is None else origin.dims
            if dims is None and operand is not None:
                self._depth += 1
                dims = self.broadcast(operand)
                self._depth -= 1
            if dims is None or None in dims:
                return None
            shapes.append(tuple(dim for dim in dims if dim is not None))
        try:
            found: Dims | None = tuple(map(int, np.broadcast_shapes(*shapes)))
        except ValueError:
            return None
        for one in reversed(passed):
            found = convert_dims(one, found)
        return found

    def _leave_function(
        self, formal: Value, calls: list[Node]
    ) -> tuple[Value | None, Origin | None]:
        """Return what the only call gives for an input, or where those of all calls come from."""
        function = formal.graph
        if not isinstance(function, Function) or len(function.inputs) > _MOST_FORMALS:
            return None, None
        place = next((i for i, value in enumerate(function.inputs) if value is formal), None)
        if place is None:
            return None, None
        if calls and calls[-1].function is function:
            return calls.pop().input(place), None
        known = function.calls
        if len(known) == 1:
            return known[0].input(place), None
        if self._depth >= _MOST_DEPTH or not is_input_independent(formal):
            return None, None
        self._depth += 1
        found: list[Origin] = []
        for call in known[:_MOST_CALLS]:
            operand = call.input(place)
            one = None if operand is None else self.follow(operand, [])
            found.append(Origin(None, None) if one is None else one)
        self._depth -= 1
        is_quantized = all(one.is_quantized for one in found)
        alike = len(known) <= _MOST_CALLS and len({one.dims for one in found}) == 1
        return None, Origin(None, found[0].dims if alike else None, is_quantized)


def _is_converting(node: Node) -> bool:
    """Return whether a node gives the elements of its first operand in their order."""
    operator = node.operator
    is_converting = operator.has(*HANDING_TRAITS, "simulates_quantization")
    return is_converting and operator.operands.at(0) == "data" and bool(node.inputs)


def _read_end(value: Value) -> Origin | None:
    """Return the origin of what is stored or filled; None for everything else."""
    tensor = value.initializer
    if tensor is None and value.is_parameter:
        return Origin(None, read_stated_dims(value))
    node = value.producer
    if tensor is None and node is not None:
        source = find_constant_source(node.operator)
        if source == "filled":
            return Origin(None, _read_filled_dims(node) or read_stated_dims(value))
        if source == "stored":
            tensor = node.details.constant
            if tensor is None:
                return Origin(None, read_stated_dims(value))
        elif not node.inputs and not node.captures and not node.control_inputs:
            # a fill with random numbers states the shape
            return _read_random(node, value)
    if tensor is None:
        return None
    is_quantized = isinstance(tensor, Tensor) and tensor.quantization is not None
    return Origin(tensor, _check_dims(tensor.dims), is_quantized)


def _read_random(node: Node, value: Value) -> Origin | None:
    shape = node.attributes.get("shape")
    if shape is None:
        return None
    return Origin(None, _check_dims(shape.value) or read_stated_dims(value))


def _read_filled_dims(node: Node) -> Dims | None:
    return read_integers(node.input(0)) if node.inputs else None


def read_integers(value: Value | None) -> tuple[int, ...] | None:
    """Return the elements of a small stored list of sizes; None for all else."""
    tensor = constant_tensor(value) if value is not None else None
    if not isinstance(tensor, Tensor) or tensor.size > _MOST_RANK or not tensor.dtype.is_integer:
        return None
    try:
        return tuple(int(entry) for entry in tensor.numpy().ravel())
    except NetloupeError:
        return None


def read_stated_dims(value: Value) -> Dims | None:
    """Return the sizes that the file states for a value; None where it states no rank."""
    stated = value.type
    if not isinstance(stated, TensorType | SparseTensorType) or stated.shape is None:
        return None
    if len(stated.shape) > _MOST_RANK:
        return None
    return tuple(
        dim.value if isinstance(dim.value, int) and dim.value >= 0 else None for dim in stated.shape
    )


def _check_dims(dims: object) -> Dims | None:
    if not isinstance(dims, tuple | list) or len(dims) > _MOST_RANK:
        return None
    if not all(isinstance(dim, int) and dim >= 0 for dim in dims):
        return None
    return tuple(dims)


def convert_dims(node: Node, dims: Dims | None) -> Dims | None:
    """Return the sizes of the axes behind an operator that converts; None where unknown."""
    operator = node.operator
    if not operator.has("permutes", "reshapes"):
        return dims
    return _ARRANGED[operator.form](node, dims) if operator.form in _ARRANGED else None


def _transpose(node: Node, dims: Dims | None) -> Dims | None:
    if dims is None:
        return None
    order = _read_list(node, "perm", "axes")
    if order is None:
        has_order = bool(node.attributes.keys() & {"perm", "axes"})
        return None if has_order else dims[::-1]
    if sorted(order) != list(range(len(dims))):
        return None
    return tuple(dims[axis] for axis in order)


def _move_channels_last(node: Node, dims: Dims | None) -> Dims | None:
    return (dims[0], *dims[2:], dims[1]) if dims is not None and len(dims) >= 3 else None


def _move_channels_first(node: Node, dims: Dims | None) -> Dims | None:
    return (dims[0], dims[-1], *dims[1:-1]) if dims is not None and len(dims) >= 3 else None


def _read_list(node: Node, *names: str) -> tuple[int, ...] | None:
    """Return the list of integers of the first of some attributes that the node has."""
    for name in names:
        attribute = node.attributes.get(name)
        if attribute is not None:
            value = attribute.value
            is_list = isinstance(value, tuple) and all(isinstance(entry, int) for entry in value)
            return value if is_list else None  # type: ignore[return-value] # just checked
    return None


def _reshape(node: Node, dims: Dims | None) -> Dims | None:
    target = read_integers(node.input(1)) if len(node.inputs) > 1 else _read_list(node, "shape")
    if target is None or len(target) > _MOST_RANK or target.count(-1) > 1:
        return None
    attribute = node.attributes.get("allowzero")
    keeps = attribute is None or not attribute.value  # whether 0 stands for the size before
    sizes: list[int | None] = []
    for axis, size in enumerate(target):
        if size == 0 and keeps:
            sizes.append(dims[axis] if dims is not None and axis < len(dims) else None)
        else:
            sizes.append(size if size >= 0 else None)
    if -1 in target and dims is not None and None not in dims:
        rest = [size for axis, size in enumerate(sizes) if axis != target.index(-1)]
        if None not in rest:
            others = prod(rest)  # type: ignore[arg-type] # no None among them
            total = prod(dims)  # type: ignore[arg-type] # the same
            sizes[target.index(-1)] = total // others if others and not total % others else None
    return tuple(sizes)


def _flatten(node: Node, dims: Dims | None) -> Dims | None:
    attribute = node.attributes.get("axis")
    axis = 1 if attribute is None else attribute.value
    if dims is None or not isinstance(axis, int) or not -len(dims) <= axis <= len(dims):
        return (None, None)
    axis += len(dims) if axis < 0 else 0
    return _multiply(dims[:axis]), _multiply(dims[axis:])


def _multiply(dims: Dims) -> int | None:
    return None if None in dims else prod(dims)  # type: ignore[arg-type] # no None among them


def _read_axes(node: Node, rank: int) -> set[int] | None:
    """Return the axes that a Squeeze or Unsqueeze states; an empty set where it states none."""
    if node.input(1) is not None:
        axes = read_integers(node.input(1))
    elif node.attributes.keys() & {"axes", "dims"}:
        axes = _read_list(node, "axes", "dims")
    else:
        return set()
    if axes is None or any(not -rank <= axis < rank for axis in axes):
        return None
    return {axis + rank if axis < 0 else axis for axis in axes}


def _squeeze(node: Node, dims: Dims | None) -> Dims | None:
    if dims is None:
        return None
    axes = _read_axes(node, len(dims))
    if axes is None or (not axes and None in dims):
        return None
    axes = axes or {axis for axis, size in enumerate(dims) if size == 1}
    return tuple(size for axis, size in enumerate(dims) if axis not in axes)


def _unsqueeze(node: Node, dims: Dims | None) -> Dims | None:
    if dims is None:
        return None
    given = _read_axes(node, _MOST_RANK + len(dims))
    if not given or len(dims) + len(given) > _MOST_RANK:
        return None
    axes = _read_axes(node, len(dims) + len(given))
    if axes is None or len(axes) != len(given):
        return None
    rest = iter(dims)
    return tuple(1 if axis in axes else next(rest) for axis in range(len(dims) + len(axes)))


#: by operator the function of this module that tells the sizes behind it
_ARRANGED: Mapping[str, Callable[[Node, Dims | None], Dims | None]] = {
    "Flatten": _flatten,
    "NCHW2NHWC": _move_channels_last,
    "NHWC2NCHW": _move_channels_first,
    "Reshape": _reshape,
    "Squeeze": _squeeze,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
