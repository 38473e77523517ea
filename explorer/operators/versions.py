"""What differs between versions of an operator: operands, defaults, names of values, axes.

Between versions an attribute becomes an operand (``axes`` of ReduceMean), a default changes
(``axis`` of Softmax), or the same attributes mean something else (``axis`` of Softmax again).
Operands and defaults are those of the operator table; what it does not tell, the meanings, is from
the specification: the change logs of Softmax 13, Resize 11, RoiAlign 16 and GridSample 20.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from .schemas import OperatorSchema, find_schema

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
#: operators that another one took the place of, with the same names of operands and attributes
SUCCESSORS = {"Upsample": "Resize"}
#: what took all axes from one on together before it took one, and since when
_OF_ONE_AXIS = {"Softmax": 13, "LogSoftmax": 13, "Hardmax": 13}


class BecameOperand(NamedTuple):
    """An attribute of one version that is an operand of the other.

    Parameters
    ----------
    place
        Which operand it is.
    is_left
        Whether the left version has the attribute.
    default
        What holds where the attribute is not stated; None for nothing.
    left_out
        What holds where the operand is left out; None for nothing.
    """

    attribute: str
    place: int
    is_left: bool
    default: object
    left_out: object


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


@lru_cache(maxsize=4096)
def compare_versions(
    domain: str, op_type: str, left: int, right: int, other_type: str = ""
) -> VersionDifference | None:
    """Return in what an operator differs under two versions of its operator set.

    Parameters
    ----------
    domain, op_type
        The operator; ``""`` is the domain ``ai.onnx``.
    left, right
        Versions of the operator set.
    other_type
        What it is called under the right version, where that is another name.

    Returns
    -------
    VersionDifference or None
        None where nothing differs, or where the operator is not known.
    """
    one = find_schema(domain, op_type, left)
    other = find_schema(domain, other_type or op_type, right)
    if one is None or other is None:
        return None
    if one.op_type == other.op_type and one.since_version == other.since_version:
        return None
    operands = [
        *_list_operands(one, other, is_left=True),
        *_list_operands(other, one, is_left=False),
    ]
    moved = {entry.attribute for entry in operands}
    defaults = {}
    for name in dict.fromkeys((*one.attributes, *other.attributes)):
        first, second = (find_default(schema, name) for schema in (one, other))
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


def _list_operands(
    old: OperatorSchema, new: OperatorSchema, *, is_left: bool
) -> Iterator[BecameOperand]:
    before = {parameter.name for parameter in old.inputs}
    for place, parameter in enumerate(new.inputs):
        name = _FORMER_NAMES.get((new.op_type, parameter.name), parameter.name)
        declared = old.attributes.get(name)
        if declared is None or name in new.attributes or parameter.name in before:
            continue
        left_out = _LEFT_OUT.get((new.op_type, name), declared.default)
        yield BecameOperand(name, place, is_left, declared.default, left_out)


def find_default(schema: OperatorSchema, name: str) -> object:
    """Return what holds where an attribute is not stated, also before there was such an attribute.

    None stands for nothing, or for what the specification does not tell.
    """
    declared = schema.attributes.get(name)
    if declared is not None:
        return declared.default
    return _BEFORE_STATED.get((schema.op_type, name))


def rename_value(op_type: str, name: str, value: object) -> object:
    """Return an attribute's value as later versions call it."""
    renamed = _RENAMED.get((op_type, name))
    return value if renamed is None or not isinstance(value, str) else renamed.get(value, value)
