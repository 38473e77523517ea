"""The elements of a float weight in the order in which a quantized weight has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from netloupe.explorer.model import Tensor
from netloupe.explorer.tensors import Elements, open_elements

Numbers = npt.NDArray[np.float64]

#: so many elements are turned at once
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
    """

    def __init__(self, elements: Elements, turned: tuple[int, int, int] | None = None) -> None:
        self.elements = elements
        self.turned = turned
        #: which part was turned last, and that part
        self._kept: tuple[int, int] = (-1, -1)
        self._part: npt.NDArray[Any] = np.zeros(0)

    def take(self, start: int, stop: int) -> Numbers:
        """Return the elements for the codes from one place up to another, as float64."""
        if self.turned is None:
            return self.elements.take(start, stop).astype(np.float64)
        batch, rows, columns = self.turned
        area = rows * columns
        if area <= _TILE:  # whole matrices are turned at once
            many = max(_TILE // area, 1)
            span, parts = many * area, -(-batch // many)
        else:
            span, parts = max(_TILE // rows, 1) * rows, 0
        taken = []
        while start < stop:
            base = 0 if parts else start // area * area
            number = (start - base) // span
            begin = base + number * span
            end = min(stop, begin + span, batch * area if parts else base + area)
            part = self._turn(base, number, span, is_whole=parts > 0)
            taken.append(part[start - begin : end - begin])
            start = end
        if len(taken) == 1:
            return taken[0].astype(np.float64)
        return np.concatenate(taken).astype(np.float64) if taken else np.zeros(0)

    def _turn(self, base: int, number: int, span: int, *, is_whole: bool) -> npt.NDArray[Any]:
        """Return a part of the turned elements, flat: some matrices, or some columns of one."""
        assert self.turned is not None  # noqa: S101 - the caller has looked
        if self._kept == (base, number):
            return self._part
        batch, rows, columns = self.turned
        if is_whole:
            begin = number * span
            taken = self.elements.take(begin, min(begin + span, batch * rows * columns))
            turned = taken.reshape(-1, rows, columns).transpose(0, 2, 1)
        else:
            first = number * (span // rows)
            last = min(first + span // rows, columns)
            lines = [
                self.elements.take(base + row * columns + first, base + row * columns + last)
                for row in range(rows)
            ]
            turned = np.stack(lines, axis=1)
        self._kept, self._part = (base, number), turned.reshape(-1)
        return self._part


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
