"""Blocks of a row of modules that a class alone names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from netloupe.explorer.notation import write_count

from .clause import MINOR, Clause
from .module_names import tell_noun
from .modules import Module

_ATTENDING = frozenset({"attention", "transformer"})


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
