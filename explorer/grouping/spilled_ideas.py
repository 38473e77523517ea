"""Ideas of papers that a program spills: as boxes of their own among the children of a group.

An author who writes attention, a gate or a message into the code of a larger module leaves its
operations between that module's own layers. A figure draws them as the one box that they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from netloupe.explorer.model import Node, find_nodes_with
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.patterns import (
    MOST_NODES,
    GraphContext,
    cuts_windows,
    find_graph_context,
    find_ideas,
    find_long_ideas,
    find_windowed,
    try_to_recognise,
)
from netloupe.explorer.progress import step
from netloupe.explorer.roles import find_weight

from .alike import Key, KeyWriter
from .group import Group, adopt
from .like_blocks import LikeBlocks
from .member_nodes import list_member_nodes
from .role_groups import FreePath
from .small_blocks import wrap

#: in a graph of more nodes nobody looks for what is spilled
_MOST_OF_GRAPH = 20_000
#: without one of these in a group's own code no idea is spilled there
_TELLING = (
    *("multiplies", "multiplies_elements", "scatters", "squashes", "takes_sine"),
    *("averages", "distributes", "divides", "finds_largest", "joins", "selects", "solves"),
    *("takes_power", "takes_root"),
)
#: a layer that is part of an idea has at most so many nodes
_MOST_OF_LAYER = 24
#: and a repetition that is all of it so many, as the steps of a recursion
_MOST_OF_REPEAT = 60
#: of a group with more children only what so many values are joined in is looked at
_MOST_CHILDREN = 300
_LEAST_JOINED = 9
#: or what has so many sums, as iterations have
_LEAST_SUMS = 32
_MOST_JOINS = 8
#: among so many nodes before that
_MOST_BEFORE = 256
#: an idea is never all of a group
_LEAST_CHILDREN = 3

#: blocks of these families are put together from others, which are seen where they are open
_OF_BLOCKS = ("group", "residual")

_GET_INDEX = attrgetter("index")

Child = Group | Node
#: what is found in a group: names, and the places of the nodes of each, with and without those that
#: only arrange what it takes
Found = list[tuple[str, list[int], list[int]]]


def group_ideas(root: Group, free_path: FreePath, *, are_prepared: bool = False) -> None:
    """Make blocks of those children of a group that only together are an idea of a paper.

    Layers that an author named become part of the block with their paths and names. A group that
    is a known block as a whole stays as it is, but for an idea that it is named after: ``Residual
    block with Res2Net module``. So does what would be drawn in a circle. Linear in the tree; groups
    wired alike are looked at once.

    Parameters
    ----------
    root
        A tree without arithmetic on shapes; changed.
    free_path
        Gives an unused path for a child of a group.
    are_prepared
        Whether only groups are looked at that hold preparation: what was taken for it may be a part
        of an idea.
    """
    if len(root.graph.nodes) > _MOST_OF_GRAPH:
        return
    telling = {*find_nodes_with(root.graph, *_TELLING).tolist()}
    if not telling:
        return
    finder = _Finder(find_graph_context(root.graph))
    like = LikeBlocks()
    pending = [root]
    while pending:
        group = pending.pop()
        if group.kind in ("operation", "preparation", "postprocessing"):
            continue
        if like.is_like_one_left(group):
            continue
        is_meant = not are_prepared or any(
            inner.kind == "preparation" or _count_prepared(inner) for inner in group.inner_groups()
        )
        if group.kind != "repeat" and is_meant:
            is_large = len(group.children) > _MOST_CHILDREN
            is_searched = not is_large and _is_searched(group, telling)
            _join_long(group, finder, free_path)
            for name, nodes in finder.find_windowed(group) if not is_large else ():
                _join_whole(group, name, nodes, free_path)
            found = finder.find(group) if is_searched else []
            for name, nodes, inner in finder.find_joined(group) if is_large else found:
                if not _join(group, name, nodes, free_path) and len(inner) < len(nodes):
                    _join(group, name, inner, free_path)
        pending += group.inner_groups()


def _join_long(group: Group, finder: _Finder, free_path: FreePath) -> None:
    """Make blocks of what a large group has so many nodes for, with what is told of them."""
    for name, facts, nodes in finder.find_long(group):
        known = {*group.children}
        if _join_whole(group, name, nodes, free_path, least=1):
            made = next(one for one in group.inner_groups() if one not in known)
            made.facts = facts


def _is_searched(group: Group, telling: set[int]) -> bool:
    return len(group.children) >= _LEAST_CHILDREN and any(
        child.index in telling if isinstance(child, Node) else _count_prepared(child)
        for child in group.children
    )


def _count_prepared(group: Group) -> int:
    """Return how many nodes that a group holds are preparation of its first layer."""
    prepared = [inner for inner in group.inner_groups() if inner.kind == "preparation"]
    return sum(len(list_member_nodes(inner, _MOST_OF_REPEAT)) for inner in prepared)


class _Finder:
    """Finds ideas in one group after the other; groups wired alike are looked at once."""

    def __init__(self, context: GraphContext) -> None:
        self._context = context
        self._keys = KeyWriter()
        self._known: dict[Key, Found] = {}

    def find(self, group: Group) -> list[tuple[str, list[Node], list[Node]]]:
        """Return the ideas among a group's own nodes and small layers, each with its nodes.

        These come twice, without those that only arrange what the idea takes the second time.
        """
        step()
        members: list[Node] = []
        for child in group.children:
            if isinstance(child, Node):
                members.append(child)
            else:
                is_repeat = child.kind == "repeat"
                most = _MOST_OF_REPEAT if is_repeat else _MOST_OF_LAYER + _count_prepared(child)
                members += list_member_nodes(child, most)
        if len(members) > MOST_NODES:
            return []
        members.sort(key=_GET_INDEX)
        key = self._keys.write(members)
        if key not in self._known:
            self._known[key] = self._search(group, members)
        return [
            (name, [members[n] for n in numbers], [members[n] for n in inner])
            for name, numbers, inner in self._known[key]
        ]

    def find_windowed(self, group: Group) -> list[tuple[str, list[Node]]]:
        """Return the attentions in windows of which a group's own nodes cut these out.

        Though all of the group may be a block that is known, as a Transformer block of which the
        program fills an image up to whole windows before it calls the attention.
        """
        own = [child for child in group.children if isinstance(child, Node)]
        is_around = any(node.operator.has("pads", "slices") for node in own)
        if len(own) == len(group.children) or not is_around:
            return []
        members = list_member_nodes(group, MOST_NODES)
        if not any(cuts_windows(node) for node in members):
            return []
        step()
        try:
            found = [(name, {*nodes}) for name, nodes in find_windowed(members, self._context)]
        except (ArithmeticError, LookupError, TypeError, ValueError):
            return []  # as of try_to_recognise
        # with what a layer of an author has for its sizes and positions besides
        for _, nodes in found:
            for child in group.inner_groups():
                held = [*_walk(child)]
                if not nodes.isdisjoint(held):
                    nodes.update(node for node in held if self._is_unchanging(node))
        return [(name, [*nodes]) for name, nodes in found]

    def _is_unchanging(self, node: Node) -> bool:
        """Return whether what a node gives follows from constants and shapes alone."""
        return all(self._context.is_unchanging(v) for v in node.outputs if v is not None)

    def find_joined(self, group: Group) -> list[tuple[str, list[Node], list[Node]]]:
        """Return the ideas among a large group's own nodes that end in joining many values."""
        own: list[Node] = []
        for child in group.children:
            if isinstance(child, Node):
                own.append(child)
            elif child.kind == "repeat":
                own += list_member_nodes(child, _MOST_BEFORE)
        own.sort(key=_GET_INDEX)
        joins = [
            place
            for place, node in enumerate(own)
            if len(node.inputs) >= _LEAST_JOINED and node.operator.has("joins")
        ]
        told: list[tuple[str, list[Node], list[Node]]] = []
        for place in joins[:_MOST_JOINS]:
            step()
            nodes = own[max(0, place + 1 - _MOST_BEFORE) : place + 1]
            try:
                found = [*find_ideas(nodes, self._context)]
            except (ArithmeticError, LookupError, TypeError, ValueError):
                continue  # as of try_to_recognise
            told += [
                (name, [*every], [*core]) for name, every, core in found if own[place] in every
            ]
        return told

    def find_long(self, group: Group) -> list[tuple[str, tuple[str, ...], list[Node]]]:
        """Return what a group's own nodes are that iterate, each with facts and nodes.

        They may have become a repetition.
        """
        own: list[Node] = []
        for child in group.children:
            if isinstance(child, Node):
                own.append(child)
            elif child.kind == "repeat" and len(child.children) >= _LEAST_SUMS:
                one = child.children[0]
                first = [one] if isinstance(one, Node) else list_member_nodes(one, _MOST_OF_LAYER)
                if any(node.operator.has("reduces") for node in first):
                    own += _walk(child)
        if len(own) < MOST_NODES // 2 or not _sums_often(own):
            return []
        own.sort(key=_GET_INDEX)
        step()
        try:
            found = [*find_long_ideas(own, self._context)]
        except (ArithmeticError, LookupError, TypeError, ValueError):
            return []  # as of try_to_recognise
        return [(name, facts, [*nodes]) for name, facts, nodes in found]

    def _search(self, group: Group, members: Sequence[Node]) -> Found:
        whole = list_member_nodes(group, MOST_NODES)
        known = try_to_recognise(whole, self._context) if whole else None
        if known is not None and "·" not in known.name and known.family not in _OF_BLOCKS:
            return []
        places = {node: place for place, node in enumerate(members)}
        try:
            found = [*find_ideas(members, self._context)]
        except (ArithmeticError, LookupError, TypeError, ValueError):
            return []  # as of try_to_recognise
        told: Found = []
        for name, nodes, inner in found:
            if known is not None and name == known.name:
                continue  # it is the whole
            # that alone, too: what is around may tell more
            core = next((each for each in (inner, nodes) if self._is_told(name, each)), None)
            if core is not None:
                numbers = [places[node] for node in nodes]
                told.append((name, numbers, [places[node] for node in core]))
        return told

    def _is_told(self, name: str, nodes: Sequence[Node]) -> bool:
        """Return whether some nodes alone are recognised as that."""
        alone = try_to_recognise(nodes, self._context)
        return alone is not None and alone.name == name


def _join(group: Group, name: str, nodes: Sequence[Node], free_path: FreePath) -> bool:
    """Make a block of some nodes, unless they are a child of a group, a part of one, or all.

    Preparation of which only a part is among them keeps the rest. Return whether it was made.
    """
    parted = _part_preparation(group, {*nodes})
    is_made = _join_whole(group, name, nodes, free_path)
    if not is_made:
        for child, held in parted:
            moved = {*held}.difference(child.children)
            group.children = [other for other in group.children if other not in moved]
            child.children = held
    return is_made


def _part_preparation(group: Group, inside: set[Node]) -> list[tuple[Group, list[Child]]]:
    """Move nodes out of preparation that holds others, too; return that with what it held."""
    parted: list[tuple[Group, list[Child]]] = []
    children: list[Child] = []
    for child in group.children:
        held = child.children if isinstance(child, Group) and child.kind == "preparation" else []
        moved = [one for one in held if isinstance(one, Node) and one in inside]
        if isinstance(child, Group) and 0 < len(moved) < len(held):
            parted.append((child, held))
            child.children = [one for one in held if one not in moved]
            children += moved
        children.append(child)
    if parted:
        group.children = children
    return parted


def _join_whole(
    group: Group, name: str, nodes: Sequence[Node], free_path: FreePath, *, least: int = 2
) -> bool:
    inside = {*nodes}
    homes = _find_homes(group.children)
    children = [*dict.fromkeys(homes[node] for node in nodes)]
    is_whole = all(
        child in inside if isinstance(child, Node) else _holds_no_more(child, inside)
        for child in children
    )
    if not is_whole or not least <= len(children) < len(group.children):
        return False
    if _is_in_circle({id(child) for child in children}, group.children, homes):
        children += _list_computed_sizes(children, group.children, homes)
        is_all = len(children) == len(group.children)
        if is_all or _is_in_circle({id(child) for child in children}, group.children, homes):
            return False
    block = wrap(group, children, name, name, name, free_path)
    if all(find_weight(node) is None for node in nodes):
        block.children = [part for child in block.children for part in _flatten(child)]
        adopt(block)
    return True


def _holds_no_more(group: Group, inside: set[Node]) -> bool:
    """Return whether all that a module computes of data is among some nodes.

    It may arrange indices besides, and fill what it begins with.
    """
    context = find_graph_context(group.graph)
    others = [node for node in _list_all(group) if node not in inside]
    return all(
        node.operator.has(*LAYOUT_TRAITS, "broadcasts")
        or all(context.is_unchanging(value) for value in node.outputs if value is not None)
        for node in others
    ) and len(others) <= len(inside)


def _list_computed_sizes(
    block: Sequence[Child], children: Sequence[Child], homes: Mapping[Node, Child]
) -> list[Child]:
    """Return the children that follow from constants and shapes alone, for some others only.

    As a scale that a program computes of the width of the queries, which it asks for.
    """
    context = find_graph_context(next(iter(homes)).graph)
    inside = {id(child) for child in block}
    found: list[Child] = []
    for child in reversed(children):
        given = [
            value
            for node in ([child] if isinstance(child, Node) else _list_all(child))
            for value in node.outputs
            if value is not None
        ]
        users = [homes.get(user) for value in given for user in value.users]
        is_for_them = all(id(user) in inside or user is child for user in users)
        is_fit = users and is_for_them and not any(value.is_output for value in given)
        if id(child) not in inside and is_fit and all(map(context.is_unchanging, given)):
            inside.add(id(child))
            found.append(child)
    return found[::-1]


def _flatten(child: Child) -> list[Child]:
    """Return a child, or the nodes of one that is preparation or repeats no more: of an idea."""
    is_part = isinstance(child, Group) and child.kind in ("preparation", "repeat")
    if not is_part or not isinstance(child, Group):
        return [child]
    return [*sorted(_walk(child), key=_GET_INDEX)]


def _sums_often(nodes: Sequence[Node]) -> bool:
    return sum(node.operator.has("reduces") for node in nodes) >= _LEAST_SUMS


def _list_all(group: Group) -> list[Node]:
    return list_member_nodes(group, MOST_NODES)


def _find_homes(children: Iterable[Child]) -> dict[Node, Child]:
    """Return which child holds each node."""
    homes: dict[Node, Child] = {}
    for child in children:
        if isinstance(child, Node):
            homes[child] = child
        else:
            homes.update(dict.fromkeys(_walk(child), child))
    return homes


def _walk(group: Group) -> Iterable[Node]:
    pending = [group]
    while pending:
        for child in pending.pop().children:
            if isinstance(child, Node):
                yield child
            else:
                pending.append(child)


def _is_in_circle(block: set[int], children: Sequence[Child], homes: Mapping[Node, Child]) -> bool:
    """Return whether something that takes from some children gives to one of them, too."""
    takers: dict[int, set[int]] = {id(child): set() for child in children}
    for node, home in homes.items():
        for value in node.inputs:
            giver = value.producer if value is not None else None
            source = homes.get(giver) if giver is not None else None
            if source is not None and source is not home:
                takers[id(source)].add(id(home))
    pending = [taker for one in block for taker in takers[one] if taker not in block]
    seen = {*pending}
    while pending:
        for taker in takers[pending.pop()]:
            if taker in block:
                return True
            if taker not in seen:
                seen.add(taker)
                pending.append(taker)
    return False
