"""Nodes that belong to an operator on integers: what quantizes its operand, and what undoes that.

A MatMul whose data are quantized as the model runs is written as DynamicQuantizeLinear,
MatMulInteger, Cast, and two products that join the scales and apply them
(onnxruntime/python/tools/quantization/operators/matmul.py: MatMulInteger; conv.py: ConvInteger). A
table of codes has a DequantizeLinear behind the Gather that reads it (gather.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from netloupe.explorer.model import Node

from .passed_values import is_scale

if TYPE_CHECKING:
    from .pair import Pair


def take_in_quantizing(pairs: Sequence[Pair], fixed: Collection[Pair] = ()) -> list[Pair]:
    """Return pairs, operators on integers with what quantizes their operand and undoes it.

    Parameters
    ----------
    pairs
        The pairs of two graphs, in the order of the left one.
    fixed
        Those of them that stay as they are.

    Returns
    -------
    list of Pair
        What several of them share is in the first: a node is in one pair at most.
    """
    taken = {node for pair in pairs for node in (*pair.left, *pair.right)}
    found = []
    for pair in pairs:
        sides = []
        for nodes, others in ((pair.left, pair.right), (pair.right, pair.left)):
            more = [] if pair in fixed else [*_list_more(nodes, others, taken)]
            taken.update(more)
            sides.append(tuple(sorted((*nodes, *more), key=lambda n: n.index)) if more else nodes)
        if sides != [pair.left, pair.right]:
            pair = type(pair)(sides[0], sides[1], pair.key, pair.confidence)
        found.append(pair)
    return found


def _list_more(nodes: Sequence[Node], others: Sequence[Node], taken: set[Node]) -> Iterator[Node]:
    if any(node.operator.has("scales_product") for node in nodes):
        pending, seen = [*nodes], {*nodes}
        for node in pending:  # grows
            for value in node.inputs:
                giver = value.producer if value is not None else None
                if giver is None or giver in taken or giver in seen or not giver.inputs:
                    continue
                if giver.graph is not node.graph:  # it belongs to pairs of the graph around
                    continue
                if _belongs(giver):
                    seen.add(giver)
                    pending.append(giver)
                    yield giver
    elif len(nodes) == 1 and nodes[0].operator.has("looks_up"):
        user = _find_undoing(nodes[0])
        if user is not None and user not in taken:
            is_alike = len(others) == 1 and _find_undoing(others[0]) is not None
            if not is_alike:
                yield user


def _belongs(node: Node) -> bool:
    """Return whether a node quantizes, turns codes into floats, or multiplies scales."""
    operator = node.operator
    if operator.results.find("data.scale") is not None:
        return True
    if operator.has("casts"):
        value = node.input(0)
        giver = value.producer if value is not None else None
        return giver is not None and giver.operator.has("scales_product")
    return operator.has("multiplies_elements") and any(map(is_scale, node.inputs))


def _find_undoing(node: Node) -> Node | None:
    """Return what alone takes the codes that a node reads, and makes floats of them."""
    value = node.output(0)
    if value is None or len(value.users) != 1 or value.is_output:
        return None
    (user,) = value.users
    is_own = user.operator.has("dequantizes") and user.graph is node.graph
    return user if is_own and user.input(0) is value else None
