"""What is open in a view, apart from the view: to keep it, to compare it, to open it again."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Node

from .item import Item

#: of more siblings than this only those at equal places are taken for alike
MOST_COMPARED = 2000

_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class RepetitionOpenState:
    """What is open in one repetition.

    Parameters
    ----------
    keys
        Of the open items, outer ones before inner ones.
    unrolled
        Those of repeats of which all repetitions are shown.
    shown
        By the key of a repeat among them, the index of the repetition that is shown.
    """

    keys: tuple[str, ...] = ()
    unrolled: frozenset[str] = frozenset()
    shown: Mapping[str, int] = field(default_factory=dict)


class OpenState(NamedTuple):
    """What is open in a view.

    Parameters
    ----------
    keys, unrolled, shown
        As for :class:`RepetitionOpenState`; repeats that are closed have their repetition too.
    shown_shapes
        By the path of a graph, the paths of the shape arithmetic that is drawn there.
    shows_shapes
        Whether it is drawn in graphs that are opened later too.
    repetitions
        By the key of a repeat and the index of a repetition, what was open in this one when it
        was last shown.
    """

    keys: tuple[str, ...]
    unrolled: frozenset[str]
    shown: Mapping[str, int]
    shown_shapes: Mapping[str, frozenset[str]]
    shows_shapes: bool
    repetitions: Mapping[str, Mapping[int, RepetitionOpenState]]


def read_repetition_open_state(items: Sequence[Item]) -> RepetitionOpenState:
    """Return what is open among items and in them."""
    found = list(list_open(items))
    return RepetitionOpenState(
        tuple(item.key for item in found),
        frozenset(item.key for item in found if item.is_unrolled),
        {item.key: item.shown for item in found if item.repeat is not None},
    )


def list_open(items: Sequence[Item]) -> Iterator[Item]:
    """Yield the open ones among items and what is open in them, outer ones before inner ones."""
    pending = [item for item in reversed(items) if item.is_open]
    while pending:
        item = pending.pop()
        yield item
        pending.extend(child for child in reversed(item.children) if child.is_open)


def pair_alike(ours: Sequence[Item], theirs: Sequence[Item]) -> Iterator[tuple[Item, Item]]:
    """Yield the items of one repetition that can be opened, with their like in another one.

    Repetitions that differ a little are aligned by what their items do.
    """
    ours = [item for item in ours if item.openable]
    theirs = [item for item in theirs if item.openable]
    our_kinds, their_kinds = list(map(_role, ours)), list(map(_role, theirs))
    if our_kinds == their_kinds:
        yield from zip(ours, theirs, strict=True)
    elif max(len(ours), len(theirs)) <= MOST_COMPARED:
        matcher = difflib.SequenceMatcher(None, our_kinds, their_kinds, autojunk=False)
        for block in matcher.get_matching_blocks():
            for step in range(block.size):
                yield ours[block.a + step], theirs[block.b + step]
    else:
        for our, their, one, other in zip(ours, theirs, our_kinds, their_kinds, strict=False):
            if one == other:
                yield our, their


def _role(item: Item) -> tuple[str, ...]:
    return (item.kind, item.label) if item.kind == "branch" else sibling_key(item)


def sibling_key(item: Item) -> tuple[str, ...]:
    """Return what siblings that do the same have in common: label without numbers, or op."""
    element = item.element
    if isinstance(element, Group):
        return ("group", strip_numbers(element.label), element.type_name)
    if isinstance(element, Node):
        return ("node", element.domain, element.op_type, element.overload)
    return (item.kind, item.path)


def strip_numbers(label: str) -> str:
    """Return a label with ``#`` in place of each number."""
    return _DIGITS.sub("#", label)
