"""One port and one edge for what a reader takes for one thing.

That is all that a box of preparation gives to the same box, and all states of one kind: keys and
values of what was seen before are two tensors for each layer, but one idea. What came through one
port of a frame goes on as one, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.grouping import Group, GroupTree
from netloupe.explorer.model import Graph, Value
from netloupe.explorer.operators import LAYOUT_TRAITS

from .bundles import border_ports
from .inner_takers import find_inner_takers
from .item import MOST_SELECTED, Item
from .links import list_link_kinds
from .many_values import list_distinct

#: a value that so many boxes take keeps a port of its own: it may have a name instead of edges
_MOST_TAKERS = 3
#: of more boxes, or ports of one box, it is told by their number alone which go together
_MOST_BOXES, _MOST_PORTS = 400, 500
#: more values are not told apart
_MOST_APART = 12
#: it is asked of so many users what they take
_MOST_USERS = 20


def join_ports_of_one(
    item: Item, children: Sequence[Item], find_tree: Callable[[Graph], GroupTree]
) -> None:
    """Give the children of an item one port for what comes from, or goes to, the same.

    Values of a preparation that not one thing in a group takes both of are no one thing: what a
    block subtracts from, and what it adds its result to.

    Parameters
    ----------
    item
        A newly opened item, its body made.
    children
        Its children without stubs; their ports are changed.
    find_tree
        Returns the groups of a graph.
    """
    if len(children) > _MOST_BOXES:
        return
    most = max((max(len(child.inputs), len(child.outputs)) for child in children), default=0)
    if not 1 < most <= _MOST_PORTS:
        return
    # the body of a node is drawn alike whatever is outside of it
    is_body = isinstance(item.element, Graph)
    entering, leaving = ({}, {}) if is_body else border_ports(item)
    origins: dict[Value, Hashable] = {
        value: port for value, port in entering.items() if len(item.members(port)) > 1
    }
    goals: dict[Value, Hashable] = {
        value: port for value, port in leaving.items() if len(item.members(port)) > 1
    }
    for index, child in enumerate(children):
        if _is_one(child):
            origins.update(dict.fromkeys(child.values_at(child.outputs), index))
            goals.update(dict.fromkeys(child.values_at(child.inputs), index))
    sources = _list_sources(children, leaving)
    loops = {index: _list_loop_sources(child) for index, child in enumerate(children)}
    if not origins and not goals and not sources and not any(loops.values()):
        return
    takers = Counter(value for child in children for value in child.values_at(child.inputs))
    wide = {value for value, count in takers.items() if count > _MOST_TAKERS}
    for index, child in enumerate(children):
        if len(child.inputs) > 1:
            ends = {**_tell_apart(child, origins, find_tree), **sources, **loops[index]}
            child.inputs = _join(child, child.inputs, child.outputs, ends, wide)
        if len(child.outputs) > 1:
            own = dict.fromkeys(child.values_at(child.outputs), -1) if _is_one(child) else goals
            child.outputs = _join(child, child.outputs, child.inputs, {**own, **sources}, wide)


def _list_sources(
    children: Sequence[Item], leaving: Mapping[Value, Value]
) -> dict[Value, Hashable]:
    """Return of which value several are that one group gives to the same, all but their layout.

    What leaves the item around them has a port of its own there, and keeps one here.
    """
    found: dict[Value, Hashable] = {}
    for index, child in enumerate(children):
        if not isinstance(child.element, Group) or not 1 < len(child.outputs) <= _MOST_APART:
            continue
        values = [one for one in child.values_at(child.outputs) if one not in leaving]
        sources = [find_source(value, *LAYOUT_TRAITS) or value for value in values[:_MOST_APART]]
        counts = Counter(sources)
        for value, source in zip(values, sources, strict=False):
            if counts[source] > 1:
                takers = frozenset(
                    n for n, one in enumerate(children) if value in one.values_at(one.inputs)
                )
                found[value] = index, source, takers
    return found


def _list_loop_sources(child: Item) -> dict[Value, Hashable]:
    """Return what values are that come into a loop as one value in several layouts.

    The steps behind the first one take the same for all of them.
    """
    element = child.element
    if not isinstance(element, Group) or element.kind != "repeat" or not element.is_loop:
        return {}
    taken = list(child.values_at(child.inputs))[:_MOST_APART]
    sources = [find_source(value, *LAYOUT_TRAITS) or value for value in taken]
    counts = Counter(sources)
    return {
        value: source for value, source in zip(taken, sources, strict=True) if counts[source] > 1
    }


def _tell_apart(
    child: Item, origins: Mapping[Value, Hashable], find_tree: Callable[[Graph], GroupTree]
) -> Mapping[Value, Hashable]:
    """Return where values that a child takes come from, apart for those that others in it take.

    Values of which one inner child takes two go together, and so do all that hang together so.
    """
    taken = [
        value
        for value in child.values_at(child.inputs)
        if value in origins and not _holds_indices(value)
    ]
    if not isinstance(child.element, Group) or not 1 < len(taken) <= _MOST_APART:
        return origins
    tree = find_tree(child.element.graph)
    sets: list[tuple[set[int], list[Value]]] = []
    for value in taken:
        takers = {*find_inner_takers(tree, child.element, value)}
        if not takers:
            return origins
        values = [value]
        for other in [one for one in sets if not takers.isdisjoint(one[0])]:
            sets.remove(other)
            takers |= other[0]
            values += other[1]
        sets.append((takers, values))
    number = {value: place for place, (_, values) in enumerate(sets) for value in values}
    return {**origins, **{value: (origins[value], number[value]) for value in taken}}


def _holds_indices(value: Value) -> bool:
    """Return whether a value only picks rows of others, as ends of edges do."""
    places = [user.operator.operands.find("indices") for user in value.users[:_MOST_USERS]]
    return bool(places) and all(
        place is not None and user.input(place) is value
        for place, user in zip(places, value.users, strict=False)
    )


def _is_one(child: Item) -> bool:
    """Return whether what a child gives or takes is one thing to a reader."""
    element = child.element
    if child.kind in ("input", "output"):
        return 0 < sum(map(len, child.merged.values())) <= MOST_SELECTED
    return isinstance(element, Group) and element.kind == "preparation"


def _join(
    child: Item,
    ports: tuple[Value, ...],
    others: tuple[Value, ...],
    ends: Mapping[Value, Hashable],
    wide: set[Value],
) -> tuple[Value, ...]:
    """Return the ports of a child with one for those that have the same end."""
    taken = {*others}
    together: dict[Hashable, list[Value]] = {}
    kinds = list_link_kinds(child, ports)
    for port, kind in zip(ports, kinds, strict=True):
        members = child.members(port)
        end = ends.get(port)
        if port in taken or end is None or any(ends.get(one) != end for one in members):
            continue
        if wide.isdisjoint(members):
            together.setdefault((end, kind), []).append(port)
    gone: set[Value] = set()
    merged = dict(child.merged)
    for joined in together.values():
        if len(joined) > 1:
            gone.update(joined[1:])
            values = list_distinct(child.values_at(joined))
            for port in joined:
                merged.pop(port, None)
            merged[joined[0]] = values
    if not gone:
        return ports
    child.merged = merged
    child.of_one |= {joined[0] for joined in together.values() if len(joined) > 1}
    return tuple(port for port in ports if port not in gone)
