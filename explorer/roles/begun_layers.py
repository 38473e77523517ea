"""What the first of several layers begins with, where all of them do: no preparation.

A graph convolution adds up neighbours before it has a weight (K. Xu and others, How Powerful are
Graph Neural Networks?, 2019, equation 4.1). Of the first layer no node with a weight gives to
that sum, but the others have the same one behind weights. So has the first step of a normalizing
flow, which scales and permutes its input (G. Papamakarios and others, Masked Autoregressive Flow
for Density Estimation, 2017, section 3.1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from netloupe.explorer.dataflow import Booleans, is_input_independent, list_users
from netloupe.explorer.model import Graph, Node

from .preparation_pieces import PreparationPiece
from .weights import find_weight

#: so many other layers begin as the first one
_LEAST_OTHERS = 2
#: so many nodes tell a beginning of a block that others than one weight follow on
_LEAST_TELLING = 4
#: more nodes are no beginning of a layer; so many pieces and layers are looked at
_MOST_NODES, _MOST_PIECES, _MOST_LAYERS = 16, 32, 64
#: of so many nodes of one operator those that feed the same are looked at
_MOST_LIKE = 1000


def find_begun_layers(
    graph: Graph, pieces: Iterable[PreparationPiece], is_before: Booleans
) -> list[PreparationPiece]:
    """Return the pieces with which the first layer begins as others do.

    That is one whose last node alone feeds something else, and once: a node with a weight. Others
    of its operator take what nodes behind weights compute in the same way, node by node, with
    stored operands where the piece has some. Or one all of which leads to its last node, where
    others are computed in the same way, and each node feeds as many of the same operators.

    Parameters
    ----------
    pieces
        The preparation.
    is_before
        shape (nodes,): the nodes to which none with a weight gives.
    """
    found: list[PreparationPiece] = []
    tried = 0
    for piece in pieces:
        if piece.purpose is not None or len(piece.nodes) > _MOST_NODES:
            continue
        tried += 1
        if tried > _MOST_PIECES:
            break
        inside = {graph.nodes[index] for index in piece.nodes}
        ends = [(node, user) for node in inside for user in list_users(node) if user not in inside]
        if not ends or any(user.graph is not graph for _, user in ends):
            continue
        last, user = max(ends, key=lambda end: graph.index_of(end[0]))
        is_layer = len(ends) == 1 and not piece.is_shared and find_weight(user) is not None
        if not is_layer and len(piece.nodes) < _LEAST_TELLING:
            continue
        alike = 0
        for other in _list_others(graph, last, user) if is_layer else _list_like(graph, last):
            pairs = {} if is_before[graph.index_of(other)] else _pair(last, other, inside)
            alike += bool(pairs) and (is_layer or all(map(_feed_alike, pairs, pairs.values())))
        if alike >= _LEAST_OTHERS:
            found.append(piece)
    return found


def _list_others(graph: Graph, last: Node, user: Node) -> Iterator[Node]:
    """Yield what other nodes of a node's operator take where this one takes another's result.

    Those of the same weight are steps of a loop, of which the first may begin differently.
    """
    own = {*user.inputs} - {None}
    operators = graph.wiring.operators
    slots = [slot for slot, value in enumerate(user.inputs) if value in last.outputs]
    alike = np.flatnonzero(operators == operators[graph.index_of(user)])
    for index in alike[: _MOST_LAYERS + 1].tolist():
        node = graph.nodes[index]
        for slot in slots[:1] if own.isdisjoint(node.inputs) else ():
            value = node.input(slot)
            giver = value.producer if value is not None else None
            if giver is not None and giver is not last and giver.graph is graph:
                yield giver


def _list_like(graph: Graph, last: Node) -> Iterator[Node]:
    """Yield other nodes of a node's operator that feed as many nodes of the same operators."""
    operators = graph.wiring.operators
    alike = np.flatnonzero(operators == operators[graph.index_of(last)])
    for index in alike[:_MOST_LIKE].tolist():
        node = graph.nodes[index]
        if node is not last and _feed_alike(last, node):
            yield node


def _feed_alike(one: Node, other: Node) -> bool:
    ours, theirs = list_users(one), list_users(other)
    return len(ours) == len(theirs) and _count_operators(ours) == _count_operators(theirs)


def _count_operators(nodes: Sequence[Node]) -> Counter[str]:
    return Counter(node.op_type for node in nodes)


def _pair(first: Node, other: Node, inside: set[Node]) -> dict[Node, Node]:
    """Return what leads to another node as a piece does to one of it, by nodes; {} for no such.

    A sum that each layer adds to begins with a stored number, as the logarithms of determinants of
    a flow do with 0 (D. Rezende and S. Mohamed, Variational Inference with Normalizing Flows, 2015,
    equation 7): what the first layer adds is stored as a whole, where it depends on no data.
    """
    pairs = {first: other}
    pending = [first]
    while pending:
        ours = pending.pop()
        theirs = pairs[ours]
        if ours.op_type != theirs.op_type or len(ours.inputs) != len(theirs.inputs):
            return {}
        for own, value in zip(ours.inputs, theirs.inputs, strict=True):
            if own is None or value is None:
                if own is not value:
                    return {}
            elif own.producer in inside:
                giver, source = value.producer, own.producer
                if giver is None or source is None:
                    return {}
                if source not in pairs:
                    pairs[source] = giver
                    pending.append(source)
                elif pairs[source] is not giver:
                    return {}
            elif is_input_independent(own) != is_input_independent(value):
                begins_sum = ours.operator.has("adds") and _is_fixed(ours)
                if not begins_sum:
                    return {}
    return pairs if pairs.keys() == inside else {}


def _is_fixed(node: Node) -> bool:
    return all(value is None or is_input_independent(value) for value in node.outputs)
