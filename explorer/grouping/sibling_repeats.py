"""Repeats among the named siblings of a group: ``layers.0`` to ``layers.11``.

Two groups are alike if they have the same operators in the same order and their inner groups
are alike (one number for each kind of group, made from the inside out: linear in the size of
the tree). Siblings named alike but for numbers (``layers.#``) form a family. Variants of which
a family has one only join the most common variant where at least `LEAST_SHARED` of the
operators are the same, counted; so a first or last layer may differ a little. Where no two are
quite alike, all that share `LEAST_SHARED_OF_ALL` with the first are. Variants that occur more
often stay apart: two kinds of layer in turns are a repeat of both together.

The children of a group, nodes between its groups included, are then searched for periodic runs
(`runs.find_runs`). Before that, siblings of one family that are residual blocks are taken apart
into stages: one that has no residual or a projection begins a stage, and those behind it that
are alike belong to it (K. He and others, Deep Residual Learning for Image Recognition, 2016,
section 3.3; M. Sandler and others, MobileNetV2, 2018, table 2).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from netloupe.explorer.model import Node, is_constant

from .group import Group
from .runs import Run, find_runs
from .signatures import Integers

#: share of operators that a variant and the common one must have in common
LEAST_SHARED = 0.6
#: the same where no two are quite alike, as with the stages of a U-Net
LEAST_SHARED_OF_ALL = 0.9
#: and of which there are so many: self and cross attention are two different things
LEAST_VARIANTS = 3
#: siblings whose names have nothing in common are a repeat in so large a number
LEAST_UNNAMED = 5
#: two siblings are a repeat if each has so many nodes; smaller ones need to be three
LEAST_OF_TWO = 4
#: the same where each consists of several children
LEAST_OF_TWO_JOINED = 12
#: nodes alone (groups of one) are a repeat in so large a number
LEAST_NODES = 8

_SUMS = frozenset({"Add", "QLinearAdd", "Sum"})
#: operators with large weights; a first block of a stage has the same, and perhaps a projection
_WEIGHTED = frozenset(
    {"Conv", "ConvInteger", "ConvTranspose", "Gemm", "MatMul", "MatMulInteger", "QLinearConv"}
)
_PROJECTIONS = frozenset({"Conv", "ConvInteger", "QLinearConv"})

#: share of the operators of two stages that both have
_SAME_OPERATORS = 0.8

#: a number, or one with a letter: ``4a``
_DIGITS = re.compile(r"\d+(?:[a-z](?![a-zA-Z0-9]))?")
Child = Group | Node


@dataclass(slots=True)
class SiblingRun:
    """Children ``low`` to ``high`` of a group that repeat every ``period``.

    ``exemplar`` tells which repetition stands for all.
    """

    low: int
    high: int
    period: int
    exemplar: int


class SiblingSearch:
    """Knows what kind each group of a tree is, and finds the runs among siblings.

    Parameters
    ----------
    root
        The tree, before any of its groups is folded.
    labels
        The labels of nodes that stand for a group of one, by index.
    """

    def __init__(self, root: Group, labels: dict[int, str]) -> None:
        self._labels = labels
        #: by index, the kind of each node; groups have the numbers above these
        self._node_kinds: list[int] = root.graph.wiring.operators.tolist()
        self._op_types = self._name_operators(root)
        self._copying = next(
            (number for number, name in self._op_types.items() if name == "Identity"), None
        )
        self._first_of_groups = max(self._node_kinds, default=-1) + 1
        self._kinds: dict[object, int] = {}
        self._kind_of: dict[Group, int] = {}
        self._kinds_in: dict[Group, tuple[int, ...]] = {}
        self._family_of: dict[str, str] = {}
        self._counts: dict[int, Counter[int]] = {}
        self._example: dict[int, Group] = {}
        self._sizes: dict[int, int] = {}
        self._found: dict[tuple[tuple[int, ...], tuple[str, ...]], list[SiblingRun]] = {}
        order = [root]
        for group in order:
            order += group.inner_groups()
        for group in reversed(order):
            kinds = own = self._kinds_in[group] = tuple(self._list_kinds(group))
            if self._copying is not None:
                own = self._leave_out_copies(group, kinds)
            kind = self._kind_of[group] = self._number(own)
            if kind not in self._example:
                self._example[kind] = group
                self._sizes[kind] = sum(map(self._size, group.children))

    def _name_operators(self, root: Group) -> dict[int, str]:
        numbers, firsts = np.unique(self._node_kinds, return_index=True)
        nodes = root.graph.nodes
        return {
            int(number): nodes[first].op_type
            for number, first in zip(numbers, firsts.tolist(), strict=True)
        }

    def _list_kinds(self, group: Group) -> list[int]:
        """Return for each child a number that alike groups, and nodes that do the same, share."""
        nodes, groups = self._node_kinds, self._kind_of
        alone = group.nodes_alone()
        if alone:
            return [nodes[node.index] for node in alone]
        return [
            groups[child] if isinstance(child, Group) else nodes[child.index]
            for child in group.children
        ]

    def _leave_out_copies(self, group: Group, kinds: tuple[int, ...]) -> tuple[int, ...]:
        """Return the kinds of a group's children without copies of weights.

        Exporters write one for each further layer that has equal weights.
        """
        if self._copying not in kinds:
            return kinds
        return tuple(
            kind
            for child, kind in zip(group.children, kinds, strict=True)
            if not (kind == self._copying and isinstance(child, Node) and _copies_weight(child))
        )

    def _number(self, key: object) -> int:
        """Return the number of whatever is like this."""
        return self._kinds.setdefault(key, self._first_of_groups + len(self._kinds))

    def _size(self, child: Child) -> int:
        return self._sizes[self._kind_of[child]] if isinstance(child, Group) else 1

    def find(self, group: Group) -> list[SiblingRun]:
        """Return the runs among the children of a group, disjoint and in order."""
        children, kinds = group.children, self._kinds_in[group]
        inner = len(group.inner_groups())
        if inner < 2:  # a run would be of nodes alone
            distinct = set(kinds)
            if len(kinds) - len(distinct) < LEAST_NODES - 1:
                return []
            if max(map(kinds.count, distinct)) < LEAST_NODES:
                return []
        labels = self._list_labels(group)
        key = (kinds, tuple(labels))  # layers have the same names inside
        known = self._found.get(key)
        if known is None:
            known = self._found[key] = self._search(children, kinds, self._families(labels))
        return known

    def _search(
        self, children: list[Child], kinds: tuple[int, ...], families: list[str]
    ) -> list[SiblingRun]:
        exact = np.array(kinds, dtype=np.int64)
        relaxed = self._relax(children, exact, families)
        found = self._find_stages(children, kinds)
        ends = [0, *_list_ends(found), len(children)]
        pending = [*zip(ends[::2], ends[1::2], strict=True)]
        while pending:
            low, high = pending.pop()
            run = self._find_one(children, relaxed[low:high], exact, families, low)
            if run is not None:
                found.append(run)
                pending.extend(((low, run.low), (run.high, high)))
        alone = [
            child
            for low, high in pairwise(sorted([0, len(children), *_list_ends(found)]))
            if not any(run.low == low < high == run.high for run in found)
            for child in children[low:high]
        ]
        found = [
            run for run in found if not self._is_of_stages(children[run.low : run.high], alone)
        ]
        return sorted(found, key=lambda run: run.low)

    def _find_stages(self, children: list[Child], kinds: tuple[int, ...]) -> list[SiblingRun]:
        """Return the runs that begin with a block without the residual of those behind it."""
        names = ["" if isinstance(child, Node) else _family(child.label) for child in children]
        stages: list[SiblingRun] = []
        low = 0
        while low + 1 < len(children):
            name, kind = names[low + 1], kinds[low + 1]
            high = low + 1
            if name and names[low] == name and self._begins_stage(kinds[low], kind):
                while high < len(children) and (names[high], kinds[high]) == (name, kind):
                    high += 1
                stages.append(SiblingRun(low, high, 1, 1))
            low = high
        return stages

    def _begins_stage(self, first: int, other: int) -> bool:
        """Return whether a kind of group is another one without its sum, or with a projection."""
        if first == other or self._shared(first, other, among_numbered=False) < LEAST_SHARED:
            return False
        ours, theirs = self._count_types(first), self._count_types(other)
        more = Counter({op: ours[op] - theirs[op] for op in {*ours, *theirs}})
        weighted = {op: more[op] for op in _WEIGHTED if more[op]}
        sums = sum(more[op] for op in _SUMS)
        has_sums = any(theirs[op] for op in _SUMS)
        has_projection = sum(weighted.values()) == 1 and weighted.keys() <= _PROJECTIONS
        is_convolutional = any(theirs[op] for op in _PROJECTIONS)
        lacks_sum = not weighted and sums == -1 and is_convolutional
        return has_sums and (lacks_sum or (has_projection and sums == 0))

    def _count_types(self, kind: int) -> Counter[str]:
        """Return how many nodes of each operator a kind of group has, without its domain."""
        counts: Counter[str] = Counter()
        for operator, count in self._count(kind).items():
            counts[self._op_types[operator]] += count
        return counts

    def _list_labels(self, group: Group) -> list[str]:
        labels = self._labels
        alone = group.nodes_alone()
        if alone:
            return [labels.get(node.index, "") for node in alone]
        return [
            child.label if isinstance(child, Group) else labels.get(child.index, "")
            for child in group.children
        ]

    def _families(self, labels: list[str]) -> list[str]:
        """Return each label without its numbers; "" where it has none.

        The first of ``cell``, ``cell_1``, ``cell_2`` is of the family of the others.
        """
        names = [*map(self._write_family, labels)]
        if not all(names):
            known = {*labels}
            for place, label in enumerate(labels):
                if label and not names[place] and f"{label}_1" in known:
                    names[place] = self._write_family(f"{label}_1")
        return names

    def _write_family(self, label: str) -> str:
        family = self._family_of.get(label)
        if family is None:
            text, count = _DIGITS.subn("#", label)
            family = self._family_of[label] = text if count else ""
        return family

    def _relax(self, children: list[Child], exact: Integers, families: list[str]) -> Integers:
        """Return the kinds with rare variants of a family counted as its most common one."""
        members: dict[str, list[int]] = {}
        for index, (child, family) in enumerate(zip(children, families, strict=True)):
            if family and isinstance(child, Group):
                members.setdefault(family, []).append(index)
        relaxed = exact.copy()
        for index, (child, family) in enumerate(zip(children, families, strict=True)):
            if isinstance(child, Node):
                relaxed[index] = self._number((self._node_kinds[child.index], family))
        for indexes in members.values():
            variants = Counter(int(exact[index]) for index in indexes)
            common, count = variants.most_common(1)[0]
            if len(variants) == 1:
                continue
            least = LEAST_SHARED if count > 1 else LEAST_SHARED_OF_ALL
            similar = {
                kind
                for kind, seen in variants.items()
                if seen == 1 and self._shared(kind, common) >= least
            }
            if count < 2 and len(similar) < LEAST_VARIANTS:
                continue
            for index in indexes:
                if int(exact[index]) in similar:
                    relaxed[index] = common
        return relaxed

    def _shared(self, kind: int, other: int, *, among_numbered: bool = True) -> float:
        """Return the share of operators that two kinds of group have in common, by count.

        It is 0 where they have not as many numbered groups inside, if that is asked: stages of
        a different number of blocks are not alike.
        """
        if among_numbered and self._numbered(kind) != self._numbered(other):
            return 0
        first, second = self._count(kind), self._count(other)
        return (first & second).total() / max(first.total(), second.total(), 1)

    def _numbered(self, kind: int) -> Counter[str]:
        families = self._families(self._list_labels(self._example[kind]))
        return Counter(family for family in families if family)

    def _count(self, kind: int) -> Counter[int]:
        counts = self._counts.get(kind)
        if counts is None:
            nodes = _nodes_inside(self._example[kind])
            counts = self._counts[kind] = Counter(self._node_kinds[node.index] for node in nodes)
        return counts

    def _find_one(
        self,
        children: list[Child],
        numbers: Integers,
        exact: Integers,
        families: list[str],
        offset: int,
    ) -> SiblingRun | None:
        for run in find_runs(numbers, with_gaps=False):
            moved = Run(run.period, run.low + offset, run.high + offset)
            low = self._first(children, moved)
            count = (moved.high - low) // run.period
            if not self._is_enough(children, families, low, count, run.period):
                continue
            high = low + count * run.period
            rows = exact[low:high].reshape(count, run.period)
            _, firsts, seen = np.unique(rows, axis=0, return_index=True, return_counts=True)
            return SiblingRun(low, high, run.period, int(firsts[np.argmax(seen)]))
        return None

    def _is_of_stages(self, members: list[Child], others: list[Child]) -> bool:
        """Return whether a run is of stages whose blocks are to be counted instead.

        Those are stages that begin with a block of another kind, and those that are only some
        of the stages: others that are in no run hold the same operators.
        """
        groups = [child for child in members if isinstance(child, Group)]
        stages = [group for group in groups if self._list_blocks(group)]
        for blocks in map(self._list_blocks, stages):
            if self._begins_stage(blocks[0], blocks[1]):
                return True
        names = {_family(stage.label) for stage in stages} - {""}
        kinds = {self._kind_of[stage] for stage in stages}
        return bool(names) and any(
            isinstance(other, Group)
            and _family(other.label) in names
            and any(self._hold_same(self._kind_of[other], kind) for kind in kinds)
            for other in others
        )

    def _list_blocks(self, group: Group) -> list[int]:
        """Return the kinds of a stage's residual blocks, which are most of it; else nothing."""
        members: dict[str, list[Group]] = {}
        for inner in group.inner_groups():
            members.setdefault(_family(inner.label), []).append(inner)
        members.pop("", None)
        largest = max(members.values(), key=len, default=[])
        kinds = [self._kind_of[member] for member in largest]
        if len(kinds) < 2 or sum(map(self._size, largest)) < LEAST_SHARED * self._size(group):
            return []
        if not any(self._count_types(kind)[op] for kind in {*kinds} for op in _SUMS):
            return []
        is_stage = len({*kinds}) < len(kinds) or self._begins_stage(kinds[0], kinds[1])
        return kinds if is_stage else []

    def _hold_same(self, kind: int, other: int) -> bool:
        first, second = self._count(kind).keys(), self._count(other).keys()
        return len(first & second) >= _SAME_OPERATORS * len(first | second)

    def _first(self, children: list[Child], run: Run) -> int:
        """Return where the first block begins: at its largest group, if that costs no block."""
        count = (run.high - run.low) // run.period
        last = min(run.low + run.period, run.high - count * run.period + 1)
        return max(range(run.low, last), key=lambda index: (self._size(children[index]), -index))

    def _is_enough(
        self, children: list[Child], families: list[str], low: int, count: int, period: int
    ) -> bool:
        if count < 2:
            return False
        block = children[low : low + period]
        size = sum(map(self._size, block))
        if not any(isinstance(child, Group) for child in block):
            # nodes alone are for the search by structure, if their names do not say it
            alike = len(set(families[low : low + count * period])) == period
            return alike and all(families[low : low + period]) and count >= LEAST_NODES
        if count == 2 and size < (LEAST_OF_TWO if period == 1 else LEAST_OF_TWO_JOINED):
            return False
        return count >= LEAST_UNNAMED or all(
            len({families[low + place + block * period] for block in range(count)}) == 1
            and bool(families[low + place])
            for place, child in enumerate(block)
            if isinstance(child, Group)
        )


def _copies_weight(node: Node) -> bool:
    return all(value is not None and is_constant(value) for value in node.inputs)


def _list_ends(runs: list[SiblingRun]) -> list[int]:
    return [end for run in runs for end in (run.low, run.high)]


def _family(label: str) -> str:
    """Return the outermost name of a label without its number; "" where it has none."""
    text, count = _DIGITS.subn("#", label.split(" / ", 1)[0])
    return text if count else ""


def _nodes_inside(group: Group) -> Iterator[Node]:
    pending: list[Child] = [group]
    while pending:
        child = pending.pop()
        if isinstance(child, Group):
            pending.extend(child.children)
        else:
            yield child
