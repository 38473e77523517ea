"""The key: one line at the foot of a picture that says what its hues mean.

It is a small legend of colours alone; :mod:`netloupe.explorer.render.legend` explains signs too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from netloupe.explorer.layout import Scene
from netloupe.explorer.view import Item

from .category import HUES
from .face import Face
from .legend import Placed, load_words, walk_items
from .marks import RectMark, TextMark
from .paint import NO_PAINTS, Paints
from .sizes import TEXT_STYLES
from .text import measure_text
from .theme import Theme

#: fewer hues need no words
_LEAST_HUES = 2
_TEXT = TEXT_STYLES["text"]
_SAMPLE = (17.0, 12.0, 3.0)
_SAMPLE_BORDER = 1.2
#: from a sample to its word, and from there to the next sample
_GAP, _BETWEEN = 6.0, 18.0
_ROW = 18.0
_ABOVE = 12.0
_BASELINE = 12.8


def list_hues(
    scene: Scene, face_of: Callable[[Item], Face], paints: Paints = NO_PAINTS
) -> list[str]:
    """Return the hues of a picture, as categories, where there are several of them.

    What is painted has no hue of its own.
    """
    faces = (
        face_of(item)
        for item in walk_items(scene)
        if item.is_open or not getattr(paints.get(item.path), "tone", "")
    )
    found = {face.category for face in faces if face.outline not in ("stub", "junction", "caption")}
    hues = [hue for hue in HUES if hue in found]
    return hues if len(hues) >= _LEAST_HUES else []


class Key:
    """Hues and their words in one line, or in as few as there is room for.

    Parameters
    ----------
    hues
        Categories.
    """

    def __init__(self, hues: Sequence[str]) -> None:
        words = load_words()["key"]
        self.entries = [(hue, words[hue]) for hue in hues]
        self._widths = [_SAMPLE[0] + _GAP + measure_text(text, *_TEXT) for _, text in self.entries]

    @property
    def least_width(self) -> float:
        """Width of the widest entry."""
        return max(self._widths, default=0.0)

    def _break(self, width: float) -> list[list[int]]:
        """Return the numbers of the entries of each line in a width."""
        lines: list[list[int]] = []
        end = 0.0
        for number, one in enumerate(self._widths):
            if lines and end + _BETWEEN + one <= width:
                lines[-1].append(number)
                end += _BETWEEN + one
            else:
                lines.append([number])
                end = one
        return lines

    def height(self, width: float) -> float:
        """Return how high it is in a width."""
        return _ABOVE + _ROW * len(self._break(width)) if self.entries else 0.0

    def place(self, width: float, theme: Theme) -> Iterable[Placed]:
        """Yield its marks from its top left corner, each line in the middle of a width."""
        across, high, radius = _SAMPLE
        for row, numbers in enumerate(self._break(width)):
            whole = sum(self._widths[number] for number in numbers) + _BETWEEN * (len(numbers) - 1)
            x, y = (width - whole) / 2, _ABOVE + _ROW * row
            for number in numbers:
                hue, text = self.entries[number]
                colours = theme.category(hue)
                sample = RectMark(
                    *(0, 3, across, high, radius, colours.tint, colours.border, _SAMPLE_BORDER)
                )
                yield x, y, sample
                yield x, y, TextMark(across + _GAP, _BASELINE, text, *_TEXT, theme.muted)
                x += self._widths[number] + _BETWEEN
