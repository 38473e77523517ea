"""Stages whose members stand in several lists: ``patch_embeds.1``, ``blocks.1.0``, ``norms.1``.

An author who numbers what belongs to a stage alike, in lists side by side, makes no module of the
stage (W. Wang and others, Pyramid Vision Transformer, 2021, figure 3: the patches of a stage, its
blocks and its norm). A list of lists without a module of its own says the same: ``downs.1.0``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby

from netloupe.explorer.model import Node

from .group import Group
from .member_nodes import list_nodes_inside
from .role_groups import FreePath

#: the name of a list and the place in it, and what stands behind: ``blocks.1.0``, ``block1.0``
_LISTED = re.compile(r"(?P<list>[A-Za-z_][A-Za-z_ ./]*?)\.?(?P<number>\d{1,2})(?P<rest>\..+)?$")
_LEAST_STAGES, _MOST_STAGES = 2, 12
#: fewer members are a layer and its norm, not a stage
_LEAST_MEMBERS = 2
#: members of a stack have such a share of their operators in common
_SAME_OPERATORS = 0.9

Children = list[Group | Node]
_Place = tuple[str, int, bool]


def group_listed_stages(root: Group, labels: Mapping[int, str], free_path: FreePath) -> bool:
    """Put what lists number alike into a group each, where this makes stages one after another.

    Returns whether it makes any.

    Parameters
    ----------
    root
        A tree of scopes; changed.
    labels
        The labels of nodes that stand for a group of one, by index.
    free_path
        Gives an unused path for a child of a group.
    """
    listed = {
        index: found for index, label in labels.items() if (found := _read_label(label)) is not None
    }
    is_list_of_lists = any(holds_list for _, _, holds_list in listed.values())
    are_made = False
    pending = [root]
    while pending:
        group = pending.pop()
        pending += group.inner_groups()
        if group.kind not in ("graph", "scope"):
            continue
        if not is_list_of_lists and not any(map(_holds_list, group.inner_groups())):
            continue
        stages = _find_stages(group.children, listed)
        if not stages:
            continue
        are_made = True
        children: Children = []
        done = 0
        for low, high, name in stages:
            children += group.children[done:low]
            inner = Group("scope", group.graph, free_path(group, name), name, "", group)
            inner.children = group.children[low:high]
            for member in inner.inner_groups():
                member.parent = inner
            children.append(inner)
            done = high
        group.children = children + group.children[done:]
    return are_made


def _find_stages(
    children: Sequence[Group | Node], of_nodes: Mapping[int, _Place]
) -> list[tuple[int, int, str]]:
    """Return where each stage begins and ends among children, and its name; nothing for none."""
    listed = [
        (place, *found)
        for place, child in enumerate(children)
        if (found := _read_place(child, of_nodes)) is not None
    ]
    if not listed:
        return []
    lists = {name for _, name, _, holds_list in listed if holds_list}
    numbers: dict[str, set[int]] = {}
    for _, name, number, _ in listed:
        numbers.setdefault(name, set()).add(number)
    count = max((len(numbers[name]) for name in lists), default=0)
    if not _LEAST_STAGES <= count <= _MOST_STAGES:
        return []
    first = min(min(numbers[name]) for name in lists if len(numbers[name]) == count)
    whole = {*range(first, first + count)}
    # a list may lack one: there are no patches before the first stage, or no norm
    taken = {name for name, own in numbers.items() if own <= whole and len(own) >= count - 1}
    members = [(place, number) for place, name, number, _ in listed if name in taken]
    order = [number for _, number in members]
    if not taken & lists or order != sorted(order):
        return []
    stages: list[tuple[int, int, int]] = []
    for number, grouped in groupby(members, key=lambda member: member[1]):
        places = [place for place, _ in grouped]
        stages.append((places[0], places[-1] + 1, number))
    if any(high - low < _LEAST_MEMBERS for low, high, _ in stages):
        return []
    if len(taken) == 1:
        groups = [
            [one for one in children[low:high] if isinstance(one, Group)] for low, high, _ in stages
        ]
        if all(map(_are_alike, groups)):
            return []  # a stack each
    if len(taken) > 1:
        return [(low, high, f"Stage {number - first + 1}") for low, high, number in stages]
    return [(low, high, f"{min(taken)}.{number}") for low, high, number in stages]


def _are_alike(members: Sequence[Group]) -> bool:
    """Return whether all members but one have nearly the same operators."""
    counts = [Counter(node.operator for node in list_nodes_inside([one])) for one in members]
    if not counts:
        return False
    largest = max(counts, key=Counter.total)
    alike = [(count & largest).total() >= _SAME_OPERATORS * largest.total() for count in counts]
    return sum(alike) >= len(alike) - 1


def _read_place(child: Group | Node, of_nodes: Mapping[int, _Place]) -> _Place | None:
    """Return the list that a child is a member of, its place there, and whether that is a list."""
    if isinstance(child, Node):
        return of_nodes.get(child.index)
    return _read_label(child.label) if child.kind == "scope" and not child.names_operator else None


def _holds_list(group: Group) -> bool:
    """Return whether a group is called as a member of a list of lists: no stages are without."""
    found = _read_place(group, {})
    return found is not None and found[2]


@lru_cache(maxsize=4096)  # layers have the same names inside
def _read_label(label: str) -> _Place | None:
    found = _LISTED.match(label)
    if found is None:
        return None
    rest = found["rest"] or ""
    return found["list"], int(found["number"]), rest[1:2].isdigit()
