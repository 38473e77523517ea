"""Descriptions as HTML, from small functions that escape every text of a model.

Links are buttons with the path that they lead to; ``description_text.ts`` tells which is pressed.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import groupby
from urllib.parse import quote, unquote

from netloupe.explorer.describe import Description, Row, Section
from netloupe.explorer.model import ModelWarning

from .markdown import write_markdown

#: a long list of links is shown by so many at a time
MOST_LINKS = 40
_MOST_WARNINGS = 20
#: of a long text this much is shown before the part that unfolds
_LONGEST_PARAGRAPH = 600
#: a fact of more lines or characters than this unfolds
_MOST_LINES = 4
_LONGEST_FACT = 400


def write_header(description: Description) -> str:
    """Return the title, what kind of element it is, its path, and its warnings.

    Several values have a path each, which their rows lead to.
    """
    path = "" if description.kind == "values" else description.path[:2_000]
    subtitle = _set_apart(description.subtitle, description.inferred)
    return (
        '<div class="nl-inspector-header">'
        f'<div class="nl-inspector-kind">{escape(description.kind)}</div>'
        f'<div class="nl-inspector-title" role="heading" aria-level="2">{escape(description.title)}'
        "</div>"
        f'<div class="nl-inspector-subtitle">{subtitle}</div>'
        + (f'<code class="nl-inspector-path">{escape(path)}</code>' if path else "")
        + f"{_write_warnings(description.warnings)}</div>"
    )


def write_description(description: Description, weight: int | None = None) -> str:
    """Return a description that unfolds by itself.

    Parameters
    ----------
    description
        The description.
    weight
        The number of the weight that is shown below the first section; None for none.
    """
    parts = [write_unfolding(section) for section in description.sections]
    if weight is not None:
        parts.insert(1, write_weight_place(weight))
    return write_header(description) + "".join(parts)


def write_weight_place(weight: int) -> str:
    """Return the place in which what is said of a weight's elements is shown."""
    return f'<div class="nl-inspector-weight" data-weight="{weight}"></div>'


def write_error(message: str) -> str:
    """Return an error message."""
    return f'<div class="nl-inspector-error" role="alert">{escape(message)}</div>'


def write_title(section: Section) -> str:
    """Return the title of a section."""
    return (
        '<div class="nl-inspector-section-title" role="heading" aria-level="3">'
        f"{escape(section.title)}</div>"
    )


def write_section(section: Section) -> str:
    """Return a section: its title, a table of its rows, and its text."""
    write = _write_markdown if section.is_markdown else _write_text
    body = write_rows(section.rows) + write(section.text)
    if not section.is_hidden:
        return write_title(section) + body
    count = f' <span class="nl-inspector-note">{len(section.rows):,}</span>' if section.rows else ""
    return (
        '<details class="nl-inspector-folded"><summary class="nl-inspector-section-title">'
        f"{escape(section.title)}{count}</summary>{body}</details>"
    )


def write_pages(section: Section, number: int, most: int) -> str:
    """Return a section's title and first rows, and a button that asks for the next ones.

    Parameters
    ----------
    section
        The section.
    number
        What the button asks with.
    most
        The number of rows that are shown.
    """
    left = len(section.rows) - most
    html = write_title(section) + write_rows(section.rows[:most])
    if left <= 0:
        return html + _write_text(section.text)
    of_all = f" of {left:,}" if left > MOST_LINKS else ""
    return (
        f'{html}<button type="button" class="nl-inspector-link nl-inspector-more" '
        f'data-more="{number}">Show {min(left, MOST_LINKS):,} more{of_all}</button>'
    )


def write_unfolding(section: Section) -> str:
    """Return a section as :func:`write_section` does, with a long list of links folded."""
    rows = section.rows
    if section.is_hidden or len(rows) <= MOST_LINKS or not any(row.path for row in rows):
        return write_section(section)
    more = (
        f"<details><summary>{len(rows) - MOST_LINKS:,} more</summary>"
        f"{write_rows(rows[MOST_LINKS:])}</details>"
    )
    return write_title(section) + write_rows(rows[:MOST_LINKS]) + more + _write_text(section.text)


def write_rows(rows: Iterable[Row]) -> str:
    """Return rows: those that lead somewhere as buttons, the others as tables."""
    return "".join(
        "".join(map(_write_link, group)) if is_link else _write_table(group)
        for is_link, group in groupby(rows, lambda row: bool(row.path))
    )


def write_path(path: str) -> str:
    """Return a path as an attribute of an element, where the browser changes nothing of it."""
    return quote(path, safe="/", errors="surrogatepass")


def read_path(attribute: str) -> str:
    """Return the path that :func:`write_path` wrote."""
    return unquote(attribute, errors="surrogatepass")


def _write_link(row: Row) -> str:
    # no-break spaces: a long value is broken inside rather than moved to the next line
    head = _set_apart(row.value, row.inferred)
    if row.name:
        head = f"{escape(row.name)}\u00a0\u00a0\u00a0{head}"
    note = _set_apart(row.note, row.inferred)
    note = f'<span class="nl-inspector-link-note">{note}</span>' if note else ""
    return (
        f'<button type="button" class="nl-inspector-link" data-path="{write_path(row.path)}" '
        f'title="{escape(row.path[:1_000])}">'
        f'<span class="nl-inspector-link-head">{head}</span>{note}</button>'
    )


def _write_table(rows: Iterable[Row]) -> str:
    """Return rows as a table of two columns."""
    cells = "".join(
        f'<tr><th scope="row">{escape(row.name)}</th><td>{_write_fact(row.value, row.inferred)}'
        f"{_write_note(row.note)}</td></tr>"
        for row in rows
    )
    return f'<table class="nl-inspector-facts">{cells}</table>' if cells else ""


def _write_note(note: str) -> str:
    return f' <span class="nl-inspector-note">{escape(note)}</span>' if note else ""


def _set_apart(text: str, inferred: str) -> str:
    """Return a text with the part in italics that does not stand in the file."""
    if not inferred:
        return escape(text)
    before, part, after = text.partition(inferred)
    return escape(before) + (f"<i>{escape(part)}</i>" if part else "") + escape(after)


def _write_fact(text: str, inferred: str = "") -> str:
    lines = text.split("\n")
    if len(lines) <= _MOST_LINES and len(text) <= _LONGEST_FACT:
        return f'<span class="nl-inspector-fact">{_set_apart(text, inferred)}</span>'
    first = next((line for line in lines if line.strip()), "")[:120]
    return (
        f"<details><summary>{escape(first)} …</summary>"
        f'<pre class="nl-inspector-text">{escape(text)}</pre></details>'
    )


def _write_markdown(text: str) -> str:
    """Return the first block of a text, and the others in a part that unfolds."""
    first, *others = write_markdown(text) or ("",)
    shown = f'<div class="nl-inspector-prose">{first}</div>' if first else ""
    if not others:
        return shown
    return (
        f"{shown}<details><summary>more</summary>"
        f'<div class="nl-inspector-prose">{"".join(others)}</div></details>'
    )


def _write_text(text: str) -> str:
    """Return the first paragraph of a text, and the rest in a part that unfolds."""
    if not text:
        return ""
    first, _, rest = text.partition("\n\n")
    if len(first) > _LONGEST_PARAGRAPH:
        rest = first[_LONGEST_PARAGRAPH:] + ("\n\n" + rest if rest else "")
        first = first[:_LONGEST_PARAGRAPH] + "…"
    shown = f'<div class="nl-inspector-text">{escape(first)}</div>'
    if not rest.strip():
        return shown
    return (
        f"{shown}<details><summary>more</summary>"
        f'<div class="nl-inspector-text">{escape(rest.strip())}</div></details>'
    )


def _write_warnings(warnings: tuple[ModelWarning, ...]) -> str:
    if not warnings:
        return ""
    lines = [f"<li>{escape(str(warning)[:1_000])}</li>" for warning in warnings[:_MOST_WARNINGS]]
    hidden = len(warnings) - _MOST_WARNINGS
    if hidden > 0:
        lines.append(f"<li>… {hidden:,} more</li>")
    return f'<ul class="nl-inspector-warnings">{"".join(lines)}</ul>'
