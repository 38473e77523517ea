"""The attention that one model has written out, and the other as one operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from .units import Units

#: it is followed what takes a value where so many do at most, and of so many operands at most
_MOST_USERS = 64
#: so many units without a partner are looked at
_MOST_AROUND = 256


def find_written_out_attention(
    sides: tuple[Units, Units],
    partners: tuple[Sequence[int], Sequence[int]],
    attention: int,
    projections: set[int],
) -> set[int]:
    """Return what lies between projections and what takes the result of an attention.

    Parameters
    ----------
    sides
        The units of the model that has the attention as one operator, and those of the other.
    partners
        By unit of each, the unit of the other that it is paired with; -1 for none.
    attention
        The unit of the first model that is the attention.
    projections
        The units of the second model that are its query, key and value.

    Returns
    -------
    set of int
        Units of the second model. None of them has a partner, and what they give goes to each
        other, but for one result; empty where that is not so.
    """
    others, back = sides[1], partners[1]
    end = _find_end(sides, partners[0], attention)
    if end is None:
        return set()
    behind = _collect(projections, back, lambda unit: (user for user, _ in others.users[unit]))
    before = _collect({end}, back, lambda unit: (o.source for o in others.operands[unit]))
    inside = (behind & before) | {end}
    for unit in inside | projections:
        if unit not in projections and back[unit] >= 0:
            return set()
        users = {user for user, _ in others.users[unit]}
        if unit != end and (others.results[unit] or not users <= inside):
            return set()
    return inside - projections


def _find_end(sides: tuple[Units, Units], partner: Sequence[int], attention: int) -> int | None:
    """Return the unit of the other model that gives what an attention gives; None for none."""
    users, found = sides[0].users[attention], set[int]()
    for user, place in users[: _MOST_USERS + 1]:
        operands = sides[1].operands[partner[user]] if partner[user] >= 0 else []
        if not 0 < len(operands) <= _MOST_USERS:
            return None
        found |= {operand.source for operand in operands if operand.place == place}
    is_one = len(found) == 1 and min(found) >= 0 and len(users) <= _MOST_USERS
    return found.pop() if is_one else None


def _collect(
    begins: set[int], back: Sequence[int], list_next: Callable[[int], Iterator[int]]
) -> set[int]:
    """Return what is reached through units without a partner; of very many, some."""
    found, pending = {*begins}, [*begins]
    while pending and len(found) <= _MOST_AROUND:
        for unit in islice(list_next(pending.pop()), _MOST_AROUND):
            if unit >= 0 and unit not in found and back[unit] < 0:
                found.add(unit)
                pending.append(unit)
    return found
