"""Preparation: nodes that no node with a weight gives to, cut by what they feed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from netloupe.explorer.dataflow import Booleans, Integers, is_input_independent, list_users
from netloupe.explorer.model import Graph, Value
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.progress import step

from .computed_features import only_arranges
from .measured import join_measured
from .preparation_pieces import LEAST_ALIKE, LEAST_NODES, LEAST_SHARED, PreparationPiece
from .purposes import find_purpose

_STEP = 50_000
#: so many nodes are looked at to see whether one piece's users give to another's
_MOST_LOOKED = 500
#: stands for the outputs of the graph among what nodes feed
_OUTPUT = -1
_NOTHING = -2


def cut_preparation(
    graph: Graph,
    core: Booleans,
    is_before: Booleans,
    is_silent: Booleans,
    edges: tuple[Integers, Integers],
    carrying: Booleans,
) -> tuple[list[PreparationPiece], frozenset[int]]:
    """Cut the preparation of a graph into pieces by what they feed.

    A node belongs to the piece that all its results go to; where they go to several, a piece
    begins with it. Nodes that hang together only by what they feed are several pieces. Pieces of
    less than ``LEAST_NODES`` are none, but for some that feed several and have a purpose: their
    nodes join what they feed, as do pieces of the same operators of which each layer has its own.
    Those around what a layer takes and whose shape is asked for are one: see
    :func:`~netloupe.explorer.roles.measured.join_measured`.

    Parameters
    ----------
    core
        shape (nodes,): the nodes of preparation.
    is_before
        shape (nodes,): the nodes to which none with a weight gives.
    is_silent
        shape (nodes,): nodes to which giving does not count (arithmetic on shapes).
    edges
        Two of shape (edges,): which node gives to which.
    carrying
        shape (edges,): whether more is given than a shape.

    Returns
    -------
    list of PreparationPiece, frozenset of int
        The pieces, and the indices of the nodes that are in none.
    """
    shared: set[int] = set()
    sources, targets = (ends[carrying] for ends in edges)
    shapes = frozenset(np.flatnonzero(is_silent).tolist())
    heads = _find_heads(graph, core, is_silent, sources, targets, shared)
    members: dict[tuple[int, int], list[int]] = {}
    for index, leader in _connect(heads, core, sources, targets).items():
        members.setdefault((heads[index], leader), []).append(index)
    found: list[PreparationPiece] = []
    useless: list[int] = []
    for (head, _), nodes in members.items():
        nodes.reverse()  # they were found from the last one on
        is_shared = head in shared or (head in heads and heads[head] == head)
        if head == _NOTHING:
            useless += nodes
        else:
            found.append(PreparationPiece(tuple(nodes), is_shared))
    found = join_measured(graph, found, is_before, is_silent, edges, carrying)
    found = _join_side_by_side(graph, found)
    alike = Counter(
        _list_operators(graph, piece.nodes)
        for piece in found
        if not piece.is_shared and not piece.is_small
    )
    pieces: list[PreparationPiece] = []
    loose = useless
    small: list[PreparationPiece] = []
    for piece in found:
        is_large = len(piece.nodes) >= (LEAST_SHARED if piece.is_shared else LEAST_NODES)
        is_own = piece.is_shared or alike[_list_operators(graph, piece.nodes)] < LEAST_ALIKE
        if is_large and is_own:
            purpose = find_purpose(graph, shapes, piece.nodes)
            is_plain = piece.is_small or only_arranges(graph, piece.nodes)
            if purpose is not None or not is_plain:
                pieces.append(piece._replace(purpose=purpose))
                continue
        if piece.is_shared and piece.is_small:
            small.append(piece)
        else:
            loose += piece.nodes
    pieces, behind = _take_in_ends(graph, pieces, small, shapes)
    loose += behind
    pieces, left = _take_in(graph, pieces, loose)
    pieces.sort(key=lambda piece: piece.nodes)
    return pieces, frozenset(left)


def _find_giver(graph: Graph, value: Value) -> int:
    """Return which node of a graph gives a value; -1 for none of its own."""
    node = value.producer
    return -1 if node is None or node.graph is not graph else graph.index_of(node)


def _take_in_ends(
    graph: Graph,
    pieces: Sequence[PreparationPiece],
    small: Sequence[PreparationPiece],
    shapes: frozenset[int],
) -> tuple[list[PreparationPiece], list[int]]:
    """Add to each piece the few nodes behind it that take of it alone, and give to several others.

    So a mask is made of what tells padding: what is taken off where there is none, for all layers
    alike. In the first layer that takes it, it would seem to be a result of this. Returned are the
    pieces, and the nodes of those that are not added to any.
    """
    members = [[*piece.nodes] for piece in pieces]
    piece_of = {index: number for number, nodes in enumerate(members) for index in nodes}
    left: list[int] = []
    for end in sorted(small, key=lambda piece: piece.nodes):
        taken = {
            _find_giver(graph, value)
            for index in end.nodes
            for value in graph.nodes[index].inputs
            if value is not None and not is_input_independent(value)
        }
        givers = {piece_of.get(giver, -1) for giver in taken - {*end.nodes}}
        if len(givers) != 1 or -1 in givers:
            left += end.nodes
            continue
        number = givers.pop()
        members[number] += end.nodes
        piece_of.update(dict.fromkeys(end.nodes, number))
    return [
        piece
        if len(nodes) == len(piece.nodes)
        else piece._replace(
            nodes=tuple(sorted(nodes)),
            is_shared=True,
            purpose=find_purpose(graph, shapes, sorted(nodes)) or piece.purpose,
        )
        for piece, nodes in zip(pieces, members, strict=True)
    ], left


def _take_in(
    graph: Graph, pieces: Sequence[PreparationPiece], loose: Sequence[int]
) -> tuple[list[PreparationPiece], list[int]]:
    """Add what a piece gives several times, as places for each feature; return the rest, too.

    It would join something else that it feeds, to which the piece gives: a picture of both would be
    a circle. So would be one of pieces that take from one another, to which none is added. What
    several pieces alone take, as one index for scalars and for vectors, is added to the first.
    """
    piece_of = {index: number for number, piece in enumerate(pieces) for index in piece.nodes}
    left: list[int] = []
    added: set[int] = set()
    for index in sorted(loose, reverse=True) if pieces else loose:
        users = [*_list_users(graph, (index,))]
        within = [user for user in users if user in piece_of]
        is_given_often = all(
            user in added or graph.nodes[user].operator.has("broadcasts") for user in within
        )
        taking = {piece_of[user] for user in within}
        is_of_one = is_given_often and len(taking) == 1
        only_turns = graph.nodes[index].operator.has(*LAYOUT_TRAITS)
        is_of_several = only_turns and len(taking) > 1 and len(within) == len(users)
        is_of_several &= any(graph.nodes[user].operator.has("broadcasts") for user in within)
        first = min(taking, key=lambda number: pieces[number].nodes[-1], default=None)
        number = first if is_of_one or is_of_several else None
        if number is None or _takes_from_others(graph, (index, *pieces[number].nodes), piece_of):
            left.append(index)
        else:
            piece_of[index] = number
            added.add(index)
    members: list[list[int]] = [[] for _ in pieces]
    for index, number in piece_of.items():
        members[number].append(index)
    taken = [
        piece._replace(nodes=tuple(sorted(nodes)))
        for piece, nodes in zip(pieces, members, strict=True)
    ]
    return taken, left


def _takes_from_others(graph: Graph, nodes: Sequence[int], piece_of: Mapping[int, int]) -> bool:
    """Return whether the first of some nodes, or those of its piece, take from another piece."""
    own = piece_of[nodes[-1]]
    return any(
        piece_of.get(graph.index_of(value.producer), own) != own
        for index in nodes
        for value in graph.nodes[index].inputs
        if value is not None and value.producer is not None and value.producer.graph is graph
    )


def _join_side_by_side(graph: Graph, pieces: Sequence[PreparationPiece]) -> list[PreparationPiece]:
    """Join pieces of the same operators whose users stand side by side.

    So the places are where each level of a pyramid of correlations is looked up (Z. Teed and J.
    Deng, RAFT, 2020, section 3.2). Pieces of layers, which take from one another, stay apart.
    """
    families: dict[tuple[str, ...], list[PreparationPiece]] = {}
    for piece in pieces:
        if not piece.is_shared and not piece.is_small:
            users = [graph.nodes[index].operator for index in _list_users(graph, piece.nodes)]
            tells_places = bool(users) and all(user.has("samples") for user in users)
            key = ("samples",) if tells_places else _list_operators(graph, piece.nodes)
            families.setdefault(key, []).append(piece)
    joined: dict[int, PreparationPiece] = {}
    for family in families.values():
        if len(family) < LEAST_ALIKE or not _are_side_by_side(graph, family):
            continue
        nodes = tuple(sorted(index for piece in family for index in piece.nodes))
        joined.update((id(piece), PreparationPiece(nodes, True)) for piece in family)
    found = [joined.get(id(piece), piece) for piece in pieces]
    return [*{piece.nodes: piece for piece in found}.values()]


def _are_side_by_side(graph: Graph, family: Sequence[PreparationPiece]) -> bool:
    """Return whether what takes one of some pieces gives nothing to what takes another."""
    users = [{*_list_users(graph, piece.nodes)} for piece in family]
    if not all(users):
        return False
    last = max(node for taking in users for node in taking)
    if len({*map(frozenset, users)}) == 1:
        return True  # they are operands of the same node
    pending = [*set[int]().union(*users)]
    wanted, seen = {*pending}, {*pending}
    while pending:
        for node in _list_users(graph, (pending.pop(),)):
            if node in wanted or len(seen) > _MOST_LOOKED:
                return False
            if node < last and node not in seen:
                seen.add(node)
                pending.append(node)
    return True


def _list_users(graph: Graph, nodes: Sequence[int]) -> Iterator[int]:
    """Yield the indices of the nodes of a graph that take results of some of its nodes."""
    inside = {*nodes}
    for index in nodes:
        for user in list_users(graph.nodes[index]):
            if user.graph is graph and user.index not in inside:
                yield graph.index_of(user)


def _connect(
    heads: dict[int, int], core: Booleans, sources: Integers, targets: Integers
) -> dict[int, int]:
    """Return for each node one of those with the same head that it hangs together with."""
    leaders = {index: index for index in heads}

    def find(index: int) -> int:
        while leaders[index] != index:
            leaders[index] = leaders[leaders[index]]
            index = leaders[index]
        return index

    inner = core[sources] & core[targets]
    for source, target in zip(sources[inner].tolist(), targets[inner].tolist(), strict=True):
        if heads[source] == heads[target]:
            leaders[find(source)] = find(target)
    return {index: find(index) for index in heads}


def _list_operators(graph: Graph, nodes: Sequence[int]) -> tuple[str, ...]:
    return tuple(graph.nodes[index].op_type for index in nodes)


def _find_heads(
    graph: Graph,
    core: Booleans,
    is_silent: Booleans,
    sources: Integers,
    targets: Integers,
    shared: set[int],
) -> dict[int, int]:
    """Return what each node of preparation leads to, from the last node to the first.

    That is a node outside or an output of the graph that all its results go to, by whatever ways,
    or the last node of preparation that they all pass. Cosine and sine of the same angles count as
    leading to the same; what they lead to is added to ``shared``.
    """
    counted = core[sources] & ~is_silent[targets]
    order = np.argsort(sources[counted], kind="stable")
    ends = targets[counted][order].tolist()
    starts = np.searchsorted(sources[counted][order], np.arange(len(core) + 1))
    heads: dict[int, int] = {}
    united: dict[int, int] = {}

    def find(head: int) -> int:
        while head in united:
            head = united[head]
        return head

    inside: Sequence[int] = np.flatnonzero(core)[::-1].tolist()
    for number, index in enumerate(inside):
        if not number % _STEP:
            step()
        following = ends[starts[index] : starts[index + 1]]
        found = {find(heads.get(end, end)) for end in following}
        if len(found) > 1 and _gives_angles(graph, following):
            first = max(found)  # cosine and sine of the same angles are one
            united.update({other: first for other in found if other != first})
            shared.add(first)
            found = {first}
        if any(value is not None and value.is_output for value in graph.nodes[index].outputs):
            found.add(_OUTPUT)
        if not found:
            found.add(_NOTHING)
        heads[index] = found.pop() if len(found) == 1 else index
    return {index: find(head) for index, head in heads.items()}


def _gives_angles(graph: Graph, following: Sequence[int]) -> bool:
    """Return whether nodes are one cosine and one sine."""
    operators = [graph.nodes[index].operator for index in following[:3]]
    takes_sine = all(operator.has("takes_sine") for operator in operators)
    return takes_sine and len(operators) == 2 == len({operator.form for operator in operators})
