"""A word that boxes, groups, sentences and insets have in common, and what it means."""

from __future__ import annotations

from typing import NamedTuple


class FigureWord(NamedTuple):
    """A word of figures.

    Parameters
    ----------
    word
        As it is written inside of a sentence.
    meaning
        What is called so.
    pattern
        The id of the pattern that finds it; "" for what is a part or a fact of several.
    """

    word: str
    meaning: str
    pattern: str = ""
