"""Steps and numbered modules that take turns: ``unpooling, convolutions, unpooling, …``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .clause import MINOR, Clause
from .counted_words import count_pieces
from .modules import Module
from .outline import Outline
from .piece_words import name_piece
from .row_names import name_row
from .stage_clauses import write_staged

#: what takes turns does so at least so often
_LEAST_TURNS = 3


def find_alternation(modules: Sequence[Module]) -> tuple[int, int]:
    """Return where modules begin and end of which each stands behind a step of one kind.

    Nothing where there are not three such pairs, or where steps are no more than layers between
    modules, which are left out.
    """
    best = (0, 0)
    place = 0
    while place < len(modules):
        end = place
        while _is_turn(modules, place, end):
            end += 2
        if end - place > best[1] - best[0]:
            best = (place, end)
        place = max(end, place + 1)
    return best if best[1] - best[0] >= 2 * _LEAST_TURNS else (0, 0)


def _is_turn(modules: Sequence[Module], start: int, place: int) -> bool:
    """Return whether a step and a module stand at a place that are alike those at the start."""
    if place + 1 >= len(modules):
        return False
    step, block = modules[place], modules[place + 1]
    if step.group is not None or len(step.pieces) != 1 or step.pieces[0].kind in MINOR:
        return False
    is_row = "#" in block.mask and block.mask == modules[start + 1].mask
    return is_row and step.pieces[0].token == modules[start].pieces[0].token


def tell_alternation(outline: Outline, modules: Sequence[Module]) -> Clause | None:
    """Return stages of convolutions, each behind a step, as the decoder of a SegNet has them.

    V. Badrinarayanan and others, SegNet, 2017, figure 2. None where modules hold anything else.
    """
    steps = [module.pieces[0] for module in modules[::2]]
    blocks = modules[1::2]
    rows = [block.pieces for block in blocks]
    once = {piece.uses for row in rows for piece in row} | {piece.uses for piece in steps}
    if any(piece.kind != "conv" for row in rows for piece in row) or once != {1}:
        return None
    if any(row[0].part.place < step.part.place for step, row in zip(steps, rows, strict=True)):
        return None
    scope = [piece for row in rows for piece in row]
    told = write_staged(outline, rows, scope, is_numbered=True)
    nouns = {name_piece(outline, [step]) for step in steps}
    text = f"{told.text}, each behind one of {count_pieces(len(steps), nouns.pop())}"
    whole = tuple(piece for module in modules for piece in module.pieces)
    return replace(told, text=text, name=name_row(blocks), scope=whole, is_plain=False)
