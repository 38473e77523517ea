"""Networks of graphs whose edges are given: as a table of pairs of nodes, or of their distances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from netloupe.explorer.model import TensorType, Value

from .outline import Outline, OutlinePart
from .pieces import Piece, list_piece_weights
from .sizes import read_stated_shape

#: messages go along edges in so many rounds at least
_LEAST_ROUNDS = 2
#: a graph has so many nodes at least, of which each pair has an entry
_LEAST_NODES = 2
_PAIR = 2
#: so many operations are between messages that are masked and their sum
_MOST_BEHIND = 3
_LEAST_CALLS = 2


def sums_by_table(outline: Outline) -> bool:
    """Return whether what all nodes send is kept where a given table has an edge, and summed up.

    G. Corso and others, Principal Neighbourhood Aggregation for Graph Nets, 2020, equation 8, on
    an adjacency matrix; in several rounds, of which each follows the one before.
    """
    tables = [value for value in outline.graph.inputs if _is_of_pairs(outline, value)]
    last: OutlinePart | None = None
    rounds = 0
    for masked in _list_masked(outline, tables) if tables else ():
        part = outline.owner(masked)
        if last is not None and not part.follows(last):
            continue
        total = _find_sum(outline, masked)
        if total is not None:
            rounds += 1
            last = total
    return rounds >= _LEAST_ROUNDS


def takes_pairs(outline: Outline) -> bool:
    """Return whether numbers of pairs of nodes are looked up in a table: how far one is from other.

    C. Ying and others, Do Transformers Really Perform Badly for Graph Representation?, 2021,
    section 3.1.2: what attention is biased by.
    """
    operations = outline.operations
    tables = {value for value in outline.graph.inputs if _is_of_pairs(outline, value)}
    return any(
        part.kind == "embedding" and operations.source(value) in tables
        for part in outline.parts
        for value in outline.operands(part)
        if isinstance(value.type, TensorType) and value.type.dtype.is_integer
    )


def update_over_depth(outline: Outline, pieces: Sequence[Piece]) -> set[int]:
    """Return the ids of recurrent cells that are steps of no sequence, but behind layers in turn.

    So a state is updated by one cell behind each layer of a graph network, of which each has
    weights of its own; what is between the steps of a sequence has the same in all of them.
    """
    calls: dict[frozenset[tuple[bool, int]], list[Piece]] = {}
    weights = {id(piece): list_piece_weights(outline, piece) for piece in pieces}
    for piece in pieces:
        if piece.kind == "unrolled" and weights[id(piece)]:
            calls.setdefault(weights[id(piece)], []).append(piece)
    found: set[int] = set()
    for row in calls.values():
        between = [
            [
                weights[id(p)]
                for p in pieces
                if p.part.follows(one.part) and two.part.follows(p.part)
            ]
            for one, two in pairwise(row)
        ]
        own = [{*held} - {frozenset[tuple[bool, int]]()} for held in between]
        is_each = all(own) and all(
            not one & other for place, one in enumerate(own) for other in own[place + 1 :]
        )
        if len(row) > _LEAST_CALLS and is_each:
            found |= {id(piece) for piece in row}
    return found


def _is_of_pairs(outline: Outline, value: Value) -> bool:
    """Return whether an input has a number for each pair of what another input has one of."""
    shape = read_stated_shape(value)
    if value.initializer is not None or shape is None or len(shape) < _PAIR:
        return False
    nodes = shape[-1]
    if shape[-2] != nodes or (isinstance(nodes, int) and nodes < _LEAST_NODES):
        return False
    others = [one for one in outline.graph.inputs if one is not value and one.initializer is None]
    return nodes is not None and any(
        nodes in (other[:-1] if len(other) > _PAIR else other)
        for one in others
        if (other := read_stated_shape(one)) is not None
    )


def _list_masked(outline: Outline, tables: Sequence[Value]) -> Iterator[int]:
    """Yield the products of what is computed of nodes with what is computed of a table alone."""
    operations = outline.operations
    alone = {*tables}
    for number, node in enumerate(operations.nodes):
        sources = [operations.source(value) for value in operations.operands[number]]
        of_table = [source in alone for source in sources]
        if sources and all(of_table):
            alone |= {value for value in node.outputs if value is not None}
        elif any(of_table) and node.operator.has("multiplies_elements"):
            yield number


def _find_sum(outline: Outline, number: int) -> OutlinePart | None:
    """Return what takes a sum, or a mean, of a product; None where nothing near does."""
    near = [number]
    for _ in range(_MOST_BEHIND):
        near = [user for one in near for user in outline.operations.users[one] if user >= 0]
        for user in near:
            if outline.operations.nodes[user].operator.has("reduces"):
                return outline.owner(user)
    return None
