"""After which block of a closed stack a value leaves: not all of them follow from its last one.

A. Hatamizadeh and others, UNETR, 2022, figure 2: skips leave a transformer behind its blocks 3, 6
and 9. Lines that all begin at the end of one box would say that they have been through all of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from netloupe.explorer.grouping import Group, GroupTree
from netloupe.explorer.model import Value

from .item import BORDER, Item, Link
from .view import View

#: a name of more letters is one of a module in modules, and its number says as much
_LONGEST = 24
#: of more users of a value the others are not asked
_MOST_USERS = 50


def name_inner_exits(view: View, item: Item, links: Sequence[Link]) -> dict[int, str]:
    """Return after which block values leave closed stacks, by number of the link.

    Nothing of what the last block gives, of blocks beside each other, of several values in one
    line, and of loops, whose steps hand on what they give.

    Parameters
    ----------
    view
        What the item is shown in.
    item
        An open item.
    links
        Those between its children.
    """
    found: dict[int, str] = {}
    for number, link in enumerate(links):
        if link.source == BORDER or link.bundle or link.kind != "data":
            continue
        giver = item.children[link.source]
        if giver.repeat is None or giver.is_open or giver.repeat.is_loop:
            continue
        name = _name_exit(giver.repeat, link.value, view.borders(link.value.graph).tree)
        if name:
            found[number] = name
    return found


def _name_exit(repeat: Group, value: Value, tree: GroupTree) -> str:
    """Return ``after blocks.3`` for what an inner block hands to the next one; "" for others."""
    blocks = repeat.inner_groups()
    position = tree.position_of(value.producer) if value.producer is not None else -1
    if len(blocks) != len(repeat.children) or not repeat.low <= position < repeat.high:
        return ""
    place = bisect_right(blocks, position, key=lambda one: one.low) - 1
    behind = blocks[place + 1 :]
    users = [tree.position_of(u) for u in value.users[:_MOST_USERS] if u.graph is tree.graph]
    if not any(block.low <= user < block.high for block in behind[:1] for user in users):
        return ""
    label = blocks[place].label
    is_named = label and not label.isdecimal() and len(label) <= _LONGEST
    is_own = [block.label for block in blocks].count(label) == 1
    return f"after {label}" if is_named and is_own else f"after {place + 1:,} of {len(blocks):,}"
