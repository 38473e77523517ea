"""How good a matching of twins is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tests.compare.twins import Twin


class PairOfNodes(Protocol):
    """What belongs together, in the matcher's opinion."""

    @property
    def left(self) -> Sequence[Any]: ...
    @property
    def right(self) -> Sequence[Any]: ...
    @property
    def key(self) -> str: ...


@dataclass(frozen=True)
class Wrong:
    """A pair that should not be, or with nothing on the right one that is missing."""

    left: str
    right: str
    expected: frozenset[str]
    key: str = ""


@dataclass(frozen=True)
class Score:
    """Counts of pairs, of one twin or of several.

    Parameters
    ----------
    paired
        Pairs of one node each whose left one something is known of.
    right
        Those of them that are true.
    known
        Nodes on the left that have a partner.
    found
        Those of them that are in a true pair.
    """

    paired: int = 0
    right: int = 0
    known: int = 0
    found: int = 0

    @property
    def precision(self) -> float:
        """How many of the pairs are true; all, where there are none."""
        return self.right / self.paired if self.paired else 1.0

    @property
    def recall(self) -> float:
        """How many of the known nodes are in a true pair."""
        return self.found / self.known if self.known else 1.0

    def __add__(self, other: Score) -> Score:
        return Score(
            self.paired + other.paired,
            self.right + other.right,
            self.known + other.known,
            self.found + other.found,
        )


def score_pairs(twin: Twin, pairs: Iterable[PairOfNodes]) -> tuple[Score, list[Wrong]]:
    """Compare a matching with what is known.

    A pair of several counts as every combination. Where a node has a partner in it, two are no
    mistake: nodes that were put in besides, of which nothing is known, and partners of another
    node of the pair.
    """
    paired, wrong = 0, []
    found: set[str] = set()
    partners = frozenset[str]().union(*twin.truth.values())
    for pair in pairs:
        rights = {other.path for other in pair.right}
        together = frozenset[str]().union(*(twin.truth.get(n.path, ()) for n in pair.left))
        for one in pair.left:
            expected = twin.truth.get(one.path)
            if expected is None:
                continue
            spared = frozenset[str]()
            if expected & rights:
                spared = together | (rights - partners) | twin.beside.get(one.path, frozenset())
            for other in pair.right:
                if other.path in expected:
                    paired += 1
                    found.add(one.path)
                elif other.path not in spared:
                    paired += 1
                    wrong.append(Wrong(one.path, other.path, expected, pair.key))
    known = {path for path, expected in twin.truth.items() if expected} - twin.optional
    missing = sorted(known - found - {each.left for each in wrong})
    score = Score(paired, paired - len(wrong), len(known), len(found & known))
    return score, [*wrong, *(Wrong(path, "", twin.truth[path]) for path in missing)]
