"""The blocks in a row of modules, whatever lists and stages an author put them in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from netloupe.explorer.grouping.group import Group

from .clause import MINOR
from .modules import Module, run_on
from .outline import Outline
from .sizes import weigh_matrices

#: a list of blocks has so large a share of the weights of what holds it, beside what makes maps
#: smaller before it, and all blocks of those of a row
_LEAST_OF_MODULE = 0.35
_LEAST_OF_ROW = 0.6
#: between the names of groups of which the picture draws one
_CHAIN = " / "
#: what the members of a list are called but for their numbers
_LISTED = "#"
#: kinds of group that the picture makes of an author's
_FOLDS = frozenset({"block", "repeat"})
#: the number of a stage and of a block in it, as names of modules have them
_IN_STAGE = re.compile(r"\w\.\d+\.\d+$")


class Unit(NamedTuple):
    """A block of a stack, and the stage that it is in; None where there is none."""

    module: Module
    stage: Group | str | None


def find_units(outline: Outline, row: Sequence[Module]) -> list[Unit]:
    """Return the blocks of modules in a row: of one that holds a list of blocks those of the list.

    Nothing where they hold too little of the weights, or are single layers.
    """
    found = [
        Unit(one, stage)
        for module in row
        for stage in (_find_stage(outline, module),)
        for one in _open(outline, module)
    ]
    if any(unit.stage is None for unit in found):
        numbered = _number_stages(outline, row)
        if numbered:
            found = numbered
        elif not run_on([unit.module for unit in found]):
            found = [Unit(module, None) for module in row]  # others are parts of layers
    blocks = [unit for unit in found if is_block(unit.module)]
    if _are_parts(blocks):
        is_whole = len(row) == len({unit.stage for unit in blocks})
        blocks = [Unit(module, None) for module in (row if is_whole else _join_parts(found))]
    if len({unit.stage is None for unit in blocks}) > 1:  # some may be stages of one block
        blocks = [Unit(unit.module, None) for unit in blocks]
        if len({_find_shape(unit.module) for unit in blocks}) > 1:
            return []
    held = sum(weigh_module(outline, unit.module) for unit in blocks)
    whole = sum(weigh_module(outline, module) for module in row)
    return blocks if held >= _LEAST_OF_ROW * whole else []


def _are_parts(units: Sequence[Unit]) -> bool:
    """Return whether stages hold the parts of a block each: the same different things in order.

    So are attention and MLP in a list of a layer of their own. Blocks of a stage are alike, or
    differ from those of another stage.
    """
    stages = [
        [_find_shape(unit.module) for unit in stage]
        for _, stage in groupby(units, key=lambda unit: unit.stage)
    ]
    counts = {len(stage) for stage in stages}
    widths = {unit.module.pieces[-1].part.out_features for unit in units} - {0}
    if len(stages) < 2 or len(counts) > 1 or len(widths) > 1:
        return False
    # the first layer may hold what an exporter put there
    common = [frozenset.intersection(*parts) for parts in zip(*stages, strict=True)]
    return all(common) and len({*common}) > 1


def _join_parts(units: Sequence[Unit]) -> Iterator[Module]:
    """Yield blocks of which some units are the parts, small steps among them."""
    for stage, found in groupby(units, key=lambda unit: unit.stage):
        inner = [unit.module for unit in found]
        pieces = [piece for module in inner for piece in module.pieces]
        yield Module(stage if isinstance(stage, Group) else None, "", pieces, inner)


def _number_stages(outline: Outline, row: Sequence[Module]) -> list[Unit]:
    """Return blocks that are called by the numbers of their stages and their own: ``stages.2.0``.

    Those of a stage that the picture folds are modules of the row, those of another one are in it.
    Nothing where one is called otherwise.
    """
    found = []
    for module in row:
        inner = [] if _IN_STAGE.search(module.label) else [*_open(outline, module)]
        for one in inner or [module]:
            name = one.label if _IN_STAGE.search(one.label) else f"{module.label}.{one.label}"
            if not _IN_STAGE.search(name):
                return []
            found.append(Unit(one, name.rpartition(".")[0]))
    lists = {str(unit.stage).rpartition(".")[0] for unit in found}
    return found if len(lists) == 1 else []


def count_in_stages(units: Sequence[Unit]) -> list[int]:
    """Return how many blocks each stage has; nothing where there are none, or of one block each."""
    counts = [len([*stage]) for _, stage in groupby(units, key=lambda unit: unit.stage)]
    are_stages = 1 < len(counts) < len(units) and all(unit.stage is not None for unit in units)
    return counts if are_stages else []


def is_block(module: Module) -> bool:
    """Return whether a module is more than one small layer."""
    return len(module.pieces) > 1 or module.pieces[0].kind not in MINOR


def weigh_module(outline: Outline, module: Module) -> int:
    """Return how many weights the blocks of a module have."""
    return sum(weigh_matrices(outline, piece.parts) for piece in module.pieces)


def _find_shape(module: Module) -> frozenset[tuple[str, str]]:
    """Return what a block holds but small steps; alike blocks hold the same."""
    return frozenset((piece.kind, piece.name) for piece in module.pieces if piece.kind not in MINOR)


def _open(outline: Outline, module: Module) -> Iterator[Module]:
    inner = _find_list(outline, module)
    if not inner or _are_branches(inner):
        yield module
        return
    for one in inner:
        yield from _open(outline, one)


def _are_branches(row: Sequence[Module]) -> bool:
    """Return whether no module of a list takes what another one gives: all are parts of a block."""
    return not any(
        piece.part.follows(one.pieces[-1].part)
        for one, two in pairwise(row)
        for piece in two.pieces
    )


def _find_list(outline: Outline, module: Module) -> list[Module]:
    """Return the blocks in a module that are numbered, or in the one list that it holds.

    Those of a list may be of several classes; lists beside one another hold the parts of a block.
    """
    if len(module.inner) == 1:
        return _find_list(outline, module.inner[0])
    alike: dict[tuple[str, str], list[Module]] = {}
    for one in module.inner:
        if "#" in one.mask and is_block(one) and not one.is_repeat:
            key = one.mask, "" if one.mask == _LISTED else one.type_name
            alike.setdefault(key, []).append(one)
        elif one.group is not None:
            inside = _find_list(outline, one)
            if inside:
                alike.setdefault(_find_key(one, inside), []).extend(inside)
    rows = [found for found in alike.values() if len(found) > 1]
    row = max(rows, key=lambda found: sum(weigh_module(outline, one) for one in found), default=[])
    held = sum(weigh_module(outline, one) for one in row)
    return row if held and held >= _LEAST_OF_MODULE * weigh_module(outline, module) else []


def _find_key(module: Module, row: Sequence[Module]) -> tuple[str, str]:
    """Return what the blocks of a list within a module are told from those of others by."""
    mask = row[0].mask
    if module.is_repeat and _LISTED in (module.mask, mask):
        return _LISTED, ""  # of the list around it
    is_mixed = len({one.type_name for one in row}) > 1
    return mask, module.label if is_mixed else row[0].type_name


def are_of_one_list(row: Sequence[Module]) -> bool:
    """Return whether modules are members of one list, and none of another one within it.

    Of a stage that is nothing but a list of blocks the picture draws the blocks beside the stages.
    """
    lists = set()
    for module in row:
        group = module.group.parent if module.group is not None else None
        while group is not None and group.kind in _FOLDS and _CHAIN not in group.label:
            group = group.parent
        lists.add(group)
    return len(lists) == 1


def find_own_stage(module: Module) -> Group | None:
    """Return the group that is the stage of a block: it has the names of stage and list.

    ``0 / blocks / 0 … 3``; None for others.
    """
    group = module.group.parent if module.group is not None else None
    return group if group is not None and _CHAIN in group.label else None


def _find_stage(outline: Outline, module: Module) -> Group | None:
    """Return the group that is a stage: one that holds blocks, or of which a module is a block.

    Repetitions that the picture folds are none.
    """
    if not _find_list(outline, module):
        return find_own_stage(module)
    while module.kind in _FOLDS and len(module.inner) == 1:
        module = module.inner[0]
    is_fold = module.kind in _FOLDS and _CHAIN not in module.label
    return None if is_fold else module.group
