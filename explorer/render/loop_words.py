"""Which modules the first or the last step of a loop lacks, in words.

``the first without dynamics_network``: a state is known before there is an action to change it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from netloupe.explorer.grouping import Group, read_module_path
from netloupe.explorer.grouping.member_differences import begins_stored
from netloupe.explorer.grouping.member_nodes import list_member_nodes
from netloupe.explorer.roles import find_weight

#: of more modules it is not told which
_MOST_TOLD = 2
#: what holds fewer layers may have been computed beforehand by an exporter
_LEAST_LAYERS = 2
#: loops with more nodes are not looked at
_MOST_NODES = 8_000
#: what an exporter puts behind the name of a module that is called again
_CALL = re.compile(r"_\d+$")


def tell_lacking_modules(loop: Group) -> list[str]:
    """Return which modules are in all steps of a loop but in its first, or in its last.

    What a first step begins with stored values an exporter may have computed beforehand.
    """
    steps = [step for step in loop.children if isinstance(step, Group)]
    if len(steps) < 2 or len(steps) < len(loop.children) or loop.node_count > _MOST_NODES:
        return []
    nodes = [list_member_nodes(step, _MOST_NODES) for step in steps]
    ends = [("the last", -1)] if len(steps) > 2 else []
    if not begins_stored(nodes):
        ends.insert(0, ("the first", 0))
    told = []
    for which, place in ends:
        others = [step for step in steps if step is not steps[place]]
        held = [_list_modules(step) for step in others]
        present = {
            _CALL.sub("", name.rpartition(".")[2])
            for node in nodes[place]
            for name, _ in read_module_path(node)
        }
        lacking = [
            name
            for name in held[-1]
            if name.rpartition(".")[2] not in present and all(name in one for one in held)
        ]
        if 0 < len(lacking) <= _MOST_TOLD:
            told.append(f"{which} without {' and '.join(lacking)}")
    return told


def _list_modules(step: Group) -> Sequence[str]:
    """Return the names of an author's modules in a step, as far as they are several layers."""
    inner = [step, *step.inner_groups()] if step.kind == "scope" else step.inner_groups()
    return [_CALL.sub("", one.label) for one in inner if one.kind == "scope" and _holds_layers(one)]


def _holds_layers(module: Group) -> bool:
    nodes = list_member_nodes(module, _MOST_NODES)
    return sum(find_weight(node) is not None for node in nodes) >= _LEAST_LAYERS
