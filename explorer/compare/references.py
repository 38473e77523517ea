"""The elements of a float weight in the order in which a quantized weight has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from netloupe.explorer.model import Tensor
from netloupe.explorer.tensors import Elements, open_elements

Numbers = npt.NDArray[np.float64]

#: a matrix of at most so many elements is turned as a whole
_MOST_TURNED = 2**24
#: so many elements of a larger one are turned at once
_TILE = 2**22


class Reference:
    """A float weight, read in the order of the codes that stand for it.

    Parameters
    ----------
    elements
        The float weights, as the file has them.
    turned
        Where the codes have two axes exchanged: (B, R, C) for floats of shape [B, R, C] and codes
        of shape [B, C, R], other axes taken together. None where the order is the same.

    Attributes
    ----------
    piece
        How many elements are best taken at once.
    """

    def __init__(self, elements: Elements, turned: tuple[int, int, int] | None = None) -> None:
        self.elements = elements
        self.turned = turned
        self.piece = 2**18 if turned is None else _TILE
        self._kept: tuple[int, npt.NDArray[Any]] | None = None

    def take(self, start: int, stop: int) -> Numbers:
        """Return the elements for the codes from one place up to another, as float64."""
        if self.turned is None:
            return self.elements.take(start, stop).astype(np.float64)
        batch, rows, columns = self.turned
        area = rows * columns
        if batch * area <= _MOST_TURNED:
            if self._kept is None:
                whole = self.elements.take(0, batch * area).reshape(batch, rows, columns)
                self._kept = 0, whole.transpose(0, 2, 1).reshape(-1)
            return self._kept[1][start:stop].astype(np.float64)
        if area <= _TILE:
            first, last = start // area, -(-stop // area)
            taken = self.elements.take(first * area, last * area).reshape(-1, rows, columns)
            flat = taken.transpose(0, 2, 1).reshape(-1)
            return flat[start - first * area : stop - first * area].astype(np.float64)
        return self._take_columns(start, stop)

    def _take_columns(self, start: int, stop: int) -> Numbers:
        """Return a part of matrices that are too large to be turned as a whole."""
        assert self.turned is not None  # noqa: S101 - the caller has looked
        _, rows, columns = self.turned
        area = rows * columns
        parts = []
        while start < stop:
            place = start // area
            end = min(stop, (place + 1) * area)
            first, last = (start - place * area) // rows, -(-(end - place * area) // rows)
            base = place * area
            lines = [
                self.elements.take(base + row * columns + first, base + row * columns + last)
                for row in range(rows)
            ]
            flat = np.stack(lines, axis=1).reshape(-1)
            shift = base + first * rows
            parts.append(flat[start - shift : end - shift].astype(np.float64))
            start = end
        return np.concatenate(parts) if parts else np.zeros(0)


def list_orders(
    tensor: Tensor, dims: tuple[int, ...]
) -> list[tuple[str, tuple[int, int, int] | None]]:
    """Return in which orders a float weight may hold what codes of some shape stand for.

    Returns
    -------
    list of tuple
        ``"as stored"``, ``"transposed"`` or ``"channels last"`` (codes [M, H, W, C] for floats
        [M, C, H, W], as Caffe2's operators on integers have them), with what :class:`Reference`
        takes for it, the more likely first. Empty where the numbers of elements differ.
    """
    given = tensor.dims
    size = 1
    for dim in dims:
        size *= dim
    if size != tensor.size or not size:
        return []
    kept = _leave_out_ones(given), _leave_out_ones(dims)
    found: list[tuple[str, tuple[int, int, int] | None]] = []
    if kept[0] == kept[1] or len(kept[0]) != len(kept[1]):
        found.append(("as stored", None))
    if len(kept[0]) == len(kept[1]) == 2 and kept[0] == kept[1][::-1]:
        found.append(("transposed", (1, kept[0][0], kept[0][1])))
    is_turned = len(given) == 4 and dims == (given[0], given[2], given[3], given[1])
    if is_turned and given[1] > 1 and given[2] * given[3] > 1:
        found.append(("channels last", (given[0], given[1], given[2] * given[3])))
    return found


def _leave_out_ones(dims: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dim for dim in dims if dim != 1)


def open_reference(tensor: Tensor, turned: tuple[int, int, int] | None) -> Reference:
    """Open a float weight; errors as of :func:`~netloupe.explorer.tensors.open_elements`."""
    return Reference(open_elements(tensor), turned)
