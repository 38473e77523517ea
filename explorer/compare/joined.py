"""Projections that one model has as several nodes, and the other as one with a joined weight.

Query, key and value of an attention, or gate and up of an MLP, are projections of one value. Some
exporters and optimizers write one product whose weight is theirs, joined along the outputs, and
cut what it gives into parts. Such a product is paired with those of the other model where both
take what is paired and the numbers of outputs add up; and where its parts have the numbers of the
other weights, which tells their order, or else where all that takes the parts and the others is
paired, one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from netloupe.explorer.model import Node, Tensor, Value
from netloupe.explorer.progress import step

from .hashing import Hashes
from .projections import (
    MICROSOFT,
    MOST_PARTS,
    OutputParts,
    ProjectedNumbers,
    Projection,
    is_all_zero,
    list_parts,
    read_projection,
)
from .rounds import Made, Rounds
from .units import Units

#: parts and weights are the same where samples of them correlate so much: also where these were
#: rounded, trained on or rescaled
_LEAST_CORRELATION = 0.9
#: how sure a pair is that numbers tell, and one that only what is around tells
_BY_NUMBERS, _BY_PLACE = Made("weights", 0.95), Made("place", 0.5)
#: of so many projections of one value those are looked for that were joined
_MOST_CANDIDATES = 256
#: keys of pairs of nodes that say more than that weights were joined
_SURE = frozenset({"by hand", "weights"})
#: an attention that is written out has so many units at most
_MOST_INSIDE = 64
_STEP = 1_000


class ProjectionPart(NamedTuple):
    """A projection by itself, and the part of a joined one that does the same.

    Parameters
    ----------
    start, stop
        Which outputs of the joined one they are, from one up to another.
    weight, is_turned
        The weight of the one by itself; turned where outputs are along its first axis.
    bias
        Its bias; None for none.
    result, part
        What both give; None where what the joined one gives is not cut into these parts.
    """

    start: int
    stop: int
    weight: Tensor
    is_turned: bool
    bias: Tensor | None
    result: Value | None
    part: Value | None


@dataclass(frozen=True, slots=True, eq=False)
class JoinedProjection:
    """A projection by a joined weight, and those that the other model has in its place.

    Parameters
    ----------
    is_left
        Whether the left model has the joined one.
    joined, separate
        The nodes of both models.
    weight, is_turned, bias
        Of the joined one, as of a part.
    parts
        The others, in the order of the outputs of the joined one.
    """

    is_left: bool
    joined: tuple[Node, ...]
    separate: tuple[Node, ...]
    weight: Tensor
    is_turned: bool
    bias: Tensor | None
    parts: tuple[ProjectionPart, ...]

    @property
    def left(self) -> tuple[Node, ...]:
        """The nodes of the left model."""
        return self.joined if self.is_left else self.separate

    @property
    def right(self) -> tuple[Node, ...]:
        """The nodes of the right model."""
        return self.separate if self.is_left else self.joined

    def list_tensors(self) -> Iterator[Tensor]:
        """Yield the weights and biases of both models."""
        yield self.weight
        if self.bias is not None:
            yield self.bias
        for one in self.parts:
            yield one.weight
            if one.bias is not None:
                yield one.bias

    def list_pairs(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield each weight and bias with the joined one; that of the left model comes first."""
        for one in self.parts:
            for separate, joined in ((one.weight, self.weight), (one.bias, self.bias)):
                if separate is not None and joined is not None:
                    yield (joined, separate) if self.is_left else (separate, joined)

    def list_bounds(self) -> Iterator[Tensor]:
        """Yield the stored integers that say where it is cut, and that nothing else takes."""
        own = {*self.joined}
        for node in self.joined:
            for value in node.inputs:
                if value is None or not own.issuperset(value.users):
                    continue
                if isinstance(value.initializer, Tensor) and value.initializer.dtype.is_integer:
                    yield value.initializer


class FoundJoint(NamedTuple):
    """A joined projection, how it was found, and the units of both models that are part of it."""

    joint: JoinedProjection
    made: Made
    left: frozenset[int]
    right: frozenset[int]


def find_joined_projections(rounds: Rounds, outside: tuple[Hashes, Hashes]) -> list[FoundJoint]:
    """Return the projections that one model has joined; each unit is part of one at most.

    Parameters
    ----------
    rounds
        The pairs of units.
    outside
        Of each side, hashes of the values that come from outside, equal for what is the same.

    Notes
    -----
    Looks only at projections that have no partner, or one of other sizes, and at those of the
    other model that take the same. Some hundred elements of each weight are read.
    """
    numbers = ProjectedNumbers()
    taken: tuple[set[int], set[int]] = set(), set()
    found: list[FoundJoint] = []
    for side in (0, 1):
        finder = _Finder(rounds, outside, side, numbers, taken)
        for is_by_numbers in (True, False):  # what numbers tell comes first
            found += finder.find(is_by_numbers)
    return found


class _Finder:
    """Finds the joined projections of one model."""

    def __init__(
        self,
        rounds: Rounds,
        outside: tuple[Hashes, Hashes],
        side: int,
        numbers: ProjectedNumbers,
        taken: tuple[set[int], set[int]],
    ) -> None:
        other = 1 - side
        self._made, self._side = rounds.made, side
        self._units, self._others = rounds.sides[side], rounds.sides[other]
        self._partner, self._back = rounds.partner[side], rounds.partner[other]
        self._outside = outside[side], outside[other]
        self._numbers = numbers
        self._taken, self._other_taken = taken[side], taken[other]
        self._known: dict[int, Projection | None] = {}
        self._fans: dict[int, list[int]] | None = None

    def find(self, is_by_numbers: bool) -> Iterator[FoundJoint]:
        order = self._order_by_numbers if is_by_numbers else self._order_by_users
        for number, unit in enumerate(self._list_joinable()):
            if not number % _STEP:
                step()
            found = None if unit in self._taken else self._find_at(unit, order)
            if found is not None:
                mine, theirs = (found.right, found.left)[:: 1 if self._side else -1]
                self._taken.update(mine)
                self._other_taken.update(theirs)
                yield found

    def _list_joinable(self) -> list[int]:
        """Return the units that may be joined projections; none where no others are free."""
        if -1 not in self._back:
            return []
        return [
            unit
            for unit, weights in enumerate(self._units.weights)
            if weights
            and self._units.kinds[unit] in ("product with weights", f"{MICROSOFT}::Attention")
            and (self._partner[unit] < 0 or self._has_other_sizes(unit))
        ]

    def _has_other_sizes(self, unit: int) -> bool:
        sizes = (
            max((tensor.size for tensor in weights), default=0)
            for weights in (self._units.weights[unit], self._others.weights[self._partner[unit]])
        )
        return len({*sizes}) > 1

    def _find_at(self, unit: int, order: _Order) -> FoundJoint | None:
        candidates = self._list_candidates(unit)
        if len(candidates) < 2:
            return None
        joined = read_projection(self._units, unit)
        if joined is None:
            return None
        fitting = [
            one
            for one in map(self._read, candidates)
            if one is not None and one.inputs == joined.inputs and one.outputs < joined.outputs
        ]
        if sum(one.outputs for one in fitting) < joined.outputs:
            return None
        parts = list_parts(self._units, joined)
        if parts is not None and not all(self._is_free(cut) for cut in parts.units):
            parts = None
        chosen = order(joined, parts, fitting)
        if chosen is None or not _have_equal_biases(joined, chosen):
            return None
        if not self._may_be_joined(unit, {one.unit for one in chosen}):
            return None
        made = _BY_NUMBERS if order == self._order_by_numbers else _BY_PLACE
        return self._make(joined, parts, chosen, made)

    def _read(self, unit: int) -> Projection | None:
        if unit not in self._known:
            self._known[unit] = read_projection(self._others, unit)
        return self._known[unit]

    # who takes the same

    def _list_candidates(self, unit: int) -> list[int]:
        """Return the projections of the other model that take what one takes."""
        first = self._units.operands[unit][:1]
        if not first:
            return []
        (taken,) = first
        if taken.source < 0:
            users = self._list_takers().get(int(self._outside[0][taken.output]), [])
        else:
            source = self._partner[taken.source]
            if source < 0:
                return []
            users = [
                user
                for user, _ in self._others.users[source]
                if self._others.operands[user][0].output == taken.output
            ]
        return [
            user
            for user in dict.fromkeys(users)
            if self._others.kinds[user] == "product with weights"
            and len(self._others.operands[user]) == 1
            and user not in self._other_taken
            and not self._is_sure(self._back[user], user, unit)
        ][:_MOST_CANDIDATES]

    def _list_takers(self) -> dict[int, list[int]]:
        """Return by hash of what comes from outside the units of the other model that take it."""
        if self._fans is None:
            self._fans = defaultdict(list)
            for unit, operands in enumerate(self._others.operands):
                if len(operands) == 1 and operands[0].source < 0:
                    self._fans[int(self._outside[1][operands[0].output])].append(unit)
        return self._fans

    def _is_sure(self, mine: int, theirs: int, unit: int) -> bool:
        """Return whether a projection has another partner that is sure."""
        if mine < 0 or mine == unit:
            return False
        return self._made[theirs if self._side else mine].key in _SURE

    def _is_free(self, unit: int) -> bool:
        """Return whether what cuts a joined projection has no partner of its own."""
        return self._partner[unit] < 0 and unit not in self._taken

    def _may_be_joined(self, unit: int, chosen: set[int]) -> bool:
        """Return whether nothing that is sure says that a projection is something else."""
        partner = self._partner[unit]
        if partner < 0 or partner in chosen:
            key = self._made[partner if self._side else unit].key if partner >= 0 else ""
            return key != "by hand"
        return self._made[partner if self._side else unit].key not in _SURE

    # in which order they were joined

    def _order_by_numbers(
        self, joined: Projection, parts: OutputParts | None, candidates: Sequence[Projection]
    ) -> list[Projection] | None:
        """Return the projections whose weights are the parts of the joined one, in order."""
        chosen: list[Projection] = []
        start = 0
        while start < joined.outputs:
            alike = [
                one
                for one in candidates
                if start + one.outputs <= joined.outputs
                and one not in chosen
                and self._numbers.compare(joined, start, one) >= _LEAST_CORRELATION
            ]
            if len(alike) != 1 or len(chosen) == MOST_PARTS:
                return None
            chosen += alike
            start += alike[0].outputs
        return chosen if len(chosen) > 1 else None

    def _order_by_users(
        self, joined: Projection, parts: OutputParts | None, candidates: Sequence[Projection]
    ) -> list[Projection] | None:
        """Return the projections of which the same takes as of the parts, in their order."""
        if parts is None:
            return None
        chosen: list[Projection] = []
        for place, size in enumerate(parts.sizes):
            users = self._list_partners_of_users(parts, place)
            alike = [
                one
                for one in candidates
                if one.outputs == size
                and users is not None
                and {*self._others.users[one.unit]} == users
                and not self._others.results[one.unit]
            ]
            if len(alike) != 1 or alike[0] in chosen:
                return None
            chosen += alike
        return chosen

    def _list_partners_of_users(
        self, parts: OutputParts, place: int
    ) -> set[tuple[int, int]] | None:
        """Return what is paired with the units that take a part; None where any is not."""
        is_split = len(parts.units) == 1
        cut = parts.units[0 if is_split else place]
        found = set()
        for user, at in self._units.users[cut]:
            outputs = [
                operand.output
                for operand in self._units.operands[user]
                if operand.source == cut and operand.place == at
            ]
            if is_split and place not in outputs:
                continue
            if self._partner[user] < 0:
                return None
            found.add((self._partner[user], at))
        return found or None

    # what is put together

    def _make(
        self, joined: Projection, parts: OutputParts | None, chosen: list[Projection], made: Made
    ) -> FoundJoint:
        sizes = tuple(one.outputs for one in chosen)
        if parts is not None and parts.sizes != sizes:
            parts = None
        units = {joined.unit, *(parts.units if parts is not None else ())}
        others = {one.unit for one in chosen}
        if self._units.head(joined.unit).domain == MICROSOFT:
            others |= self._list_written_out(joined.unit, others)
        pieces, start = [], 0
        for place, one in enumerate(chosen):
            stop = start + one.outputs
            part = parts.values[place] if parts is not None else None
            result = one.result if part is not None else None
            row = ProjectionPart(start, stop, one.weight, one.is_turned, one.bias, result, part)
            pieces.append(row)
            start = stop
        joint = JoinedProjection(
            not self._side,
            _list_nodes(self._units, units),
            _list_nodes(self._others, others),
            joined.weight,
            joined.is_turned,
            joined.bias,
            tuple(pieces),
        )
        sides = frozenset(units), frozenset(others)
        return FoundJoint(joint, made, *(sides[::-1] if self._side else sides))

    def _list_written_out(self, unit: int, projections: set[int]) -> set[int]:
        """Return what lies between projections and what takes an attention's result.

        These units are the attention that the other model has as one operator: nothing of them
        has a partner, and what they give goes to each other, but for one result. Empty where that
        is not so.
        """
        ends = self._find_ends(unit)
        if ends is None:
            return set()
        behind = self._collect(projections, lambda each: [u for u, _ in self._others.users[each]])
        before = self._collect({ends}, self._list_sources)
        if behind is None or before is None:
            return set()
        inside = (behind & before) | {ends}
        for each in inside | projections:
            if each not in projections and self._back[each] >= 0:
                return set()
            is_end = each == ends
            users = {user for user, _ in self._others.users[each]}
            if not is_end and (self._others.results[each] or not users <= inside):
                return set()
        return inside - projections

    def _find_ends(self, unit: int) -> int | None:
        """Return the unit that gives what an attention gives in the other model."""
        found = set()
        for user, place in self._units.users[unit]:
            partner = self._partner[user]
            if partner < 0:
                return None
            operands = self._others.operands[partner]
            found |= {o.source for o in operands if o.place == place}
        return found.pop() if len(found) == 1 and min(found) >= 0 else None

    def _list_sources(self, unit: int) -> list[int]:
        return [o.source for o in self._others.operands[unit] if o.source >= 0]

    def _collect(self, begins: set[int], list_next: Callable[[int], list[int]]) -> set[int] | None:
        """Return what is reached through units without a partner; None for too many."""
        found, pending = {*begins}, [*begins]
        while pending:
            for each in list_next(pending.pop()):
                if each not in found and self._back[each] < 0:
                    found.add(each)
                    pending.append(each)
            if len(found) > 4 * _MOST_INSIDE:
                return None
        return found


#: gives projections in the order in which they were joined
_Order = Callable[[Projection, OutputParts | None, Sequence[Projection]], list[Projection] | None]


def _list_nodes(units: Units, chosen: set[int]) -> tuple[Node, ...]:
    nodes = (node for unit in chosen for node in units.nodes(unit))
    return tuple(sorted(nodes, key=lambda node: node.index))


def _have_equal_biases(joined: Projection, chosen: Sequence[Projection]) -> bool:
    """Return whether the same adds a bias; what has none adds zeros."""
    start = 0
    for one in chosen:
        stop = start + one.outputs
        alone = None
        if one.bias is None and joined.bias is not None:
            alone = joined.bias, start, stop
        elif one.bias is not None and joined.bias is None:
            alone = one.bias, 0, one.outputs
        if alone is not None and not is_all_zero(*alone):
            return False
        start = stop
    return True
