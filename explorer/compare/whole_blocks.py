"""Blocks of which no node has a partner: what is gone or new as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.lookup import find_tree
from netloupe.explorer.model import Graph, Model, Node

#: groups that people know by name, or see as one block
NAMED_KINDS = frozenset({"block", "scope"})
_LEAST_NODES = 2


def find_whole_blocks(model: Model, alone: Collection[Node]) -> Iterator[Group]:
    """Yield the groups of which all nodes are without a partner, the outermost alone.

    Parameters
    ----------
    model
        The model of the nodes.
    alone
        Its nodes without a partner.
    """
    by_graph: dict[Graph, list[Node]] = {}
    for node in alone:
        by_graph.setdefault(node.graph, []).append(node)
    for graph, nodes in by_graph.items():
        tree = find_tree(model, graph)
        counts: Counter[Group] = Counter()
        for node in nodes:
            group: Group | None = tree.group_of(node)
            while group is not None:
                counts[group] += 1
                group = group.parent
        for group in counts:
            parent = group.parent
            if (
                _is_whole(group, counts)
                and group.node_count >= _LEAST_NODES
                and parent is not None
                and not _is_whole(parent, counts)
            ):
                yield group


def _is_whole(group: Group, counts: Counter[Group]) -> bool:
    return group.kind in NAMED_KINDS and counts[group] == group.node_count


def list_outward(group: Group) -> list[Group]:
    """Return a group and those around it, the innermost first, without that of the graph."""
    found = []
    around: Group | None = group
    while around is not None and around.kind != "graph":
        found.append(around)
        around = around.parent
    return found
