"""Pairs of nodes that are part of no unit: constants, and nodes that only pass something on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from netloupe.explorer.model import Graph, Node, Value

_MOST_USERS = 10_000


def pair_nodes_outside_units(
    left: Graph, right: Graph, known: dict[Node, Node], paired: set[Node]
) -> Iterator[tuple[Node, Node]]:
    """Yield further pairs: neighbours of paired nodes that have the same operator.

    Parameters
    ----------
    left, right
        The graphs.
    known
        Nodes of the left graph with those of the right one that they are paired with. What is
        yielded is added.
    paired
        The nodes of both that are in a pair. What is yielded is added.
    """
    # what alone takes a result goes with it, whatever order the blocks stand in around it
    added = [*known.items()]
    while added:
        added = _add(_pair_sole_users(added), known, paired)
        yield from added
    waiting = [*known.items()]
    if len(left.outputs) == len(right.outputs):
        givers = [
            (one.producer, other.producer)
            for one, other in zip(left.outputs, right.outputs, strict=True)
            if one.producer is not None and other.producer is not None
        ]
        added = _add(givers, known, paired)
        waiting += added
        yield from added
    if len(left.inputs) == len(right.inputs):
        for one, other in zip(left.inputs, right.inputs, strict=True):
            added = _add(_pair_users(one, other, paired), known, paired)
            waiting += added
            yield from added
    while waiting:
        node, partner = waiting.pop()
        candidates = [*_pair_givers(node, partner), *_pair_results(node, partner, paired)]
        added = _add(candidates, known, paired)
        waiting += added
        yield from added


def pair_same_operators(
    lefts: Sequence[Node], rights: Sequence[Node]
) -> Iterator[tuple[Node, Node]]:
    """Yield pairs of nodes of two blocks that do the same, as far as these have the same operators.

    First come those that are the only ones of their operator, then what gives them their operands
    and what takes their results, and at last, where the blocks consist of the same operators, the
    others in the order of their files.
    """
    known: dict[Node, Node] = {}
    #: nodes that are no part of a block count as paired
    others = {user for node in (*lefts, *rights) for user in _list_around(node)}
    paired = others - {*lefts, *rights}
    first, second = (Counter(node.operator.form for node in nodes) for nodes in (lefts, rights))
    single = {form for form, count in first.items() if count == second[form] == 1}
    free = [(_choose(lefts, form), _choose(rights, form)) for form in sorted(single)]
    while free:
        waiting = _add(free, known, paired)
        while waiting:
            node, partner = waiting.pop()
            candidates = [*_pair_givers(node, partner), *_pair_results(node, partner, paired)]
            waiting += _add(candidates, known, paired)
        if first != second:
            break
        left, right = (
            sorted(
                (node for node in nodes if node not in paired),
                key=lambda node: (node.operator.form, node.index),
            )
            for nodes in (lefts, rights)
        )
        free = [*zip(left, right, strict=True)][:1]
    yield from known.items()


def _choose(nodes: Sequence[Node], form: str) -> Node:
    return next(node for node in nodes if node.operator.form == form)


def _list_around(node: Node) -> Iterator[Node]:
    """Yield the nodes that a node takes from or gives to; a few of very many."""
    for value in node.inputs[:_MOST_USERS]:
        if value is not None and value.producer is not None:
            yield value.producer
    for value in node.outputs[:_MOST_USERS]:
        if value is not None:
            yield from value.users[:_MOST_USERS]


def _add(
    candidates: Iterable[tuple[Node, Node]],
    known: dict[Node, Node],
    paired: set[Node],
) -> list[tuple[Node, Node]]:
    added = []
    for one, other in candidates:
        if one in paired or other in paired or one.operator.form != other.operator.form:
            continue
        known[one] = other
        paired |= {one, other}
        added.append((one, other))
    return added


def _pair_givers(node: Node, partner: Node) -> Iterator[tuple[Node, Node]]:
    """Yield the nodes that give two nodes what they take at the same place."""
    if len(node.inputs) != len(partner.inputs):
        return
    for one, other in zip(node.inputs, partner.inputs, strict=True):
        if one is not None and other is not None:
            giver, other_giver = one.producer, other.producer
            is_inside = one.graph is node.graph and other.graph is partner.graph
            if giver is not None and other_giver is not None and is_inside:
                yield giver, other_giver


def _pair_results(node: Node, partner: Node, paired: set[Node]) -> Iterator[tuple[Node, Node]]:
    for one, other in zip(node.outputs, partner.outputs, strict=False):
        if one is not None and other is not None:
            yield from _pair_users(one, other, paired)


def _pair_sole_users(known: Iterable[tuple[Node, Node]]) -> Iterator[tuple[Node, Node]]:
    """Yield the nodes that alone take a result of two nodes, at the same place."""
    for node, partner in known:
        for one, other in zip(node.outputs, partner.outputs, strict=False):
            if one is None or other is None or len(one.users) != 1 or len(other.users) != 1:
                continue
            user, other_user = one.users[0], other.users[0]
            is_inside = user.graph is node.graph and other_user.graph is partner.graph
            if is_inside and user.inputs.index(one) == other_user.inputs.index(other):
                yield user, other_user


def _pair_users(one: Value, other: Value, paired: set[Node]) -> Iterator[tuple[Node, Node]]:
    """Yield the users of two values that are the only ones of their operator left."""
    sides: list[dict[tuple[str, str], Node | None]] = []
    for value in (one, other):
        found: dict[tuple[str, str], Node | None] = {}
        users = value.users
        if len(users) > _MOST_USERS:
            return
        for user in users:
            if user.graph is value.graph and user not in paired:
                key = user.domain, user.op_type
                found[key] = None if key in found else user
        sides.append(found)
    for key, single in sides[0].items():
        partner = sides[1].get(key)
        if single is not None and partner is not None:
            yield single, partner
