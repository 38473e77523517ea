"""What closed boxes only seem to change, or to take: such is drawn from where it comes, or not.

A box of preparation may hold the Transpose with which a model begins. Others than what is prepared
there take the transposed input too, and what they take is no result of the box.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from netloupe.explorer.dataflow import trace_back_where
from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.member_nodes import list_nodes_inside
from netloupe.explorer.model import Value
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.patterns.index_pools import gives_places_alone

from .item import Item

#: by the key of what takes a value, and this value: what it was before a box handed it on
Passing = Mapping[tuple[str, Value], Value]
_NOTHING: Passing = MappingProxyType({})
#: so many uses of a value are looked at
_MOST_USERS = 100


def find_passing(item: Item) -> Passing:
    """Return what closed preparation in an open item hands on in another layout: what it was.

    A box that does nothing else is not passed by, nor is one that gives more to the same taker.
    """
    handed: dict[Value, Value] = {}
    made: dict[Value, frozenset[Value]] = {}
    for child in item.children:
        group = child.element
        if child.is_open or not isinstance(group, Group) or group.kind != "preparation":
            continue
        given = [*child.values_at(child.outputs)]
        before = {value: was for value in given if (was := _find_before(value, group))}
        if len(before) < len(given):
            handed.update(before)
            made.update(dict.fromkeys(before, frozenset(given) - before.keys()))
    if not handed:
        return _NOTHING
    found: dict[tuple[str, Value], Value] = {}
    for child in item.children:
        taken = {*child.values_at(child.inputs)}
        for value in taken & handed.keys():
            if taken.isdisjoint(made[value]):
                found[child.key, value] = handed[value]
    return found


def _find_before(value: Value, group: Group) -> Value | None:
    """Return which value from outside a group one of its results is another layout of."""
    node = value.producer
    if node is None or not node.operator.has(*LAYOUT_TRAITS):
        return None
    inside = {*list_nodes_inside([group])}
    *_, before = trace_back_where(
        value, lambda node: node in inside and node.operator.has(*LAYOUT_TRAITS)
    )
    return before if before.producer not in inside else None


def takes_places_alone(child: Item, value: Value) -> bool:
    """Return whether a closed group takes nothing of a value but where its places are."""
    group = child.element
    if child.is_open or not isinstance(group, Group) or len(value.users) > _MOST_USERS:
        return False
    if not any(map(gives_places_alone, value.users)):
        return False
    inside = {*list_nodes_inside([group])}
    return all(gives_places_alone(user) for user in value.users if user in inside)
