"""The units around a pair that may be pairs because it is one."""

from __future__ import annotations

from collections.abc import Iterator

from .hashing import Hashes, hash_thing
from .units import Units

#: of so many users of one value none is paired for being the only one of its kind
_MOST_NEIGHBOURS = 10_000


class Neighbours:
    """Finds what stands at the same place around both units of a pair.

    Parameters
    ----------
    sides
        The units of two graphs.
    kinds
        Of each side, by unit a hash of its kind.
    partner
        Of each side, by unit the unit of the other that it is paired with; -1 for none.
    """

    def __init__(
        self,
        sides: tuple[Units, Units],
        kinds: tuple[Hashes, Hashes],
        partner: tuple[list[int], list[int]],
    ) -> None:
        self._sides, self._kinds, self._partner = sides, kinds, partner

    def around(self, left: int, right: int) -> Iterator[tuple[int, int]]:
        """Yield the units around a pair that stand at the same place and nobody else does."""
        takes = [
            {(o.place, o.output): o.source for o in units.operands[unit] if o.source >= 0}
            for units, unit in zip(self._sides, (left, right), strict=True)
        ]
        counts = [len(u.operands[i]) for u, i in zip(self._sides, (left, right), strict=True)]
        if len(takes[0]) == len(takes[1]) and counts[0] == counts[1]:
            for place, source in takes[0].items():
                if place in takes[1]:
                    yield source, takes[1][place]
        yield from self._list_single([self._free_sources(0, left), self._free_sources(1, right)])
        yield from self._list_single([self._free_users(0, left), self._free_users(1, right)])

    def _free_sources(self, side: int, unit: int) -> list[tuple[int, int]]:
        operands = self._sides[side].operands[unit]
        sources = dict.fromkeys(o.source for o in operands if o.source >= 0)
        return [(int(self._kinds[side][s]), s) for s in sources if self._partner[side][s] < 0]

    def _free_users(self, side: int, unit: int) -> list[tuple[int, int]]:
        users = self._sides[side].users[unit]
        if len(users) > _MOST_NEIGHBOURS:
            return []
        kinds = self._kinds[side]
        return [
            (hash_thing((int(kinds[user]), place)), user)
            for user, place in dict.fromkeys(users)
            if self._partner[side][user] < 0
        ]

    def _list_single(self, sides: list[list[tuple[int, int]]]) -> Iterator[tuple[int, int]]:
        """Yield pairs of units with a key that no other of their side has."""
        found: list[dict[int, int]] = []
        for entries in sides:
            by_key: dict[int, int] = {}
            for key, unit in entries:
                by_key[key] = -1 if by_key.get(key, unit) != unit else unit
            found.append(by_key)
        for key, unit in found[0].items():
            other = found[1].get(key, -1)
            if unit >= 0 and other >= 0:
                yield unit, other
