"""What tells nodes of a block from those of another: their operator, width and stride."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from netloupe.explorer.model import Node, TensorType, Value, constant_tensor
from netloupe.explorer.patterns import read_numbers
from netloupe.explorer.roles import find_weight

#: what changes how many places there are
CHANGING = ("convolves", "moves_pixels", "pools", "resamples")
#: how much larger something is where that is not known
UNKNOWN = -1.0
_MOST_AXES = 8


class NodeKind(NamedTuple):
    """What is equal for nodes of one operator, one width and one stride.

    Parameters
    ----------
    op_type
        The operator.
    shapes
        Of what is stored of a layer; None where that is not known.
    stride
        How many times more places it gives than it takes.
    """

    op_type: str
    shapes: tuple[tuple[int | None, ...] | None, ...]
    stride: float


def is_part_of(nodes: Sequence[Node], others: Sequence[Node]) -> bool:
    """Return whether some nodes have only what others have, too, as far as it has a width.

    That is, each with a weight has one of the same operator, with what is stored of the same
    shapes, and none makes what it takes larger or smaller if none of the others does so.
    """
    ours, theirs = (
        Counter(tell_kind(node) for node in each if has_width(node) or node.operator.has(*CHANGING))
        for each in (nodes, others)
    )
    return ours <= theirs


def tell_kind(node: Node) -> NodeKind:
    """Return what is equal for nodes of one operator, one width and one stride."""
    shapes = read_shapes(node) if has_width(node) else ()
    return NodeKind(node.op_type, tuple(shapes), read_strides(node))


def has_width(node: Node) -> bool:
    """Return whether a weight, if there is one, tells how wide that is what a node gives."""
    return node.operator.weight_kind not in ("", "normalization")


def read_strides(node: Node) -> float:
    """Return how many times more places a node gives than it takes, by what the file states."""
    operator = node.operator
    if operator.has("resamples"):
        return _read_scales(node)
    if operator.has("moves_pixels"):
        return float(prod(_read_ints(node, "blocksize")) ** 2)
    if not operator.has("convolves", "pools"):
        return 1.0
    strides = _read_ints(node, "strides", "stride")
    factor = float(max(prod(strides), 1))
    return factor if operator.has("transposed") else 1 / factor


def read_shapes(node: Node) -> list[tuple[int | None, ...] | None]:
    """Return the shapes of what is stored of a node; of a weight that is computed, its own."""
    stored = [value.initializer for value in node.inputs if value is not None]
    shapes = [tensor.dims for tensor in stored if tensor is not None]
    if shapes:
        return [*shapes]
    weight = find_weight(node)
    return [weight.dims if weight is not None else None]


def _read_ints(node: Node, *names: str) -> tuple[int, ...]:
    for name in names:
        attribute = node.attributes.get(name)
        value = attribute.value if attribute is not None else None
        if isinstance(value, int):
            return (value,)
        if isinstance(value, tuple) and all(isinstance(entry, int) for entry in value):
            return value[:_MOST_AXES]
    return (1,)


def _read_scales(node: Node) -> float:
    """Return how many times more places what is resized has, as constants or stated types say."""
    stated = (node.input(place) for place in node.operator.operands.list_of("scales"))
    for value in stated:
        scales = read_numbers(constant_tensor(value), _MOST_AXES) if value is not None else ()
        if scales:
            return prod(scales)
    names = ("scales", "scale", "height_scale", "width_scale")
    given = [node.attributes[name].value for name in names if name in node.attributes]
    numbers = [
        number
        for value in given
        for number in (value if isinstance(value, tuple) else (value,))
        if isinstance(number, int | float)
    ]
    if numbers:
        return float(prod(numbers))
    before, after = (_count_places(value) for value in (node.input(0), node.output(0)))
    return after / before if before and after else UNKNOWN


def _count_places(value: Value | None) -> int:
    """Return the product of the sizes that the file states; 0 where one is unknown."""
    stated = value.type if value is not None else None
    if not isinstance(stated, TensorType) or stated.shape is None:
        return 0
    sizes = [size.value for size in stated.shape[1:]]
    return prod(size if isinstance(size, int) else 0 for size in sizes)
