"""Squares of pixels that become channels, and channels that become squares of pixels.

W. Shi and others, Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel
Convolutional Neural Network, 2016, equation 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from netloupe.explorer.model import Node

from .graph_context import GraphContext
from .readings import read_int, read_ints

SHUFFLE, UNSHUFFLE = "DepthToSpace", "SpaceToDepth"


class _Order(NamedTuple):
    """How axes are put: which operator that is, and what the axes before it are."""

    kind: str
    #: the sides of the square
    sides: tuple[int, int]
    channels: int
    #: height and width, counted in squares
    places: tuple[int, int]


#: by the order that a Transpose gives six axes. As the ONNX specification of DepthToSpace writes
#: both of its modes, torch's ``pixel_unshuffle``, and the specification of SpaceToDepth
_ORDERS: Mapping[tuple[int, ...], _Order] = {
    (0, 1, 4, 2, 5, 3): _Order(SHUFFLE, (2, 3), 1, (4, 5)),
    (0, 3, 4, 1, 5, 2): _Order(SHUFFLE, (1, 2), 3, (4, 5)),
    (0, 1, 3, 5, 2, 4): _Order(UNSHUFFLE, (3, 5), 1, (2, 4)),
    (0, 3, 5, 1, 2, 4): _Order(UNSHUFFLE, (3, 5), 1, (2, 4)),
}


def read_shuffle(node: Node, context: GraphContext) -> tuple[str, int] | None:
    """Return which of the two a node does, and the factor; None where it does neither.

    They are operators, or written out as Reshape, Transpose, Reshape: then the Transpose is
    asked for. The first Reshape sets a square apart whose sides are equal and known, and the
    second makes four axes of the six, of sizes that follow from the others where they are known.
    """
    if node.op_type in (SHUFFLE, UNSHUFFLE):
        factor = read_int(node, "blocksize")
        return (node.op_type, factor) if factor is not None and factor > 1 else None
    order = _ORDERS.get(read_ints(node, "perm")) if node.op_type == "Transpose" else None
    taken, given = node.input(0), node.output(0)
    if order is None or taken is None or given is None:
        return None
    before, users = taken.producer, given.users
    if before is None or len(users) != 1 or len(taken.users) != 1:
        return None
    apart, joined = (_read_sizes(reshape, context) for reshape in (before, users[0]))
    if len(apart) != 6 or len(joined) != 4:
        return None
    side, other = (apart[axis] for axis in order.sides)
    if not isinstance(side, int) or side < 2 or side != other:
        return None
    batch, channels, *places = (apart[axis] for axis in (0, order.channels, *order.places))
    if order.kind == SHUFFLE:
        wanted = [batch, channels, *(_times(place, side) for place in places)]
    else:
        wanted = [batch, _times(channels, side * side), *places]
    fits = [*map(_agree, wanted, joined)]
    if joined[0] == 0:  # as many as after the Transpose, where the batch stands
        fits[0] = True
    if joined[1] == 0:  # and the channels, of a shuffle
        fits[1] = order.kind == SHUFFLE
    # the channels that are left follow from both other sizes
    is_told = fits[1] or (fits[2] and fits[3])
    return (order.kind, side) if is_told and False not in fits else None


def list_shuffle_nodes(node: Node) -> tuple[Node, ...]:
    """Return the nodes of a shuffle that `read_shuffle` knows: one, or both Reshapes with it."""
    taken, given = node.input(0), node.output(0)
    if node.op_type != "Transpose" or taken is None or given is None:
        return (node,)
    before = taken.producer
    return (*([before] if before is not None else []), node, *given.users)


def _agree(wanted: int | str, given: int | str) -> bool | None:
    """Return whether two sizes are equal; None where that is not known."""
    if given == 0:
        return False  # what stands at that place is another size
    if not isinstance(wanted, int) or not isinstance(given, int) or wanted < 1 or given < 1:
        return None
    return wanted == given


def _read_sizes(reshape: Node, context: GraphContext) -> tuple[int | str, ...]:
    """Return the sizes that a Reshape asks for; nothing for any other node."""
    if reshape.op_type != "Reshape" or len(reshape.inputs) < 2:
        return ()
    return context.read_list(reshape.input(1))


def _times(size: int | str, factor: int) -> int | str:
    return size * factor if isinstance(size, int) else size
