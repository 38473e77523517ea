"""What is said of quantization: one line per operand of a node, every number of a value."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import numpy as np

from netloupe.explorer.model import Value
from netloupe.explorer.notation import join_parts, write_computed, write_count
from netloupe.explorer.quantization import Quantization, find_quantization

from .description import MOST_ROWS, Row
from .file_text import name_value, write_array, write_entry, write_line
from .place import Place

_MOST_ENDS = 16


def list_operand_quantization(
    operands: Iterable[tuple[str, Value | None]], place: Place
) -> list[Row]:
    """Return a row for each named operand that is quantized."""
    rows = []
    for formal, value in islice(operands, MOST_ROWS):
        found = find_quantization(value) if value is not None else None
        if value is not None and found is not None:
            note = write_line(found.source)
            rows.append(Row(formal, write_line(found.describe()), note, place.path_of(value.path)))
    return rows


def list_quantization(value: Value, found: Quantization | None, place: Place) -> list[Row]:
    """Return rows for everything that is known of how a value is quantized."""
    rows = []
    if found is not None:
        rows = [
            Row("stated by", write_line(found.source)),
            Row("stored as", str(found.storage) if found.storage else "unknown"),
            Row("granularity", found.granularity or "unknown"),
            Row("axis", "" if found.axis is None else str(found.axis)),
            Row("block size", "" if found.block_size is None else str(found.block_size)),
            _describe_parameter("scale", found.scale, found.scale_value, place),
            _describe_parameter("zero point", found.zero_point, found.zero_point_value, place),
            *_list_range(found),
        ]
    if value.annotation is not None:
        rows += [
            Row(write_line(key) or '""', write_entry(text), "annotation")
            for key, text in value.annotation.entries[:MOST_ROWS]
        ]
    return rows


def _describe_parameter(
    name: str,
    array: np.ndarray[tuple[int, ...], np.dtype[np.generic]] | None,
    value: Value | None,
    place: Place,
) -> Row:
    if array is None and value is None:
        return Row(name, "not given")
    text = "not constant" if array is None else write_array(array, _MOST_ENDS)
    if value is None:
        return Row(name, text)
    return Row(name, text, f"%{name_value(value)}", place.path_of(value.path))


def _list_range(found: Quantization) -> list[Row]:
    real_range = found.real_range
    if real_range is None:
        return []
    ends = np.asarray(real_range[0]), np.asarray(real_range[1])
    low, high = np.minimum(*ends), np.maximum(*ends)  # a scale may be negative
    text = f"{write_computed(float(low.min()))} … {write_computed(float(high.max()))}"
    if low.size == 1:
        return [Row("real range", text)]
    return [
        Row("real range", text, f"over {write_count(low.size, 'scale')}"),
        Row("lowest, each", _write_each(low)),
        Row("highest, each", _write_each(high)),
    ]


def _write_each(numbers: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    shown = [write_computed(number) for number in numbers.reshape(-1)[:_MOST_ENDS].tolist()]
    return f"[{join_parts(shown, numbers.size)}]"
