"""Blocks that compute anew what the edges of a graph hold, and from these what its nodes hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.model import Value

from .edge_inputs import find_lookups
from .found_blocks import FoundBlock, FoundBlocks
from .operations import OUTSIDE, Operations
from .readings import read_str

GRAPH_NETWORK = "Graph network block"
_LAYERS = ("activation", "linear", "mlp", "norm")
_WITH_WEIGHTS = ("linear", "mlp")
_MOST_LAYERS = 8
_BOTH = 2


class _Edges(NamedTuple):
    """How edges of one kind are computed.

    Parameters
    ----------
    numbers
        The operations, from what joins both ends to the sums at nodes, with sums of what edges
        held before and what they hold then.
    nodes
        What the ends hold.
    """

    numbers: set[int]
    nodes: Value


def find_graph_networks(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find MLPs of edges and their ends, sums of these at nodes, and an MLP of nodes and the sums.

    P. Battaglia and others, Interaction Networks for Learning about Objects, Relations and Physics,
    2016, equation 3, and Relational inductive biases, deep learning, and graph networks, 2018,
    figure 4; with several kinds of edges and sums with what there was before: T. Pfaff and others,
    Learning Mesh-Based Simulation with Graph Networks, 2021, equation 1.
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        taken = operations.operands[join]
        if not node.operator.has("joins") or blocks.holding(join, *_LAYERS) is not None:
            continue
        scatters = {value: _find_scatter(operations, value) for value in taken}
        sums = [number for number in scatters.values() if number is not None]
        others = [value for value, number in scatters.items() if number is None]
        if not sums or len(others) != 1:
            continue
        edges = [_read_edges(blocks, number) for number in sums]
        known = [one for one in edges if one is not None and one.nodes is others[0]]
        updated = _follow_layers(blocks, join)
        if len(known) < len(sums) or updated is None:
            continue
        numbers, end = updated
        user = operations.only_user(end)
        is_sum = user is not None and operations.kinds[user] == "Add"
        if user is not None and is_sum and others[0] in operations.operands[user]:
            numbers.add(user)
            end = user
        every = frozenset(numbers.union({join}, *(one.numbers for one in known)))
        if not all(_stays(operations, number, every) for number in every - {end}):
            continue
        facts = (f"{len(known)} kinds of edges",) if len(known) > 1 else ()
        yield FoundBlock("graph network", GRAPH_NETWORK, every, end, facts)


def _find_scatter(operations: Operations, value: Value) -> int | None:
    """Return what adds up rows where edges end, and gives a value."""
    number = operations.giver(value)
    node = operations.nodes[number] if number is not None else None
    adds = (
        node is not None and node.operator.has("scatters") and read_str(node, "reduction") == "add"
    )
    return number if adds else None


def _stays(operations: Operations, number: int, inside: frozenset[int]) -> bool:
    """Return whether what an operation gives is taken inside, or is what edges hold then.

    The next block takes that, with the ends; what else is computed of it is another idea.
    """
    outer = [user for user in operations.users[number] if user not in inside]
    is_sum = operations.kinds[number] == "Add"
    return all(
        is_sum if user == OUTSIDE else is_sum or operations.nodes[user].operator.has("joins")
        for user in outer
    )


def _follow_layers(blocks: FoundBlocks, start: int) -> tuple[set[int], int] | None:
    """Return the layers one behind another that take what an operation gives; None for none."""
    operations = blocks.operations
    numbers: set[int] = set()
    kinds: set[str] = set()
    end = start
    for _ in range(_MOST_LAYERS):
        found = blocks.holding(operations.only_user(end), *_LAYERS)
        if found is None:
            break
        numbers |= found.numbers
        kinds.add(found.kind)
        end = found.end
    return (numbers, end) if kinds & {*_WITH_WEIGHTS} else None


def _read_edges(blocks: FoundBlocks, scatter: int) -> _Edges | None:
    """Return how what is added up at nodes is computed of edges and their ends."""
    operations = blocks.operations
    node = operations.nodes[scatter]
    place = node.operator.operands.find("updates")
    value = node.input(place) if place is not None else None
    numbers = {scatter}
    last: int | None = None
    has_weights = False
    for _ in range(_MOST_LAYERS):
        number = operations.giver(operations.source(value)) if value is not None else None
        if number is None:
            return None
        found = blocks.ending(number, *_LAYERS)
        if found is not None:
            last = found.end if last is None else last
            has_weights |= found.kind in _WITH_WEIGHTS
            numbers |= found.numbers
            value = next(iter(operations.operands[min(found.numbers)]), None)
        elif operations.kinds[number] == "Add" and last is None:
            # what edges held before is added ahead of the sums
            made = [v for v in operations.operands[number] if _ends_layer(blocks, v)]
            if len(made) != 1:
                return None
            numbers.add(number)
            value = made[0]
        elif operations.nodes[number].operator.has("joins") and has_weights and last is not None:
            return _read_ends(operations, number, numbers, last)
        else:
            return None
    return None


def _ends_layer(blocks: FoundBlocks, value: Value) -> bool:
    return blocks.ending(blocks.operations.giver(value), *_LAYERS) is not None


def _read_ends(operations: Operations, join: int, numbers: set[int], last: int) -> _Edges | None:
    """Return what edges are computed of, where both ends are looked up and joined."""
    lookups = find_lookups(operations, join)
    of = {operations.operands[number][0] for number in lookups}
    ends = {operations.nodes[number].input(1) for number in lookups}
    if len(lookups) != _BOTH or len(of) != 1 or len(ends) != _BOTH:
        return None
    held = [v for v in operations.operands[join] if operations.giver(v) not in lookups]
    kept = [
        user
        for user in operations.users[last]
        if user >= 0
        and operations.kinds[user] == "Add"
        and any(value in held for value in operations.operands[user])
    ]
    return _Edges({*numbers, join, *lookups, *kept}, of.pop())
