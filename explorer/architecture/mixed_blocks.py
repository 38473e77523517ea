"""Blocks of one stack that are not all alike: how many there are, and how many hold what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from typing import NamedTuple

from netloupe.explorer.grouping.group import Group
from netloupe.explorer.notation import write_count

from .clause import MINOR, Clause
from .module_names import tell_noun
from .modules import Module
from .outline import Outline
from .piece_words import count_pieces, join_with_and, name_piece
from .pieces import Piece
from .sketch import write_row

#: of fewer blocks each is told
_LEAST_BLOCKS = 4
#: of blocks of more kinds it is not told which are alike
_MOST_KINDS = 3
#: and of one that holds more different things it is not told which
_MOST_HELD = 3
#: what a block is told to hold if it holds nothing that tells more
_TELLING_STEPS = frozenset({"conv", "excitation"})

_ATTENDING = frozenset({"attention", "transformer"})
#: between the names of groups of which the picture draws one
_CHAIN = " / "

#: what is in a block: each kind by its name, and how often
_Held = tuple[tuple[str, int], ...]


class _Unit(NamedTuple):
    """A block of a stack: its pieces, and the stage that it is in; None where there is none."""

    pieces: tuple[Piece, ...]
    stage: Group | None


def tell_mixed_blocks(outline: Outline, row: Sequence[Module]) -> Clause | None:
    """Return how many blocks there are in a row of modules, and what is in each of them.

    Blocks that hold the same are told together: ``10 blocks (7 of depthwise convolution and SwiGLU,
    3 of grouped-query attention and SwiGLU)``. Modules that hold blocks are stages.

    Parameters
    ----------
    outline
        Of the graph.
    row
        The modules, in order.

    Returns
    -------
    Clause or None
        None where blocks are few, of many kinds, or stand for others, so that they are not counted.
    """
    pieces = tuple(piece for module in row for piece in module.pieces)
    if any(piece.fold[1] > 1 or piece.uses > 1 for piece in pieces):
        return None
    units = [
        _Unit(tuple(found), stage)
        for module in row
        for stage in (_find_stage(module),)
        for found in (one.pieces for one in _list_units(module))
    ]
    blocks = [unit for unit in units if any(piece.kind not in MINOR for piece in unit.pieces)]
    held = [_list_held(outline, unit.pieces) for unit in blocks]
    kinds = Counter(held)
    is_long = any(len(one) > _MOST_HELD for one in kinds)
    if len(blocks) < _LEAST_BLOCKS or len(kinds) > _MOST_KINDS or is_long:
        return None
    if len({noun for noun, _ in chain(*kinds)}) < len({*chain(*kinds)}):
        return None  # some of them may be stages that hold others
    counts = [len([*stage]) for _, stage in groupby(blocks, key=lambda unit: unit.stage)]
    are_stages = 1 < len(counts) < len(blocks) and all(unit.stage is not None for unit in blocks)
    if not are_stages and all(len(one) == 1 and one[0][1] == 1 for one in kinds):
        return None  # they are told by their kinds
    if are_stages:
        name = f"stages of {write_row(counts)} blocks"
    else:
        name = write_count(len(blocks), "block")
    texts = [_write_kind(one, count if len(kinds) > 1 else 0) for one, count in kinds.most_common()]
    # a part with a name is not counted again: it says of each of some blocks what it holds
    parts = tuple(Clause("", pieces, text) for text in texts)
    members = tuple(unit.pieces for unit in blocks)
    return Clause("", pieces, name, parts=parts, members=members)


def _find_stage(module: Module) -> Group | None:
    """Return the group that is a stage: one that holds blocks, or of which a module is a block.

    The latter has the names of the stage and of its list: ``0 / blocks / 0 … 3``.
    """
    group = module.group
    if group is None or (_find_list(module) and group.kind != "block"):
        return group
    return group.parent if group.parent is not None and _CHAIN in group.parent.label else None


def tell_named_blocks(row: Sequence[Module]) -> list[Clause]:
    """Return for modules in a row how many blocks they hold that their class alone names.

    Nothing of one that holds none, or whose blocks are of a kind that is known.
    """
    clauses = []
    for module in row:
        units = [*_list_units(module)]
        names = {tell_noun(unit.type_name) for unit in units}
        name = names.pop() if len(names) == 1 else ""
        is_once = all(piece.fold[1] == piece.uses == 1 for piece in module.pieces)
        is_unknown = all(piece.kind in MINOR or piece.kind == "mlp" for piece in module.pieces)
        if name and is_once and is_unknown and len(units) > 1:
            members = tuple(tuple(unit.pieces) for unit in units)
            text = write_count(len(units), name)
            clauses.append(Clause(text, tuple(module.pieces), members=members, is_class=True))
    return clauses


def _list_units(module: Module) -> Iterator[Module]:
    """Yield the blocks of a module; of one that holds no list of blocks all of it.

    A list of blocks has modules with numbers for names, in which all that tells is.
    """
    pending = [module]
    while pending:
        one = pending.pop()
        inner = _find_list(one)
        if inner:
            pending += inner[::-1]
        else:
            yield one


def _find_list(module: Module) -> list[Module]:
    """Return the blocks in a module, or the one list that holds them; nothing if it is a block."""
    telling = [one for one in module.inner if any(p.kind not in MINOR for p in one.pieces)]
    if module.group is None or not telling:
        return []
    if module.is_repeat or module.group.kind == "block":
        return telling
    if len(telling) == 1 and telling[0].group is not None:
        is_list = telling[0].is_repeat or bool(_find_list(telling[0]))
        return telling if is_list else []
    numbered = [one for one in telling if one.group is not None and one.mask.endswith("#")]
    is_alike = len({(one.mask, one.type_name) for one in numbered}) == 1
    others = [piece for one in telling if one not in numbered for piece in one.pieces]
    is_all = not others or (_attends(numbered) and not any(p.kind in _ATTENDING for p in others))
    return numbered if is_alike and is_all and len(numbered) > 1 else []


def _attends(modules: Sequence[Module]) -> bool:
    return all(any(piece.kind in _ATTENDING for piece in one.pieces) for one in modules)


def _list_held(outline: Outline, pieces: Sequence[Piece]) -> _Held:
    """Return what a block holds, without small steps where it holds something else to mix with."""
    telling = [piece for piece in pieces if piece.kind not in MINOR]
    if all(piece.kind == "mlp" for piece in telling):  # what mixes is among the steps
        steps = [piece for piece in pieces if piece.kind in _TELLING_STEPS]
        telling = [piece for piece in pieces if piece in telling or piece in steps]
    return tuple(Counter(name_piece(outline, [piece]) for piece in telling).items())


def _write_kind(held: _Held, count: int) -> str:
    told = [noun if number == 1 else count_pieces(number, noun) for noun, number in held]
    if not count:
        return f"each {join_with_and(told)}"
    if len(held) == 1 and held[0][1] == 1:
        return count_pieces(count, held[0][0])
    return f"{count:,} of {join_with_and(told)}"
