"""Which differences are alike, so that they are told together."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.lookup import find_tree
from netloupe.explorer.model import Node
from netloupe.explorer.progress import step

from .changes import Change

if TYPE_CHECKING:
    from .changed_elements import NodeDifference, TensorDifference

_Element = TypeVar("_Element")

#: what exporters number names with, where they have one twice
_NUMBERS = re.compile(r"[._]?\d+")
_LONGEST = 200
_STEP = 1_000
_VERSIONS = ("IR version", "opset of ", "format")
#: changes of operands name values, which exporters number
_OF_OPERANDS = ("input ", "control input ", "output ")


def fold(
    elements: Iterable[_Element], key: Callable[[_Element], Hashable]
) -> Iterator[list[_Element]]:
    """Yield what is alike together, in the order of the first ones."""
    alike: dict[Hashable, list[_Element]] = {}
    for number, element in enumerate(elements):
        if not number % _STEP:
            step()
        alike.setdefault(key(element), []).append(element)
    yield from alike.values()


def mask(path: str) -> str:
    """Return a path without what exporters number names with."""
    return _NUMBERS.sub("", path[:_LONGEST])


def is_version(change: Change) -> bool:
    """Return whether models differ in the version of something that they are written in."""
    return change.what.startswith(_VERSIONS)


def list_nodes_alone(group: Group, alone: set[Node]) -> list[Node]:
    """Return the nodes of a group that are told to be without a partner."""
    tree = find_tree(group.graph.model, group.graph)
    return [node for node in tree.order[group.low : group.high] if node in alone]


def differs_in_type(one: NodeDifference) -> bool:
    """Return whether all that differs follows from what is around a node: the types it states."""
    return all(change.aspect or change.what.startswith("type of ") for change in one.changes)


def key_node(one: NodeDifference) -> Hashable:
    """Return what is equal for nodes that differ in the same."""
    told = []
    for change in one.changes:
        if change.aspect:
            continue
        sides = repr(change.left), repr(change.right)
        if change.what.startswith(_OF_OPERANDS):
            sides = mask(sides[0]), mask(sides[1])
        told.append((change.what, *sides))
    return one.pair.right[0].op_type, *told


def key_weight(one: TensorDifference) -> Hashable:
    """Return what is equal for weights that differ in the same, at alike places."""
    real = ((c.what, repr(c.left), repr(c.right)) for c in one.changes if not c.aspect)
    path = mask(one.left.path) if one.part is None else one.left.path
    return path, one.numbers is not None, one.are_unread, *real
