"""Uses of one module told apart, where an exporter names all of them alike.

torch's newer exporter gives the nodes of each call of a module the same scope (``name_scopes``,
from ``nn_module_stack``). An activation that a block uses three times would be one group, which
gives to what gives to it. Each use that takes, by way of other modules, from an earlier one gets a
scope of its own, numbered as the older exporter does: ``relu``, ``relu_1``, ``relu_2``. So does
each use of a module that takes from none, where another one beside it is used as often. A module
of which all that is in it is used as often, use after use and none of it by another, is a tower:
its uses are told apart as a whole.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from netloupe.explorer.model import Graph, find_constant_nodes
from netloupe.explorer.progress import step

Scope = tuple[str, ...]

#: so many nodes are looked at for each node of the graph
_MOST_LOOKED = 30
#: and so many in any case
_LEAST_LOOKED = 10_000


def tell_uses_apart(graph: Graph, of_node: list[Scope | None]) -> dict[Scope, Scope]:
    """Give each use of a module that another module stands before a scope of its own.

    Those around others are looked at first. Nothing changes where nodes that are not in the
    module stand between its own without taking from these and giving to them. Linear in nodes
    times the depth of scopes; past a limit the uses of a module remain together.

    Parameters
    ----------
    of_node
        By node index; changed. None for a node that says nothing: it passes on what it takes.

    Returns
    -------
    dict
        The scopes that are new, with those that they were.
    """
    constants = frozenset(find_constant_nodes(graph))
    made: dict[Scope, Scope] = {}
    left = max(_LEAST_LOOKED, _MOST_LOOKED * len(of_node))
    runs = _list_runs(of_node, constants)
    depth = 0
    while (depth := _find_depth(runs, depth)) > 0:
        step()
        found: dict[Scope, list[list[int]]] = {}
        interrupted = _find_interrupted(runs, depth)
        towers = _find_towers(graph, runs, constants, interrupted, depth)
        if towers:
            taken = {run.scope[: depth - 1] for run in runs}
            for scope, uses in towers.items():
                for number, members in enumerate(uses[1:], 1):
                    _move(of_node, members, scope, _name(scope, number, taken), made)
            runs = _list_runs(of_node, constants)
            interrupted = _find_interrupted(runs, depth)
        for scope, own in interrupted.items():
            span = range(own[0].first, own[-1].last + 1)
            left -= len(span)
            if left < 0:
                return made
            found[scope] = _find_uses(graph, of_node, constants, scope, span)
        counts = {(scope[:-1], len(uses)) for scope, uses in found.items() if len(uses) > 1}
        if counts:
            taken = {run.scope[:depth] for run in runs}
            for scope, uses in found.items():
                own = interrupted[scope]
                if len(uses) == 1 and (scope[:-1], len(own)) in counts:
                    uses = _cut(uses[0], own)
                for number, members in enumerate(uses[1:], 1):
                    _move(of_node, members, scope, _name(scope, number, taken), made)
            runs = _list_runs(of_node, constants)
    return made


class _Run(NamedTuple):
    """Nodes of a scope, and of what is inside of it, that stand together in the file."""

    scope: Scope
    first: int
    last: int


def _list_runs(of_node: Sequence[Scope | None], constants: Collection[int]) -> list[_Run]:
    """Return what stands together; nodes without a scope and constants do not part it."""
    runs: list[_Run] = []
    last: Scope | None = None
    first = end = 0
    for index, scope in enumerate(of_node):
        if scope is None or index in constants:
            continue
        if scope != last:
            if last is not None:
                runs.append(_Run(last, first, end))
            last, first = scope, index
        end = index
    return [*runs, _Run(last, first, end)] if last is not None else runs


def _find_depth(runs: Sequence[_Run], done: int) -> int:
    """Return the least depth, beyond one, of scopes that others interrupt; 0 where none are."""
    seen: set[Scope] = set()
    least = 0
    last: Scope = ()
    for run in runs:
        scope = run.scope
        same = 0
        for name, other in zip(scope, last, strict=False):
            if name != other:
                break
            same += 1
        for length in range(max(same, done) + 1, len(scope) + 1):
            opened = scope[:length]
            if opened not in seen:
                seen.add(opened)
            elif not least or length < least:
                least = length
        last = scope
    return least


def _find_interrupted(runs: Sequence[_Run], depth: int) -> dict[Scope, list[_Run]]:
    """Return the runs of those scopes of a depth that others interrupt."""
    found: dict[Scope, list[_Run]] = {}
    last: Scope = ()
    for run in runs:
        scope = run.scope[:depth]
        if len(scope) == depth:
            own = found.setdefault(scope, [])
            if own and scope == last:
                own[-1] = own[-1]._replace(last=run.last)
            else:
                own.append(_Run(scope, run.first, run.last))
        last = scope
    return {scope: own for scope, own in found.items() if len(own) > 1}


def _find_towers(
    graph: Graph,
    runs: Sequence[_Run],
    constants: Collection[int],
    interrupted: Collection[Scope],
    depth: int,
) -> dict[Scope, list[list[int]]]:
    """Return the nodes of modules by uses, of those in which all is used again and again.

    Parameters
    ----------
    interrupted
        What others interrupt, of this depth: only what is around it is looked at.
    """
    around = {scope[:-1] for scope in interrupted if len(scope) > 1}
    rows: dict[Scope, list[_Run]] = {}
    for run in runs if around else ():
        row = rows.setdefault(run.scope[: depth - 1], [])
        if row and row[-1].scope == run.scope[:depth]:
            row[-1] = row[-1]._replace(last=run.last)
        else:
            row.append(_Run(run.scope[:depth], run.first, run.last))
    found: dict[Scope, list[list[int]]] = {}
    for scope, row in rows.items():
        if scope not in around:
            continue
        tokens = [run.scope for run in row]
        times = tokens.count(tokens[0])
        period = len(row) // times
        if times < 2 or period < 2 or tokens != tokens[:period] * times:
            continue
        uses = [
            [
                index
                for run in row[first : first + period]
                for index in range(run.first, run.last + 1)
                if index not in constants
            ]
            for first in range(0, len(row), period)
        ]
        op_types = [[graph.nodes[index].op_type for index in use] for use in uses]
        if all(one == op_types[0] for one in op_types) and _are_apart(graph, uses):
            found[scope] = uses
    return found


def _are_apart(graph: Graph, uses: Sequence[Sequence[int]]) -> bool:
    """Return whether no use of a module takes from another."""
    owners = {index: number for number, use in enumerate(uses) for index in use}
    return all(
        owners.get(giver, number) == number
        for index, number in owners.items()
        for giver in _list_givers(graph, index)
    )


def _cut(nodes: Sequence[int], runs: Sequence[_Run]) -> list[list[int]]:
    """Return nodes, in the file's order, by the runs that they are in."""
    ends = [run.last for run in runs]
    uses: list[list[int]] = [[] for _ in runs]
    for index in nodes:
        uses[bisect_left(ends, index)].append(index)
    return uses


def _find_uses(
    graph: Graph,
    of_node: Sequence[Scope | None],
    constants: Collection[int],
    scope: Scope,
    span: range,
) -> list[list[int]]:
    """Return the nodes of a scope by uses, one after the other."""
    uses: list[list[int]] = [[]]
    inside: set[int] = set()
    behind: set[int] = set()  # what takes from this use and is no part of it
    passing: set[int] = set()
    length = len(scope)
    for index in span:
        if index in constants:
            continue
        givers = {*_list_givers(graph, index)}
        own = of_node[index]
        if own is not None and own[:length] == scope:
            if givers & behind:
                uses.append([])
                inside, behind, passing = set(), set(), set()
            uses[-1].append(index)
            inside.add(index)
        elif givers & behind or (own is not None and givers & (inside | passing)):
            behind.add(index)
        elif givers & (inside | passing):
            passing.add(index)
    return uses


def _list_givers(graph: Graph, index: int) -> Iterator[int]:
    """Yield the nodes that give more than a shape to a node."""
    node = graph.nodes[index]
    if node.operator.has("reads_shape"):
        return
    for value in (*node.inputs, *node.captures):
        if value is not None and value.producer is not None and value.graph is graph:
            yield value.producer.index


def _name(scope: Scope, number: int, taken: set[Scope]) -> Scope:
    """Return an unused scope beside one."""
    while (found := (*scope[:-1], f"{scope[-1]}_{number}")) in taken:
        number += 1
    taken.add(found)
    return found


def _move(
    of_node: list[Scope | None],
    members: Sequence[int],
    scope: Scope,
    new: Scope,
    made: dict[Scope, Scope],
) -> None:
    """Put nodes of a scope, and what is inside of it, into a new one."""
    for index in members:
        old = of_node[index]
        if old is None:  # it joins what is beside it
            continue
        moved = new + old[len(scope) :]
        of_node[index] = moved
        for length in range(len(new), len(moved) + 1):
            made.setdefault(moved[:length], old[:length])
