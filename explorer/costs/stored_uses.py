"""Where nodes use stored numbers, perhaps in another layout or type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

from netloupe.explorer.dataflow import trace_back
from netloupe.explorer.model import (
    Graph,
    Node,
    SparseTensor,
    Tensor,
    Value,
    find_constant_source,
    find_nodes_where,
)
from netloupe.explorer.operators import PASSING_TRAITS, Operator
from netloupe.explorer.progress import step

ConstantKind = Literal["attention bias", "other"]

_STEP = 1_000
_MOST_STEPS = 12


class ConstantUse(NamedTuple):
    """A use that no weight has.

    Parameters
    ----------
    node, place
        The node, and which of its inputs the number is.
    kind
        ``attention bias`` where it is added to the scores of attention: a mask, or a table of
        relative positions that was written out for all pairs; else ``other``.
    """

    node: Node
    place: int
    kind: ConstantKind


class StoredUse(NamedTuple):
    """Where an initializer is used: by a node, as its input of a number."""

    node: Node
    place: int
    tensor: Tensor | SparseTensor

    def use_as(self, kind: ConstantKind) -> ConstantUse:
        """Return that the use there is one that no weight has."""
        return ConstantUse(self.node, self.place, kind)


def trace(node: Node, place: int) -> StoredUse | None:
    """Return where the initializer is used that a node takes, perhaps in another layout."""
    for _ in range(_MOST_STEPS):
        value = node.input(place)
        if value is None:
            return None
        if value.initializer is not None:
            return StoredUse(node, place, value.initializer)
        producer = value.producer
        if producer is None or not producer.operator.has(*PASSING_TRAITS) or not producer.inputs:
            return None
        node, place = producer, 0
    return None


def list_traced(node: Node, places: Iterable[int]) -> list[StoredUse]:
    """Return the same for some inputs of a node, without those that are computed."""
    return [one for place in places if (one := trace(node, place)) is not None]


def is_stored_value(value: Value | None) -> bool:
    """Return whether a value is stored or filled, perhaps in another layout or type."""
    return any(
        source.initializer is not None
        or (
            source.producer is not None
            and find_constant_source(source.producer.operator) is not None
        )
        for source in trace_back(value, *PASSING_TRAITS, most=_MOST_STEPS)
    )


def list_nodes(graph: Graph, holds: Callable[[Operator], bool]) -> Iterator[Node]:
    """Yield the nodes for whose operator something holds."""
    for number, index in enumerate(find_nodes_where(graph, holds).tolist()):
        if not number % _STEP:
            step()
        yield graph.nodes[index]
