"""A tensor's elements as one flat row, given piece by piece.

What is computed over a tensor asks for one piece after another, so that the memory it takes
does not depend on the tensor's size: of a file only what is looked at is read, and narrow types
are unpacked only as far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netloupe.explorer.progress import step

Array = np.ndarray[Any, Any]

#: elements handled at a time: such a piece of float64 and its scratch space stay in the cache
CHUNK = 2**16
#: after so many elements progress is told
_REST = 2**22
_NO_PLACES = np.empty(0, np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class Elements:
    """Elements in row-major order.

    Parameters
    ----------
    dtype
        Of the pieces.
    take
        Gives the elements from one position up to another, flat; perhaps a read-only view.
    is_constant
        Whether all are known to be the same: then one tells everything.
    """

    dtype: np.dtype[Any]
    size: int
    take: Callable[[int, int], Array]
    is_constant: bool = False

    @property
    def is_integer(self) -> bool:
        """Whether these are integers or bools; those of ``ml_dtypes`` have a kind of their own."""
        return self.dtype.kind in "iub" or "int" in self.dtype.name


def as_elements(given: Array | Elements) -> Elements:
    """Return elements as they are, and an array as elements (a copy where it is not in order)."""
    if isinstance(given, Elements):
        return given
    flat = given.reshape(-1)
    if not flat.dtype.isnative:
        flat = flat.astype(flat.dtype.newbyteorder("="))
    return Elements(flat.dtype, flat.size, lambda start, stop: flat[start:stop])


def repeat_element(element: Array, size: int) -> Elements:
    """Return one element so many times; nothing is made of it before it is taken.

    Parameters
    ----------
    element
        Shape (1,).
    size
        Number of elements.
    """
    return Elements(
        element.dtype,
        size,
        lambda start, stop: np.repeat(element, max(min(stop, size) - start, 0)),
        is_constant=True,
    )


def sample_elements(elements: Elements, limit: int) -> Elements:
    """Return about ``limit`` elements in short runs spread evenly over the others.

    Short runs, not single elements, so that a file is read in few places.
    """
    if elements.size <= limit:
        return elements
    run = min(1024, max(limit, 1))
    starts = np.linspace(0, elements.size - run, max(limit // run, 1)).astype(np.int64)
    runs = [elements.take(start, start + run) for start in starts.tolist()]
    return as_elements(np.concatenate(runs))


def measure_magnitudes(elements: Elements) -> Elements:
    """Return the magnitudes of complex elements as float64, without intermediate overflow."""

    def take(start: int, stop: int) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            magnitudes: Array = np.abs(elements.take(start, stop).astype(np.complex128))
        return magnitudes

    return Elements(np.dtype(np.float64), elements.size, take)


def replace_nonfinite(chunk: Array) -> tuple[Array, npt.NDArray[np.intp]]:
    """Return numbers with one of them in place of those that are not finite, and their places.

    Replacing is several times faster than leaving out. What is returned is the chunk itself
    where all of it is finite, and empty where nothing is.
    """
    finite = np.isfinite(chunk) if chunk.dtype.kind == "f" else None
    if finite is None or finite.all():
        return chunk, _NO_PLACES
    places = np.flatnonzero(~finite)
    if places.size == chunk.size:
        return chunk[:0], places
    filled = chunk.copy()
    filled[places] = chunk[int(finite.argmax())]
    return filled, places


class Walk:
    """Goes over elements, as often as needed, and tells how far it is.

    Parameters
    ----------
    elements
        What to go over.
    passes
        The most passes there will be; fewer let the share jump.
    """

    def __init__(self, elements: Elements, passes: int = 1) -> None:
        self.elements = elements
        self._passes = max(passes, 1)
        self._done = 0

    def chunks(self, size: int = CHUNK) -> Iterator[Array]:
        """Yield the elements in pieces of ``size``: one pass."""
        total = self.elements.size
        spans = ((start, min(start + size, total)) for start in range(0, total, size))
        return self.pieces(spans)

    def pieces(self, spans: Iterable[tuple[int, int]]) -> Iterator[Array]:
        """Yield the elements of some spans, which follow one another: one pass."""
        reported = 0
        for start, stop in spans:
            yield self.elements.take(start, stop)
            if stop - reported >= _REST:
                reported = stop
                self.report(stop / self.elements.size)
        self._done += 1
        self.report(0.0)

    def report(self, share: float) -> None:
        """Say which share of this pass is done."""
        step(share=min((self._done + share) / self._passes, 1.0))

    def finish(self) -> None:
        """Say that all is done."""
        step(share=1.0)
