"""What stored numbers are like, each tensor read once for all rules that ask."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Graph, Model, Tensor, find_nodes_with
from netloupe.explorer.model.storage import multiply_dims
from netloupe.explorer.model.stored_tensors import list_stored_tensors
from netloupe.explorer.progress import step
from netloupe.explorer.tensors import Elements, Walk, open_elements

from .operands import find_output_channel_axis

Array = np.ndarray[Any, Any]

#: so many tensors are read, in file order; a file of a million small ones would take minutes
MOST_TENSORS = 50_000
#: so many that cannot be read are named
_MOST_NAMED = 20
#: elements read at once, and the most where channels need longer pieces
_PIECE, _LONGEST_PIECE = 2**16, 2**22
#: bytes that tensors may share in one file without being counted as read again
_SLACK = 2**20

#: the largest finite float16 (IEEE 754 binary16), as it is 65504 that converters clip at
LARGEST_HALF = 65504.0
_WIDE = {"float16", "bfloat16", "float32", "float64"}


@dataclass(slots=True)
class NumberFacts:
    """What the elements of one tensor are like.

    Parameters
    ----------
    digest
        Equal for tensors of equal bytes.
    nans, positive_infinities, negative_infinities, first_nonfinite
        How many there are, and the index of the first in row-major order; -1 for none.
    largest
        The largest finite magnitude.
    beyond_half
        How many finite numbers are beyond the range of float16.
    subnormals
        How many are neither zero nor normal numbers of their own type.
    zeros
        How many are zero.
    is_uniform
        Whether all are the same.
    rms
        The root of the mean of the squares of the finite numbers.
    dead
        By channel of the axis that was asked for, whether all of it is zero; None where not asked.
    """

    digest: bytes = b""
    nans: int = 0
    positive_infinities: int = 0
    negative_infinities: int = 0
    first_nonfinite: int = -1
    largest: float = 0.0
    beyond_half: int = 0
    subnormals: int = 0
    zeros: int = 0
    is_uniform: bool = True
    rms: float = 0.0
    dead: npt.NDArray[np.bool_] | None = None


class StoredNumbers:
    """The stored tensors of a model and what their elements are like.

    Attributes
    ----------
    facts
        By tensor; of integers and narrow types only ``digest`` is told.
    unread
        Paths of tensors whose elements cannot be read, each with the reason.
    unread_count, left_count
        How many cannot be read, and how many were left out because there are too many.
    """

    def __init__(self, model: Model) -> None:
        self.facts: dict[Tensor, NumberFacts] = {}
        self.unread: list[tuple[str, str]] = []
        self.unread_count = 0
        self.left_count = 0
        self._read(model)

    def _read(self, model: Model) -> None:
        graphs = model.graphs
        axes = dict(chain.from_iterable(map(find_channel_axes, graphs)))
        tensors = list(chain.from_iterable(map(list_stored_tensors, graphs)))
        self.left_count = max(len(tensors) - MOST_TENSORS, 0)
        tensors = tensors[:MOST_TENSORS]
        total = sum(min(tensor.nbytes or 0, 2**62) for tensor in tensors) or 1
        places: dict[object, NumberFacts] = {}
        budget = ReadingBudget(tensors)
        done = 0
        for tensor in tensors:
            step("" if done else "reading weights", done / total)
            done += min(tensor.nbytes or 0, 2**62)
            external = tensor.external
            place = external and (
                external.location,
                external.offset,
                external.length,
                tensor.dims,
                tensor.dtype.name,
            )
            known = places.get(place) if place else None
            if known is None:
                try:
                    budget.take(tensor)
                    known = measure_numbers(open_elements(tensor), tensor, axes.get(tensor))
                except NetloupeError as error:
                    self.unread_count += 1
                    if len(self.unread) < _MOST_NAMED:
                        self.unread.append((tensor.path, str(error)))
                    continue
                if place:
                    places[place] = known
            self.facts[tensor] = known
        step(share=1.0)

    @property
    def gap(self) -> str:
        """What could not be looked at, in words; "" for nothing."""
        parts = []
        if self.unread:
            parts.append(
                f"{self.unread_count:,} of the stored tensors cannot be read: {self.unread[0][1]}"
            )
        if self.left_count:
            parts.append(
                f"only the first {MOST_TENSORS:,} stored tensors were read, "
                f"{self.left_count:,} were not"
            )
        return "; ".join(parts)


class ReadingBudget:
    """Keeps a file whose tensors claim the same bytes again and again from being read for ever."""

    def __init__(self, tensors: Iterable[Tensor]) -> None:
        self._left: dict[str, int] = {}
        for tensor in tensors:
            external = tensor.external
            if external is not None:
                end = (external.offset or 0) + (tensor.nbytes or 0)
                known = self._left.get(external.location, 0)
                self._left[external.location] = max(known, 2 * end + _SLACK)

    def take(self, tensor: Tensor) -> None:
        """Note that a tensor is read; raise NetloupeError where its bytes were read before."""
        external = tensor.external
        if external is None:
            return
        self._left[external.location] -= tensor.nbytes or 0
        if self._left[external.location] < 0:
            raise NetloupeError(
                f"{tensor.path}: its bytes and those of others overlap; they are not read again."
            )


def find_channel_axes(graph: Graph) -> Iterator[tuple[Tensor, int]]:
    """Yield the weights of a graph whose output channels lie along an axis that the user fixes."""
    for index in find_nodes_with(graph, "convolves", "multiplies").tolist():
        node = graph.nodes[index]
        places = node.operator.weight_places
        value = node.input(places[0]) if places else None
        tensor = value.initializer if value is not None else None
        if not isinstance(tensor, Tensor) or node.domain or len(tensor.dims) < 2:
            continue
        axis = find_output_channel_axis(node, len(tensor.dims))
        if axis is not None:
            yield tensor, axis


def measure_numbers(elements: Elements, tensor: Tensor, axis: int | None) -> NumberFacts:
    """Return what elements are like, read once piece by piece.

    Parameters
    ----------
    elements, tensor
        The elements and what they are of.
    axis
        That of the channels, to find those that are zero; None for none.
    """
    facts = NumberFacts()
    if elements.is_constant:  # one tells everything, and there may be more than fit anywhere
        elements, axis = Elements(elements.dtype, min(elements.size, 1), elements.take), None
    if elements.dtype.kind in "OSUV" and tensor.dtype.name not in _WIDE:
        return facts
    digest = hashlib.blake2b(f"{tensor.dtype} {tensor.dims}".encode(), digest_size=16)
    is_real = tensor.dtype.name in _WIDE
    piece, shape = _PIECE, (0, 0)
    if axis is not None and elements.size and is_real:
        inner = multiply_dims(tensor.dims[axis + 1 :])
        period = inner if not axis else inner * tensor.dims[axis]
        if period <= _LONGEST_PIECE:
            piece, shape = max(_PIECE // period, 1) * period, (tensor.dims[axis], inner)
            facts.dead = np.ones(tensor.dims[axis], np.bool_)
    position, squares, finite_count = 0, 0.0, 0
    first: Any = None
    for chunk in Walk(elements).chunks(piece):
        digest.update(np.ascontiguousarray(chunk).view(np.uint8).data)
        if not is_real:
            continue
        if first is None:
            first = chunk[0]
        facts.is_uniform = facts.is_uniform and bool((chunk == first).all())
        count, total = _measure_piece(chunk, position, facts)
        finite_count += count
        squares += total
        if facts.dead is not None:
            _note_alive(chunk, position, axis or 0, shape, facts.dead)
        position += chunk.size
    facts.digest = digest.digest()
    facts.rms = float(np.sqrt(squares / finite_count)) if finite_count else 0.0
    return facts


@np.errstate(over="ignore", invalid="ignore")
def _measure_piece(chunk: Array, position: int, facts: NumberFacts) -> tuple[int, float]:
    """Add what a piece holds to the facts; return how many are finite, and their squares."""
    smallest = _find_smallest_normal(chunk.dtype)
    if chunk.dtype.itemsize == 2:
        chunk = chunk.astype(np.float32)
    magnitudes = np.abs(chunk)
    largest = float(magnitudes.max()) if chunk.size else 0.0
    if not np.isfinite(largest):
        bad = ~np.isfinite(chunk)
        if facts.first_nonfinite < 0:
            facts.first_nonfinite = position + int(bad.argmax())
        facts.nans += int(np.count_nonzero(np.isnan(chunk)))
        facts.positive_infinities += int(np.count_nonzero(chunk == np.inf))
        facts.negative_infinities += int(np.count_nonzero(chunk == -np.inf))
        magnitudes = magnitudes[~bad]
        largest = float(magnitudes.max()) if magnitudes.size else 0.0
    facts.largest = max(facts.largest, largest)
    if largest > LARGEST_HALF:
        facts.beyond_half += int(np.count_nonzero(magnitudes > LARGEST_HALF))
    zeros = magnitudes.size - int(np.count_nonzero(magnitudes))
    facts.zeros += zeros
    facts.subnormals += int(np.count_nonzero(magnitudes < smallest)) - zeros
    squares = float(np.dot(magnitudes, magnitudes))
    if not np.isfinite(squares):
        wide = magnitudes.astype(np.float64)
        squares = float(np.dot(wide, wide))
    return magnitudes.size, squares


def _find_smallest_normal(dtype: np.dtype[Any]) -> float:
    """Return the smallest normal number of a type: 2**-14 of float16, 2**-126 of bfloat16."""
    if dtype.kind == "f":
        return float(np.finfo(dtype).smallest_normal)
    return 2.0**-126


def _note_alive(
    chunk: Array, position: int, axis: int, shape: tuple[int, int], dead: npt.NDArray[np.bool_]
) -> None:
    """Note the channels of which a piece holds anything but zeros."""
    channels, inner = shape
    if axis == 0:
        start = position // inner
        dead[start : start + chunk.size // inner] &= ~chunk.reshape(-1, inner).any(axis=1)
    else:
        dead &= ~chunk.reshape(-1, channels, inner).any(axis=(0, 2))
