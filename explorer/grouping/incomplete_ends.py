"""The first and the last block of a stack where they lack what only makes sense between blocks.

A sum to which each block adds begins with what the first gives; behind the last layer there is
often no norm or activation, and the last of blocks that hand on what they did not explain hands
on nothing. What repeats quite alike is then a stack that is shorter than what its author wrote.
Here the blocks at its ends belong to it, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher
from types import MappingProxyType

from netloupe.explorer.model import Node

from .group import Group
from .kinds import outermost_family
from .likeness import are_of_other_kinds
from .loop_bodies import Steps
from .member_nodes import list_member_nodes
from .node_kinds import is_part_of, tell_kind
from .repeat_names import read_list
from .runs import SiblingRun
from .signatures import Integers

Child = Group | Node

#: share of its operators that a block at an end must have in common with the others
_LEAST_SHARED = 0.6
#: larger blocks are not looked at
_MOST_NODES = 20_000
#: of larger blocks no nodes are looked for behind the last
_MOST_MATCHED = 400
#: so many users of a value are asked which of them is meant
_MOST_USERS = 100


def add_incomplete_ends(
    children: Sequence[Child],
    steps: Steps,
    lowest: int,
    highest: int,
    labels: Mapping[int, str] = MappingProxyType({}),
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
    labels
        The labels of nodes that stand for a group of one, by index.

    Notes
    -----
    Such a part has the numbered module of a block, all else in it stands in a block in the same
    order, and it has no weight that a block has not: of the same operator and shape. Linear in the
    nodes of three blocks.
    """
    model = steps.blocks[steps.exemplar]
    head = max(model, key=lambda child: (_count_nodes(child), bool(_find_family(child, labels))))
    family = _find_family(head, labels)
    if not family:
        return steps
    first, blocks, exemplar = steps.low, [*steps.blocks], steps.exemplar
    high = first + sum(map(len, blocks))
    most = max(len(model) - 1, 1)
    before = max(first - most, lowest)
    for start in range(before, first):
        part = children[start:first]
        if _has_family(part, family, labels) and _is_part(part, model, head):
            blocks.insert(0, children[start:first])
            first, exemplar = start, exemplar + 1
            break
    for end in range(min(high + most, highest), high, -1):
        part = children[high:end]
        if _has_family(part, family, labels) and _is_part(part, model, head):
            blocks.append(children[high:end])
            high = end
            break
    tail = _count_tail(blocks[-1], model, children[high:highest])
    blocks[-1] = [*blocks[-1], *children[high : high + tail]]
    return Steps(first, blocks, exemplar)


def find_begun(children: Sequence[Child], kinds: Integers, run: SiblingRun) -> Child | None:
    """Return the head of a last block that breaks off behind a run; None where none does.

    Of stacked hourglasses the last one has heatmaps and nothing that leads to a next one (A. Newell
    and others, Stacked Hourglass Networks, 2016, section 3.2).
    """
    is_there = run.period > 1 and run.high < len(children)
    if not is_there or kinds[run.high] != kinds[run.low + run.exemplar * run.period]:
        return None
    return children[run.high]


def _count_tail(last: Sequence[Child], whole: Sequence[Child], behind: Sequence[Child]) -> int:
    """Return how many nodes behind a last block are those of another block that it lacks.

    Their operands come from the same nodes. An exporter may have left the names of the module off
    a node, and those of what only it leads to.
    """
    ours, theirs = _list_nodes(last), _list_nodes(whole)
    if not len(ours) < len(theirs) <= _MOST_MATCHED:
        return 0
    there, here = ([*map(tell_kind, nodes)] for nodes in (theirs, ours))
    found = SequenceMatcher(None, there, here, autojunk=False).get_matching_blocks()
    pairs = {ours[own + at]: theirs[other + at] for other, own, size in found for at in range(size)}
    left = {*theirs}.difference(pairs.values())
    count = 0
    for node in behind:
        match = _find_match(node, pairs, left) if isinstance(node, Node) else None
        if match is None or not isinstance(node, Node):
            break
        pairs[node] = match
        left.discard(match)
        count += 1
    return count


def _find_match(node: Node, pairs: Mapping[Node, Node], left: AbstractSet[Node]) -> Node | None:
    """Return which of some nodes takes from the partners of those that a node takes from."""
    given = {
        pairs[maker].outputs[maker.outputs.index(value)]
        for value in node.inputs
        if value is not None and (maker := value.producer) is not None and maker in pairs
    }
    partners = {*pairs.values(), *left}
    for value in given:
        for user in value.users[:_MOST_USERS] if value is not None else ():
            if user not in left or tell_kind(user) != tell_kind(node):
                continue
            own = {one for one in user.inputs if one is not None and one.producer in partners}
            if own == given:
                return user
    return None


def _find_family(child: Child, labels: Mapping[int, str]) -> str:
    """Return the list that a numbered module is of; a single layer may be one, too."""
    label = child.label if isinstance(child, Group) else labels.get(child.index, "")
    return read_list(label) if outermost_family(label) else ""


def _has_family(part: Sequence[Child], family: str, labels: Mapping[int, str]) -> bool:
    return any(_find_family(child, labels) == family for child in part)


def _is_part(part: Sequence[Child], whole: Sequence[Child], head: Child) -> bool:
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
