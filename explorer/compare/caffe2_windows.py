"""The spellings that Caffe2 has for how a window moves, and whether two of them say the same.

Convolutions and pooling take lists (``kernels``, ``strides`` …), one number for both axes of an
image (``kernel``), or one for each (``kernel_h`` and ``kernel_w``; ``pad_t``, ``pad_l``, ``pad_b``
and ``pad_r``). Of what is spelled in two ways at once nothing is said here.

Source: ``conv_pool_op_base.h`` and ``conv_transpose_unpool_op_base.h`` of Caffe2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from netloupe.explorer.model import Node


class _Part(NamedTuple):
    """One thing that is said of a window: its spellings, and each of its numbers if left out."""

    several: str
    one: str
    each: tuple[str, ...]
    silent: int | None
    per_axis: int


_AXES = ("h", "w")
_PARTS = (
    _Part("kernels", "kernel", tuple(f"kernel_{axis}" for axis in _AXES), None, 1),
    _Part("strides", "stride", tuple(f"stride_{axis}" for axis in _AXES), 1, 1),
    _Part("dilations", "dilation", tuple(f"dilation_{axis}" for axis in _AXES), 1, 1),
    _Part("adjs", "adj", tuple(f"adj_{axis}" for axis in _AXES), 0, 1),
    _Part("pads", "pad", tuple(f"pad_{side}" for side in "tlbr"), 0, 2),
)
_KERNEL = _PARTS[0]
_BY_NAME: Mapping[str, _Part] = {
    name: part for part in _PARTS for name in (part.several, part.one, *part.each)
}


def move_same_way(left: Node, right: Node, name: str) -> bool:
    """Return whether an attribute is of a spelling of Caffe2, and two nodes say the same by it."""
    part = _BY_NAME.get(name)
    if part is None or left.op_type != right.op_type or not left.operator.has("convolves", "pools"):
        return False
    for node in (left, right):
        dialect = node.graph.dialect
        if dialect.has_opsets or node.domain != dialect.domain:
            return False
    numbers = _read(left, part)
    return numbers is not None and numbers == _read(right, part)


def _read(node: Node, part: _Part) -> tuple[int, ...] | None:
    """Return what a node says of a window, a number for each axis or side; None where unclear."""
    spelled = [
        [name for name in names if name in node.attributes]
        for names in ((part.several,), (part.one,), part.each)
    ]
    stated = [names for names in spelled if names]
    if not stated:
        return _fill(node, part)
    names = stated[0]
    values = [node.attributes[name].value for name in names]
    if len(stated) > 1 or (names is spelled[2] and len(names) < len(part.each)):
        return None
    if names == [part.several]:
        (listed,) = values
        values = [*listed] if isinstance(listed, tuple) else []
    elif names == [part.one]:
        values *= len(_AXES) * part.per_axis
    numbers = tuple(value for value in values if isinstance(value, int))
    return numbers if numbers and len(numbers) == len(values) else None


def _fill(node: Node, part: _Part) -> tuple[int, ...] | None:
    """Return what holds of a window where nothing is said: the same for each axis."""
    kernel = None if part.silent is None else _read(node, _KERNEL)
    if kernel is None or part.silent is None:
        return None
    return (part.silent,) * part.per_axis * len(kernel)
