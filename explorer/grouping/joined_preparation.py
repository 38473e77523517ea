"""Joins what prepares for the same part of a network into one group that lists what it makes.

Position ids, the masks made of them, cosines and sines: each is a piece of preparation, and many
exporters write ten of them before one stack of layers. Who draws the network draws none, so that
together they are one box; what each is called is seen when it is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Graph, Node, find_outer_node
from netloupe.explorer.progress import step
from netloupe.explorer.roles import EDGE_ENDS, MASK

from .group import Group, adopt
from .member_nodes import list_nodes_inside
from .role_groups import PREPARATION, FreePath
from .shape_groups import Homes, consumers_in

Child = Group | Node

#: the two ends of the edges of a graph, where both are looked up
_BOTH_ENDS = "source, target of edges"
#: what nobody knows the use of, beside what is known
_OTHERS = "others"
#: what something stored has become by a normalization
_TABLE = "normalized table"
#: what leads to some pieces is looked through up to so many children; they have few before them
_MOST_BEFORE = 500


def join_preparation(root: Group, free_path: FreePath) -> None:
    """Join the groups of kind ``preparation`` that stand beside each other and belong together.

    They do where one gives to another, or both give to the same; what serves nothing joins any
    other. A node that turns something stored into what the same part takes joins them, too.
    Nothing is joined where that makes a circle. Linear in nodes and edges times the depth of the
    tree.

    Parameters
    ----------
    root
        The tree; changed.
    free_path
        Gives an unused path for a child of a group.
    """
    homes: Homes | None = None
    pending = [root]
    while pending:
        home = pending.pop()
        if home.kind == "preparation":
            continue
        pending += home.inner_groups()
        pieces = [inner for inner in home.inner_groups() if inner.kind == "preparation"]
        if not pieces or len(pieces) == len(home.children) or home.kind == "repeat":
            continue
        step()
        homes = homes or Homes(root)
        for family in _find_families(home, _Neighbours(home, homes), pieces):
            neighbours = _Neighbours(home, homes)  # families before it are one child now
            if not _makes_circle(neighbours, family):
                _wrap(home, neighbours, family, free_path)


class _Neighbours:
    """Which children of a group give to one of them, and which take from it."""

    def __init__(self, home: Group, homes: Homes) -> None:
        self._home, self._homes = home, homes
        self._takers: dict[int, list[Child]] = {}
        self._givers: dict[int, list[Child]] = {}

    def list_takers(self, child: Child) -> list[Child]:
        """Return the other children that take what one gives."""
        return self._list(child, self._takers, lambda node: consumers_in(node, self._home.graph))

    def list_givers(self, child: Child) -> list[Child]:
        """Return the other children that give to one, be it only a shape."""
        return self._list(child, self._givers, lambda node: _list_producers(node, self._home.graph))

    def _list(
        self,
        child: Child,
        known: dict[int, list[Child]],
        list_nodes_beside: Callable[[Node], Iterator[Node]],
    ) -> list[Child]:
        found = known.get(id(child))
        if found is None:
            others = (
                self._homes.child_holding(self._home, beside)
                for node in list_nodes_inside([child])
                for beside in list_nodes_beside(node)
            )
            distinct = {id(other): other for other in others if other not in (None, child)}
            found = known[id(child)] = [other for other in distinct.values() if other is not None]
        return found


def _list_producers(node: Node, graph: Graph) -> Iterator[Node]:
    for value in (*node.inputs, *node.captures):
        if value is not None and value.producer is not None:
            holder = find_outer_node(value.producer, graph)
            if holder is not None:
                yield holder


def _find_families(
    home: Group, neighbours: _Neighbours, pieces: Sequence[Group]
) -> list[list[Child]]:
    """Return the pieces in a group that belong together, in the order of its children."""
    taken = {id(piece): neighbours.list_takers(piece) for piece in pieces}
    served = {id(taker) for takers in taken.values() for taker in takers}
    for child in home.children:
        if isinstance(child, Node) and _makes_table(child):
            takers = neighbours.list_takers(child)
            if takers and served.issuperset(map(id, takers)):
                taken[id(child)] = takers
    leaders = {key: key for key in taken}

    def find(key: int) -> int:
        while leaders[key] != key:
            leaders[key] = leaders[leaders[key]]
            key = leaders[key]
        return key

    serving = next((key for key, takers in taken.items() if takers), next(iter(taken)))
    firsts: dict[int, int] = {}
    for key, takers in taken.items():
        for taker in map(id, takers):
            leaders[find(key)] = find(taker if taker in taken else firsts.setdefault(taker, key))
        if not takers:
            leaders[find(key)] = find(serving)
    members: dict[int, list[Child]] = {}
    for child in home.children:
        if id(child) in taken:
            members.setdefault(find(id(child)), []).append(child)
    return [family for family in members.values() if len(family) > 1]


def _makes_table(node: Node) -> bool:
    """Return whether a node normalizes what is stored, for all inputs the same."""
    results = [value for value in node.outputs if value is not None]
    return node.operator.has("normalizes") and all(map(is_input_independent, results))


def _makes_circle(neighbours: _Neighbours, family: Sequence[Child]) -> bool:
    """Return whether what some children give may lead back to them by way of others."""
    inside = {id(child) for child in family}
    pending = [
        giver
        for child in family
        for giver in neighbours.list_givers(child)
        if id(giver) not in inside
    ]
    seen = {id(child) for child in pending}
    while pending:
        for giver in neighbours.list_givers(pending.pop()):
            if id(giver) in inside or len(seen) > _MOST_BEFORE:
                return True
            if id(giver) not in seen:
                seen.add(id(giver))
                pending.append(giver)
    return False


def _wrap(
    home: Group, neighbours: _Neighbours, family: Sequence[Child], free_path: FreePath
) -> None:
    """Put some children of a group into one, behind what gives to them where that is possible."""
    inside = {id(child) for child in family}
    takers = {id(taker) for child in family for taker in neighbours.list_takers(child)} - inside
    joined = Group("preparation", home.graph, free_path(home, PREPARATION), PREPARATION, "", home)
    joined.facts = tell_made(family)
    unnamed = (
        one for one in family if isinstance(one, Group) and one.label.startswith(PREPARATION)
    )
    if joined.facts and any(
        id(taker) not in inside for one in unnamed for taker in neighbours.list_takers(one)
    ):
        joined.facts += (_OTHERS,)
    joined.children = [*family]
    adopt(joined)
    keys = [id(child) for child in home.children]
    last = max(place for place, key in enumerate(keys) if key in inside)
    first = min((place for place, key in enumerate(keys) if key in takers), default=len(keys))
    head = family[-1] if last < first else family[0]
    home.children = [
        joined if child is head else child
        for child in home.children
        if child is head or id(child) not in inside
    ]


def tell_made(family: Sequence[Child]) -> tuple[str, ...]:
    """Return what pieces of preparation make, as far as that is certain, each once."""
    made: dict[str, None] = {}
    masks = [child for child in family if isinstance(child, Group) and child.label == MASK]
    labels = [child.label if isinstance(child, Group) else _TABLE for child in family]
    for child, label in zip(family, labels, strict=True):
        if label == MASK:
            made[_tell_masks(masks)] = None
        elif label == EDGE_ENDS and labels.count(label) == 2:
            made[_BOTH_ENDS] = None
        elif not label.startswith(PREPARATION):
            facts = child.facts if isinstance(child, Group) else ()
            made[" ".join((label, *facts))] = None
    return tuple(made)


def _tell_masks(masks: Sequence[Group]) -> str:
    """Return ``causal and padding mask``, or ``causal and window 512 masks`` of several.

    Of one that compares places in a way that is not known, nothing is certain but that it is one.
    """
    told = [*dict.fromkeys(fact for mask in masks for fact in mask.facts)]
    unknown = [mask for mask in masks if not mask.facts]
    if not told or any(node.operator.has("compares_order") for node in list_nodes_inside(unknown)):
        return MASK
    *before, last = told
    which = f"{', '.join(before)} and {last}" if before else last
    return f"{which} {'masks' if len(masks) > 1 and before else 'mask'}"
