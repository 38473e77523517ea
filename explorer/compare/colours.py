"""Colours of units: equal where what is around is equal, up to some distance, both ways.

Colour refinement after Weisfeiler and Lehman (A reduction of a graph to a canonical form, 1968),
with the places of operands told apart, and with what is paired already as fixed points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import Tensor, find_nodes_with
from netloupe.explorer.model.node_keys import key_attributes

from .digests import shape_of_digest
from .hashing import Hashes, hash_each, mix
from .units import Units

#: so few integers are read
_FEW = 8

Integers = np.ndarray[Any, np.dtype[np.int64]]
#: blocks of channels have so many at most
_BLOCK = 16


class Flows:
    """What flows between the units of a graph, in arrays, one entry for each operand.

    Parameters
    ----------
    outside
        Hashes of the values that come from outside, equal for what is the same.

    Attributes
    ----------
    sources, targets
        The unit that gives it, -1 for what comes from outside; and the one that takes it.
    ports
        Hashes of output and place.
    """

    def __init__(self, units: Units, outside: Hashes) -> None:
        entries = [
            (operand.source, operand.output, operand.place, target)
            for target, operands in enumerate(units.operands)
            for operand in operands
        ]
        columns = np.array(entries, np.int64).reshape(-1, 4).T
        sources, outputs, places, self.targets = columns
        self._is_inner = sources >= 0
        self.sources = sources
        is_outer = ~self._is_inner
        self.ports: Hashes = mix(places.astype(np.uint64))
        self.ports[self._is_inner] ^= mix(outputs[self._is_inner].astype(np.uint64) + np.uint64(7))
        #: of what comes from outside nothing changes
        self._given = np.zeros(len(sources), np.uint64)
        self._given[is_outer] = outside[outputs[is_outer]]
        #: of results of the graph
        self._results = hash_each(("results", *results) for results in units.results)
        self._count = len(units)
        #: units, each behind what it takes from
        self.order = _sort(units)
        place_of = self.rank()
        reading_shapes = {*find_nodes_with(units.graph, "reads_shape").tolist()}
        #: pairs of units, one of which gives what the other takes, ordered by the latter
        self._ordered = [
            (operand.source, unit)
            for unit in self.order
            for operand in units.operands[unit]
            if operand.source >= 0
            and place_of[operand.source] < place_of[unit]
            and units.members[unit][0] not in reading_shapes  # data do not flow on from there
        ]

    def refine(self, colours: Hashes, rounds: int) -> Hashes:
        """Return colours that tell units apart whose neighbours differ, so many steps away."""
        inner = self._is_inner
        for _ in range(rounds):
            carried = self._given.copy()
            carried[inner] = colours[self.sources[inner]]
            taken = np.zeros(self._count, np.uint64)
            np.add.at(taken, self.targets, mix(carried ^ self.ports))
            given = self._results.copy()
            flowing = mix(colours[self.targets[inner]] + self.ports[inner])
            np.add.at(given, self.sources[inner], flowing)
            colours = mix(mix(colours) ^ mix(taken) + mix(given ^ np.uint64(1)))
        return colours

    def measure_depths(self, counted: Sequence[int] | None = None) -> tuple[Integers, Integers]:
        """Return how many units are on the longest way from the inputs, and to the outputs.

        Where units wait for each other, they count as if they did not.

        Parameters
        ----------
        counted
            By unit 1 if it counts, else 0; None where all do.
        """
        steps = [1] * self._count if counted is None else counted
        before, behind = [0] * self._count, [0] * self._count
        for source, target in self._ordered:
            before[target] = max(before[target], before[source] + steps[source])
        for source, target in reversed(self._ordered):
            behind[source] = max(behind[source], behind[target] + steps[target])
        return np.array(before, np.int64), np.array(behind, np.int64)

    def find_bounds(self, ranks: list[int]) -> tuple[Integers, Integers]:
        """Return between which paired units each one is.

        Parameters
        ----------
        ranks
            Of paired units numbers that their partners have, too, ascending as data flow; -1 for
            others.

        Returns
        -------
        tuple of numpy.ndarray
            The highest rank of those that it depends on with none in between, -1 for none; and
            the lowest of those that depend on it, 2**62 for none.
        """
        above, below = [-1] * self._count, [2**62] * self._count
        for source, target in self._ordered:
            rank = ranks[source]
            above[target] = max(above[target], above[source] if rank < 0 else rank)
        for source, target in reversed(self._ordered):
            rank = ranks[target]
            below[source] = min(below[source], below[target] if rank < 0 else rank)
        return np.array(above, np.int64), np.array(below, np.int64)

    def hash_bounds(self, ranks: list[int]) -> tuple[Hashes, Hashes]:
        """Return hashes of all paired units that each one lies between, ``ranks`` as above."""
        above, below = [0] * self._count, [0] * self._count
        for source, target in self._ordered:
            rank = ranks[source]
            above[target] |= above[source] if rank < 0 else 1 << mix_rank(rank)
        for source, target in reversed(self._ordered):
            rank = ranks[target]
            below[source] |= below[target] if rank < 0 else 1 << mix_rank(rank)
        return hash_each(above), hash_each(below)

    def rank(self) -> list[int]:
        """Return by unit its place in an order in which data flow."""
        ranks = [0] * self._count
        for rank, unit in enumerate(self.order):
            ranks[unit] = rank
        return ranks


def _sort(units: Units) -> list[int]:
    """Return all units, each behind what it takes from as far as that can be."""
    missing = [sum(o.source >= 0 for o in operands) for operands in units.operands]
    ready = [unit for unit, count in enumerate(missing) if not count]
    done = [False] * len(missing)
    order: list[int] = []
    start = 0
    while len(order) < len(missing):
        if not ready:  # a cycle: it is cut where the file has it first
            while done[start]:
                start += 1
            ready.append(start)
        unit = ready.pop()
        if done[unit]:
            continue
        done[unit] = True
        order.append(unit)
        for user, _ in units.users[unit]:
            missing[user] -= 1
            if not missing[user] and not done[user]:
                ready.append(user)
    return order


def mix_rank(rank: int) -> int:
    """Return a number below 256 that is another for most other ranks."""
    return rank * 0x9E3779B1 >> 8 & 255


def colour_by_use(units: Units) -> Hashes:
    """Return colours of units by what they do, how, and of what sizes their weights are."""
    return hash_each(
        (
            kind,
            tuple(key_attributes(node) for node in units.nodes(unit)),
            len(units.operands[unit]),
            tuple(map(_describe, units.weights[unit])),
        )
        for unit, kind in enumerate(units.kinds)
    )


def _describe(tensor: Tensor) -> tuple[object, ...]:
    """Return the sizes of a weight; of a few integers, such as axes, what they are as well."""
    if tensor.dtype.is_integer and tensor.size <= _FEW:
        try:
            return tensor.dims, tensor.numpy().tobytes()
        except TensorDataError:
            return tensor.dims, None
    return (shape_of_digest(tensor),)


def colour_by_kind(units: Units) -> Hashes:
    """Return colours of units by what they do, and the size of their largest weight."""
    return hash_each(
        (kind, max(_list_shapes(units, unit), key=_count, default=()))
        for unit, kind in enumerate(units.kinds)
    )


def _list_shapes(units: Units, unit: int) -> list[tuple[int, ...]]:
    """Return the dimensions of the weights of a unit, sorted: some operators take them turned."""
    dims = [*(tensor.dims for tensor in units.weights[unit]), *units.filled[unit]]
    if units.has_blocks and units.kinds[unit] == "convolution":
        dims = [(*(-(-size // _BLOCK) for size in each[:2]), *each[2:]) for each in dims]
    return [tuple(sorted(each)) for each in dims]


def _count(dims: tuple[int, ...]) -> int:
    count = 1
    for dim in dims:
        count *= dim
    return count if count > 1 else 0
