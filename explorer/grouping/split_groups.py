"""Parts of one value that together are all of it: one operation, as ``Split`` is."""

from __future__ import annotations

from collections.abc import Mapping

from netloupe.explorer.model import Node, Value, find_nodes_with
from netloupe.explorer.patterns.picked_parts import read_pick, read_split_parts
from netloupe.explorer.progress import step

from .group import Group
from .role_groups import FreePath
from .shape_groups import Homes

#: a split as exporters write it has no more parts
_MOST_PARTS = 64
#: and one into single places has at least so many
_LEAST_PLACES = 3
_NAME = "Split"


def group_splits(root: Group, labels: Mapping[int, str], free_path: FreePath) -> None:
    """Put siblings that split one value into a group of kind ``operation``.

    So exporters write ``chunk`` and ``split``: for each part a Slice, whose limits they compute;
    and for each step of a loop that is unrolled, or by ``unbind``, a Gather of its place.
    They are children of one group, none has a name of its own, and there is more beside them.
    Linear in the nodes that take parts and the children of the groups they are in.

    Parameters
    ----------
    root
        A tree without arithmetic on shapes; changed.
    labels
        The labels of nodes that stand for a group of one, by index.
    free_path
        Gives an unused path for a child of a group.
    """
    graph = root.graph
    by_value: dict[Value, list[Node]] = {}
    for index in find_nodes_with(graph, "slices", "gathers").tolist():
        node = graph.nodes[index]
        value = node.input(0)
        is_part = not node.operator.has("gathers") or read_pick(node) is not None
        if value is not None and is_part and index not in labels:
            by_value.setdefault(value, []).append(node)
    several = [nodes for nodes in by_value.values() if _are_several(nodes)]
    if not several:
        return
    homes = Homes(root)
    found: dict[Group, list[list[Node]]] = {}
    for nodes in several:
        step()
        home = homes.of_node.get(nodes[0].index)
        if home is None or home.kind in ("operation", "repeat"):
            continue
        if any(homes.of_node.get(node.index) is not home for node in nodes):
            continue
        if len(nodes) < len(home.children) and read_split_parts(nodes):
            found.setdefault(home, []).append(nodes)
    for home, splits in found.items():
        _wrap(home, splits, free_path)


def _are_several(nodes: list[Node]) -> bool:
    """Return whether there are enough parts: two places alone are as good as two names."""
    least = _LEAST_PLACES if all(node.operator.has("gathers") for node in nodes) else 2
    return least <= len(nodes) <= _MOST_PARTS


def _wrap(home: Group, splits: list[list[Node]], free_path: FreePath) -> None:
    """Put each split in the place of the first of its slices: what takes them stands behind."""
    made: dict[Node, Group] = {}
    gone: set[Node] = set()
    for nodes in splits:
        group = Group("operation", home.graph, free_path(home, _NAME), _NAME, _NAME, home)
        group.main = nodes[0]
        group.children = [*nodes]
        made[nodes[0]] = group
        gone.update(nodes)
    home.children = [
        made.get(child, child) if isinstance(child, Node) else child
        for child in home.children
        if not isinstance(child, Node) or child in made or child not in gone
    ]
