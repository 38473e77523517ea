"""Pairs of values, tensors and groups, which follow from those of nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from netloupe.explorer.grouping import Group, GroupTree
from netloupe.explorer.grouping.lookup import find_tree
from netloupe.explorer.model import Graph, Node, Tensor, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.progress import step

from .operator_versions import align_operands
from .partitions import pair_parts
from .roles import list_norm_weights

if TYPE_CHECKING:
    from .matching import Matching
    from .pair import Pair

#: groups of which more than so much is the same are the same (Dice's coefficient of their nodes)
_LEAST_SHARE = 0.5
_STEP = 10_000


class GroupPair(NamedTuple):
    """Groups of two models that hold the same nodes, or most of them.

    Parameters
    ----------
    left, right
        The groups.
    share
        How much of them is the same: twice the number of pairs whose nodes are in both, of the
        number of nodes of both (Dice's coefficient); above 0.5, at most 1.
    """

    left: Group
    right: Group
    share: float


def pair_values(matching: Matching) -> dict[Value, Value]:
    """Return by value of the left model that of the right one that is the same.

    They are results and operands of paired nodes, and inputs of paired graphs; each is in one
    pair at most. What several nodes give as one result, as a convolution and the batch
    normalization behind it, is paired where both sides give one only.
    """
    return _ValuePairs(matching).run()


class _ValuePairs:
    def __init__(self, matching: Matching) -> None:
        self.matching = matching
        self.found: dict[Value, Value] = {}
        self._taken: set[Value] = set()

    def run(self) -> dict[Value, Value]:
        matching = self.matching
        self._pair_parts()
        for left, right in matching.graphs:
            self._pair_inputs(left, right)
        for number, pair in enumerate(matching.pairs):
            if not number % _STEP:
                step()
            self._pair_results(pair)
        fused = []
        for pair in matching.pairs:  # constants among operands
            if len(pair.left) != 1 or len(pair.right) != 1:
                fused.append(pair)
                continue
            for one, other in zip(*align_operands(pair.left[0], pair.right[0]), strict=False):
                if one is not None and other is not None and _are_constants(one, other):
                    self._add(one, other)
        for pair in fused:  # what stands in them may have been calculated from what others take
            if pair not in matching.joined:
                self._pair_weights(pair)
        self._pair_named()
        return self.found

    def _add(self, one: Value, other: Value) -> None:
        if one not in self.found and other not in self._taken:
            self.found[one] = other
            self._taken.add(other)

    def _pair_parts(self) -> None:
        """Pair what projections give with the parts of what a joined one gives."""
        for joint in self.matching.joined.values():
            for one in joint.parts:
                if one.result is not None and one.part is not None:
                    self._add(
                        *((one.part, one.result) if joint.is_left else (one.result, one.part))
                    )

    def _pair_inputs(self, left: Graph, right: Graph) -> None:
        """Pair what graphs take: by name, and where they take as much, else by place."""
        sides = [[v for v in graph.inputs if v.initializer is None] for graph in (left, right)]
        named = {value.name: value for value in sides[1]}
        for value in sides[0]:
            if value.name in named:
                self._add(value, named[value.name])
        if len(sides[0]) == len(sides[1]):
            for one, other in zip(*sides, strict=True):
                self._add(one, other)

    def _pair_results(self, pair: Pair) -> None:
        if len(pair.left) == len(pair.right) == 1:
            for one, other in zip(pair.left[0].outputs, pair.right[0].outputs, strict=False):
                if one is not None and other is not None:
                    self._add(one, other)
            return
        for one, other in pair_parts(pair.left, pair.right):
            self._add(one, other)
        sides = [_list_leaving(side) for side in (pair.left, pair.right)]
        if len(sides[0]) == len(sides[1]) == 1:
            self._add(sides[0][0], sides[1][0])

    def _pair_weights(self, pair: Pair) -> None:
        """Pair the weights of fused nodes: by their roles where one takes the others in.

        Those of the nodes that both are named after are in the same roles; of others the largest
        are paired, where their dimensions are the same.
        """
        heads = _find_heads(pair)
        if heads is not None:
            for one, other in zip(*align_operands(*heads), strict=False):
                if one is not None and other is not None and _are_constants(one, other):
                    self._add(one, other)
            return
        norms = [list_norm_weights(nodes) for nodes in (pair.left, pair.right)]
        if norms[0] is not None and norms[1] is not None:
            for one, other in zip(*norms, strict=True):
                if one is not None and other is not None:
                    self._add(one, other)
            return
        largest = []
        for nodes in (pair.left, pair.right):
            values = [value for node in nodes for value in node.inputs if value is not None]
            weights = [(v, v.initializer) for v in values if isinstance(v.initializer, Tensor)]
            largest.append(max(weights, key=lambda weight: weight[1].size, default=None))
        first, second = largest
        if first is not None and second is not None and first[1].dims == second[1].dims:
            self._add(first[0], second[0])

    def _pair_named(self) -> None:
        """Pair weights of one name that nothing uses, or other nodes than before."""
        joined = {*list_joined_tensors(self.matching)}
        named: dict[str, list[Value]] = {}
        for graph in self.matching.right.graphs:
            for value in _list_stored(graph):
                if value not in self._taken and value.initializer not in joined:
                    named.setdefault(value.name, []).append(value)
        for graph in self.matching.left.graphs:
            for value in _list_stored(graph):
                is_alone = value not in self.found and value.initializer not in joined
                if is_alone and named.get(value.name):
                    self._add(value, named[value.name].pop(0))


def _find_heads(pair: Pair) -> tuple[Node, Node] | None:
    """Return the convolutions or products of fused nodes; None where one side has not just one."""
    found = []
    for nodes in (pair.left, pair.right):
        heads = [node for node in nodes if node.operator.has("convolves", "multiplies")]
        if len(heads) != 1:
            return None
        found.append(heads[0])
    return found[0], found[1]


def list_joined_tensors(matching: Matching) -> Iterator[Tensor]:
    """Yield the weights and biases of projections of which one model has one for several."""
    for joint in matching.joined.values():
        yield from joint.list_tensors()


def _list_stored(graph: Graph) -> Iterator[Value]:
    for tensor in graph.initializers:
        value = graph.values.get(tensor.name)
        if value is not None and value.initializer is tensor:
            yield value


def _are_constants(one: Value, other: Value) -> bool:
    """Return whether two values are stored, whichever way, one of them as an initializer."""
    if isinstance(one.initializer, Tensor):
        return isinstance(other.initializer, Tensor) or find_stored_tensor(other) is not None
    return isinstance(other.initializer, Tensor) and find_stored_tensor(one) is not None


def _list_leaving(nodes: Sequence[Node]) -> list[Value]:
    """Return what nodes together give to others, or as a result of the graph.

    Where that is nothing, it is what none of them takes.
    """
    inside = {*nodes}
    given = [value for node in nodes for value in node.outputs if value is not None]
    leaving = [
        value
        for value in given
        if value.is_output or any(user not in inside for user in value.users)
    ]
    return leaving or [value for value in given if not value.is_used]


def pair_tensors(matching: Matching) -> dict[Tensor, Tensor]:
    """Return by stored tensor of the left model that of the right one that stands in its place.

    Initializers are paired with one another or with what a constant node holds; what two constant
    nodes hold is paired where it may have been learned: floats, more than one of them. Other
    constants, such as shapes and axes, are attributes of their nodes.
    """
    found: dict[Tensor, Tensor] = {}
    for one, other in matching.values.items():
        is_stored = one.initializer is not None or other.initializer is not None
        if is_stored or (one.producer is not None and other.producer is not None):
            left, right = find_stored_tensor(one), find_stored_tensor(other)
            if left is not None and right is not None and (is_stored or _are_learned(one, other)):
                found[left] = right
    taken = {*found.values()}
    joined = {*list_joined_tensors(matching)}
    named: dict[str, list[Tensor]] = {}
    for graph in matching.right.graphs:
        for tensor in graph.initializers:
            if tensor not in taken and tensor not in joined:
                named.setdefault(tensor.name, []).append(tensor)
    for graph in matching.left.graphs:  # those of a name that is given several times
        for tensor in graph.initializers:
            if tensor not in found and tensor not in joined and named.get(tensor.name):
                found[tensor] = named[tensor.name].pop(0)
    return found


def _are_learned(one: Value, other: Value) -> bool:
    tensors = [_find_constant(value.producer) for value in (one, other)]
    return all(t is not None and t.dtype.is_float and t.size > 1 for t in tensors)


def _find_constant(node: Node | None) -> Tensor | None:
    """Return the tensor that a constant node holds as one."""
    constant = node.details.constant if node is not None and not node.inputs else None
    return constant if isinstance(constant, Tensor) else None


def holds_paired_weight(pair: Pair, matching: Matching) -> bool:
    """Return whether a pair is one of constant nodes whose tensors are compared as weights."""
    constant = _find_constant(pair.left[0])
    return constant is not None and constant in matching.tensors


def pair_groups(matching: Matching) -> list[GroupPair]:
    """Return the groups of both models that hold the same nodes or most of them.

    Groups are those that pictures show by default. Each is in one pair at most; those that have
    most in common come first, and of these those that have the same label.
    """
    found: list[GroupPair] = []
    partners = list_partners(matching)
    for left, right in matching.graphs:
        step("comparing groups")
        trees = find_tree(matching.left, left), find_tree(matching.right, right)
        found += pair_groups_of(*trees, partners.get(left, {}))
    return found


def list_partners(matching: Matching) -> dict[Graph, dict[Node, list[Node]]]:
    """Return by graph of the left model, by node of it, the nodes that it is paired with."""
    partners: dict[Graph, dict[Node, list[Node]]] = {}
    for pair in matching.pairs:
        known = partners.setdefault(pair.left[0].graph, {})
        for node in pair.left:
            known[node] = [*pair.right]
    return partners


def pair_groups_of(
    left: GroupTree, right: GroupTree, partners: dict[Node, list[Node]]
) -> Iterator[GroupPair]:
    """Yield the groups of two trees that hold the same nodes or most of them.

    Parameters
    ----------
    left, right
        The trees.
    partners
        By node of the left graph those that it is paired with.
    """
    common: dict[tuple[Group, Group], int] = {}
    for number, (node, others) in enumerate(partners.items()):
        if not number % _STEP:
            step()
        around = {group for other in others for group in list_around(right, other)}
        for group in list_around(left, node):
            for other_group in around:
                if group.kind == other_group.kind or "repeat" not in (
                    group.kind,
                    other_group.kind,
                ):
                    key = group, other_group
                    common[key] = common.get(key, 0) + 1
    ranked = []
    for place, ((one, other), count) in enumerate(common.items()):
        share = min(2 * count / (one.node_count + other.node_count), 1.0)
        if share > _LEAST_SHARE:
            ranked.append((-share, one.label != other.label, place, one, other))
    taken: set[Group] = set()
    for share, _, _, one, other in sorted(ranked, key=lambda entry: entry[:3]):
        if one not in taken and other not in taken:
            taken |= {one, other}
            yield GroupPair(one, other, -share)


def list_around(tree: GroupTree, node: Node) -> list[Group]:
    """Return the groups that hold a node, the innermost first, that of the graph last."""
    if node.graph is not tree.graph:
        return []
    found: list[Group] = []
    group = tree.group_of(node)
    while group is not None:
        found.append(group)
        group = group.parent
    return found
