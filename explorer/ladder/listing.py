"""The list beside a ladder: every entry of a difference, in the words that all lists have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from netloupe.explorer.compare import Diff, DifferenceEntry, EntryLevel
from netloupe.explorer.describe.difference_words import (
    list_details,
    write_difference_heading,
    write_first_place,
    write_what_differs,
)
from netloupe.explorer.describe.differences import REAL, TITLES, title_of_entry
from netloupe.explorer.describe.file_text import write_line
from netloupe.explorer.render.text import measure_text, shorten_text

from .account import tone_of_entry
from .signs import Sign

#: sizes of texts at a width of 1,100 pixels
TITLE_SIZE, FACT_SIZE, SMALL_SIZE = 14.0, 12.5, 12.0
_LONGEST = 300
_MOST_TITLE_LINES = 2
_MOST_FACT_LINES = 2
_NOTE = "the most important first"
_SIGNS: dict[EntryLevel, Sign] = {"equal": "equal", "version": "version", "written": "written"}


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """One entry of a list, in lines that fit.

    Parameters
    ----------
    number
        Which entry of the difference it is, from 0.
    title, facts
        Lines.
    """

    number: int
    sign: Sign
    title: tuple[str, ...]
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListedSection:
    """Entries of one kind.

    Parameters
    ----------
    title
        What kind.
    note
        What stands at its end: in which order they are.
    numbers
        All entries of the kind, by number from 0.
    """

    title: str
    note: str
    numbers: tuple[int, ...]


def list_sections(found: Diff) -> list[ListedSection]:
    """Return the kinds of entries, what is real first; that one also where there is nothing."""
    numbers: dict[str, list[int]] = {title: [] for title in TITLES}
    for number, entry in enumerate(found.entries):
        numbers[title_of_entry(entry)].append(number)
    return [
        ListedSection(title, _NOTE if title == REAL and len(listed) > 1 else "", tuple(listed))
        for title, listed in numbers.items()
        if listed or title == REAL
    ]


def list_entry(found: Diff, number: int, room: float) -> ListedEntry:
    """Return an entry in lines of a width in pixels."""
    entry = found.entries[number]
    sign = tone_of_entry(entry) or _SIGNS[entry.level]
    title = write_difference_heading(found, entry)
    is_quiet = not entry.is_real and entry.level != "moved"
    return ListedEntry(
        number,
        sign,
        wrap_text(title, room, TITLE_SIZE, _MOST_TITLE_LINES, bold=not is_quiet),
        tuple(
            line
            for fact in _list_facts(found, entry, title)
            for line in wrap_text(fact, room, FACT_SIZE, _MOST_FACT_LINES)
        ),
    )


def _list_facts(found: Diff, entry: DifferenceEntry, title: str) -> list[str]:
    """Return what is known of an entry beside its title: what it is, how far, and where."""
    what = write_what_differs(found, entry)
    if entry.topic == "exchange":  # the names in the title may hold anything
        what = what.removeprefix(f"{title}: ")
    elif entry.topic in ("block", "aspect"):
        what = what.partition(": ")[2] or what.partition(", ")[2]
    details = [text for text in (what, *list_details(entry)) if text and text != title]
    facts = [", ".join(details)] if details else []
    if entry.topic == "block":
        known = entry.groups[0].recognised
        facts = [write_line(known.text, _LONGEST), *facts] if known is not None else facts
    else:
        place = write_first_place(entry)
        facts += [place] if place else []
    return facts


def wrap_text(
    text: str, room: float, size: float, most: int, *, bold: bool = False
) -> tuple[str, ...]:
    """Return a text in lines no wider than a room in pixels; the last one is shortened."""
    lines = [""]
    words = write_line(text, 10 * _LONGEST).split()
    for place, word in enumerate(words):
        longer = f"{lines[-1]} {word}".strip()
        if measure_text(longer, size, bold) <= room or not lines[-1]:
            lines[-1] = longer
        elif len(lines) < most:
            lines.append(word)
        else:
            lines[-1] = " ".join((lines[-1], *words[place:]))[: 10 * _LONGEST]
            break
    last = len(lines) - 1
    return tuple(
        shorten_text(line, room, size, bold, "start" if place == last and last else "both")
        for place, line in enumerate(lines)
    )


def write_tag(numbers: Sequence[int], most: int) -> str:
    """Return the numbers of entries as a box has them: ``1, 3``, or ``1, 3 +7``."""
    shown = ", ".join(f"{number + 1:,}" for number in numbers[:most])
    return f"{shown} +{len(numbers) - most:,}" if len(numbers) > most else shown
