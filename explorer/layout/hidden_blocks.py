"""What of the closed boxes of a view may be shown open: stacks, and ideas that no name tells."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from netloupe.explorer.grouping import Group, list_nodes_inside
from netloupe.explorer.model import is_constant_node
from netloupe.explorer.patterns import WORK
from netloupe.explorer.view import View, strip_numbers

from .opening_limits import find_kind
from .opening_worth import PRODUCTS
from .shown_items import list_closed
from .shut_ideas import is_shut_idea
from .stacks import (
    HiddenBlock,
    find_hidden_ideas,
    find_hidden_stacks,
    is_boilerplate,
    is_in_stack,
    tell_rank,
)
from .telling import is_ordinary

#: so many stacks are tried, the largest first
_MOST_STACKS = 4
#: blocks without a name are shown where they have so many nodes, and this share of those of a block
#: of the largest stack; so many are tried
_LEAST_IDEA, _SHARE_OF_BLOCK, MOST_IDEAS = 8, 0.5, 3
#: of those that are called alike so many
_MOST_ALIKE = 3
#: blocks of more nodes are not looked at for what they only decide
_MOST_OF_LOGIC = 400
#: where a larger share of its nodes only picks and lays out, and some write, a block moves values
_MOST_MOVING = 0.5
#: what picks rows of a table
_LOOKUP = "Embedding"
#: several blocks are all that is around them where that has so few nodes besides
_MOST_OF_ROW = 0.8
#: what holds more of all nodes is the model, and no part of it
_MOST_OF_MODEL = 0.67


def list_stacks(view: View) -> list[HiddenBlock]:
    """Return the largest stacks in what is closed, those that say most first.

    None is of what decides by logic alone which of many places or boxes remain.
    """
    found: list[HiddenBlock] = []
    for item in list_closed(view.root):
        if isinstance(item.element, Group) and item.openable and not is_in_stack(item):
            found += find_hidden_stacks(item, item.element)
    found = [s for s in found if not (only_looks_up(s.group) or only_decides(s.group))]
    found = heapq.nlargest(2 * _MOST_STACKS, found, key=lambda stack: stack.group.node_count)
    if len(found) > 1:  # to tell what a stack is takes a look at many blocks
        found.sort(key=tell_rank)
    return found[:_MOST_STACKS]


def list_stacks_and_ideas(view: View, stacks: list[HiddenBlock]) -> list[HiddenBlock]:
    """Return stacks and ideas, those that say most first.

    A stack in an idea comes after it: the idea shows it, closed.
    """
    ideas = _list_ideas(view, stacks)
    around = {_tell_kind(idea.group): idea for idea in reversed(ideas)}
    order = {id(block): _tell_order(block.group) for block in (*stacks, *ideas)}
    for stack in stacks:
        for group in stack.way[:-1]:
            if _tell_kind(group) in around:
                outer = id(around[_tell_kind(group)])
                order[outer] = min(order[outer], order[id(stack)])
                order[id(stack)] = max(order[id(stack)], order[outer] + 1)
    for idea in ideas:  # one of several says more than the row of them
        row = around.get(_tell_kind(idea.way[-2])) if len(idea.way) > 1 else None
        if row is not None and _is_row_of(row.group, idea.group):
            order[id(row)] = max(order[id(row)], order[id(idea)] + 1)
    return sorted([*stacks, *ideas], key=lambda block: order[id(block)])


def _list_ideas(view: View, stacks: list[HiddenBlock]) -> list[HiddenBlock]:
    """Return the blocks without a name that are as large as half a block of a stack.

    What is of the kind of a stack's blocks is no idea of its own, nor is what is in such.
    """
    sizes = [
        block.node_count
        for stack in stacks
        if isinstance(block := stack.group.children[stack.group.exemplar], Group)
    ]
    least = max(_LEAST_IDEA, int(_SHARE_OF_BLOCK * max(sizes, default=0)))
    found: list[HiddenBlock] = []
    for item in list_closed(view.root):
        if isinstance(item.element, Group) and item.openable and not is_in_stack(item):
            found += find_hidden_ideas(item, item.element, least)
    kinds = {find_kind(stack.group.children[stack.group.exemplar]) for stack in stacks}
    found = [one for one in found if kinds.isdisjoint({*map(find_kind, one.way)} - {""})]
    most = _MOST_OF_MODEL * len(view.graph.nodes)
    found = [idea for idea in found if idea.group.node_count <= most]
    return list(_choose(found))


def _choose(found: list[HiddenBlock]) -> Iterator[HiddenBlock]:
    """Yield the largest kinds of idea, of each some that differ in size: one may have no place."""
    kinds: dict[tuple[object, ...], dict[int, list[HiddenBlock]]] = {}
    for idea in sorted(found, key=lambda idea: -_count_own(idea.group)):
        key = _tell_kind(idea.group)
        if key in kinds or len(kinds) < MOST_IDEAS:
            kinds.setdefault(key, {}).setdefault(idea.group.node_count, []).append(idea)
    for alike in kinds.values():  # what most of them are tells what all are
        yield from [same[0] for same in sorted(alike.values(), key=len, reverse=True)][:_MOST_ALIKE]


def _tell_kind(group: Group) -> tuple[object, ...]:
    """Return what groups have in common that stand in one and are called alike."""
    return id(group.parent), strip_numbers(group.label), group.type_name


def _is_row_of(around: Group, group: Group) -> bool:
    """Return whether a block is little more than several of what is called like one in it."""
    if group.parent is not around:
        return False
    alike = [one for one in around.inner_groups() if _tell_kind(one) == _tell_kind(group)]
    return len(alike) > 1 and (
        sum(one.node_count for one in alike) >= _MOST_OF_ROW * around.node_count
    )


def _count_own(group: Group) -> int:
    """Return how many nodes a group has besides those that prepare for others."""
    return group.node_count - sum(g.node_count for g in group.inner_groups() if g.is_beside)


def _tell_order(group: Group) -> int:
    """Return how early something is drawn beside a picture: ideas before what has a name.

    What every network has comes last, and behind it rows of tables that are only summed: what
    they are is told by their names.
    """
    if only_looks_up(group):
        return 6
    is_repeat, is_telling = group.kind == "repeat", not is_ordinary(group)
    if is_repeat and is_telling:
        return 0
    if is_shut_idea(group):
        return 1 if is_repeat else 2
    if not is_repeat:
        return 3
    return 5 if is_boilerplate(group) else 4


def only_looks_up(group: Group) -> bool:
    """Return whether all work in a block is to look up rows of tables."""
    return {one.name for one in group.contents if one.rank >= WORK} == {_LOOKUP}


def only_decides(group: Group) -> bool:
    """Return whether a block, or each of a stack, only chooses and moves values, without weights.

    It chooses by logic what remains, or mostly picks values and writes them to places.
    """
    block = group.children[group.exemplar] if group.kind == "repeat" else group
    if isinstance(block, Group) and block.node_count > _MOST_OF_LOGIC:
        return False
    nodes = [node for node in list_nodes_inside([block]) if not is_constant_node(node)]
    if any(node.operator.has(*PRODUCTS) for node in nodes):
        return False
    moving = sum(node.operator.family == "shape" for node in nodes)
    writes = any(node.operator.has("scatters") for node in nodes)
    is_moving = writes and moving > _MOST_MOVING * len(nodes)
    return is_moving or any(node.operator.has("logical") for node in nodes)
