"""Which of numbered siblings are stages: each changes the width or the resolution of the stream.

A list of modules has numbers for names, whether it lists layers, blocks or stages. Networks for
images are told in stages (K. He and others, Deep Residual Learning for Image Recognition, 2016,
table 1), so where each of a list but the first changes sizes, its members are called so.
"""

from __future__ import annotations

from .group import Group
from .ports import find_ports

#: fewer are a pair, and more are blocks
_LEAST_STAGES = 3
_MOST_STAGES = 12
_MOST_DIGITS = 3
#: a single layer has fewer nodes, and so much of a list is stages
_LEAST_NODES = 4
_SHARE = 0.5
#: batch, channels, rows, columns
_RANK_OF_MAPS = 4


def number_stage(group: Group) -> int:
    """Return which stage a module of a list is, from 1; 0 for what is no stage."""
    number = _find_number(group)
    if number is None or group.parent is None:
        return 0
    members = {
        found[1]: one
        for one in group.parent.inner_groups()
        if (found := _find_number(one)) is not None and found[0] == number[0]
    }
    if not _LEAST_STAGES <= len(members) <= _MOST_STAGES or [*members] != [*range(len(members))]:
        return 0
    stages = [*members.values()]
    if sum(stage.node_count >= _LEAST_NODES for stage in stages) < _SHARE * len(stages):
        return 0
    return number[1] + 1 if all(map(_changes_sizes, stages[1:])) else 0


def _changes_sizes(stage: Group) -> bool:
    """Return whether a stage gives another width or resolution than it takes, as far as is seen."""
    ports = find_ports(stage)
    taken, given = {*ports.taken}, {*ports.given}
    is_seen = len(taken) == len(given) == 1 and taken != given
    of_maps = {len(dims) for dims in taken | given} == {_RANK_OF_MAPS}
    return bool(ports.tell()) or (is_seen and of_maps)


def _find_number(group: Group) -> tuple[str, int] | None:
    """Return the path of the list that a module is of, and its number in it; else None.

    Where it is all that is in a member of the list, it is that.
    """
    outer = group.parent
    if outer is None or group.kind != "scope" or not group.path.startswith(outer.path):
        return None
    parts = group.path.removeprefix(outer.path).rstrip("/").split("/")
    place = next((place for place, part in enumerate(parts) if part.isdecimal()), None)
    if place is None or len(parts[place]) > _MOST_DIGITS:
        return None
    return "/".join(parts[:place]), int(parts[place])
