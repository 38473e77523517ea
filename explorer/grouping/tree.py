"""The tree of groups of a graph, and how it is made readable."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

import numpy as np

from netloupe.explorer.dataflow import list_users
from netloupe.explorer.model import Graph, Node, find_constant_nodes, find_outer_node
from netloupe.explorer.model.graph import get_inferred_types
from netloupe.explorer.model.reading import get_graph_reading
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.progress import step
from netloupe.explorer.roles import PreparationPiece, find_roles

from .copies import copies_input, find_copies, take_out_copies
from .empty_names import dissolve_empty_names
from .group import Group, adopt
from .hoisting import Hoisted, hoist_shared
from .order import delay_stored, rank_producers_first
from .pyramid_modules import dissolve_pyramids
from .recursion import dissolve_recursion
from .role_groups import choose_pieces
from .scopes import Scope, Scopes, find_scopes, join_unscoped
from .simplify import simplify_tree
from .wrappers import dissolve_wrappers

#: an operation of the author's program becomes a group where it makes at least so many nodes
_MIN_OPERATOR_NODES = 3

#: a group is found by so many last parts of its path at most, or else by all of it
_MOST_ENDS = 40

_GET_LOW, _GET_INDEX = attrgetter("low"), attrgetter("index")


class GroupTree:
    """The groups of one graph.

    Parameters
    ----------
    root
        The group of the whole graph.
    """

    def __init__(self, graph: Graph, root: Group) -> None:
        self.graph = graph
        self.root = root
        #: by path; a collapsed chain is found under the paths of all its levels, and what was
        #: dissolved under its own
        self.groups: dict[str, Group] = {}
        #: position of each node in the tree's order, by index; -1 for constants
        #: and other nodes that are not shown
        self.positions: list[int] = [-1] * len(graph.nodes)
        #: the nodes in the tree's order: those of a group are ``order[low:high]``
        self.order: list[Node] = []
        #: the label of a node that stands for a group of one, by index
        self.node_labels: dict[int, str] = {}
        #: the only nodes of groups of one, by the paths of these groups
        self.singles: dict[str, Node] = {}
        #: labels and types of groups that are not to be called what they were recognised as
        self.told_labels: dict[Group, tuple[str, str]] = {}
        #: what types were inferred when it was made
        self._types = _find_types(graph)
        #: paths of groups by how they are written and by each of their ends
        self._whole: dict[str, list[str]] | None = None
        self._ends: dict[str, list[str]] = {}

    @property
    def is_up_to_date(self) -> bool:
        """Whether no types have been inferred since."""
        now = _find_types(self.graph)
        return all(one is other for one, other in zip(self._types, now, strict=True))

    def position_of(self, node: Node) -> int:
        """Return the position of a node of the graph in the tree's order; -1 for one not shown."""
        return self.positions[self.graph.index_of(node)]

    def holds(self, group: Group, node: Node) -> bool:
        """Return whether a node of the graph is inside a group, at any depth."""
        return group.low <= self.position_of(node) < group.high

    def group_of(self, node: Node) -> Group | None:
        """Return the innermost group of a node of the graph; None for one that is not shown."""
        position = self.position_of(node)
        if position < 0:
            return None
        group = self.root
        while True:
            inner = group.inner_groups()
            place = bisect_right(inner, position, key=_GET_LOW) - 1
            if place < 0 or position >= inner[place].high:
                return group
            group = inner[place]

    def find(self, text: str) -> Group | Node | None:
        """Return the group that a person means: ``blocks/1``, ``blocks.1.conv``, ``h.3``.

        Parameters
        ----------
        text
            The group's path, or the end of one that no other group shares; dots and slashes
            count alike. A group of one gives its node.
        """
        exact = self.groups.get(text) or self.singles.get(text)
        if exact is not None:
            return exact
        wanted = _normalize(text)
        if self._whole is None:
            self._whole = {}
            for path in (*self.groups, *self.singles):
                whole = _normalize(path)
                self._whole.setdefault(whole, []).append(path)
                for end in _list_ends(whole):
                    self._ends.setdefault(end, []).append(path)
        found = self._whole.get(_normalize(self.root.path + text)) or self._whole.get(wanted)
        if found is None:
            found = self._ends.get(wanted, [])
        if len(found) != 1:
            return None
        return self.groups.get(found[0]) or self.singles.get(found[0])


def _find_types(graph: Graph) -> tuple[object, ...]:
    """Return what types were inferred of a graph and of the main one: other objects for others."""
    return get_inferred_types(graph), get_inferred_types(graph.model.graph)


def _normalize(path: str) -> str:
    return path.strip("/").replace(".", "/")


def _list_ends(path: str) -> Iterator[str]:
    """Yield what stands behind each of the last slashes of a path."""
    start = len(path)
    for _ in range(_MOST_ENDS):
        start = path.rfind("/", 0, start)
        if start < 0:
            return
        yield path[start + 1 :]


def build_group_tree(
    graph: Graph, grouping: str = "auto", only: frozenset[int] | None = None
) -> GroupTree:
    """Group the nodes of a graph.

    Parameters
    ----------
    graph
        The graph.
    grouping
        ``auto``: names and modules where they help, then repeats and blocks found by structure
        in what is flat; preparation and postprocessing apart. ``names``, ``modules``: these
        alone. ``repeats``: structure alone. ``none``: no groups.
    only
        Indexes of the nodes that are taken; all where None.
    """
    group_nodes = get_graph_reading(graph).group_nodes
    if group_nodes is not None:
        step("grouping nodes")
        return group_nodes(grouping, only)
    root = Group("graph", graph, graph.path + "/", graph.name)
    tree = GroupTree(graph, root)
    step("grouping nodes")
    named = grouping in ("auto", "names", "modules")
    scopes = find_scopes(graph, grouping) if named else None
    step()
    roles = find_roles(graph) if grouping != "none" else None
    pieces: list[PreparationPiece] = []
    left_out: frozenset[int] = frozenset()
    copies: frozenset[int] = frozenset()
    if roles is not None:
        pieces = choose_pieces(roles, only) if grouping == "auto" else []
        pieces, shared = take_out_copies(graph, pieces)
        left_out = roles.shapes.union(*(piece.nodes for piece in pieces))
        copies = (find_copies(graph, only) - left_out) | shared
        left_out |= copies
    if scopes is None:
        shown = _list_shown(graph, only, left_out)
        if roles is not None:
            shown = _delay_copies(graph, shown, ())
        root.children = [graph.nodes[index] for index in shown]
    else:
        if grouping == "auto" and roles is not None:
            _take_out_of_scopes(scopes, roles.loose)
        hoisted: Mapping[int, Hoisted] = {}
        if grouping == "auto" and roles is not None:
            hoisted = hoist_shared(graph, scopes, left_out.union(roles.constants))
        _add_nodes(tree, scopes, only, left_out, hoisted)
        step()
        _simplify(tree, root, scopes)
        _hoist_only_child(tree)
    operations: dict[int, Group] = {}
    if roles is not None:
        taken = tree.groups.keys() | tree.singles.keys()
        shapes = roles.shapes if only is None else roles.shapes & only
        operations = simplify_tree(
            tree.root,
            tree.node_labels,
            tree.singles,
            {*taken},
            shapes,
            grouping,
            roles,
            pieces,
            copies,
        )
    step()
    number_nodes(tree)
    if operations:  # they stand for the groups of one that their nodes were
        for path, node in [*tree.singles.items()]:
            if node.index in operations:
                del tree.singles[path]
                tree.groups[path] = operations[node.index]
    if grouping == "auto":
        dissolve_recursion(tree.root)
        dissolve_wrappers(tree.root)
        dissolve_empty_names(tree.root)
        dissolve_pyramids(tree.root)
    return tree


def _list_shown(
    graph: Graph,
    only: frozenset[int] | None,
    left_out: frozenset[int],
    *,
    are_stored_delayed: bool = False,
) -> Sequence[int]:
    """Return the indices of the nodes that are shown, each behind what gives it its operands."""
    count = len(graph.nodes)
    hidden = left_out.union(find_constant_nodes(graph))
    ranks = rank_producers_first(graph)
    if are_stored_delayed:
        ranks = delay_stored(graph, ranks)
    if only is not None:
        return sorted(only - hidden, key=ranks.__getitem__)
    shown = [index for index in range(count) if index not in hidden] if hidden else range(count)
    return shown if isinstance(ranks, range) else sorted(shown, key=ranks.__getitem__)


def _delay_copies(
    graph: Graph, shown: Sequence[int], scopes: Sequence[Scope | None]
) -> Sequence[int]:
    """Return the same indices with copies of inputs right before their first use.

    Exporters write them first of all. Only to ask for a shape is no use: the first layer would
    begin with a copy of what is cached for it.
    """
    places: dict[int, float] = {}
    ranks = rank_producers_first(graph)
    first = next((index for index, scope in enumerate(scopes) if scope is not None), 0)
    for index in range(first):
        if not copies_input(graph.nodes[index]):
            continue
        users = list_users(graph.nodes[index])
        using = [
            find_outer_node(user, graph) for user in users if not user.operator.has("reads_shape")
        ]
        own = [ranks[graph.index_of(node)] for node in using if node is not None]
        places[index] = min(own, default=ranks[index]) - 0.5
    return sorted(shown, key=lambda index: places.get(index, ranks[index])) if places else shown


def _take_out_of_scopes(scopes: Scopes, loose: frozenset[int]) -> None:
    """Let few nodes of preparation join what they feed, unless they are all of a module."""
    counts = Counter(scope for index in loose if (scope := scopes.of_node[index]))
    modules = {scope for scope, count in counts.items() if count > 1} - scopes.operator_scopes
    if modules:
        others = scopes.of_node.copy()
        for index in loose:
            others[index] = None
        held = {*filter(None, others)}
        depths = {*map(len, modules)}
        modules.difference_update(scope[:depth] for scope in held for depth in depths)
    for index in loose:
        if scopes.of_node[index] not in modules:
            scopes.of_node[index] = None


def _add_nodes(
    tree: GroupTree,
    scopes: Scopes,
    only: frozenset[int] | None,
    left_out: frozenset[int],
    hoisted: Mapping[int, Hoisted],
) -> None:
    """Put every node under the groups of its scope, in the order of first appearance.

    What all blocks share stands before them.
    """
    by_scope: dict[Scope, Group] = {(): tree.root}
    joined = join_unscoped(tree.graph, scopes.of_node)
    for index, one in hoisted.items():
        joined[index] = one.block[:-1]
    alone = _list_scopes_of_one(joined, scopes)
    add, nodes = tree.root.children.append, tree.graph.nodes
    last: Scope = ()
    shown = _list_shown(tree.graph, only, left_out, are_stored_delayed=True)
    shown = _delay_copies(tree.graph, shown, scopes.of_node)
    if hoisted:
        shown = _put_before_blocks(shown, joined, hoisted)
    for index in shown:
        scope = joined[index]
        if scope is not last:
            last = scope
            if scope in alone:
                group, name = _find_around(tree, scopes, by_scope, scope), scope[-1]
                group.children.append(nodes[index])
                tree.node_labels[index] = name
                tree.singles[f"{group.path}{name}/"] = nodes[index]
                continue
            group = by_scope.get(scope) or _make_group(tree, scopes, by_scope, scope)
            add = group.children.append
        add(nodes[index])


def _put_before_blocks(
    shown: Sequence[int], joined: Sequence[Scope], hoisted: Mapping[int, Hoisted]
) -> Sequence[int]:
    """Return indices of nodes in order, with what blocks share before the first one of them."""
    first: dict[Scope, int] = {}
    blocks = {one.block for one in hoisted.values()}
    depths = {len(block) for block in blocks}
    for place, index in enumerate(shown):
        for depth in depths:
            block = joined[index][:depth]
            if block in blocks:
                first.setdefault(block, place)
    places: dict[int, float] = {index: place for place, index in enumerate(shown)}
    for index, one in hoisted.items():
        places[index] = first.get(one.block, places.get(index, 0)) - 0.5
    return sorted(shown, key=places.__getitem__)


def _list_scopes_of_one(joined: Sequence[Scope], scopes: Scopes) -> set[Scope]:
    """Return the scopes of one node each and nothing else.

    They get no group at all; most scopes of a model are such, of a module that has a weight.
    """
    counts = Counter(joined)
    larger: set[Scope] = set()
    for scope in counts:
        outer = scope[:-1]
        while outer not in larger:  # those between may have no node of their own
            larger.add(outer)
            outer = outer[:-1]
    larger |= scopes.operator_scopes
    return {scope for scope, count in counts.items() if count == 1 and scope not in larger}


def _find_around(
    tree: GroupTree, scopes: Scopes, by_scope: dict[Scope, Group], scope: Scope
) -> Group:
    """Return the group of the scope around one, made where there is none yet."""
    group = by_scope.get(scope[:-1])
    if group is None:
        known = len(scope) - 2
        while scope[:known] not in by_scope:
            known -= 1
        for length in range(known + 1, len(scope)):
            group = _make_group(tree, scopes, by_scope, scope[:length])
        assert group is not None  # noqa: S101 - there is one at least
    return group


def _make_group(
    tree: GroupTree, scopes: Scopes, by_scope: dict[Scope, Group], scope: Scope
) -> Group:
    group = _find_around(tree, scopes, by_scope, scope)
    name, type_name = scope[-1], scopes.type_names.get(scope, "")
    inner = Group("scope", tree.graph, f"{group.path}{name}/", name, type_name, group)
    group.add(inner)
    by_scope[scope] = inner
    return inner


def _says_nothing(group: Group) -> bool:
    """Return whether the group of an operator has few nodes, or one that lays out or joins alone.

    What a quantizer put behind a Reshape makes no group of it.
    """
    children = group.children
    if len(children) < _MIN_OPERATOR_NODES:
        return True
    nodes = [child for child in children if isinstance(child, Node)]
    written = [node for node in nodes if not node.operator.has("dequantizes", "quantizes")]
    is_only = len(nodes) == len(children) and len(written) == 1
    return is_only and written[0].operator.has("joins", *LAYOUT_TRAITS)


def _simplify(tree: GroupTree, root: Group, scopes: Scopes) -> None:
    """Dissolve small groups and collapse chains, from the innermost groups outwards."""
    operators = {root.path + "/".join(scope) + "/" for scope in scopes.operator_scopes}
    order = [root]
    for group in order:
        order += group.inner_groups()
    for group in reversed(order):
        if not group.inner_groups():
            continue
        children: list[Group | Node] = []
        groups: list[Group] = []
        for child in group.children:
            if isinstance(child, Node):
                children.append(child)
            elif child.path in operators and _says_nothing(child):
                children.extend(child.children)
                groups += child.inner_groups()
            elif len(child.children) == 1 and isinstance(child.children[0], Node):
                node = child.children[0]
                inner = tree.node_labels.get(node.index, "")
                tree.node_labels[node.index] = _join_labels(child.label, inner)
                tree.singles[child.path] = node
                children.append(node)
            else:
                kept = child
                child.names_operator = child.path in operators
                if len(child.children) == 1:
                    kept = _collapse(tree, child, operators)
                children.append(kept)
                groups.append(kept)
        group.replace(children, groups)


def _join_labels(outer: str, inner: str) -> str:
    """Return the label of what is all of a scope; one that begins with the scope's says enough."""
    if inner.startswith(outer) and not inner[len(outer) :][:1].isdigit():
        return inner
    return " / ".join(filter(None, (outer, inner)))


def _collapse(tree: GroupTree, outer: Group, operators: set[str]) -> Group:
    """Merge a group with its only child group into one that keeps the inner path."""
    inner = outer.children[0]
    assert isinstance(inner, Group)  # noqa: S101 - the caller's case distinction
    if inner.path in operators:
        inner.label = outer.label
        inner.names_operator = outer.names_operator
    else:
        inner.label = _join_labels(outer.label, inner.label)
    inner.type_name = inner.type_name or outer.type_name
    tree.groups[outer.path] = inner
    return inner


def _hoist_only_child(tree: GroupTree) -> None:
    """Take away a single group around everything; its name becomes the graph's."""
    root = tree.root
    while len(root.children) == 1 and isinstance(root.children[0], Group):
        only = root.children[0]
        root.children = only.children
        root.type_name = only.type_name
        tree.groups[only.path] = root
        adopt(root)


def number_nodes(tree: GroupTree) -> None:
    """Give the nodes numbers in the tree's order, so that a group is a range of numbers."""
    order, groups, root = tree.order, tree.groups, tree.root
    root.low = len(order)
    groups.setdefault(root.path, root)
    pending: list[tuple[Group, Iterator[Group | Node]]] = [(root, iter(root.children))]
    while pending:
        group, children = pending[-1]
        for child in children:
            if isinstance(child, Node):
                order.append(child)
                continue
            child.low = len(order)
            groups.setdefault(child.path, child)
            alone = child.nodes_alone()
            if not alone:
                pending.append((child, iter(child.children)))
                break
            order += alone
            child.high = len(order)
            child.node_count = child.high - child.low
        else:
            group.high = len(order)
            group.node_count = group.high - group.low
            pending.pop()
    positions = np.full(len(tree.graph.nodes), -1)
    positions[[*map(_GET_INDEX, order)]] = np.arange(len(order))
    tree.positions = positions.tolist()
