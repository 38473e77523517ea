"""The steps of a loop that is written out, around the uses of one stored matrix.

What leads from one use to the next belongs to the end of one step or to the beginning of the next:
to the end as far as the like follows the last use, too; to the beginning as far as the like leads
to the first one. What is neither behind the last nor before the first is one of two things.
Exporters compute beforehand what a first step does with a state that is stored, as one of zeros is:
that begins a step. And they leave out what a last step would only give to a next one: that ends a
step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node

from .called_children import LEAST_OF_CALLS, Child, ChildRow, pair_children
from .shared_tensors import Stored
from .shared_weights import are_loop

#: share of the operators of one step that each other one has
_LEAST_SHARED = 0.85
#: the first and the last may lack more of what the others have
_LEAST_OF_ENDS = 0.3
_PAIR = 2
#: two steps are a loop if they have so many nodes
_LEAST_OF_TWO = 6
#: and several if these have so many in all
_LEAST_NODES = 8


@dataclass(slots=True)
class UnrolledLoop:
    """The steps of a loop among the children of a group, and what comes before and behind."""

    before: list[Child]
    steps: list[list[Child]]
    behind: list[Child]


class StepSearch:
    """Puts the children around the uses of a matrix into steps.

    Parameters
    ----------
    uses
        The places of the children that use it, in order.
    lasts, firsts
        For each child the last use before it, and the first behind it.
    behind
        The nodes behind a use.
    """

    def __init__(
        self,
        row: ChildRow,
        uses: Sequence[int],
        lasts: Sequence[int],
        firsts: Sequence[int],
        behind: Container[Node],
    ) -> None:
        self._row, self._uses, self._behind = row, uses, behind
        self._lasts, self._firsts = lasts, firsts
        self._count = len(uses)
        self._by_last: dict[int, list[int]] = {}
        for place, last in enumerate(lasts):
            self._by_last.setdefault(last, []).append(place)
        #: the step of each child that is in one
        self._step: dict[int, int] = {}
        #: what is like it in the next step
        self._next: dict[int, int] = {}
        #: what gives to a step, by way of others or not, and what is in one
        self._ahead: set[int] = set()

    def make(self) -> UnrolledLoop | None:
        """Return the loop; None where the steps are not alike."""
        row, count = self._row, self._count
        if any(last > first for last, first in zip(self._lasts, self._firsts, strict=True)):
            return None
        # a first use may lack what is done with a state of zeros
        if any(not row.are_alike(self._uses[-1], use) for use in self._uses[1:]):
            return None
        return self._arrange(count + 1) or self._arrange(count)

    def _arrange(self, calls: int) -> UnrolledLoop | None:
        """Return the loop with so many steps: as many as uses, or one more, without a use.

        What is called more often than that is no part of it.
        """
        self._step = {place: number for number, place in enumerate(self._uses)}
        self._next.clear()
        for place in self._places:
            if place not in self._step and self._lasts[place] == self._firsts[place]:
                self._step[place] = self._lasts[place]
        between = [self._list(t, 1 + t, self._count - 1) for t in range(self._count - 1)]
        results = self._list_results(calls)
        self._find_ends(between, results)
        self._find_begins([[*own, *others] for own, others in zip(between, results, strict=True)])
        left = [[place for place in own if place not in self._step] for own in between]
        is_begun = self._is_begun(left[len(left) // 2])
        for t, own in enumerate(left):
            self._part(own, t, is_begun=is_begun)
        for t, own in enumerate(results):
            self._step.update((p, t) for p in own if p not in self._step)
        self._add_inputs()
        if calls > self._count:
            if not self._peel():
                return None
            self._add_inputs()
        self._enclose()
        steps: dict[int, list[int]] = {}
        for place, number in sorted(self._step.items()):
            steps.setdefault(number, []).append(place)
        made = [steps[number] for number in sorted(steps)]
        return self._close(made) if self._are_alike(made) else None

    @property
    def _places(self) -> range:
        return range(len(self._row.children))

    def _list(self, last: int, first: int, most: int) -> list[int]:
        """Return the children behind one use and before another, or one behind that."""
        found = self._by_last.get(last, ())
        return [place for place in found if first <= self._firsts[place] <= most]

    def _list_results(self, calls: int) -> list[list[int]]:
        """Return what each step but the last gives that no other step takes.

        It stands before the next step in the file.
        """
        count, row = self._count, self._row
        own: set[int] = set()
        found: list[list[int]] = []
        for t in range(count - 1):
            found.append([])
            for place in self._list(t, count, count):
                used = [len(row.users[tensor]) for tensor in row.tensors[place]]
                if place > self._uses[t + 1] or any(n > count and n % calls for n in used):
                    continue
                givers = [giver for giver in row.givers[place] if self._lasts[giver] >= 0]
                if all(giver in own or self._firsts[giver] < count for giver in givers):
                    own.add(place)
                    found[t].append(place)
        return found

    def _find_ends(
        self, between: Sequence[Sequence[int]], results: Sequence[Sequence[int]]
    ) -> None:
        """Put into steps what follows a use as the like follows the last one."""
        count = self._count
        following: Sequence[int] = self._list(count - 1, count, count)
        for t in reversed(range(count - 1)):
            pool = sorted({*between[t], *results[t]})
            pairs = {self._uses[t + 1]: self._uses[t]}
            pair_children(self._row, pool, following, pairs, way="behind")
            for place, other in pairs.items():
                self._step[place], self._step[other] = t + 1, t
                self._next[other] = place
            following = sorted(pairs.values())

    def _find_begins(self, between: Sequence[Sequence[int]]) -> None:
        """Put into steps what leads to a use as the like leads to the first one."""
        row = self._row
        ahead = self._list(-1, 0, 1)
        mine = {*ahead, *(place for place, step in self._step.items() if step == 0)}
        # what a step gives may be taken behind the loop, too, such as its attention
        mine.update(place for place in self._places if self._firsts[place] == self._count)
        if self._count > _PAIR:  # a first step gives to the second one, too
            mine.update(place for place in self._list(0, 1, 1) if place not in self._uses)
        wanted = [place for place in ahead if row.takers[place] <= mine]
        nearest = [place for place in wanted if self._firsts[place] == 0]
        likes: list[dict[int, int]] = [{} for _ in self._uses]
        for place, other in self._next.items():
            likes[self._step[place]][place] = other
        for t, pairs in enumerate(likes[:-1]):
            pool = [place for place in between[t] if place not in self._step]
            pairs[self._uses[t]] = self._uses[t + 1]
            known = {*pairs}
            if not t and self._count > _PAIR:  # what leads around the use keeps none of them back
                pair_children(row, pool[::-1], nearest[::-1], pairs, way="before")
                pool = [place for place in pool if place not in {*pairs.values()}]
            pair_children(row, pool[::-1], wanted[::-1], pairs, way="before")
            found = {place: pairs[place] for place in pairs.keys() - known}
            for place, other in found.items():
                self._step[place], self._step[other] = t, t + 1
                self._next[place] = other
            wanted = sorted(found.values())
        self._find_first_ends()

    def _find_first_ends(self) -> None:
        """Put into the first step what it gives to the second one as that does to the third.

        It leads around the use, as the weights of attention do to where the next step looks (J.
        Chorowski and others, Attention-Based Models for Speech Recognition, 2015, section 2.1).
        """
        likes = self._list(0, _PAIR, _PAIR)
        for place in self._list(-1, 1, 1) if self._count > _PAIR else ():
            giving = any(self._step.get(giver) == 0 for giver in self._row.givers[place])
            if giving and any(self._row.are_alike(place, like) for like in likes):
                self._step[place] = 0

    def _is_begun(self, places: Sequence[int]) -> bool:
        """Return whether the first step begins with what some children do, before all weights."""
        row = self._row
        known = row.count_before(p for p, step in self._step.items() if step == 0)
        operators = sum((row.operators[place] for place in places), Counter[str]())
        return (operators & known).total() >= LEAST_OF_CALLS * operators.total()

    def _part(self, places: Sequence[int], number: int, *, is_begun: bool) -> None:
        """Put children between two uses into the end of one step or the beginning of the next."""
        row = self._row
        if is_begun:
            self._step.update(dict.fromkeys(places, number + 1))
            return
        new = {place for place in places if self._takes_new(place, number)}
        weighted = {place for place in places if row.has_weight(place)}
        later = self._follow(places, new | weighted, number + 1)
        givers = {giver for place in later for giver in row.givers[place]}
        known = {giver for giver in givers if self._step.get(giver, number + 1) <= number}
        known.update(places)
        if len(later) < len(places) and not row.are_foldable(later - new, known):
            later = self._follow(places, new, number + 1)
        self._step.update((place, number + (place in later)) for place in places)

    def _follow(self, places: Sequence[int], begins: Container[int], number: int) -> set[int]:
        """Return those of some children that begin a step, and what takes from such."""
        found: set[int] = set()
        for place in places:
            givers = self._row.givers[place]
            in_step = any(self._step.get(giver) == number for giver in givers)
            if place in begins or in_step or not givers.isdisjoint(found):
                found.add(place)
        return found

    def _takes_new(self, place: int, number: int) -> bool:
        """Return whether a child takes what no step gives, and none up to a number takes."""
        row = self._row
        for node in row.nodes[place]:
            for value in node.inputs:
                if value is None or is_input_independent(value):
                    continue
                users = [row.owners[user] for user in value.users if user in row.owners]
                is_outside = value.producer is None or value.producer not in self._behind
                if is_outside and all(self._firsts[user] > number for user in users):
                    return True
        return False

    def _peel(self) -> bool:
        """Add a first step that lacks the use of the matrix, for its state is zero there."""
        row = self._row
        free = {p for p in self._list(-1, self._count, self._count) if p not in self._step}
        ahead = [p for p in self._list(-1, 0, 0) if p not in self._step]
        pool = [place for place in self._places if self._step.get(place) == 0]
        mine = {*ahead, *free, *self._step}
        ahead = [p for p in ahead if row.takers[p] <= mine]
        known = {place: self._next[place] for place in pool if place in self._next}
        found = dict(known)
        pair_children(row, pool[::-1], ahead[::-1], found, way="around")
        pairs = {place: other for place, other in found.items() if place not in known}
        pair_children(row, pool, sorted(free), pairs, way="behind")
        operators = [sum((row.operators[p] for p in own), Counter[str]()) for own in (pairs, pool)]
        is_call = any(row.tensors[p] or row.is_named(p) for p in pairs)
        if not is_call or operators[0].total() < _LEAST_OF_ENDS * operators[1].total():
            return False
        self._step.update(dict.fromkeys(pairs, -1))
        return True

    def _add_inputs(self) -> None:
        """Put into steps what only one of them takes, where the like is in nearly all.

        A cell gives to the next step of its own, too; and such modules stand in the file where
        their step does.
        """
        row = self._row
        found: dict[int, int] = {}
        for place in reversed(self._places):
            if self._lasts[place] >= 0 or place in self._step:
                continue
            steps = [self._step.get(p, found.get(p)) for p in row.takers[place]]
            numbers = {number for number in steps if number is not None}
            if None in steps or not numbers:
                continue
            number = min(numbers)
            later = [p for p in row.takers[place] if self._step.get(p, found.get(p)) != number]
            is_early = number > 0 and place < self._uses[number - 1]
            is_apart = is_early and bool(later or row.tensors[place])
            if not is_apart and all(p in found for p in later):
                found[place] = number
        members: dict[tuple[str, frozenset[Stored]], dict[int, list[int]]] = {}
        for place, number in found.items():  # the nearest to its step first
            members.setdefault(row.describe(place), {}).setdefault(number, []).append(place)
        least = max(len({*self._step.values()}) - 1, 2)
        for own in members.values():
            most = Counter(map(len, own.values())).most_common(1)[0][0]
            if len(own) >= least:
                self._step.update((p, number) for number in own for p in own[number][:most])

    def _enclose(self) -> None:
        """Put into steps what takes from one and gives to one, by way of others or not."""
        row = self._row
        behind = {*self._step}
        for place in self._places:
            if not row.givers[place].isdisjoint(behind):
                behind.add(place)
        self._ahead = {*self._step}
        for place in reversed(self._places):
            takers = row.takers[place] & self._ahead
            if takers:
                self._ahead.add(place)
                steps = [self._step[taker] for taker in takers if taker in self._step]
                if steps and place in behind:
                    self._step.setdefault(place, min(steps))

    def _are_alike(self, steps: Sequence[Sequence[int]]) -> bool:
        row = self._row
        if any(
            self._step.get(giver, step) > step
            for place, step in self._step.items()
            for giver in row.givers[place]
        ):
            return False
        operators = [sum((row.operators[p] for p in step), Counter[str]()) for step in steps]
        body = operators[len(steps) // 2]
        total = body.total()
        if total * len(steps) < _LEAST_NODES or (len(steps) == 2 and total < _LEAST_OF_TWO):
            return False
        for number, own in enumerate(operators):
            shared, size = (own & body).total(), own.total()
            is_end = number in (0, len(steps) - 1)
            if shared < _LEAST_SHARED * (size if is_end else max(size, total)):
                return False
            if is_end and size < _LEAST_OF_ENDS * total:
                return False
        nodes = [[node for p in step for node in row.nodes[p]] for step in steps]
        return are_loop([sorted(own, key=lambda node: node.index) for own in nodes])

    def _close(self, steps: Sequence[Sequence[int]]) -> UnrolledLoop:
        children, first = self._row.children, min(self._step)
        rest = [p for p in range(len(children)) if p not in self._step]
        is_before = {p: p in self._ahead or (self._lasts[p] < 0 and p < first) for p in rest}
        return UnrolledLoop(
            [children[p] for p in rest if is_before[p]],
            [[children[p] for p in step] for step in steps],
            [children[p] for p in rest if not is_before[p]],
        )
