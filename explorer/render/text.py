"""How wide a text is, how it is shortened, and what may stand in a label.

``font_metrics.json`` holds, for the regular and the bold font, ``units_per_em`` and ``runs``:
the code of a first character, then the advance widths of it and its followers; a negative
number ``-n`` stands for the width before it and n - 1 repetitions of it, which are counted
together with it. It is made by ``tools/make_font_metrics.py``.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Hashable, Sequence
from contextvars import ContextVar
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol

#: no label is longer than this, however much room there is
LONGEST_LABEL = 300

_VISIBLE_CONTROLS = {"\n": "↵", "\r": "↵", "\t": "⇥", "\u2028": "↵", "\u2029": "↵", "\u0085": "↵"}
# control characters, lone surrogates, what XML excludes, and what is invisible or reorders
# the text around it
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e0fff]"
)
_CHEAP_TO_MEASURE = 4096


#: the font in which text is measured now: widths by whether it is bold; None for DejaVu Sans
measured_font: ContextVar[MeasuredFont | None] = ContextVar("measured_font", default=None)


class MeasuredFont(Hashable, Protocol):
    """A font other than DejaVu Sans."""

    def widths(self, bold: bool) -> dict[str, float]:
        """Return advance widths in em, also of characters that the font lacks."""
        ...


class _Widths(dict[str, float]):
    """Advance widths in em; what the font lacks gets a likely width.

    A run of neighbouring characters is read when one of it is asked for: of the whole font a first
    picture has a few.
    """

    def __init__(self, units: int, runs: Sequence[Sequence[int]]) -> None:
        self._units = units
        self._unread = dict(enumerate(runs))
        self._starts = [run[0] for run in runs]

    def __missing__(self, character: str) -> float:
        place = bisect_right(self._starts, ord(character)) - 1
        run = self._unread.get(place)
        if run is not None:
            self._read(run)  # before it counts as read: other threads ask as well
            self._unread.pop(place, None)
        width = self.get(character)
        if width is None:
            width = self[character] = _guess_width(character)
        return width

    def _read(self, run: Sequence[int]) -> None:
        code, *numbers = run
        width = 0
        for number in numbers:
            count = 1 if number >= 0 else -number - 1
            width = number if number >= 0 else width
            for _ in range(count):
                self[chr(code)] = width / self._units
                code += 1


def _guess_width(character: str) -> float:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0.0
    return 1.0 if unicodedata.east_asian_width(character) in "WF" else 0.6


@cache
def _read_metrics() -> Any:
    return json.loads(Path(__file__).with_name("font_metrics.json").read_text(encoding="utf-8"))


@cache
def load_widths(bold: bool) -> dict[str, float]:
    """Return the advance widths of DejaVu Sans in em, of whatever character is asked for."""
    font = _read_metrics()["bold" if bold else "regular"]
    return _Widths(font["units_per_em"], font["runs"])


@lru_cache(maxsize=1 << 16)
def _measure_em(text: str, bold: bool, font: MeasuredFont | None) -> float:
    widths = load_widths(bold) if font is None else font.widths(bold)
    return sum(map(widths.__getitem__, text))


def measure_text(text: str, size: float, bold: bool = False) -> float:
    """Return the width of one line of text in pixels at a font size in pixels.

    Kerning is not counted: it makes a line narrower by less than a pixel.
    """
    font = measured_font.get()
    if len(text) > _CHEAP_TO_MEASURE:  # not worth a place in the cache
        return size * _measure_em.__wrapped__(text, bold, font)
    return size * _measure_em(text, bold, font)


def clean_label(text: str, longest: int = LONGEST_LABEL) -> str:
    """Return text as one line that is valid in XML and hides nothing.

    Line ends and tabs become arrows; other control characters, lone surrogates, and invisible
    or direction-changing characters become the replacement character. Of a text longer than
    ``longest`` characters the middle is left out.
    """
    if len(text) > longest:
        head = longest // 3
        text = text[:head] + "…" + text[head + 1 - longest :]
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(lambda match: _VISIBLE_CONTROLS.get(match[0], "\ufffd"), text)


def shorten_text(
    text: str,
    max_width: float,
    size: float,
    bold: bool = False,
    keep: Literal["both", "start"] = "both",
) -> str:
    """Return the text as a label no wider than ``max_width`` pixels.

    Parameters
    ----------
    text
        Any text; it is cleaned first.
    max_width, size, bold
        Room in pixels, and the font.
    keep
        ``both`` leaves out the middle and keeps more of the end, where names differ;
        ``start`` leaves out the end.
    """
    return _shorten(text, max_width, size, bold, keep, measured_font.get())


@lru_cache(maxsize=1 << 14)
def _shorten(
    text: str,
    max_width: float,
    size: float,
    bold: bool,
    keep: Literal["both", "start"],
    _font: MeasuredFont | None,
) -> str:
    text = clean_label(text)
    if measure_text(text, size, bold) <= max_width:
        return text
    low, high = 0, len(text)
    while low < high:
        count = (low + high + 1) // 2
        if measure_text(_elide(text, count, keep), size, bold) <= max_width:
            low = count
        else:
            high = count - 1
    return _elide(text, low, keep)


def _elide(text: str, count: int, keep: Literal["both", "start"]) -> str:
    """Return the text with an ellipsis and ``count`` of its characters."""
    head = count if keep == "start" else count * 2 // 5
    tail = count - head
    return text[:head].rstrip() + "…" + (text[-tail:].lstrip() if tail else "")
