"""Loops of several states: steps of one body that do not take the same are put into cycles.

A network may call one block several times to work on one state, and then once on another one, over
and over (A. Jolicoeur-Martineau, Less is More: Recursive Reasoning with Tiny Networks, 2025, figure
3; G. Wang and others, Hierarchical Reasoning Model, 2025, section 2). As one row of steps that
would say that each takes what all others take.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node, Value

from .called_children import Child
from .member_nodes import list_nodes_inside

#: loops of more steps, and of more nodes, are not looked at
_MOST_STEPS, _MOST_NODES = 400, 40_000

Step = list[Child]


class Cycle(NamedTuple):
    """The steps of one cycle.

    Parameters
    ----------
    before
        What several of its steps take, and none of them computes.
    runs
        Its steps in order, those in a row together that take the same from around them.
    """

    before: list[Child]
    runs: list[list[Step]]


class _Taken(NamedTuple):
    """What a step takes: from how many steps before, and from outside of the loop."""

    distances: frozenset[int]
    outside: frozenset[Value]


def find_loop_cycles(steps: Sequence[Sequence[Child]]) -> list[Cycle]:
    """Return the cycles of the steps of a loop; nothing where all steps take the same.

    Parameters
    ----------
    steps
        The children of each step of a loop in order.
    """
    nodes = [list_nodes_inside(step) for step in steps]
    if not 2 < len(steps) <= _MOST_STEPS or sum(map(len, nodes)) > _MOST_NODES:
        return []
    steps = _move_ends(steps)
    nodes = [list_nodes_inside(step) for step in steps]
    taken = _read_taken(nodes)
    period = _find_period(taken)
    if not period:
        return []
    cycles = [
        _split(steps[low : low + period], nodes[low : low + period])
        for low in range(0, len(steps), period)
    ]
    shapes = {tuple(len(run) for run in cycle.runs) for cycle in cycles}
    return cycles if len(shapes) == 1 and len(cycles[0].runs) > 1 else []


def _move_ends(steps: Sequence[Sequence[Child]]) -> list[Step]:
    """Return steps with what only some of them end with at the beginning of the next ones.

    The last step has nothing of it: it prepares what the steps of a next cycle take.
    """
    keys = [[_tell_kind(child) for child in step] for step in steps]
    base = keys[-1]
    moved = [[*step] for step in steps]
    for number, own in enumerate(keys[:-1]):
        if len(own) > len(base) and own[: len(base)] == base:
            moved[number + 1] = [*steps[number][len(base) :], *moved[number + 1]]
            moved[number] = moved[number][: len(moved[number]) - len(own) + len(base)]
    return moved


def _tell_kind(child: Child) -> tuple[str, ...]:
    return tuple(node.op_type for node in list_nodes_inside([child]))


def _read_taken(nodes: Sequence[Sequence[Node]]) -> list[_Taken]:
    holders = {node: number for number, own in enumerate(nodes) for node in own}
    found = []
    for number, own in enumerate(nodes):
        distances, outside = set(), set()
        for value in _list_taken(own):
            giver = holders.get(value.producer) if value.producer is not None else None
            if giver is None:
                outside.add(value)
            else:
                distances.add(number - giver)
        found.append(_Taken(frozenset(distances), frozenset(outside)))
    return found


def _list_taken(nodes: Sequence[Node]) -> set[Value]:
    """Return what nodes take from others, without what is stored."""
    own = {*nodes}
    return {
        value
        for node in nodes
        for value in node.inputs
        if value is not None and value.producer not in own and not is_input_independent(value)
    }


def _find_period(taken: Sequence[_Taken]) -> int:
    """Return after how many steps all take the same again; 0 where that is each, or never.

    The first cycle takes from outside what later ones take from the one before.
    """
    count = len(taken)
    if len({one.distances for one in taken[1:]}) == 1:
        return 0
    return next(
        (
            period
            for period in range(2, count // 2 + 1)
            if count % period == 0
            and all(_are_same(taken, step, period) for step in range(count - period))
        ),
        0,
    )


def _are_same(taken: Sequence[_Taken], step: int, period: int) -> bool:
    one, other = taken[step], taken[step + period]
    if step < period:
        return one.distances <= other.distances
    return one == other


def _split(steps: Sequence[Sequence[Child]], nodes: Sequence[Sequence[Node]]) -> Cycle:
    """Return a cycle: what several of its steps take apart from these, and runs of steps."""
    holders = {node: number for number, own in enumerate(nodes) for node in own}
    shared = {
        value
        for own in nodes
        for value in _list_taken(own)
        if len({holders[user] for user in value.users if user in holders}) > 1
    }
    before = [
        child
        for step, own in zip(steps, nodes, strict=True)
        for child in step
        if _gives_only(child, shared, own)
    ]
    moved = {*list_nodes_inside(before)}
    left = [[child for child in step if child not in before] for step in steps]
    rest = [[node for node in own if node not in moved] for own in nodes]
    keys = [frozenset(_list_taken(own) & shared) for own in rest]
    runs = [
        [left[place] for place in places]
        for _, run in groupby(range(len(left)), key=keys.__getitem__)
        if (places := [*run])
    ]
    return Cycle(before, runs)


def _gives_only(child: Child, shared: set[Value], own: Sequence[Node]) -> bool:
    """Return whether a child gives what steps share, of nothing that its step computes."""
    nodes = list_nodes_inside([child])
    inside, around = {*nodes}, {*own}
    gives = any(value in shared for node in nodes for value in node.outputs if value is not None)
    return gives and not any(
        value.producer in around and value.producer not in inside
        for node in nodes
        for value in node.inputs
        if value is not None
    )
