"""Stages: residual blocks of which the first has no residual, or a projection.

Siblings of one family that are residual blocks are taken apart into stages: one that has no
residual or a projection begins a stage, and those behind it that are alike belong to it (K. He and
others, Deep Residual Learning for Image Recognition, 2016, section 3.3; M. Sandler and others,
MobileNetV2, 2018, table 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from netloupe.explorer.model import Node
from netloupe.explorer.operators import Operator

from .group import Group
from .incomplete_ends import add_incomplete_ends, find_begun
from .kinds import Child, Kinds, outermost_family
from .loop_bodies import Steps, cut_run
from .repeat_names import read_list
from .runs import SiblingRun
from .signatures import Integers

#: share of operators that a first block and the others must have in common, and of a stage's
#: nodes that its blocks must have
_LEAST_SHARED = 0.6
#: of what the others have, a first block lacks none of these
_TELLING = ("convolves", "multiplies", "pools", "pools_all", "recurrent", "reduces")


class StageSearch:
    """Finds the stages among siblings.

    Parameters
    ----------
    kinds
        Those of the groups of a tree.
    """

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds

    def find(self, children: list[Child], kinds: tuple[int, ...]) -> list[SiblingRun]:
        """Return the runs that begin with a block without the residual of those behind it."""
        names = [
            "" if isinstance(child, Node) else outermost_family(child.label) for child in children
        ]
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
        """Return whether a kind of group is another one without its sum, or with a projection.

        Of the operators with large weights it has the same, but for that.
        """
        if first == other:
            return False
        if self._kinds.measure_shared(first, other, among_numbered=False) < _LEAST_SHARED:
            return False
        ours, theirs = self._kinds.count_operators(first), self._kinds.count_operators(other)
        more = {operator: ours[operator] - theirs[operator] for operator in {*ours, *theirs}}
        weighted = {
            operator: count
            for operator, count in more.items()
            if count and operator.has("convolves", "multiplies")
        }
        if any(count < 0 and operator.has(*_TELLING) for operator, count in more.items()):
            return False
        sums = sum(count for operator, count in more.items() if operator.has("adds"))
        has_sums = _holds_sum(theirs)
        has_projection = sum(weighted.values()) == 1 and all(map(_may_project, weighted))
        is_convolutional = any(map(_may_project, theirs))
        lacks_sum = not weighted and sums == -1 and is_convolutional
        return has_sums and (lacks_sum or (has_projection and sums == 0))

    def leave_out_stages(
        self, children: Sequence[Child], kinds: Integers, runs: Sequence[SiblingRun]
    ) -> list[SiblingRun]:
        """Return runs among children without those that are of stages (`_are_stages`)."""
        alone = [
            child
            for low, high in pairwise(sorted([0, len(children), *list_ends(runs)]))
            if not any(run.low == low < high == run.high for run in runs)
            for child in children[low:high]
        ]
        kept = []
        firsts = [self._find_first(children, run) for run in runs]
        for run in runs:
            ends = (find_begun(children, kinds, run), *firsts)
            others = [child for child in alone if child not in ends]
            if not self._are_stages(children[run.low : run.high], others):
                kept.append(run)
        return kept

    def _find_first(self, children: Sequence[Child], run: SiblingRun) -> Child | None:
        """Return the head of a first block before a run that begins what the others add to.

        So the skips of a temporal convolutional network begin with the first block's (Y. Luo and N.
        Mesgarani, Conv-TasNet, 2019, figure 1).
        """
        if run.period < 2 or not run.low:
            return None
        first, other = children[run.low - 1], children[run.low + run.exemplar * run.period]
        if not isinstance(first, Group) or not isinstance(other, Group):
            return None
        kinds = self._kinds.of_groups[first], self._kinds.of_groups[other]
        heads = children[run.low : run.high : run.period]
        alike = {self._kinds.of_groups.get(one) for one in heads if isinstance(one, Group)}
        if len(alike) > 1:
            return None  # blocks in turns are of several kinds
        if read_list(first.label) != read_list(other.label) or not self._kinds.hold_same(*kinds):
            return None
        steps = Steps(run.low, cut_run(children, run), run.exemplar)
        joined = add_incomplete_ends(children, steps, run.low - 1, run.high)
        return first if joined.low < run.low else None

    def _are_stages(self, members: Sequence[Child], others: Sequence[Child]) -> bool:
        """Return whether a run is of stages whose blocks are to be counted instead.

        Those are stages that begin with a block of another kind, and those that are only some
        of the stages: others that are in no run hold the same operators.
        """
        groups = [child for child in members if isinstance(child, Group)]
        stages = [group for group in groups if self._list_blocks(group)]
        for blocks in map(self._list_blocks, stages):
            if self._begins_stage(blocks[0], blocks[1]):
                return True
        names = {outermost_family(stage.label) for stage in stages} - {""}
        kinds = {self._kinds.of_groups[stage] for stage in stages}
        return bool(names) and any(
            isinstance(other, Group)
            and outermost_family(other.label) in names
            and any(self._kinds.hold_same(self._kinds.of_groups[other], kind) for kind in kinds)
            for other in others
        )

    def _list_blocks(self, group: Group) -> list[int]:
        """Return the kinds of a stage's residual blocks, which are most of it; else nothing."""
        members: dict[str, list[Group]] = {}
        for inner in group.inner_groups():
            members.setdefault(outermost_family(inner.label), []).append(inner)
        members.pop("", None)
        largest = max(members.values(), key=len, default=[])
        kinds = [self._kinds.of_groups[member] for member in largest]
        size = self._kinds.size
        if len(kinds) < 2 or sum(map(size, largest)) < _LEAST_SHARED * size(group):
            return []
        if not any(_holds_sum(self._kinds.count_operators(kind)) for kind in {*kinds}):
            return []
        is_stage = len({*kinds}) < len(kinds) or self._begins_stage(kinds[0], kinds[1])
        return kinds if is_stage else []


def list_ends(runs: Sequence[SiblingRun]) -> list[int]:
    """Return where each of some runs begins and ends."""
    return [end for run in runs for end in (run.low, run.high)]


def _holds_sum(operators: Iterable[Operator]) -> bool:
    return any(operator.has("adds") for operator in operators)


def _may_project(operator: Operator) -> bool:
    return operator.has("convolves") and not operator.has("transposed")
