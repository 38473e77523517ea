"""Columns of what Python has: mappings, pandas Series and DataFrames (pandas need not be there)."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

from netloupe.explorer.audit import QuantizationAudit
from netloupe.explorer.compare import Diff
from netloupe.explorer.errors import OverlayError

from .built_in import make_difference, make_sqnr
from .column import ColourStop, Column, is_measurable
from .formats.reading import read_column_file
from .units import guess_meaning

#: what may be said of a column beside its numbers
_SETTINGS = frozenset(
    (
        *("name", "unit", "better", "aggregation", "weights", "scale", "midpoint", "clip"),
        *("thresholds", "gradient", "whole", "order", "tones"),
    )
)


def make_columns(given: Any, **settings: Any) -> list[Column]:
    """Return columns of whatever holds some: one of most, of a table one for each of its columns.

    Parameters
    ----------
    given
        A :class:`Column`; a mapping from names to numbers or words; a pandas Series, or a DataFrame
        with names as its index; a path of a file (see :func:`read_column_file`); what
        :func:`netloupe.audit` has found beside a float twin, and what :func:`netloupe.diff` has.
    **settings
        Fields of :class:`Column`, in place of what is said or guessed: ``unit="ms"``.
        ``thresholds`` may be numbers alone.

    Raises
    ------
    OverlayError
        For anything else, an empty table, an unknown setting, or a value that is neither.
    """
    checked = check_settings(settings)
    return [replace(column, **checked) for column in _take(given)]


def check_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is said of a column, checked.

    Raises
    ------
    OverlayError
        For what is not said of one, or does not fit.
    """
    unknown = sorted(settings.keys() - _SETTINGS)
    if unknown:
        raise OverlayError(
            f"{unknown[0]!r} is nothing that is said of numbers to colour by. "
            f"Choose from {', '.join(sorted(_SETTINGS))}."
        )
    checked = dict(settings)
    for name in ("thresholds", "gradient"):
        if name in checked:
            checked[name] = _take_stops(name, checked[name])
    if checked.get("clip") is not None:
        try:
            low, high = map(float, checked["clip"])
        except (TypeError, ValueError):
            raise OverlayError(
                f"clip is {checked['clip']!r}. Give two percentiles, or None."
            ) from None
        checked["clip"] = (low, high)
    if "order" in checked:
        checked["order"] = tuple(map(str, checked["order"]))
    for name in ("midpoint", "whole"):
        if checked.get(name) is not None:
            checked[name] = _take_number(name, checked[name])
    return checked


def _take_stops(name: str, given: Iterable[Any]) -> tuple[ColourStop, ...]:
    stops = []
    for one in given:
        if isinstance(one, ColourStop):
            stops.append(one)
            continue
        pair = one if isinstance(one, tuple | list) else (one, "")
        if len(pair) != 2 or not isinstance(pair[1], str):
            raise OverlayError(f"{name} has {one!r}. Give numbers, or pairs of number and colour.")
        stops.append(ColourStop(_take_number(name, pair[0]), pair[1]))
    return tuple(sorted(stops, key=lambda stop: stop.at))


def _take_number(name: str, given: Any) -> float:
    if isinstance(given, numbers.Real) and is_measurable(float(given)):
        return float(given)
    raise OverlayError(f"{name} is {given!r}. Give a number.")


def _take(given: Any) -> list[Column]:
    if isinstance(given, Column):
        return [given]
    if isinstance(given, QuantizationAudit):
        return [make_sqnr(given)]
    if isinstance(given, Diff):
        return make_difference(given)
    if isinstance(given, str | PathLike):
        return read_column_file(given)
    pandas = sys.modules.get("pandas")  # what is not imported has made nothing of this
    if pandas is not None and isinstance(given, pandas.DataFrame):
        return _take_frame(given)
    if pandas is not None and isinstance(given, pandas.Series):
        return [_take_mapping(given.items(), "" if given.name is None else str(given.name))]
    if isinstance(given, Mapping):
        return [_take_mapping(given.items(), "")]
    raise OverlayError(
        f"a {type(given).__name__} is nothing to colour by. Give a mapping from names to numbers, "
        "a pandas Series or DataFrame, a file, or the name of a column of the model."
    )


def _take_frame(frame: Any) -> list[Column]:
    if not len(frame.columns):
        raise OverlayError("the DataFrame has no column. Give one whose index is names of nodes.")
    return [_take_mapping(frame[name].items(), str(name)) for name in frame.columns]


def _take_mapping(items: Iterable[tuple[Any, Any]], name: str) -> Column:
    values: dict[str, float | str] = {}
    for key, value in items:
        path = key if isinstance(key, str) else getattr(key, "path", None)
        if not isinstance(path, str):
            raise OverlayError(
                f"{key!r} names no element. Give paths, names of nodes or outputs, or elements of "
                "the model; of a DataFrame they are its index."
            )
        if value is None:
            continue
        if isinstance(value, str):
            values[path] = value
        elif isinstance(value, numbers.Real) or hasattr(value, "__float__"):
            try:
                values[path] = float(value)
            except (TypeError, ValueError):
                raise OverlayError(f"{path!r} has {value!r}, which is no single number.") from None
        else:
            raise OverlayError(f"{path!r} has {value!r}, which is neither a number nor a word.")
    meaning = guess_meaning(name)
    return Column(meaning.name or "value", values, meaning.unit, aggregation=meaning.aggregation)
