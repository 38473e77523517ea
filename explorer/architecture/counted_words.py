"""Words for how many there are of something: plurals, small numbers, lists with and."""

from __future__ import annotations

import re
from collections.abc import Sequence

from netloupe.explorer.notation import write_count
from netloupe.explorer.patterns.residual_kinds import WITH

#: numbers in words, before what begins with a number: ``two 3×3 convolutions``
SMALL_NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
#: ends of names that have no plural: ``Attention1D``
_OF_AXES = re.compile(r"\d[dD]$")
#: the ends of what is called alike, one or several
_WITHOUT_PLURAL = (
    *("excitation", "experts", "features", "masking", "mixing"),
    *("neighbours", "passing", "splines"),
)


def strip_brackets(text: str) -> str:
    """Return a text that stands in brackets itself, with commas in place of its own."""
    return re.sub(r" \((?=\d)", " ", text).replace(" (", ", ").replace(")", "")


def join_with_and(words: Sequence[str]) -> str:
    """Return ``a, b and c``."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def count_pieces(number: int, noun: str) -> str:
    """Return how many pieces there are of what is called so."""
    if noun[:1].isdigit() and number < len(SMALL_NUMBERS):
        return f"{SMALL_NUMBERS[number]} {noun if number == 1 else write_plural(noun)}"
    return write_count(number, noun, write_plural(noun))


def write_plural(noun: str) -> str:
    """Return what several pieces are called."""
    head, joint, rest = noun.partition(WITH)
    if joint:
        return f"{write_plural(head)}{joint}{rest}"
    for link in (" of ", " to ", " by ", " over ", " along "):  # an interaction of places
        first, joint, rest = noun.partition(link)
        if joint:
            return f"{write_plural(first)}{joint}{rest}"
    if noun.endswith(_WITHOUT_PLURAL):
        return noun
    if noun[-1:].isdigit() or _OF_AXES.search(noun):  # as of Mamba-2
        return f"{noun} layers"
    if noun.endswith("sis"):  # bases
        return f"{noun.removesuffix('is')}es"
    return f"{noun}es" if noun.endswith(("ch", "ss", "x")) else f"{noun}s"
