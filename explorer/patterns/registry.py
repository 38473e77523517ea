"""The patterns that netloupe looks for: its own, and those that installed packages add."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from typing import Literal

from netloupe.explorer.entry_points import EntryPointGroup, explain_in_line
from netloupe.explorer.operators import OPERATOR_FAMILIES
from netloupe.explorer.progress import is_ending, step

from .details import BlockDetails
from .found_blocks import FoundBlock, FoundBlocks
from .known_patterns import PATTERNS
from .pattern import Pattern

_ID = r"[a-z][a-z0-9]*(-[a-z0-9]+)*"
#: what blocks may be coloured as
FAMILIES = (*OPERATOR_FAMILIES, "group")


#: what blocks are coloured as, by kind
_FAMILIES = {kind: pattern.family for pattern in reversed(PATTERNS) for kind in pattern.kinds}
#: by id, the patterns that installed packages added
_ADDED: dict[str, Pattern] = {}
#: the ids of those that failed; they are not asked again
_FAILED: set[str] = set()


def list_added(extent: Literal["part", "whole"]) -> list[Pattern]:
    """Return the patterns that installed packages added, in the order of their ids."""
    PLUGINS.load()
    return [_ADDED[name] for name in sorted(_ADDED) if _ADDED[name].extent == extent]


def find_by(pattern: Pattern, blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Yield what a pattern of an installed package finds.

    One that fails is told of once, as a warning, and is left out from then on: its mistake costs
    the names that it gives, and nothing else.
    """
    if pattern.id in _FAILED:
        return
    try:
        for found in pattern.find(blocks):
            step()
            _check(pattern, found, len(blocks.operations))
            yield found
    except Exception as error:  # it is the code of others
        if is_ending(error):
            raise
        _FAILED.add(pattern.id)
        logging.getLogger("netloupe").warning(
            "netloupe: warning: pattern %s fails and is left out: %s",
            pattern.id,
            explain_in_line(error),
        )


def is_kind_of_ours(kind: str) -> bool:
    """Return whether patterns of netloupe itself find blocks of a kind."""
    return kind in _FAMILIES


def find_block_family(kind: str) -> str:
    """Return what a block of a kind is coloured as: a family of operators, or ``group``."""
    if kind in _FAMILIES:
        return _FAMILIES[kind]
    added = [*list_added("part"), *list_added("whole")]
    return next((pattern.family for pattern in added if kind in pattern.kinds), "group")


def forget_added(*, is_done: bool = False) -> None:
    """Forget what installed packages added; it is asked for again unless that is done."""
    _ADDED.clear()
    _FAILED.clear()
    PLUGINS.forget(is_done=is_done)


def _check(pattern: Pattern, found: object, count: int) -> None:
    """Raise a TypeError or ValueError where what a pattern yields is no block of these."""
    if not isinstance(found, FoundBlock):
        raise TypeError(f"yields a {type(found).__name__}. Let it yield a FoundBlock")
    if found.kind not in pattern.kinds:
        raise ValueError(f"yields the kind {found.kind!r}. Name it among its kinds")
    _check_block(found, frozenset(range(count)))
    if pattern.extent == "whole" and len(found.numbers) < count:
        raise ValueError("yields a block of some operations. Let its extent be part")


def _check_block(found: FoundBlock, allowed: frozenset[int]) -> None:
    """Raise a TypeError or ValueError where a block, or a part of it, is not of some numbers."""
    if not isinstance(found.numbers, frozenset):
        raise TypeError(f"yields numbers in a {type(found.numbers).__name__}. Give a frozenset")
    if not found.numbers or not found.numbers <= allowed or found.end not in found.numbers:
        raise ValueError("yields numbers of no operations, or an end that is none of them")
    if not isinstance(found.name, str) or not found.name:
        raise TypeError(f"yields the name {found.name!r}. Give a text")
    if not isinstance(found.facts, tuple) or not all(isinstance(f, str) for f in found.facts):
        raise TypeError(f"yields the facts {found.facts!r}. Give texts in a tuple")
    if not isinstance(found.details, BlockDetails):
        raise TypeError(f"yields details in a {type(found.details).__name__}. Give BlockDetails")
    if not isinstance(found.parts, tuple):
        raise TypeError(f"yields parts in a {type(found.parts).__name__}. Give a tuple")
    for each in found.parts:
        if not isinstance(each, FoundBlock):
            raise TypeError(f"yields a {type(each).__name__} among parts. Give FoundBlocks")
        _check_block(each, found.numbers)


def _accept(given: object, name: str) -> list[str]:
    """Add what an entry point gives, and return what is wrong with it."""
    each = [given] if isinstance(given, Pattern) else given
    if not isinstance(each, Iterable) or isinstance(each, str):
        kind = type(given).__name__
        return [f"{name}: gives a {kind}. Let it give a Pattern, or several in a list"]
    problems: list[str] = []
    for number, pattern in enumerate(each):
        if not isinstance(pattern, Pattern):
            problems.append(f"{name}: number {number} is a {type(pattern).__name__}, no Pattern")
            continue
        found = [*_list_problems(pattern)]
        problems += [f"{name}: pattern {pattern.id!r}: {problem}" for problem in found]
        if not found:
            _ADDED[pattern.id] = pattern
    return problems


def _list_problems(pattern: Pattern) -> Iterator[str]:
    if not isinstance(pattern.id, str) or not re.fullmatch(_ID, pattern.id):
        yield "its id is to be of small letters, digits and hyphens"
    elif pattern.id in _ADDED or any(pattern.id == known.id for known in PATTERNS):
        yield "there is one of this id already"
    if not callable(pattern.find):
        yield "find is to be a function"
    if pattern.extent not in ("part", "whole"):
        yield f"extent is {pattern.extent!r}. It may be part or whole"
    if (
        not isinstance(pattern.kinds, tuple)
        or not pattern.kinds
        or not all(isinstance(kind, str) and kind for kind in pattern.kinds)
    ):
        yield "kinds is to be a tuple of texts, of what its blocks are"
    if pattern.family not in FAMILIES:
        yield f"family is {pattern.family!r}. It may be {', '.join(FAMILIES)}"


PLUGINS = EntryPointGroup("netloupe.patterns", _accept)
