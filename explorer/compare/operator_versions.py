"""What two nodes of one operator under two versions of its operator set say of the same parameter.

What they say is not what they do: compared are values that hold for them, wherever these are
stated, in attributes, in operands or in the specification alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import Node, Tensor, TensorType, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.model.types import Shape
from netloupe.explorer.operators import (
    SUCCESSORS,
    VersionDifference,
    compare_versions,
    find_default,
    find_schema,
)

from .axes import are_same_axes
from .resampling import find_unused_roi
from .roles import list_operands

#: operands that were attributes are as short as these
_MOST_ELEMENTS = 1_024


class Rewritten(NamedTuple):
    """An attribute of one node and an operand of the other that are the same parameter.

    Parameters
    ----------
    left, right
        What holds for either node; None for nothing.
    is_same
        Whether these are equal.
    place
        Which operand it is.
    operand
        The operand; None where it is left out.
    is_left
        Whether the left node has the attribute.
    """

    attribute: str
    left: object
    right: object
    is_same: bool
    place: int
    operand: Value | None
    is_left: bool


def find_version_difference(left: Node, right: Node) -> VersionDifference | None:
    """Return in what the versions of two nodes' operator differ; None where they are one."""
    one, other = left.opset_version, right.opset_version
    if one is None or other is None:
        return None
    if left.op_type != right.op_type and is_successor(left, right):
        return compare_versions("", left.op_type, one, other, right.op_type)
    if one == other or (left.domain, left.op_type) != (right.domain, right.op_type):
        return None
    return compare_versions(left.domain, left.op_type, one, other)


def is_successor(left: Node, right: Node) -> bool:
    """Return whether the operator of one of two nodes took the place of the other's in ONNX."""
    if left.domain or right.domain or left.function is not None or right.function is not None:
        return False
    is_onnx = left.graph.dialect is right.graph.dialect and left.graph.dialect.has_opsets
    one, other = left.op_type, right.op_type
    return is_onnx and (SUCCESSORS.get(one) == other or SUCCESSORS.get(other) == one)


Operands = Sequence[Value | None]


def align_operands(left: Node, right: Node) -> tuple[Operands, Operands]:
    """Return the operands of two nodes so that one parameter stands at one place of both.

    They stand as they are but for operators whose versions have another order, as Resize since 11,
    and for operators on integers beside those on floats, which take scales in between. A region
    that Resize does not read is left out.
    """
    if left.op_type != right.op_type and not is_successor(left, right):
        return list_operands(left), list_operands(right)
    difference = find_version_difference(left, right)
    inputs = _list_read(left), _list_read(right)
    if difference is None or difference.orders is None:
        return inputs
    sides = []
    for given, order in zip(inputs, difference.orders, strict=True):
        aligned = [given[place] if 0 <= place < len(given) else None for place in order]
        while aligned and aligned[-1] is None:
            aligned.pop()
        sides.append(aligned)
    return sides[0], sides[1]


def _list_read(node: Node) -> Operands:
    """Return the operands of a node without a region that it does not read."""
    unused = find_unused_roi(node)
    if unused is None:
        return node.inputs
    place = node.inputs.index(unused, 1)
    return (*node.inputs[:place], None, *node.inputs[place + 1 :])


def match_operands(difference: VersionDifference, left: Node, right: Node) -> Iterator[Rewritten]:
    """Yield the parameters of which one node has an attribute and the other a stored operand.

    One that is computed has no value that could be compared: it is left out, and so is what
    neither node states. An operand that is left out means what the attribute's default was.
    """
    for became in difference.operands:
        old, new = (left, right) if became.is_left else (right, left)
        stated = old.attributes.get(became.attribute)
        operand = new.input(became.place)
        stored = None if operand is None else read_short_operand(operand)
        is_computed = operand is not None and stored is None
        is_silent = stated is None and operand is None
        if is_computed or (is_silent and became.left_out == became.default):
            continue
        if stated is not None and stated.reference:  # what a function is called with
            continue
        value = became.default if stated is None else stated.value
        meant = became.left_out if operand is None else stored
        is_same = value is not None and meant is not None and _are_equal(value, meant)
        if not is_same and became.attribute in ("axis", "axes"):
            is_same = are_same_axes(left, right, value, meant)
        if is_silent and is_same:
            continue
        sides = (value, meant) if became.is_left else (meant, value)
        yield Rewritten(became.attribute, *sides, is_same, became.place, operand, became.is_left)


def read_short_operand(value: Value) -> object:
    """Return a stored operand as an attribute would have it; None for what is not short."""
    tensor = find_stored_tensor(value)
    if tensor is None or len(tensor.dims) > 1 or math.prod(tensor.dims) > _MOST_ELEMENTS:
        return None
    try:
        elements = tensor.numpy()
    except TensorDataError:
        return None
    if elements.dtype.kind not in "iufb":
        return None
    listed = elements.tolist()
    return tuple(listed) if isinstance(listed, list) else listed


def _are_equal(attribute: object, operand: object) -> bool:
    """Return whether an attribute is what an operand holds; floats as files hold them."""
    one, other = (
        value if isinstance(value, tuple | list) else (value,) for value in (attribute, operand)
    )
    return len(one) == len(other) and all(
        _round(first) == _round(second) for first, second in zip(one, other, strict=True)
    )


def _round(value: object) -> object:
    if not isinstance(value, float):
        return value
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def count_others(inputs: Operands, places: set[int]) -> int:
    """Return how many operands there are but these, without those left out at the end."""
    operands = [value for place, value in enumerate(inputs) if place not in places]
    while operands and operands[-1] is None:
        operands.pop()
    return len(operands)


def list_operand_tensors(left: Node, right: Node) -> Iterator[Tensor]:
    """Yield the initializers of one node that are an attribute of the other."""
    difference = find_version_difference(left, right)
    if difference is not None and difference.operands:
        for entry in match_operands(difference, left, right):
            tensor = None if entry.operand is None else entry.operand.initializer
            if isinstance(tensor, Tensor):
                yield tensor


def find_silent_default(silent: Node, stating: Node, name: str) -> object:
    """Return what holds for a node that does not state an attribute; None for nothing.

    Before there was such an attribute its default held, but where another meaning is known.

    Parameters
    ----------
    silent, stating
        The node, and one of the same operator that states it.
    name
        The attribute's name.
    """
    if name == "num_outputs" and silent.operator.has("splits"):
        return len(silent.outputs)  # before 18 it is not stated
    for node in (silent, stating):
        version = node.opset_version
        if version is None:
            return None
        schema = find_schema(node.domain, node.op_type, version)
        if schema is None:
            return None
        default = find_default(schema, name)
        if default is not None or name in schema.attributes:
            return default
    return None


def is_stated_as(node: Node, name: str, value: object, default: object) -> bool:
    """Return whether a value that a node states is a default; floats are compared in 32 bits."""
    schema = find_schema(node.domain, node.op_type, node.opset_version)
    declared = None if schema is None else schema.attributes.get(name)
    if declared is None or not isinstance(default, int | float | str | tuple):
        return False
    return declared._replace(default=default).is_default(value)


def compare_meanings(
    difference: VersionDifference, left: Node, right: Node
) -> Iterator[tuple[str, object, object]]:
    """Yield what nodes do not say and what differs for them: what it is, and either side.

    These are defaults of attributes that neither states, and axes that one takes together.
    """
    joins = difference.joins_axes
    axes = [_find_axis(node) for node in (left, right)]
    # of the side that takes axes together
    is_one_axis = joins[0] == joins[1] or _is_one_axis(left, right, axes[joins[1]])
    for name, (one, other) in difference.defaults.items():
        if name in left.attributes or name in right.attributes:
            continue
        if not are_same_axes(left, right, one, other) and is_one_axis:
            yield f"default of attribute {name}", one, other
    if not is_one_axis:
        told = [
            f"axis {axis} and all behind it together" if is_joined else f"axis {axis}"
            for axis, is_joined in zip(axes, joins, strict=True)
        ]
        is_known = _find_normalized(left, right) is not None
        condition = "" if is_known else f", unless axis {axes[joins[1]]} is the last,"
        yield f"normalizes{condition} over", told[0], told[1]


def _find_axis(node: Node) -> object:
    """Return the axis that a node states, or the default of its version."""
    stated = node.attributes.get("axis")
    if stated is not None:
        return stated.value
    schema = find_schema(node.domain, node.op_type, node.opset_version)
    return None if schema is None else find_default(schema, "axis")


def _is_one_axis(left: Node, right: Node, axis: object) -> bool:
    """Return whether all axes from one on are only that one: the others have one place each."""
    shape = _find_normalized(left, right)
    if shape is None or not isinstance(axis, int):
        return axis == -1
    return all(size.value == 1 for size in shape[axis % max(len(shape), 1) + 1 :])


def _find_normalized(left: Node, right: Node) -> Shape | None:
    """Return the shape of what two nodes take, and give in the same shape; None if unknown."""
    for node in (left, right):
        for value in (*node.inputs[:1], *node.outputs[:1]):
            kind = None if value is None else value.type
            if isinstance(kind, TensorType) and kind.shape is not None:
                return kind.shape
    return None
