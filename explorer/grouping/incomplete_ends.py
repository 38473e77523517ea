"""The first and the last block of a stack where they lack what only makes sense between blocks.

A sum to which each block adds begins with what the first gives; behind the last layer there is
often no norm or activation, and the last of blocks that hand on what they did not explain hands
on nothing. What repeats quite alike is then a stack that is shorter than what its author wrote.
Here the blocks at its ends belong to it, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from netloupe.explorer.model import Node

from .group import Group
from .kinds import outermost_family
from .likeness import are_of_other_kinds
from .loop_bodies import Steps
from .member_nodes import list_member_nodes
from .streams import is_part_of

Child = Group | Node

#: share of its operators that a block at an end must have in common with the others
_LEAST_SHARED = 0.6
#: larger blocks are not looked at
_MOST_NODES = 20_000


def add_incomplete_ends(
    children: Sequence[Child], steps: Steps, lowest: int, highest: int
) -> Steps:
    """Return the blocks of a stack with what stands before and behind it and is a part of one.

    Parameters
    ----------
    children
        Of a group, in their order.
    steps
        The blocks of a run among them.
    lowest, highest
        Where the run before ends, and where the next one begins.

    Notes
    -----
    Such a part has the numbered module of a block, all else in it stands in a block in the same
    order, and it has no weight that a block has not: of the same operator and shape. Linear in the
    nodes of three blocks.
    """
    model = steps.blocks[steps.exemplar]
    head = max(model, key=_count_nodes)
    if not isinstance(head, Group) or not outermost_family(head.label):
        return steps
    first, blocks, exemplar = steps.low, [*steps.blocks], steps.exemplar
    high = first + sum(map(len, blocks))
    before = max(first - len(model) + 1, lowest)
    for start in range(before, first):
        if _is_part(children[start:first], model, head):
            blocks.insert(0, children[start:first])
            first, exemplar = start, exemplar + 1
            break
    for end in range(min(high + len(model) - 1, highest), high, -1):
        if _is_part(children[high:end], model, head):
            blocks.append(children[high:end])
            break
    return Steps(first, blocks, exemplar)


def _is_part(part: Sequence[Child], whole: Sequence[Child], head: Group) -> bool:
    """Return whether children are some of those of a block, its largest one among them."""
    place = 0
    has_head = False
    for child in part:
        while place < len(whole) and not _are_same(child, whole[place]):
            place += 1
        if place == len(whole):
            return False
        has_head = has_head or whole[place] is head
        place += 1
    if not has_head:
        return False
    ours, theirs = _list_nodes(part), _list_nodes(whole)
    if max(len(ours), len(theirs)) > _MOST_NODES:
        return False
    is_part = _measure_shared(ours, theirs) >= _LEAST_SHARED and is_part_of(ours, theirs)
    return is_part and not are_of_other_kinds(ours, theirs)


def _are_same(ours: Child, theirs: Child) -> bool:
    if isinstance(ours, Node) and isinstance(theirs, Node):
        return ours.op_type == theirs.op_type
    if isinstance(ours, Node) or isinstance(theirs, Node):
        return False
    if outermost_family(ours.label) != outermost_family(theirs.label):
        return False
    return _measure_shared(_list_nodes([ours]), _list_nodes([theirs])) >= _LEAST_SHARED


def _measure_shared(ours: Sequence[Node], theirs: Sequence[Node]) -> float:
    """Return the share of operators that both have in common, counted."""
    one, two = (Counter(node.op_type for node in nodes) for nodes in (ours, theirs))
    return (one & two).total() / max(one.total(), two.total(), 1)


def _count_nodes(child: Child) -> int:
    return len(_list_nodes([child]))


def _list_nodes(children: Sequence[Child]) -> list[Node]:
    nodes: list[Node] = []
    for child in children:
        nodes += list_member_nodes(child, _MOST_NODES) if isinstance(child, Group) else [child]
    return nodes
