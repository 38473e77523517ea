"""Puts preparation and postprocessing into a tree, each piece as one group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from netloupe.explorer.model import Graph, Node, is_constant
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.patterns.masked_pools import SCALING
from netloupe.explorer.roles import PreparationPiece, Roles

from .group import Group, GroupKind
from .joined_children import find_joined_children, list_inner_nodes
from .prepared_members import put_into_members
from .shape_groups import Homes, consumers_in

FreePath = Callable[[Group, str], str]

PREPARATION = "preparation"
POSTPROCESSING = "postprocessing"
#: so many nodes of postprocessing are one group
LEAST_AFTER = 4
#: what postprocessing is about, by operators that are always that: words of this place alone
_AFTER = {
    "ArgMax": "argmax",
    "ArgMin": "argmin",
    "BoxWithNMSLimit": "non-maximum suppression",
    "EfficientNMS_TRT": "non-maximum suppression",
    "LogSoftmax": "log-softmax",
    "NonMaxSuppression": "non-maximum suppression",
    "Normalizer": "normalization",
    "Sigmoid": "sigmoid",
    "Softmax": "softmax",
    "TopK": "top-k",
    "ZipMap": "class labels",
}
#: what ends a head, and belongs to it
_ENDING = ("activates", "distributes", *LAYOUT_TRAITS)
_MOST_NAME = 60
#: of more results what is done in the end is one box
_MOST_RESULTS = 4
#: a scope of so few is what is fed, not only the node in it
_FEW_CHILDREN = 4
#: preparation is a part of a loop's first step where the others have so much of it
_LEAST_SHARED = 0.6


def choose_pieces(roles: Roles, only: frozenset[int] | None) -> list[PreparationPiece]:
    """Return the pieces of preparation whose nodes are shown, at least two of each."""
    if only is None:
        return [*roles.pieces]
    shown = (
        piece._replace(nodes=tuple(index for index in piece.nodes if index in only))
        for piece in roles.pieces
    )
    return [piece for piece in shown if len(piece.nodes) > 1]


def add_preparation(
    root: Group, pieces: Sequence[PreparationPiece], labels: dict[int, str], free_path: FreePath
) -> None:
    """Add groups of kind ``preparation`` to a tree.

    A piece belongs to the innermost group that holds all nodes that it feeds, but not to a repeat
    itself, and stands before the first of them; what is put together of one for each block of a
    stack stands in these. Linear in nodes and edges times the depth of the
    tree.

    Parameters
    ----------
    root
        The tree without these nodes.
    pieces
        Those that are shown.
    labels
        The labels of nodes that stand for a group of one, by index.
    free_path
        Gives an unused path for a child of a group.
    """
    if not pieces:
        return
    graph, homes = root.graph, Homes(root)
    pieces = put_into_members(pieces, homes, graph)
    before: dict[Group, dict[int, list[Group]]] = {}
    places: dict[Group, dict[int, int]] = {}
    # producers come first in a file, so that what a piece feeds is in the tree before it
    for piece in sorted(pieces, key=lambda piece: -piece.nodes[-1]):
        inside = {*piece.nodes}
        users = [
            user
            for index in piece.nodes
            for user in consumers_in(graph.nodes[index], graph)
            if graph.index_of(user) not in inside
        ]
        nodes = [graph.nodes[index] for index in piece.nodes]
        home = _leave_first_step(homes.around(users), nodes, homes)
        if home not in places:
            places[home] = {id(child): place for place, child in enumerate(home.children)}
        fed: dict[int, Group | Node] = {}
        for user in users:
            child = homes.child_holding(home, user)
            if child is not None:
                fed.setdefault(id(child), child)
        purpose = piece.purpose
        name = purpose.name if purpose is not None else _name_by_use([*fed.values()], home, labels)
        last = graph.nodes[piece.nodes[-1]]
        kind: GroupKind = "preparation"
        main = None
        if purpose is not None and purpose.is_idea:
            # where one node gives it, the others only tell how often, or put it elsewhere
            main = last if last.operator.has("repeats") else _find_resizing(nodes)
            kind = "block" if main is None else "operation"
        group = Group(kind, graph, free_path(home, name), name, "", home)
        group.main = main
        group.facts = purpose.facts if purpose is not None else ()
        group.children = [*nodes]
        homes.add(group, home)
        found = [places[home][key] for key in fed if key in places[home]]
        place = min(found, default=len(home.children))
        places[home][id(group)] = place  # what feeds this one stands before the same
        before.setdefault(home, {}).setdefault(place, []).append(group)
    for home, groups in before.items():
        children: list[Group | Node] = []
        for place, child in enumerate(home.children):
            children += reversed(groups.get(place, []))
            children.append(child)
        home.children = [*children, *reversed(groups.get(len(home.children), []))]


def _find_resizing(nodes: Sequence[Node]) -> Node | None:
    """Return the node that makes a map larger or smaller, where there is one."""
    return next((node for node in nodes if node.operator.has("resamples")), None)


def _leave_first_step(home: Group, nodes: Sequence[Node], homes: Homes) -> Group:
    """Return the group around a loop for what its first step alone takes: there its state starts.

    What the other steps have, too, stays in the first, and what takes from one.
    """
    givers = [
        value.producer
        for node in nodes
        for value in node.inputs
        if value is not None and value.producer is not None and value.producer not in nodes
    ]
    around = home
    while around.parent is not None:
        repeat = around.parent
        if repeat.kind == "repeat" and repeat.children[0] is around and repeat.is_loop:
            first, second = (
                Counter(node.op_type for node in list_inner_nodes(step))
                for step in repeat.children[:2]
            )
            own = Counter(node.op_type for node in nodes)
            takes = any(homes.child_holding(repeat, giver) is not None for giver in givers)
            if not takes and (own & (second - first)).total() < _LEAST_SHARED * own.total():
                home = repeat.parent or home
        around = repeat
    return home


def _name_by_use(fed: Sequence[Group | Node], home: Group, labels: dict[int, str]) -> str:
    """Return ``preparation of lm_head`` where one thing is fed, and ``preparation`` otherwise."""
    label = ""
    if len(fed) == 1:
        (child,) = fed
        if isinstance(child, Group) and child.kind == "repeat":
            return PREPARATION  # what a whole stack takes is not part of one name in it
        label = child.label if isinstance(child, Group) else labels.get(child.index, "")
        if not label and isinstance(child, Node):
            is_named = home.kind == "scope" and len(home.children) <= _FEW_CHILDREN
            label = home.label if is_named else child.op_type
    return f"{PREPARATION} of {label}" if 0 < len(label) <= _MOST_NAME else PREPARATION


def add_postprocessing(root: Group, roles: Roles, free_path: FreePath) -> None:
    """Put what is left of postprocessing into groups of kind ``postprocessing``.

    What repeats and blocks hold stays there: such as the end of the last layer; and what stands
    before a block that is an idea of a paper is none. Where several
    nodes of a scope are behind the last weight, give to one another, and one of them tells what
    for, they are a group, in the place of the last of them. A softmax or sigmoid alone ends its
    head.
    """
    if roles.count("postprocessing") < LEAST_AFTER:
        return
    pending = [root]
    while pending:
        group = pending.pop()
        after = [child for child in group.children if _is_after(child, roles)]
        after = after[_find_last_idea(after) + 1 :]
        facts = _tell_all(after)
        count = sum(1 for child in after for _ in list_inner_nodes(child))
        if count >= LEAST_AFTER and facts and len(after) > 1:
            for part in _choose_parts(after, group.graph):
                _wrap_postprocessing(group, part, _tell_all(part), free_path)
        pending += [inner for inner in group.inner_groups() if inner.kind == "scope"]


def _tell_all(children: Sequence[Group | Node]) -> tuple[str, ...]:
    told = [_tell(node) for child in children for node in list_inner_nodes(child)]
    return tuple(dict.fromkeys(filter(None, told)))


def _choose_parts(after: Sequence[Group | Node], graph: Graph) -> list[list[Group | Node]]:
    """Return what becomes postprocessing: each part, or all but the ends of heads as one."""
    parts = [part for part in find_joined_children(after, graph) if not _ends_head(part)]
    counts = [sum(1 for child in part for _ in list_inner_nodes(child)) for part in parts]
    if len(parts) <= _MOST_RESULTS and all(count >= LEAST_AFTER for count in counts):
        return [part for part in parts if len(part) > 1]
    inside = {id(child) for part in parts for child in part}
    together = [child for child in after if id(child) in inside]
    return [together] if len(together) > 1 and sum(counts) >= LEAST_AFTER else []


def _ends_head(part: Sequence[Group | Node]) -> bool:
    return all(node.operator.has(*_ENDING) for child in part for node in list_inner_nodes(child))


def _wrap_postprocessing(
    group: Group, part: list[Group | Node], facts: tuple[str, ...], free_path: FreePath
) -> None:
    """Put children of a group into one of postprocessing, in the place of the last of them."""
    path = free_path(group, POSTPROCESSING)
    inner = Group("postprocessing", group.graph, path, POSTPROCESSING, "", group)
    inner.facts = facts
    inner.children = [*part]
    for child in inner.inner_groups():
        child.parent = inner
    taken, last = {id(child) for child in part}, part[-1]
    group.children = [
        inner if child is last else child
        for child in group.children
        if child is last or id(child) not in taken
    ]


def _find_last_idea(children: Sequence[Group | Node]) -> int:
    """Return the place of the last block among children, which is drawn; -1 where there is none."""
    blocks = [
        place
        for place, child in enumerate(children)
        if isinstance(child, Group) and child.kind == "block" and child.type_name == child.label
        if child.label != SCALING  # boxes are scaled in the end
    ]
    return max(blocks, default=-1)


def _tell(node: Node) -> str:
    """Return what a node of postprocessing is about; "" where it may be for anything."""
    operator = node.operator
    tells_larger = operator.has("compares") and not operator.has("commutative")
    if tells_larger and any(value is not None and is_constant(value) for value in node.inputs):
        return "threshold"
    return _AFTER.get(node.op_type, "")


def _is_after(child: Group | Node, roles: Roles) -> bool:
    """Return whether all nodes of a child are postprocessing; a repeat is never asked to move."""
    if isinstance(child, Group) and child.kind == "repeat":
        return False
    return all(roles.is_postprocessing(node) for node in list_inner_nodes(child))
