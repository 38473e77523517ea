"""Counts of ideas that other blocks of the same sentence hold as well: said of all, or of others.

One would read ``10 ghost modules`` beside ``11 residual blocks`` as all that there are, and so it
is not where each of these blocks is made of two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from netloupe.explorer.model import Node
from netloupe.explorer.patterns import FoundBlock, read_dims
from netloupe.explorer.patterns.readings import read_int

from .authored_lists import Path
from .clause import Clause
from .counted_words import count_pieces, write_plural
from .located_pieces import LocatedPieces
from .outline import Outline
from .piece_words import name_kind

#: kinds of block that stand by themselves as well as in others, besides plain layers
_IDEAS = frozenset({"excitation", "unit"})
_POINTWISE = "pointwise convolutions"
#: a count, and what is counted
_COUNTED = re.compile(r"([\d,]+) (.+)")


def confirm_counts(located: LocatedPieces, clauses: Sequence[Clause]) -> list[Clause]:
    """Return clauses of which each counts all blocks of its kind, or those that are others.

    Others where a clause before says that its blocks hold such; all where none says so. Pointwise
    convolutions are counted in the file as well.

    Parameters
    ----------
    located
        The blocks and layers of the graph.
    clauses
        What is said, in order.
    """
    told = [_confirm(located.outline, one, [*clauses]) for one in clauses]
    return [_confirm_pointwise(located, _confirm_uses(one), ()) for one in told]


def _confirm_uses(clause: Clause) -> Clause:
    """Return a module without how often blocks are used where others of their kind are not."""
    if len(clause.parts) != 1 or clause.parts[0].uses == 1 or clause.parts[0].name:
        return clause
    (part,) = clause.parts
    kinds = {piece.kind for piece in part.scope}
    alike = [piece for piece in (*part.scope, *clause.scope) if piece.kind in kinds]
    if all(piece.uses == part.uses for piece in alike):
        return clause
    return replace(clause, parts=(replace(part, uses=1, users=()),))


def _confirm_pointwise(located: LocatedPieces, clause: Clause, path: Path) -> Clause:
    """Return a clause without a number of pointwise convolutions of which a module has more."""
    if clause.parts and clause.name and not clause.is_mixed and not clause.members:
        inner = located.find_path(clause.scope)
        if not inner:
            return clause
        parts = tuple(_confirm_pointwise(located, part, inner) for part in clause.parts)
        return replace(clause, parts=parts)
    counted = _COUNTED.fullmatch(clause.text)
    if counted is None or counted[2] != _POINTWISE or clause.name or clause.members:
        return clause
    own = {id(piece) for piece in clause.scope}
    others = [piece for piece in located.pieces if id(piece) not in own]
    gone = {node for piece in others for node in located.outline.nodes(piece.parts)}
    count = sum(
        node not in gone and located.lists.holds(path, node) and _is_pointwise(node)
        for node in located.layers.firsts
    )
    return replace(clause, text=_POINTWISE, is_plain=False) if count > len(own) else clause


def _is_pointwise(node: Node) -> bool:
    """Return whether a node is a convolution of single places that takes all channels."""
    operator = node.operator
    if not operator.has("convolves") or operator.has("transposed"):
        return False
    kernel = read_dims(node.input(1))[2:]
    return bool(kernel) and {*kernel} == {1} and (read_int(node, "group") or 1) == 1


def _confirm(outline: Outline, clause: Clause, clauses: Sequence[Clause]) -> Clause:
    kinds = {(piece.kind, piece.part.name) for piece in clause.scope}
    counted = _COUNTED.fullmatch(clause.text)
    if len(kinds) != 1 or counted is None or clause.name or clause.parts or clause.uses > 1:
        return clause
    kind, name = kinds.pop()
    noun = name_kind(outline, clause.scope)
    if kind not in _IDEAS or counted[2] != write_plural(noun):
        return clause
    held = {
        id(one): sum(_count_inside(piece.part.parts, name) * piece.fold[1] for piece in one.scope)
        for one in clauses
        if one is not clause
    }
    if not any(held.values()):
        return clause
    if any(held.get(id(one)) and counted[2] in one.write() for one in clauses):
        return replace(clause, text=f"{counted[1]} other {counted[2]}", is_plain=False)
    count = int(counted[1].replace(",", "")) + sum(held.values())
    return replace(clause, text=count_pieces(count, noun), is_plain=False)


def _count_inside(blocks: Iterable[FoundBlock], name: str) -> int:
    """Return how many blocks of a name are in others, whatever these are in."""
    return sum(block.name == name for block in _walk(blocks))


def _walk(blocks: Iterable[FoundBlock]) -> Iterator[FoundBlock]:
    for block in blocks:
        yield block
        yield from _walk(block.parts)
