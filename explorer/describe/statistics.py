"""What a tensor's elements are like, in words; they are read when this is asked for."""

from __future__ import annotations

import dataclasses
import math

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import SparseTensor, Tensor
from netloupe.explorer.notation import write_computed, write_count, write_percent
from netloupe.explorer.progress import part
from netloupe.explorer.tensors import (
    Elements,
    Statistics,
    compute_histogram,
    compute_statistics,
    open_elements,
)

from .description import Description, Row, Section, keep_sections, make_section
from .file_text import write_array, write_scalar, write_text

#: of a sparse tensor of more elements than this only the given ones are looked at
MOST_DENSE = 1 << 24
_BARS = 24
_BAR_WIDTH = 32
_MOST_SHOWN = 16


def choose_elements(tensor: Tensor | SparseTensor) -> Tensor | SparseTensor:
    """Return the tensor whose elements are looked at: of a huge sparse one, the given elements."""
    if isinstance(tensor, SparseTensor) and tensor.size > MOST_DENSE:
        return tensor.values
    return tensor


def describe_statistics(
    tensor: Tensor | SparseTensor,
    *,
    limit: int | None = None,
) -> Section:
    """Return the statistics of a tensor's elements, and the first of them.

    Parameters
    ----------
    tensor
        Its elements are read and decoded.
    limit
        Look at about this many elements only, and say so; None for all.

    Raises
    ------
    TensorDataError
        Where the elements cannot be given.
    """
    looked_at = choose_elements(tensor)
    elements = open_elements(looked_at)
    which = "" if looked_at is tensor else "the given elements only"
    return list_statistics(compute_statistics(elements, limit=limit), elements, which)


def list_statistics(
    found: Statistics, elements: Elements, which: str = "", *, shows_elements: bool = True
) -> Section:
    """Return statistics that are computed already, and the first of the elements.

    Parameters
    ----------
    found
        Of all elements, or of a sample.
    elements
        What was looked at.
    which
        Which part of the tensor that is, where it is not the whole.
    shows_elements
        Whether the first elements are among the rows.
    """
    rows = []
    if which:
        rows.append(Row("looked at", which))
    if found.is_sample:
        note = f"a sample of {elements.size:,}"
        rows.append(Row("looked at", write_count(found.count, "element"), note))
    subject = " of magnitudes" if found.is_magnitude else ""
    for name, number in (
        ("min", found.minimum),
        ("max", found.maximum),
        ("mean", found.mean),
        ("std", found.std),
    ):
        if number is not None:
            text = write_computed(number) if isinstance(number, float) else write_scalar(number)
            rows.append(Row(name + subject, text))
    share = write_percent(found.zeros / found.count) if found.count and found.zeros else ""
    if elements.dtype != object:
        rows.append(Row("zeros", f"{found.zeros:,}", share))
    for name, count in (
        ("NaN", found.nans),
        ("+Inf", found.positive_infinities),
        ("−Inf", found.negative_infinities),
    ):
        if count:
            rows.append(Row(name, f"{count:,}", "not finite"))
    if found.distinct is not None:
        rows.append(Row("distinct", f"{found.distinct:,}"))
    if found.quantiles and elements.size > 1:
        for fraction, number in found.quantiles.items():
            name = "median" if fraction == 0.5 else f"{fraction:.0%} quantile"
            rows.append(Row(name, write_computed(number)))
    if shows_elements:
        first = elements.take(0, min(elements.size, _MOST_SHOWN))
        name = "first elements" if elements.size > 1 else "element"
        rows.append(Row(name, write_array(first, _MOST_SHOWN, elements.size)))
    return make_section("Statistics", rows)


def describe_parts(tensor: Tensor | SparseTensor) -> Section:
    """Return the first elements that a sparse tensor gives, and their indices; else nothing.

    Each part is shown where it can be read, even if no whole can be made of the two.
    """
    rows: list[Row] = []
    parts = ("values", "indices") if isinstance(tensor, SparseTensor) else ()
    for name in parts:
        given = getattr(tensor, name)
        if given is not None:
            try:
                rows.append(Row(name, write_array(given.numpy(), _MOST_SHOWN)))
            except TensorDataError as error:
                rows.append(Row(name, "not available", write_text(str(error))))
    return make_section("Given elements and where they stand", rows)


def describe_histogram(tensor: Tensor | SparseTensor, *, bins: int = _BARS) -> Section:
    """Return the histogram of a tensor's elements as bars of text; empty for strings.

    Raises
    ------
    TensorDataError
        Where the elements cannot be given.
    """
    elements = open_elements(choose_elements(tensor))
    if elements.dtype == object or elements.size < 2:
        return Section("Histogram", ())
    found = compute_histogram(elements, bins)
    most = max(int(found.counts.max()), 1)
    rows = []
    for index, count in enumerate(found.counts.tolist()):
        bar = f"{_draw_bar(count / most)} {count:,}".lstrip()
        rows.append(Row(f"{found.edges[index]:.4g} …", bar))
    rows.append(Row(f"{found.edges[-1]:.4g}", "end of the range"))
    return Section("Histogram", tuple(rows))


def add_statistics(description: Description) -> Description:
    """Return a description with statistics and histogram, or why there are none."""
    tensor = description.tensor
    if tensor is None:
        return description
    parts = describe_parts(tensor)
    added: tuple[Section, ...]
    try:
        with part(0.0, 0.5):
            statistics = describe_statistics(tensor)
        with part(0.5, 1.0):
            added = (statistics, describe_histogram(tensor))
    except TensorDataError as error:
        added = (Section("Statistics", (Row("not available", write_text(str(error))),)),)
    return dataclasses.replace(
        description, sections=keep_sections((*description.sections, *added, parts))
    )


def _draw_bar(fraction: float) -> str:
    eighths = math.ceil(fraction * _BAR_WIDTH * 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
