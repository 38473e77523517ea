"""How names, elements, types and lists from a file are written: cleaned and bounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from netloupe.explorer.model import (
    Dialect,
    Graph,
    OpaqueType,
    SparseTensor,
    SparseTensorType,
    Tensor,
    TensorType,
    Value,
    ValueType,
    count_each_operator,
)
from netloupe.explorer.model.types import describe_shape
from netloupe.explorer.notation import join_parts, write_dims, write_float
from netloupe.explorer.render.text import clean_label

from .description import MOST_ROWS, Row

LONGEST_LINE = 300
LONGEST_TEXT = 20_000
#: of the numbers of a tensor or an attribute so many are told
MOST_ELEMENTS = 16
MOST_AXES = 64


def write_line(text: str, longest: int = LONGEST_LINE) -> str:
    """Return text from a file as one line without hidden characters; both ends of a long one."""
    return clean_label(text, longest)


def write_text(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return text from a file with its lines kept; of a very long one, both ends."""
    if len(text) > longest:
        half = longest // 2
        omitted = len(text) - 2 * half
        text = f"{text[:half]}\n… {omitted:,} more characters …\n{text[-half:]}"
    lines = text.expandtabs(4).replace("\r\n", "\n").split("\n")
    return "\n".join(clean_label(line, longest) for line in lines).rstrip()


def write_entry(text: str) -> str:
    """Return a text of a key-value pair; an empty one is said to be so."""
    return write_text(text) or '""'


def write_scalar(entry: object, longest: int = LONGEST_LINE) -> str:
    """Return a number, or a text in quotation marks."""
    if isinstance(entry, float):
        return write_float(entry)
    if isinstance(entry, str):
        return f'"{write_line(entry, longest)}"'
    if isinstance(entry, bytes):
        shown = entry if len(entry) <= longest else entry[: longest // 2] + entry[-longest // 2 :]
        omitted = "" if shown is entry else f" … {len(entry) - len(shown):,} bytes not shown"
        return f"{shown!r}{omitted}"
    return write_line(str(entry), longest)


def write_list(entries: Sequence[Any], most: int = MOST_ELEMENTS, count: int | None = None) -> str:
    """Return ``[1, 2, 3, … 4,900 more]``; of ``count`` entries where more than these exist."""
    shown = [write_scalar(entry, 120) for entry in entries[:most]]
    return f"[{join_parts(shown, len(entries) if count is None else count)}]"


def write_array(
    array: np.ndarray[Any, Any], most: int = MOST_ELEMENTS, total: int | None = None
) -> str:
    """Return the number that an array holds, or the first of them as a list.

    Where the array is the first part of a larger one, ``total`` is the size of that.
    """
    flat = array.reshape(-1)
    if flat.size == 1:
        return write_scalar(flat[0].item() if hasattr(flat[0], "item") else flat[0])
    return write_list(flat[:most].tolist(), most, flat.size if total is None else total)


def write_tensor_type(tensor: Tensor | SparseTensor) -> str:
    """Return ``float32[64, 3, 7, 7]``."""
    text = f"{tensor.dtype}{write_dims(tensor.dims)}"
    return f"sparse({text})" if isinstance(tensor, SparseTensor) else text


def write_type(value_type: ValueType | None) -> str:
    """Return a type with its shape on one line."""
    return "type unknown" if value_type is None else write_line(str(value_type))


def write_inferred_type(value: Value) -> str:
    """Return the type on one line that follows where the file does not state as much, or ""."""
    inferred = value.inferred_type
    return "" if inferred is None else write_type(inferred)


def write_value_type(value: Value) -> str:
    """Return the best that is known of a value's type on one line, and whether it was inferred."""
    inferred = write_inferred_type(value)
    return f"{inferred}, inferred" if inferred else write_type(value.type)


def write_domain(domain: str, dialect: Dialect) -> str:
    """Return the name of an operator domain as it is shown."""
    return write_line(dialect.name_domain(domain))


def list_entries(entries: dict[str, str]) -> list[Row]:
    """Return a row for each key and value."""
    return [
        Row(write_line(key) or '""', write_entry(text))
        for key, text in islice(entries.items(), MOST_ROWS)
    ]


def list_operators(graphs: Iterable[Graph]) -> Counter[str]:
    """Count operators by name, with the domain before those of another than the format's own."""
    counts: Counter[str] = Counter()
    for graph in graphs:
        own = graph.dialect.domain
        for node, count in count_each_operator(graph):
            name = node.op_type if node.domain == own else f"{node.domain}::{node.op_type}"
            counts[name] += count
    return counts


def order_counts(counts: Counter[str]) -> list[tuple[str, int]]:
    """Return names with their counts: the most frequent first, equal ones by name."""
    return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))


def list_counts(counts: Counter[str]) -> list[Row]:
    """Return a row for each name, the most frequent first."""
    return [Row(write_line(name) or '""', f"{count:,}") for name, count in order_counts(counts)]


def list_denotations(value_type: ValueType | None, where: str = "") -> list[Row]:
    """Return a row for each denotation of a type, of its axes and of the types inside it."""
    if value_type is None:
        return []
    rows = []
    suffix = f" of {where}" if where else ""
    if value_type.denotation:
        rows.append(Row(f"denotation{suffix}", write_line(value_type.denotation)))
    if isinstance(value_type, TensorType | SparseTensorType):
        for axis, dim in enumerate(value_type.shape or ()):
            if dim.denotation:
                rows.append(Row(f"axis {axis}{suffix}", str(dim), write_line(dim.denotation)))
    elif isinstance(value_type, OpaqueType):
        rows.append(Row(f"opaque domain{suffix}", write_line(value_type.domain)))
        rows.append(Row(f"opaque name{suffix}", write_line(value_type.name)))
    inner = getattr(value_type, "element", None) or getattr(value_type, "value", None)
    if inner is not None:
        rows += list_denotations(inner, f"element{suffix}")
    return rows


def list_dimensions(value_type: ValueType | None) -> list[Row]:
    """Return a row for each axis of a tensor type with more axes than one line shows."""
    if not isinstance(value_type, TensorType | SparseTensorType) or value_type.shape is None:
        return []
    shape = value_type.shape
    if len(describe_shape(shape)) < LONGEST_LINE // 2 and len(shape) <= MOST_AXES:
        return []
    return [Row(f"axis {axis}", write_line(str(dim))) for axis, dim in enumerate(shape[:MOST_ROWS])]


def name_value(value: Value) -> str:
    """Return a value's name as it is shown."""
    return write_line(value.name) or '""'
