"""Fonts other than DejaVu Sans: their widths, as matplotlib finds them on this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import groupby
from typing import Any

from .text import load_widths, measured_font

#: pixels in which a font is measured: large, so that nothing is rounded
_SIZE = 1000


class FoundFont:
    """A family of fonts on this machine."""

    def __init__(self, family: str) -> None:
        self.family = family
        self._known: dict[str, bool] = {}
        self._widths = {bold: _FontWidths(family, bold) for bold in (False, True)}

    def widths(self, bold: bool) -> dict[str, float]:
        """Return advance widths in em; where the font lacks a character those of DejaVu Sans."""
        return self._widths[bold]

    def has(self, character: str) -> bool:
        """Return whether the family has a character: the same in regular and bold letters."""
        known = self._known.get(character)
        if known is None:
            known = all(one.has(character) for one in self._widths.values())
            self._known[character] = known
        return known

    def split(self, text: str) -> Iterator[tuple[str, bool]]:
        """Yield the pieces of a text, each with whether the family has all or none of it."""
        for is_here, characters in groupby(text, self.has):
            yield "".join(characters), is_here


class _FontWidths(dict[str, float]):
    def __init__(self, family: str, bold: bool) -> None:
        from matplotlib.font_manager import FontProperties, findfont, get_font

        super().__init__()
        properties = FontProperties(family=family, weight="bold" if bold else "normal")
        with silent_about_weights():
            self._font: Any = get_font(findfont(properties, fallback_to_default=False))
        self._others = load_widths(bold)

    def has(self, character: str) -> bool:
        """Return whether the font draws a character, and no other one in its place.

        Fonts with an encoding of their own, as those of TeX, do so: the glyph at "<" is called
        ``exclamdown`` there. Names are those of the Adobe Glyph List.
        """
        from fontTools.agl import AGL2UV

        index = self._font.get_char_index(ord(character))
        if not index:
            return False
        named: int = AGL2UV.get(self._font.get_glyph_name(index), ord(character))
        return named == ord(character)

    def __missing__(self, character: str) -> float:
        width = self._others[character]
        if self.has(character):
            self._font.set_size(_SIZE, 72)
            width = self._font.load_char(ord(character)).linearHoriAdvance / 65536 / _SIZE
        self[character] = width
        return width


@cache
def find_font(family: str) -> FoundFont | None:
    """Return a family by its name in letters of any case; None where it is not here."""
    from matplotlib.font_manager import fontManager

    names = {entry.name.lower(): entry.name for entry in fontManager.ttflist}
    name = names.get(family.lower())
    return FoundFont(name) if name is not None else None


@contextmanager
def silent_about_weights() -> Iterator[None]:
    """Let matplotlib say nothing of a family without bold letters while it lasts.

    The letters that it has are drawn instead, as is meant; who asks for a picture did not choose
    the families that stand in for DejaVu Sans, and can do nothing about them.
    """
    logger = logging.getLogger("matplotlib.font_manager")

    def is_something_else(record: logging.LogRecord) -> bool:
        return not str(record.msg).startswith("findfont: Failed to find font weight")

    logger.addFilter(is_something_else)
    try:
        yield
    finally:
        logger.removeFilter(is_something_else)


@contextmanager
def writing_in(family: str) -> Iterator[FoundFont | None]:
    """Measure and draw all text in a family while it lasts; in DejaVu Sans where it is not here."""
    found = find_font(family) if family else None
    token = measured_font.set(found)
    try:
        yield found
    finally:
        measured_font.reset(token)


def font_in_use() -> FoundFont | None:
    """Return the family in which text is measured now; None for DejaVu Sans."""
    found = measured_font.get()
    return found if isinstance(found, FoundFont) else None
