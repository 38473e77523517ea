"""Parts of a sentence that tell modules of a network."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .counted_words import SMALL_NUMBERS, join_with_and, strip_brackets, write_plural
from .pieces import SMALL_STEPS, Piece, are_called_in_turn

#: kinds of block that are no more than a step between others
MINOR = frozenset({"conv", "embedding", "excitation", "linear", "positions"})
#: a step is not told beside what is so much more
_LEAST_SHARE = 0.4
_TWICE = 2
#: what is said once of all that stands in brackets
_EACH = re.compile(r" each(?=,|$)")
_RECURRENT = ("GRU cell", "GRU layer", "LSTM cell", "LSTM layer", "RNN layer")


@dataclass(frozen=True, eq=False)
class Clause:
    """A part of a sentence.

    Parameters
    ----------
    text
        What it says; of a module with a name what stands in brackets behind it.
    scope
        All blocks that it stands for, told or not.
    name
        What an author calls it; "" where that says nothing.
    uses
        How often it is used with the same weights.
    parts
        Of a module what is in it, in place of a text.
    members
        Where modules in a row are counted the blocks of each; what is told is in each of them.
    each_of
        How many modules there are of each of which is said what stands in brackets.
    is_loop
        Whether these are steps, of which each takes what the one before gave.
    is_plain
        Whether it says of blocks of one kind how many there are and no more, so that it can be told
        as one with others.
    is_class
        Whether its words are those of an author's class, so that its blocks are not counted.
    unit
        Of blocks without a name how many there are, and what each is.
    users
        Of what is used several times the inputs that it is used on, by their names.
    """

    text: str
    scope: tuple[Piece, ...]
    name: str = ""
    uses: int = 1
    parts: tuple[Clause, ...] = ()
    members: tuple[tuple[Piece, ...], ...] = ()
    each_of: int = 1
    is_loop: bool = False
    is_plain: bool = False
    is_class: bool = False
    unit: tuple[int, str] = (0, "")
    users: tuple[str, ...] = ()

    @property
    def is_named(self) -> bool:
        """Whether it tells of modules by a name of theirs."""
        return bool(self.name) or self.is_class

    @property
    def is_mixed(self) -> bool:
        """Whether it tells of blocks that differ, some of them by each of its parts."""
        return bool(self.parts) and all(part.name for part in self.parts)

    @property
    def weight(self) -> int:
        """How many operations it stands for."""
        return weigh_pieces(self.scope)

    @property
    def is_minor(self) -> bool:
        """Whether there is nothing in it but what is left out first."""
        return all(piece.kind in MINOR or piece.name in SMALL_STEPS for piece in self.scope)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Blocks of one kind of which nothing else is told."""
        return self.scope if self.is_plain else ()

    @property
    def token(self) -> object:
        """The same for clauses that can be told as one; None for others."""
        return self.scope[0].token if self.is_plain and not self.name else None

    @property
    def inside(self) -> str:
        """What stands in brackets."""
        return write_inner_clauses(self.parts) if self.parts else self.text

    def write(self) -> str:
        """Return it in words."""
        inside = self.inside
        if self.uses > 1:  # the steps of a loop are said of all of it
            inside = re.sub(r" written out in \d+ steps", "", inside)
        told = inside
        if self.name:
            plain = strip_brackets(inside)
            if self.each_of > 1 and (_counts(plain) or _names_two(self.name)):
                plain = f"each {_EACH.sub('', plain)}"
            told = f"{self.name} ({plain})" if plain not in ("", self.name) else self.name
            told = _leave_out_name(self.name, plain) or told
        if self.uses == 1:
            return told
        if not self.name and _tells_several(self):
            times = "twice" if self.uses == _TWICE else f"{self.uses:,} times"
            often = f"{self.uses:,} steps" if self.is_loop else times
            if self.users:
                often = f"on {join_with_and(self.users)}"
            return f"{often} with shared weights ({inside})"
        if self.is_loop:
            return f"{told} in {self.uses:,} steps"
        if self.users:
            return f"{told} used on {join_with_and(self.users)}"
        each = "each " if self.each_of > 1 else ""
        return f"{told} {each}used {'twice' if self.uses == _TWICE else f'{self.uses:,} times'}"

    def write_inside(self) -> str:
        """Return it in words as a part of another one: a name says enough, but of mixed blocks."""
        return self.name if self.name and not self.is_mixed else self.write()


def choose_telling(clauses: Sequence[Clause], most: int) -> list[Clause]:
    """Return the most telling clauses, in order.

    Where one is of attention, one more of attention is not left out: to a text, say.
    """
    ordered = sorted(clauses, key=lambda one: (one.is_minor and not one.name, -one.weight))
    ranked = ordered[:most]
    if any(map(_attends, ranked)):
        ranked += [*filter(_attends, ordered[most:])][:1]
    least = _LEAST_SHARE * ranked[0].weight if ranked and not ranked[0].is_minor else 0
    ranked = [one for one in ranked if not one.is_minor or one.weight >= least]
    return [one for one in clauses if any(one is kept for kept in ranked)]


def _attends(clause: Clause) -> bool:
    return bool(clause.scope) and all(piece.kind == "attention" for piece in clause.scope)


def write_inner_clauses(clauses: Sequence[Clause], joint: str = ", ") -> str:
    """Return clauses in words."""
    told = [one.write_inside() for one in clauses]
    return "" if told == ["MLP"] else joint.join(told)


def weigh_pieces(pieces: Sequence[Piece]) -> int:
    """Return how many operations blocks have, with all that they stand for."""
    return sum(
        len(part.numbers) * piece.uses * piece.fold[1] for piece in pieces for part in piece.parts
    )


def make_named(name: str, inside: Sequence[Clause], scope: Sequence[Piece], uses: int) -> Clause:
    """Return what a module is by what is in it; without a name it is used several times."""
    return Clause("", tuple(scope), name, uses, parts=tuple(inside))


def join_uses(inside: Sequence[Clause], uses: int) -> Clause:
    """Return as one what is used so many times together."""
    once = [replace(clause, uses=1) for clause in inside]
    return make_named("", once, [piece for one in inside for piece in one.scope], uses)


def join_used(clauses: Sequence[Clause]) -> list[Clause]:
    """Return clauses with those together that are used as often, one behind the other."""
    joined: list[Clause] = []
    for clause in clauses:
        before = joined[-1] if joined else clause
        is_bare = not (before.name and clause.name)
        is_loop = before is not clause and before.uses == clause.uses > 1
        if is_loop and is_bare and are_called_in_turn(before.scope, clause.scope):
            parts = [
                inner
                for one in (before, clause)
                for inner in (one.parts if one.parts and not one.name else [replace(one, uses=1)])
            ]
            joined[-1] = make_named("", parts, before.scope + clause.scope, clause.uses)
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
            joined[-1] = replace(
                clause,
                text=text,
                scope=before.scope + clause.scope,
                members=before.members + clause.members,
                unit=(count, clause.unit[1]),
            )
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
        members = (other.members or (other.scope,)) + (clause.members or (clause.scope,))
        joined[place] = replace(
            other,
            name=_join_names(other.name, clause.name),
            scope=other.scope + clause.scope,
            members=members,
            each_of=other.each_of + clause.each_of,
        )
    return joined


def _leave_out_name(name: str, inside: str) -> str:
    """Return what is in modules where their name says only that: ``11 transformer blocks``."""
    if inside == write_plural(name):
        return inside
    found = re.fullmatch(r"([\d,]+) (\w+)s", name)
    head, joint, rest = inside.partition(" of ")
    is_said = found is not None and (
        head.startswith(f"{found[2]} ") or (found[2] == "RNN" and head.endswith(_RECURRENT))
    )
    return f"{found[1]} {write_plural(head)}{joint}{rest}" if found is not None and is_said else ""


def _tells_several(clause: Clause) -> bool:
    while len(clause.parts) == 1 and not clause.parts[0].name:
        clause = clause.parts[0]
    return len(clause.parts) > 1


def _counts(text: str) -> bool:
    return bool(re.search(rf"(^|, )(\d+|{'|'.join(SMALL_NUMBERS)}) ", text))


def _names_two(name: str) -> bool:
    """Return whether a name is that of two modules: ``word and sentence attention``."""
    return " and " in name


def _may_join(one: Clause, other: Clause) -> bool:
    return bool(
        one.name
        and other.name
        and (one.inside, one.uses) == (other.inside, other.uses)
        and _join_names(one.name, other.name)
    )


def _join_names(one: str, other: str) -> str:
    """Return ``online and target encoder`` for two names; "" where they do not go together."""
    *before, noun = one.replace(" and ", ", ").split(" ")
    *own, last = other.split(" ")
    if " and " in other:
        return ""
    if not before and not own and one != other and one.isalpha():
        return f"{one} and {other}"
    if " of " in one or last != noun or not before or not own or one == other or one[0].isdigit():
        return ""
    return f"{' '.join(before)} and {' '.join(own)} {noun}"
