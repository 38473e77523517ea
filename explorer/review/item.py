"""One thing to look at in a model: what every kind of it has in common."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

ItemKind = Literal["finding", "difference", "audit", "note"]
KINDS: tuple[ItemKind, ...] = ("finding", "difference", "audit", "note")

#: how bad a finding or a defect is, what became of an element, or that a person says it
Level = Literal[
    "error",
    "warning",
    "changed",
    "added",
    "removed",
    "moved",
    "unread",
    "minor",
    "equal",
    "version",
    "written",
    "noted",
]


class LevelStyle(NamedTuple):
    """How what has a level is marked.

    Parameters
    ----------
    sign
        One character in a disc.
    tone
        A key of ``tones`` in ``themes.json``.
    meaning
        What a legend says of it.
    """

    sign: str
    tone: str
    meaning: str


#: the worst first, which is the order of items
LEVELS: dict[Level, LevelStyle] = {
    "error": LevelStyle("!", "error", "error"),
    "warning": LevelStyle("!", "warning", "warning"),
    "removed": LevelStyle("−", "removed", "removed"),
    "added": LevelStyle("+", "added", "added"),
    "changed": LevelStyle("Δ", "changed", "changed"),
    "moved": LevelStyle("⇄", "changed", "moved"),
    "unread": LevelStyle("?", "warning", "could not be read"),
    "minor": LevelStyle("i", "note", "minor finding"),
    "equal": LevelStyle("=", "note", "equal by calculation"),
    "version": LevelStyle("v", "note", "other version"),
    "written": LevelStyle("…", "note", "only written otherwise"),
    "noted": LevelStyle("✎", "note", "note"),
}
_RANKS = {level: rank for rank, level in enumerate(LEVELS)}
_RANKS |= dict.fromkeys(("added", "changed"), _RANKS["removed"])


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One finding, difference, defect or note.

    Parameters
    ----------
    kind
        What it comes from: ``finding``, ``difference``, ``audit`` or ``note``.
    level
        How bad it is, or what kind of difference: ``minor`` is a finding of severity ``note``,
        ``noted`` what a person has written. Of differences ``equal`` is what was calculated to be
        the same, ``unread`` what could not be compared, ``version`` another version of the format
        or of operators, and ``written`` what only the file says otherwise.
    title
        What is so, in a few words.
    where
        The place, short: the first path without what all paths begin with, and how many others.
    id
        Of the rule: ``NL-G02``; ``diff`` and ``note`` for what no rule has found.
    paths
        Of elements of the model that is shown, as ``model[path]`` takes them; none where it is
        about the whole model, or about what the other model alone has.
    evidence
        Labels and texts, such as ``("bytes", "1.5 kB")``.
    why
        Why it matters; "" where that is not said.
    remedy
        What to do, as far as it can be copied; "" for nothing.
    source
        Where the rule is from; "" for no rule.
    count
        How many places it stands for; ``paths`` may name fewer.
    fingerprint
        Stays the same for the same cause in another version of the model; "" where there is none.
    accepted
        Who accepted it and why, or that a baseline has it; "" where nobody did.
    """

    kind: ItemKind
    level: Level
    title: str
    where: str
    id: str
    paths: tuple[str, ...] = ()
    evidence: tuple[tuple[str, str], ...] = ()
    why: str = ""
    remedy: str = ""
    source: str = ""
    count: int = 1
    fingerprint: str = ""
    accepted: str = ""

    @property
    def sign(self) -> str:
        """The character that marks it."""
        return LEVELS[self.level].sign

    def __str__(self) -> str:
        where = f" {self.where}" if self.where else ""
        return f"{self.level} {self.id}{where}: {self.title}"


def sort_items(items: Iterable[ReviewItem]) -> list[ReviewItem]:
    """Return items in the order in which they are shown: the worst first, accepted ones last.

    Differences keep their order, which is that of blocks, operators, nodes and weights.
    """
    return sorted(items, key=lambda item: (bool(item.accepted), _RANKS[item.level]))
