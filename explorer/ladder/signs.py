"""Signs: what became of something as strokes, in the list and on the boxes of a ladder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from netloupe.explorer.render.legend import Placed
from netloupe.explorer.render.marks import CircleMark, HatchMark, TextMark
from netloupe.explorer.render.theme import PillColours, Theme

from .account import Tone

#: what a list says of an entry: as a box is painted, or that nothing is
Sign = Tone | Literal["equal", "version", "written"]

SIGN_RADIUS = 10.0
#: half the width of a sign without its circle
SIGN_REACH = 5.5
_STROKE = 2.0
#: of signs in their strokes, around their middle
_STROKES: dict[str, tuple[tuple[float, float, float, float], ...]] = {
    "removed": ((-5, 0, 5, 0),),
    "added": ((-5, 0, 5, 0), (0, -5, 0, 5)),
    "changed": ((0, -5.6, 5.4, 4.2), (5.9, 4.2, -5.9, 4.2), (-5.4, 4.2, 0, -5.6)),
    "exchanged": (
        (-3, 5, -3, -4.6),
        (-5.8, -1.9, -2.4, -5.3),
        (-3.6, -5.3, -0.2, -1.9),
        (3, -5, 3, 4.6),
        (0.2, 1.9, 3.6, 5.3),
        (2.4, 5.3, 5.8, 1.9),
    ),
    "moved": (
        (5, -3, -4.6, -3),
        (-1.9, -5.8, -5.3, -2.4),
        (-5.3, -3.6, -1.9, -0.2),
        (-5, 3, 4.6, 3),
        (1.9, 0.2, 5.3, 3.6),
        (5.3, 2.4, 1.9, 5.8),
    ),
    "equal": ((-5, -2.5, 5, -2.5), (-5, 2.5, 5, 2.5)),
}
#: the size of a question mark, and how far below its middle its line is
_QUESTION, _LEAST_SIZE = (14.0, 5.1), 12.0
_DOT = 1.4
#: the tones of a theme in which boxes and signs are painted
_TONES: dict[str, str] = {
    "removed": "removed",
    "added": "added",
    "exchanged": "note",
    "moved": "note",
    "changed": "changed",
}


def find_colours(sign: Sign, theme: Theme) -> PillColours:
    """Return the colours of a box, and as ``strong`` that of a sign's ground.

    What is the same, equal or not known has the quiet grey of what is beside a model's body.
    """
    if sign in _TONES:
        return theme.tones[_TONES[sign]]
    quiet = theme.category("preparation")
    return PillColours(quiet.tint, quiet.border, quiet.text, quiet.text)


def draw_sign(sign: Sign, x: float, y: float, colour: str, scale: float = 1.0) -> Iterator[Placed]:
    """Yield the strokes of a sign around a place."""
    if sign == "unread":
        size, drop = _QUESTION
        shown = max(size * scale, _LEAST_SIZE)
        mark = TextMark(0, drop * shown / size, "?", shown, True, colour, "middle")
        yield x, y, mark
    elif sign in ("version", "written"):
        for left in (-5.0, 0.0, 5.0):
            yield x, y, CircleMark(left * scale, 0, _DOT * scale, colour, colour, 0.4)
    elif sign in _STROKES:
        lines = tuple(tuple(number * scale for number in line) for line in _STROKES[sign])
        yield x, y, HatchMark(lines, colour, _STROKE * scale)  # type: ignore[arg-type] # fours


def draw_round_sign(sign: Sign, x: float, y: float, theme: Theme) -> Iterator[Placed]:
    """Yield a sign on a round ground in its colour."""
    ground = find_colours(sign, theme).strong
    yield x, y, CircleMark(0, 0, SIGN_RADIUS, ground, ground, 0.4)
    yield from draw_sign(sign, x, y, theme.page)
