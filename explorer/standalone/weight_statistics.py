"""What a page says of the elements of weights: statistics, and how many lie in each bin.

Each block (see :mod:`.blocks`) is about some weights, in the order in which they are described.
No element itself is written. Where weights have the same to be said of them it is written once.

============== ====================================================================
column         content
============== ====================================================================
``records``    of each weight the number of what is said of it
``templates``  of each of these its words, as HTML: see :mod:`.templates`
``slots``      as there
``counts``     elements in each bin, of one histogram behind those of another
``kinds``      the templates
``texts``      what the slots hold
``histograms`` of each what is drawn beside its words: see :mod:`.histograms`; or null
============== ====================================================================
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from netloupe.explorer.costs import count_bytes
from netloupe.explorer.describe import choose_elements, list_statistics
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import DataType, SparseTensor, Tensor, Value
from netloupe.explorer.notation import write_bytes, write_count
from netloupe.explorer.options import WeightContent
from netloupe.explorer.page.description_html import write_error, write_section
from netloupe.explorer.progress import Cancelled, part, step, watched
from netloupe.explorer.quantization import find_quantization, measure_saturation
from netloupe.explorer.tensors import compute_histogram, compute_statistics, open_elements

from .blocks import write_block
from .histograms import HistogramRecord, record_histogram
from .level_block import Numbers
from .templates import TemplateWriter, split_slots

#: so many weights are in one block: a page unpacks one at a time
_MOST_IN_BLOCK = 2_000
#: as many as in the notebook's picture
_BINS = 64
#: weights of so few elements are compared with each other
_FEW = 64


@dataclass(frozen=True, slots=True)
class WeightBudget:
    """How much of a model's weights is read for a page; those with most elements come first.

    Parameters
    ----------
    size
        Bytes that are read at most. A weight of more than is left is left out; smaller ones
        may still fit.
    seconds
        After which no more is read.
    """

    size: int = 1 << 30
    seconds: float = 10.0


class _OutOfTime(Cancelled):
    """Ends the reading of a weight for which there is no time left."""


@dataclass(frozen=True, slots=True)
class _Weight:
    tensor: Tensor | SparseTensor
    value: Value | None


@dataclass(frozen=True, slots=True)
class _Record:
    """What is said of a weight: words as HTML, and what is drawn."""

    words: str
    drawn: HistogramRecord | None = None


class WeightWriter:
    """Collects weights.

    Parameters
    ----------
    content
        What a page has of them.
    budget
        How much of them is read.
    source
        The file of the model.
    """

    def __init__(
        self,
        content: WeightContent = "histograms",
        budget: WeightBudget | None = None,
        source: str = "",
    ) -> None:
        self._source = source
        self._content = content
        self._budget = budget or WeightBudget()
        self._weights: list[_Weight] = []
        self._records: list[_Record] | None = None
        #: the numbers of weights in the order in which they are read
        self._order: list[int] = []
        self._notices: list[str] = []
        #: by the identity of tensor and value, which the weights keep
        self._numbers: dict[tuple[int, int], int] = {}
        #: what is said of small ones, by type, dimensions and elements
        self._small: dict[tuple[DataType, tuple[int, ...], bytes], _Record] = {}

    def number(self, tensor: Tensor | SparseTensor, value: Value | None) -> int:
        """Return the number of a weight, which is read later."""
        key = id(tensor), id(value)
        number = self._numbers.setdefault(key, len(self._weights))
        if number == len(self._weights):
            self._weights.append(_Weight(tensor, value))
        return number

    def __len__(self) -> int:
        return len(self._weights)

    def write(
        self, most: int | None = None, reason: str = ""
    ) -> tuple[list[bytes], list[int], list[str]]:
        """Read the weights, and return blocks, how many weights each has, and notices.

        Parameters
        ----------
        most
            Of so many weights it is written what was read, those with most elements first; of
            all where None.
        reason
            Why it is not written of others.
        """
        if self._records is None:
            self._records, self._notices = self._read()
        records, notices = self._records, self._notices
        if most is not None:
            records = [*records]
            for number in self._order[most:]:
                records[number] = _Record(_write_absence(reason))
        blocks, counts = [], []
        for start in range(0, len(records), _MOST_IN_BLOCK):
            some = records[start : start + _MOST_IN_BLOCK]
            blocks.append(_write_records(some))
            counts.append(len(some))
        return blocks, counts, notices

    def _read(self) -> tuple[list[_Record], list[str]]:
        if self._content == "none":
            words = _write_absence("the file was written without statistics of weights")
            return [_Record(words)] * len(self._weights), []
        step("reading weights")
        begun, left = time.monotonic(), self._budget.size
        records: dict[int, _Record] = {}
        failures: list[str] = []
        too_large = too_late = 0
        order = sorted(range(len(self._weights)), key=lambda k: -self._weights[k].tensor.size)
        self._order = order
        for place, number in enumerate(order):
            weight = self._weights[number]
            size = count_bytes(weight.tensor) or 0
            if size > left:
                too_large += 1
                records[number] = _Record(_write_absence(self._say_size(size)))
                continue
            try:
                with (
                    _until(begun + self._budget.seconds),
                    part(place / len(order), (place + 1) / len(order)),
                ):
                    records[number] = self._read_once(weight)
                left -= size
            except _OutOfTime:
                too_late += 1
                records[number] = _Record(_write_absence(self._say_seconds()))
            except (NetloupeError, OSError, ValueError, MemoryError) as error:
                failures.append(self._say_failure(error))
                records[number] = _Record(write_error(failures[-1]))
        notices = []
        for count, reason in (
            (too_large, f"at most {write_bytes(self._budget.size)} of weights are read"),
            (too_late, f"at most {self._budget.seconds:g} s are spent on reading weights"),
        ):
            if count:
                notices.append(_note_absence(count, len(order), reason))
        if failures:
            notices.append(_note_absence(len(failures), len(order), failures[0]))
        return [records[number] for number in range(len(order))], notices

    def _read_once(self, weight: _Weight) -> _Record:
        """Return what is said of a weight; small ones that hold the same are read once.

        Exporters write the same few numbers into thousands of constants.
        """
        tensor, value = weight.tensor, weight.value
        if not isinstance(tensor, Tensor) or tensor.size > _FEW or tensor.quantization is not None:
            return _read_weight(weight)
        if value is not None and find_quantization(value) is not None:
            return _read_weight(weight)
        elements = tensor.numpy()
        if elements.dtype == object:
            return _read_weight(weight)
        key = tensor.dtype, tensor.dims, elements.tobytes()
        record = self._small.get(key)
        if record is None:
            record = self._small[key] = _read_weight(weight)
        return record

    def _say_failure(self, error: Exception) -> str:
        """Return why a weight cannot be read, without the folder of the model's author."""
        if isinstance(error, MemoryError):
            return "There is not enough memory to read these elements."
        message = str(error) if isinstance(error, NetloupeError) else f"{error}."
        folder = str(Path(self._source).parent)
        return message.replace(f"{folder}{os.sep}", "") if Path(folder).is_absolute() else message

    def _say_size(self, size: int) -> str:
        return (
            f"it takes {write_bytes(size)}, and at most {write_bytes(self._budget.size)} "
            "of weights were read, the largest that fit first"
        )

    def _say_seconds(self) -> str:
        return (
            f"at most {self._budget.seconds:g} s were spent on reading weights, "
            "and larger ones came first"
        )


def write_weight(tensor: Tensor | SparseTensor, value: Value | None) -> bytes:
    """Return a block about one weight, after reading all of it.

    Raises
    ------
    NetloupeError
        Where its elements cannot be given.
    """
    return _write_records([_read_weight(_Weight(tensor, value))])


@contextmanager
def _until(deadline: float) -> Iterator[None]:
    """End the work inside at a time, as soon as it tells how far it is."""

    def look(_what: str, _share: float | None) -> None:
        if time.monotonic() > deadline:
            raise _OutOfTime

    look("", None)
    with watched(look):
        yield


def _write_absence(reason: str) -> str:
    return f'<div class="nl-inspector-text">Not in this file: {escape(reason)}.</div>'


def _note_absence(count: int, total: int, reason: str) -> str:
    verb = "is" if count == 1 else "are"
    return (
        f"Statistics of {count:,} of {write_count(total, 'weight')} {verb} not in the page: "
        f"{reason.removesuffix('.')}."
    )


def _read_weight(weight: _Weight) -> _Record:
    """Return what is said of a weight, after reading all of it.

    Raises
    ------
    NetloupeError
        Where the elements cannot be given.
    """
    tensor, value = weight.tensor, weight.value
    quantization = find_quantization(value) if value is not None else None
    looked_at = choose_elements(tensor)
    elements = open_elements(looked_at)
    which = "" if looked_at is tensor else "the given elements only"
    statistics = list_statistics(
        compute_statistics(elements), elements, which, shows_elements=False
    )
    drawn = None
    if elements.dtype != object and elements.size > 1:
        saturation = None
        if quantization is not None:
            saturation = measure_saturation(elements, quantization, looked_at.dims)
        drawn = record_histogram(
            compute_histogram(elements, _BINS), looked_at.dtype, quantization, saturation
        )
    return _Record(write_section(statistics), drawn)


def _write_records(records: list[_Record]) -> bytes:
    """Return a block; what is equal is written once."""
    numbers: dict[Any, int] = {}
    writer = TemplateWriter()
    counts: list[int] = []
    histograms: list[Any] = []
    used = []
    for record in records:
        drawn = record.drawn
        told = None if drawn is None else drawn.facts
        key = record.words, repr(told), None if drawn is None else drawn.counts
        number = numbers.setdefault(key, len(numbers))
        used.append(number)
        if number == len(writer):
            writer.add(*split_slots(record.words))
            histograms.append(told)
            if drawn is not None:
                counts += drawn.counts
    texts = Numbers()
    integers, kinds = writer.columns(texts.number_all)
    integers.update(records=used, counts=counts)
    return write_block(integers, {"kinds": kinds, "histograms": histograms}, texts.list())
