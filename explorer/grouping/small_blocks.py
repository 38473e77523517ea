"""Small blocks among the children of named groups: convolutions with what follows them, SiLU.

In a model with names some of these nodes are in no scope of their own, such as ``x / x.norm()`` in
the model's own code or the sum of the embeddings of tokens and positions; others are modules each,
such as a convolution, its norm and its activation, which papers draw as one box.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from operator import attrgetter

from netloupe.explorer.model import Graph, Node, Value, find_nodes_with
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.patterns import find_graph_context, find_small_blocks
from netloupe.explorer.patterns.shuffles import read_shuffle
from netloupe.explorer.progress import step
from netloupe.explorer.roles import find_weight

from .alike import Key, KeyWriter
from .group import Group, adopt
from .repeat_names import name_span
from .role_groups import FreePath
from .shape_groups import Homes

#: a group with more nodes of its own is not looked at
_MOST_NODES = 200
_NAME = "Token + position embedding"
#: an activation that is a module has at most so many nodes
_MOST_OF_ACTIVATION = 12
#: of operators with which a block may be told; without one of them a group is not looked at
_TELLING = ("convolves", "squashes")
#: of operators in norms that are written out
_IN_NORMS = ("reduces", "takes_power", "takes_root")
#: a block is never all of a group
_LEAST_CHILDREN = 3

_GET_INDEX = attrgetter("index")

Child = Group | Node


def list_outer(root: Group) -> list[Group]:
    """Return the groups that are in no repeat and hold other groups, the outermost first."""
    found = [root] if root.inner_groups() else []
    for group in found:
        found += [
            inner
            for inner in group.inner_groups()
            if inner.kind in ("scope", "block") and inner.inner_groups()
        ]
    return found


def group_small(root: Group, labels: Mapping[int, str], free_path: FreePath) -> None:
    """Make blocks of what only together is something that the field has a name for.

    A convolution with its norm and its activation, and activations, norms and shuffles of pixels
    that are written out. What is a group of its own already, or all of one, stays as it is; modules
    that become part of a block keep their paths and names. Linear in the tree; blocks wired alike
    are looked at once.

    Parameters
    ----------
    root
        A tree without arithmetic on shapes; changed.
    labels
        The labels of nodes that stand for a group of one, by index.
    free_path
        Gives an unused path for a child of a group.
    """
    telling = {*find_nodes_with(root.graph, *_TELLING).tolist()}
    written = telling.union(find_nodes_with(root.graph, *_IN_NORMS).tolist())
    written.update(_list_shuffles(root.graph))
    if not written:
        return
    joiner = _Joiner(root, labels, free_path)
    pending = [(root, written)]
    while pending:
        group, wanted = pending.pop()
        is_searched = group.kind in ("scope", "block")
        if is_searched or group is root:
            joiner.join(group, wanted)
        if group.kind != "repeat":
            pending += [(inner, wanted) for inner in group.inner_groups()]
        elif telling:
            # layers of a model without names have been searched already, and norms have scopes
            pending += [(inner, telling) for inner in joiner.list_blocks(group, telling)]


def _list_shuffles(graph: Graph) -> Iterator[int]:
    """Yield the indices of nodes that turn axes so that pixels become channels, or channels pixels.

    They may be all that is left to be told of a group's own code.
    """
    context = find_graph_context(graph)
    for index in find_nodes_with(graph, "permutes").tolist():
        if read_shuffle(graph.nodes[index], context) is not None:
            yield index


class _Joiner:
    """Makes blocks of children of one group after the other; groups wired alike are looked at once.

    Parameters
    ----------
    root, labels, free_path
        As of :func:`group_small`.
    """

    def __init__(self, root: Group, labels: Mapping[int, str], free_path: FreePath) -> None:
        self._graph_context = find_graph_context(root.graph)
        self._labels, self._free_path = labels, free_path
        self._keys = KeyWriter()
        self._known: dict[Key, list[tuple[str, list[int]]]] = {}

    def list_blocks(self, repeat: Group, wanted: Set[int]) -> list[Group]:
        """Return the blocks of a repeat; none where the one shown has nothing to look at."""
        pending = repeat.inner_groups()[repeat.exemplar :][:1]
        for group in pending:
            if group.kind in ("scope", "block") and self._list_nodes(group, wanted):
                return repeat.inner_groups()
            pending += group.inner_groups()
        return []

    def join(self, group: Group, wanted: Set[int]) -> None:
        """Make blocks of children of a group, where nodes that are wanted are among them."""
        nodes = self._list_nodes(group, wanted)
        if not nodes:
            return
        step()
        homes: dict[Node, Child] = {node: node for node in nodes}
        for child in group.inner_groups():
            if child.kind != "repeat" and len(child.children) <= _MOST_OF_ACTIVATION:
                homes.update(dict.fromkeys(child.nodes_alone(), child))
        members = sorted(homes, key=_GET_INDEX)
        key = self._keys.write(members)
        if key not in self._known:
            places = {node: place for place, node in enumerate(members)}
            self._known[key] = [
                (name, [places[node] for node in found])
                for name, found in find_small_blocks(members, self._graph_context)
            ]
        for name, numbers in self._known[key]:
            found = [members[number] for number in numbers]
            _join(group, name, found, homes, self._labels, self._free_path)

    def _list_nodes(self, group: Group, wanted: Set[int]) -> list[Node]:
        """Return the nodes that are children of a group; nothing where there is nothing to join."""
        if len(group.children) < _LEAST_CHILDREN:
            return []
        nodes = [child for child in group.children if isinstance(child, Node)]
        is_fit = len(nodes) <= _MOST_NODES and not wanted.isdisjoint(map(_GET_INDEX, nodes))
        return nodes if is_fit else []


def _join(
    group: Group,
    name: str,
    nodes: list[Node],
    homes: Mapping[Node, Child],
    labels: Mapping[int, str],
    free_path: FreePath,
) -> None:
    """Make a block of some nodes, unless they are a child of a group, a part of one, or all."""
    inside = {*nodes}
    children = [*dict.fromkeys(homes[node] for node in nodes)]
    is_whole = all(inside.issuperset(_list_few(child)) for child in children)
    if not is_whole or not 1 < len(children) < len(group.children):
        return
    found = [c.label if isinstance(c, Group) else labels.get(c.index, "") for c in children]
    named = [label for label in found if label]
    if not named:
        wrap(group, children, name, name, name, free_path)
        return
    label, path = name_span(named)
    wrap(group, children, label, path, name, free_path)


def join_embeddings(root: Group, free_path: FreePath) -> None:
    """Make a block of two embeddings, of tokens and of positions, and their sum.

    J. Devlin and others, BERT, 2019, figure 2; A. Radford and others, GPT-2, 2019, as
    transformers' ``GPT2Model`` has it. Nothing else takes what the tables give.
    """
    homes: Homes | None = None
    for group in list_outer(root):
        sums = [c for c in group.children if isinstance(c, Node) and c.operator.has("adds")]
        for node in sums[:_MOST_NODES]:
            values = [value for value in node.inputs if value is not None]
            if len(values) != 2 or any(v.producer is None or not _is_taken_once(v) for v in values):
                continue
            homes = homes or Homes(root)
            givers = [
                homes.child_holding(group, v.producer) for v in values if v.producer is not None
            ]
            parts = [child for child in givers if child is not None and _is_embedding(child)]
            if len(parts) < 2 or parts[0] is parts[1] or _is_circular(values):
                continue
            if sum(_picks_positions(part, group, homes) for part in parts) == 1:
                wrap(group, [*parts, node], _NAME, _NAME, _NAME, free_path)
                homes = None  # they are others now


def _is_taken_once(value: Value) -> bool:
    """Return whether one node takes the elements of a value; others may ask for its shape."""
    return sum(not user.operator.has("reads_shape") for user in value.users[:_MOST_NODES]) == 1


def _is_circular(values: list[Value]) -> bool:
    """Return whether one of two embeddings needs the elements that the other one gives."""
    ends = {value.producer for value in values}
    pending = [value for end in ends if end is not None for value in end.inputs]
    seen: set[Value] = set()
    while pending:
        value = pending.pop()
        if value is None or value in seen:
            continue
        seen.add(value)
        if value in values or len(seen) > _MOST_NODES:
            return True
        if value.producer is not None and not value.producer.operator.has("reads_shape"):
            pending += value.producer.inputs
    return False


def _picks_positions(child: Child, group: Group, homes: Homes) -> bool:
    """Return whether rows of a table are picked by positions that are counted."""
    for node in _list_few(child):
        place = node.operator.operands.find("indices")
        if node.operator.weight_kind == "embedding" and place is not None:
            ids = node.input(place)
            if ids is None or ids.producer is None:
                return ids is not None and ids.initializer is not None
            giver = homes.child_holding(group, ids.producer)
            if isinstance(giver, Group) and giver.label == "position ids":
                return True
    return False


def _is_embedding(child: Child) -> bool:
    """Return whether a child picks rows of a table and does nothing else but arrange."""
    nodes = _list_few(child)
    picking = [node for node in nodes if not node.operator.has(*LAYOUT_TRAITS)]
    weight = find_weight(picking[0]) if len(picking) == 1 else None
    return weight is not None and weight.kind == "embedding"


def _list_few(child: Child) -> list[Node]:
    """Return the nodes of a child, of operations in it too; nothing where it holds other groups."""
    if isinstance(child, Node):
        return [child]
    nodes: list[Node] = []
    for inner in child.children[:_MOST_NODES]:
        if isinstance(inner, Node):
            nodes.append(inner)
        elif inner.kind == "operation":
            nodes += inner.nodes_alone()
        else:
            return []
    return nodes


def wrap(
    group: Group, members: list[Child], label: str, path: str, name: str, free_path: FreePath
) -> Group:
    """Put children of a group into a block, in the place of the last of them."""
    type_name = name if label == name else ""
    block = Group("block", group.graph, free_path(group, path), label, type_name, group)
    taken = {id(member) for member in members}
    block.children = [child for child in group.children if id(child) in taken]
    last = block.children[-1]
    group.children = [
        block if child is last else child
        for child in group.children
        if child is last or id(child) not in taken
    ]
    adopt(block)
    return block
