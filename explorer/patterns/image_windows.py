"""Parts of an image whose places attend to one another alone: windows, and grids of far places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from netloupe.explorer.model import Node

from .operations import Operations
from .readings import read_ints

#: batch, features, and rows and columns, both cut in two
_RANK = 6
#: batch, windows, places in each, features
_RANK_OF_PARTS = 4
_MOST_USERS = 8
_MOST_STEPS = 3


class ImagePart(NamedTuple):
    """What an image is cut into for attention.

    Parameters
    ----------
    size
        How many rows, and columns, of places attend to one another.
    is_grid
        Whether these are as far from one another as they can be, instead of beside one another.
    """

    size: int
    is_grid: bool = False

    @property
    def fact(self) -> str:
        """What is told of it: ``windows 7×7``, ``grid 7×7``."""
        return f"{'grid' if self.is_grid else 'windows'} {self.size}×{self.size}"


def cuts_windows(node: Node) -> bool:
    """Return whether a node is a Transpose that may cut an image into windows."""
    return node.operator.has("permutes") and len(read_ints(node, "perm")) == _RANK


def read_image_part(operations: Operations) -> ImagePart | None:
    """Return what an image is cut into by a Reshape and a Transpose; None where it is not.

    Rows and columns of an image are cut into windows and places in each. Where the latter stand
    beside one another then, the places of a window attend to one another (Z. Liu and others, Swin
    Transformer, 2021, figure 4), and else those at the same place of all windows, a grid (Z. Tu and
    others, MaxViT, 2022, figure 3).
    """
    return read_part_of(operations, operations.arrangement)


def read_part_of(operations: Operations, nodes: Sequence[Node]) -> ImagePart | None:
    """Return what some nodes, which only arrange, cut an image into; None where they do not."""
    for node in nodes:
        if not node.operator.has("reshapes") or len(node.inputs) < len(("data", "shape")):
            continue
        dims = operations.context.read_list(node.input(1))
        if len(dims) != _RANK:
            continue
        for turned in _list_turned(node, _RANK):
            part = _read_part(turned, [dim if isinstance(dim, int) else 0 for dim in dims])
            if part is not None:
                return part
    return None


def _list_turned(node: Node, rank: int) -> list[Node]:
    """Return the Transposes of so many axes that take what a node gives."""
    result = node.output(0)
    users = result.users[:_MOST_USERS] if result is not None else ()
    return [
        user
        for user in users
        if user.operator.has("permutes") and len(read_ints(user, "perm")) == rank
    ]


def _read_part(turned: Node, dims: list[int]) -> ImagePart | None:
    """Return what places attend to one another by where their axes are moved."""
    perm = read_ints(turned, "perm")
    # features stand last or behind the batch, and rows are cut before columns are
    for first in (1, 2):
        rows, columns = (first, first + 1), (first + 2, first + 3)
        windows, inner = (rows[0], columns[0]), (rows[1], columns[1])
        if tuple(perm[1:5]) == (*windows, *inner):
            is_grid = _swaps_parts(turned)
            sizes = {dims[axis] for axis in (windows if is_grid else inner)}
        elif tuple(perm[1:5]) == (*inner, *windows):
            is_grid = True
            sizes = {dims[axis] for axis in windows}
        else:
            continue
        size = sizes.pop()
        return ImagePart(size, is_grid) if not sizes and size > 1 else None
    return None


def _swaps_parts(turned: Node) -> bool:
    """Return whether windows and places in them change places before they attend."""
    current = turned
    for _ in range(_MOST_STEPS):
        if any(
            read_ints(one, "perm") == (0, 2, 1, 3) for one in _list_turned(current, _RANK_OF_PARTS)
        ):
            return True
        result = current.output(0)
        users = result.users if result is not None else ()
        if len(users) != 1 or not users[0].operator.has("reshapes"):
            return False
        current = users[0]
    return False
