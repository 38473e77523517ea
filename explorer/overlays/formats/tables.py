"""Tables: CSV with names and numbers, and JSON that says the same."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from netloupe.explorer.errors import OverlayError
from netloupe.explorer.notation import write_count
from netloupe.explorer.overlays.column import Column
from netloupe.explorer.overlays.units import guess_meaning

from .text import LONGEST_WORD, read_cell

#: headings of the column with names, the likeliest first
_NAME_HEADINGS = (
    *("path", "name", "node", "node_name", "node name", "layer", "layer_name", "layer name"),
    *("tensor", "tensor_name", "output", "op_name", "module", "key", "id"),
)
#: rows that add up the others
_SUMMARIES = frozenset({"total", "sum", "summary", "all", "mean", "average"})
_MOST_COLUMNS = 200
_LONGEST_FIELD = 2**20
#: so many rows are read at a time
_ROWS = 5_000
#: columns of onnx-tool that say what follows from others, or is no number of a node
_LEFT_OUT = frozenset(
    {"fpercent", "cpercent", "mpercent", "ppercent", "inshape", "outshape", "type"}
)
#: headings of which a table of its earlier versions has all; later ones have ``Forward_MACs``
_OLDER_ONNX_TOOL = frozenset({"macs", "cpercent", "memory", "params", "inshape", "outshape"})
_ONNX_TOOL = {
    "forward_macs": ("MACs", "MACs"),
    "macs": ("MACs", "MACs"),
    "memory": ("memory", "B"),
    "params": ("parameters", ""),
}

_COUNTED_TOO = "onnx-tool counts operations that are no multiplications among MACs"

Values = dict[str, "float | str"]


def read_csv(text: str, name: str) -> list[Column]:
    """Return the columns of a CSV table, in UTF-8, with comma, semicolon or tab.

    The names are in the column that is headed so (``name``, ``path``, ``node``, ``layer``,
    ``tensor`` …), else in the first one. A table of two columns may have no heading. Each other
    column that has a number is one; where none has, those with words are. A row that adds up the
    others (``Total``) is left out. Tables of onnx-tool are known by their headings.

    Raises
    ------
    OverlayError
        Where it is no such table, naming the line.
    """
    rows = _read_rows(text, name)
    first = next(rows, None)
    if first is None:
        raise OverlayError(f"{name}: the table is empty. Give names and numbers.")
    line, cells = first
    if len(cells) < 2:
        raise OverlayError(
            f"{name}: line {line:,} has one field. Give at least two, such as `name,latency_ms`."
        )
    if len(cells) > _MOST_COLUMNS:
        raise OverlayError(
            f"{name}: line {line:,} has {len(cells):,} fields, and there may be {_MOST_COLUMNS}."
        )
    if _to_number(cells[1]) is not None and len(cells) == 2:
        headings: Sequence[str] = ("name", "value")
        body: Iterator[tuple[int, list[str]]] = _chain(first, rows)
    else:
        headings, body = [cell.strip() for cell in cells], rows
    return _make_columns(headings, body, name)


def _chain(
    first: tuple[int, list[str]], rows: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str]]]:
    yield first
    yield from rows


def _read_rows(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield number of line and fields of each row that is not empty."""
    head = text[: text.find("\n") if "\n" in text else len(text)][:LONGEST_WORD]
    counts = {sign: head.count(sign) for sign in "\t;,"}
    sign = max(counts, key=lambda each: counts[each])
    before = csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign if counts[sign] else ",")
    try:
        for cells in reader:
            if cells and (cells[0] or any(cells)):
                yield reader.line_num, cells
    except csv.Error as error:
        raise OverlayError(
            f"{name}: line {reader.line_num:,} is no CSV ({error}). Write the table anew."
        ) from error
    finally:
        csv.field_size_limit(before)


def _make_columns(
    headings: Sequence[str], rows: Iterable[tuple[int, list[str]]], name: str
) -> list[Column]:
    lowered = [heading.lower() for heading in headings]
    is_onnx_tool = "forward_macs" in lowered or _OLDER_ONNX_TOOL.issubset(lowered)
    at = next((lowered.index(known) for known in _NAME_HEADINGS if known in lowered), 0)
    numbers: list[Values] = [{} for _ in headings]
    words: list[Values] = [{} for _ in headings]
    rows = iter(rows)
    is_more = True
    while is_more:
        some: list[tuple[int, list[str]]] = []
        try:
            some.extend(islice(rows, _ROWS))
        finally:  # what stands before a line that is no CSV is looked at first
            is_more = len(some) == _ROWS
            if not _take_plain(some, at, numbers):
                _take_rows(some, at, numbers, words, name)
    others = [place for place in range(len(headings)) if place != at]
    if is_onnx_tool:
        others = [place for place in others if lowered[place] not in _LEFT_OUT]
    chosen = [
        (place, numbers[place])
        for place in others
        if numbers[place] and len(numbers[place]) >= len(words[place])
    ]
    chosen = chosen or [(place, words[place]) for place in others if words[place]]
    if not chosen:
        raise OverlayError(
            f"{name}: no field beside the names has a number or a word. "
            "Give a table such as `name,latency_ms`."
        )
    return [_make_column(headings[place], values, name, is_onnx_tool) for place, values in chosen]


def _take_plain(rows: Sequence[tuple[int, list[str]]], at: int, numbers: list[Values]) -> bool:
    """Take rows by columns, where each has a name and nothing but numbers beside it.

    Returns
    -------
    bool
        Whether they are such rows; nothing is taken of others.
    """
    if not rows or {len(cells) for _, cells in rows} != {len(numbers)}:
        return False
    columns = [*zip(*(cells for _, cells in rows), strict=True)]
    keys = [*map(str.strip, columns[at])]
    if not all(keys) or len(max(keys, key=len)) > LONGEST_WORD:
        return False
    if not _SUMMARIES.isdisjoint(map(str.lower, keys)):
        return False
    others = [place for place in range(len(columns)) if place != at]
    try:
        read = [[*map(float, columns[place])] for place in others]
    except ValueError:
        return False
    for place, values in zip(others, read, strict=True):
        numbers[place].update(zip(keys, values, strict=True))
    return True


def _take_rows(
    rows: Iterable[tuple[int, list[str]]],
    at: int,
    numbers: list[Values],
    words: list[Values],
    name: str,
) -> None:
    """Take what is in rows, whatever it is."""
    for line, cells in rows:
        if len(cells) <= at:
            raise OverlayError(
                f"{name}: line {line:,} has {len(cells)} fields, and names are in field {at + 1}. "
                "Complete it."
            )
        key = cells[at].strip()[:LONGEST_WORD]
        if not key or key.lower() in _SUMMARIES:
            continue
        for place, cell in enumerate(cells[: len(numbers)]):
            if place == at or not cell.strip():
                continue
            number = _to_number(cell)
            if number is None:
                words[place][key] = cell.strip()[:LONGEST_WORD]
            else:
                numbers[place][key] = number


def _make_column(heading: str, values: Values, name: str, is_onnx_tool: bool) -> Column:
    meaning = guess_meaning(heading)
    if is_onnx_tool and heading.lower() in _ONNX_TOOL:
        title, unit = _ONNX_TOOL[heading.lower()]
        notes = (_COUNTED_TOO,) if title == "MACs" else ()
        return Column(
            title, values, unit, aggregation="sum", notes=notes, source=name, heading=heading
        )
    return Column(
        meaning.name or "value",
        values,
        meaning.unit,
        aggregation=meaning.aggregation,
        source=name,
        heading=heading,
    )


def _to_number(text: str) -> float | None:
    """Return the number that a field is, ``1,234`` and ``12 %`` included; None for a word."""
    cleaned = text.strip().removesuffix("%").strip()
    try:
        return float(cleaned)
    except ValueError:
        pass
    plain = cleaned.replace(",", "")
    if plain != cleaned and plain.replace(".", "", 1).lstrip("-").isdecimal():
        return float(plain)
    return None


def find_columns(told: Any, name: str) -> list[Column]:
    """Return the columns that JSON of names and values has; none where it is something else.

    Known are ``{name: value}``; ``{column: {name: value}}``, as pandas writes a DataFrame;
    ``[[name, value]]``; ``[{"name": name, column: value}]``, as it writes records; and
    ``{"names": [...], "values": [...]}``.
    """
    if isinstance(told, Mapping):
        return _find_in_object(told, name)
    if isinstance(told, list) and told:
        return _find_in_list(told, name)
    return []


def _find_in_object(told: Mapping[str, Any], name: str) -> list[Column]:
    names, values = told.get("names"), told.get("values")
    if isinstance(names, list) and isinstance(values, list):
        if len(names) != len(values):
            raise OverlayError(
                f"{name}: has {write_count(len(names), 'name')} and "
                f"{write_count(len(values), 'value')}. Give as many."
            )
        return _collect({"value": zip(names, values, strict=True)}, name)
    inner = {key: value for key, value in told.items() if isinstance(value, Mapping)}
    if inner and len(inner) == len(told):
        return _collect({key: value.items() for key, value in inner.items()}, name)
    return _collect({"value": told.items()}, name)


def _find_in_list(told: Sequence[Any], name: str) -> list[Column]:
    if all(isinstance(one, list) and len(one) == 2 for one in told):
        return _collect({"value": told}, name)
    if not all(isinstance(one, Mapping) for one in told):
        return []
    keys = {key.lower(): key for key in told[0] if isinstance(key, str)}
    heading = next((keys[known] for known in _NAME_HEADINGS if known in keys), None)
    if heading is None:
        return []
    columns: dict[str, list[tuple[Any, Any]]] = {}
    for one in told:
        for key, value in one.items():
            if key != heading and read_cell(value) is not None:
                if key not in columns and len(columns) >= _MOST_COLUMNS:
                    continue
                columns.setdefault(key, []).append((one.get(heading), value))
    return _collect(columns, name)


def _collect(columns: Mapping[str, Iterable[Any]], name: str) -> list[Column]:
    found: list[Column] = []
    for heading, pairs in columns.items():
        numbers: Values = {}
        words: Values = {}
        for key, value in pairs:
            told = read_cell(value)
            if not isinstance(key, str) or told is None:
                continue
            (words if isinstance(told, str) else numbers)[key[:LONGEST_WORD]] = told
        values = numbers if len(numbers) >= len(words) else words
        if values and len(found) < _MOST_COLUMNS:
            found.append(_make_column(heading, values, name, False))
    with_numbers = [column for column in found if not column.has_words]
    return with_numbers or found
