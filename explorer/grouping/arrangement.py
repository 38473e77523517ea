"""Single nodes that only arrange values: each is put to the operation that it serves.

A Reshape between a norm and a product, a Cast of what an embedding gives, a Transpose before a
convolution, the bias behind a product tell nothing by themselves. So each joins what takes its
result, or what gives to it where that is better: where several take the result, or only a residual
sum, an output or a stack of blocks does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from netloupe.explorer.dataflow import trace_on
from netloupe.explorer.model import Graph, Node, find_nodes_where, find_nodes_with
from netloupe.explorer.operators import LAYOUT_TRAITS, Operator
from netloupe.explorer.patterns.idle_nodes import chooses_shape, list_idle
from netloupe.explorer.patterns.layer_biases import list_biases
from netloupe.explorer.patterns.picked_tokens import read_picked_token
from netloupe.explorer.patterns.scalings import list_scalings
from netloupe.explorer.progress import step
from netloupe.explorer.roles import Roles, find_purpose, find_weight

from .arrangement_targets import ArrangementTargets, Child, NodeHomes, list_producers
from .group import Group
from .module_input_nodes import PASSING_TRAITS
from .role_groups import PREPARATION, FreePath
from .shape_groups import consumers_in
from .thresholds import compares_with_thresholds

#: what computes nothing of a network: it moves values, counts, or tells true from false; and what
#: a quantizer put between the operators of a network
_ARRANGING = (
    *LAYOUT_TRAITS,
    *("accumulates", "compares", "counts", "fills", "logical", "masks", "reads_shape", "repeats"),
    *("dequantizes", "quantizes"),
)
#: a graph of so few nodes is shown as it stands, for all of it is open; in one that has blocks only
#: what lays out joins what it serves
_MOST_OPEN = 15
#: in a graph of more nodes the first view opens no group inside of a repetition
_MOST_DEEP = 20_000
#: what takes the first token or the last step of a sequence for itself
_LAYERS = ("convolves", "multiplies", "normalizes")
#: what stands between, and how many of it are followed
_PASSED, _MOST_BEHIND = (*LAYOUT_TRAITS, "quantizes", "dequantizes"), 6


def join_arrangement(
    root: Group,
    roles: Roles,
    labels: Mapping[int, str],
    singles: Mapping[str, Node],
    free_path: FreePath,
) -> dict[int, Group]:
    """Join each node that only arranges, and stands alone, to the operation that it serves.

    Where that is a group, the node moves into it. Where it is a node, both are a group of kind
    ``operation``, which has the node's label. Repeats keep their blocks, and no joining makes a
    cycle: a node joins what alone takes its results, or what alone gives to it. What is left of
    preparation then is a piece of preparation by itself. Inside of the blocks of a repeat of a
    very large graph only what they hold themselves is looked at. Linear in the nodes that arrange
    and their neighbours, times the depth of the tree.

    Parameters
    ----------
    root
        A tree without arithmetic on shapes; changed.
    roles
        Those of the graph's nodes.
    labels
        The labels of nodes that stand for a group of one, by index.
    singles
        These nodes by the paths of these groups.
    free_path
        Gives an unused path for a child of a group.

    Returns
    -------
    dict
        The groups of kind ``operation`` by the index of the node that computes.
    """
    is_small = len(root.graph.nodes) - len(roles.constants) - len(roles.shapes) <= _MOST_OPEN
    if is_small and (not _has_blocks(root) or any(map(_has_steps, root.graph.nodes))):
        return {}
    nodes = root.graph.nodes
    found = find_nodes_where(root.graph, _only_arranges).tolist()
    # what gives a scale, too, stands with the products that take it
    found = [index for index in found if not _gives_scale(nodes[index])]
    arranging = {index for index in roles.loose if _may_prepare(nodes[index].operator)}
    arranging = arranging.union(found) - roles.shapes - {*roles.constants}
    compared = {*find_nodes_with(root.graph, "compares_order").tolist()}
    arranging -= {
        index for index in compared.intersection(found) if compares_with_thresholds(nodes[index])
    }
    arranging.update(_list_picks(root.graph))
    arranging.update(list_idle(root.graph))
    choices = find_nodes_with(root.graph, "branches").tolist()
    arranging.update(index for index in choices if chooses_shape(nodes[index]))
    if is_small:
        arranging = {index for index in arranging if _lays_out(nodes[index], roles)}
    biases = {*list_biases(root.graph)} - roles.shapes
    if not arranging and not biases:
        return {}
    ending = frozenset(list_scalings(root.graph)) | biases
    joiner = _Joiner(root, roles, labels, singles, free_path, arranging | ending, ending)
    is_large = len(nodes) > _MOST_DEEP
    pending = [(root, False)]
    while pending:
        group, is_repeated = pending.pop()
        if group.kind in ("operation", "preparation", "shape"):
            continue
        if group.kind != "repeat":
            joiner.join(group)
        is_repeated |= is_large and group.kind == "repeat"
        for inner in group.inner_groups():
            if not is_repeated or "repeat" in (group.kind, inner.kind):
                pending.append((inner, is_repeated))
    return joiner.operations


def _has_blocks(root: Group) -> bool:
    """Return whether there are blocks that were found, and no stack of these at any depth."""
    inner = root.inner_groups()[:]
    for group in inner:
        inner += group.inner_groups()
    kinds = {group.kind for group in inner}
    return "repeat" not in kinds and bool(kinds - {"scope"})


def _lays_out(node: Node, roles: Roles) -> bool:
    return node.operator.has(*LAYOUT_TRAITS) and roles.of(node) != "preparation"


def _has_steps(node: Node) -> bool:
    """Return whether a node runs graphs, and these compute."""
    return any(True for _ in node.subgraphs) and not chooses_shape(node)


def _only_arranges(operator: Operator) -> bool:
    # a fill of Caffe2 that is no constant is an output, and belongs to nothing else
    return operator.has(*_ARRANGING) and not operator.has("stores_constant")


def _list_picks(graph: Graph) -> Iterator[int]:
    """Yield the nodes that take one place of a sequence for one layer with weights, or a norm."""
    for index in find_nodes_with(graph, "gathers", "slices").tolist():
        node = graph.nodes[index]
        result = node.output(0)
        if result is None or result.is_output or len(result.users) != 1:
            continue
        takers = [taker for taker, _ in trace_on(result, *_PASSED, most=_MOST_BEHIND)]
        is_layer = len(takers) == 1 and takers[0].operator.has(*_LAYERS)
        if is_layer and find_weight(takers[0]) is not None and read_picked_token(node):
            yield index


def _gives_scale(node: Node) -> bool:
    return len(node.outputs) > 1 and node.operator.has("quantizes")


def _may_prepare(operator: Operator) -> bool:
    """Return whether it computes nothing of a network either, where it prepares something."""
    return operator.has("joins", "picks") or operator.form == "Gather"


class _Joiner:
    """Joins nodes in one group after the other, those around others first."""

    def __init__(
        self,
        root: Group,
        roles: Roles,
        labels: Mapping[int, str],
        singles: Mapping[str, Node],
        free_path: FreePath,
        arranging: set[int],
        ending: frozenset[int],
    ) -> None:
        self._graph: Graph = root.graph
        self._ending = ending
        self._roles, self._labels, self._free_path = roles, labels, free_path
        self._arranging = arranging
        self._homes = NodeHomes(root)
        self._singles = singles
        self.operations: dict[int, Group] = {}

    @cached_property
    def _paths(self) -> dict[int, str]:
        """The innermost paths of groups of one, by the index of their node."""
        return {node.index: path for path, node in reversed([*self._singles.items()])}

    def join(self, group: Group) -> None:
        """Join the nodes among the children of a group that only arrange."""
        loose = [
            child
            for child in group.children
            if isinstance(child, Node) and child.index in self._arranging
        ]
        if not loose:
            return
        step()
        loose.sort(key=lambda node: node.index)
        targets = ArrangementTargets(
            *(group, self._homes, self._roles, self._labels, loose, self._ending)
        )
        chosen = targets.choose(loose)
        left = [node for node in loose if node.index not in chosen]
        self._wrap_operations(group, targets, chosen)
        self._wrap_preparation(group, targets.list_preparation(left))
        if group.kind in ("scope", "block"):
            for node in left:
                self._move_out(node, group)
            self._wrap_branchings(group, left)

    def _wrap_operations(
        self, group: Group, targets: ArrangementTargets, chosen: Mapping[int, Child]
    ) -> None:
        members: dict[int, tuple[Child, list[Node]]] = {}
        for index in sorted(chosen):
            head = targets.resolve(chosen[index])
            members.setdefault(id(head), (head, []))[1].append(self._graph.nodes[index])
        made: dict[int, Group] = {}
        for key, (head, nodes) in members.items():
            if isinstance(head, Group):
                self._move(nodes, head)
            else:
                made[key] = self._make_operation(group, head, nodes)
        gone = {id(self._graph.nodes[index]) for index in chosen}
        group.children = [
            made.get(id(child), child) for child in group.children if id(child) not in gone
        ]

    def _move(self, nodes: Sequence[Node], home: Group) -> None:
        """Put nodes into a group, before the first child behind them in the file's order."""
        children = home.children
        for node in nodes:
            place = next(
                (place for place, child in enumerate(children) if _find_first(child) > node.index),
                len(children),
            )
            children = [*children[:place], node, *children[place:]]
            self._homes.settle(node, home)
        home.children = children

    def _make_operation(self, home: Group, main: Node, nodes: Sequence[Node]) -> Group:
        label = self._labels.get(main.index, "")
        path = self._paths.get(main.index)
        if path is None:
            path = self._free_path(home, label.rsplit(" / ", 1)[-1] or main.op_type)
        group = Group("operation", self._graph, path, label or main.op_type, main.op_type, home)
        group.main = main
        children = sorted((*nodes, main), key=lambda node: node.index)
        group.children = [*children]
        self._homes.add(group, home)
        self.operations[main.index] = group
        return group

    def _move_out(self, node: Node, group: Group) -> None:
        """Join a node of a group to what alone gives to it beside the group, or takes from it.

        It takes from it behind a stack, which keeps its blocks.
        """
        parent = group.parent
        if parent is None or parent.kind == "repeat" or len(group.children) < 2:
            return
        givers = {*list_producers(node)}
        if len(givers) != 1 or self._homes.find(node) is not group:
            return
        child = self._homes.child_holding(parent, *givers)
        if child is group:
            before = self._homes.child_holding(group, *givers)
            if isinstance(before, Group) and before.kind == "repeat":
                takers = (*consumers_in(node, self._graph),)
                child = self._homes.child_holding(parent, takers[0]) if takers else None
        if child is None or child is group:
            return
        targets = ArrangementTargets(parent, self._homes, self._roles, self._labels, [node])
        if targets.choose([node]).get(node.index) is not child:
            return
        group.children = [other for other in group.children if other is not node]
        self._wrap_operations(parent, targets, {node.index: child})

    def _wrap_branchings(self, group: Group, left: Sequence[Node]) -> None:
        """Make an operation of what the stream only passes through before it branches.

        That is a Cast or Identity, or a row of them, whose result several children take.
        """
        there = {id(child) for child in group.children}
        rows: dict[Node, list[Node]] = {}
        for node in left:
            if id(node) not in there or node.index in self._labels:
                continue
            if not node.operator.has(*PASSING_TRAITS):
                continue
            before: list[Node] = []
            for giver in list_producers(node):
                if giver in rows and {*consumers_in(giver, self._graph)} == {node}:
                    before = rows.pop(giver)
            rows[node] = [*before, node]
        made: dict[int, Group] = {}
        for node, row in rows.items():
            users = consumers_in(node, self._graph)
            if len({id(self._homes.child_holding(group, user)) for user in users}) > 1:
                made[id(node)] = self._make_operation(group, node, row[:-1])
        if made:
            gone = {id(child) for operation in made.values() for child in operation.children}
            group.children = [
                made.get(id(child), child)
                for child in group.children
                if id(child) in made or id(child) not in gone
            ]

    def _wrap_preparation(self, home: Group, nodes: Sequence[Node]) -> None:
        """Make pieces of preparation of some nodes: each with those that take from it alone."""
        pieces: dict[int, list[Node]] = {}
        of_node: dict[Node, list[Node]] = {}
        for node in nodes:
            givers = {*list_producers(node)}
            piece = of_node.get(givers.pop()) if len(givers) == 1 else None
            if piece is None:
                piece = pieces[node.index] = []
            piece.append(node)
            of_node[node] = piece
        children: list[Child] = []
        for child in home.children:
            if not isinstance(child, Node) or child not in of_node:
                children.append(child)
            elif child.index in pieces:
                piece = pieces[child.index]
                is_told = len(piece) == 1 and child.operator.has("joins", "slices", "splits")
                children.append(child if is_told else self._make_preparation(home, piece))
        if pieces:
            home.children = children

    def _make_preparation(self, home: Group, nodes: list[Node]) -> Group:
        indices = [node.index for node in nodes]
        purpose = find_purpose(self._graph, self._roles.shapes, indices)
        name = purpose.name if purpose is not None else PREPARATION
        group = Group("preparation", self._graph, self._free_path(home, name), name, "", home)
        group.facts = purpose.facts if purpose is not None else ()
        group.children = [*nodes]
        self._homes.add(group, home)
        return group


def _find_first(child: Child) -> int:
    """Return the index of the first node of a child."""
    while isinstance(child, Group):
        if not child.children:
            return 0
        child = child.children[0]
    return child.index
