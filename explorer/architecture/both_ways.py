"""Recurrent layers whose steps are written out, and that read a sequence both ways.

M. Schuster and K. Paliwal, Bidirectional Recurrent Neural Networks, 1997: one layer reads it from
the first place on, one from the last, and what both give at a place is joined or added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from netloupe.explorer.model import Value
from netloupe.explorer.patterns.both_orders import joins_both_orders, reverses

from .outline import Outline, OutlinePart

_MOST_BEHIND = 6
#: so many layers are compared with one another
_MOST_LAYERS = 32


class SequenceWay(NamedTuple):
    """A layer that goes along a sequence step by step.

    Parameters
    ----------
    parts
        What it is made of.
    merged
        What stands for them.
    results
        What gives the result of each step.
    """

    parts: list[OutlinePart]
    merged: OutlinePart
    results: list[OutlinePart]


def reads_both_orders(outline: Outline, linears: Iterable[OutlinePart]) -> bool:
    """Return whether one of some layers takes a sequence beside itself in reverse."""
    return any(
        giver.has("joins") and joins_both_orders(outline.operations.nodes[giver.end])
        for linear in linears
        for giver in outline.givers(linear)
    )


def pair_ways(
    outline: Outline, found: Sequence[SequenceWay]
) -> Iterator[tuple[list[SequenceWay], list[OutlinePart]]]:
    """Yield layers, two that read the same both ways together, with what joins their results."""
    paired: set[int] = set()
    for one, two in combinations(found, 2) if len(found) <= _MOST_LAYERS else ():
        if id(one) in paired or id(two) in paired or not _are_alike(one, two):
            continue
        behind = _find_joining(outline, one, two)
        taken = [_read_taken(outline, way) for way in (one, two)] if behind else []
        if behind and taken[0][0] == taken[1][0] and taken[0][1] != taken[1][1]:
            paired |= {id(one), id(two)}
            yield [one, two], behind
    for one in found:
        if id(one) not in paired:
            yield [one], []


def _are_alike(one: SequenceWay, two: SequenceWay) -> bool:
    is_same = (one.merged.name, one.merged.details) == (two.merged.name, two.merged.details)
    return is_same and len(one.results) > 1


def _read_taken(outline: Outline, way: SequenceWay) -> tuple[frozenset[Value], bool]:
    """Return what a layer takes as it was before it was reversed, and whether it was.

    The layers that multiply what comes in may stand before that, too.
    """
    own = {id(part) for part in way.parts}
    is_reversed = any(_reverses(outline, part) for part in way.parts)
    taken: set[Value] = set()
    for part in way.parts:
        for value in outline.operands(part):
            giver = outline.giver(value)
            if giver is None or id(giver) not in own:
                before = outline.operands(giver) if giver and _reverses(outline, giver) else []
                is_reversed = is_reversed or bool(before)
                taken.add(before[0] if before else value)
    return frozenset(taken), is_reversed


def _reverses(outline: Outline, part: OutlinePart) -> bool:
    return part.has("slices", "reverses") and reverses(outline.operations.nodes[part.end])


def _find_joining(outline: Outline, one: SequenceWay, two: SequenceWay) -> list[OutlinePart]:
    """Return what puts results of two layers together, and what stands before it; else nothing."""
    before: list[OutlinePart] = []
    ends: list[set[int]] = []
    last: dict[int, OutlinePart] = {}
    for way in (one, two):
        users, own = _list_behind(outline, way), [*way.results]
        for _ in range(_MOST_BEHIND):
            (user,) = users if len(users) == 1 else (None,)
            givers = outline.givers(user) if user is not None else []
            if user is None or not user.has("joins", "slices", "reverses"):
                break
            if not {*map(id, givers)} <= {*map(id, own)}:
                break  # it takes something else, too
            before.append(user)
            own.append(user)
            users = outline.users(user)
        ends.append({id(user) for user in users})
        last |= {id(user): user for user in users}
    shared = ends[0] & ends[1]
    joining = last[shared.pop()] if len(shared) == 1 == len(ends[0]) == len(ends[1]) else None
    return [*before, joining] if joining is not None and joining.has("adds", "joins") else []


def _list_behind(outline: Outline, way: SequenceWay) -> list[OutlinePart]:
    """Return what takes results of the steps of a layer, but for its own parts."""
    own = {id(part) for part in way.parts}
    users = [user for result in way.results for user in outline.users(result)]
    return [*{id(user): user for user in users if id(user) not in own}.values()]
