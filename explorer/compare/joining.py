"""Finding the projections that one model has as one, by a joined weight, and the other as several.

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
from itertools import islice
from typing import NamedTuple

from netloupe.explorer.model import Node
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.progress import step

from .hashing import Hashes, hash_thing
from .joined import JoinedProjection, ProjectionPart
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
from .unit_matcher import PairBasis, UnitMatcher
from .units import Units
from .written_out_attention import find_written_out_attention

#: parts and weights are the same where samples of them correlate so much: also where these were
#: rounded, trained on or rescaled
_LEAST_CORRELATION = 0.9
#: how sure a pair is that numbers tell, and one that only what is around tells
_BY_NUMBERS, _BY_PLACE = PairBasis("weights", 0.95), PairBasis("place", 0.5)
#: of so many projections of one value those are looked for that were joined
_MOST_CANDIDATES = 256
#: keys of pairs of nodes that say more than that weights were joined
_SURE = frozenset({"by hand", "weights"})
#: it is followed what takes a value where so many do at most, and of so many operands at most
_MOST_USERS = 64
_STEP = 1_000
#: what stands for values of graphs around of which nothing is known
_UNKNOWN = hash_thing(("unknown",))


class FoundJoint(NamedTuple):
    """A joined projection, how it was found, and the units of both models that are part of it."""

    joint: JoinedProjection
    basis: PairBasis
    left: frozenset[int]
    right: frozenset[int]


def find_joined_projections(matcher: UnitMatcher) -> list[FoundJoint]:
    """Return the projections that one model has joined; each unit is part of one at most.

    Parameters
    ----------
    matcher
        The pairs of units.

    Notes
    -----
    Looks only at projections that have no partner, or one of other sizes, and at those of the
    other model that take the same. Some hundred elements of each weight are read; after 100,000
    comparisons of weights there are no more, so that hostile models end in time.
    """
    numbers, outside = ProjectedNumbers(), matcher.outside
    taken: tuple[set[int], set[int]] = set(), set()
    found: list[FoundJoint] = []
    for side in (0, 1):
        finder = _Finder(matcher, outside, side, numbers, taken)
        for is_by_numbers in (True, False):  # what numbers tell comes first
            found += finder.find(is_by_numbers)
    return found


class _Finder:
    """Finds the joined projections of one model."""

    def __init__(
        self,
        matcher: UnitMatcher,
        outside: tuple[Hashes, Hashes],
        side: int,
        numbers: ProjectedNumbers,
        taken: tuple[set[int], set[int]],
    ) -> None:
        other = 1 - side
        self._bases, self._side = matcher.bases, side
        self._units, self._others = matcher.sides[side], matcher.sides[other]
        self._partner, self._back = matcher.partner[side], matcher.partner[other]
        self._outside = outside[side], outside[other]
        self._numbers = numbers
        self._taken, self._other_taken = taken[side], taken[other]
        self._known: dict[int, Projection | None] = {}
        self._takers: dict[int, list[int]] | None = None
        #: by what they take, the projections of the other model
        self._alike: dict[tuple[int, int], list[Projection]] = {}

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
        if joined is None or candidates[0].outputs + candidates[1].outputs > joined.outputs:
            return None
        fitting = [
            one
            for one in candidates
            if one.inputs == joined.inputs
            and one.outputs < joined.outputs
            and one.unit not in self._other_taken
            and not self._is_sure(self._back[one.unit], one.unit, unit)
        ]
        if sum(one.outputs for one in fitting) < joined.outputs:
            return None
        parts = list_parts(self._units, joined)
        if parts is not None and not all(self._is_free(cut) for cut in parts.units):
            parts = None
        chosen = order(joined, parts, fitting)
        if chosen is not None and not _have_equal_biases(joined, chosen):
            chosen = self._leave_biases(joined, parts, chosen)
        if chosen is None:
            return None
        if not self._may_be_joined(unit, {one.unit for one in chosen}):
            return None
        basis = _BY_NUMBERS if order == self._order_by_numbers else _BY_PLACE
        return self._make(joined, parts, chosen, basis)

    # who takes the same

    def _list_candidates(self, unit: int) -> list[Projection]:
        """Return projections of the other model that take what one takes, the smallest first.

        Of very many these are some.
        """
        if not self._units.operands[unit]:
            return []
        taken = self._units.operands[unit][0]
        if taken.source < 0:
            source, output = -1, int(self._outside[0][taken.output])
            if output == _UNKNOWN:
                return []
        else:
            source, output = self._partner[taken.source], taken.output
            if source < 0:
                return []
        if (source, output) not in self._alike:
            found = self._list_projections(source, output)
            found = islice(found, _MOST_CANDIDATES)
            self._alike[source, output] = sorted(found, key=lambda one: one.outputs)
        return self._alike[source, output]

    def _list_projections(self, source: int, output: int) -> Iterator[Projection]:
        """Yield the projections of the other model that take a result, or what is outside."""
        if source < 0:
            users = self._list_takers().get(output, [])
        else:
            users = [
                user
                for user in dict.fromkeys(user for user, _ in self._others.users[source])
                if self._others.operands[user][0].output == output
            ]
        for user in users:
            is_product = self._others.kinds[user] == "product with weights"
            one = read_projection(self._others, user) if is_product else None
            if one is not None:
                yield one

    def _list_takers(self) -> dict[int, list[int]]:
        """Return by hash of what comes from outside the units of the other model that take it."""
        if self._takers is None:
            self._takers = defaultdict(list)
            for unit, operands in enumerate(self._others.operands):
                if len(operands) == 1 and operands[0].source < 0:
                    self._takers[int(self._outside[1][operands[0].output])].append(unit)
        return self._takers

    def _is_sure(self, mine: int, theirs: int, unit: int) -> bool:
        """Return whether a projection has another partner that is sure."""
        if mine < 0 or mine == unit:
            return False
        return self._bases[theirs if self._side else mine].key in _SURE

    def _is_free(self, unit: int) -> bool:
        """Return whether what cuts a joined projection has no partner of its own."""
        return self._partner[unit] < 0 and unit not in self._taken

    def _may_be_joined(self, unit: int, chosen: set[int]) -> bool:
        """Return whether nothing that is sure says that a projection is something else."""
        partner = self._partner[unit]
        if partner < 0 or partner in chosen:
            key = self._bases[partner if self._side else unit].key if partner >= 0 else ""
            return key != "by hand"
        return self._bases[partner if self._side else unit].key not in _SURE

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
        """Return the projections of which the same takes as of the parts, in their order.

        Those alone that have no other partner; nor has the joined one.
        """
        if parts is None:
            return None
        chosen: list[Projection] = []
        for place, size in enumerate(parts.sizes):
            users = self._list_partners_of_users(parts, place)
            alike = [
                one
                for one in candidates
                if one.outputs == size
                and self._back[one.unit] in (-1, joined.unit)
                and self._are_users(one.unit, users)
            ]
            if len(alike) != 1 or alike[0] in chosen:
                return None
            chosen += alike
        is_free = self._partner[joined.unit] in (-1, *(one.unit for one in chosen))
        return chosen if is_free else None

    def _are_users(self, unit: int, wanted: set[tuple[int, int]]) -> bool:
        """Return whether some units, and nothing else, take what one of the other model gives."""
        users = self._others.users[unit]
        if not wanted or len(users) > _MOST_USERS or self._others.results[unit]:
            return False
        return {*users} == wanted

    def _leave_biases(
        self, joined: Projection, parts: OutputParts | None, chosen: Sequence[Projection]
    ) -> list[Projection] | None:
        """Return projections without the sums that add their biases, where parts have those behind.

        None where they have not.
        """
        if joined.bias is not None or parts is None or len(parts.values) != len(chosen):
            return None
        bare = []
        for one, part in zip(chosen, parts.values, strict=True):
            nodes = [*self._others.nodes(one.unit)]
            users = part.users
            is_added = len(users) == 1 and users[0].operator.has("adds") and not part.is_output
            product, *behind = (node.operator for node in nodes)
            is_biased = product.form == "MatMul" and len(behind) == 1 and behind[0].has("adds")
            if one.bias is None or not is_biased:
                return None
            if not is_added or all(
                value is part or value is None or find_stored_tensor(value) is None
                for value in users[0].inputs
            ):
                return None
            bare.append(one._replace(bias=None, result=nodes[0].output(0)))
        return bare

    def _list_partners_of_users(self, parts: OutputParts, place: int) -> set[tuple[int, int]]:
        """Return what is paired with the units that take a part; empty where any is not."""
        is_split = len(parts.units) == 1
        cut = parts.units[0 if is_split else place]
        users = self._units.users[cut]
        if len(users) > _MOST_USERS or self._units.results[cut]:
            return set()
        found = set()
        for user, at in users:
            operands = self._units.operands[user]
            if len(operands) > _MOST_USERS:
                return set()
            outputs = [o.output for o in operands if o.source == cut and o.place == at]
            if is_split and place not in outputs:
                continue
            if self._partner[user] < 0:
                return set()
            found.add((self._partner[user], at))
        return found

    # what is put together

    def _make(
        self,
        joined: Projection,
        parts: OutputParts | None,
        chosen: list[Projection],
        basis: PairBasis,
    ) -> FoundJoint:
        sizes = tuple(one.outputs for one in chosen)
        if parts is not None and parts.sizes != sizes:
            parts = None
        units = {joined.unit, *(parts.units if parts is not None else ())}
        others = {one.unit for one in chosen}
        if self._units.head(joined.unit).domain == MICROSOFT:
            models, partners = (self._units, self._others), (self._partner, self._back)
            others |= find_written_out_attention(models, partners, joined.unit, others)
        left_out = {
            node
            for one in chosen
            for node in self._others.nodes(one.unit)
            if one.bias is None and node.operator.has("adds") and one.result not in node.outputs
        }
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
            tuple(node for node in _list_nodes(self._others, others) if node not in left_out),
            joined.weight,
            joined.is_turned,
            joined.bias,
            tuple(pieces),
        )
        sides = frozenset(units), frozenset(others)
        return FoundJoint(joint, basis, *(sides[::-1] if self._side else sides))


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
