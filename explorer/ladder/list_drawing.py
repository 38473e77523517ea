"""The list beside a ladder as marks: sections, signs, titles and facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from netloupe.explorer.compare import Diff
from netloupe.explorer.render.legend import Placed
from netloupe.explorer.render.marks import LineMark, MarkedPiece, TextMark
from netloupe.explorer.render.text import measure_text
from netloupe.explorer.render.theme import Theme

from .listing import (
    FACT_SIZE,
    SMALL_SIZE,
    TITLE_SIZE,
    ListedEntry,
    ListedSection,
    list_entry,
    list_sections,
    wrap_text,
)
from .signs import SIGN_RADIUS, draw_round_sign

LEFT, RIGHT = 36.0, 508.0
_TEXT_LEFT = 68.0
#: for the number of an entry
_NUMBER_ROOM = 40.0
_TITLE_ROW, _FACT_ROW = 18.0, 17.0
_HEADING, _RULE = 18.0, 10.0
_ABOVE_FIRST, _BETWEEN_ENTRIES, _BETWEEN_SECTIONS = 14.0, 12.0, 26.0
_ABOVE_FOOT = 24.0
#: so many entries of a kind are shown at least, where there are so many, and at most
_LEAST_SHOWN, _MOST_SHOWN = 4, 40
_MOST_REAL = 8


class ListDrawing:
    """Draws the list of all entries, as many as there is room for.

    Parameters
    ----------
    found
        What differs.
    marked
        Numbers of the entries that have marks in the ladder: these are numbered.
    theme
        The colours.
    foot
        Sentences below it.
    """

    def __init__(
        self, found: Diff, marked: frozenset[int], theme: Theme, foot: Sequence[str]
    ) -> None:
        self._found, self._marked, self._theme, self._foot = found, marked, theme, foot
        self._sections = list_sections(found)
        self._known: dict[int, ListedEntry] = {}

    def draw(self, top: float, room: float) -> tuple[list[MarkedPiece], float]:
        """Return the list below a height, and how far down it reaches.

        Parameters
        ----------
        top
            Where it begins.
        room
            How high it may be; a few entries of each kind are shown in any case.
        """
        most = _MOST_SHOWN
        pieces, bottom = self._draw(top, most)
        while bottom - top > room and most > 1:
            most -= 1
            pieces, bottom = self._draw(top, most)
        return pieces, bottom

    def _draw(self, top: float, most: int) -> tuple[list[MarkedPiece], float]:
        pieces: list[MarkedPiece] = []
        y = top
        for place, section in enumerate(self._sections):
            least = _LEAST_SHOWN if place else _MOST_REAL
            shown = section.numbers[: max(most, least)]
            pieces.append(MarkedPiece((*self._draw_heading(section, y),)))
            y += _HEADING + _RULE + _ABOVE_FIRST
            for number in shown:
                entry = self._list(number)
                pieces.append(MarkedPiece((*self._draw_entry(entry, y),), "entry", ""))
                y += _measure(entry) + _BETWEEN_ENTRIES
            rest = len(section.numbers) - len(shown)
            if rest or not shown:
                text = f"… {rest:,} more" if rest else "none"
                pieces.append(MarkedPiece((self._write(text, y + FACT_SIZE),)))
                y += _FACT_ROW + _BETWEEN_ENTRIES
            y += _BETWEEN_SECTIONS - _BETWEEN_ENTRIES
        y -= _BETWEEN_SECTIONS - _ABOVE_FOOT
        for sentence in self._foot:
            for line in wrap_text(sentence, RIGHT - LEFT, SMALL_SIZE, 3):
                mark = TextMark(LEFT, y + SMALL_SIZE, line, SMALL_SIZE, False, self._theme.muted)
                pieces.append(MarkedPiece(((0.0, 0.0, mark),)))
                y += _FACT_ROW
        return pieces, y

    def _list(self, number: int) -> ListedEntry:
        if number not in self._known:
            room = RIGHT - _TEXT_LEFT - _NUMBER_ROOM
            self._known[number] = list_entry(self._found, number, room)
        return self._known[number]

    def _draw_heading(self, section: ListedSection, y: float) -> Iterator[Placed]:
        theme, baseline = self._theme, y + TITLE_SIZE
        yield 0.0, 0.0, TextMark(LEFT, baseline, section.title, TITLE_SIZE, True, theme.ink)
        left = LEFT + measure_text(section.title, TITLE_SIZE, bold=True) + 12
        count = f"{len(section.numbers):,}"
        yield 0.0, 0.0, TextMark(left, baseline, count, TITLE_SIZE, False, theme.muted)
        if section.note:
            mark = TextMark(RIGHT, baseline, section.note, SMALL_SIZE, False, theme.muted, "end")
            yield 0.0, 0.0, mark
        line = LineMark(LEFT, y + _HEADING + 6, RIGHT - LEFT, theme.rule)
        yield 0.0, 0.0, line

    def _draw_entry(self, entry: ListedEntry, y: float) -> Iterator[Placed]:
        theme = self._theme
        middle = y + _TITLE_ROW / 2
        yield from draw_round_sign(entry.sign, LEFT + SIGN_RADIUS, middle, theme)
        baseline = y + TITLE_SIZE
        is_marked = entry.number in self._marked
        for line in entry.title:
            yield 0.0, 0.0, TextMark(_TEXT_LEFT, baseline, line, TITLE_SIZE, is_marked, theme.ink)
            baseline += _TITLE_ROW
        for line in entry.facts:
            yield 0.0, 0.0, TextMark(_TEXT_LEFT, baseline, line, FACT_SIZE, False, theme.muted)
            baseline += _FACT_ROW
        if is_marked:
            number = f"{entry.number + 1:,}"
            mark = TextMark(RIGHT, y + TITLE_SIZE, number, SMALL_SIZE, False, theme.muted, "end")
            yield 0.0, 0.0, mark

    def _write(self, text: str, baseline: float) -> Placed:
        mark = TextMark(_TEXT_LEFT, baseline, text, FACT_SIZE, False, self._theme.muted)
        return 0.0, 0.0, mark


def _measure(entry: ListedEntry) -> float:
    return len(entry.title) * _TITLE_ROW + len(entry.facts) * _FACT_ROW
