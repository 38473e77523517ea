"""The body of a loop as its author wrote it, where an exporter folded a part of the first step.

What is found to repeat begins where all steps are quite alike: of ``lookup, update, lookup, update,
lookup, update`` whose first lookup lacks what an exporter computed beforehand, ``update, lookup``
would repeat twice, with half a step on either side. Here each step is whole again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from netloupe.explorer.model import Node
from netloupe.explorer.roles import find_weight

from .group import Group
from .member_nodes import list_member_nodes
from .runs import SiblingRun
from .shared_weights import MOST_NODES, are_loop

Child = Group | Node

#: share of operators that a step must have in common with the others
_LEAST_SHARED = 0.6
#: so many single nodes in a row may be missing in the last step
_MOST_MISSING = 2
#: and so many in the first step may be only there
_MOST_BETWEEN = 8


class Steps(NamedTuple):
    """The blocks of a repeat, where they begin, and which of them stands for all."""

    low: int
    blocks: list[Sequence[Child]]
    exemplar: int


def find_steps(children: Sequence[Child], run: SiblingRun) -> Steps:
    """Return the blocks of a run; of a loop, those of its whole steps.

    Parameters
    ----------
    children
        Of a group, in their order.
    run
        Like blocks among them.

    Notes
    -----
    A loop goes on behind its run with a step that breaks off: the part of it that is there ends
    each step. What stands before the run, as far as the other steps have the like, begins the
    first one, or nothing does: an exporter may have computed all of it beforehand.
    """
    low, high, period = run.low, run.high, run.period
    blocks = cut_run(children, run)
    ending, begun = _count_begun(blocks[-1], children[high : high + period])
    if not 0 < ending < period or not are_loop([*map(_list_nodes, blocks)]):
        return Steps(low, blocks, run.exemplar)
    first = _find_first(children, low, blocks[0][ending:])
    ends = [*range(low + ending, high, period), high + begun]
    steps = [children[start:end] for start, end in zip([first, *ends], ends, strict=False)]
    if not are_loop([*map(_list_nodes, steps)]):
        return Steps(low, blocks, run.exemplar)
    return Steps(first, steps, 1)


def find_typical(steps: Sequence[Sequence[Child]]) -> int:
    """Return the first step that is as large as the next one, or else as most behind it.

    A decoder may begin with a picture, and then with a stored symbol (H. Li and others, Show,
    Attend and Read, 2019, section 3.2).
    """
    sizes = [len(_list_nodes(each)) for each in steps]
    if sizes[0] == sizes[1]:
        return 0
    common, _ = Counter(sizes[1:]).most_common(1)[0]
    return sizes.index(common, 1)


def cut_run(children: Sequence[Child], run: SiblingRun) -> list[Sequence[Child]]:
    """Return the blocks of a run."""
    firsts = range(run.low, run.high, run.period)
    return [children[first : first + run.period] for first in firsts]


def _count_begun(block: Sequence[Child], rest: Sequence[Child]) -> tuple[int, int]:
    """Return how many of the first children of a block are there once more, and as how many.

    Single nodes may be missing there: the last step need not compute what only a next one takes.
    """
    place = found = matched = 0
    while place < len(block) and matched < len(rest):
        if _are_same(block[place], rest[matched]):
            matched += 1
            found = place + 1
        elif isinstance(block[place], Group) or place - found >= _MOST_MISSING:
            break
        place += 1
    if all(isinstance(child, Node) and find_weight(child) is None for child in block[:found]):
        return 0, 0
    return found, matched


def _are_same(ours: Child, theirs: Child) -> bool:
    if isinstance(ours, Node) and isinstance(theirs, Node):
        return ours.op_type == theirs.op_type
    if isinstance(ours, Node) or isinstance(theirs, Node):
        return False
    return _are_alike([ours], [theirs])


def _find_first(children: Sequence[Child], low: int, missing: Sequence[Child]) -> int:
    """Return where that begins, right before a place, which is like some children.

    Nodes without weights that only a first step has, as those that pick where its states start,
    may stand between.
    """
    left = Counter(node.op_type for node in _list_nodes(missing))
    first = place = low
    while place and first - place <= _MOST_BETWEEN:
        place -= 1
        child = children[place]
        own = Counter(node.op_type for node in _list_nodes([child]))
        least = _LEAST_SHARED if isinstance(child, Group) else 1
        if own and (own & left).total() >= least * own.total():
            left -= own
            first = place
        elif isinstance(child, Group) or find_weight(child) is not None:
            break
    return first


def _are_alike(ours: Sequence[Child], theirs: Sequence[Child]) -> bool:
    """Return whether most operators of both are the same, counted."""
    one, two = (Counter(node.op_type for node in _list_nodes(each)) for each in (ours, theirs))
    return (one & two).total() >= _LEAST_SHARED * max(one.total(), two.total())


def _list_nodes(children: Sequence[Child]) -> list[Node]:
    nodes: list[Node] = []
    for child in children:
        if isinstance(child, Group):
            nodes += list_member_nodes(child, MOST_NODES)
        else:
            nodes.append(child)
    return nodes
