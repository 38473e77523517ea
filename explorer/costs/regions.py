"""Shapes of what is sampled from images, found in them, and of losses (Operators.md)."""

from __future__ import annotations

from netloupe.explorer.model import data_type

from .facts import Dim, Dims, Fact, Use, find_size, list_integers
from .polynomial import Amount

_INT64, _BOOL = data_type("int64"), data_type("bool")


def sample_grid(use: Use) -> list[Fact | None]:
    """Return the result of GridSample: for each batch and channel as large as the grid."""
    data, grid = use.operand(0), use.dims(1)
    if data.dims is None or grid is None or len(data.dims) < 3 or len(grid) != len(data.dims):
        return [Fact(None, data.dtype)]
    return [Fact((*data.dims[:2], *grid[1:-1]), data.dtype)]


def make_grid(use: Use) -> tuple[Fact, Amount | None]:
    """Return the result and MACs of AffineGrid-20: theta times each place of a picture or volume.

    Theta is [N, 2, 3] or [N, 3, 4], and a place has a 1 beside its coordinates.
    """
    theta, sizes = use.operand(0), list_integers(use.operand(1))
    if sizes is None or len(sizes) not in (4, 5) or min(sizes) < 0:
        return Fact(None, theta.dtype), None
    axes = len(sizes) - 2
    grid = Fact((sizes[0], *sizes[2:], axes), theta.dtype)
    size = find_size(grid.dims)
    return grid, None if size is None else size * (axes + 1)


def align_regions(use: Use) -> list[Fact | None]:
    """Return the result of RoiAlign or MaxRoiPool: a picture for each region and channel."""
    data, regions = use.operand(0), use.dims(1)
    if data.dims is None or regions is None or len(data.dims) != 4 or not regions:
        return [Fact(None, data.dtype)]
    sizes: tuple[Dim, ...] | None = use.integers("pooled_shape")
    if use.operator.form == "RoiAlign":
        sizes = (use.integer("output_height", 1), use.integer("output_width", 1))
    if sizes is None or len(sizes) != 2:
        return [Fact(None, data.dtype)]
    return [Fact((regions[0], data.dims[1], *sizes), data.dtype)]


def find_determinant(use: Use) -> list[Fact | None]:
    """Return the result of Det: a number for each matrix."""
    data = use.operand(0)
    is_known = data.dims is not None and len(data.dims) >= 2
    return [Fact(data.dims[:-2] if is_known and data.dims is not None else None, data.dtype)]


def find_nonzero(use: Use) -> list[Fact | None]:
    """Return the result of NonZero: an index for each axis and found element."""
    rank = use.rank(0)
    return [Fact((rank or None, None), _INT64)]


def select_boxes(use: Use) -> list[Fact | None]:
    """Return the result of NonMaxSuppression: batch, class and box of each."""
    return [Fact((None, 3), _INT64)]


def find_unique(use: Use) -> list[Fact | None]:
    """Return the results of Unique: what is there, and three lists of indices."""
    data, axis = use.operand(0), use.integer("axis", 0)
    dims: Dims | None = (None,)
    if use.is_stated("axis"):
        dims = None
        if data.dims is not None and axis is not None and -len(data.dims) <= axis < len(data.dims):
            place = axis % len(data.dims)
            dims = tuple(None if i == place else dim for i, dim in enumerate(data.dims))
    found: list[Fact | None] = [Fact(dims, data.dtype)]
    found += [Fact((None,), _INT64) for _ in range(3)]
    return found[: use.results]


def lose(use: Use) -> list[Fact | None]:
    """Return the loss, a number or one for each label, and the logarithms of probabilities."""
    data, labels = use.operand(0), use.dims(1)
    dims = labels if use.text("reduction", "mean") == "none" else ()
    found: list[Fact | None] = [Fact(dims, data.dtype), Fact(data.dims, data.dtype)]
    return found[: use.results]


def match_words(use: Use) -> list[Fact | None]:
    """Return the result of RegexFullMatch: whether each text matches."""
    return [Fact(use.dims(0), _BOOL)]


def tell_presence(use: Use) -> list[Fact | None]:
    """Return the result of OptionalHasElement: one word."""
    return [Fact((), _BOOL)]
