"""Closed boxes that hold several resolutions: what is in them may be lanes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from netloupe.explorer.grouping import Group
from netloupe.explorer.view import Item, View, sibling_key

from .stream_sizes import is_stage
from .value_sizes import find_sizes

#: fewer resolutions make no lanes
_LEAST_RESOLUTIONS = 2
#: of more values along one edge the first ones are looked at
_MOST_VALUES = 8
#: of a level with more edges nothing is looked at
_MOST_LINKS = 400
#: a box of more nodes is no block of a figure
_MOST_NODES = 1_000

_Resolutions = tuple[frozenset[int], frozenset[int]]


def find_parallel(view: View) -> list[Item]:
    """Return the closed groups that take and give pictures of several resolutions.

    Of boxes that are alike the first one is there for all, and a stack for its repetitions; what
    there is most of comes first, of as many the one that holds most.
    """
    found: dict[tuple[object, ...], Item] = {}
    count: Counter[tuple[object, ...]] = Counter()
    for item, resolutions in _list_candidates(view):
        key = (*sibling_key(item), item.depth, resolutions)
        found.setdefault(key, item)
        count[key] += len(item.repeat.children) if item.repeat is not None else 1

    def rank(key: tuple[object, ...]) -> tuple[int, int]:
        group = found[key].element
        return -count[key], -group.node_count if isinstance(group, Group) else 0

    return [found[key] for key in sorted(found, key=rank)]


def _list_candidates(view: View) -> Iterator[tuple[Item, _Resolutions]]:
    sizes = find_sizes(view.model)
    pending = [view.root]
    while pending:
        outer = pending.pop()
        pending += [child for child in reversed(outer.children) if child.is_open]
        if not is_stage(outer):
            continue
        links = view.links(outer)
        if len(links) > _MOST_LINKS:
            continue
        taken: dict[int, set[int]] = {}
        given: dict[int, set[int]] = {}
        for link in links:
            for value in (link.bundle or (link.value,))[:_MOST_VALUES]:
                size = sizes.find(value)
                if size is not None and size.is_picture and size.resolution:
                    taken.setdefault(link.target, set()).add(size.resolution)
                    given.setdefault(link.source, set()).add(size.resolution)
        for number, child in enumerate(outer.children):
            ends = frozenset(taken.get(number, ())), frozenset(given.get(number, ()))
            is_group = isinstance(child.element, Group) and child.element.node_count <= _MOST_NODES
            if (
                is_group
                and not child.is_open
                and child.openable
                and min(map(len, ends)) >= _LEAST_RESOLUTIONS
            ):
                yield child, ends
