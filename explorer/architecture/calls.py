"""Blocks with the weights that several calls of them share: what leads to any of these calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from .clause import Clause
from .given_names import name_output, name_taken
from .pieces import Piece
from .reach import Reach, join_all, list_bits


class Called:
    """Which inputs lead to blocks, and which outputs follow from them, whichever call it is.

    Parameters
    ----------
    reach
        What follows from what.
    pieces
        All blocks, those that share weights as well.
    weights
        The weights of each.

    Attributes
    ----------
    reach
        What follows from what.
    pairs
        All blocks, with the weights of each.
    """

    def __init__(
        self,
        reach: Reach,
        pieces: Sequence[Piece],
        weights: Sequence[frozenset[tuple[bool, int]]],
    ) -> None:
        self.reach = reach
        self.pairs = [*zip(pieces, weights, strict=True)]
        self._calls: dict[tuple[bool, int], list[tuple[int, int]]] = {}
        self._weights: dict[int, frozenset[tuple[bool, int]]] = {}
        for piece, own in self.pairs:
            self._weights[id(piece)] = own
            call = reach.taken_by(piece), reach.given_by(piece)
            for weight in own:
                self._calls.setdefault(weight, []).append(call)

    def taken_by(self, piece: Piece) -> int:
        """Return the inputs that lead to any call of a block, as bits."""
        return self.reach.taken_by(piece) | join_all(taken for taken, _ in self._list_calls(piece))

    def given_by(self, piece: Piece) -> int:
        """Return the outputs that follow from any call of a block, as bits."""
        return self.reach.given_by(piece) | join_all(given for _, given in self._list_calls(piece))

    def _list_calls(self, piece: Piece) -> list[tuple[int, int]]:
        return [call for weight in self._weights.get(id(piece), ()) for call in self._calls[weight]]

    def add_users(self, clauses: Sequence[Clause]) -> list[Clause]:
        """Return clauses with the inputs on which blocks are called again."""
        return [
            replace(one, users=self._name_users(one)) if one.uses > 1 else one for one in clauses
        ]

    def name_apart(self, clauses: Sequence[Clause]) -> list[Clause]:
        """Return clauses with the outputs that they lead to, where several have one name alike.

        But rows of modules, which their number tells apart.
        """
        counts = Counter(one.name for one in clauses if one.name and not one.members)
        counts = Counter({name: n for name, n in counts.items() if not name[0].isdigit()})
        return [
            replace(one, name=f"{output} {one.name}")
            if counts[one.name] > 1 and not one.members and (output := self._name_output(one))
            else one
            for one in clauses
        ]

    def _name_output(self, clause: Clause) -> str:
        """Return the one output that blocks lead to, if its name says something, or ""."""
        ends = {self.given_by(piece) for piece in clause.scope}
        bits = list_bits(ends.pop()) if len(ends) == 1 else []
        return name_output(self.reach.outputs[bits[0]]) if len(bits) == 1 else ""

    def _name_users(self, clause: Clause) -> tuple[str, ...]:
        """Return the inputs on which the blocks of a clause are called, one call on each of them.

        Where each call follows from several inputs what is common to their names. Nothing where
        one has no name that says something.
        """
        ways = {
            frozenset(taken for taken, _ in calls)
            for piece in clause.scope
            if (calls := self._list_calls(piece))
        }
        whole = max(ways, key=lambda way: sum(map(int.bit_count, way)), default=frozenset[int]())
        # what comes first in a call follows from some of its inputs
        is_within = all(any(mask & ~own == 0 for own in whole) for way in ways for mask in way)
        inputs = [list_bits(mask) for mask in sorted(whole)] if is_within else []
        names = [self._name_taken(bits) for bits in inputs]
        is_each = len(names) == clause.uses == len({*names})
        return tuple(names) if is_each and all(names) else ()

    def _name_taken(self, bits: Sequence[int]) -> str:
        """Return what an input is called; of several the words that all of their names have."""
        names = [name_taken(self.reach.sources[bit].value).split(" ") for bit in bits]
        if not names:
            return ""
        return " ".join(word for word in names[0] if all(word in other for other in names))
