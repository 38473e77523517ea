"""Repeats among the named siblings of a group: ``layers.0`` to ``layers.11``.

Siblings of one kind (:mod:`.kinds`) are alike. Variants of which a family has one only join the
most common variant where at least `LEAST_SHARED` of the operators are the same, counted; so a
first or last layer may differ a little. Where no two are quite alike, all that share
`LEAST_SHARED_OF_ALL` with the first are. Variants that occur more often stay apart: two kinds of
layer in turns are a repeat of both together.

The children of a group, nodes between its groups included, are then searched for periodic runs
(`runs.find_runs`). Before that, siblings that are residual blocks are taken apart into stages
(:mod:`.stages`). Nodes that take nothing from the groups (:mod:`.independent_nodes`) do not break
a period: where more groups repeat without such nodes, these stand before the repeat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

import numpy as np

from netloupe.explorer.model import Node
from netloupe.explorer.roles import find_weight

from .attention_pairs import are_two_kinds
from .branches import MOST_BRANCHES, are_beside
from .group import Group
from .independent_nodes import find_independent, find_shared
from .kinds import Child, Kinds
from .likeness import count_in_turns, count_turns, find_like, find_of_one_list
from .member_nodes import is_layer, list_nodes_inside
from .phases import are_of_one_number, count_crossing
from .runs import Run, SiblingRun, find_runs
from .signatures import Integers
from .stages import StageSearch, list_ends
from .streams import StreamReader

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
#: in longer runs blocks begin at the largest group
_MOST_IN_RUN = 2_000
#: nodes alone (groups of one) are a repeat in so large a number
LEAST_NODES = 8


_GET_INDEX = attrgetter("index")


class SiblingSearch:
    """Finds the runs among siblings.

    Parameters
    ----------
    root
        The tree, before any of its groups is folded.
    labels
        The labels of nodes that stand for a group of one, by index.
    """

    def __init__(self, root: Group, labels: dict[int, str]) -> None:
        self._kinds = Kinds(root, labels)
        self._stages = StageSearch(self._kinds)
        self._streams = StreamReader()
        self._found: dict[tuple[tuple[int, ...], tuple[str, ...]], list[SiblingRun]] = {}
        self._have_list: dict[tuple[str, ...], bool] = {}

    def find(self, group: Group) -> tuple[list[Child], list[SiblingRun]]:
        """Return the children of a group, and the runs among them, disjoint and in order.

        The children are in their order, but for those that would interrupt a run and take nothing
        from it.
        """
        children, kinds = group.children, self._kinds.inside[group]
        is_plain = len(group.inner_groups()) < 2 and self._are_few_alike(kinds)
        if is_plain and not self._has_list(self._kinds.list_named(group)):
            return children, []  # else a run would be of nodes alone
        labels = self._kinds.list_labels(group)
        key = (kinds, tuple(labels))  # layers have the same names inside
        known = self._found.get(key)
        if known is None:
            families = self._kinds.list_families(labels)
            known = self._found[key] = self._search(children, kinds, families)
        return self._find_without_independent(children, kinds, labels, known)

    def _are_few_alike(self, kinds: tuple[int, ...]) -> bool:
        """Return whether no kind has so many children that these are a repeat without names."""
        if len(kinds) < LEAST_NODES:
            return True
        distinct = {*kinds}
        if len(kinds) - len(distinct) < LEAST_NODES - 1:
            return True
        return max(map(kinds.count, distinct)) < LEAST_NODES

    def _has_list(self, named: list[str]) -> bool:
        """Return whether several labels are those of layers from one list."""
        if len(named) < LEAST_VARIANTS:
            return False
        key = tuple(named)
        known = self._have_list.get(key)  # layers have the same names inside
        if known is None:
            families = Counter(filter(None, self._kinds.list_families(named)))
            most = max(families.values(), default=0)
            known = self._have_list[key] = most >= LEAST_VARIANTS
        return known

    def _find_without_independent(
        self,
        children: list[Child],
        kinds: tuple[int, ...],
        labels: list[str],
        runs: list[SiblingRun],
    ) -> tuple[list[Child], list[SiblingRun]]:
        """Return children and runs, with independent nodes before the runs if these say more so."""
        independent, shared = {*find_independent(children)}, {*find_shared(children)}
        if shared - independent:
            found = self._search_without(children, kinds, labels, runs, independent | shared)
            if found is not None:
                return found
        found = self._search_without(children, kinds, labels, runs, independent)
        return found or (children, runs)

    def _search_without(
        self,
        children: list[Child],
        kinds: tuple[int, ...],
        labels: list[str],
        runs: list[SiblingRun],
        independent: set[int],
    ) -> tuple[list[Child], list[SiblingRun]] | None:
        """Return children and runs with some nodes before the runs; None where these say less.

        Nor may a node stand before what gives to it.
        """
        if not independent:
            return None
        kept = [place for place in range(len(children)) if place not in independent]
        others = [children[place] for place in kept]
        families = self._kinds.list_families([labels[place] for place in kept])
        found = self._search(others, tuple(kinds[place] for place in kept), families)
        if _count_covered(others, found) <= _count_covered(children, runs):
            return None
        order: list[Child] = []
        moved: list[SiblingRun] = []
        done = 0
        for run in found:
            low, high = kept[run.low], kept[run.high - 1] + 1
            order += children[done:low]
            inside = [children[place] for place in range(low, high) if place in independent]
            if _takes_from(inside, others[run.low : run.high]):
                return None
            order += inside
            moved.append(run._replace(low=len(order), high=len(order) + run.high - run.low))
            order += others[run.low : run.high]
            done = high
        return order + children[done:], moved

    def _search(
        self, children: list[Child], kinds: tuple[int, ...], families: list[str]
    ) -> list[SiblingRun]:
        exact = np.array(kinds, dtype=np.int64)
        relaxed = self._relax(children, exact, families)
        found = [*self._list_even(children, self._stages.find(children, kinds))]
        ends = [0, *list_ends(found), len(children)]
        pending = [*zip(ends[::2], ends[1::2], strict=True)]
        while pending:
            low, high = pending.pop()
            run = self._find_one(children, relaxed[low:high], exact, families, low)
            if run is not None:
                found.append(run)
                pending.extend(((low, run.low), (run.high, high)))
        found = self._stages.leave_out_stages(children, exact, found)
        return sorted(found, key=lambda run: run.low)

    def _list_even(self, children: list[Child], runs: Iterable[SiblingRun]) -> Iterator[SiblingRun]:
        """Yield what of runs of single children has a stream of one width and resolution."""
        for run in runs:
            first, last = self._find_even(children[run.low : run.high], 1, run.high - run.low)
            if last - first > 1:
                exemplar = 1 if first else run.exemplar
                yield SiblingRun(run.low + first, run.low + last, 1, min(exemplar, last - first))

    def _relax(self, children: list[Child], exact: Integers, families: list[str]) -> Integers:
        """Return the kinds with rare variants of a family counted as its most common one."""
        members: dict[str, list[int]] = {}
        for index, (child, family) in enumerate(zip(children, families, strict=True)):
            if family and isinstance(child, Group):
                members.setdefault(family, []).append(index)
        relaxed = exact.copy()
        for index, (child, family) in enumerate(zip(children, families, strict=True)):
            if isinstance(child, Node):
                relaxed[index] = self._kinds.number((self._kinds.of_nodes[child.index], family))
        for indexes in members.values():
            variants = Counter(int(exact[index]) for index in indexes)
            common, count = variants.most_common(1)[0]
            if len(variants) == 1:
                continue
            least = LEAST_SHARED if count > 1 else LEAST_SHARED_OF_ALL
            similar = {
                kind
                for kind, seen in variants.items()
                if seen == 1 and self._kinds.measure_shared(kind, common) >= least
            }
            if count < 2 and len(similar) < LEAST_VARIANTS:
                similar = set()
            for index in indexes:
                if int(exact[index]) in similar:
                    relaxed[index] = common
            others = [kind for kind, _ in variants.most_common() if kind not in similar]
            routed = self._join_routed(others)
            for kind, first in routed.items():
                if variants[kind] == 1:
                    relaxed[exact == kind] = first
        return relaxed

    def _join_routed(self, kinds: Iterable[int]) -> dict[int, int]:
        """Return for kinds of routed layers the one that has the same operators, however often.

        Exporters that follow an example write those experts alone that it was sent to, which are
        others and not as many in each layer.
        """
        joined: dict[int, int] = {}
        for kind in kinds:
            if any(operator.has("selects") for operator in self._kinds.count_operators(kind)):
                alike = (one for one in joined.values() if self._kinds.hold_same(kind, one))
                joined[kind] = next(alike, kind)
        return joined

    def _find_one(
        self,
        children: list[Child],
        numbers: Integers,
        exact: Integers,
        families: list[str],
        offset: int,
    ) -> SiblingRun | None:
        is_told_apart = False  # by the width of the stream
        pending = find_runs(numbers, with_gaps=False)[::-1]
        while pending:
            run = pending.pop()
            moved = Run(run.period, run.low + offset, run.high + offset)
            low = self._first(children, moved)
            count = (moved.high - low) // run.period
            if not self._is_enough(children, families, low, count, run.period):
                ends = range(low, low + count * run.period, run.period)
                turns = count_in_turns([tuple(families[at : at + run.period]) for at in ends])
                if turns > 1:
                    pending.append(Run(run.period * turns, run.low, run.high))
                continue
            blocks = [children[low + at * run.period :][: run.period] for at in range(count)]
            labels = [*map(self._list_labels, blocks)]
            turns = count_turns(labels)
            if turns > 1:
                pending.append(Run(run.period * turns, run.low, run.high))
                continue
            first, last = find_of_one_list(labels)
            if last - first < count:
                low, count = low + first * run.period, last - first
                if not self._is_enough(children, families, low, count, run.period):
                    continue
            first, last = self._find_even(
                children[low : low + count * run.period], run.period, count
            )
            if last - first < count:
                if not is_told_apart:
                    is_told_apart = True
                    there = children[offset : offset + len(numbers)]
                    numbers = self._tell_widths_apart(there, numbers)
                    pending = find_runs(numbers, with_gaps=False)[::-1]
                    continue
                low, count = low + first * run.period, last - first
                if not self._is_enough(children, families, low, count, run.period):
                    continue
            high = low + count * run.period
            halves = children[low : low + run.period], children[low + run.period : high]
            if count == 2 and are_two_kinds([*map(_list_nodes, halves)]):
                continue
            rows = exact[low:high].reshape(count, run.period)
            if (rows != rows[0]).any():
                nodes = [
                    _list_nodes(children[start : start + run.period])
                    for start in range(low, high, run.period)
                ]
                first, last = find_like(nodes)
                if last - first < count:
                    low, count = low + first * run.period, last - first
                    if not self._is_enough(children, families, low, count, run.period):
                        continue
                    high = low + count * run.period
                    rows = rows[first:last]
            _, firsts, seen = np.unique(rows, axis=0, return_index=True, return_counts=True)
            return SiblingRun(low, high, run.period, int(firsts[seen == seen.max()].min()))
        return None

    def _find_even(self, children: list[Child], period: int, count: int) -> tuple[int, int]:
        """Return the longest range of repetitions whose stream has one width and resolution."""
        blocks = [
            _list_nodes(children[low : low + period]) for low in range(0, count * period, period)
        ]
        if count > MOST_BRANCHES and are_beside(blocks):
            return 0, count  # each has its own width, as bands and tables have
        ranges = self._streams.find_even(blocks)
        return max(ranges, key=lambda ends: ends[1] - ends[0])

    def _tell_widths_apart(self, children: list[Child], numbers: Integers) -> Integers:
        """Return other numbers for children that give streams of different widths."""
        widths = [self._streams.read(_list_nodes([child])).width for child in children]
        pairs = zip(numbers.tolist(), widths, strict=True)
        return np.array([self._kinds.number(pair) for pair in pairs], np.int64)

    def _first(self, children: list[Child], run: Run) -> int:
        """Return where the first block begins, if that costs no block: where its author drew it.

        That is where the most blocks are of one list, then where the modules of a block have one
        number, then where the fewest values lead from one to the next, and then at its largest
        group.
        """
        count = (run.high - run.low) // run.period
        last = min(run.low + run.period, run.high - count * run.period + 1)
        size = self._kinds.size
        firsts = range(run.low, last)
        if len(firsts) < 2 or run.high - run.low > _MOST_IN_RUN:
            return max(firsts, key=lambda index: (size(children[index]), -index))
        labels = [child.label if isinstance(child, Group) else "" for child in children]
        crossing = count_crossing(children, run)

        def score(index: int) -> tuple[int, int, int, int, int]:
            blocks = [
                [*filter(None, labels[low : low + run.period])]
                for low in range(index, index + count * run.period, run.period)
            ]
            first, end = find_of_one_list(blocks)
            numbered = sum(are_of_one_number(block) for block in blocks)
            narrow = -crossing[(index - run.low) % run.period]
            return end - first, numbered, narrow, size(children[index]), -index

        return max(firsts, key=score)

    def _list_labels(self, block: Sequence[Child]) -> list[str]:
        """Return the labels of the groups in a block; of its layers where it has no group."""
        labels = [child.label for child in block if isinstance(child, Group)]
        return labels or [*filter(None, map(self._kinds.read_label, block))]

    def _is_enough(
        self, children: list[Child], families: list[str], low: int, count: int, period: int
    ) -> bool:
        if count < 2:
            return False
        block = children[low : low + period]
        size = sum(map(self._kinds.size, block))
        if not any(isinstance(child, Group) for child in block):
            # nodes alone are for the search by structure, if their names do not say it
            own = families[low : low + count * period]
            alike = len(set(own)) == period
            if alike and all(own[:period]) and count >= LEAST_NODES:
                return True
            return _are_layers_of_lists(block, own, count)
        if count == 2 and size < (LEAST_OF_TWO if period == 1 else LEAST_OF_TWO_JOINED):
            return False
        return count >= LEAST_UNNAMED or all(
            len({families[low + place + block * period] for block in range(count)}) == 1
            and bool(families[low + place])
            for place, child in enumerate(block)
            if isinstance(child, Group)
        )


def _are_layers_of_lists(block: Sequence[Child], families: Sequence[str], count: int) -> bool:
    """Return whether blocks of single nodes are layers from lists, and what follows each.

    That is so where several blocks have one of the same lists: the layers of ``convs``, or of ``q``
    and ``v``, and behind them what the author wrote out, as a gate and a sum.
    """
    period = len(block)
    if count < LEAST_VARIANTS or period < LEAST_OF_TWO:
        return False
    lists = Counter(tuple(families[at * period :][:period]) for at in range(count))
    named = [[family for family in one if family] for one in lists]
    if min(lists.values()) < LEAST_VARIANTS or any(len({*one}) < len(one) for one in named):
        return False
    return any(
        family and isinstance(child, Node) and is_layer(child)
        for family, child in zip(families, block, strict=False)
    )


def _count_covered(children: list[Child], runs: list[SiblingRun]) -> tuple[int, int]:
    """Return how many layers and groups are in runs, and a number: larger the fewer the runs."""
    members = [child for run in runs for child in children[run.low : run.high]]
    counted = sum(isinstance(one, Group) or find_weight(one) is not None for one in members)
    return counted, -len(runs)


def _takes_from(nodes: Sequence[Child], children: Sequence[Child]) -> bool:
    """Return whether some of these nodes take something from these children."""
    if not nodes:
        return False
    inside = {*list_nodes_inside(children)}
    return any(
        value is not None and value.producer in inside
        for node in nodes
        if isinstance(node, Node)
        for value in node.inputs
    )


def _list_nodes(block: Sequence[Child]) -> list[Node]:
    return sorted(list_nodes_inside(block), key=_GET_INDEX)
