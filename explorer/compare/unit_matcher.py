"""Pairs of units of two graphs, found key by key from strong to weak.

The scheme is that of BinDiff (Flake, Structural comparison of executable objects, 2004; Dullien
and Rolles, Graph-based comparison of executable objects, 2005): a key pairs only what is unique
on both sides; then the neighbours of what is paired are tried, until nothing changes; then comes
the next key, which looks only at what is left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from netloupe.explorer.progress import step

from .agreement import Agreement
from .colours import Flows, colour_by_kind, colour_by_use
from .hashing import Hashes, hash_thing, join_hashes, mix
from .keys import (
    WeightDigests,
    key_by_names,
    key_by_numbered_names,
    key_by_numbered_results,
    key_by_origin,
    key_by_results,
)
from .neighbours import Neighbours
from .places import hash_places
from .units import LAYERS, Units

#: of each unit so many weights are looked at, the largest first: a matrix and its bias
_MOST_WEIGHTS = 2
#: so often keys are tried, more or less
_USUAL_TRIES = 60
#: how sure a pair is whose names, or origins as the exporter tells them, are nobody else's
_BY_NAME, _BY_ORIGIN = 1.0, 0.9
#: of the confidence of a pair, so much is that of a neighbour found by it
_NEIGHBOURLY = 0.9


class PairBasis(NamedTuple):
    """How a pair came about."""

    key: str
    confidence: float


class UnitMatcher:
    """The pairing of the units of two graphs.

    Parameters
    ----------
    outside
        Of each side, hashes of the values that come from outside, equal for what is the same.
    pins, broken
        Units that are pairs, and those that are none, whatever is found.

    Attributes
    ----------
    sides, outside
        What was given.
    partner
        Of each side, by unit the unit of the other that it is paired with; -1 for none.
    bases
        By unit of the left one, how its pair came about.
    """

    def __init__(
        self,
        left: Units,
        right: Units,
        outside: tuple[Hashes, Hashes],
        pins: Sequence[tuple[int, int]] = (),
        broken: Iterable[tuple[int, int]] = (),
    ) -> None:
        self.sides = left, right
        self.partner = [-1] * len(left), [-1] * len(right)
        self.bases: dict[int, PairBasis] = {}
        self.outside = outside
        self._around = Agreement(self.sides, outside, self.partner)
        #: how often a key was tried, which tells how far the work is
        self._tries = 0
        self._pins, self._broken = pins, frozenset(broken)
        self._flows = Flows(left, outside[0]), Flows(right, outside[1])
        self._used = colour_by_use(left), colour_by_use(right)
        self._kinds = colour_by_kind(left), colour_by_kind(right)
        self._neighbours = Neighbours(self.sides, self._kinds, self.partner)
        self._waiting: list[tuple[int, int]] = []
        #: by unit of the left one, the unit as whose neighbour it was found
        self._found_by: dict[int, int] = {}

    def run(self) -> None:
        """Find all pairs."""
        for one, other in self._pins:
            if self._is_free(one, other):
                self._accept(one, other, PairBasis("by hand", 1.0))
        self._spread()
        left, right = (
            [mix(depth.astype(np.uint64) + np.uint64(1)) for depth in flows.measure_depths()]
            for flows in self._flows
        )
        before, behind = (left[0], right[0]), (left[1], right[1])
        layers = self._hash_layer_depths()
        digests = WeightDigests(*self.sides)
        # what has name, operator and weights in common is the same, whatever is around
        names = self._key_each(key_by_names)
        self._pair("name", _BY_NAME, self._join(names, digests.key(0)), is_sure=True)
        for place in range(_MOST_WEIGHTS):
            weights = digests.key(place)
            if not place:  # what is paired around may contradict, but not what is gone
                self._pair("weights", 0.99, weights, contradicts=self._around.is_denied)
            self._pair("weights", 0.99 if not place else 0.95, weights)
            for around in (self._kinds, layers, before, behind):
                self._pair("weights", 0.95, self._join(weights, self._kinds, around))
        self._pair("name", _BY_NAME, names)
        for is_last in (True, False):
            self._pair("name", _BY_NAME, self._key_each(partial(key_by_results, is_last=is_last)))
        self._pair("origin", _BY_ORIGIN, self._key_each(key_by_origin))
        for what, colours, confidence in (
            ("surroundings", self._used, 0.9),
            ("similar surroundings", self._kinds, 0.7),
        ):
            for radius in (3, 2):
                self._pair_by_colours(what, confidence, colours, radius)
            self._pair(what, confidence, self._join(colours, layers))
            for radius in (1, 0):
                self._pair_by_colours(what, confidence, colours, radius, self._hash_bounds)
            for radius in (1, 0):
                self._pair_by_colours(what, confidence, colours, radius, self._join_bounds)
            for radius in (2, 1, 0):
                for number, depth in enumerate((before, behind)):
                    near = partial(self._join_bound, number, depth)
                    self._pair_by_colours(what, confidence - 0.1, colours, radius, near)
            self._pair_by_colours(what, confidence - 0.2, colours, 1)
        self._pair("numbered name", 0.6, self._key_each(key_by_numbered_names))
        self._pair("numbered name", 0.6, self._key_each(key_by_numbered_results))
        self._spread_loosely()
        self._pair("place", 0.5, self._key_by_places())
        self._weigh_again()

    def _key_each(self, key: Callable[[Units], Hashes]) -> tuple[Hashes, Hashes]:
        return key(self.sides[0]), key(self.sides[1])

    def _join(self, *keys: tuple[Hashes, Hashes]) -> tuple[Hashes, Hashes]:
        return join_hashes(*[key[0] for key in keys]), join_hashes(*[key[1] for key in keys])

    def _hash_layer_depths(self) -> tuple[Hashes, Hashes]:
        """Return hashes of how many layers are before and behind each layer; 0 for other units."""
        hashes = []
        for units, flows in zip(self.sides, self._flows, strict=True):
            layers = [int(kind in LAYERS) for kind in units.kinds]
            before, behind = flows.measure_depths(layers)
            key = mix(before.astype(np.uint64) << np.uint64(32) | behind.astype(np.uint64))
            hashes.append(np.where(np.array(layers) > 0, key, np.uint64(0)))
        return hashes[0], hashes[1]

    def _pair_by_colours(
        self,
        what: str,
        confidence: float,
        colours: tuple[Hashes, Hashes],
        radius: int,
        find_place: Callable[[], tuple[Hashes, Hashes]] | None = None,
    ) -> None:
        """Pair by what is around; again and again, since each pair tells more."""
        while min(side.count(-1) for side in self.partner):
            keys = [self._refine(colours, radius)]
            if find_place is not None:
                keys.append(find_place())
            if not self._pair(what, confidence, self._join(*keys)):
                return

    def _rank(self) -> tuple[list[int], list[int]]:
        """Return by unit of each side the rank of its pair; -1 for those in none."""
        ranks = self._flows[0].rank()
        partners = self.partner
        left = [rank if other >= 0 else -1 for rank, other in zip(ranks, partners[0], strict=True)]
        return left, [ranks[other] if other >= 0 else -1 for other in partners[1]]

    def _hash_bounds(self) -> tuple[Hashes, Hashes]:
        """Return hashes of all paired units between which each unit is."""
        left, right = (
            join_hashes(*flows.hash_bounds(ranks))
            for flows, ranks in zip(self._flows, self._rank(), strict=True)
        )
        return left, right

    def _find_bounds(self, number: int) -> tuple[Hashes, Hashes]:
        """Return hashes of the nearest paired unit before (0) or behind (1) each unit."""
        left, right = (
            mix(flows.find_bounds(ranks)[number].astype(np.uint64))
            for flows, ranks in zip(self._flows, self._rank(), strict=True)
        )
        return left, right

    def _join_bounds(self) -> tuple[Hashes, Hashes]:
        return self._join(self._find_bounds(0), self._find_bounds(1))

    def _join_bound(self, number: int, depths: tuple[Hashes, Hashes]) -> tuple[Hashes, Hashes]:
        """Return hashes of the place of units on the way from the begin (0) or to the end (1)."""
        return self._join(self._find_bounds(number), depths)

    def _refine(self, colours: tuple[Hashes, Hashes], radius: int) -> tuple[Hashes, Hashes]:
        left, right = (side.copy() for side in colours)
        for one, other in enumerate(self.partner[0]):
            if other >= 0:
                left[one] = right[other] = hash_thing(("pair", one))
        return self._flows[0].refine(left, radius), self._flows[1].refine(right, radius)

    def _pair(
        self,
        what: str,
        confidence: float,
        keys: tuple[Hashes, Hashes],
        *,
        is_sure: bool = False,
        contradicts: Callable[[int, int], bool] | None = None,
    ) -> int:
        """Pair what has a key that is unique on both sides; return how many were paired.

        What is around may contradict, but where the key is sure; then neighbours are tried after
        the next one, which may find what these would contradict.
        """
        self._tries += 1
        step("", min(self._tries / _USUAL_TRIES, 1.0))
        free = [np.flatnonzero(np.array(side) < 0) for side in self.partner]
        uniques = []
        for units, key in zip(free, keys, strict=True):
            found, first, count = np.unique(key[units], return_index=True, return_counts=True)
            is_unique = (count == 1) & (found != 0)
            uniques.append((found[is_unique], units[first[is_unique]]))
        _, lefts, rights = np.intersect1d(
            uniques[0][0], uniques[1][0], assume_unique=True, return_indices=True
        )
        pairs = sorted(
            zip(uniques[0][1][lefts].tolist(), uniques[1][1][rights].tolist(), strict=True)
        )
        before, contradicts = len(self.bases), contradicts or self._around.is_contradicted
        for left, right in pairs:
            if self._is_free(left, right) and (is_sure or not contradicts(left, right)):
                self._accept(left, right, PairBasis(what, confidence))
        if not is_sure:
            self._spread()
        return len(self.bases) - before

    def _is_free(self, left: int, right: int) -> bool:
        if self.partner[0][left] >= 0 or self.partner[1][right] >= 0:
            return False
        return not self._broken or (left, right) not in self._broken

    def _accept(self, left: int, right: int, basis: PairBasis) -> None:
        self.partner[0][left], self.partner[1][right] = right, left
        self.bases[left] = basis
        self._waiting.append((left, right))

    def _key_by_places(self) -> tuple[Hashes, Hashes]:
        """Return hashes of the places of units that are left; none where a side has none left."""
        if min(partners.count(-1) for partners in self.partner) == 0:
            left, right = (np.zeros(len(units), np.uint64) for units in self.sides)
            return left, right
        pairs = [unit if other >= 0 else -1 for unit, other in enumerate(self.partner[0])]
        return (
            hash_places(self.sides[0], self.outside[0], pairs),
            hash_places(self.sides[1], self.outside[1], self.partner[1]),
        )

    # neighbours

    def _spread(self) -> None:
        """Try the neighbours of what has been paired, until nothing changes.

        Those that take the same come first: what gives one of them its operand may be another
        one, where nodes were left out between.
        """
        waiting, doubtful = self._waiting, deque[tuple[int, int, int]]()
        while waiting or doubtful:
            if not waiting:
                left, one, other = doubtful.popleft()
                if self._is_free(one, other) and not self._around.is_contradicted(one, other):
                    self._accept_neighbour(left, one, other)
                continue
            left, right = waiting.pop()
            for one, other in self._neighbours.around(left, right):
                if self._is_free(one, other) and self._kinds[0][one] == self._kinds[1][other]:
                    if self._around.compare_operands(one, other).is_all:
                        self._accept_neighbour(left, one, other)
                    else:
                        doubtful.append((left, one, other))

    def _accept_neighbour(self, known: int, left: int, right: int) -> None:
        confidence = _NEIGHBOURLY * self.bases[known].confidence
        self._found_by[left] = known
        self._accept(left, right, PairBasis("neighbours", confidence))

    def _spread_loosely(self) -> None:
        """Pair neighbours of the same kind where more of what is around agrees than does not."""
        for _ in range(3):
            candidates: list[tuple[int, int, int]] = []
            for left, right in enumerate(self.partner[0]):
                if right < 0:
                    continue
                for one, other in self._neighbours.around(left, right):
                    if self._is_free(one, other) and self._kinds[0][one] == self._kinds[1][other]:
                        taken = self._around.compare_operands(one, other)
                        users = self._around.compare_users(one, other)
                        balance = 3 * (taken.agreeing - taken.against)
                        balance += users.agreeing - users.against
                        if balance > 0 and not self._around.is_given_elsewhere(one, other):
                            candidates.append((-balance, one, other))
            if not candidates:
                return
            for balance, one, other in sorted(candidates):
                if self._is_free(one, other):
                    self._accept(
                        one, other, PairBasis("neighbours", min(0.6, 0.3 - 0.05 * balance))
                    )
            self._spread()

    # what pairs rest on

    def _weigh_again(self) -> None:
        """Raise the confidence of pairs that a key tells from all others, whatever found them.

        Neighbours of a pair are found before the next key is tried. Where their names, or what the
        exporter says of their origin, are the same and nobody else's, they rest on that too; and so
        do the neighbours that were found by them.
        """
        known: dict[int, float] = {}
        for confidence, key in ((_BY_NAME, key_by_names), (_BY_ORIGIN, key_by_origin)):
            for unit in self._list_agreeing(self._key_each(key)):
                known.setdefault(unit, confidence)
        for unit, basis in self.bases.items():  # a neighbour comes behind what it was found by
            confidence = max(basis.confidence, known.get(unit, 0.0))
            if unit in self._found_by:
                by = self.bases[self._found_by[unit]].confidence
                confidence = max(confidence, _NEIGHBOURLY * by)
            if confidence > basis.confidence:
                self.bases[unit] = PairBasis(basis.key, confidence)

    def _list_agreeing(self, keys: tuple[Hashes, Hashes]) -> Iterator[int]:
        """Yield the paired units of the left side whose key their partner has and nobody else."""
        counts = [dict(zip(*np.unique(key, return_counts=True), strict=True)) for key in keys]
        for unit, other in enumerate(self.partner[0]):
            if other < 0:
                continue
            key = keys[0][unit]
            if key != 0 and key == keys[1][other] and counts[0][key] == counts[1][key] == 1:
                yield unit


def find_apart(matcher: UnitMatcher) -> tuple[frozenset[int], frozenset[int]]:
    """Return the nodes after which blocks are named that the other graph has as single nodes.

    So it is with a SiLU whose Sigmoid is quantized in one graph: there it is not seen as a block.
    A norm that is quantized node by node may be a pair with the one node of it that has its scale.

    Returns
    -------
    tuple of frozenset
        Of each side the indices of nodes, for :func:`~.units.read_units`.
    """
    free = [
        [unit for unit, other in enumerate(partner) if other < 0] for partner in matcher.partner
    ]
    kinds = [{u.kinds[unit] for unit in each} for u, each in zip(matcher.sides, free, strict=True)]
    found = []
    for side, units in enumerate(matcher.sides):
        apart = set()
        for unit in units.written_out:
            partner = matcher.partner[side][unit]
            if partner >= 0 and matcher.sides[1 - side].kinds[partner] == units.kinds[unit]:
                continue
            members = {node.op_type for node in units.nodes(unit)}
            if not members.isdisjoint(kinds[1 - side]):
                apart.add(units.members[unit][0])
        found.append(frozenset(apart))
    return found[0], found[1]
