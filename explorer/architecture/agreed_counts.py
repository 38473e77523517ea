"""The one place that every count of a sentence passes, after the clauses are composed.

What patterns count is compared with the author's lists (:mod:`.agreed_blocks`), of parts of blocks
that stand in no module of their own as well (:mod:`.agreed_rows`), with weights and scores
(:mod:`.agreed_layers`), with what resembles an idea (:mod:`.agreed_kinds`), and with how often each
of the counted blocks is used. A number that nothing agrees with is not said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from .agreed_blocks import AgreedBlocks, Tell
from .agreed_kinds import AgreedKinds
from .agreed_layers import AgreedLayers
from .agreed_rows import AgreedRows
from .claims import read_counts
from .clause import Clause
from .counted_words import SMALL_NUMBERS, count_pieces, write_plural
from .located_pieces import LocatedPieces
from .piece_sizes import write_sizes_of
from .piece_words import name_kind
from .pieces import Piece, list_piece_weights

_NUMBER = re.compile(rf"^(?:\d{{1,3}}(?:,\d{{3}})*|{'|'.join(SMALL_NUMBERS[2:])}) ")
#: kinds of block that are one count with or without a shortcut
_JOINED = frozenset({"inverted", "residual"})
#: what may not stand between two counts that are told as one
_APART = frozenset({"attention", "dense", "mixer", "recurrent", "transformer", "unrolled"})
_SIZES = r"(?: (?:of )?[\d,→ …]+ channels)?"
#: kinds of which one is two layers with an activation between
_OF_TWO_LAYERS = "MLP"
#: between two such layers there are fewer operations
_MOST_BETWEEN = 8


class AgreedCounts:
    """Compares what clauses count with all that tells how much of it there is.

    Parameters
    ----------
    located
        The blocks and layers of the graph.
    tell
        Tells blocks by their kinds.
    beside
        Blocks that other clauses tell, of which these know nothing.
    """

    def __init__(self, located: LocatedPieces, tell: Tell, beside: Sequence[Piece] = ()) -> None:
        self._located = located
        self._outline = located.outline
        self._blocks = AgreedBlocks(located, tell)
        self._rows = AgreedRows(located, tell)
        self._layers = AgreedLayers(located, beside)
        self._kinds = AgreedKinds(located, beside)
        self._near: list[Piece] | None = None

    def agree(self, clauses: Sequence[Clause]) -> list[Clause]:
        """Return clauses with those counts alone that are agreed on."""
        told = self._rows.agree(self._blocks.agree(clauses))
        settled = [self._settle(one, 1) for one in self._layers.agree(told)]
        return self._kinds.agree(self._join_apart(settled))

    def _join_apart(self, clauses: list[Clause]) -> list[Clause]:
        """Return clauses with one count of a kind of block, where no other block is between."""
        nouns = [self._find_noun(one) for one in clauses]
        for noun in {one for one in nouns if isinstance(one, str)}:
            places = [place for place, one in enumerate(nouns) if one == noun]
            first, last = places[0], places[-1]
            between = [
                piece
                for place in range(first, last)
                for piece in clauses[place].scope
                if place not in places
            ]
            if len(places) < 2 or any(piece.kind in _APART for piece in between):
                continue
            joined = self._join(noun, [clauses[place] for place in places])
            kept = [place for place in range(len(clauses)) if place not in places[1:]]
            clauses = [joined if place == first else clauses[place] for place in kept]
            nouns = [nouns[place] for place in kept]
        return clauses

    def _find_noun(self, clause: Clause) -> object:
        """Return the kind of block of which a clause tells the number and no more; else itself."""
        kinds = {name_kind(self._outline, [one]) for one in clause.scope if one.kind in _JOINED}
        noun = kinds.pop() if len(kinds) == 1 and clause.uses == 1 else ""
        is_bare = re.fullmatch(rf"[\d,]+ {re.escape(write_plural(noun))}{_SIZES}", clause.write())
        return noun if noun and is_bare else clause

    def _join(self, noun: object, row: Sequence[Clause]) -> Clause:
        """Return clauses that tell of one kind as one count."""
        scope = tuple(piece for one in row for piece in one.scope)
        if len(row) == 1 or any(piece.fold[1] > 1 for piece in scope):
            return row[0]
        blocks = [piece for piece in scope if piece.kind in _JOINED]
        text = count_pieces(len(blocks), str(noun)) + write_sizes_of(self._outline, blocks)
        return Clause(text, scope, is_plain=len(scope) == len(blocks))

    def _settle(self, clause: Clause, uses: int) -> Clause:
        """Return a clause whose counts are of blocks that are all used as often as is said."""
        uses *= clause.uses
        if clause.parts:
            parts = tuple(self._settle(part, uses) for part in clause.parts)
            return replace(clause, parts=parts)
        if clause.is_class or clause.members or not _NUMBER.match(clause.text):
            return clause
        kinds = {name_kind(self._outline, [piece]) for piece in clause.scope}
        said = [one for one in read_counts(clause.text, kinds) if one.number is not None]
        if len(kinds) != 1 or len(said) != 1 or not 1 < (said[0].number or 0) == len(clause.scope):
            return clause
        (noun,) = kinds
        if any(piece.fold[1] > 1 for piece in clause.scope):
            return clause
        often = [piece.uses for piece in clause.scope]
        if not any(list_piece_weights(self._outline, piece) for piece in clause.scope):
            count = sum(often) // uses
            if count == said[0].number or sum(often) % uses:
                return clause
            return replace(clause, text=count_pieces(count, noun), is_plain=False)
        if len({*often}) > 1 or (noun == _OF_TWO_LAYERS and self._has_near(clause.scope)):
            return replace(clause, text=write_plural(noun))
        return clause

    def _has_near(self, scope: Sequence[Piece]) -> bool:
        """Return whether two layers that no pattern calls an MLP are one, where others are told."""
        if self._near is None:
            self._near = [*self._list_near()]
        path = self._located.find_path(scope)
        paths = (self._located.paths[id(piece)] for piece in self._near)
        return any(one[: len(path)] == path for one in paths)

    def _list_near(self) -> Iterator[Piece]:
        """Yield linear layers that take an activation of another linear layer, and nothing else."""
        layers = [piece for piece in self._located.pieces if piece.kind == "linear"]
        ends = {piece.part.end for piece in layers}
        operations = self._outline.operations
        for piece in layers:
            number: int | None = min(piece.part.numbers)
            is_active = False
            for _ in range(_MOST_BETWEEN):
                givers = operations.givers(number) if number is not None else []
                number = givers[0] if len({*givers}) == 1 else None
                if number is None or len({*operations.users[number]}) > 1:
                    number = None
                    break
                if number in ends:
                    break
                is_active |= operations.nodes[number].operator.has("activates")
            if number is not None and number in ends and is_active:
                yield piece
