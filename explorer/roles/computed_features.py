"""What computes features of what comes in, before the first weight: differences, norms, bases.

Drawings show it: distances of atoms and their radial basis (K. Schuett and others, SchNet, 2017,
figure 2), the nearest neighbours of points (Y. Wang and others, Dynamic Graph CNN, 2019, figure 2).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard

from netloupe.explorer.model import Graph, Node, TensorType, Value
from netloupe.explorer.operators import ARRANGING_TRAITS

from .preparation_pieces import PreparationPiece, Purpose

#: what such nodes are called, before the name of the input
FEATURES = "features"
#: more nodes are not looked at
_MOST_LOOKED = 500
#: what gives no features: sizes, and what is true of something
_OTHER = ("compares", "logical", "reads_shape")
_MOST_NAME = 24
_REAL = ("float", "bfloat", "double")


def tell_features(graph: Graph, piece: PreparationPiece) -> PreparationPiece:
    """Return a piece with the purpose to compute features of inputs, where it does no other thing.

    Parameters
    ----------
    graph
        The graph.
    piece
        Nodes that no node with a weight gives to.
    """
    if piece.purpose is not None:
        return piece
    sources: dict[Node, frozenset[str]] = {}
    names = frozenset[str]().union(
        *(
            _find_sources(node, sources)
            for node in (graph.nodes[index] for index in piece.nodes)
            if not node.operator.has(*ARRANGING_TRAITS, *_OTHER)
        )
    )
    if not names:
        return piece
    name = next(iter(names)) if len(names) == 1 else ""
    is_told = 0 < len(name) <= _MOST_NAME
    text = f"{FEATURES} of {name}" if is_told else FEATURES
    return piece._replace(purpose=Purpose(text))


def only_arranges(graph: Graph, nodes: Iterable[int]) -> bool:
    """Return whether some nodes do no more than put real numbers that come in elsewhere."""
    sources: dict[Node, frozenset[str]] = {}
    return all(
        node.operator.has(*ARRANGING_TRAITS) and bool(_find_sources(node, sources))
        for node in (graph.nodes[index] for index in nodes)
    )


def _find_sources(node: Node, known: dict[Node, frozenset[str]]) -> frozenset[str]:
    """Return the names of the inputs of real numbers that a node computes with, by way of others.

    Nothing where too much stands before it.
    """
    pending = [node]
    while pending:
        one = pending[-1]
        if one in known:
            pending.pop()
            continue
        givers = [] if one.operator.has(*_OTHER) else _list_givers(one)
        waiting = [giver for giver in givers if giver not in known]
        if len(known) + len(pending) > _MOST_LOOKED:
            return frozenset()
        if waiting:
            pending += waiting
            continue
        own = () if one.operator.has(*_OTHER) else (v.name for v in one.inputs if _is_feature(v))
        known[one] = frozenset(own).union(*(known[giver] for giver in givers))
        pending.pop()
    return known[node]


def _list_givers(node: Node) -> list[Node]:
    return [
        value.producer
        for value in node.inputs
        if value is not None and value.producer is not None and value.producer.graph is node.graph
    ]


def _is_feature(value: Value | None) -> TypeGuard[Value]:
    """Return whether a value comes in and is of real numbers, several for each example."""
    if value is None or not value.is_input or not isinstance(value.type, TensorType):
        return False
    shape = value.type.shape
    return str(value.type.dtype).startswith(_REAL) and shape is not None and len(shape) > 1
