"""How the elements of a tensor are stored, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from . import upper_rooms
from .dtype import DataType

#: sizes far beyond any file are told exactly up to here; where dimensions claim more, as this
MOST_ELEMENTS = 2**256
#: so many sizes are multiplied one by one, so that no number gets too long
_MANY_DIMS = 64


@dataclass(frozen=True, slots=True)
class ExternalLocation:
    """Where a tensor's bytes lie outside the model file, as the file states it.

    Parameters
    ----------
    location
        Path relative to the model's folder, verbatim and not yet judged.
    offset
        First byte; None for the start of the file.
    length
        Number of bytes; None for all up to the end.
    entries
        Every key and value in file order, known or not.
    misstated
        What is wrong where offset or length is stated, but is no plain decimal number: nobody
        knows then where the bytes lie.
    """

    location: str
    offset: int | None
    length: int | None
    entries: tuple[tuple[str, str], ...]
    misstated: str = ""


class Segment(NamedTuple):
    """The part of a chunked tensor that is stored here: elements ``begin`` to ``end``.

    Parameters
    ----------
    begin
        The first element.
    end
        The one behind the last element.
    """

    begin: int
    end: int


class StoredRow(Protocol):
    """Bytes or numbers in a row that are read when they are asked for, piece by piece."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the numbers; of bytes uint8."""
        ...

    def __len__(self) -> int: ...

    def read(self, start: int, stop: int) -> np.ndarray[Any, Any]:
        """Return the elements from one position up to another, in one dimension.

        Raises
        ------
        TensorDataError
            Where they cannot be read.
        """
        ...


class Payload(NamedTuple):
    """A tensor's elements in the form in which they are stored.

    Parameters
    ----------
    kind
        ``raw``: little-endian bytes, sub-byte types packed low bits first. ``typed``: an
        array of the typed field's own element type. ``strings``: one bytes object per
        element. ``elements``: decoded already, to be taken piece by piece. ``absent``:
        nothing is stored.
    data
        The bytes, the array or the list that ``kind`` promises; bytes and arrays that are still
        in a file as a :class:`StoredRow`.
    elements
        What ``kind`` promises where these are elements.
    """

    kind: Literal["raw", "typed", "strings", "elements", "absent"]
    data: bytes | np.ndarray[Any, Any] | Sequence[bytes] | StoredRow = b""
    elements: upper_rooms.Elements | None = None


@dataclass(frozen=True, slots=True)
class StatedQuantization:
    """Scale and zero point that stand beside the quantized elements themselves (Caffe2).

    Parameters
    ----------
    source
        What says so: ``arguments of Int8GivenTensorFill``, ``QTensorProto``.
    scale, zero_point
        One number, or one for each index of ``axis``. A zero point need not be an integer.
    storage
        The type of the stored numbers.
    axis
        Along which scales differ; None for one scale.
    """

    source: str
    scale: tuple[float, ...]
    zero_point: tuple[float, ...]
    axis: int | None
    storage: DataType | None


def multiply_dims(dims: Sequence[int]) -> int:
    """Return how many elements dimensions claim: at most ``MOST_ELEMENTS``, 0 if one is negative.

    Notes
    -----
    The product of many large numbers would itself grow without bound.
    """
    if min(dims, default=1) <= 0:
        return 0
    if len(dims) < _MANY_DIMS:
        return min(prod(dims), MOST_ELEMENTS)
    count = 1
    for dim in dims:
        count = min(count * dim, MOST_ELEMENTS)
    return count
