"""What comes into two graphs from outside, as hashes that are equal for what is the same."""

from __future__ import annotations

from netloupe.explorer.model import Value

from .hashing import Hashes, hash_each
from .units import Units


def hash_outside(left: Units, right: Units, known: dict[Value, int]) -> tuple[Hashes, Hashes]:
    """Return hashes of what comes from outside, equal for what is the same.

    Parameters
    ----------
    left, right
        The units of two graphs.
    known
        Hashes of values of graphs around that are paired.
    """
    counts = [sum(v.initializer is None for v in side.graph.inputs) for side in (left, right)]
    sides = []
    for side in (left, right):
        inputs = [value for value in side.graph.inputs if value.initializer is None]
        places = {value: place for place, value in enumerate(inputs)}
        sides.append(
            hash_each(
                ("value", known[value])
                if value in known
                else ("input", places[value] if counts[0] == counts[1] else value.name)
                if value in places
                else ("unknown",)
                for value in side.outside
            )
        )
    return sides[0], sides[1]
