"""What nodes of two models take in one of them alone, told in the values of the merged model."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from netloupe.explorer.model import Graph, Node, Value, is_constant

from .matching import Matching

#: through so many inserted nodes a value is followed from where it was taken to where it is now
_MOST_INSERTED = 8


class OtherOperands(NamedTuple):
    """What a node that both models have takes in one of them alone, constants aside.

    Parameters
    ----------
    former
        Values of the merged model that it takes in the older model alone.
    latter
        Values of the merged model that it takes in the newer model alone, although the older one
        has them.
    """

    former: tuple[Value, ...]
    latter: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class OperandComparison:
    """Compares what paired nodes of two graphs take, in one graph that was made of both.

    Parameters
    ----------
    matching
        The pairs.
    graph
        The graph that was made of both.
    older, newer
        By node or value of the older and of the newer model what stands for it.
    find_older
        Returns what stands for a value of the older graph; it is made where there is nothing yet.
    gone
        Nodes of the older model that have no partner.
    partners
        By node of the older model its partner.
    inserted
        Nodes of ``graph`` that only the newer model has.
    """

    matching: Matching
    graph: Graph
    older: Mapping[Node | Value, Node | Value]
    newer: Mapping[Node | Value, Node | Value]
    find_older: Callable[[Value | None], Value | None]
    gone: Container[Node]
    partners: Container[Node]
    inserted: Container[Node]

    def compare(self, left: Node, right: Node, merged: Node) -> OtherOperands:
        """Return what paired nodes take in one model alone.

        Parameters
        ----------
        left, right
            The node of the older and the one of the newer graph.
        merged
            What stands for both.
        """
        taken = [*map(self._find_taken, left.inputs)]
        former = dict.fromkeys(
            made
            for made in taken
            if made is not None
            and made not in merged.inputs
            and not _reaches(made, merged, self.inserted)
        )
        return OtherOperands(tuple(former), self._find_latter(left, right, {*taken}))

    def _find_latter(
        self, left: Node, right: Node, taken: Container[Value | None]
    ) -> tuple[Value, ...]:
        """Return what a node takes now and did not take, of what both graphs have."""
        back = self.matching.values_back
        found: dict[Value, None] = {}
        for value in right.inputs:
            if value is None or is_constant(value) or value not in back:
                continue
            made = self.newer.get(value)
            if not isinstance(made, Value) or made in taken or made.graph is not self.graph:
                continue
            if not _reaches(back[value], left, self.gone):
                found[made] = None
        return tuple(found)

    def _find_taken(self, value: Value | None) -> Value | None:
        """Return what stands for an operand of the older graph, but for constants."""
        if value is None or is_constant(value):
            return None
        known = self.older.get(value)
        if known is None:
            partner = self.matching.values.get(value)
            known = None if partner is None else self.newer.get(partner)
        if known is None and value.producer in self.partners:
            known = self.find_older(value)
        return known if isinstance(known, Value) and known.graph is self.graph else None


def _reaches(value: Value, node: Node, through: Container[Node]) -> bool:
    """Return whether a value reaches a node through a few of some nodes, and no others."""
    pending = [taken.producer for taken in node.inputs if taken is not None]
    for _ in range(_MOST_INSERTED):
        following: list[Node | None] = []
        for giver in pending:
            if giver is None or giver not in through:
                continue
            if value in giver.inputs:
                return True
            following += [taken.producer for taken in giver.inputs if taken is not None]
        pending = following
    return False
