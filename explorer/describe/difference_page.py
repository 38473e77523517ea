"""What differs between two models as Markdown: the report for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from netloupe.explorer.compare import Diff
from netloupe.explorer.render.differences import write_difference_counts

from .difference_summary import write_compatibility, write_verdict
from .differences import DifferencePart, list_told

#: so many lines of each kind are shown
_MOST_LINES = 40
_TICKS = re.compile("`+")


def format_markdown(found: Diff) -> str:
    """Return a difference as Markdown: verdict and counts first, alike changes told once.

    Names from the models stand in code spans, so that nothing in them is taken for Markdown.
    """
    old, new = (Path(model.source).name or model.source for model in (found.left, found.right))
    lines = [
        f"## {write_code_span(new)} against {write_code_span(old)}",
        "",
        f"**{write_verdict(found)}** {write_compatibility(found)}",
        "",
        write_difference_counts(found),
    ]
    for told in list_told(found):
        lines += _list_part(told)
    return "\n".join(lines) + "\n"


def _list_part(told: DifferencePart) -> Iterator[str]:
    entries = [*told.entries]
    yield ""
    yield f"### {told.title}: {len(entries):,}"
    yield ""
    yield from (f"- {write_code_span(entry)}" for entry in entries[:_MOST_LINES])
    if len(entries) > _MOST_LINES:
        yield f"- … {len(entries) - _MOST_LINES:,} more"


def write_code_span(text: str) -> str:
    """Return text as a code span of Markdown, whatever signs it has."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"{fence}{text or ' '}{fence}"
