"""A report as the HTML around the explorer: a heading, sections and tables that sort."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from .content import ReportCell, ReportColumn, ReportContent, ReportRow, ReportSection, ReportTable

#: a path may go on in the next line behind these
_AT_A_BREAK = re.compile(r"[./_](?=[^./_])")
_STYLE = Path(__file__).parent / "report.css"


def read_report_style() -> str:
    """Return the style sheet of a report."""
    return _STYLE.read_text("utf-8")


def write_report_head(content: ReportContent) -> str:
    """Return what stands above all: what it is about, the verdict, and the way to each section."""
    verdict = "".join(f"<p>{escape(text)}</p>" for text in content.verdict)
    links = "".join(
        f'<li><a href="#nlr-{section.name}">{escape(section.title)}</a></li>'
        for section in content.sections
        if section
    )
    subtitle = f'<p class="nlr-subtitle">{escape(content.subtitle)}</p>' if content.subtitle else ""
    return (
        f'<header class="nlr-text nlr-head"><h1>{escape(content.title)}</h1>{subtitle}'
        f'<div class="nlr-verdict">{verdict}</div>'
        f'<nav aria-label="Sections"><ul>{links}</ul></nav></header>'
    )


def write_report_article(content: ReportContent) -> str:
    """Return the sections."""
    sections = "".join(_write_section(section) for section in content.sections if section)
    return f'<main class="nlr-text nlr-article">{sections}</main>'


def _write_section(section: ReportSection) -> str:
    text = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in section.text)
    tables = "".join(_write_table(table) for table in section.tables if table.rows)
    colours = _write_colours(section.colours) if section.colours else ""
    name = f"nlr-{section.name}"
    return (
        f'<section id="{name}" aria-labelledby="{name}-title">'
        f'<h2 id="{name}-title">{escape(section.title)}</h2>{colours}{text}{tables}</section>'
    )


def _write_colours(names: tuple[str, ...]) -> str:
    """Return buttons that choose what the picture is coloured by; the first is chosen."""
    buttons = "".join(
        f'<button type="button" data-overlay="{number}" aria-pressed="{str(not number).lower()}">'
        f"{escape(name)}</button>"
        for number, name in enumerate(("None", *names), -1)
    )
    return f'<div class="nlr-colours" role="group" aria-label="Colour boxes by">{buttons}</div>'


def _write_table(table: ReportTable) -> str:
    heads = "".join(map(_write_head, table.columns))
    bodies = "".join(_write_row(row, table.columns) for row in table.rows)
    more = ""
    if table.total > len(table.rows):
        whole = f" <code>{escape(table.whole)}</code> lists all." if table.whole else ""
        more = f'<p class="nlr-quiet">… {table.total - len(table.rows):,} more.{whole}</p>'
    count = f' <span class="nlr-quiet">{table.total:,}</span>' if table.total > 1 else ""
    return (
        f'<div class="nlr-scroll" tabindex="0" role="region" aria-label="{escape(table.title)}">'
        f"<table><caption><span>{escape(table.title)}{count}</span></caption>"
        f"<thead><tr>{heads}</tr></thead>{bodies}</table></div>{more}"
    )


def _write_head(column: ReportColumn) -> str:
    kind = ' class="nlr-number"' if column.is_number else ""
    title = escape(column.title)
    if not title:
        return f"<td{kind}></td>"
    return (
        f'<th scope="col" aria-sort="none"{kind}><button type="button" data-sort>{title}'
        '<span class="nlr-arrow" aria-hidden="true"></span></button></th>'
    )


def _write_row(row: ReportRow, columns: tuple[ReportColumn, ...]) -> str:
    cells = "".join(
        _write_cell(cell, column, row.level if not place else "")
        for place, (cell, column) in enumerate(zip(row.cells, columns, strict=True))
    )
    more = "".join(_write_more(row))
    if more:
        more = f'<tr class="nlr-more"><td colspan="{len(columns)}"><dl>{more}</dl></td></tr>'
    return f"<tbody><tr>{cells}</tr>{more}</tbody>"


def _write_more(row: ReportRow) -> Iterator[str]:
    for label, text in row.more:
        yield f"<div><dt>{escape(label)}</dt><dd>{escape(text)}</dd></div>"


def _write_cell(cell: ReportCell, column: ReportColumn, level: str) -> str:
    kind = "nlr-number" if column.is_number else "nlr-short" if column.is_short else ""
    attributes = f' class="{kind}"' if kind else ""
    if cell.key is not None:
        attributes += f' data-key="{cell.key!r}"'
    text = escape(cell.text)
    if cell.path:
        text = _AT_A_BREAK.sub(r"\g<0><wbr>", text)
    if level:
        text = f'<span class="nlr-level nlr-{level}">{text}</span>'
    if cell.path and text:
        indent = len(cell.text) - len(cell.text.lstrip(" "))
        room = f' style="margin-left:{indent // 2}em"' if indent else ""
        path = escape(cell.path)
        text = f'<button type="button" class="nlr-place" data-path="{path}"{room}>{text}</button>'
    return f"<td{attributes}>{text}</td>"
