"""Names of nodes within their graph, each given once: what their paths end in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .graph import Graph
    from .node import Node

_UNNAMED = re.compile(r"#(\d{1,18}):")


class UnnamedNodes:
    """Names of nodes of which few have one of their own; those of others are made when asked for.

    A million of them would take 60 MB, and as many again to find nodes by them.

    Parameters
    ----------
    own
        By index the names of those that have one.
    """

    def __init__(self, nodes: Sequence[Node], own: Mapping[int, str]) -> None:
        self._nodes = nodes
        self._own = own
        self._indices = {name: index for index, name in own.items()}

    def __getitem__(self, index: int) -> str:
        return self._own.get(index) or f"#{index}:{self._nodes[index].op_type}"

    def find(self, name: str) -> Node | None:
        """Return the node of a name."""
        index = self._indices.get(name)
        if index is None:
            match = _UNNAMED.match(name)
            index = int(match[1]) if match is not None else len(self._nodes)
        return self._nodes[index] if index < len(self._nodes) and self[index] == name else None


def get_node_name(graph: Graph, index: int) -> str:
    """Return what the path of a node ends in.

    Not to be asked for before the graph has all its nodes.
    """
    return find_node_names(graph)[index]


def find_node_names(graph: Graph) -> list[str] | UnnamedNodes:
    """Return by index what :func:`get_node_name` returns of each node of a graph."""
    names = graph._node_names
    if names is None:
        names = graph._node_names = list_node_names(graph.nodes)
    return names


def give_node_names(graph: Graph, names: list[str]) -> None:
    """Say what the paths of the nodes of a graph end in, by index; each is given once."""
    graph._node_names = names


def list_node_names(nodes: Sequence[Node]) -> list[str] | UnnamedNodes:
    """Return for every node of a graph a name that no other one of them has.

    That is its own name without leading "/" (as torch writes them), ``#17:Relu`` for a node
    without a name; a repeated name gets ``#2``, ``#3`` … appended, or keeps its "/" where that
    makes the difference.
    """
    own = {node.index: node.name.lstrip("/") or node.name for node in nodes if node.name}
    begins = {name[0] for name in own.values()}
    is_distinct = len({*own.values()}) == len(own) and begins.isdisjoint("#%")
    if len(own) < len(nodes) // 2 and is_distinct:
        return UnnamedNodes(nodes, own)
    wanted = [
        node.name.lstrip("/") or node.name or f"#{node.index}:{node.op_type}" for node in nodes
    ]
    if len(set(wanted)) == len(wanted) and not any(name[0] == "%" for name in wanted):
        return wanted  # nearly always
    return _distinguish(nodes, wanted)


def _distinguish(nodes: Sequence[Node], wanted: Sequence[str]) -> list[str]:
    taken: set[str] = set()
    names: list[str] = []
    for node, local in zip(nodes, wanted, strict=True):
        if local.startswith("%"):
            local = f"#{node.index}:{local}"
        if local in taken:
            local = node.name if node.name and node.name not in taken else local
            count = 2
            base = local
            while local in taken:
                local = f"{base}#{count}"
                count += 1
                if count > 8:  # many nodes share one name: the index is unique already
                    local = f"{base}#{node.index}:"
                    break
        taken.add(local)
        names.append(local)
    return names
