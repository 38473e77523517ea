"""Loops that a program runs and an exporter writes out, found by the weights that all steps use.

Each use of one stored matrix that takes from the use before is the middle of a step.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from netloupe.explorer.model import Graph, Node

from .called_children import Child, ChildRow, list_givers, list_nodes_of
from .group import Group
from .loop_steps import StepSearch, UnrolledLoop
from .order import rank_producers_first
from .shared_tensors import Stored

#: so many matrices of one group are tried
_MOST_TRIED = 12


class LoopSearch:
    """Finds loops among the children of groups.

    Parameters
    ----------
    graph
        Of at most `MOST_NODES` nodes.
    tensors
        The stored matrices that several nodes use, by these.
    left_out
        Indices of nodes whose results are followed no further, as arithmetic on shapes.
    labels
        The labels of nodes that stand for a group of one, by index.
    beforehand
        Indices of the nodes of preparation, which are in no group yet.
    """

    def __init__(
        self,
        graph: Graph,
        tensors: Mapping[Node, Stored],
        left_out: Container[int],
        labels: Mapping[int, str],
        beforehand: Iterable[int] = (),
    ) -> None:
        self._tensors = tensors
        self._beforehand = {graph.nodes[index] for index in beforehand}
        self._labels = labels
        ranks = rank_producers_first(graph)
        order = sorted(range(len(graph.nodes)), key=ranks.__getitem__)
        self._order = [graph.nodes[index] for index in order if index not in left_out]
        self._ranks = {node: rank for rank, node in enumerate(self._order)}
        self._givers = {node: [*list_givers(node, self._ranks)] for node in self._order}

    def find(self, children: Sequence[Child]) -> UnrolledLoop | None:
        """Return the loop with the largest weights among some children; None for none."""
        row = ChildRow(children, self._tensors, self._labels, self._givers, self._beforehand)
        for tensor in row.list_candidates()[:_MOST_TRIED]:
            steps = self._follow(row, tensor)
            if steps is not None:
                return steps
        return None

    def has_several(self, group: Group) -> bool:
        """Return whether a group has nodes with shared weights at all."""
        return any(node in self._tensors for node in list_nodes_of(group))

    def _follow(self, row: ChildRow, tensor: Stored) -> UnrolledLoop | None:
        uses = row.users[tensor]
        spread = self._spread(row, tensor, uses)
        return StepSearch(row, uses, *spread).make() if spread is not None else None

    def _spread(
        self, row: ChildRow, tensor: Stored, uses: Sequence[int]
    ) -> tuple[list[int], list[int], set[Node]] | None:
        """Return for each child the last use before it, and the first behind it; None for no loop.

        -1 for none before, and the number of uses for none behind. And all nodes behind a use.
        """
        numbers = {place: number for number, place in enumerate(uses)}
        own = {node: numbers[place] for place in uses for node in row.nodes[place]}
        ranks = [self._ranks[node] for node in row.owners if node in self._ranks]
        nodes = self._order[min(ranks, default=0) : max(ranks, default=0) + 1]
        before: dict[Node, int] = {}
        follows = {0}
        for node in nodes:
            last = max((before.get(giver, -1) for giver in self._givers[node]), default=-1)
            if node in own:
                if last > own[node]:
                    return None
                if last == own[node] - 1:
                    follows.add(own[node])
                last = own[node]
            before[node] = last
        if len(follows) < len(uses):
            return None
        end = len(uses)
        behind: dict[Node, int] = {}
        for node in reversed(nodes):
            first = behind[node] = min(own.get(node, end), behind.get(node, end))
            for giver in self._givers[node]:
                behind[giver] = min(behind.get(giver, end), first)
        lasts = [max((before.get(node, -1) for node in each), default=-1) for each in row.nodes]
        firsts = [min((behind.get(node, end) for node in each), default=end) for each in row.nodes]
        following: set[Node] = set()
        for node in nodes:
            is_use = self._tensors.get(node) is tensor and node in own
            if is_use or not following.isdisjoint(self._givers[node]):
                following.add(node)
        return lasts, firsts, following
