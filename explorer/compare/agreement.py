"""Whether what is paired around two units says that they are the same, or that they are not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from .hashing import Hashes
from .units import Operand, Units

#: the users of a unit are compared where they are at most so many
_MOST_USERS = 64
#: so many units between two may be left out in the other graph
_MOST_LEFT_OUT = 4


class NeighbourCounts(NamedTuple):
    """What of the neighbours of two units are pairs, and what are not.

    Parameters
    ----------
    agreeing, against
        How many are paired with each other, and how many with others.
    is_all
        Whether all agree.
    """

    agreeing: int
    against: int
    is_all: bool


class Agreement:
    """What the neighbours of two units say, by the pairs that there are so far.

    Parameters
    ----------
    sides
        The units of both graphs.
    outside
        Of each side, hashes of the values that come from outside, equal for what is the same.
    partner
        Of each side, by unit the unit of the other that it is paired with, -1 for none; it
        changes while pairs are found.
    """

    def __init__(
        self,
        sides: tuple[Units, Units],
        outside: tuple[Hashes, Hashes],
        partner: tuple[list[int], list[int]],
    ) -> None:
        self.sides = sides
        self.outside = outside
        self.partner = partner

    def is_denied(self, left: int, right: int) -> bool:
        """Return whether two units take what is paired otherwise, as far as all of it is paired.

        Where a block was left out, what the one behind it took has no partner.
        """
        operands = [
            side.operands[unit] for side, unit in zip(self.sides, (left, right), strict=True)
        ]
        if any(
            one.source >= 0 and self.partner[side][one.source] < 0
            for side, taken in enumerate(operands)
            for one in taken
        ):
            return False
        return self.is_contradicted(left, right)

    def is_contradicted(self, left: int, right: int) -> bool:
        """Return whether what is paired around two units says that they are not the same.

        Of the same operands comes the same, whoever uses it then.
        """
        taken = self.compare_operands(left, right)
        if taken.against:
            return True
        if taken.is_all:
            return False
        return self.compare_users(left, right).against > 0 or self.is_given_elsewhere(left, right)

    def is_given_elsewhere(self, left: int, right: int) -> bool:
        """Return whether what gives a unit an operand goes with what gives it to another one.

        So it is in blocks that stand in another order: the sum at the end of one, which is in no
        pair yet, alone takes what the block computes, and that is paired. Of what has weights of
        its own these tell more.
        """
        if self.sides[0].weights[left]:
            return False
        pair = left, right
        for side, units in enumerate(self.sides):
            others = self.sides[1 - side]
            for operand in units.operands[pair[side]]:
                giver = operand.source
                if giver < 0 or self.partner[side][giver] >= 0:
                    continue
                alike = {
                    other.source
                    for other in others.operands[pair[1 - side]]
                    if other.source >= 0 and others.kinds[other.source] == units.kinds[giver]
                }
                expected = set(self._list_expected(side, giver))
                if alike and expected and alike.isdisjoint(expected):
                    return True
        return False

    def _list_expected(self, side: int, unit: int) -> Iterator[int]:
        """Yield what a unit would be paired with by what it alone takes, at the same place."""
        units, others = self.sides[side], self.sides[1 - side]
        for operand in units.operands[unit]:
            partner = self.partner[side][operand.source] if operand.source >= 0 else -1
            if partner < 0 or units.users[operand.source] != [(unit, operand.place)]:
                continue
            users = others.users[partner]
            for user, place in users if len(users) == 1 else ():
                if others.kinds[user] == units.kinds[unit] and place == operand.place:
                    yield user

    def compare_operands(self, left: int, right: int) -> NeighbourCounts:
        """Compare what two units take."""
        lefts, rights = self.sides[0].operands[left], self.sides[1].operands[right]
        if len(lefts) == len(rights) and len({o.place for o in lefts}) == len(lefts):
            verdicts = [self._compare(one, other) for one, other in zip(lefts, rights, strict=True)]
            agreeing = sum(verdict > 0 for verdict in verdicts)
            return NeighbourCounts(
                agreeing, sum(v < 0 for v in verdicts), agreeing == len(verdicts) > 0
            )
        sources = [{o.source for o in side if o.source >= 0} for side in (lefts, rights)]
        given = [
            sorted(int(hashes[o.output]) for o in side if o.source < 0)
            for hashes, side in zip(self.outside, (lefts, rights), strict=True)
        ]
        turned = [
            {unit for unit in found if self._find_base(side, unit) != unit}
            for side, found in enumerate(sources)
        ]
        agreeing, against = self._compare_sets(sources[0], sources[1], turned)
        is_all = agreeing == len(sources[0]) == len(sources[1]) and given[0] == given[1]
        return NeighbourCounts(agreeing, against, is_all and len(lefts) == len(rights) > 0)

    def _compare(self, one: Operand, other: Operand) -> int:
        """Return 1 where two operands are the same, -1 where they are not, 0 where nobody knows."""
        if one.source < 0 and other.source < 0:
            given = self.outside[0][one.output], self.outside[1][other.output]
            return 1 if given[0] == given[1] else -1
        if one.source < 0 or other.source < 0:
            return 0
        partner, back = self.partner[0][one.source], self.partner[1][other.source]
        if partner < 0 and back < 0:
            return 0
        if partner != other.source and self._are_turned(one.source, other.source):
            return 0
        if partner < 0:
            return 1 if self._comes_from(0, one.source, back) else -1
        if back < 0:
            return 1 if self._comes_from(1, other.source, partner) else -1
        return 1 if partner == other.source else -1

    def _are_turned(self, left: int, right: int) -> bool:
        """Return whether two units are the same but for transpositions behind them.

        Optimizers move these to other places, and turn what is done there round.
        """
        bases = [self._find_base(side, unit) for side, unit in enumerate((left, right))]
        return bases != [left, right] and self.partner[0][bases[0]] == bases[1]

    def _find_base(self, side: int, unit: int) -> int:
        """Return the unit whose result one gives, before it was transposed."""
        units = self.sides[side]
        for _ in range(_MOST_LEFT_OUT):
            operands = units.operands[unit]
            if units.kinds[unit] != "Transpose" or len(operands) != 1 or operands[0].source < 0:
                break
            unit = operands[0].source
        return unit

    def _comes_from(self, side: int, unit: int, wanted: int) -> bool:
        """Return whether a unit is computed from another one by units that may be left out.

        These are in no pair, take one thing alone and have no weights but single numbers, as
        activations and factors; or they are sums, which convolutions may have inside.
        """
        units, pending = self.sides[side], [unit]
        for each in pending:  # grows
            is_weighted = any(t.size > 1 and t.dtype.is_float for t in units.weights[each])
            is_sum = units.kinds[each] == "Add"
            if is_weighted or self.partner[side][each] >= 0:
                continue
            if len({operand.source for operand in units.operands[each]}) != 1 and not is_sum:
                continue
            for operand in units.operands[each]:
                if operand.source == wanted:
                    return True
                if operand.source >= 0 and len(pending) < _MOST_LEFT_OUT:
                    pending.append(operand.source)
        return False

    def compare_users(self, left: int, right: int) -> NeighbourCounts:
        """Compare what takes from two units."""
        users = self.sides[0].users[left], self.sides[1].users[right]
        if max(map(len, users)) > _MOST_USERS:
            return NeighbourCounts(0, 0, False)
        sets = [{user for user, _ in side} for side in users]
        turned = [self._list_behind_turned(side, found) for side, found in enumerate(sets)]
        return NeighbourCounts(*self._compare_sets(sets[0], sets[1], turned), False)

    def _list_behind_turned(self, side: int, found: set[int]) -> set[int]:
        """Return what takes from the transpositions among some units, and these themselves."""
        units = self.sides[side]
        turned = {unit for unit in found if units.kinds[unit] == "Transpose"}
        behind = {user for unit in turned for user, _ in units.users[unit][:_MOST_USERS]}
        return turned | behind

    def _compare_sets(
        self, lefts: set[int], rights: set[int], turned: Sequence[Collection[int]] = ((), ())
    ) -> tuple[int, int]:
        """Count paired neighbours that are paired with one of the others, and those that are not.

        One that is paired with nothing may have been left out or inserted, and transpositions
        with what is behind them (``turned``) may have been moved.
        """
        agreeing = against = 0
        for side, (own, others) in enumerate(((lefts, rights), (rights, lefts))):
            for unit in own:
                partner = self.partner[side][unit]
                if partner >= 0:
                    if partner in others:
                        agreeing += not side
                    elif unit not in turned[side] and partner not in turned[1 - side]:
                        base = self.partner[1 - side]
                        is_base = any(
                            base[self._find_base(1 - side, other)] == unit for other in others
                        )
                        against += not is_base
        return agreeing, against
