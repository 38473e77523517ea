"""Small integers that an operator's weights hold packed in bytes, taken apart piece by piece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .decode import unpack_codes
from .elements import Elements

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Packing:
    """How rows of unsigned integers lie in bytes: the lowest bits first, each from a whole byte on.

    Parameters
    ----------
    bits
        Of each integer: 2, 4 or 8.
    dims
        The shape of the integers; the last axis runs along a row.
    row_bytes
        Bytes of one row. What the last of them hold beyond the row's integers is padding.
    """

    bits: int
    dims: tuple[int, ...]
    row_bytes: int

    @property
    def rows(self) -> int:
        """How many rows there are."""
        rows = 1
        for dim in self.dims[:-1]:
            rows *= dim
        return rows

    @property
    def stored_bytes(self) -> int:
        """How many bytes hold the integers."""
        return self.rows * self.row_bytes


def unpack_elements(stored: Elements, packing: Packing, dtype: np.dtype[Any]) -> Elements:
    """Return the integers that bytes hold, padding left out.

    Parameters
    ----------
    stored
        The bytes, uint8: as many as ``packing.stored_bytes``.
    packing
        How they are packed.
    dtype
        Of the integers; one byte wide.
    """
    bits, width = packing.bits, packing.dims[-1]
    per_byte = 8 // bits
    padded = packing.row_bytes * per_byte

    def take_run(start: int, stop: int) -> Array:
        """Take integers by their place with padding counted in."""
        first = start // per_byte
        codes = unpack_codes(stored.take(first, -(-stop // per_byte)), bits)
        return codes[start - first * per_byte : stop - first * per_byte]

    def take(start: int, stop: int) -> Array:
        if padded == width or start >= stop:
            return take_run(start, max(start, stop)).view(dtype)
        row, last = start // width, (stop - 1) // width
        if row == last:
            shift = row * (padded - width)
            return take_run(start + shift, stop + shift).view(dtype)
        whole = take_run(row * padded, (last + 1) * padded).reshape(-1, padded)[:, :width]
        return whole.reshape(-1)[start - row * width : stop - row * width].view(dtype)

    return Elements(dtype, packing.rows * width, take)
