"""Names of nodes within their graph, each given once: what their paths end in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .node import Node


def list_node_names(nodes: Sequence[Node]) -> list[str]:
    """Return for every node of a graph a name that no other one of them has.

    That is its own name without leading "/" (as torch writes them), ``#17:Relu`` for a node
    without a name; a repeated name gets ``#2``, ``#3`` … appended, or keeps its "/" where that
    makes the difference.
    """
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
