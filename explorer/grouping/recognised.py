"""What groups are recognised as: asked for one by one, and kept.

Groups that are alike, as the layers of a stack, are looked at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from netloupe.explorer.model import Function, Graph, Model, Node
from netloupe.explorer.patterns import (
    MOST_NODES,
    WORK,
    Ingredient,
    Recognition,
    find_graph_context,
    is_mere_arithmetic,
    try_to_recognise,
)
from netloupe.explorer.roles import find_weight

from .alike import Key, KeyWriter
from .contents import find_contents, find_inner_u
from .member_nodes import is_layer, list_member_nodes, list_nodes_inside
from .stack_facts import Member, join_facts

if TYPE_CHECKING:
    from .group import Group

#: so many nodes of a stack's blocks are looked at; of a larger stack evenly chosen blocks
_MOST_COMPARED = 4_000
#: the other blocks of a stack of so many nodes are told by the dimensions of their weights; of a
#: larger one only what was looked at is known
_MOST_MEASURED = 30_000
#: how what experts are is called
_EXPERTS = ("MLP", "GLU")
#: what functions were recognised as, by their paths
_FUNCTIONS: WeakKeyDictionary[Model, dict[str, Recognition | None]] = WeakKeyDictionary()


class Recogniser:
    """Tells what the groups of one tree are."""

    def __init__(self, graph: Graph) -> None:
        self._graph_context = find_graph_context(graph)
        #: what groups that look so were recognised as
        self._known: dict[Key, Recognition | None] = {}
        self._keys = KeyWriter()
        #: what groups are made of
        self._contents: dict[Group, list[Ingredient]] = {}
        self._known_contents: dict[Key, list[Ingredient]] = {}
        #: what groups are that are a U altogether
        self._us: dict[Group, Ingredient | None] = {}
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

    def list_contents(self, group: Group) -> list[Ingredient]:
        """Return what a group is made of; nothing where a rule fails on it.

        Nor is anything told that would say again what a group is not to be called. Groups that are
        alike are looked at once.
        """
        block = group.children[group.exemplar] if group.kind == "repeat" else group
        if group in self.unnamed or block in self.unnamed:
            return []
        found = self._list_contents(group)
        if group.facts and any(one.name == group.type_name for one in found):
            return []  # parts of it that alone would be one
        return [] if any(one.name in self.names_left_out for one in found) else found

    def find_inner_u(self, group: Group) -> Ingredient | None:
        """Return what a group is that is a U altogether; None for others."""
        if group not in self._us:
            try:
                self._us[group] = find_inner_u(group, self._graph_context)
            except (ArithmeticError, LookupError, TypeError, ValueError):
                self._us[group] = None  # as of try_to_recognise
        return self._us[group]

    def _list_contents(self, group: Group) -> list[Ingredient]:
        if group not in self._contents:
            nodes = list_member_nodes(group, MOST_NODES)
            inner = tuple(one.label for one in group.inner_groups())
            key = (*self._keys.write(nodes, with_masks=False), *inner) if nodes else (group,)
            if key not in self._known_contents:
                try:
                    found = find_contents(group, self._graph_context)
                except (ArithmeticError, LookupError, TypeError, ValueError):
                    found = []  # as of try_to_recognise
                self._known_contents[key] = found
            self._contents[group] = self._known_contents[key]
        return self._contents[group]

    def _recognise(self, group: Group) -> Recognition | None:
        if group.is_beside or group.kind in ("part", "shape"):
            return None
        if group.kind == "repeat":
            return self._recognise_repeat(group)
        nodes = list_member_nodes(group, MOST_NODES)
        if not nodes or _is_around_stack(group):
            return None
        # what one operation is, with what lays out for it, may follow from what gives to it
        is_shared = len(nodes) > 1 and group.kind != "operation"
        known = self._known if is_shared else {}
        found = self._recognise_nodes(nodes, self._keys.write(nodes), known)
        is_made = found is not None and group.kind == "block" and group.type_name == found.name
        if found is not None and is_mere_arithmetic(found) and not is_made:
            return None  # an author's module has a name that says more
        return found._replace(nodes=tuple(nodes)) if found is not None else None

    def _recognise_nodes(
        self, nodes: Sequence[Node], key: Key, known: dict[Key, Recognition | None]
    ) -> Recognition | None:
        if key not in known:
            known[key] = try_to_recognise(nodes, self._graph_context)
        return known[key]

    def _recognise_repeat(self, group: Group) -> Recognition | None:
        """Return what the blocks of a stack are, and those facts that hold for all of them."""
        blocks = group.children
        layers = sum(isinstance(block, Node) and is_layer(block) for block in blocks)
        if layers < len(blocks) and any(isinstance(block, Node) for block in blocks):
            return None
        first = blocks[0] if blocks else None
        size = 0 if first is None else 1 if isinstance(first, Node) else first.node_count
        if not 0 < size <= MOST_NODES:
            return None
        step = -(-len(blocks) * size // _MOST_COMPARED)
        exemplar = blocks[group.exemplar]
        chosen = dict.fromkeys([exemplar, *blocks[::step], blocks[-1]])
        known: dict[Key, Recognition | None] = {}
        found: dict[Group | Node, Member] = {}
        for block in chosen:
            if not self._add_block(found, block, known):
                return None
        are_all = len(blocks) * size <= _MOST_MEASURED
        if are_all and len(found) < len(blocks):
            # those of equal weights are what the others are
            measured = {_measure(nodes): one for nodes, one in found.values()}
            for block in blocks:
                if block in found:
                    continue
                nodes = _list_nodes(block)
                one = measured.get(_measure(nodes))
                if one is not None:
                    found[block] = nodes, one
                elif self._add_block(found, block, known):
                    measured[_measure(nodes)] = found[block][1]
                else:
                    return None
        members = [found[block] for block in blocks if block in found]
        return join_facts(found[exemplar][1], members, are_all=are_all)

    def _add_block(
        self,
        found: dict[Group | Node, Member],
        block: Group | Node,
        known: dict[Key, Recognition | None],
    ) -> bool:
        """Find what a block of a stack is; return whether it is what the others are."""
        nodes = _list_nodes(block)
        # blocks of one stack have the same place in the model: masks need no comparison
        key = self._keys.write(nodes, with_masks=False)
        one = self._recognise_nodes(nodes, key, known) if nodes else None
        if one is None or any(one.name != other.name for _, other in found.values()):
            return False
        found[block] = nodes, one
        return True


def _list_nodes(block: Group | Node) -> list[Node]:
    return [block] if isinstance(block, Node) else list_member_nodes(block, MOST_NODES)


def _measure(nodes: Sequence[Node]) -> Key:
    """Return the operators of a block and the dimensions of what it has stored."""
    return tuple(
        (
            node.op_type,
            *(
                value.initializer.dims
                for value in node.inputs
                if value is not None and value.producer is None and value.initializer is not None
            ),
        )
        for node in nodes
    )


def _is_joined_behind(stack: Group) -> bool:
    """Return whether one node behind a stack joins what several of its blocks give."""
    if stack.node_count > MOST_NODES:
        return False
    joins: Counter[Node] = Counter()
    inside = {*list_nodes_inside([stack])}
    for block in stack.children:
        users = {
            user
            for node in list_nodes_inside([block])
            for value in node.outputs
            if value is not None
            for user in value.users
        }
        joins.update(user for user in users - inside if user.operator.has("joins"))
    return any(count > 1 for count in joins.values())


def _is_around_stack(group: Group) -> bool:
    """Return whether a group is mainly a stack of blocks.

    Experts side by side are none, and the steps of a recurrence, which hold no weights. Nor are
    blocks of which several results are joined behind them: that is what the group is about.
    """
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
            if found is None:
                nodes = list_member_nodes(block, MOST_NODES)
                has_weights = any(find_weight(node) is not None for node in nodes)
                is_stack = not nodes or (has_weights and not _is_expert(block, nodes))
            else:
                is_stack = not found.name.endswith(_EXPERTS)
            return is_stack and not _is_joined_behind(inner)
        pending += inner.inner_groups()
    return False


def _is_expert(block: Group, nodes: Sequence[Node]) -> bool:
    """Return whether a block is an MLP that puts what it gives to the places of some tokens.

    Each expert takes the tokens that are sent to it, and the next one puts its own beside them
    (W. Fedus and others, Switch Transformers, 2022, figure 3).
    """
    working = [one.name for one in block.contents if one.rank >= WORK]
    is_one = len(working) == 1 and working[0].endswith(_EXPERTS)
    return is_one and any(node.operator.has("scatters") for node in nodes)


def recognise_function(function: Function) -> Recognition | None:
    """Return what the body of a function is, without its nodes; None where that is not known."""
    known = _FUNCTIONS.setdefault(function.model, {})
    if function.path not in known:
        found = try_to_recognise(function.nodes)
        known[function.path] = found._replace(nodes=()) if found is not None else None
    return known[function.path]
