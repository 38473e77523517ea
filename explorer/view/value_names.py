"""What a value is called in a picture: as its author calls it, or what it is for, or what gives it.

Exporters make names of operators and numbers: ``Mul_2_output_0``, ``val_244``, ``permute_9``. Such
names say nothing of a model, and are never written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from netloupe.explorer.dataflow import find_source, is_of_shapes, trace_back_where, trace_on
from netloupe.explorer.grouping import Group, GroupTree
from netloupe.explorer.model import Node, Value, find_outer_node, is_constant
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.roles import comes_from_range_or_cumsum

from .conditioning import name_conditioning
from .families import name_family

#: what an operand of a role is called where it stands alone
_BY_ROLE = {
    "cos": "cosines of positions",
    "grid": "places to sample",
    "initial_cell": "cell state c",
    "initial_state": "state h",
    "key": "keys",
    "mask": "mask",
    "past": "past state",
    "past_key": "past keys",
    "past_value": "past values",
    "positions": "positions",
    "routing": "routing",
    "sin": "sines of positions",
    "state": "state",
    "value": "values",
}
#: what masks and relative positions become before they are added to scores
ATTENTION_BIAS = "attention bias"
#: so many uses of a value are looked at
_MOST_USES = 12

#: a name, or hardly one, with a number behind it
_NUMBERED = re.compile(r".*[_.:#-]\d+|[A-Za-z]?\d+")


def find_written_name(value: Value) -> str:
    """Return the name that an author gave to a value; "" where an exporter made one up.

    Inputs and outputs of a graph have names of authors. Of others those have one that is neither
    numbered nor the name of an operator, and of a node that says no more of where it comes from.
    """
    if value.is_input or value.is_output:
        return value.name
    node = value.producer
    if node is None or node.metadata or "/" in value.name:
        return ""
    plain = value.name.replace("_", "").lower()
    if _NUMBERED.fullmatch(value.name) or plain == node.op_type.lower():
        return ""
    return value.name


def find_role_name(value: Value) -> str:
    """Return what a value is for, as the operators that take it call it; "" where they do not."""
    found: set[str] = set()
    for number, (user, taken) in enumerate(trace_on(value, *LAYOUT_TRAITS)):
        if number == _MOST_USES:
            return ""
        roles = user.operator.operands
        for place, operand in enumerate(user.inputs):
            if operand is taken:
                found.add(_BY_ROLE.get(roles.kind_at(place), ""))
    return found.pop() if len(found) == 1 else ""


def name_passing_values(values: Sequence[Value], tree: GroupTree) -> str:
    """Return what values that stand at one place are called in a picture.

    Parameters
    ----------
    values
        One value, or several that go together.
    tree
        The groups of their graph.
    """
    written = [name for value in values if (name := find_written_name(value))]
    if len(written) == len(values):
        return name_family(written)
    name = _name_by_use(values[0], tree)
    if len(values) == 1 or all(_name_by_use(value, tree) == name for value in values[1:_MOST_USES]):
        return name
    return f"{name} and {len(values) - 1} more"


def _name_by_use(value: Value, tree: GroupTree) -> str:
    name = find_role_name(value) or name_conditioning(value)
    if name:
        return name
    return ATTENTION_BIAS if _is_added_to_scores(value) else _name_by_giver(value, tree)


def _is_added_to_scores(value: Value) -> bool:
    """Return whether a value is only added to scores of attentions: a mask, or positions.

    Several may be added one after the other.
    """
    pending, is_added = [value], False
    for taken in pending:  # grows
        for user, _ in islice(trace_on(taken, *LAYOUT_TRAITS), _MOST_USES):
            if user.operator.has("adds") and len(pending) < _MOST_USES:
                pending += [one for one in user.outputs if one is not None and one not in pending]
            elif user.operator.form != "Softmax" or taken is value:
                return False
            else:
                is_added = True
    return is_added


def _name_by_giver(value: Value, tree: GroupTree) -> str:
    """Return what gives a value, and of which part of the model: ``LayerNorm of layer.0``."""
    origin = find_source(value, *LAYOUT_TRAITS)
    node = origin.producer if origin is not None else None
    if node is None or origin is None:
        return origin.name if origin is not None else value.name
    if node.graph is not tree.graph:
        return node.op_type
    what, group = _name_giver(node, origin, tree)
    around = _find_named(group)
    if around is not None:
        return f"{what} of {around.label}"
    for before in trace_back_where(origin, _has_one_operand):
        if before.producer is not None and before.producer.graph is tree.graph:
            around = _find_named(tree.group_of(before.producer))
            if around is not None:
                return around.label
    if comes_from_range_or_cumsum(origin):
        return "positions"
    return "constants" if is_of_shapes(origin) else what


def _has_one_operand(node: Node) -> bool:
    """Return whether a node computes from its first operand alone, as activations and slices."""
    return all(value is None or is_constant(value) for value in node.inputs[1:])


def _name_giver(node: Node, value: Value, tree: GroupTree) -> tuple[str, Group | None]:
    """Return what a node, or the largest recognised group that ends with it, is called."""
    what = tree.node_labels.get(node.index, "").rsplit(" / ", 1)[-1] or node.op_type
    group = tree.group_of(node)
    while group is not None and group.kind in ("block", "operation", "preparation"):
        if group.kind == "preparation":
            return group.label, None
        users = [find_outer_node(user, tree.graph) for user in value.users]
        is_inner = any(user is not None and tree.holds(group, user) for user in users)
        if group.recognised is None or is_inner:
            break
        what, group = group.recognised.name, group.parent
    return what, group


def _find_named(group: Group | None) -> Group | None:
    """Return the nearest group around that has a name of an author."""
    while group is not None and (group.kind != "scope" or group.parent is None):
        group = group.parent
    return group
