"""Paint: colours and marks by path, laid over faces and edges that stay as they are.

What is painted is told by path, whoever tells it: a value that was measured, what has changed
between two models, what a rule has found. No face is made anew for it, so that painting costs
what is painted, and equal boxes go on sharing a face.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from netloupe.explorer.errors import ViewError

from .theme import themes_as_json


@dataclass(frozen=True, slots=True)
class Paint:
    """How one box or edge is painted.

    Parameters
    ----------
    tone
        A key of ``tones`` in ``themes.json``, which has its colours in every theme:
        ``added``, ``removed``, ``changed``, ``note``, ``warning``, ``error``, or one of
        ``scale-0`` to ``scale-6`` for little to much. A closed box takes them all; of an open
        group the border does, of an edge the line.
    text
        A few words in a pill on the upper edge of a box, such as ``12 %``; an edge has none.

    Raises
    ------
    ViewError
        For an unknown tone.
    """

    tone: str
    text: str = ""

    def __post_init__(self) -> None:
        tones = list_tones()
        if self.tone not in tones:
            raise ViewError(f"there is no tone {self.tone!r}. Choose one of {', '.join(tones)}.")


#: by path, of the boxes and edges that are painted; others look as ever
Paints = Mapping[str, Paint]
NO_PAINTS: Paints = MappingProxyType({})


def list_tones() -> tuple[str, ...]:
    """Return the names of the tones that a paint can have."""
    return tuple(themes_as_json()["light"]["tones"])


def find_tone(paints: Paints, *paths: str) -> str:
    """Return the tone in which what has some paths is painted; "" for none."""
    for path in paths if paints else ():
        paint = paints.get(path)
        if paint is not None:
            return paint.tone
    return ""


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
