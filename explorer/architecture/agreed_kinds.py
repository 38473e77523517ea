"""Counts of an idea are said only where nothing beside it may be one more that was not recognised.

What is made of layers of the same widths may be the last one, of which nothing takes a part; and
where most of the operations by which an idea is known are in none of it, most may be unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from netloupe.explorer.patterns.combinations import is_divisor
from netloupe.explorer.patterns.readings import read_str
from netloupe.explorer.roles import find_weight

from .claims import read_counts
from .clause import MINOR, Clause
from .counted_words import write_plural
from .located_pieces import LocatedPieces
from .piece_words import name_kind
from .pieces import Piece

#: kinds of block that are known by what all of them have, whatever they are for
_WHOLES = MINOR | {"attention", "dense", "experts", "inverted", "mixer", "mlp", "recurrent"}
_PLAIN = _WHOLES | {"residual", "separable", "transformer", "unrolled"}
#: how many layers there are, and how loose attention is called that one of them may have
_LAYERS = re.compile(r"(?:stages of )?(?<![\w,.→×+])[\d, +]*\d (?=transformer blocks)")
_SELF = "Self-attention"
#: so many layers before the last one are alike by chance no more
_LEAST_LAYERS = 2
#: traits of operations by which some ideas are known
_RARE = ("scatters",)


class AgreedKinds:
    """Compares how many blocks of an idea clauses count with what resembles them.

    Parameters
    ----------
    located
        The blocks and layers of the graph.
    beside
        Blocks that are told apart from the clauses.
    """

    def __init__(self, located: LocatedPieces, beside: Sequence[Piece] = ()) -> None:
        self._beside = {id(piece) for piece in beside}
        self._outline = located.outline
        self._pieces = located.pieces
        self._known: dict[str, bool] = {}

    def agree(self, clauses: Sequence[Clause]) -> list[Clause]:
        """Return clauses without numbers of what may be more."""
        told = self._beside | {id(piece) for clause in clauses for piece in clause.scope}
        return [self._judge_layers(self._judge(clause), told) for clause in clauses]

    def _judge_layers(self, clause: Clause, told: set[int]) -> Clause:
        """Return a clause without a number of layers where loose parts may be one more.

        Where branches are written in turn, attention of one stands before an MLP of the other.
        """
        if not _LAYERS.search(f"{clause.name}\n{clause.text}"):
            return clause
        own = {id(piece) for piece in clause.scope}
        loose = [
            piece
            for piece in self._pieces
            if piece.layer is None and (id(piece) in own or id(piece) not in told)
        ]
        widths = {
            part.widths
            for piece in clause.scope
            if piece.layer is not None
            for part in piece.layer.feeding
        }
        attends = any(piece.kind == "attention" and piece.name == _SELF for piece in loose)
        feeds = any(piece.kind == "mlp" and piece.part.widths in widths for piece in loose)
        if not (attends and feeds):
            return clause
        name, text = (_LAYERS.sub("", said) for said in (clause.name, clause.text))
        return replace(clause, name=name, text=text, is_plain=False)

    def _judge(self, clause: Clause) -> Clause:
        if clause.parts:
            return replace(clause, parts=tuple(map(self._judge, clause.parts)))
        if clause.is_class:
            return clause
        ideas = {
            name_kind(self._outline, [piece]) for piece in clause.scope if piece.kind not in _PLAIN
        }
        text = clause.text
        for said in [*read_counts(text, ideas)]:
            if (said.number or 0) > 1 and self._may_be_more(said.kind):
                noun = re.escape(write_plural(said.kind))
                text = re.sub(rf"(?<![\w,.→×])[\d,]+ (?={noun}(?![\w-]))", "", text)
        return replace(clause, text=text, is_plain=False) if text != clause.text else clause

    def _may_be_more(self, kind: str) -> bool:
        """Return whether something else may be of a kind."""
        if kind not in self._known:
            held = [one for one in self._pieces if name_kind(self._outline, [one]) == kind]
            self._known[kind] = self._have_likeness(held) or self._are_few(held)
        return self._known[kind]

    def _have_likeness(self, held: Sequence[Piece]) -> bool:
        """Return whether an MLP has inner layers as wide as those of all blocks of a kind."""
        widths = {self._list_widths(piece) for piece in held}
        own = widths.pop() if len(widths) == 1 else ()
        return len(own) >= _LEAST_LAYERS and any(
            piece.kind == "mlp" and self._list_widths(piece) == own for piece in self._pieces
        )

    def _list_widths(self, piece: Piece) -> tuple[int | None, ...]:
        """Return how many features each layer of a block gives but the last."""
        weights = [find_weight(node) for node in self._outline.nodes(piece.parts)]
        features = [one.features for one in weights if one is not None and one.kind == "linear"]
        return tuple(one[1] if one is not None else None for one in features[:-1])

    def _are_few(self, held: Sequence[Piece]) -> bool:
        """Return whether most operations by which a kind is known are in no block at all.

        Of steps that are written out one stands for all.
        """
        if any(piece.uses > 1 or piece.fold[1] > 1 for piece in self._pieces):
            return False
        inside = [self._list_rare(piece) for piece in held]
        common = set.intersection(*map(set, inside)) if inside else set()
        if not common:
            return False
        told = {n for piece in self._pieces for part in piece.parts for n in part.numbers}
        operations = self._outline.operations
        for form in common:
            count = sum(one.count(form) for one in inside)
            outside = sum(
                number not in told
                and self._read_form(number) == form
                and not is_divisor(operations, number)
                for number in range(len(operations))
            )
            if outside > count:
                return True
        return False

    def _list_rare(self, piece: Piece) -> list[tuple[str, str]]:
        numbers = sorted(number for part in piece.parts for number in part.numbers)
        return [form for number in numbers if (form := self._read_form(number))[0]]

    def _read_form(self, number: int) -> tuple[str, str]:
        """Return which rare operation this is, and how it puts elements together."""
        node = self._outline.operations.nodes[number]
        is_rare = node.operator.has(*_RARE)
        return (node.operator.form, read_str(node, "reduction")) if is_rare else ("", "")
