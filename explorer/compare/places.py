"""Places between paired units: where one operator was put for another, nothing else is the same."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from .hashing import Hashes, hash_each
from .units import LAYERS, Units

#: stands for what comes from outside, where the number of a pair would stand
_OUTSIDE = -2
#: units with more users have no place
_MOST_USERS = 64


def hash_places(units: Units, outside: Hashes, pairs: Sequence[int]) -> Hashes:
    """Return hashes of all that each unit takes and gives to, where all of it is paired.

    Parameters
    ----------
    units
        The units of a graph.
    outside
        Hashes of the values that come from outside.
    pairs
        By unit the number of its pair; -1 for none.

    Returns
    -------
    array of uint64
        By unit; 0 for units that are paired, or take from or give to one that is not.
    """
    places: list[Hashable | None] = []
    for unit, pair in enumerate(pairs):
        taken, users = units.operands[unit], {user for user, _ in units.users[unit]}
        sources = [pairs[o.source] if o.source >= 0 else _OUTSIDE for o in taken]
        ends = sorted(pairs[user] for user in users) if len(users) <= _MOST_USERS else [-1]
        results = tuple(units.results[unit])
        if pair >= 0 or not taken or not (users or results) or -1 in (*sources, *ends):
            places.append(None)
            continue
        given = (int(outside[o.output]) if o.source < 0 else o.output for o in taken)
        is_layer = units.kinds[unit] in LAYERS  # an activation does not replace a convolution
        places.append((is_layer, *zip(sources, given, strict=True), *ends, results))
    return hash_each(places)
