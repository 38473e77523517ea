"""What differs between two models as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.compare import Diff, DifferenceEntry, EntryLevel
from netloupe.explorer.notation import write_count
from netloupe.explorer.render.differences import write_difference_counts

from .difference_summary import write_compatibility, write_verdict
from .difference_words import write_difference_entry
from .file_text import write_line

#: so many lines of each kind are shown
_MOST_LINES = 30
#: below so much confidence a pair rests on its neighbours alone (see Pair.confidence)
_CERTAIN = 0.5
REAL = "Differences"
_TITLES: dict[EntryLevel, str] = {
    "moved": "The same in another module",
    "equal": "Equal by calculation",
    "unread": "Could not be read",
    "version": "Other versions",
    "written": "Only written otherwise",
}
#: of all kinds, in the order in which they are told
TITLES = (REAL, *_TITLES.values())


def format_diff(found: Diff) -> str:
    """Return a difference as text: the verdict first, alike changes told once."""
    lines = [
        f"{write_line(found.left.source)} → {write_line(found.right.source)}",
        write_verdict(found),
        write_compatibility(found),
        write_difference_counts(found),
    ]
    for told in list_told(found):
        lines += _list_section(told)
    pairs = found.matching.pairs
    uncertain = sum(pair.confidence < _CERTAIN for pair in pairs)
    if uncertain:
        rest = "rests on its" if uncertain == 1 else "rest on their"
        count = f"{uncertain:,} of {write_count(len(pairs), 'pair')} of nodes"
        why = "no name or weight tells them from others like them"
        lines += ["", f"{count} {rest} neighbours alone: {why}."]
    return "\n".join(lines)


class DifferencePart(NamedTuple):
    """What is told of one kind of difference: a line for each, alike ones together."""

    title: str
    entries: list[str]


def title_of_entry(entry: DifferenceEntry) -> str:
    """Return under which title an entry stands: one for all that is real."""
    return _TITLES.get(entry.level, REAL)


def list_told(found: Diff) -> list[DifferencePart]:
    """Return what is told of a difference below the verdict; only kinds of which there are some.

    What is real comes first, what is only written otherwise last.
    """
    parts: dict[str, list[str]] = {title: [] for title in TITLES}
    for entry in found.entries:
        parts[title_of_entry(entry)].append(write_difference_entry(found, entry))
    return [DifferencePart(title, entries) for title, entries in parts.items() if entries]


def _list_section(told: DifferencePart) -> Iterator[str]:
    yield ""
    yield f"{told.title}: {len(told.entries):,}"
    for entry in told.entries[:_MOST_LINES]:
        yield f"  {entry}"
    if len(told.entries) > _MOST_LINES:
        yield f"  … {len(told.entries) - _MOST_LINES:,} more; --json lists them"
