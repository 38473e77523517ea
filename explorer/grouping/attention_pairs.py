"""Two blocks that are wired alike inside and are not the same: self- and cross-attention."""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import Node
from netloupe.explorer.patterns import MOST_NODES, try_to_recognise


def are_two_kinds(blocks: Sequence[Sequence[Node]]) -> bool:
    """Return whether blocks, as their nodes, are attention of different kinds."""
    names = []
    for nodes in blocks:
        if len(nodes) > MOST_NODES or not any(map(_may_attend, nodes)):
            return False
        found = try_to_recognise(nodes)
        names.append(found.name if found is not None and found.family == "attention" else "")
    return all(names) and len({*names}) > 1


def _may_attend(node: Node) -> bool:
    return node.operator.has("attends") or node.operator.form == "Softmax"
