"""The opening of what fits within a limit: the groups that may be opened, and trials of them."""

from __future__ import annotations

from collections import Counter

from netloupe.explorer.grouping import Group
from netloupe.explorer.view import Item, count_held_nodes, count_least, sibling_key

from .first_view_search import Search
from .opening_limits import (
    Limit,
    are_seen_closed,
    count_new_kinds,
    find_kind,
    holds_repeat,
    may_open,
    shows_arrangement,
)
from .opening_worth import list_kinds, shows_a_list, shows_enough
from .shown_items import list_closed, list_keys
from .shut_ideas import holds_idea
from .stacks import find_hidden_stacks, tell_block


def open_within(search: Search, limit: Limit) -> None:
    """Open what can be opened within a limit, the heaviest first."""
    boxes = search.count_boxes()
    refused: set[tuple[str, ...]] = set()
    while boxes < limit.below:
        candidates = _list_candidates(search, limit)
        chosen = next((items for items in candidates if list_keys(items) not in refused), None)
        if chosen is None:
            return
        refused.add(list_keys(chosen))
        if boxes + sum(count_least(item) - 1 for item in chosen) > limit.boxes:
            continue
        if not search.begin_trial():
            return
        for item in chosen:
            search.open_item(item)
        found = search.count_boxes()
        if (
            found <= limit.boxes
            and (limit.is_last or all(_shows_enough(search, item, limit) for item in chosen))
            and not any(map(shows_arrangement, chosen))
            and search.zoom(in_columns=limit.in_columns) >= limit.zoom
        ):
            boxes = found
        else:
            for item in chosen:
                search.view_of(item).close_item(item)


def _shows_enough(search: Search, item: Item, limit: Limit) -> bool:
    is_list = not limit.with_lists and shows_a_list(search.view_of(item), item)
    return shows_enough(item) and not is_list


def _list_candidates(search: Search, limit: Limit) -> list[list[Item]]:
    """Return the groups that may be opened, alike ones as one; what shows most kinds first.

    Of those that show as many new kinds of block or operator the heaviest is first.
    """
    alike: dict[tuple[object, ...], list[Item]] = {}
    shown: Counter[str] = Counter()
    kept_closed = {inset.item.key for inset in search.insets} | search.closed_stages
    if kept_closed:  # one stack beside the picture, and all closed in it
        closed = list_closed(search.view.root)
        kept_closed |= {item.key for item in closed if item.repeat is not None}
    for item in search.list_closed():
        shown.update(list_kinds(item.element))
        if item.key in kept_closed and search.view_of(item) is search.view:
            continue
        if search.has_levels and not limit.in_blocks and search.view_of(item) is search.view:
            continue  # what is open between levels pulls them apart
        if may_open(item, limit):
            alike.setdefault(_peers_key(item), []).append(item)
    ranked: list[tuple[int, int, int, list[Item]]] = []
    beside = {find_kind(tell_block(inset.item.element)) for inset in search.insets} - {""}
    open_items = list(search.list_open())
    opened = {find_kind(item.element) for item in open_items} - {""}
    with_ideas = {_siblings_key(item) for item in open_items if holds_idea(item.element)}
    siblings = Counter(map(_siblings_key, search.list_closed()))
    for items in alike.values():
        if are_seen_closed(items, shown) or any(find_kind(i.element) in beside for i in items):
            continue  # of one kind all are open or none
        if any(item.repeat and find_kind(item.element) in opened for item in items):
            continue  # one of them is open
        own = Counter(map(_siblings_key, items))
        if with_ideas & own.keys():
            continue  # one of them is open, and shows what they are about
        if not limit.with_lists and any(siblings[key] > own[key] for key in own):
            continue  # the same of what is called alike beside each other
        new = count_new_kinds(items, shown)
        if new or any(map(holds_repeat, items)) or limit.with_lists:
            ranked.append((-new, -sum(map(count_held_nodes, items)), len(ranked), items))
    return [items for *_, items in sorted(ranked)]


def _peers_key(item: Item) -> tuple[object, ...]:
    """Return what items have in common that are opened together, or none of them.

    Those are called and typed alike, or stand in one group and hold stacks of the same blocks, as
    an encoder and its decoder may.
    """
    if isinstance(item.element, Group) and item.repeat is None:
        stack = next(find_hidden_stacks(item, item.element), None)
        kind = find_kind(stack.group) if stack is not None else ""
        if kind:
            return item.depth, id(item.parent), kind
    return item.depth, *sibling_key(item)


def _siblings_key(item: Item) -> tuple[object, ...]:
    """Return what items have in common that stand beside each other and are called alike."""
    return item.repeat is not None, id(item.parent), *sibling_key(item)
