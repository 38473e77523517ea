"""A description as plain text for a terminal."""

from __future__ import annotations

from .description import Description, Row, Section
from .file_text import write_line

_WIDEST_NAME = 28
_MOST_WARNINGS = 20


def format_text(description: Description) -> str:
    """Return a description as lines of text, names in one column and facts in the next."""
    lines = [description.title]
    if description.subtitle:
        lines[0] += f"  ({description.subtitle})"
    lines.append(write_line(description.path, 1_000))
    for warning in description.warnings[:_MOST_WARNINGS]:
        lines.append(f"warning: {write_line(str(warning), 1_000)}")
    hidden = len(description.warnings) - _MOST_WARNINGS
    if hidden > 0:
        lines.append(f"warning: … {hidden:,} more")
    for section in description.sections:
        lines += ["", section.title, *_format_section(section)]
    return "\n".join(lines) + "\n"


def _format_section(section: Section) -> list[str]:
    width = min(max((len(row.name) for row in section.rows), default=0), _WIDEST_NAME)
    lines = [line for row in section.rows for line in _format_row(row, width)]
    lines += [f"  {line}".rstrip() for line in section.text.split("\n")] if section.text else []
    return lines


def _format_row(row: Row, width: int) -> list[str]:
    first, *others = row.value.split("\n")
    note = f"  ({row.note})" if row.note else ""
    if len(row.name) > _WIDEST_NAME:
        lines = [f"  {row.name}", f"  {'':{width}}  {first}"]
    else:
        lines = [f"  {row.name:{width}}  {first}"]
    lines += [f"  {'':{width}}  {line}".rstrip() for line in others]
    lines[-1] += note
    return lines
