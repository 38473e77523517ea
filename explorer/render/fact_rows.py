"""Rows of facts on a face: as many facts as there is room for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from .box import MARGIN, MOST_WIDTH
from .rows import FaceRow
from .sizes import TEXT_STYLES
from .text import measure_text

_AND = " · "
#: how facts begin that blocks of most kinds have: sizes, activations and norms
_USUAL = re.compile(r"\d|[A-Z]|(?:pre|post)-norm")


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


def list_facts(
    facts: Sequence[str], difference: Sequence[str] = (), apart: Sequence[str] = ()
) -> list[FaceRow]:
    """Return what is known of a block in one row: as many facts as there is room for.

    How the blocks of a stack differ is said in any case, behind the facts or else below them.

    Parameters
    ----------
    facts
        In order.
    difference
        How the blocks of a stack differ.
    apart
        Those of the facts that tell the block from others beside it: in a row of their own where
        there is no room for them.
    """
    listed: list[str] = []
    for fact in facts:
        if not listed or fits_row(_AND.join((*listed, fact))):
            listed.append(fact)
    left: list[str] = []
    for fact in dict.fromkeys(apart):
        if fact not in listed and (not left or fits_row(_AND.join((*left, fact)))):
            left.append(fact)
    line = _AND.join(listed)
    together = _AND.join(filter(None, (line, *difference[:1])))
    lines = (together, *difference[1:]) if fits_row(together) else (line, *difference)
    rows = (lines[0], _AND.join(left), *lines[1:])
    return [FaceRow(row, "muted", ()) for row in rows if row]


def pick_unusual(facts: Sequence[str]) -> list[str]:
    """Return the facts that most blocks of a kind have none of.

    Sizes, activations and norms are told of all; ``convolutional projections 3×3`` makes a block
    what it is, and is told where there is no room beside those, too.
    """
    return [fact for fact in facts if not _USUAL.match(fact)]


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
