"""Chains and branches of clauses are what the graph says, whatever graph it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netloupe.explorer.architecture.clause_graph import ClauseGraph
from netloupe.explorer.architecture.series_parallel import (
    Chain,
    Item,
    Joining,
    ParallelChains,
    find_chains,
)

_IN, _IN_2, _IN_3 = -1, -2, -3


def _graph(
    *givers: set[int], outputs: Sequence[set[int]] = (), joined: Iterable[int] = ()
) -> ClauseGraph:
    given = outputs or ({len(givers) - 1},)
    joints = {frozenset(joined): "added"} if joined else {}
    return ClauseGraph([*map(frozenset, givers)], [*map(frozenset, given)], joints)


def _show(item: Item | Chain) -> object:
    """Return chains as lists, branches as their kind and what is in them."""
    if isinstance(item, int):
        return item
    if isinstance(item, Chain):
        return [_show(one) for one in item.items]
    if isinstance(item, Joining):
        return ("entry", item.inputs, *([] if item.chain is None else [_show(item.chain)]))
    return (item.kind + ("+skip" if item.has_skip else ""), *map(_show, item.chains))


@pytest.mark.parametrize(
    ("graph", "shown"),
    [
        (_graph({_IN}, {0}, {1}), [0, 1, 2]),
        (_graph({_IN}, {0}, {0}, {1, 2}), [0, ("branches", [1], [2]), 3]),
        (_graph({_IN}, {0}, {1}, {0}, {2, 3}), [0, ("branches", [1, 2], [3]), 4]),
        (_graph({_IN}, {_IN_2}, {0, 1}), [("streams", [0], [1]), 2]),
        (_graph({_IN}, {0}, {0}, outputs=({1}, {2})), [0, ("heads", [1], [2])]),
        (_graph({_IN}, {0}, {0, 1}), [0, ("branches+skip", [1]), 2]),
        (_graph({_IN}, {0}, outputs=({_IN, 1},)), [("branches+skip", [0, 1])]),
        (_graph({_IN}, {_IN_2}, outputs=({0}, {1})), [("networks", [0], [1])]),
        (_graph({_IN}, {_IN_2}, {0}, {1, 2}), [("streams", [0, 2], [1]), 3]),
        (
            _graph({_IN}, {_IN_2}, {0}, {1, 2}, outputs=({0}, {3})),
            [("streams", [0, 2], [1]), 3],
        ),
        (
            _graph({_IN}, {_IN_2}, {0}, {0, 1}, outputs=({2}, {3})),
            [0, ("heads", [2], [("entry", (_IN_2,), [1]), 3])],
        ),
        (_graph({_IN}, {_IN_2, 0}), [0, 1]),
        (_graph({_IN}, {_IN_2, 0}, joined={_IN_2, 0}), [0, ("entry", (_IN_2,)), 1]),
        # what gives an output on its way goes on
        (_graph({_IN}, {0}, {1}, outputs=({0}, {2})), [0, 1, 2]),
        # branches in branches
        (
            _graph({_IN}, {0}, {0}, {0}, {1, 2}, {3, 4}),
            [0, ("branches", [("branches", [1], [2]), 4], [3]), 5],
        ),
        # two streams of one input are none
        (_graph({_IN, _IN_3}, {_IN, _IN_2}, {0, 1}), [("branches", [0], [1]), 2]),
    ],
)
def test_what_is_of_chains_and_branches_is_one_chain(graph: ClauseGraph, shown: object) -> None:
    assert [_show(chain) for chain in find_chains(graph)] == [shown]


@pytest.mark.parametrize(
    "graph",
    [
        # two blocks of which each takes from both branches
        _graph({_IN}, {0}, {0}, {1, 2}, {1, 2}, {3, 4}),
        # a wire across from one branch to the other
        _graph({_IN}, {0}, {0}, {1, 2}, {1}, {3, 4}),
    ],
)
def test_what_is_of_no_branches_is_no_one_chain_of_plain_branches(graph: ClauseGraph) -> None:
    _check(graph)


@st.composite
def _graphs(draw: st.DrawFn) -> ClauseGraph:
    givers = []
    for number in range(draw(st.integers(1, 9))):
        ends = st.sampled_from([_IN, _IN_2, *range(number)])
        givers.append(frozenset(draw(st.sets(ends, min_size=1, max_size=3))))
    last = len(givers) - 1
    outputs = draw(st.lists(st.sets(st.integers(0, last), min_size=1, max_size=2), max_size=2))
    return ClauseGraph(givers, [frozenset({last}), *map(frozenset, outputs)])


@given(_graphs())
def test_branches_of_any_graph_do_not_take_from_one_another(graph: ClauseGraph) -> None:
    _check(graph)


def _check(graph: ClauseGraph) -> None:
    before = _find_before(graph)
    chains = find_chains(graph)
    held = [number for chain in chains for number in _list_clauses(chain)]
    assert sorted(held) == [*range(len(graph.givers))]
    for chain in chains:
        _check_chain(chain, before)


def _find_before(graph: ClauseGraph) -> list[set[int]]:
    """Return the clauses that lead to each one."""
    before: list[set[int]] = []
    for givers in graph.givers:
        own = {end for end in givers if end >= 0}
        before.append(own.union(*(before[end] for end in own)))
    return before


def _list_clauses(item: Item | Chain) -> Iterator[int]:
    if isinstance(item, int):
        yield item
        return
    inner: list[Item | Chain] = []
    if isinstance(item, Chain):
        inner = [*item.items]
    elif isinstance(item, Joining):
        inner = [] if item.chain is None else [item.chain]
    else:
        inner = [*item.chains]
    for one in inner:
        yield from _list_clauses(one)


def _list_entries(item: Item | Chain) -> Iterator[int]:
    """Yield the clauses that begin at inputs and join on the way."""
    if isinstance(item, Joining):
        yield from _list_clauses(item)
    elif not isinstance(item, int):
        for one in item.items if isinstance(item, Chain) else item.chains:
            yield from _list_entries(one)


def _check_chain(chain: Chain, before: list[set[int]]) -> None:
    last: set[int] = set()
    for item in chain.items:
        own = {*_list_clauses(item)}
        if isinstance(item, Joining):
            if item.chain is not None:
                _check_chain(item.chain, before)
                assert all(before[number].isdisjoint(last) for number in own)
            continue
        for number in {*_list_clauses(item)} - {*_list_entries(item)} if last else ():
            assert before[number] & last, "a clause takes nothing from those before it"
        if isinstance(item, ParallelChains):
            parts = [{*_list_clauses(one)} for one in item.chains]
            for part in parts:
                for other in parts:
                    assert part is other or all(before[n].isdisjoint(other) for n in part)
            for one in item.chains:
                _check_chain(one, before)
        last |= own


def test_an_input_that_is_joined_with_streams_is_told_though_it_enters_one_of_them_too() -> None:
    # as a candidate is compared with a history, and then put beside it (G. Zhou and others, DIEN)
    givers = [frozenset({_IN}), frozenset({_IN_2}), frozenset({0, 1, _IN_3})]
    joints = {frozenset({0, 1, _IN_3}): "concatenated", frozenset({1, _IN_3}): "multiplied"}
    (chain,) = find_chains(ClauseGraph(givers, [frozenset({2})], joints))
    streams, candidate, last = chain.items
    assert _show(streams) == ("streams", [0], [1])
    assert candidate == Joining(None, (_IN_3,), "concatenated")
    assert last == 2


def test_an_input_that_enters_in_ways_that_are_not_known_is_left_out() -> None:
    givers = [frozenset({_IN}), frozenset({_IN_2}), frozenset({0, 1, _IN_3})]
    joints = {frozenset({0, 1}): "concatenated", frozenset({1, _IN_3}): "multiplied"}
    joints |= {frozenset({0, _IN_3}): "added"}
    (chain,) = find_chains(ClauseGraph(givers, [frozenset({2})], joints))
    assert not any(isinstance(item, Joining) for item in chain.items)
