"""From what a user gives to colour by, to overlays of a model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from netloupe.explorer.arguments import explain_arguments
from netloupe.explorer.costs.symbols import Bindings
from netloupe.explorer.errors import OverlayError
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import ModelSource, load

from .built_in import BUILT_IN, list_built_in, make_built_in
from .column import Column
from .formats.reading import read_column_files
from .on_model import Overlay
from .python_columns import check_settings, make_columns


@explain_arguments
def overlay(
    model: ModelSource, column: Any, *, bind: Bindings | None = None, **settings: Any
) -> Overlay:
    """Lay numbers or words over a model, to colour its pictures by them.

    Parameters
    ----------
    model
        The model, or its path: what :func:`netloupe.load` gives or takes.
    column
        The name of a column of the model itself: ``parameters``, ``macs``, ``bytes``,
        ``intensity``, ``dtype``, ``findings``. Or a mapping from paths, names of nodes or names of
        outputs to numbers or words; a pandas Series; a DataFrame of one column with names as its
        index; a file, as ``--color-by`` takes it, with ``:heading`` behind where it has several
        columns; what :func:`netloupe.audit` has found beside a float twin (SQNR), or
        :func:`netloupe.diff`; an :class:`Overlay`, or a :class:`Column`.
    bind
        Sizes of symbols for ``macs`` and ``intensity``.
    **settings
        What the numbers mean and how they become colours: see :class:`Column`.

    Returns
    -------
    Overlay
        ``describe_placement()`` says what had no place, ``find_most()`` where most of it is,
        ``measure(path)`` what a node or group has. ``model.to_svg(color_by=…)`` and
        ``explorer.color_by(…)`` take it.

    Raises
    ------
    OverlayError
        Where the column is none, has several, or cannot be read.

    Examples
    --------
    >>> latency = netloupe.overlay(model, "profile.json")
    >>> latency.describe_ranking()
    ['81 % is in 12 of 341 nodes: main/MatMul_3, main/MatMul_9, main/Conv_1 and 9 more']
    """
    found = make_overlays(load(model), [column], bind=bind, **settings)
    if len(found) > 1:
        names = ", ".join(repr(one.name) for one in found[:10])
        raise OverlayError(
            f"{_say(column)} has {len(found):,} columns: {names}. Give one of them, of a file as "
            "'FILE:COLUMN'."
        )
    return found[0]


def make_overlays(
    model: Model, given: Sequence[Any], *, bind: Bindings | None = None, **settings: Any
) -> list[Overlay]:
    """Return the overlays of several columns, of a table one for each of its columns.

    Files are read together, so that a profile of TensorRT finds its layer information.

    Raises
    ------
    OverlayError
        As for :func:`overlay`.
    """
    files: list[tuple[str, str]] = []
    for one in given:
        if isinstance(one, str | os.PathLike) and one not in BUILT_IN:
            files.append(split_heading(os.fsdecode(one)))
    read = read_column_files(list(dict.fromkeys(path for path, _ in files))) if files else []
    chosen = check_settings(settings)
    found: list[Overlay] = []
    for one in given:
        if isinstance(one, Overlay) and not settings and one.model is model:
            found.append(one)
            continue
        if isinstance(one, str) and one in BUILT_IN:
            columns = [make_built_in(model, one, bind)]
        elif isinstance(one, str | os.PathLike):
            columns = _choose_columns(read, *split_heading(os.fsdecode(one)))
        else:
            columns = make_columns(one.column if isinstance(one, Overlay) else one)
        found += [Overlay(model, replace(column, **chosen)) for column in columns]
    if not found:
        raise OverlayError(f"there is nothing to colour by. {list_built_in()}")
    return found


def split_heading(text: str) -> tuple[str, str]:
    """Return the file, and the heading of the column in it, of ``FILE:COLUMN``; "" for none.

    Raises
    ------
    OverlayError
        Where it is neither a file nor one with a heading.
    """
    if Path(text).exists():
        return text, ""
    path, _, heading = text.rpartition(":")
    if path and heading and Path(path).exists():
        return path, heading
    raise OverlayError(
        f"{text[:200]!r} is neither a file nor a column of the model. {list_built_in()}"
    )


def _choose_columns(read: Sequence[Column], path: str, heading: str) -> list[Column]:
    columns = [column for column in read if column.source == path]
    if not heading:
        return columns
    chosen = [column for column in columns if heading == column.heading]  # as the file has it
    chosen = chosen or [
        column for column in columns if heading in (column.name, _write_heading(column))
    ]
    if not chosen:
        names = ", ".join(repr(column.heading or _write_heading(column)) for column in columns[:20])
        raise OverlayError(f"{path}: has no column {heading!r}. It has {names}.")
    return chosen


def _write_heading(column: Column) -> str:
    return f"{column.name} ({column.unit})" if column.unit else column.name


def _say(column: Any) -> str:
    if isinstance(column, str | os.PathLike):
        return os.fsdecode(column)
    return f"the {type(column).__name__}"
