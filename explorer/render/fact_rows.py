"""Rows of facts on a face: as many facts as there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .box import MARGIN, MOST_WIDTH
from .rows import FaceRow
from .sizes import TEXT_STYLES
from .text import measure_text


class FaceStyle(NamedTuple):
    """What a box is drawn like, beside what is told on it.

    Parameters
    ----------
    category
        Decides the colours.
    in_line
        Whether a single row may stand in the line of the title.
    openable
        Whether there is the sign of what can be opened.
    """

    category: str
    in_line: bool
    openable: bool


def list_facts(facts: Sequence[str], difference: Sequence[str] = ()) -> list[FaceRow]:
    """Return what is known of a block in one row: as many facts as there is room for.

    How the blocks of a stack differ is said in any case, behind the facts or else below them.
    """
    listed = ""
    for fact in facts:
        longer = " · ".join(filter(None, (listed, fact)))
        if not listed or fits_row(longer):
            listed = longer
    together = " · ".join(filter(None, (listed, *difference[:1])))
    lines = (together, *difference[1:]) if fits_row(together) else (listed, *difference)
    return [FaceRow(line, "muted", ()) for line in lines if line]


def list_all(facts: Sequence[str]) -> list[FaceRow]:
    """Return all of some facts, in as many rows as they need."""
    lines: list[str] = []
    for fact in facts:
        longer = f"{lines[-1]} · {fact}" if lines else ""
        if longer and fits_row(longer):
            lines[-1] = longer
        else:
            lines.append(fact)
    return [FaceRow(line, "muted", ()) for line in lines]


def fits_title(text: str) -> bool:
    """Return whether there is room for a text as the title of a box."""
    return measure_text(text, *TEXT_STYLES["title"]) <= MOST_WIDTH - 2 * MARGIN


def fits_row(text: str) -> bool:
    """Return whether there is room for a text in a row of facts."""
    return measure_text(text, *TEXT_STYLES["muted"]) <= MOST_WIDTH - 2 * MARGIN
