"""Kinds of group: two are of one kind if they are built alike.

They are if they have the same operators in the same order and their inner groups are of the same
kinds (one number for each kind, made from the inside out: linear in the size of the tree). Labels
that are alike but for numbers (``layers.#``) are a family.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from netloupe.explorer.model import Node
from netloupe.explorer.operators import Operator

from .group import Group

#: share of the operators of two kinds that both have, where they hold the same
_SAME_OPERATORS = 0.8
#: a number, or one with a letter: ``4a``
_DIGITS = re.compile(r"\d+(?:[a-z](?![a-zA-Z0-9]))?")
#: between the names of scopes that hold nothing but one another
_CHAIN = " / "

Child = Group | Node


class Kinds:
    """Tells of what kind each group of a tree is, and what the kinds have in common.

    Parameters
    ----------
    root
        The tree, before any of its groups is folded.
    labels
        The labels of nodes that stand for a group of one, by index.
    """

    def __init__(self, root: Group, labels: dict[int, str]) -> None:
        self._labels = labels
        #: by index, the kind of each node: its operator; groups have the numbers above these
        self.of_nodes: list[int] = root.graph.wiring.operators.tolist()
        self._operators = self._find_operators(root)
        self._first_of_groups = max(self.of_nodes, default=-1) + 1
        self._numbers: dict[object, int] = {}
        #: the kind of each group
        self.of_groups: dict[Group, int] = {}
        #: the kinds of the children of each group
        self.inside: dict[Group, tuple[int, ...]] = {}
        self._known_families: dict[str, str] = {}
        self._counts: dict[int, Counter[int]] = {}
        self._examples: dict[int, Group] = {}
        self._sizes: dict[int, int] = {}
        order = [root]
        for group in order:
            order += group.inner_groups()
        for group in reversed(order):
            kinds = self.inside[group] = tuple(self._list_kinds(group))
            kind = self.of_groups[group] = self.number(kinds)
            if kind not in self._examples:
                self._examples[kind] = group
                self._sizes[kind] = sum(map(self.size, group.children))

    def _find_operators(self, root: Group) -> dict[int, Operator]:
        numbers, firsts = np.unique(self.of_nodes, return_index=True)
        nodes = root.graph.nodes
        return {
            int(number): nodes[first].operator
            for number, first in zip(numbers, firsts.tolist(), strict=True)
        }

    def _list_kinds(self, group: Group) -> list[int]:
        """Return for each child a number that alike groups, and nodes that do the same, share."""
        nodes, groups, index_of = self.of_nodes, self.of_groups, group.graph.index_of
        alone = group.nodes_alone()
        if alone:
            return [nodes[index_of(node)] for node in alone]
        return [
            groups[child] if isinstance(child, Group) else nodes[index_of(child)]
            for child in group.children
        ]

    def number(self, key: object) -> int:
        """Return the number of whatever is like this."""
        return self._numbers.setdefault(key, self._first_of_groups + len(self._numbers))

    def size(self, child: Child) -> int:
        """Return how many nodes a child is or holds."""
        return self._sizes[self.of_groups[child]] if isinstance(child, Group) else 1

    def count_operators(self, kind: int) -> Counter[Operator]:
        """Return how many nodes of each operator a kind of group has."""
        counts: Counter[Operator] = Counter()
        for number, count in self._count_numbers(kind).items():
            counts[self._operators[number]] += count
        return counts

    def list_labels(self, group: Group) -> list[str]:
        """Return the label of each child of a group; "" of a node that stands for no group."""
        labels, index_of = self._labels, group.graph.index_of
        alone = group.nodes_alone()
        if alone:
            return [labels.get(index_of(node), "") for node in alone]
        return [*map(self.read_label, group.children)]

    def list_named(self, group: Group) -> list[str]:
        """Return the labels of the children that have one: of nodes alone mostly none."""
        labels, index_of = self._labels, group.graph.index_of
        alone = group.nodes_alone()
        if alone:
            return [label for node in alone if (label := labels.get(index_of(node)))]
        return [*filter(None, map(self.read_label, group.children))]

    def read_label(self, child: Child) -> str:
        """Return the label of a child; "" of a node that stands for no group."""
        return child.label if isinstance(child, Group) else self._labels.get(child.index, "")

    def list_families(self, labels: list[str]) -> list[str]:
        """Return each label without its numbers; "" where it has none.

        The first of ``cell``, ``cell_1``, ``cell_2`` is of the family of the others; so is that of
        ``cell / gates``, ``cell_1 / gates``.
        """
        names = [*map(self._write_family, labels)]
        if not all(names):
            known = {*labels}
            for place, label in enumerate(labels):
                outer, separator, rest = label.partition(_CHAIN)
                second = f"{outer}_1{separator}{rest}"
                if label and not names[place] and second in known:
                    names[place] = self._write_family(second)
        return names

    def _write_family(self, label: str) -> str:
        family = self._known_families.get(label)
        if family is None:
            text, count = _DIGITS.subn("#", label)
            family = self._known_families[label] = text if count else ""
        return family

    def measure_shared(self, kind: int, other: int, *, among_numbered: bool = True) -> float:
        """Return the share of operators that two kinds of group have in common, by count.

        It is 0 where they have not as many numbered groups inside, if that is asked: stages of
        a different number of blocks are not alike. A norm may be fused with what is before.
        """
        if among_numbered and self._numbered(kind) != self._numbered(other):
            return 0
        first, second = self._count_numbers(kind), self._count_numbers(other)
        return (first & second).total() / max(first.total(), second.total(), 1)

    def _numbered(self, kind: int) -> Counter[str]:
        example = self._examples[kind]
        families = self.list_families(self.list_labels(example))
        return Counter(
            family
            for family, child in zip(families, example.children, strict=True)
            if family and (isinstance(child, Group) or not child.operator.has("normalizes"))
        )

    def _count_numbers(self, kind: int) -> Counter[int]:
        counts = self._counts.get(kind)
        if counts is None:
            example = self._examples[kind]
            indices = map(example.graph.index_of, _nodes_inside(example))
            counts = self._counts[kind] = Counter(self.of_nodes[index] for index in indices)
        return counts

    def hold_same(self, kind: int, other: int) -> bool:
        """Return whether nearly every operator of two kinds is in both, however often."""
        first, second = self._count_numbers(kind).keys(), self._count_numbers(other).keys()
        return len(first & second) >= _SAME_OPERATORS * len(first | second)


@lru_cache(maxsize=4096)  # layers have the same names inside
def outermost_family(label: str) -> str:
    """Return the outermost name of a label without its number; "" where it has none."""
    text, count = _DIGITS.subn("#", label.split(_CHAIN, 1)[0])
    return text if count else ""


def _nodes_inside(group: Group) -> Iterator[Node]:
    pending: list[Child] = [group]
    while pending:
        child = pending.pop()
        if isinstance(child, Group):
            pending.extend(child.children)
        else:
            yield child
