"""Tables of many models as CSV (RFC 4180), written row by row."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from netloupe.explorer.describe.file_text import write_line

from .running import print_json
from .streams import write_standard_output

_LONGEST_CELL = 2_000
#: programs for tables take a text that begins so for a formula, and compute it
_FORMULA = ("=", "+", "-", "@")


class CsvTable:
    """A table on the standard output.

    Parameters
    ----------
    columns
        Their names, in order.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns
        self._is_begun = False

    def add(self, row: Mapping[str, object]) -> None:
        """Write a row; columns that it lacks are empty.

        Texts are written on one line, without anything that a terminal would obey, and with an
        apostrophe before what a program for tables would compute.
        """
        lines = io.StringIO()
        writer = csv.writer(lines, lineterminator="\n")
        if not self._is_begun:
            writer.writerow(self._columns)
            self._is_begun = True
        writer.writerow([_write_cell(row.get(name)) for name in self._columns])
        write_standard_output(lines.getvalue().removesuffix("\n"))


class SummaryPrinter:
    """Prints what was found out about each of some models: text, JSON or the row of a table.

    Parameters
    ----------
    columns
        Of the table, among them ``model`` and ``error``; None where none is asked for.
    make_row
        Makes a row of what JSON has.
    is_json
        Whether JSON is printed.
    several
        Whether there are several models, or might have been.
    schema
        Of the JSON.
    """

    def __init__(
        self,
        columns: Sequence[str] | None,
        make_row: Callable[[dict[str, Any]], Mapping[str, object]],
        *,
        is_json: bool,
        several: bool,
        schema: int,
    ) -> None:
        self._table = None if columns is None else CsvTable(columns)
        self._make_row = make_row
        self._is_json = is_json
        self._has_several = several
        self._schema = schema

    def tell(self, told: dict[str, Any] | str) -> int:
        """Print what came of a model, and return the exit status."""
        if isinstance(told, str):
            write_standard_output(told + "\n" * self._has_several)
        elif self._table is not None:
            self._table.add(self._make_row(told))
        else:
            print_json(told, self._has_several)
        return 0

    def tell_error(self, name: str, error: str) -> None:
        """Print that a model cannot be read, where there is a row or line for each."""
        if self._table is not None:
            self._table.add({"model": name, "error": error})
        elif self._is_json and self._has_several:
            told = {"schema": self._schema, "source": name, "error": error}
            print_json(told, self._has_several)


def _write_cell(value: object) -> object:
    if not isinstance(value, str):
        return "" if value is None else value
    text = write_line(value, _LONGEST_CELL)
    return f"'{text}" if text.startswith(_FORMULA) else text
