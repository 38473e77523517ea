"""Paint: colours and marks by path, laid over faces and edges that stay as they are.

What is painted is told by path, whoever tells it: a value that was measured, what has changed
between two models, what a rule has found. No face is made anew for it, so that painting costs
what is painted, and equal boxes go on sharing a face.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from netloupe.explorer.arguments import explain_methods
from netloupe.explorer.errors import ViewError

from .tones import is_hex


@explain_methods()
@dataclass(frozen=True, slots=True)
class Paint:
    """How one box or edge is painted.

    Parameters
    ----------
    tone
        A key of ``tones`` in ``themes.json``, which has its colours in every theme:
        ``added``, ``removed``, ``changed``, ``note``, ``warning``, ``error``, one of ``scale-0``
        to ``scale-6`` for little to much, ``diverging-0`` to ``diverging-6`` about a middle, or
        ``category-0`` to ``category-7``; or a colour of one's own, ``#rrggbb``. A closed box takes
        them all; of an open group the border does, of an edge the line. With "" colours stay as
        they are.
    text
        A few words in a pill on the upper edge of a box, such as ``12 %``; an edge has none.
    ring
        The tone of a ring around a box, outside of what it is filled with, and of an edge's line;
        "" for none.
    mark
        A sign or a count in the upper right corner of a box, such as ``+``, ``!`` or ``12``;
        an edge has none.
    mark_tone
        The tone of the mark; that of the ring, else that of the box, where it is "".
    dashed
        Whether the ring, or without one the border, is dashed, and so is an edge.
    hatched
        Whether a box is hatched, as where there is no number for it.

    Raises
    ------
    ViewError
        For an unknown tone, a mark of more than four letters, and a text or mark without a tone.
    """

    tone: str = ""
    text: str = ""
    ring: str = ""
    mark: str = ""
    mark_tone: str = ""
    dashed: bool = False
    hatched: bool = False

    def __post_init__(self) -> None:
        tones = list_tones()
        for tone in (self.tone, self.ring, self.mark_tone):
            if tone and tone not in tones and not is_hex(tone):
                raise ViewError(
                    f"there is no tone {tone[:60]!r}. Choose one of {', '.join(tones)}, or give a "
                    "colour as #rrggbb."
                )
        if len(self.mark) > _LONGEST_MARK:
            raise ViewError(f"the mark {self.mark[:60]!r} is too long. Give a sign or a count.")
        if (self.text and not self.text_tone) or (self.mark and not self.tone_of_mark):
            raise ViewError("a text or a mark is drawn in a tone. Give tone, ring or mark_tone.")

    @property
    def line_tone(self) -> str:
        """The tone of the border of an open group, and of an edge."""
        return self.ring or self.tone

    @property
    def text_tone(self) -> str:
        """The tone of the pill."""
        return self.tone or self.ring or self.mark_tone

    @property
    def tone_of_mark(self) -> str:
        """The tone that the mark has."""
        return self.mark_tone or self.ring or self.tone

    @property
    def ground(self) -> Paint | None:
        """What of it changes the face itself: boxes that are alike in this are drawn alike."""
        is_border_dashed = self.dashed and not self.ring
        if not (self.tone or self.hatched or is_border_dashed):
            return None
        return Paint(self.tone, dashed=is_border_dashed, hatched=self.hatched)

    def encode(self) -> list[str | int]:
        """Return it as the canvas takes it: what is empty at the end is left out."""
        flags = self.dashed + 2 * self.hatched
        told: list[str | int] = [
            *(self.tone, self.text, self.ring, self.mark, self.mark_tone, flags)
        ]
        while len(told) > 1 and not told[-1]:
            told.pop()
        return told

    def over(self, below: Paint | None) -> Paint:
        """Return this paint laid over another one, whose fields hold where this one has none.

        Parameters
        ----------
        below
            The other one; None for none.
        """
        if below is None:
            return self
        return Paint(
            tone=self.tone or below.tone,
            text=self.text or below.text,
            ring=self.ring or below.ring,
            mark=self.mark or below.mark,
            mark_tone=self.tone_of_mark if self.mark else below.tone_of_mark if below.mark else "",
            dashed=self.dashed or below.dashed,
            hatched=self.hatched or below.hatched,
        )


#: letters of the longest mark, as in 999+
_LONGEST_MARK = 4

#: by path, of the boxes and edges that are painted; others look as ever
Paints = Mapping[str, Paint]
NO_PAINTS: Paints = MappingProxyType({})


@cache
def list_tones() -> tuple[str, ...]:
    """Return the names of the tones that a paint can have."""
    from .theme import themes_as_json

    return tuple(themes_as_json()["light"]["tones"])


def find_paint(paints: Paints, *paths: str) -> Paint | None:
    """Return how what has some paths is painted; None where it is not."""
    for path in paths if paints else ():
        paint = paints.get(path)
        if paint is not None:
            return paint
    return None


def encode_paints(paints: Paints) -> dict[str, list[str | int]]:
    """Return paints by path as the canvas takes them."""
    return {path: paint.encode() for path, paint in paints.items()}


def lay_paints(upper: Paints, lower: Paints) -> Paints:
    """Return two layers of paints as one; a box that is in both has both (:meth:`Paint.over`)."""
    if not upper or not lower:
        return upper or lower
    return {**lower, **{path: paint.over(lower.get(path)) for path, paint in upper.items()}}


def check_paints(paint: Mapping[Any, Any] | None) -> Paints:
    """Return paints by path, of paints by path or by element.

    Raises
    ------
    ViewError
        Where anything else is given.
    """
    checked: dict[str, Paint] = {}
    for element, one in (paint or {}).items():
        path = element if isinstance(element, str) else getattr(element, "path", None)
        if not isinstance(path, str):
            kind = type(element).__name__
            raise ViewError(f"what is painted is a {kind}. Give a path or an element of the model.")
        if not isinstance(one, Paint):
            raise ViewError(
                f"{path!r} is painted with a {type(one).__name__}. "
                'Give a netloupe.Paint, such as Paint("warning", "slow").'
            )
        checked[path] = one
    return checked
