"""Pieces of preparation: nodes that hang together, what takes what they give, what they do."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from netloupe.explorer.model import Graph, Node, Value

#: fewer nodes that feed one other join it
LEAST_NODES = 3
#: fewer are a piece where they feed several, and it is certain what they do
LEAST_SHARED = 2
#: so many pieces of the same operators, each of which feeds one other, repeat with what they feed
LEAST_ALIKE = 3

#: names of purposes that are put together where several pieces have them
MASK, EDGE_ENDS = "attention mask", "ends of edges"


class Purpose(NamedTuple):
    """What a piece of preparation does.

    Parameters
    ----------
    name
        As a person would call it: ``attention mask``.
    facts
        What more is certain: ``causal``, ``padding``.
    is_idea
        Whether a drawing of the network shows it: encodings of what comes in, learned tokens.
    """

    name: str
    facts: tuple[str, ...] = ()
    is_idea: bool = False


class PreparationPiece(NamedTuple):
    """Nodes of preparation that hang together and do one thing.

    Parameters
    ----------
    nodes
        Their indices, in order.
    is_shared
        Whether they feed several other nodes, not only one.
    purpose
        What they do; None where that is not certain.
    """

    nodes: tuple[int, ...]
    is_shared: bool
    purpose: Purpose | None = None

    @property
    def is_small(self) -> bool:
        """Whether the nodes are too few to be a box, unless their purpose is certain."""
        return len(self.nodes) < LEAST_NODES


class PreparationUse(NamedTuple):
    """A use of what a piece gives, by a node outside of it."""

    value: Value
    user: Node


class PreparationNodes:
    """Nodes of preparation, with what they do and their uses."""

    def __init__(self, graph: Graph, shapes: Container[int], nodes: Sequence[int]) -> None:
        self.graph = graph
        self.nodes = [graph.nodes[index] for index in nodes]
        self.inside = {*self.nodes}
        self.traits = frozenset[str]().union(*(node.operator.traits for node in self.nodes))
        self.uses = [*self._list_uses(shapes)]

    def _list_uses(self, shapes: Container[int]) -> Iterator[PreparationUse]:
        for node in self.nodes:
            for value in node.outputs:
                for user in value.users if value is not None else ():
                    if user in self.inside or (user.graph is self.graph and user.index in shapes):
                        continue
                    if not user.operator.has("reads_shape"):
                        assert value is not None  # noqa: S101 - it has users
                        yield PreparationUse(value, user)

    def list_inputs(self) -> list[Value]:
        """Return the inputs of the graph whose elements the piece takes."""
        return [
            *dict.fromkeys(
                value
                for node in self.nodes
                if not node.operator.has("reads_shape")
                for value in node.inputs
                if value is not None and value.is_input and value.initializer is None
            )
        ]


def list_places(use: PreparationUse) -> set[int]:
    """Return as which operands of its user a value is used."""
    return {place for place, value in enumerate(use.user.inputs) if value is use.value}
