"""Tables of many models as CSV (RFC 4180), written row by row."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from netloupe.explorer.describe.file_text import write_line

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


def _write_cell(value: object) -> object:
    if not isinstance(value, str):
        return "" if value is None else value
    text = write_line(value, _LONGEST_CELL)
    return f"'{text}" if text.startswith(_FORMULA) else text
