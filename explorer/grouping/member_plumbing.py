"""Nodes that do not change what a reader calls a block: guards, and what some tokens need."""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.dataflow import is_input_independent, list_users
from netloupe.explorer.model import Node, Value

#: an operator that tells which numbers are none
_TEST = "IsNaN"
_CHOICE = "Where"
#: an operator that tells which tokens an expert has
_DISPATCH = "NonZero"
_COMPARISON = "Equal"
_CHOSEN = 3


def is_guard(node: Node) -> bool:
    """Return whether a node only keeps numbers that are none out of what follows, or finds them.

    Rows of a mask that hide all tokens have shares of 0 / 0, which are made 0.
    """
    return node.op_type == _TEST or find_guarded(node) is not None


def find_guarded(node: Node | None) -> Value | None:
    """Return what a node hands on where that is a number; None where it is no such guard."""
    if node is None or node.op_type != _CHOICE or len(node.inputs) != _CHOSEN:
        return None
    condition, instead, value = node.inputs
    test = condition.producer if condition is not None else None
    if test is None or test.op_type != _TEST or test.input(0) is not value:
        return None
    return value if instead is not None and is_input_independent(instead) else None


def list_routed(nodes: Sequence[Node]) -> frozenset[Node]:
    """Return the nodes that compute for those tokens alone that are sent to an expert.

    From where it is found which these are, up to the sum of what all experts give, put back where
    the tokens stand. Of an expert that no token was sent to while a model was exported from an
    example there is nothing (N. Shazeer and others, Outrageously Large Neural Networks, 2017).

    Parameters
    ----------
    nodes
        The nodes of a block, producers first.
    """
    routed: set[Node] = set()
    summed: set[Node] = set()
    for node in nodes:
        if node.op_type == _DISPATCH:
            routed.add(node)
        if not routed:
            continue
        givers = {value.producer for value in node.inputs if value is not None}
        if not routed.isdisjoint(givers):
            (summed if node.operator.has("scatters") else routed).add(node)
        elif node.operator.has("adds", "scatters") and not summed.isdisjoint(givers):
            others = [v for v in node.inputs if v is not None and v.producer not in summed]
            if all(map(is_input_independent, others)):
                summed.add(node)
    # by which number of an expert they are found
    finding = {
        node
        for node in nodes
        if node.op_type == _COMPARISON and (users := list_users(node)) and routed.issuperset(users)
    }
    return frozenset(routed | summed | finding)
