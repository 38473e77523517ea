"""Large graphs as their pictures show them: of what is repeated one repetition alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from netloupe.explorer.grouping import find_tree
from netloupe.explorer.grouping.group import Group
from netloupe.explorer.model import Graph, Model, Node


@dataclass(frozen=True)
class FoldedGraph:
    """Nodes of a graph without all repetitions but one of each run.

    Parameters
    ----------
    nodes
        Those that are left, in the order of the file.
    times
        Of those in a repetition, which run it is of, and how many there are in it.
    calls
        Of those in a repetition with the same weights as the others, how many these are.
    """

    nodes: list[Node]
    times: dict[Node, tuple[int, int]] = field(default_factory=dict)
    calls: dict[Node, int] = field(default_factory=dict)


def fold_graph(model: Model, graph: Graph, most: int) -> FoldedGraph:
    """Return the nodes of a graph with each run of alike groups as one of them.

    No nodes where more than ``most`` are left. Work is linear in what is left, and in the groups
    that are looked into for it.
    """
    tree = find_tree(model, graph)
    kept: list[Node] = []
    times: dict[Node, tuple[int, int]] = {}
    calls: dict[Node, int] = {}
    pending: list[tuple[Group, int, int, int]] = [(tree.root, 0, 1, 1)]
    runs = 0
    while pending:
        group, run, count, called = pending.pop()
        if group.kind == "repeat":
            chosen = group.children[group.exemplar]
            children = [chosen]
            if group.shares_weights:
                called *= len(group.children)
            else:
                runs += 1
                run, count = runs, count * len(group.children)
        else:
            children = group.children
        nodes = [child for child in children if isinstance(child, Node)]
        inner = [child for child in children if isinstance(child, Group)]
        pending += [(child, run, count, called) for child in inner]
        if len(kept) + len(nodes) > most:
            return FoldedGraph([])
        kept += nodes
        if count > 1:
            times |= dict.fromkeys(nodes, (run, count))
        if called > 1:
            calls |= dict.fromkeys(nodes, called)
    return FoldedGraph(sorted(kept, key=graph.index_of), times, calls)
