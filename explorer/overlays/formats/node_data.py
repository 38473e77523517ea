"""Node data of Model Explorer: reading and writing it.

An object with ``results`` by node id or output tensor name, or one such object for each graph id;
``thresholds`` (the largest number of each colour) and ``gradient`` (colours at shares of the way
from the smallest number to the largest) as Model Explorer's node_data_builder.py describes them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netloupe.explorer.errors import OverlayError
from netloupe.explorer.files.output import check_ending, check_place, write_file
from netloupe.explorer.overlays.column import ColourStop, Column
from netloupe.explorer.overlays.units import guess_meaning
from netloupe.explorer.render.theme import load_theme
from netloupe.explorer.render.tones import is_hex

from .text import LONGEST_WORD, read_cell, take_number

if TYPE_CHECKING:
    from os import PathLike

    from netloupe.explorer.overlays.on_model import Overlay

_SHORT = re.compile(r"#([0-9a-f]{3})[0-9a-f]?")
_LONG = re.compile(r"(#[0-9a-f]{6})(?:[0-9a-f]{2})?")
_FUNCTION = re.compile(r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\b[^)]*\)")
_MOST_GRAPHS = 1_000


def is_node_data(told: Any) -> bool:
    """Return whether JSON is node data, of one graph or of several."""
    if not isinstance(told, Mapping):
        return False
    if isinstance(told.get("results"), Mapping):
        return True
    entries = [*told.values()]
    return bool(entries) and all(
        isinstance(one, Mapping) and isinstance(one.get("results"), Mapping) for one in entries
    )


def read_node_data(told: Any, name: str) -> list[Column]:
    """Return the columns of node data: one for each graph.

    Raises
    ------
    OverlayError
        Where a result, a threshold or a colour is none, naming it.
    """
    if isinstance(told.get("results"), Mapping):
        return [_read_graph(told, "", name)]
    if len(told) > _MOST_GRAPHS:
        raise OverlayError(f"{name}: has {len(told):,} graphs; {_MOST_GRAPHS:,} are read at most.")
    return [_read_graph(one, graph, name) for graph, one in told.items()]


def _read_graph(told: Mapping[str, Any], graph: str, name: str) -> Column:
    values: dict[str, float | str] = {}
    colours: dict[str, str] = {}
    for key, result in told["results"].items():
        entry = result if isinstance(result, Mapping) else {"value": result}
        value = read_cell(entry.get("value"))
        if value is None:
            raise OverlayError(
                f"{name}: the result of {key[:200]!r} has no value that is a number or a word."
            )
        values[key[:LONGEST_WORD]] = value
        colour = entry.get("bgColor")
        if colour:
            colours[key[:LONGEST_WORD]] = read_colour(
                colour, f"{name}: the result of {key[:200]!r}"
            )
    title = told.get("name")
    heading = title if isinstance(title, str) and title else graph or "node data"
    meaning = guess_meaning(heading)
    gradient = _read_stops(told.get("gradient"), "gradient", "stop", name)
    return Column(
        meaning.name,
        values,
        meaning.unit,
        aggregation=meaning.aggregation,
        # the gradient wins over thresholds
        thresholds=()
        if gradient
        else _read_stops(told.get("thresholds"), "thresholds", "value", name),
        gradient=gradient,
        colours=colours,
        clip=None,
        source=name,
    )


def _read_stops(told: Any, what: str, at: str, name: str) -> tuple[ColourStop, ...]:
    if told is None:
        return ()
    if not isinstance(told, list):
        raise OverlayError(f"{name}: {what} is no list. Give entries with {at!r} and 'bgColor'.")
    stops = []
    for number, entry in enumerate(told, 1):
        place = f"{name}: entry {number:,} of {what}"
        position = take_number(entry.get(at)) if isinstance(entry, Mapping) else None
        if position is None or not math.isfinite(position):
            raise OverlayError(f"{place} has no number {at!r}.")
        colour = entry.get("bgColor")
        if colour:
            stops.append(ColourStop(position, read_colour(colour, place)))
        elif what == "thresholds":
            stops.append(ColourStop(position))
    return tuple(sorted(stops, key=lambda stop: stop.at))


def read_colour(told: Any, place: str) -> str:
    """Return a colour of CSS as ``#rrggbb``: hexadecimal, ``rgb(…)`` or a name; no transparency.

    Raises
    ------
    OverlayError
        For anything else, naming the place.
    """
    text = told.strip().lower() if isinstance(told, str) else ""
    found = _LONG.fullmatch(text)
    if found:
        return found[1]
    found = _SHORT.fullmatch(text)
    if found:
        return "#" + "".join(letter * 2 for letter in found[1])
    found = _FUNCTION.fullmatch(text)
    if found:
        return "#" + "".join(f"{min(int(channel), 255):02x}" for channel in found.groups())
    if text.isalpha():
        from matplotlib.colors import CSS4_COLORS

        named = CSS4_COLORS.get(text)
        if named is not None:
            return str(named).lower()
    raise OverlayError(f"{place}: {str(told)[:80]!r} is no colour. Give one such as '#ff8800'.")


def write_node_data(overlay: Overlay, path: str | PathLike[str] | None = None) -> str:
    """Return an overlay as node data of Model Explorer; write it to ``path`` where given.

    Results are by the names of the nodes' first outputs, which every adapter of Model Explorer
    knows; a node without an output is left out. Classes of numbers become thresholds, in the
    colours of the light theme. Model Explorer colours a closed group by how many nodes in it have
    each colour, not by their sum.

    Raises
    ------
    OutputError
        Where the file cannot be written, or its name does not end in ``.json``.
    """
    if path is not None:
        check_ending(path, "json")
        check_place(path)
    tones = load_theme("light").tones
    results: dict[str, dict[str, Any]] = {}
    numbers: list[float] = []
    has_words = overlay.column.has_words
    for node, measured in overlay.list_measured():
        output = next((value for value in node.outputs if value is not None), None)
        if output is None or measured.value is None:
            continue
        result: dict[str, Any] = {"value": measured.value}
        if isinstance(measured.value, float):
            numbers.append(measured.value)
            if measured.value.is_integer() and abs(measured.value) < 2**53:
                result["value"] = int(measured.value)
        tone = overlay.paint_of(measured).tone
        if has_words or measured.tone or is_hex(tone):
            result |= {"bgColor": tones[tone].fill, "textColor": tones[tone].text}
        results[output.name] = result
    told: dict[str, Any] = {"name": _write_title(overlay.column), "results": results}
    scale = overlay.scale if not has_words else None
    if scale is not None and scale.kind != "gradient" and numbers:
        told["thresholds"] = [
            {"value": most, "bgColor": tones[tone].fill, "textColor": tones[tone].text}
            for tone, most in scale.list_classes(max(numbers))
        ]
    text = json.dumps({overlay.model.graph.name or "main": told}, indent=1, ensure_ascii=False)
    if path is not None:
        write_file(path, text.encode("utf-8", "backslashreplace"))
    return text


def _write_title(column: Column) -> str:
    return f"{column.name} ({column.unit})" if column.unit else column.name
