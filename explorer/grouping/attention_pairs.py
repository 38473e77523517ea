"""Two blocks that are wired alike inside and are not the same: self- and cross-attention."""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node, Value
from netloupe.explorer.patterns import MOST_NODES, try_to_recognise


def are_two_kinds(blocks: Sequence[Sequence[Node]]) -> bool:
    """Return whether blocks, as their nodes, are attention of different kinds.

    Of blocks with more in them, as a norm before and a sum behind, cross-attention is known by
    layers that take a value from elsewhere beside what all of the block comes from.
    """
    names = []
    for nodes in blocks:
        if len(nodes) > MOST_NODES or not any(map(_may_attend, nodes)):
            return False
        found = try_to_recognise(nodes)
        names.append(found.name if found is not None and found.family == "attention" else "")
    if not all(names):
        is_one = all(sum(map(_may_attend, nodes)) == 1 for nodes in blocks)
        return is_one and len({len(_list_taken(nodes)) for nodes in blocks}) > 1
    return len({*names}) > 1


def _list_taken(nodes: Sequence[Node]) -> set[Value]:
    """Return what layers with weights take from outside of a block."""
    inside = {*nodes}
    return {
        value
        for node in nodes
        if node.operator.weight_kind not in ("", "embedding")
        for value in node.inputs
        if value is not None and value.producer not in inside and not is_input_independent(value)
    }


def _may_attend(node: Node) -> bool:
    return node.operator.has("attends") or node.operator.form == "Softmax"
