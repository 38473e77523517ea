"""Squares of pixels that become channels, and channels that become squares of pixels.

W. Shi and others, Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel
Convolutional Neural Network, 2016, equation 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node

from .graph_context import GraphContext
from .readings import read_int, read_ints

SHUFFLE, UNSHUFFLE = "DepthToSpace", "SpaceToDepth"
#: axes with a square set apart, and those of one that are left where its sides were
_SIX, _SQUEEZED = 6, (2, 3)

Sizes = tuple[int | str, ...]


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
    Where torch does not know the sizes it sets rows and columns apart one after the other, and
    leaves two axes of one, which a Squeeze takes away.
    """
    if node.op_type in (SHUFFLE, UNSHUFFLE):
        factor = read_int(node, "blocksize")
        return (node.op_type, factor) if factor is not None and factor > 1 else None
    taken, given = node.input(0), node.output(0)
    if node.op_type != "Transpose" or taken is None or given is None:
        return None
    before, users = taken.producer, given.users
    if before is None or len(users) != 1 or len(taken.users) != 1:
        return None
    if before.op_type != "Reshape" or users[0].op_type != "Reshape":
        return None
    order = _ORDERS.get(read_ints(node, "perm"))
    if order is None:
        return None
    apart = _read_apart(before, context)
    joined, keeps_places = _read_joined(users[0], context)
    if len(apart) != _SIX or len(joined) != 4:
        return None
    side, other = (apart[axis] for axis in order.sides)
    if not isinstance(side, int) or side < 2 or side != other:
        return None
    batch, channels, *places = (apart[axis] for axis in (0, order.channels, *order.places))
    if order.kind == SHUFFLE:
        if _parts_batch(before, apart):
            return None
        wanted = [batch, channels, *(_times(place, side) for place in places)]
    else:
        wanted = [batch, _times(channels, side * side), *places]
    fits = [*map(_agree, wanted, joined)]
    if joined[0] == 0:  # as many as after the Transpose, where the batch stands
        fits[0] = True
    if joined[1] == 0:  # and the channels, of a shuffle
        fits[1] = order.kind == SHUFFLE
    if keeps_places:
        fits[2:] = [order.kind == UNSHUFFLE] * 2
    # the channels that are left follow from both other sizes
    is_told = fits[1] or (fits[2] and fits[3])
    return (order.kind, side) if is_told and False not in fits else None


def _parts_batch(reshape: Node, apart: Sizes) -> bool:
    """Return whether a Reshape takes the batch apart, and leaves channels and places as they are.

    So windows are put back where they were cut out.
    """
    value = reshape.input(0)
    dims = find_value_facts(reshape.graph.model).find_dims(value) if value is not None else None
    return dims is not None and len(dims) == len(apart) - 2 and tuple(dims[1:]) == apart[3:]


def list_shuffle_nodes(node: Node) -> tuple[Node, ...]:
    """Return the nodes of a shuffle that `read_shuffle` knows: one, or both Reshapes with it."""
    taken, given = node.input(0), node.output(0)
    if node.op_type != "Transpose" or taken is None or given is None:
        return (node,)
    before, users = taken.producer, given.users
    found = [node, *users]
    if before is not None:
        found.insert(0, before)
    for op_type in ("Reshape", "Unsqueeze"):  # rows were set apart before columns
        around = _find_only_giver(found[0])
        if around is None or around.op_type != op_type:
            break
        found.insert(0, around)
    after = _find_only_user(users[0]) if len(users) == 1 else None
    if after is not None and after.op_type == "Squeeze":
        found.append(after)
    return (*found,)


def _find_only_giver(node: Node) -> Node | None:
    """Return what gives the first operand to one node alone."""
    taken = node.input(0)
    return taken.producer if taken is not None and len(taken.users) == 1 else None


def _find_only_user(node: Node) -> Node | None:
    """Return the one node that takes what one gives."""
    given = node.output(0)
    is_taken = given is not None and len(given.users) == 1 and not given.is_output
    return given.users[0] if given is not None and is_taken else None


def _read_apart(reshape: Node, context: GraphContext) -> Sizes:
    """Return the sizes that set a square apart; what stays as it is from the Reshape before it."""
    sizes = _read_sizes(reshape, context)
    before = _find_only_giver(reshape)
    kept = _read_sizes(before, context) if before is not None else ()
    return tuple(
        kept[axis] if size == 0 and axis < len(kept) else size for axis, size in enumerate(sizes)
    )


def _read_joined(reshape: Node, context: GraphContext) -> tuple[Sizes, bool]:
    """Return the four sizes that are made of six, and whether the places stay as they are.

    They do where they are copied, and axes of one stand before them that a Squeeze takes away.
    """
    sizes = _read_sizes(reshape, context)
    after = _find_only_user(reshape)
    if len(sizes) != _SIX or after is None or after.op_type != "Squeeze":
        return sizes, False
    axes = after.input(1)
    gone = read_ints(after, "axes") or (context.read_list(axes) if axes is not None else ())
    is_squeezed = {*gone} == {*_SQUEEZED} and all(sizes[axis] == 1 for axis in _SQUEEZED)
    left = tuple(size for axis, size in enumerate(sizes) if axis not in _SQUEEZED)
    return (left, left[2:] == (0, 0)) if is_squeezed else ((), False)


def _agree(wanted: int | str, given: int | str) -> bool | None:
    """Return whether two sizes are equal; None where that is not known."""
    if given == 0:
        return False  # what stands at that place is another size
    if not isinstance(wanted, int) or not isinstance(given, int) or wanted < 1 or given < 1:
        return None
    return wanted == given


def _read_sizes(reshape: Node, context: GraphContext) -> Sizes:
    """Return the sizes that a Reshape asks for; nothing for any other node."""
    if reshape.op_type != "Reshape" or len(reshape.inputs) < 2:
        return ()
    return context.read_list(reshape.input(1))


def _times(size: int | str, factor: int) -> int | str:
    return size * factor if isinstance(size, int) else size
