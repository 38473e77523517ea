"""What a report says, before it is HTML or Markdown: sections of sentences and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: a table shows so many rows, and says how many there are
MOST_TABLE_ROWS = 500

_LITTLE = 0.0005

#: how a row is marked: a severity, or what became of an element
RowLevel = Literal["", "error", "warning", "note", "added", "removed", "changed"]


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """One column of a table.

    Parameters
    ----------
    title
        With unit and direction where it has numbers: ``SQNR, dB ↑``.
    is_short
        Whether all texts in it are short, as ids of rules: they are not wrapped.
    """

    title: str
    is_number: bool = False
    is_short: bool = False


@dataclass(frozen=True, slots=True)
class ReportCell:
    """What stands in a column of a row.

    Parameters
    ----------
    key
        The number that rows are sorted by; None where they are by the text, or where the number
        is not known.
    path
        Of the element that it names, which a picture can show; "" for none.
    """

    text: str
    key: float | None = None
    path: str = ""


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One row of a table.

    Parameters
    ----------
    cells
        One for each column.
    more
        What else is said of it, as labels and texts.
    """

    cells: tuple[ReportCell, ...]
    more: tuple[tuple[str, str], ...] = ()
    level: RowLevel = ""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table.

    Parameters
    ----------
    rows
        Those that are shown.
    total
        How many there are.
    whole
        What lists all of them, where these are more: a command.
    """

    title: str
    columns: tuple[ReportColumn, ...]
    rows: tuple[ReportRow, ...]
    total: int
    whole: str = ""


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A part of a report under a title.

    Parameters
    ----------
    name
        Of its place in a page: ``findings``.
    text
        Sentences, a paragraph each.
    tables
        Tables after them.
    colours
        Names of what boxes can be coloured by, in the order of the picture's menu, the first one
        chosen: a page lets choose among them here.
    """

    name: str
    title: str
    text: tuple[str, ...] = ()
    tables: tuple[ReportTable, ...] = ()
    colours: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text or any(table.rows for table in self.tables))


@dataclass(frozen=True, slots=True)
class ReportContent:
    """A report.

    Parameters
    ----------
    title
        The model's name.
    subtitle
        What it is compared with; "" for nothing.
    verdict
        The most important of all sections, in sentences.
    """

    title: str
    subtitle: str
    verdict: tuple[str, ...]
    sections: tuple[ReportSection, ...]


def make_report_table(
    title: str,
    columns: tuple[ReportColumn, ...],
    rows: list[ReportRow],
    total: int | None = None,
    whole: str = "",
) -> ReportTable:
    """Return a table of the first of some rows, of which there are ``total``; all where None."""
    count = len(rows) if total is None else total
    return ReportTable(title, columns, tuple(rows[:MOST_TABLE_ROWS]), count, whole)


def make_share_cell(share: float | None) -> ReportCell:
    """Return the cell of a share, 0 to 1, in per cent; an empty one where it is not known."""
    if share is None:
        return ReportCell("")
    is_little = 0 < share < _LITTLE
    return ReportCell("< 0.1 %" if is_little else f"{100 * share:.1f} %", share)
