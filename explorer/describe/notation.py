"""How names, numbers, types and lists are written: cleaned, bounded, exact where they are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from netloupe.explorer.model import (
    Graph,
    OpaqueType,
    SparseTensor,
    SparseTensorType,
    Tensor,
    TensorType,
    Value,
    ValueType,
)
from netloupe.explorer.model.types import describe_shape
from netloupe.explorer.render.text import clean_label

from .description import MOST_ROWS, Row

LONGEST_LINE = 300
LONGEST_TEXT = 20_000
MOST_ELEMENTS = 32
MOST_DIMS = 16
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


def write_float(number: float) -> str:
    """Return the shortest of 7, 9 or 17 digits that is exactly this 32- or 64-bit float."""
    with np.errstate(over="ignore"):
        for digits in (7, 9):
            text = f"{number:.{digits}g}"
            if number != number or float(np.float32(text)) == number or float(text) == number:
                return text
    return repr(float(number))


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


def write_list(entries: Sequence[Any], most: int = MOST_ELEMENTS) -> str:
    """Return ``[1, 2, 3, … 4,900 more]``."""
    shown = [write_scalar(entry, 120) for entry in entries[:most]]
    if len(entries) > most:
        shown.append(f"… {len(entries) - most:,} more")
    return f"[{', '.join(shown)}]"


def write_array(array: np.ndarray[Any, Any], most: int = MOST_ELEMENTS) -> str:
    """Return the number that an array holds, or the first of them as a list."""
    flat = array.reshape(-1)
    if flat.size == 1:
        return write_scalar(flat[0].item() if hasattr(flat[0], "item") else flat[0])
    shown = write_list(flat[: most + 1].tolist(), most)
    if flat.size > most:
        shown = shown[: shown.rindex("…")] + f"… {flat.size - most:,} more]"
    return shown


def write_dims(dims: Sequence[int]) -> str:
    """Return ``[64, 3, 7, 7]``; the empty string for a scalar."""
    if not dims:
        return ""
    more = f", … {len(dims) - MOST_DIMS} more" if len(dims) > MOST_DIMS else ""
    return f"[{', '.join(map(str, dims[:MOST_DIMS]))}{more}]"


def write_tensor_type(tensor: Tensor | SparseTensor) -> str:
    """Return ``float32[64, 3, 7, 7]``."""
    text = f"{tensor.dtype}{write_dims(tensor.dims)}"
    return f"sparse({text})" if isinstance(tensor, SparseTensor) else text


def write_type(value_type: ValueType | None) -> str:
    """Return a type with its shape on one line."""
    return "type unknown" if value_type is None else write_line(str(value_type))


def write_size(count: int) -> str:
    """Return a number of bytes in a unit that leaves at most four digits: ``1.5 KiB``."""
    amount, units = float(count), ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    while amount >= 1024 and len(units) > 1:
        amount /= 1024
        units.pop(0)
    digits = 0 if units[0] == "bytes" or amount >= 100 else 1
    return f"{amount:,.{digits}f} {units[0]}" if count != 1 else "1 byte"


def write_count(number: int, noun: str) -> str:
    """Return ``1 node``, ``4,900 nodes``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def write_domain(domain: str) -> str:
    """Return the name of an operator domain; the empty one is ai.onnx."""
    return write_line(domain) if domain else "ai.onnx"


def list_entries(entries: dict[str, str]) -> list[Row]:
    """Return a row for each key and value."""
    return [
        Row(write_line(key) or '""', write_entry(text))
        for key, text in islice(entries.items(), MOST_ROWS)
    ]


def list_operators(graphs: Iterable[Graph]) -> Counter[str]:
    """Count operators by name, with the domain before those that are not ai.onnx."""
    return Counter(
        node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}::{node.op_type}"
        for graph in graphs
        for node in graph.nodes
    )


def list_counts(counts: Counter[str]) -> list[Row]:
    """Return a row for each name, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return [Row(write_line(name) or '""', f"{count:,}") for name, count in ordered]


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
