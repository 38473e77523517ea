"""Whether like blocks in a row are a way down a tree, and no stack.

Each block of a tree gives something to several like it. Those that stand on one way down are no
stack, for what each gives to others goes past it (M. Liu and others, SCINet, 2022, figure 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from netloupe.explorer.model import Node

#: so many users of a value are looked at
_MOST_USERS = 1_000
#: larger blocks are not compared
_MOST_NODES = 2_000
#: in the file stand so many nodes for each of a block, constants of it among them
_MOST_BETWEEN = 8
#: share of operators that are the same, one after the other, in a block like it
_LEAST_ALIKE = 0.9


def are_way_down_tree(blocks: Sequence[Sequence[Node]]) -> bool:
    """Return whether each block but the last gives to the next one, and to a like one elsewhere.

    Parameters
    ----------
    blocks
        The nodes of each block in file order.

    Notes
    -----
    Linear in the nodes of the blocks times how many nodes elsewhere take from each.
    """
    if not len(blocks) > 1 or max(map(len, blocks)) > _MOST_NODES:
        return False
    inside = {node for nodes in blocks for node in nodes}
    return all(_gives_to_like(nodes, behind, inside) for nodes, behind in pairwise(blocks))


def _gives_to_like(nodes: Sequence[Node], behind: Sequence[Node], inside: set[Node]) -> bool:
    users = {
        user
        for node in nodes
        for value in node.outputs
        if value is not None
        for user in value.users[:_MOST_USERS]
    }
    graph = behind[0].graph
    others = sorted(graph.index_of(user) for user in users - inside if user.graph is graph)
    entering = [graph.index_of(node) for node in behind if node in users]
    if not others or not entering:
        return False
    begin, end = graph.index_of(behind[0]), graph.index_of(behind[-1])
    if end - begin > _MOST_BETWEEN * len(behind):
        return False
    pattern = _list_operators(graph.nodes, begin, end)
    low = others[0] - (entering[0] - begin)
    found = _list_operators(graph.nodes, low, low + len(pattern) - 1)
    same = sum(one == other for one, other in zip(pattern, found, strict=False))
    return same >= _LEAST_ALIKE * len(pattern)


def _list_operators(nodes: Sequence[Node], low: int, high: int) -> list[str]:
    return [nodes[place].op_type for place in range(max(low, 0), min(high + 1, len(nodes)))]
