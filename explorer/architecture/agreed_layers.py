"""Counts of layers and attentions are said as the operators of a graph with weights tell them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from netloupe.explorer.model import Node
from netloupe.explorer.patterns.operations import list_data

from .authored_lists import Path
from .clause import Clause
from .counted_words import count_pieces
from .located_pieces import LocatedPieces
from .outline import OutlinePart
from .pieces import Piece, is_told

_DIGITS = r"\d{1,3}(?:,\d{3})*"
#: counts of steps that are said with nothing else
_BARE = re.compile(rf"^{_DIGITS} (?P<noun>(?:transposed )?convolutions|linear layers)$")
#: and of attention
_ATTENTION = re.compile(rf"^(?P<count>{_DIGITS}) (?P<noun>(?:self-|cross-)?attentions)(?= |$)")
#: numbers of it anywhere in a text
_ATTENTIONS = re.compile(rf"\b{_DIGITS} (?P<noun>(?:\w+ |self-|cross-)attentions)\b")

#: so many steps may lie between scores and the product that gives them
_MOST_STEPS = 6


class AgreedLayers:
    """Compares how many layers and attentions clauses count with weights and attention scores.

    Parameters
    ----------
    located
        The blocks and layers of the graph.
    beside
        Blocks that are told elsewhere: layers that no block holds may be of these.
    """

    def __init__(self, located: LocatedPieces, beside: Sequence[Piece] = ()) -> None:
        self._beside = [*beside]
        self._located = located
        self._outline = located.outline
        self._pieces = located.pieces
        self._layers = located.layers
        self._lists = located.lists
        self._paths = located.paths
        self._known: set[Node] | None = None

    def agree(self, clauses: Sequence[Clause]) -> list[Clause]:
        """Return clauses with steps counted as operators are, but those of other blocks."""
        if any(piece.fold[1] > 1 for piece in self._pieces):
            return [*clauses]
        told = [piece for clause in clauses for piece in clause.scope] + self._beside
        kept = []
        for clause in clauses:
            if clause.parts and clause.name and not clause.is_mixed:
                parts = [self._agree_inside(clause, part) for part in clause.parts]
                kept.append(self._leave_out_numbers(replace(clause, parts=tuple(parts))))
            elif clause.parts or clause.members or clause.name:
                kept.append(self._leave_out_numbers(clause))
            else:
                kept.append(self._recount(clause, told, ()))
                if kept[-1] is not clause and _ATTENTION.match(clause.text):
                    return self._leave_out_beside([*kept, *clauses[len(kept) :]])
        return kept

    def _leave_out_numbers(self, clause: Clause) -> Clause:
        """Return a clause of blocks without numbers of attentions where it has more of them.

        What is told of each block stands in one text, as ``each 6 MLPs and 9 self-attentions``.
        """
        bare = _strip_numbers(clause)
        is_more = bare != clause and any(map(self._lacks_scores, clause.members))
        return bare if is_more else clause

    def _lacks_scores(self, pieces: Sequence[Piece]) -> bool:
        """Return whether a module has scores that none of its pieces holds."""
        own = {*self._outline.nodes([part for piece in pieces for part in piece.parts])}
        paths = [path for piece in pieces if (path := self._paths[id(piece)])]
        if not paths:
            return False
        first, last = min(paths), max(paths)
        same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
        path = tuple(name for name, _ in same)
        return any(
            node not in own
            and self._lists.holds(path, node)
            and self._find_product(node) not in own
            for node in self._layers.shares
        )

    def _leave_out_beside(self, clauses: Sequence[Clause]) -> list[Clause]:
        """Return clauses without what is in the same blocks as attention that was not known."""
        blocks = [
            lists[0][1]
            for node in self._list_scores(())
            if (lists := self._lists.locate(self._lists.find_common([node])))
        ]
        return [
            clause
            for clause in clauses
            if not clause.is_plain
            or not all(
                any(block.holds(self._paths[id(piece)]) for block in blocks)
                for piece in clause.scope
            )
        ]

    def _agree_inside(self, clause: Clause, part: Clause) -> Clause:
        """Return what is told of a module, or of each of several, as its operators are counted."""
        if part.parts or part.members or part.name:
            return part
        if not clause.members:
            path = self._located.find_path(clause.scope)
            return self._recount(part, clause.scope, path) if path else part
        own = {id(piece) for piece in part.scope}
        for member in clause.members:
            path = self._located.find_path(member)
            scope = tuple(piece for piece in member if id(piece) in own)
            one = replace(part, scope=scope)
            if path and self._recount(one, member, path).text != one.text:
                bare = _BARE.match(part.text) or _ATTENTION.match(part.text)
                return replace(part, text=bare["noun"]) if bare else part
        return part

    def _recount(self, clause: Clause, beside: Sequence[Piece], path: Path) -> Clause:
        """Return a clause with the number of layers in a module, or of a whole graph.

        But those of other blocks that are told ``beside``.
        """
        attention = _ATTENTION.match(clause.text)
        if attention:
            return self._recount_attention(clause, attention, path)
        bare = _BARE.match(clause.text)
        if not bare:
            return clause
        noun = bare["noun"].removesuffix("s")
        own = {id(piece) for piece in clause.scope}
        # what no clause tells is counted, if it is no block of another module
        told = self._pieces if path else beside
        others = [p for p in told if id(p) not in own]
        gone = self._layers.list_keys(node for p in others for node in self._outline.nodes(p.parts))
        keys = [
            self._layers.keys[node]
            for node in self._layers.firsts
            if self._lists.holds(path, node) and self._is_layer(node)
        ]
        count = sum(self._layers.kinds[key] == noun and key not in gone for key in keys)
        if count <= len(own):
            return clause
        # some of them are of attention that is not known, or of another branch
        if self._list_scores(path) if path else self._beside:
            return replace(clause, text=bare["noun"], is_plain=False)
        return replace(clause, text=count_pieces(count, noun), is_plain=False)

    def _recount_attention(self, clause: Clause, said: re.Match[str], path: Path) -> Clause:
        """Return attentions with those that patterns do not know; what is fixed attends itself."""
        scores = self._list_scores(path)
        if not scores:
            return clause
        count = int(said["count"].replace(",", "")) + len(scores)
        is_own = said["noun"] == "self-attentions"
        if is_own and all(self._find_owner(node) is None for node in scores):
            return replace(clause, text=f"{count:,}{clause.text[said.end('count') :]}")
        return replace(clause, text=said["noun"], is_plain=False)

    def _list_scores(self, path: Path) -> list[Node]:
        """Return what weighs values in a module by scores and is in no block that is told."""
        if self._known is None:
            told = [part for part in self._outline.parts if is_told(part)]
            self._known = {*self._outline.nodes(told)}
        return [
            node
            for node in self._layers.shares
            if node not in self._known
            and self._lists.holds(path, node)
            and self._find_product(node) not in self._known
        ]

    def _is_layer(self, node: Node) -> bool:
        """Return whether a node is a layer, or in a block; not one product that is none of them."""
        owner = self._find_owner(node)
        return owner is None or owner.operator is None

    def _find_owner(self, node: Node) -> OutlinePart | None:
        """Return the part that a node is in; None for what takes no input of the model."""
        operations = self._outline.operations
        result = node.output(0)
        number = operations.giver(result) if result is not None else None
        return self._outline.owner(number) if number is not None else None

    def _find_product(self, node: Node) -> Node | None:
        """Return the product that gives scores: of those of two directions it is the same."""
        operations = self._outline.operations
        scores = next((value for value in list_data(node) if value is not None), None)
        number = None if scores is None else operations.giver(operations.source(scores))
        for _ in range(_MOST_STEPS):
            if number is None or operations.nodes[number].operator.has("multiplies"):
                return operations.nodes[number] if number is not None else None
            givers = operations.givers(number)
            number = givers[0] if givers else None
        return None


def _strip_numbers(clause: Clause) -> Clause:
    """Return a clause without numbers of attentions, in all that it says."""
    name, text, unit = (
        _ATTENTIONS.sub(r"\g<noun>", one) for one in (clause.name, clause.text, clause.unit[1])
    )
    parts = tuple(map(_strip_numbers, clause.parts))
    return replace(clause, name=name, text=text, unit=(clause.unit[0], unit), parts=parts)
