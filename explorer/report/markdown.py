"""A report as Markdown, as GitHub shows it: no picture, and tables of the most important."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .content import ReportCell, ReportContent, ReportRow, ReportSection, ReportTable

#: so many rows of a table are written
_MOST_ROWS = 50
_LONGEST_MORE = 300
_FEW_TO_TELL = 12
_TICKS = re.compile("`+")
#: signs that Markdown, or GitHub beyond it, takes for more than themselves
_SIGNS = str.maketrans({sign: f"&#{ord(sign)};" for sign in "&<>\\`*_[]#|~@$"})


def write_report_markdown(content: ReportContent) -> str:
    """Return a report as Markdown.

    Texts of the model are nothing but text in it: names stand in code spans, and signs that mean
    something in Markdown are written as entities.
    """
    lines = [f"# {escape_markdown(content.title)}"]
    if content.subtitle:
        lines += ["", escape_markdown(content.subtitle)]
    for place, text in enumerate(content.verdict):
        told = escape_markdown(text)
        lines += ["", told if place else f"**{told}**"]
    for section in content.sections:
        if section:
            lines += _write_section(section)
    return "\n".join(lines) + "\n"


def _write_section(section: ReportSection) -> Iterator[str]:
    yield from ("", f"## {escape_markdown(section.title)}")
    for text in section.text:
        yield from ("", escape_markdown(text))
    for table in section.tables:
        if table.rows:
            yield from _write_table(table)


def _write_table(table: ReportTable) -> Iterator[str]:
    yield from ("", f"### {escape_markdown(table.title)}", "")
    yield _join(escape_markdown(column.title) for column in table.columns)
    yield _join("---:" if column.is_number else "---" for column in table.columns)
    rows = table.rows[:_MOST_ROWS]
    for row in rows:
        yield _join(map(_write_cell, row.cells))
    if table.total > len(rows):
        whole = f": `{table.whole}` lists all" if table.whole else ""
        yield from ("", f"… {table.total - len(rows):,} more{whole}")
    told = [row for row in rows if row.more]
    if 0 < len(told) <= _FEW_TO_TELL:
        yield ""
        for row in told:
            yield from _write_more(row)


def _write_more(row: ReportRow) -> Iterator[str]:
    named = [cell for cell in row.cells[1:] if cell.text] or list(row.cells)
    yield f"- {' '.join(map(_write_cell, named[:2]))}"
    for label, text in row.more:
        yield f"  - {escape_markdown(label)}: {escape_markdown(text[:_LONGEST_MORE])}"


def _join(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _write_cell(cell: ReportCell) -> str:
    return write_code_cell(cell.text) if cell.path and cell.text else escape_markdown(cell.text)


def escape_markdown(text: str) -> str:
    """Return text in one line in which nothing is Markdown or HTML."""
    return " ".join(text.split()).translate(_SIGNS)


def write_code_cell(text: str) -> str:
    """Return text as a code span that can stand in a table."""
    line = " ".join(text.split())
    longest = max((len(run) for run in _TICKS.findall(line)), default=0)
    fence = "`" * (longest + 1)
    room = " " if longest else ""
    return f"{fence}{room}{line}{room}{fence}".replace("|", "\\|")
