"""Parts of a sentence that tell modules of a network: joined, and made as short as is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .pieces import Piece

#: kinds of block that are no more than a step between others
MINOR = frozenset({"conv", "embedding", "excitation", "linear", "positions"})
#: so many parts of a module are told
_MOST_PARTS = 2
#: a step is not told beside what is so much more
_LEAST_SHARE = 0.4
#: so many clauses and words are read in one breath
MOST_CLAUSES = 5
#: beside so many others rows of small layers without a name are not told
_LEAST_TOLD = 2
_MOST_WORDS = 42


@dataclass(frozen=True, eq=False)
class Clause:
    """A part of a sentence.

    Parameters
    ----------
    text
        What it says; of a module with a name what stands in brackets behind it.
    weight
        How many operations it tells of.
    name
        What an author calls it; "" where that says nothing.
    uses
        How often it is used with the same weights.
    is_loop
        Whether these are steps, of which each takes what the one before gave.
    is_minor
        Whether it is one of those that are left out first.
    parts
        Of a module what is in it, in place of a text.
    shown
        So many of its parts are told.
    pieces
        Blocks of one kind of which nothing else is told.
    unit
        Of blocks without a name how many there are, and what each is.
    """

    text: str
    weight: int
    name: str = ""
    uses: int = 1
    is_minor: bool = False
    parts: tuple[Clause, ...] = ()
    shown: int = _MOST_PARTS
    is_loop: bool = False
    pieces: tuple[Piece, ...] = ()
    unit: tuple[int, str] = (0, "")

    @property
    def token(self) -> object:
        """The same for clauses that can be told as one; None for others."""
        return self.pieces[0].token if self.pieces and not self.name else None

    @property
    def inside(self) -> str:
        """What stands in brackets."""
        return write_inner_clauses(self.parts, self.shown) if self.parts else self.text

    def write(self) -> str:
        """Return it in words."""
        inside = self.inside
        if self.uses > 1:  # the steps of a loop are said of all of it
            inside = re.sub(r" written out in \d+ steps", "", inside)
        if not self.name:
            if self.uses > 1:
                unit = "steps" if self.is_loop else "times"
                return f"{self.uses:,} {unit} with shared weights ({inside})"
            return inside
        plain = re.sub(r" \((?=\d)", " ", inside).replace(" (", ", ").replace(")", "")
        if self.parts and self.name[0].isdigit() and re.search(r"(^|, )\d+ ", plain):
            plain = f"each {plain}"
        told = f"{self.name} ({plain})" if plain and self.shown else self.name
        if self.uses == 1:
            return told
        if self.is_loop:
            return f"{told} in {self.uses:,} steps"
        return f"{told} used {'twice' if self.uses == 2 else f'{self.uses:,} times'}"

    def write_inside(self) -> str:
        """Return it in words as a part of another one: a name says enough."""
        return self.name or self.write()


def choose_telling(clauses: Sequence[Clause], most: int) -> list[Clause]:
    """Return the most telling clauses, in order."""
    ranked = sorted(clauses, key=lambda one: (one.is_minor and not one.name, -one.weight))[:most]
    least = _LEAST_SHARE * ranked[0].weight if ranked and not ranked[0].is_minor else 0
    ranked = [one for one in ranked if not one.is_minor or one.weight >= least]
    return [one for one in clauses if any(one is kept for kept in ranked)]


def write_inner_clauses(clauses: Sequence[Clause], most: int, joint: str = ", ") -> str:
    """Return the most telling clauses in words."""
    told = [one.write_inside() for one in choose_telling(clauses, most)]
    return "" if told == ["MLP"] else joint.join(told)


def weigh_pieces(pieces: Sequence[Piece]) -> int:
    """Return how many operations blocks have, with all that they stand for."""
    return sum(
        len(part.numbers) * piece.uses * piece.fold[1] for piece in pieces for part in piece.parts
    )


def shorten(clauses: Sequence[Clause]) -> list[Clause]:
    """Return clauses that are read in one breath: the least telling ones are left out.

    First steps between modules go, then what is in modules, then modules.
    """
    kept = [one for one in clauses if not (one.is_minor and one.unit[0])]
    if sum(not one.is_minor for one in kept) < _LEAST_TOLD:
        kept = [*clauses]
    while len(kept) > 1 and _is_long(kept):
        minor = [one for one in kept if one.is_minor and not one.name]
        if minor:
            least = min(minor, key=lambda one: one.weight)
            kept = [one for one in kept if one is not least]
            continue
        if len(kept) <= MOST_CLAUSES:
            full = [one for one in kept if one.name and len(one.parts) > 1 and one.shown > 1]
            if full:
                longest = max(full, key=lambda one: len(one.inside.split()))
                kept[kept.index(longest)] = replace(longest, shown=longest.shown - 1)
                continue
        least = min(kept, key=lambda one: (not one.is_minor, one.weight))
        kept = [one for one in kept if one is not least]
    return kept


def _is_long(clauses: Sequence[Clause]) -> bool:
    words = sum(len(clause.write().split()) for clause in clauses)
    return len(clauses) > MOST_CLAUSES or words > _MOST_WORDS


def make_named(name: str, inside: Sequence[Clause], weight: int, uses: int) -> Clause:
    """Return what a module is by what is in it; without a name it is used several times."""
    return Clause("", weight, name, uses, parts=tuple(inside))


def join_uses(inside: Sequence[Clause], uses: int) -> Clause:
    """Return as one what is used so many times together."""
    once = [replace(clause, uses=1) for clause in inside]
    return make_named("", once, sum(one.weight for one in inside), uses)


def join_used(clauses: Sequence[Clause]) -> list[Clause]:
    """Return clauses with those together that are used as often, one behind the other."""
    joined: list[Clause] = []
    for clause in clauses:
        before = joined[-1] if joined else clause
        is_bare = not (before.name and clause.name)
        if before is not clause and before.uses == clause.uses > 1 and is_bare:
            parts = [
                inner
                for one in (before, clause)
                for inner in (one.parts if one.parts and not one.name else [replace(one, uses=1)])
            ]
            joined[-1] = make_named("", parts, before.weight + clause.weight, clause.uses)
            continue
        joined.append(clause)
    return joined


def join_equal(clauses: Sequence[Clause]) -> list[Clause]:
    """Return clauses with those of one text and of names that end alike as one: two towers."""
    joined: list[Clause] = []
    for clause in clauses:
        before = joined[-1] if joined else None
        if before is not None and before.unit[1] and before.unit[1] == clause.unit[1]:
            count = before.unit[0] + clause.unit[0]
            text = clause.text.replace(f"{clause.unit[0]:,} block", f"{count:,} block", 1)
            weight = before.weight + clause.weight
            joined[-1] = replace(clause, text=text, weight=weight, unit=(count, clause.unit[1]))
            continue
        place = next(
            (
                at
                for at, one in enumerate(joined)
                if _may_join(one, clause) and (" " in one.name or one is before)
            ),
            -1,
        )
        if place < 0:
            joined.append(clause)
            continue
        other = joined[place]
        weight = other.weight + clause.weight
        joined[place] = replace(other, name=_join_names(other.name, clause.name), weight=weight)
    return joined


def _may_join(one: Clause, other: Clause) -> bool:
    return bool(
        one.name
        and other.name
        and (one.inside, one.uses) == (other.inside, other.uses)
        and _join_names(one.name, other.name)
    )


def _join_names(one: str, other: str) -> str:
    """Return ``online and target encoder`` for two names; "" where they do not go together."""
    *before, noun = one.split(" ")
    *own, last = other.split(" ")
    if not before and not own and one != other and one.isalpha():
        return f"{one} and {other}"
    if " of " in one or last != noun or not before or not own or one == other or one[0].isdigit():
        return ""
    return f"{' '.join(before)} and {' '.join(own)} {noun}"
