"""What groups are recognised as: asked for one by one, and kept.

Groups that are alike, as the layers of a stack, are looked at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from netloupe.explorer.model import Function, Graph, Model, Node
from netloupe.explorer.patterns import (
    MOST_NODES,
    Detail,
    Recognition,
    know,
    try_to_recognise,
)

from .alike import Key, KeyWriter

if TYPE_CHECKING:
    from .group import Group

#: so many nodes of a stack's blocks are looked at; of a larger stack evenly chosen blocks
_MOST_COMPARED = 4_000
#: what functions were recognised as, by their paths
_FUNCTIONS: WeakKeyDictionary[Model, dict[str, Recognition | None]] = WeakKeyDictionary()


class Recogniser:
    """Tells what the groups of one tree are.

    Parameters
    ----------
    graph
        The graph of the tree.
    """

    def __init__(self, graph: Graph) -> None:
        self._knowledge = know(graph)
        #: what groups that look so were recognised as
        self._known: dict[Key, Recognition | None] = {}
        self._keys = KeyWriter()
        #: groups that are not told what they are, and names that none is given
        self.unnamed: frozenset[Group] = frozenset()
        self.names_left_out: frozenset[str] = frozenset()
        #: those of these names that would have been given
        self.names_met: set[str] = set()

    def recognise(self, group: Group) -> Recognition | None:
        """Return what a group is; None where that is not known, or not to be told.

        Of a stack of blocks it is told what all of them are, as far as they agree.
        """
        if group in self.unnamed:
            return None
        found = self._recognise(group)
        if found is not None and found.name in self.names_left_out:
            self.names_met.add(found.name)
            return None
        return found

    def _recognise(self, group: Group) -> Recognition | None:
        if group.is_beside or group.kind in ("part", "shape"):
            return None
        if group.kind == "repeat":
            return self._recognise_repeat(group)
        nodes = list_member_nodes(group, MOST_NODES)
        if not nodes or _is_around_stack(group):
            return None
        found = self._recognise_nodes(nodes, self._keys.write(nodes), self._known)
        return replace(found, nodes=tuple(nodes)) if found is not None else None

    def _recognise_nodes(
        self, nodes: Sequence[Node], key: Key, known: dict[Key, Recognition | None]
    ) -> Recognition | None:
        if key not in known:
            known[key] = try_to_recognise(nodes, self._knowledge)
        return known[key]

    def _recognise_repeat(self, group: Group) -> Recognition | None:
        """Return what the blocks of a stack are, and those facts that hold for all of them."""
        blocks = [child for child in group.children if not isinstance(child, Node)]
        size = blocks[0].node_count if blocks else 0
        if not 0 < size <= MOST_NODES or len(blocks) < len(group.children):
            return None
        step = -(-len(blocks) * size // _MOST_COMPARED)
        exemplar = blocks[group.exemplar]
        chosen = dict.fromkeys([exemplar, *blocks[::step], blocks[-1]])
        known: dict[Key, Recognition | None] = {}
        found: dict[Group, Recognition] = {}
        for block in chosen:
            nodes = list_member_nodes(block, MOST_NODES)
            # blocks of one stack have the same place in the model: masks need no comparison
            key = self._keys.write(nodes, with_masks=False)
            one = self._recognise_nodes(nodes, key, known) if nodes else None
            if one is None or (found and one.name != found[exemplar].name):
                return None
            found[block] = one
        return _join(found[exemplar], found[blocks[0]], found[blocks[-1]], [*found.values()])


def _is_around_stack(group: Group) -> bool:
    """Return whether a group is mainly a stack of blocks, other than experts side by side."""
    pending = [*group.inner_groups()]
    while pending:
        inner = pending.pop()
        if 2 * inner.node_count <= group.node_count:
            continue
        if inner.kind == "repeat" and len(inner.children) > 2:
            block = inner.children[inner.exemplar]
            if isinstance(block, Node):
                return False
            found = block.recognised
            return found is None or not found.name.endswith(("MLP", "GLU"))
        pending += inner.inner_groups()
    return False


def recognise_function(function: Function) -> Recognition | None:
    """Return what the body of a function is, without its nodes; None where that is not known."""
    known = _FUNCTIONS.setdefault(function.model, {})
    if function.path not in known:
        found = try_to_recognise(function.nodes)
        known[function.path] = replace(found, nodes=()) if found is not None else None
    return known[function.path]


def list_member_nodes(group: Group, most: int) -> list[Node]:
    """Return the nodes of a group at any depth in file order, arithmetic on shapes left out.

    Nothing where there are more than ``most``.
    """
    nodes: list[Node] = []
    pending: list[Group] = [group]
    while pending:
        inner = pending.pop()
        for child in inner.children:
            if isinstance(child, Node):
                nodes.append(child)
            elif child.kind != "shape":
                pending.append(child)
        if len(nodes) > most:
            return []
    return sorted(nodes, key=lambda node: node.index)


def _join(
    exemplar: Recognition, first: Recognition, last: Recognition, found: Sequence[Recognition]
) -> Recognition:
    """Return what holds for all blocks of a stack, and how many features go in and come out."""
    shared = tuple(fact for fact in exemplar.facts if all(fact in one.facts for one in found))
    details: dict[str, Detail] = {
        key: value
        for key, value in exemplar.details.items()
        if all(one.details.get(key) == value for one in found)
    }
    widths = _write_widths(first, last)
    if widths and widths not in shared:
        shared = (widths, *shared)
        details |= {"in": first.details["in"], "out": last.details["out"]}
    return replace(exemplar, facts=shared, details=details)


def _write_widths(first: Recognition, last: Recognition) -> str:
    """Return how many features a stack takes and gives, where its blocks say so."""
    taken, given = first.details.get("in"), last.details.get("out")
    if isinstance(taken, int) and isinstance(given, int):
        return f"{taken} → {given}"
    return ""
