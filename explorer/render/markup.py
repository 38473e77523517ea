"""Pieces of HTML that summaries are made of: heads, tables, lists, warnings.

Every text that comes from a model is cleaned and escaped here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from pathlib import Path

from .text import clean_label

MOST_ROWS = 20
QUIET = 'class="nl-quiet" style="opacity:.7"'

Fact = tuple[str, str]  # a plain name, and HTML


@cache
def _style() -> str:
    return Path(__file__).with_name("repr.css").read_text(encoding="utf-8")


def wrap_parts(parts: Iterable[str]) -> str:
    """Return parts of HTML as one, with the style sheet."""
    content = "\n".join(part for part in parts if part)
    return f'<div class="nl-repr"><style>{_style()}</style>\n{content}</div>'


def escape_label(text: str, longest: int = 300) -> str:
    """Return a text of a model, cleaned, shortened and escaped."""
    return escape(clean_label(text, longest))


def write_code(text: str) -> str:
    """Return a text of a model as code."""
    return f"<code>{escape_label(text)}</code>"


def write_note(text: str) -> str:
    """Return a remark behind a text: a dot keeps them apart where styles do not."""
    return f'<span class="nl-separator"> · </span><span {QUIET}>{escape_label(text)}</span>'


def write_head(title: str, kind: str) -> str:
    """Return a title and what kind of thing it is."""
    named = f'<strong class="nl-title">{escape_label(title)}</strong>'
    return f'<div class="nl-head">{named}{write_note(kind)}</div>'


def write_table(facts: Iterable[Fact]) -> str:
    """Return facts as a table of two columns."""
    head = '<th scope="row" style="font-weight:normal;opacity:.7;text-align:left">'
    rows = "\n".join(f"<tr>{head}{escape_label(k)}</th> <td>{v}</td></tr>" for k, v in facts)
    return f'<table class="nl-facts">\n{rows}\n</table>' if rows else ""


def write_details(title: str, rows: Sequence[Fact], count: int = -1, opened: bool = False) -> str:
    """Return a list that can be folded; at most ``MOST_ROWS`` of ``count`` rows are shown."""
    if not rows:
        return ""
    count = len(rows) if count < 0 else count
    hidden = count - min(len(rows), MOST_ROWS)
    more = f"<div {QUIET}>… {hidden:,} more</div>" if hidden > 0 else ""
    return (
        f"<details{' open' if opened else ''}><summary>{escape(title)} ({count:,})</summary>"
        f"{write_table(rows[:MOST_ROWS])}{more}</details>"
    )


def write_warnings(messages: Sequence[str]) -> str:
    """Return warnings, a line each."""
    shown = "".join(
        f'<div class="nl-warning">⚠ {escape_label(message)}</div>'
        for message in messages[:MOST_ROWS]
    )
    hidden = len(messages) - MOST_ROWS
    return shown + (f"<div {QUIET}>… {hidden:,} more</div>" if hidden > 0 else "")
