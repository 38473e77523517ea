"""The groups of a graph that was made of two, found when they are first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.grouping.lookup import find_tree
from netloupe.explorer.grouping.merged import OlderNodes, merge_trees
from netloupe.explorer.model import Graph, Model, Node, Value
from netloupe.explorer.model.emphasised import find_emphasised

from .elements import pair_groups_of
from .matching import Matching


@dataclass(frozen=True, slots=True)
class MergedGrouping:
    """Groups the nodes of a graph that was made of one graph of each model.

    Parameters
    ----------
    matching
        The pairs of both models.
    graph
        The graph that was made of both.
    left, right
        The graph of the older and the one of the newer model; one of them may be None.
    older, newer
        By node or value of the older and of the newer model what stands for it.
    partners
        By node of the older model its partner in the newer one.
    """

    matching: Matching
    graph: Graph
    left: Graph | None
    right: Graph | None
    older: Mapping[Node | Value, Node | Value]
    newer: Mapping[Node | Value, Node | Value]
    partners: Mapping[Node, Node]

    def group(self, grouping: str, only: frozenset[int] | None) -> GroupTree:
        """Group the nodes: as in the newer graph, with what is gone where it would belong.

        Parameters
        ----------
        grouping
            Where groups come from, as for :func:`~netloupe.explorer.grouping.build_group_tree`.
        only
            Indexes of the nodes that are grouped; all where None.
        """
        newer_nodes = _list_stand_ins(self.right, self.newer)
        older_nodes = _list_stand_ins(self.left, self.older)
        differing = find_emphasised(self.graph.model)
        if self.right is None:
            assert self.left is not None  # noqa: S101 - one of both is there
            indices = None
            if only is not None:
                kept = (node for node, made in older_nodes.items() if made.index in only)
                indices = frozenset(node.index for node in kept)
            tree = _build_tree(self.matching.left, self.left, grouping, indices)
            return merge_trees(self.graph, tree, older_nodes, None, differing)
        count = len(self.right.nodes)
        shown = None if only is None else frozenset(index for index in only if index < count)
        newer = _build_tree(self.matching.right, self.right, grouping, shown)
        gone = {
            node: made
            for node, made in older_nodes.items()
            if made.index >= count and (only is None or made.index in only)
        }
        older = None
        if self.left is not None and gone:
            older = self._find_gone(self.left, grouping, newer, gone)
        return merge_trees(self.graph, newer, newer_nodes, older, differing)

    def _find_gone(
        self, left: Graph, grouping: str, newer: GroupTree, gone: Mapping[Node, Node]
    ) -> OlderNodes:
        tree = _build_tree(self.matching.left, left, grouping, None)
        partners = {
            pair.left[0]: [*pair.right]
            for pair in self.matching.pairs
            if pair.left[0].graph is left
        }
        groups: dict[Group, Group] = {
            pair.left: pair.right for pair in pair_groups_of(tree, newer, partners)
        }
        return OlderNodes(tree, gone, self.partners, groups)


def _list_stand_ins(
    side: Graph | None, known: Mapping[Node | Value, Node | Value]
) -> dict[Node, Node]:
    if side is None:
        return {}
    found = ((node, known.get(node)) for node in side.nodes)
    return {node: made for node, made in found if isinstance(made, Node)}


def _build_tree(
    model: Model, graph: Graph, grouping: str, only: frozenset[int] | None
) -> GroupTree:
    if grouping == "auto" and only is None:
        return find_tree(model, graph)
    return build_group_tree(graph, grouping, only)
