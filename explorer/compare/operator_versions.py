"""What one operator means under two versions of its operator set.

Between versions an attribute becomes an operand (``axes`` of ReduceMean), a default changes
(``axis`` of Softmax), or the same attributes mean something else (``axis`` of Softmax again). What
two nodes say is so not what they do: values are compared here that hold for them, wherever these
are stated. Versions, defaults and operands are those of the operator table; what it does not tell,
the meanings, is from the specification: the change logs of Softmax 13, Resize 11, RoiAlign 16 and
GridSample 20.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import Node, Tensor, TensorType, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.model.types import Shape
from netloupe.explorer.operators import OperatorSchema, find_schema

#: operands that are not called as the attributes that they were
_FORMER_NAMES = {("Pad", "constant_value"): "value", ("TopK", "K"): "k"}
#: what held before there was an attribute, where that is not its default
_BEFORE_STATED = {
    ("Resize", "coordinate_transformation_mode"): "asymmetric",
    ("Resize", "nearest_mode"): "floor",
    ("RoiAlign", "coordinate_transformation_mode"): "output_half_pixel",
}
#: what an operand that is left out means, where that is not the default of the attribute before
_LEFT_OUT = {("DFT", "axis"): -2}
#: values that have another name since
_RENAMED = {
    ("GridSample", "mode"): {"bilinear": "linear", "bicubic": "cubic"},
    ("GRU", "direction"): {"foward": "forward"},
}
#: what took all axes from one on together before it took one, and since when
_OF_ONE_AXIS = {"Softmax": 13, "LogSoftmax": 13, "Hardmax": 13}
#: whose axes are those of the result
_OF_RESULT = ("Unsqueeze", "OneHot")
#: operands that were attributes are as short as these
_MOST_ELEMENTS = 1_024


class BecameOperand(NamedTuple):
    """An attribute of one version that is an operand of the other.

    Parameters
    ----------
    attribute
        Its name.
    place
        Which operand it is.
    is_left
        Whether the left version has the attribute.
    default
        What holds where it is not stated; None for nothing.
    """

    attribute: str
    place: int
    is_left: bool
    default: object


class VersionDifference(NamedTuple):
    """In what two versions of an operator differ.

    Parameters
    ----------
    orders
        Where operands of one name stand at other places, for either version the places of these
        in the order of the newer one, -1 for none; else None.
    operands
        Attributes that became operands.
    defaults
        By attribute what holds under either version where it is not stated, where that differs.
    joins_axes
        Whether the left and the right version take all axes from ``axis`` on together.
    """

    orders: tuple[tuple[int, ...], tuple[int, ...]] | None
    operands: tuple[BecameOperand, ...]
    defaults: dict[str, tuple[object, object]]
    joins_axes: tuple[bool, bool]


class Rewritten(NamedTuple):
    """An attribute of one node and an operand of the other that are the same parameter.

    Parameters
    ----------
    attribute
        Its name.
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
    if one is None or other is None or one == other:
        return None
    if (left.domain, left.op_type) != (right.domain, right.op_type):
        return None
    return _compare_versions(left.domain, left.op_type, one, other)


@lru_cache(maxsize=4096)
def _compare_versions(domain: str, op_type: str, left: int, right: int) -> VersionDifference | None:
    one, other = (find_schema(domain, op_type, version) for version in (left, right))
    if one is None or other is None or one.since_version == other.since_version:
        return None
    operands = [
        *_list_operands(one, other, is_left=True),
        *_list_operands(other, one, is_left=False),
    ]
    moved = {entry.attribute for entry in operands}
    defaults = {}
    for name in dict.fromkeys((*one.attributes, *other.attributes)):
        first, second = (_find_default(op_type, name, schema) for schema in (one, other))
        if name in moved or first is None or second is None:
            continue
        if rename_value(op_type, name, first) != rename_value(op_type, name, second):
            defaults[name] = first, second
    since = _OF_ONE_AXIS.get(op_type) if not domain else None
    joins = (
        since is not None and one.since_version < since,
        since is not None and other.since_version < since,
    )
    orders = _find_orders(one, other)
    if orders is None and not operands and not defaults and joins[0] == joins[1]:
        return None
    return VersionDifference(orders, (*operands,), defaults, joins)


def _find_orders(
    left: OperatorSchema, right: OperatorSchema
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    if any(p.option == "variadic" for schema in (left, right) for p in schema.inputs):
        return None
    sides = [[parameter.name for parameter in schema.inputs] for schema in (left, right)]
    common = [name for name in sides[0] if name in sides[1]]
    if all(sides[0].index(name) == sides[1].index(name) for name in common):
        return None
    newer = sides[left.since_version < right.since_version]
    order = [*newer, *(name for side in sides for name in side if name not in newer)]
    first, second = (
        tuple(side.index(name) if name in side else -1 for name in order) for side in sides
    )
    return first, second


Operands = Sequence[Value | None]


def align_operands(left: Node, right: Node) -> tuple[Operands, Operands]:
    """Return the operands of two nodes so that one parameter stands at one place of both.

    They stand as they are but for operators whose versions have another order, as Resize since 11.
    """
    difference = find_version_difference(left, right)
    if difference is None or difference.orders is None:
        return left.inputs, right.inputs
    sides = []
    for node, order in zip((left, right), difference.orders, strict=True):
        given = node.inputs
        aligned = [given[place] if 0 <= place < len(given) else None for place in order]
        while aligned and aligned[-1] is None:
            aligned.pop()
        sides.append(aligned)
    return sides[0], sides[1]


def _list_operands(
    old: OperatorSchema, new: OperatorSchema, *, is_left: bool
) -> Iterator[BecameOperand]:
    before = {parameter.name for parameter in old.inputs}
    for place, parameter in enumerate(new.inputs):
        name = _FORMER_NAMES.get((new.op_type, parameter.name), parameter.name)
        declared = old.attributes.get(name)
        if declared is None or name in new.attributes or parameter.name in before:
            continue
        yield BecameOperand(name, place, is_left, declared.default)


def _find_default(op_type: str, name: str, schema: OperatorSchema) -> object:
    declared = schema.attributes.get(name)
    if declared is not None:
        return declared.default
    return _BEFORE_STATED.get((op_type, name))


def rename_value(op_type: str, name: str, value: object) -> object:
    """Return an attribute's value as later versions call it."""
    renamed = _RENAMED.get((op_type, name))
    return value if renamed is None or not isinstance(value, str) else renamed.get(value, value)


def match_operands(difference: VersionDifference, left: Node, right: Node) -> Iterator[Rewritten]:
    """Yield the parameters of which one node has an attribute and the other a stored operand.

    One that is computed has no value that could be compared: it is left out, and so is what
    neither node states. An operand that is left out means what the attribute's default was.
    """
    for became in difference.operands:
        old, new = (left, right) if became.is_left else (right, left)
        stated = old.attributes.get(became.attribute)
        operand = new.inputs[became.place] if became.place < len(new.inputs) else None
        stored = None if operand is None else _read_elements(operand)
        is_computed = operand is not None and stored is None
        left_out = _LEFT_OUT.get((new.op_type, became.attribute), became.default)
        is_silent = stated is None and operand is None
        if is_computed or (is_silent and left_out == became.default):
            continue
        if stated is not None and stated.reference:  # what a function is called with
            continue
        value = became.default if stated is None else stated.value
        meant = left_out if operand is None else stored
        is_same = value is not None and meant is not None and _are_equal(value, meant)
        if not is_same and became.attribute in ("axis", "axes"):
            is_same = are_same_axes(left, right, value, meant)
        if is_silent and is_same:
            continue
        sides = (value, meant) if became.is_left else (meant, value)
        yield Rewritten(became.attribute, *sides, is_same, became.place, operand, became.is_left)


def _read_elements(value: Value) -> object:
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
    if (silent.domain, silent.op_type, name) == ("", "Split", "num_outputs"):
        return len(silent.outputs)  # before 18 it is not stated
    for node in (silent, stating):
        version = node.opset_version
        if version is None:
            return None
        schema = find_schema(node.domain, node.op_type, version)
        if schema is None:
            return None
        default = _find_default(node.op_type, name, schema)
        if default is not None or name in schema.attributes:
            return default
    return None


def is_stated_as(node: Node, name: str, value: object, default: object) -> bool:
    """Return whether a value that a node states is a default; floats are compared in 32 bits."""
    schema = find_schema(node.domain, node.op_type, node.opset_version)
    declared = None if schema is None else schema.attributes.get(name)
    if declared is None or not isinstance(default, int | float | str | tuple):
        return False
    return replace(declared, default=default).is_default(value)


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
    return None if schema is None else _find_default(node.op_type, "axis", schema)


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


def are_same_axes(left: Node, right: Node, one: object, other: object) -> bool:
    """Return whether two nodes name the same axes, one perhaps from the first, one from the last.

    Parameters
    ----------
    left, right
        The nodes; how many axes there are is told by the types of what they take or give.
    one, other
        An axis, or a tuple of axes.
    """
    ranks = {rank for node in (left, right) if (rank := _find_rank(node)) is not None}
    if left.domain or right.domain:  # what others count their axes among is not known
        return one == other
    if len(ranks) != 1 or isinstance(one, tuple) != isinstance(other, tuple):
        return one == other
    rank = ranks.pop()
    sides = []
    for axes in (one, other):
        listed = axes if isinstance(axes, tuple) else (axes,)
        if not all(isinstance(axis, int) and -rank <= axis < rank for axis in listed):
            return one == other
        sides.append([axis % rank for axis in listed])
    return sides[0] == sides[1]


def _find_rank(node: Node) -> int | None:
    """Return how many axes those of a node's attributes are counted among; None if unknown."""
    operands = node.outputs if node.op_type in _OF_RESULT else node.inputs
    value = operands[0] if operands else None
    kind = None if value is None else value.type
    if isinstance(kind, TensorType) and kind.shape is not None:
        return len(kind.shape)
    return None
