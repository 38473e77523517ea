"""Clauses that are read in one breath: summed up rather than left out, and true.

What is long is told with less of what is so of it, then together with others of its kind, and small
steps last, all of a kind. What a sentence says of a number is compared with what is there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from .cells import UnrolledDetails
from .census import Census
from .claims import Inventory, check_clause, find_false, read_said_numbers
from .clause import MINOR, Clause, join_used
from .counted_words import count_pieces, join_with_and, write_plural
from .modules import Module
from .outline import Outline
from .piece_sizes import write_axes_of, write_sizes_of
from .piece_words import name_kind, name_together, write_shortly
from .pieces import Piece
from .remainders import is_rest, tell_other_attentions
from .sizes import weigh_matrices

#: so many clauses and words are read in one breath
MOST_CLAUSES = 6
MOST_WORDS = 42
#: and of one module
_MOST_INNER = 3
_MOST_INNER_WORDS = 16
#: what is said first of layers, and least of what they are
_NORM = re.compile(r"\((?:pre-|post-|pre- and post-)norm [\w ]+; ")
#: a way of widths, or a size: all of it but the first number
_SIGNS = re.compile(r" [→×] [\d,]+")
#: kinds of block that tell what a module is for
_IDEAS = frozenset({"attention", "experts", "mixer", "recurrent", "transformer", "unrolled"})
#: kinds of small steps with a smaller share of weights and of layers may be left out
_LEAST_SHARE = 0.1
#: and of modules
_LEAST_OF_MODULE = 0.05


#: so many layers beside a cell are used in all of its steps
_LEAST_OF_LOOP = 2


class Fitter:
    """Fits the clauses of one outline.

    Parameters
    ----------
    outline
        The outline.
    pieces
        All of its blocks, once where they share weights.
    inventory
        What there is of each kind.
    root
        The modules of the picture.
    """

    def __init__(
        self, outline: Outline, pieces: Sequence[Piece], inventory: Inventory, root: Module
    ) -> None:
        self._outline = outline
        self._pieces = pieces
        self._inventory = inventory
        self._weights = {
            id(piece): weigh_matrices(outline, piece.parts) * piece.fold[1] for piece in pieces
        }
        self._census = Census(root, lambda piece: self._weights.get(id(piece), 0))

    def fit(
        self, clauses: Sequence[Clause], most: int = MOST_CLAUSES, words: int = MOST_WORDS
    ) -> list[Clause]:
        """Return what is told of all blocks, as short as it is read and with no false number."""
        kept = self._correct(clauses, self._pieces)
        while (joined := self._join_same(kept)) is not None:
            kept = joined
        kept = self._shorten(kept, most, words)
        return self._leave_out_some_steps(join_used(self._correct(kept, self._pieces)))

    def _leave_out_some_steps(self, clauses: Sequence[Clause]) -> list[Clause]:
        """Return clauses without bare numbers of steps where blocks hold such steps, too.

        One would read ``7 convolutions`` as all that are in no block.
        """
        if all(piece.kind in MINOR for clause in clauses for piece in clause.scope):
            return [*clauses]
        kept = []
        named = [clause for clause in clauses if clause.name]
        for clause in clauses:
            kinds = {piece.kind for piece in clause.scope}
            own = {id(piece) for piece in clause.scope}
            is_bare = re.search(r"\D\d", clause.text) is None and not (clause.name or clause.parts)
            is_of_steps = is_bare and len(own) > 1 and len(kinds) == 1 and kinds <= MINOR
            if is_of_steps and any(
                piece.kind in kinds and id(piece) not in own
                for other in clauses
                for piece in other.scope
                if not other.name and any(one.kind not in MINOR for one in other.scope)
            ):
                noun = clause.text.rpartition(" ")[2].removesuffix("s")  # such as "layer"
                if not any(noun in one.write() for one in clauses if one not in (clause, *named)):
                    continue
            kept.append(clause)
        return kept

    def fit_inside(self, clauses: Sequence[Clause], scope: Sequence[Piece]) -> list[Clause]:
        """Return what is told of what is in a module with a name: numbers rather than names."""
        is_row = len(clauses) == 1 and clauses[0].name.startswith((*"123456789", "stages"))
        if any(clause.name for clause in clauses) and not is_row:
            clauses = [self.tell_shortly(one) for one in self.tell_kinds(scope)]
        kept = self._join_kinds(clauses)
        if len(kept) > 1:
            kept = [self.tell_shortly(one) for one in kept]
        kept = self._correct(kept, scope)
        large = [one for one in kept if not self._is_small(one, kept, _LEAST_SHARE)] or kept
        gone = [piece for one in kept if one not in large for piece in one.scope]
        kept = self._leave_out_pointwise_number(large, gone)
        kept = self._shorten(kept, _MOST_INNER, _MOST_INNER_WORDS)
        return tell_other_attentions(self._correct(kept, scope))

    def _leave_out_pointwise_number(
        self, clauses: Sequence[Clause], gone: Sequence[Piece]
    ) -> list[Clause]:
        """Return clauses without a number of 1×1 convolutions where some are left out as linear."""
        if not any(
            node.operator.has("convolves")
            for piece in gone
            if piece.kind == "linear"
            for node in self._outline.nodes(piece.parts)
        ):
            return [*clauses]
        return [
            replace(one, text="pointwise convolutions", is_plain=False)
            if re.match(r"[\d,]+ pointwise convolutions\b", one.text)
            else one
            for one in clauses
        ]

    def tell_kinds(self, scope: Sequence[Piece]) -> list[Clause]:
        """Return for each kind among some blocks how many there are."""
        kinds: dict[str, list[Piece]] = {}
        for piece in scope:
            kinds.setdefault(name_kind(self._outline, [piece]), []).append(piece)
        return [self._tell_kind(found) for found in kinds.values()]

    def _tell_kind(self, pieces: Sequence[Piece], *, is_brief: bool = False) -> Clause:
        """Return how many blocks of one kind there are, and what is so of all of them."""
        noun = name_together(self._outline, pieces)
        count = sum(piece.fold[1] for piece in pieces)
        text = count_pieces(count, noun) if count > 1 else noun
        blocks = self._census.count(pieces)
        if blocks > count:  # a few of them are something else
            text = f"{blocks:,} blocks, {count:,} of them {write_plural(noun)}"
        text += write_axes_of(pieces) if is_brief else write_sizes_of(self._outline, pieces)
        uses = {self._count_uses(piece) for piece in pieces}
        return Clause(text, tuple(pieces), uses=uses.pop() if len(uses) == 1 else 1, is_plain=True)

    def _count_uses(self, piece: Piece) -> int:
        """Return how often a block is used: of a cell in a loop of other layers in each step.

        The first step of one whose state is known an exporter may have computed beforehand.
        """
        steps = piece.part.details.read_as(UnrolledDetails).steps or 0
        loops = [one.uses for one in self._pieces if one.uses in (steps, steps + 1)]
        is_in_loop = steps > 1 == piece.uses and len(loops) >= _LEAST_OF_LOOP
        return max(loops) if is_in_loop else piece.uses

    def tell_shortly(self, clause: Clause) -> Clause:
        """Return of layers of transformers the size alone that tells them."""
        if clause.parts and not clause.name:
            parts = tuple(self.tell_shortly(part) for part in clause.parts)
            return replace(clause, parts=parts)
        is_bare = not (clause.name or clause.members or clause.text.startswith("stages"))
        if not is_bare or any(piece.layer is None for piece in clause.scope):
            return clause
        count = sum(piece.fold[1] for piece in clause.scope)
        return replace(clause, text=write_shortly(self._outline, clause.scope, count), parts=())

    def tell_brief(self, clause: Clause) -> Clause:
        """Return a clause of which less is said: of small steps their number alone."""
        if clause.is_plain and clause.is_minor and not clause.name:
            return self._tell_kind(clause.scope, is_brief=True)
        return (self._narrow(clause) if clause.name else None) or self.tell_shortly(clause)

    # what is false

    def is_true(self, clauses: Sequence[Clause]) -> bool:
        """Return whether clauses say no number that is not there."""
        return not find_false(self._inventory, self._census, clauses, self._pieces)

    def _correct(self, clauses: Sequence[Clause], every: Sequence[Piece]) -> list[Clause]:
        """Return clauses of which none says a number that is not there.

        What does is said by kinds, and if that does not hold without numbers.
        """
        kept = [self._correct_module(clause) for clause in clauses]
        false = find_false(self._inventory, self._census, kept, every)
        for kind in sorted(false):
            kept = self._merge_kind(kept, kind, every)
        for kind in sorted(find_false(self._inventory, self._census, kept, every)):
            kept = [self._leave_out_number(clause, kind) for clause in kept]
        return kept

    def _correct_module(self, clause: Clause) -> Clause:
        """Return a clause of a module with a name as it holds."""
        is_empty = bool(clause.members) and not clause.inside
        if not clause.name or not (is_empty or self._is_false(clause)):
            return clause
        name = clause.name
        uses = clause.uses
        if name[0].isdigit() and not self._inventory.is_counted(clause.members):
            name = name.split(" ", 1)[1].removesuffix("s")  # calls of one
            uses = max(uses, len(clause.members))
        bare = self._leave_out_steps_number(clause)
        if bare is not None:
            return bare
        parts = [self._tell_sure(part) for part in self._trim(self.tell_kinds(clause.scope))]
        if (name[0].isdigit() or clause.members) and parts:
            brief = [self._tell_kind(one.scope, is_brief=True).text for one in parts]
            if brief == [name]:  # which says it all
                return Clause(name, clause.scope, uses=uses)
            parts = [Clause(f"{join_with_and(brief)} in all", clause.scope)]
        return Clause("", clause.scope, name, uses, tuple(parts))

    def _leave_out_steps_number(self, clause: Clause) -> Clause | None:
        """Return a clause without numbers of small steps beside stages that hold some, too.

        None where that is not all that is false of it.
        """
        if not any(part.text.startswith("stages of ") for part in clause.parts):
            return None
        parts = [
            replace(part, text=write_plural(name_together(self._outline, part.scope)))
            if part.is_minor and part.is_plain and not part.name
            else part
            for part in clause.parts
        ]
        told = replace(clause, parts=tuple(parts))
        return None if self._is_false(told) else told

    def _is_false(self, clause: Clause) -> bool:
        return bool(check_clause(self._inventory, self._census, clause))

    def _tell_sure(self, clause: Clause) -> Clause:
        """Return what is told of a kind without a number where that is not known."""
        if not check_clause(self._inventory, self._census, clause):
            return clause
        return replace(clause, text=write_plural(self._name(clause)), is_plain=False)

    def _merge_kind(
        self, clauses: Sequence[Clause], kind: str, every: Sequence[Piece]
    ) -> list[Clause]:
        """Return clauses with all of a kind together, and what else was said beside it by kinds."""
        bare = [clause for clause in clauses if not clause.is_named]
        touched = [one for one in bare if kind in read_said_numbers(self._inventory, one)]
        told = {id(piece) for one in clauses for piece in one.scope}
        held = {id(piece) for one in touched for piece in one.scope}
        held |= {
            id(piece)
            for piece in every
            if id(piece) not in told and name_kind(self._outline, [piece]) == kind
        }
        scope = [piece for piece in every if id(piece) in held]
        kinds = self.tell_kinds(scope)
        first = touched[0] if touched else None
        gone = set(map(id, touched))
        kept: list[Clause] = []
        for clause in clauses:
            if clause is first:
                kept += kinds
            elif clause.is_named:
                kept.append(clause)
            elif id(clause) not in gone:
                own = tuple(piece for piece in clause.scope if id(piece) not in held)
                kept.append(replace(clause, scope=own))
        return self._join_kinds(kept)

    def _leave_out_number(self, clause: Clause, kind: str) -> Clause:
        """Return a clause that says of a kind that there are some."""
        if clause.is_named or kind not in read_said_numbers(self._inventory, clause):
            return clause
        nouns = dict.fromkeys(name_kind(self._outline, [piece]) for piece in clause.scope)
        text = join_with_and([write_plural(noun) for noun in nouns])
        return Clause(text, clause.scope, uses=clause.uses)

    # what is long

    def _shorten(self, clauses: Sequence[Clause], most: int, words: int) -> list[Clause]:
        kept = [*clauses]
        steps = (
            (_is_many, self._join_nouns),
            (_is_many, self._join_most),
            (_is_wordy, self._strip_longest),
            (_is_many, self._leave_out_others),
            (_is_wordy, self._leave_out_norms),
            (_is_long, self._leave_out_small_module),
            (_is_long, self._join_most),
            (_is_wordy, self._narrow_longest),
            (_is_long, self._leave_out_least),
            (_is_long, self._dissolve_steps),
            (_is_long, self._dissolve_longest),
            (_is_long, self._leave_out_module),
        )
        for is_long, step in steps:
            while len(kept) > 1 and is_long(kept, most, words):
                told = step(kept)
                if told is None or (len(told) < len(kept) and self._leaves_false(told, kept)):
                    break
                kept = told
        return kept

    def _leaves_false(self, told: Sequence[Clause], before: Sequence[Clause]) -> bool:
        """Return whether clauses of blocks say a number that is not all there is.

        They would be taken apart for that; small steps are told together.
        """
        scope = [piece for clause in before for piece in clause.scope]
        false = find_false(self._inventory, self._census, told, scope)
        return any(
            not one.is_plain and not one.is_named and not false.isdisjoint(kinds)
            for one in told
            if (kinds := read_said_numbers(self._inventory, one))
        )

    def _join_same(self, clauses: list[Clause]) -> list[Clause] | None:
        """Join modules of one name of which the same is told."""
        for place, clause in enumerate(clauses):
            alike = [
                one
                for one in clauses[place:]
                if (one.name, one.inside, one.uses) == (clause.name, clause.inside, clause.uses)
            ]
            if not clause.name or clause.name[0].isdigit() or len(alike) == 1:
                continue
            joined = replace(
                clause,
                name=f"{len(alike):,} {write_plural(clause.name)}",
                scope=tuple(piece for one in alike for piece in one.scope),
                members=tuple(one.scope for one in alike),
                each_of=len(alike),
            )
            gone = set(map(id, alike[1:]))
            return [joined if one is clause else one for one in clauses if id(one) not in gone]
        return None

    def _join_nouns(self, clauses: list[Clause]) -> list[Clause] | None:
        """Join all plain clauses of the kind, kernel and all, that has most of them."""
        nouns = Counter(
            name_together(self._outline, one.scope)
            for one in clauses
            if one.is_plain and not one.name
        )
        for noun, _ in nouns.most_common():
            joined = self._join_kind(clauses, noun, name_together)
            if len(joined) < len(clauses):
                return joined
        return None

    def _join_most(self, clauses: list[Clause]) -> list[Clause] | None:
        """Join all plain clauses of the kind that has most of them."""
        kinds = Counter(self._name(one) for one in clauses if one.is_plain and not one.name)
        for kind, _ in kinds.most_common():
            joined = self._join_kind(clauses, kind, name_kind)
            if len(joined) < len(clauses):
                return joined
        return None

    def _join_kinds(self, clauses: Sequence[Clause]) -> list[Clause]:
        """Return clauses with plain ones of each kind together."""
        kept = [*clauses]
        for kind in {self._name(one): None for one in clauses if one.is_plain}:
            kept = self._join_kind(kept, kind, name_kind)
        return kept

    def _join_kind(
        self,
        clauses: Sequence[Clause],
        kind: str,
        name: Callable[[Outline, Sequence[Piece]], str],
    ) -> list[Clause]:
        """Return clauses with plain ones of a kind together, where the first of them is."""
        kept: list[Clause] = []
        for clause in clauses:
            is_kind = clause.is_plain and name(self._outline, clause.scope) == kind
            place = next(
                (
                    at
                    for at, one in enumerate(kept)
                    if is_kind
                    and self._may_join(one, clause)
                    and name(self._outline, one.scope) == kind
                ),
                -1,
            )
            if place < 0:
                kept.append(clause)
            else:
                kept[place] = self._tell_kind([*kept[place].scope, *clause.scope])
        return kept

    def _name(self, clause: Clause) -> str:
        return name_kind(self._outline, [clause.scope[0]])

    def _may_join(self, one: Clause, two: Clause) -> bool:
        if not (one.is_plain and two.is_plain) or one.name or two.name or one.uses != two.uses:
            return False
        return self._name(one) == self._name(two)

    def _strip_longest(self, clauses: list[Clause]) -> list[Clause] | None:
        """Leave out what is said of small steps but their number."""
        best: tuple[int, int, Clause] | None = None
        for place, clause in enumerate(clauses):
            if not clause.is_plain or clause.name or not clause.is_minor:
                continue
            brief = self._tell_kind(clause.scope, is_brief=True)
            saved = _count_words([clause]) - _count_words([brief])
            if saved > 0 and (best is None or saved > best[0]):
                best = saved, place, brief
        if best is None:
            return None
        return [*clauses[: best[1]], best[2], *clauses[best[1] + 1 :]]

    def _leave_out_norms(self, clauses: list[Clause]) -> list[Clause] | None:
        """Leave out which norm layers have, and where it stands."""
        told = [replace(one, text=_NORM.sub("(", one.text)) for one in clauses]
        return None if _count_words(told) == _count_words(clauses) else told

    def _narrow_longest(self, clauses: list[Clause]) -> list[Clause] | None:
        """Say less of the module of which most is said."""
        full = [one for one in clauses if one.name and _count_words([one]) > _LEAST_WORDS]
        for longest in sorted(full, key=lambda one: -_count_words([one])):
            narrow = self._narrow(longest)
            if narrow is not None:
                return [narrow if one is longest else one for one in clauses]
        return None

    def _narrow(self, clause: Clause) -> Clause | None:
        if not clause.parts or clause.is_mixed:
            return None
        if clause.each_of == 1:
            brief = [replace(one, uses=1) for one in self._tell_main(clause.scope)]
            told = replace(clause, parts=tuple(brief), text="")
            if _count_words([told]) < _count_words([clause]):
                return None if check_clause(self._inventory, self._census, told) else told
        if len(clause.parts) > 1:
            least = min(clause.parts, key=lambda one: self._share([one], clause.parts))
            if not self._is_small(least, clause.parts, 2 * _LEAST_SHARE):
                return None
            told = replace(clause, parts=tuple(one for one in clause.parts if one is not least))
            return None if check_clause(self._inventory, self._census, told) else told
        return None

    def _tell_main(self, scope: Sequence[Piece]) -> list[Clause]:
        """Return the kinds that are most of some blocks, with their numbers alone."""
        kinds = self._trim(self.tell_kinds(scope))
        return [self._tell_kind(one.scope, is_brief=True) for one in kinds]

    def _trim(self, kinds: Sequence[Clause]) -> list[Clause]:
        """Return the kinds of a module without small steps, three at most."""
        return self._keep_most(
            [one for one in kinds if not self._is_small(one, kinds, 2 * _LEAST_SHARE)] or kinds,
            _MOST_INNER,
        )

    def _keep_most(self, kinds: Sequence[Clause], most: int) -> list[Clause]:
        ranked = sorted(
            kinds,
            key=lambda one: (
                one.scope[0].kind not in _IDEAS,
                one.is_minor,
                -self._share([one], kinds),
            ),
        )[:most]
        return [one for one in kinds if any(one is kept for kept in ranked)]

    def _leave_out_others(self, clauses: list[Clause]) -> list[Clause] | None:
        """Leave out linear layers with few weights that are left beside blocks that hold more.

        Convolutions stay: they may change the size of maps.
        """
        total = sum(map(self._count_weights, clauses))
        for clause in clauses:
            rest = [one for one in clauses if one is not clause]
            if (
                clause.is_plain
                and clause.scope[0].kind == "linear"
                and self._count_weights(clause) < _LEAST_SHARE * total
                and is_rest(self._outline, clause, rest)
            ):
                return rest
        return None

    def _leave_out_least(self, clauses: list[Clause]) -> list[Clause] | None:
        """Leave out a kind of small steps, all of it."""
        small = [
            one
            for one in clauses
            if one.is_minor and not one.name and self._is_small(one, clauses, _LEAST_SHARE)
        ]
        if not small:
            return None
        least = min(small, key=lambda one: self._share([one], clauses))
        return [one for one in clauses if one is not least]

    def _dissolve_steps(self, clauses: list[Clause]) -> list[Clause] | None:
        """Return clauses with blocks of small steps alone as what they are."""
        kept: list[Clause] = []
        for clause in clauses:
            is_steps = clause.is_minor and not clause.is_plain and not clause.name
            kept += self.tell_kinds(clause.scope) if is_steps else [clause]
        joined = self._join_kinds(kept)
        return None if len(joined) > len(clauses) or len(kept) == len(clauses) else joined

    def _dissolve_longest(self, clauses: list[Clause]) -> list[Clause] | None:
        """Tell what is not plain by kinds, all of them together."""
        bare = [one for one in clauses if not one.name and not one.is_plain]
        if not bare:
            return None
        longest = max(bare, key=lambda one: _count_words([one]))
        kinds = self._trim(self.tell_kinds(longest.scope))
        place = next(at for at, one in enumerate(clauses) if one is longest)
        told = self._join_kinds([*clauses[:place], *kinds, *clauses[place + 1 :]])
        if _count_words(told) >= _count_words(clauses) and len(told) >= len(clauses):
            return None
        return told

    def _leave_out_small_module(self, clauses: list[Clause]) -> list[Clause] | None:
        """Leave out a module of small steps."""
        small = [one for one in clauses if one.name and self._is_small(one, clauses, _LEAST_SHARE)]
        if not small:
            return None
        least = min(small, key=lambda one: self._share([one], clauses))
        return [one for one in clauses if one is not least]

    def _leave_out_module(self, clauses: list[Clause]) -> list[Clause] | None:
        small = [
            one
            for one in clauses
            if self._share([one], clauses) < _LEAST_OF_MODULE and not _remembers(one)
        ]
        if not small:
            return None
        least = min(small, key=lambda one: self._share([one], clauses))
        return [one for one in clauses if one is not least]

    def _is_small(self, clause: Clause, clauses: Sequence[Clause], least: float) -> bool:
        return clause.is_minor and self._share([clause], clauses) < least

    def _share(self, some: Sequence[Clause], clauses: Sequence[Clause]) -> float:
        """Return which share of all weights or of all layers clauses stand for, the larger."""
        shares = []
        for weigh in (self._count_weights, _count_layers):
            total = sum(map(weigh, clauses))
            shares.append(sum(map(weigh, some)) / total if total else 0.0)
        return max(shares)

    def _count_weights(self, clause: Clause) -> int:
        return sum(self._weights.get(id(piece), 0) for piece in clause.scope)


#: a module of which no more is said is told as it is
_LEAST_WORDS = 4


def _count_layers(clause: Clause) -> int:
    return sum(len(piece.parts) * piece.fold[1] for piece in clause.scope)


def _remembers(clause: Clause) -> bool:
    """Return whether there is a recurrent layer in what a clause stands for."""
    return any(piece.part.has("recurrent") for piece in clause.scope)


def _count_words(clauses: Sequence[Clause]) -> int:
    """Return how many words are read; ways of widths are read as one."""
    return sum(len(_SIGNS.sub("", clause.write()).split()) for clause in clauses)


def _is_many(clauses: Sequence[Clause], most: int, words: int) -> bool:
    return len(clauses) > most


def _is_wordy(clauses: Sequence[Clause], most: int, words: int) -> bool:
    return _count_words(clauses) > words


def _is_long(clauses: Sequence[Clause], most: int, words: int) -> bool:
    return len(clauses) > most or _count_words(clauses) > words
