"""Equal branches of small layers that stand side by side, in one module or in each of several.

A network that refines what it predicts has two branches in each stage (Z. Cao and others, Realtime
Multi-Person 2D Pose Estimation using Part Affinity Fields, 2017, figure 3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from .clause import MINOR, Clause
from .counted_words import count_pieces
from .modules import Module
from .outline import Outline
from .piece_words import name_kind

#: a branch has so many layers at least
_LEAST_LAYERS = 2


def tell_branches(outline: Outline, row: Sequence[Module]) -> list[Clause]:
    """Return what modules in a row are that are branches, or each of which holds the branches.

    ``5 blocks of 2 branches of 7 convolutions side by side``. Nothing for others: where a branch
    takes what another one gives, or has other layers than it.
    """
    scope = [piece for module in row for piece in module.pieces]
    if any(one.kind not in MINOR or one.fold[1] > 1 or one.uses > 1 for one in scope):
        return []
    stages = [*_list_stages(row)]
    if not all(stages):
        return []
    clauses = []
    for text, alike in groupby(stages, key=lambda stage: _write(outline, stage)):
        found = [*alike]
        told = text if len(found) == 1 else f"{len(found):,} blocks of {text}"
        pieces = [piece for stage in found for branch in stage for piece in branch.pieces]
        clauses.append(Clause(told, tuple(pieces)))
    return clauses


def _list_stages(row: Sequence[Module]) -> Iterator[list[Module]]:
    """Yield the branches of each stage: what one module holds, or modules that follow one another.

    Nothing in place of what is no stage.
    """
    place = 0
    while place < len(row):
        inner = _list_inner(row[place])
        if inner:
            yield inner if are_branches(inner) else []
            place += 1
            continue
        end = place + 1
        while end < len(row) and not _list_inner(row[end]) and are_branches(row[place : end + 1]):
            end += 1
        yield [*row[place:end]] if end - place > 1 else []
        place = end


def are_branches(row: Sequence[Module]) -> bool:
    """Return whether modules of the same layers stand side by side."""
    if len(row) < 2 or len({_find_shape(module) for module in row}) > 1:
        return False
    if len(row[0].pieces) < _LEAST_LAYERS or len({one.kind for one in row[0].pieces}) > 1:
        return False
    return not any(
        piece.part.follows(other.part)
        for one in row
        for two in row
        if one is not two
        for piece in two.pieces
        for other in one.pieces
    )


def _list_inner(module: Module) -> list[Module]:
    """Return the modules in one, where they are all that it holds."""
    while len(module.inner) == 1:
        module = module.inner[0]
    are_modules = all(one.kind == "scope" for one in module.inner)
    return module.inner if are_modules else []


def _find_shape(module: Module) -> tuple[object, ...]:
    return tuple(piece.token for piece in module.pieces)


def _write(outline: Outline, branches: Sequence[Module]) -> str:
    pieces = branches[0].pieces
    layers = count_pieces(len(pieces), name_kind(outline, pieces[:1]))
    return f"{len(branches):,} branches of {layers} side by side"
