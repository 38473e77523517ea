"""Numbers that a sentence may say of a model: its configuration and what follows from it."""

from __future__ import annotations

import re
from dataclasses import fields

from .known_architectures import MODEST, Architecture

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
#: said of what is not a size of the network
_ASIDE = ("parameters", "tied")


def list_numbers(known: Architecture) -> set[float] | None:
    """Return the numbers of an architecture; None where nothing is known of it.

    These are its sizes, the lengths of its runs of blocks, their number and sum, and what its words
    and the name of its family hold.
    """
    if known == MODEST:
        return None
    numbers: set[float] = {float(number) for number in known.numbers}
    for field in fields(known):
        value = getattr(known, field.name)
        if field.name in _ASIDE or isinstance(value, bool):
            continue
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, int):
                numbers.add(float(part))
            elif isinstance(part, str):
                numbers |= {float(found) for found in _NUMBER.findall(part.replace(",", ""))}
    for blocks in known.blocks or ():
        for counts in (blocks.counts, *blocks.otherwise):
            numbers |= {*map(float, counts), float(sum(counts)), float(len(counts))}
    if known.counts:
        numbers.add(float(sum(known.counts)))
    return numbers
