"""Parts of an image or a video whose places attend to one another alone: windows, and grids."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from netloupe.explorer.model import Node

from .operations import Operations
from .readings import read_ints

#: batch, features, and rows and columns, both cut in two; of a video also frames
_RANKS = (6, 8)
#: batch, windows, places in each, features
_RANK_OF_PARTS = 4
#: rows and columns, both cut in two
_OF_IMAGE = 4
_MOST_USERS = 8
_MOST_STEPS = 3


class ImagePart(NamedTuple):
    """What an image is cut into for attention.

    Parameters
    ----------
    sizes
        How many places attend to one another along each axis: frames, rows, columns.
    is_grid
        Whether these are as far from one another as they can be, instead of beside one another.
    """

    sizes: tuple[int, ...]
    is_grid: bool = False

    @property
    def side(self) -> int | None:
        """How many rows, and columns, a square of an image has; None for other windows."""
        is_square = 2 * len(self.sizes) == _OF_IMAGE and len({*self.sizes}) == 1
        return self.sizes[0] if is_square else None

    @property
    def text(self) -> str:
        """How many places there are: ``7×7``, ``8×7×7``."""
        return "×".join(map(str, self.sizes))

    @property
    def fact(self) -> str:
        """What is told of it: ``windows 7×7``, ``grid 7×7``."""
        return f"{'grid' if self.is_grid else 'windows'} {self.text}"


def cuts_windows(node: Node) -> bool:
    """Return whether a node is a Transpose that may cut an image into windows."""
    return node.operator.has("permutes") and len(read_ints(node, "perm")) in _RANKS


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
        if len(dims) not in _RANKS:
            continue
        for turned in _list_turned(node, len(dims)):
            part = _read_part(operations, turned, [d if isinstance(d, int) else 0 for d in dims])
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


def _read_part(operations: Operations, turned: Node, dims: list[int]) -> ImagePart | None:
    """Return what places attend to one another by where their axes are moved."""
    perm = read_ints(turned, "perm")
    cut = len(dims) - 2
    # features stand last or behind the batch, and frames and rows are cut before columns are
    for first in (1, 2):
        windows = tuple(range(first, first + cut, 2))
        inner = tuple(axis + 1 for axis in windows)
        features = 1 if first > 1 else len(dims) - 1
        order = tuple(axis for axis in perm[1:] if axis != features)
        if order == (*windows, *inner):
            is_grid = _swaps_parts(turned)
        elif order == (*inner, *windows):
            is_grid = True
        else:
            continue
        sizes = tuple(dims[axis] for axis in (windows if is_grid else inner))
        is_square = len({*sizes}) == 1 or cut > _OF_IMAGE
        is_last, is_between = perm[-1] == features, perm[1 + cut // 2] == features
        is_apart = is_last or (
            is_between and _keeps_features(operations, turned, dims[features], sizes)
        )
        if is_square and is_apart and min(sizes) > 1:
            return ImagePart(sizes, is_grid)
    return None


def _keeps_features(
    operations: Operations, turned: Node, features: int, sizes: tuple[int, ...]
) -> bool:
    """Return whether features remain apart from places that a Transpose puts behind them.

    Where both become one axis, each patch is a token.
    """
    result = turned.output(0)
    users = result.users if result is not None else ()
    if len(users) != 1 or not users[0].operator.has("reshapes"):
        return False
    given = operations.context.read_list(users[0].input(1))
    return any(
        len(given) > len(kept) and given[-len(kept) :] == kept
        for kept in ((features, *sizes), (features, prod(sizes)))
    )


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
