"""What is said of every element, that which can be spared most apart from all else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from netloupe.explorer.progress import step
from netloupe.explorer.view import Item, View

from .describing import Describer
from .facts import FactWriter
from .limits import Limits

#: whether it is in a repetition but the first, and in how many open groups
_Rank = tuple[bool, int]
_FIRST: _Rank = (False, -1)
_LAST: _Rank = (True, 1 << 30)


class RankedFacts:
    """Collects descriptions, those that can be spared most apart from the others.

    Parameters
    ----------
    describer
        Describes elements.
    limits
        So many elements are described.
    is_ranked
        Whether anything may have to be spared; else all are in as few blocks as possible.
    """

    def __init__(self, describer: Describer, limits: Limits, *, is_ranked: bool) -> None:
        self._make: Callable[[], FactWriter] = lambda: FactWriter(describer, limits.elements)
        self._is_ranked = is_ranked
        self._writers: dict[_Rank, FactWriter] = {}
        #: how many paths are in so many open groups
        self.depths: Counter[int] = Counter()

    def add(self, number: int, path: str, view: View, around: Item, depth: int) -> None:
        """Describe what is at a path inside an open item: see :class:`.facts.FactWriter`.

        ``depth`` is in how many open groups it is.
        """
        step()
        self.depths[depth] += 1
        rank = (_is_repeated(around), depth) if self._is_ranked else _FIRST
        self._find(rank).add(number, path, view)

    def add_model(self, number: int, view: View) -> None:
        """Describe the model itself, which is not left out."""
        self._find(_FIRST).add(number, "", view)

    def add_linked(self, numbers: Mapping[str, int], view: View) -> list[str]:
        """Describe what descriptions lead to and has no box of its own; return the paths."""
        others = [*self._writers.values()]
        last = self._find(_LAST) if self._is_ranked else others[0]
        for writer in others:
            if writer is not last:
                last.targets.update(writer.targets)
        return last.add_linked(numbers, view)

    @property
    def count(self) -> int:
        """How many elements were described."""
        return sum(writer.count for writer in self._writers.values())

    @property
    def is_cut(self) -> bool:
        """Whether any were not, there being too many."""
        return any(writer.is_cut for writer in self._writers.values())

    def write(self) -> tuple[list[bytes], list[list[int]]]:
        """Return the blocks, and the numbers of the elements in each; the last are spared first."""
        blocks: list[bytes] = []
        elements: list[list[int]] = []
        for _, writer in sorted(self._writers.items()):
            some, described = writer.write()
            blocks += some
            elements += described
        return blocks, elements

    def _find(self, rank: _Rank) -> FactWriter:
        writer = self._writers.get(rank)
        if writer is None:
            writer = self._writers[rank] = self._make()
        return writer


def _is_repeated(item: Item) -> bool:
    """Return whether what is in an item is in a repetition but the first."""
    around: Item | None = item
    while around is not None:
        if around.repeat is not None and not around.is_unrolled and around.shown > 0:
            return True
        around = around.parent
    return False
