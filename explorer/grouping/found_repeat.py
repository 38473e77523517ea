"""What the search by structure found: blocks in a row, and when they are enough to be a repeat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .signatures import Integers

#: a repeat has at least so many nodes
LEAST_NODES = 12
#: two blocks are a repeat if they have so many nodes; with fewer, three blocks are needed
LEAST_OF_TWO = 8
#: blocks of one node are a repeat in so large a number
LEAST_OF_ONE = 8


@dataclass(eq=False, slots=True)
class FoundRepeat:
    """A found repeat: the places of the nodes of each block in its stretch.

    Parameters
    ----------
    blocks
        shape (nodes,) each, ascending; one for each repetition, in order. One block alone is
        no repeat, but what a block that differs may join. Those of one node are the rows of one
        array: there may be a million.
    exemplar
        Which of them stands for all: the first of the most common wiring.
    low_of_run, high_of_run
        The stretch that the blocks were cut from; its ends may stand out.
    is_serial
        Whether each block takes from the one before; otherwise none takes from another.
    blocks_like_it
        How many blocks of the same wiring there are in all repeats together.
    """

    blocks: list[Integers] | Integers
    exemplar: int
    low_of_run: int
    high_of_run: int
    is_serial: bool = True
    blocks_like_it: int = 0

    @property
    def weight(self) -> float:
        """How much it says: its nodes, less where there are few blocks."""
        return weigh(self.node_count, len(self.blocks))

    @property
    def size(self) -> int:
        """The number of nodes in the block that stands for all."""
        return len(self.blocks[self.exemplar])

    @property
    def begins(self) -> Integers:
        """The places of the first nodes of all blocks: shape (blocks,)."""
        blocks = self.blocks
        if isinstance(blocks, list):
            return np.array([block[0] for block in blocks], np.int64)
        return blocks[:, 0]

    @property
    def node_count(self) -> int:
        """The number of nodes in all blocks."""
        blocks = self.blocks
        return sum(map(len, blocks)) if isinstance(blocks, list) else blocks.size

    @property
    def places(self) -> Integers:
        """The places of all nodes, block by block."""
        blocks = self.blocks
        return np.concatenate(blocks) if isinstance(blocks, list) else blocks.ravel()

    @property
    def firsts(self) -> Integers:
        """The place of the first node of each block."""
        blocks = self.blocks
        if isinstance(blocks, list):
            return np.array([block[0] for block in blocks], np.int64)
        return blocks[:, 0]

    def copy(self) -> FoundRepeat:
        """Return a repeat of the same blocks that others may join."""
        return FoundRepeat(
            list(self.blocks) if isinstance(self.blocks, list) else self.blocks,
            self.exemplar,
            self.low_of_run,
            self.high_of_run,
            self.is_serial,
            self.blocks_like_it,
        )

    def without(self, low: int, high: int) -> FoundRepeat | None:
        """Return what is left without the blocks in a range; None where that is no repeat."""
        if high <= self.low or self.high <= low:
            return self
        kept = [
            number
            for number, block in enumerate(self.blocks)
            if block[-1] < low or block[0] >= high
        ]
        return self._keep(kept)

    def part(self, first: int, last: int) -> FoundRepeat | None:
        """Return a range of the blocks; None where that is no repeat."""
        if last - first == len(self.blocks):
            return self
        return self._keep(range(first, last)) if last - first > 1 else None

    def pick(self, numbers: Sequence[int]) -> FoundRepeat | None:
        """Return some of the blocks; None where they are no repeat."""
        return self._keep(numbers)

    def put_into(self, places: Integers) -> FoundRepeat:
        """Return a repeat among some places of a stretch, by these."""
        moved = self.copy()
        moved.blocks = [places[block] for block in self.blocks]
        moved.low_of_run, moved.high_of_run = moved.low, moved.high
        return moved

    def _are_enough(self, count: int, period: int) -> bool:
        """Return whether blocks are a repeat alone, or in a stream with others of their wiring."""
        others = self.blocks_like_it if count > 1 and self.is_serial else 0
        return is_enough(count, period) or is_enough(others, period)

    def _keep(self, numbers: Sequence[int]) -> FoundRepeat | None:
        kept = [self.blocks[number] for number in numbers]
        if not kept or not self._are_enough(len(kept), min(map(len, kept))):
            return None
        rest = self.copy()
        rest.blocks = kept
        rest.exemplar = min(max(self.exemplar - numbers[0], 0), len(kept) - 1)
        return rest

    @property
    def low(self) -> int:
        """The first place."""
        return int(self.blocks[0][0])

    @property
    def high(self) -> int:
        """The place behind the last."""
        return int(self.blocks[-1][-1]) + 1


def weigh(nodes: int, blocks: int) -> float:
    """Return how much so many nodes in so many like blocks say."""
    return nodes * (1 - 1 / blocks) ** 3


def is_enough(count: int, period: int) -> bool:
    """Return whether so many blocks of so many nodes are a repeat by themselves.

    A recurrent layer counts as `signatures.BULK` nodes.
    """
    if count < 2 or count * period < LEAST_NODES:
        return False
    if period == 1:
        return count >= LEAST_OF_ONE
    return count > 2 or period >= LEAST_OF_TWO
