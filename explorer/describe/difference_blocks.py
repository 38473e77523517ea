"""What differs between two models at the level of blocks: the first that an engineer asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from netloupe.explorer.compare import WEIGHTED, Diff
from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.lookup import find_tree
from netloupe.explorer.model import Graph, Model, Node
from netloupe.explorer.notation import write_count

from .file_text import write_line

_LONGEST = 200
#: so often an operator has to become the same other one
_LEAST_PLACES = 2
#: groups that people know by name, or see as one block
_KINDS = frozenset({"block", "scope"})


def list_block_changes(found: Diff) -> list[str]:
    """Return a line for each whole block that was removed or added.

    And one for each operator that became another one in several places.
    """
    lines = [
        *_list_whole(found.left, found.matching.list_left_alone(), "removed"),
        *_list_whole(found.right, found.matching.list_right_alone(), "added"),
    ]
    became: Counter[tuple[str, str]] = Counter()
    for one in found.nodes:
        for change in one.changes:
            if change.what == "operator" and not change.aspect:
                became[str(change.left), str(change.right)] += 1
    for pair in found.fused:
        sides = [[n for n in nodes if n.op_type in WEIGHTED] for nodes in (pair.left, pair.right)]
        if len(sides[0]) == len(sides[1]) == 1:
            before, after = (_name_operator(nodes[0]) for nodes in sides)
            became[before, after] += before != after
    for (before, after), count in became.most_common():
        if count >= _LEAST_PLACES:
            names = write_line(before, _LONGEST), write_line(after, _LONGEST)
            lines.append(f"{names[0]} became {names[1]} in {count:,} places")
    return lines


def _name_operator(node: Node) -> str:
    is_own = node.domain == node.graph.dialect.domain
    return node.op_type if is_own else f"{node.domain}::{node.op_type}"


def _list_whole(model: Model, alone: Iterable[Node], what: str) -> Iterator[str]:
    """Yield the groups of which no node has a partner, the outermost alone."""
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
        for group, count in counts.items():
            if not _is_whole(group, counts) or group.node_count < _LEAST_PLACES:
                continue
            parent = group.parent
            if parent is not None and (parent.kind == "graph" or not _is_whole(parent, counts)):
                path = write_line(group.path, _LONGEST)
                yield f"{path} {what}: {write_count(count, 'node')}"


def _is_whole(group: Group, counts: Counter[Group]) -> bool:
    return group.kind in _KINDS and counts[group] == group.node_count
