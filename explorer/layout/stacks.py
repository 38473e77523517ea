"""Stacks of blocks in what is closed: where they are, and which of them are alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.grouping import Group
from netloupe.explorer.view import BORDER, Item, View, strip_numbers

from .opening_worth import is_worth_a_frame

#: stacks of as many like blocks are opened together where they have this share of the largest
#: one's nodes
_AS_LARGE = 0.5


class Stack(NamedTuple):
    """A repeat inside a closed item, and the groups to open on the way from the one to the other.

    The way begins with the item's own group and ends with the repeat.
    """

    item: Item
    way: tuple[Group, ...]

    @property
    def group(self) -> Group:
        """The repeat."""
        return self.way[-1]


def find_stacks(item: Item, around: Group) -> Iterator[Stack]:
    """Yield the repeats of groups in a closed item's group that are in no other repeat."""
    pending = [around]
    while pending:
        group = pending.pop()
        if group.is_beside:
            continue
        if group.kind != "repeat":
            pending += reversed(group.inner_groups())
        elif _is_stack_of_blocks(group):
            way = [group]
            while way[-1] is not around:
                outer = way[-1].parent
                assert outer is not None  # noqa: S101 - it is inside
                way.append(outer)
            yield Stack(item, tuple(reversed(way)))


def _is_stack_of_blocks(repeat: Group) -> bool:
    block = repeat.children[repeat.exemplar]
    return isinstance(block, Group) and is_worth_a_frame(block)


def is_in_stack(item: Item) -> bool:
    """Return whether an item is inside of a repetition."""
    outer = item.parent
    while outer is not None and outer.repeat is None:
        outer = outer.parent
    return outer is not None


def are_alike(stack: Stack, largest: Stack) -> bool:
    """Return whether a stack has blocks like those of the largest, and as many of them."""
    block, other = (one.group.children[one.group.exemplar] for one in (stack, largest))
    return (
        isinstance(block, Group)
        and isinstance(other, Group)
        and len(stack.group.children) == len(largest.group.children)
        and (strip_numbers(block.label), block.type_name)
        == (strip_numbers(other.label), other.type_name)
        and stack.group.node_count >= _AS_LARGE * largest.group.node_count
    )


def are_side_by_side(view: View, items: list[Item]) -> bool:
    """Return whether items stand in the same one, and no value goes from one to another."""
    outer = items[0].parent
    if outer is None or len({*items}) < len(items) or any(one.parent is not outer for one in items):
        return False
    numbers = {child: number for number, child in enumerate(outer.children)}
    following: dict[int, list[int]] = {}
    for link in view.links(outer):
        following.setdefault(link.source, []).append(link.target)
    towers = {numbers[item] for item in items}
    for tower in towers:
        pending, seen = [*following.get(tower, ())], {BORDER}
        while pending:
            number = pending.pop()
            if number in towers:
                return False
            if number not in seen:
                seen.add(number)
                pending += following.get(number, ())
    return True
