"""Calls of one module told apart, where an exporter numbers them by themselves.

torch's older exporter names the second call of a module ``cell`` for that module: ``cell_1``, and
so on. The modules inside are numbered on their own: ``cell/gates`` belongs to the first call,
``cell/gates_1`` to the second (``ScopedNodeNameGenerator`` in ``naming.cpp`` of torch 2). Read as
they stand, the insides of all calls lie in one heap. Here they are put where they belong:
``cell_1/gates``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from netloupe.explorer.model import Graph, find_constant_nodes

from .signatures import Integers

Scope = tuple[str, ...]

_CALL = re.compile(r"(.*)_([1-9]\d*)", re.DOTALL)
_NOWHERE = (1 << 62, -1)


@dataclass(slots=True, eq=False)
class _Call:
    """One call of a module: where its nodes stand in the file, and the calls inside."""

    name: str
    scope: Scope | None
    low: int
    high: int
    inner: list[_Call] = field(default_factory=list)

    def take(self, call: _Call) -> None:
        self.inner.append(call)
        self.low, self.high = min(self.low, call.low), max(self.high, call.high)


def tell_calls_apart(graph: Graph, of_node: list[Scope | None], scopes: Iterable[Scope]) -> None:
    """Put the scopes of nodes inside the calls of modules that they belong to.

    Nothing changes where the calls inside do not go evenly into those around them, or where
    their nodes stand in another order than the calls.

    Parameters
    ----------
    of_node
        By node index; changed. None for a node that says nothing.
    scopes
        All that nodes have.
    """
    own = dict.fromkeys(filter(None, scopes))
    calls = _find_calls(own)
    if not any(scope[:-1] in calls or scope[:-1] not in own for scope in calls if scope[:-1]):
        return
    spans, shown = _find_spans(graph, of_node)
    called = {scope for numbers in calls.values() for scope in numbers}
    bases = {scope[:length] for scope in own if scope not in called for length in range(len(scope))}
    bases.update(scope for scope in own if scope not in called)
    made: dict[Scope, list[_Call]] = {}
    inner: dict[Scope, list[Scope]] = {}
    for base in sorted(bases, key=lambda base: (-len(base), spans.get(base, _NOWHERE))):
        if base:
            inner.setdefault(base[:-1], []).append(base)
        groups = [made[scope] for scope in inner.get(base, ())]
        if base in own:
            numbered: list[Scope | None] = [base, *calls.get(base, ())]
            spots = [spans.get(scope, _NOWHERE) for scope in numbered if scope is not None]
        else:
            numbered, spots = [None], [_NOWHERE]
        name = base[-1] if base else ""
        mine = [_Call(name, scope, *spot) for scope, spot in zip(numbered, spots, strict=True)]
        if base and base not in own:
            again = _repeat_container(name, groups, shown)
            mine = again or mine
        _put_inside(mine, groups)
        made[base] = mine
    moved = _write_scopes(made[()])
    for index, scope in enumerate(of_node):
        if scope:
            of_node[index] = moved[scope]


def _find_calls(own: Collection[Scope]) -> dict[Scope, list[Scope]]:
    """Return the further calls of modules in order: numbered without gaps, nothing inside."""
    numbers: dict[Scope, dict[int, Scope]] = {}
    for scope in own:
        if scope[-1][-1:].isdecimal() and (match := _CALL.fullmatch(scope[-1])) is not None:
            base = (*scope[:-1], match[1])
            if base in own:
                numbers.setdefault(base, {})[int(match[2])] = scope
    if not numbers:
        return {}
    holding = {scope[:length] for scope in own for length in range(len(scope))}
    return {
        base: [found[number] for number in range(1, len(found) + 1)]
        for base, found in numbers.items()
        if max(found) == len(found) and holding.isdisjoint(found.values())
    }


def _find_spans(
    graph: Graph, of_node: list[Scope | None]
) -> tuple[dict[Scope, tuple[int, int]], Integers]:
    """Return the first and last node of each scope, constants left out, and which nodes count."""
    constants = find_constant_nodes(graph)
    spans: dict[Scope, tuple[int, int]] = {}
    shown = []
    for index, scope in enumerate(of_node):
        if scope is None or index in constants:
            continue
        shown.append(index)
        if scope:
            spans[scope] = (spans.get(scope, (index, index))[0], index)
    return spans, np.array(shown, dtype=np.int64)


def _repeat_container(name: str, groups: list[list[_Call]], shown: Integers) -> list[_Call]:
    """Return the calls of a module without nodes of its own; nothing where it is called once.

    That it is called again is certain where all modules in it are called as often, one after
    the other, and other modules between.
    """
    count = len(groups[0])
    if count < 2 or any(len(group) != count for group in groups):
        return []
    made = []
    for number in range(count):
        low = min(group[number].low for group in groups)
        high = max(group[number].high for group in groups)
        made.append(_Call(name, None, low, high))
    for before, behind in pairwise(made):
        between = np.searchsorted(shown, (before.high, behind.low))
        if behind.low <= before.high or between[1] - between[0] < 2:
            return []
    return made


def _put_inside(mine: list[_Call], groups: list[list[_Call]]) -> None:
    """Put calls into those that make them; into the first where that is not certain."""
    owners: list[tuple[_Call, _Call]] = []
    for group in groups:
        for number, call in enumerate(group):
            owner = mine[number * len(mine) // len(group)]
            if len(group) % len(mine):
                holding = [one for one in mine if one.low <= call.low and call.high <= one.high]
                owner = holding[0] if len(holding) == 1 else mine[0]
            owners.append((owner, call))
    spans = {id(call): [call.low, call.high] for call in mine}
    for owner, call in owners:
        span = spans[id(owner)]
        span[:] = min(span[0], call.low), max(span[1], call.high)
    in_order = all(low[1] < high[0] for low, high in pairwise(spans.values()))
    for owner, call in owners:
        (owner if in_order else mine[0]).take(call)


def _write_scopes(outermost: list[_Call]) -> dict[Scope, Scope]:
    """Return for each scope as it stands in the file where it belongs."""
    moved: dict[Scope, Scope] = {}
    pending: list[tuple[_Call, Scope]] = [(call, ()) for call in outermost]
    while pending:
        around, path = pending.pop()
        seen: dict[str, int] = {}
        for call in around.inner:
            number = seen.get(call.name, 0)
            seen[call.name] = number + 1
            scope = (*path, f"{call.name}_{number}" if number else call.name)
            if call.scope is not None:
                moved[call.scope] = scope
            pending.append((call, scope))
    return moved
