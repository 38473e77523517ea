"""How far a first view is opened: limits, and what may be opened within one."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.branches import is_summed
from netloupe.explorer.model import Node
from netloupe.explorer.patterns import Recognition
from netloupe.explorer.roles import find_roles
from netloupe.explorer.view import Item, is_recursive

from .opening_worth import (
    find_recognition,
    is_called_after_parts,
    is_called_block,
    is_told_by_face,
    list_kinds_inside,
)
from .stacks import is_in_stack

#: as many boxes as a figure has at most
MOST_BOXES = 26


class Limit(NamedTuple):
    """What may be opened, and how far.

    Parameters
    ----------
    below
        Groups are opened while there are fewer boxes than this.
    boxes, zoom
        No group is opened that makes more boxes, or a picture that fits at a smaller zoom only.
    only_stacks
        Whether only repeats, and groups that hold one, are opened.
    in_columns
        Whether the picture may be cut into columns, where that makes it larger.
    in_blocks
        Whether what is inside the repetition that is shown of a repeat is opened too, and
        blocks of a known kind, which their name and facts say more of than their nodes do. What
        shows single nodes that only arrange then remains closed.
    with_lists
        Whether also what shows a few operations one behind another is opened, or nothing new.
    is_last
        Whether a frame may be around a single box.
    """

    below: int
    boxes: int
    zoom: float
    only_stacks: bool = False
    in_columns: bool = False
    in_blocks: bool = False
    with_lists: bool = False
    is_last: bool = False


#: for all else, one after the other: a picture of few boxes says too little
LIMITS = (
    Limit(1_000_000, MOST_BOXES, 0.85, only_stacks=True, in_columns=True),
    Limit(1_000_000, MOST_BOXES, 0.85),
    Limit(9, 30, 0.65, in_blocks=True),
    Limit(6, 30, 0.5, in_blocks=True, with_lists=True),
    Limit(4, 60, 0.2, in_blocks=True, with_lists=True),
    Limit(3, 400, 0.0, in_blocks=True, with_lists=True, is_last=True),
)
#: families of blocks that say nothing more when they are open
_DETAILS = frozenset(("activation", "normalization"))


def find_kind(element: object) -> str:
    """Return what a block or the blocks of a stack are, or else the author's type; "" for none."""
    recognition = find_recognition(element)
    if recognition is not None:
        return recognition.name
    return element.type_name if isinstance(element, Group) else ""


def are_seen_closed(items: list[Item], shown: Counter[str]) -> bool:
    """Return whether blocks of the kind of some recognised ones are also closed elsewhere."""
    names = Counter(
        recognition.name
        for item in items
        if (recognition := recognise_block(item.element)) is not None and not item.repeat
    )
    return any(shown[name] > count for name, count in names.items())


def recognise_block(element: object) -> Recognition | None:
    """Return what something is, where that is one thing with a name."""
    recognition = find_recognition(element)
    return None if recognition is None or recognition.family == "group" else recognition


def count_new_kinds(items: list[Item], shown: Counter[str]) -> int:
    """Return how many kinds of box are seen where some are opened, and nowhere else.

    ``shown`` are those of all closed boxes, these among them.
    """
    found: set[str] = set()
    for item in items:
        inside = list_kinds_inside(item)
        if inside is None:
            return 1
        found |= inside
    return sum(not shown[kind] for kind in found)


def may_open(item: Item, limit: Limit) -> bool:
    """Return whether an item may be opened within a limit."""
    if not item.openable or item.is_terminal or is_recursive(item):
        return False
    repeat = item.repeat
    shown = repeat.children[item.shown] if repeat is not None else None
    if isinstance(shown, Node) and not is_called_block(shown):
        return False  # one node of many tells no more than the stack
    if repeat is not None and is_summed(repeat):
        return False  # it is a branch, and no step
    if isinstance(item.element, Group) and _stays_closed(item.element):
        return False
    if is_told_by_face(item.element) and not (
        limit.with_lists and is_called_after_parts(item.element)
    ):
        return False
    if limit.only_stacks and not holds_repeat(item):
        return False
    return limit.in_blocks or not (is_in_stack(item) or is_known_block(item.element))


def _stays_closed(group: Group) -> bool:
    """Return whether a group is an operation, or a detail of a model too large to be all open.

    Details are what is beside the body, normalizations and activations.
    """
    if group.kind == "operation":
        return True
    recognition = group.recognised
    if not group.is_beside and (recognition is None or recognition.family not in _DETAILS):
        return False
    root = group
    while root.parent is not None:
        root = root.parent
    return root.node_count > LIMITS[0].boxes


def is_known_block(element: object) -> bool:
    """Return whether something is a block such as attention, MLP, norm or ``Conv · ReLU``.

    So is a call of a function that is one.
    """
    return recognise_block(element) is not None


def shows_arrangement(item: Item) -> bool:
    """Return whether an open block of a known kind shows single nodes that only arrange values."""
    return is_known_block(item.element) and any(
        isinstance(child.element, Node)
        and find_roles(child.element.graph).of(child.element) in ("arrangement", "preparation")
        for child in item.children
    )


def holds_repeat(item: Item) -> bool:
    """Return whether an item is a repeat, or a group with one in it at any depth."""
    pending = [item.element] if isinstance(item.element, Group) else []
    for group in pending:
        if group.kind == "repeat":
            return True
        pending += group.inner_groups()
    return False
