"""Tables that are looked up side by side, whose rows are put together: one box for all.

Each feature of a recommender has a table of its own (H.-T. Cheng and others, Wide & Deep Learning,
2016, figure 4; M. Naumov and others, DLRM, 2019, figure 1), which a figure draws once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from netloupe.explorer.model import Node, find_nodes_where
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.roles import find_weight

from .group import Group
from .member_nodes import list_nodes_inside
from .spilled_arithmetic import Box, find_edges, list_searched

#: fewer tables are seen at a glance, and may each be something else: tokens, positions, segments
_LEAST_TABLES = 4
#: a level of more children is not looked at
_MOST_CHILDREN = 300
#: a box that looks a table up has so many nodes at most
_MOST_NODES = 12
_BOTH = 2

#: what picks the column that a table is looked up by, and lays it out
_PICKING = (*LAYOUT_TRAITS, "gathers", "picks")

Child = Group | Node
#: makes a stack of blocks among the children of a group, one of which stands for all
MakeRepeat = Callable[[Group, Sequence[Sequence[Child]], int], Group]


def fold_tables(root: Group, make_repeat: MakeRepeat) -> None:
    """Put tables that are looked up side by side into one repeat where the same takes all rows.

    None of them takes from another, and what takes from them stands behind them all. A repeat of
    some of them takes up those that stood apart from it in the file. Linear in the tree.

    Parameters
    ----------
    root
        A tree whose children are what is drawn; changed.
    make_repeat
        Makes a stack.
    """
    lookups = find_nodes_where(root.graph, lambda one: one.weight_kind == "embedding")
    if lookups.size < _LEAST_TABLES:
        return
    for group in list_searched(root, 1, _MOST_CHILDREN):
        children = [part for child in group.children for part in _list_parts(child)]
        if sum(map(_is_lookup, children)) < _LEAST_TABLES:
            continue
        boxes = [Box(child, list_nodes_inside([child]), False) for child in children]
        find_edges(boxes, group.graph)
        alike: dict[tuple[object, ...], list[int]] = {}
        for place, box in enumerate(boxes):
            if _is_lookup(box.child) and not box.leaves and box.takers:
                alike.setdefault((frozenset(box.takers), _tell_kind(box)), []).append(place)
        for places in alike.values():
            takers = boxes[places[0]].takers
            if len(places) >= _LEAST_TABLES and max(places) < min(takers):
                _fold(group, [boxes[place].child for place in places], make_repeat)


def _list_parts(child: Child) -> list[Child]:
    """Return the tables of a repeat of such; anything else as it is."""
    is_stack = isinstance(child, Group) and child.kind == "repeat" and not child.shares_weights
    parts = child.children if isinstance(child, Group) and is_stack else []
    return [*parts] if parts and all(map(_is_lookup, parts)) else [child]


def _is_lookup(child: Child) -> bool:
    """Return whether a child looks one table up, and only arranges besides."""
    if isinstance(child, Group):
        if child.node_count > _MOST_NODES or child.kind not in ("scope", "operation", "block"):
            return False
        nodes = list_nodes_inside([child])
    else:
        nodes = [child]
    tables = [node for node in nodes if _is_embedding(node)]
    return len(tables) == 1 and all(
        node is tables[0] or node.operator.has(*_PICKING) for node in nodes
    )


def _is_embedding(node: Node) -> bool:
    if node.operator.weight_kind != "embedding":
        return False
    weight = find_weight(node)
    return weight is not None and weight.kind == "embedding"


def _tell_kind(box: Box) -> tuple[str, ...]:
    return tuple(node.op_type for node in box.nodes)


def _fold(group: Group, tables: Sequence[Child], make_repeat: MakeRepeat) -> None:
    taken = {id(table) for table in tables}
    gone = [
        child for child in group.children if all(id(part) in taken for part in _list_parts(child))
    ]
    if len(gone) < _BOTH or sum(len(_list_parts(child)) for child in gone) < len(tables):
        return  # they are one repeat already, or a part of another one
    repeat = make_repeat(group, [[table] for table in tables], 0)
    repeat.type_name = ""  # that of the operator would stand for what it does
    group.children = [
        repeat if child is gone[-1] else child
        for child in group.children
        if child is gone[-1] or child not in gone
    ]
