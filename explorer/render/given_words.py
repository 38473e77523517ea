"""Whether each member of a fold gives what is taken outside, as readouts of all layers do.

The members are drawn as one, so that what each of them gives leaves at one place and would be
taken for what the last one does. K. Xu and others, Representation Learning on Graphs with Jumping
Knowledge Networks, 2018, section 4; How Powerful are Graph Neural Networks?, 2019, section 4.2.
Where one node joins them they are an aggregation (Y. Lee and others, An Energy and GPU-Computation
Efficient Backbone Network, 2019, figure 1).
"""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.dataflow import trace_on
from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.member_nodes import list_nodes_inside
from netloupe.explorer.model import Node, Value
from netloupe.explorer.operators import LAYOUT_TRAITS

_EACH, _JOINED = "each result is used later", "all results are concatenated"
#: folds of more nodes are not looked at
_MOST_NODES = 8_000
#: so many uses of a value are looked at
_MOST_USES = 24
#: fewer members are no row
_LEAST = 3


def tell_read_outside(repeat: Group) -> str:
    """Return that what each member hands on to the next one is taken outside too; "" where not.

    Parameters
    ----------
    repeat
        The fold.
    """
    if repeat.is_loop or len(repeat.children) < _LEAST or repeat.node_count > _MOST_NODES:
        return ""
    members = [list_nodes_inside([member]) for member in repeat.children]
    places = {node: place for place, nodes in enumerate(members) for node in nodes}
    handed = [_find_handed(nodes, place, places) for place, nodes in enumerate(members[:-1])]
    if not all(any(_leaves(value, places) for value in values) for values in handed):
        return ""
    joining = [{one for value in values for one in _list_joins(value, places)} for values in handed]
    return _JOINED if set.intersection(*joining) else _EACH


def _list_joins(value: Value, places: dict[Node, int]) -> Iterator[Node]:
    """Yield what outside of all members puts a value beside others."""
    for user, _ in trace_on(value, *LAYOUT_TRAITS, most=_MOST_USES):
        if user not in places and user.operator.has("joins"):
            yield user


def _find_handed(nodes: list[Node], place: int, places: dict[Node, int]) -> list[Value]:
    """Return the values that a member gives to the next one."""
    return [
        value
        for node in nodes
        for value in node.outputs
        if value is not None and any(places.get(user) == place + 1 for user in value.users)
    ]


def _leaves(value: Value, places: dict[Node, int]) -> bool:
    """Return whether the elements of a value are taken by nodes that are in no member."""
    return value.is_output or any(
        user not in places and not user.operator.has("reads_shape") for user in value.users
    )
