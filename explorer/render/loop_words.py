"""Which modules the first or the last step of a loop lacks, in words.

``the first without dynamics_network``: a state is known before there is an action to change it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.member_nodes import list_member_nodes
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.roles import find_weight

#: of more modules it is not told which
_MOST_TOLD = 2
#: what holds fewer layers may have been computed beforehand by an exporter
_LEAST_LAYERS = 2
#: modules with more nodes hold that many anyway
_MOST_NODES = 2_000
#: what an exporter puts behind the name of a module that is called again
_CALL = re.compile(r"_\d+$")


def tell_lacking_modules(loop: Group) -> list[str]:
    """Return which modules are in all steps of a loop but in its first, or in its last."""
    steps = [_list_modules(child) for child in loop.children]
    if len(steps) < 2:
        return []
    first, *middle, last = steps
    told = []
    for which, own, others in (
        ("the first", first, [*middle, last]),
        ("the last", last, [first, *middle] if middle else []),
    ):
        shared = [name for name in (others or [own])[-1] if all(name in one for one in others)]
        lacking = [name for name in shared if name not in own]
        if 0 < len(lacking) <= _MOST_TOLD and own:
            told.append(f"{which} without {' and '.join(lacking)}")
    return told


def _list_modules(step: Group | Graph | Node) -> Sequence[str]:
    """Return the names of an author's modules in a step, as far as they are several layers."""
    if not isinstance(step, Group):
        return ()
    inner = [step, *step.inner_groups()] if step.kind == "scope" else step.inner_groups()
    return [_CALL.sub("", one.label) for one in inner if one.kind == "scope" and _holds_layers(one)]


def _holds_layers(module: Group) -> bool:
    if module.node_count > _MOST_NODES:
        return True
    nodes = list_member_nodes(module, _MOST_NODES)
    return sum(find_weight(node) is not None for node in nodes) >= _LEAST_LAYERS
