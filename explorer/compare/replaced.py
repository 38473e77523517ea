"""Short chains of nodes in whose place the other model has others.

Exporters write one thing as several: GlobalAveragePool and Flatten, or ReduceMean and Reshape.
Where what such nodes take and what takes from them is paired, and nothing else goes in or out, they
stand in each other's place. That they compute the same is not said: it is not looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from typing import NamedTuple

from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.stored_tensors import find_own_tensor
from netloupe.explorer.progress import step

from .matching import Matching
from .pair import Pair

#: a chain has so many nodes at most
MOST_NODES = 4
#: of a value with more users it is not looked up what takes it
_MOST_USERS = 64
_STEP = 1_000


class Replacement(NamedTuple):
    """Nodes of the left model, and those that the right one has in their place.

    Parameters
    ----------
    left, right
        The nodes of each side, in order; one to four of them. One value goes in and one comes
        out, which are paired, or taken by nodes that are. No operator is on both sides.
    """

    left: tuple[Node, ...]
    right: tuple[Node, ...]


class _Ends(NamedTuple):
    """What goes into some nodes, and what takes from them."""

    taken: Value
    #: by pair, and number of the operand where it has one node a side; and numbers of outputs
    users: frozenset[Hashable]


def find_replaced(
    matching: Matching, left: Collection[Node], right: Collection[Node]
) -> list[Replacement]:
    """Return the chains that stand in each other's place, in the order of the left model.

    Parameters
    ----------
    matching
        What of the two models is the same.
    left, right
        Their nodes without a partner, constants aside.

    Notes
    -----
    Costs what is without a partner. Where two chains stand between the same nodes, which belong
    together is not guessed.
    """
    pairs = {node: pair for pair in matching.pairs for node in (*pair.left, *pair.right)}
    sides: list[dict[_Ends, list[tuple[Node, ...]]]] = [{}, {}]
    for found, alone in zip(sides, (left, right), strict=True):
        for chain in _list_chains(alone):
            ends = _find_ends(chain, pairs)
            if ends is not None:
                found.setdefault(ends, []).append(chain)
    replaced = []
    for ends, chains in sides[0].items():
        partner = matching.values.get(ends.taken)
        others = sides[1].get(_Ends(partner, ends.users)) if partner is not None else None
        if others is not None and len(chains) == len(others) == 1:
            one = Replacement(chains[0], others[0])
            # of what has the same operator on both sides it is not clear that it was replaced
            if _name_operators(one.left).isdisjoint(_name_operators(one.right)):
                replaced.append(one)
    return sorted(replaced, key=lambda one: (one.left[0].graph.path, one.left[0].index))


def _name_operators(nodes: tuple[Node, ...]) -> set[tuple[str, str]]:
    return {(node.domain, node.op_type) for node in nodes}


def _list_chains(alone: Collection[Node]) -> Iterator[tuple[Node, ...]]:
    """Yield the nodes that hang together without a paired one in between, where they are few."""
    pending, seen = {*alone}, set[Node]()
    for number, first in enumerate(alone):
        if not number % _STEP:
            step("looking for what was replaced" if not number else "")
        if first in seen:
            continue
        seen.add(first)
        chain = [first]
        for node in chain:  # grows meanwhile
            for other in _list_neighbours(node):
                if other in pending and other not in seen:
                    seen.add(other)
                    chain.append(other)
        if len(chain) <= MOST_NODES and not any(node.subgraphs for node in chain):
            yield tuple(sorted(chain, key=lambda node: node.index))


def _list_neighbours(node: Node) -> Iterator[Node]:
    for value in node.inputs:
        if value is not None and value.producer is not None and value.graph is node.graph:
            yield value.producer
    for value in node.outputs:
        if value is not None:
            yield from (user for user in value.users[:_MOST_USERS] if user.graph is node.graph)


def _find_ends(chain: tuple[Node, ...], pairs: dict[Node, Pair]) -> _Ends | None:
    """Return what goes in and what takes from nodes; None where that is not one value each."""
    inside = {*chain}
    given = [value for node in chain for value in node.outputs if value is not None]
    # what only gives its sizes, as for a Reshape, goes into the other nodes before
    reading = [node for node in chain if not node.operator.has("reads_shape")] or chain
    taken = {
        value
        for node in reading
        for value in node.inputs
        if value is not None and value.producer not in inside and find_own_tensor(value) is None
    }
    leaving = [
        value
        for value in given
        if value.is_output or any(user not in inside for user in value.users[: _MOST_USERS + 1])
    ]
    if len(taken) != 1 or len(leaving) != 1 or len(leaving[0].users) > _MOST_USERS:
        return None
    (value,) = leaving
    users: set[Hashable] = set()
    for user in value.users:
        if user in inside:
            continue
        pair = pairs.get(user)
        if pair is None:
            return None
        is_single = len(pair.left) == len(pair.right) == 1
        places = [place for place, operand in enumerate(user.inputs) if operand is value]
        users.add((id(pair), tuple(places) if is_single else ()))
    if value.is_output:
        outputs = chain[0].graph.outputs
        users.update(number for number, output in enumerate(outputs) if output is value)
    return _Ends(taken.pop(), frozenset(users)) if users else None
