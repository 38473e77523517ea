"""Small blocks among what stands beside named groups: norms written out, summed embeddings.

In a model with names these nodes are in no scope of their own: ``x / x.norm()`` in the model's
own code, the sum of the embeddings of tokens and positions.
"""

from __future__ import annotations

from netloupe.explorer.model import Node, Value
from netloupe.explorer.patterns import SHAPE_READERS, find_norm_nodes, know
from netloupe.explorer.progress import step
from netloupe.explorer.roles import find_weight

from .group import Group, adopt
from .role_groups import FreePath
from .shape_groups import Homes

#: a group with more nodes of its own is not looked at
_MOST_NODES = 200
_NAME = "Token + position embedding"
#: operators that only change layout or type
_LAYOUT = frozenset({"Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"})

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


def group_norms(root: Group, free_path: FreePath) -> None:
    """Make blocks of norms that are written out among groups, in no repeat."""
    for group in list_outer(root):
        nodes = [child for child in group.children if isinstance(child, Node)]
        if not 2 < len(nodes) <= _MOST_NODES:
            continue
        step()
        nodes.sort(key=lambda node: node.index)
        for name, members in find_norm_nodes(nodes, know(root.graph)):
            _wrap(group, [*members], name, free_path)


def join_embeddings(root: Group, free_path: FreePath) -> None:
    """Make a block of two embeddings, of tokens and of positions, and their sum.

    J. Devlin and others, BERT, 2019, figure 2; A. Radford and others, GPT-2, 2019, as
    transformers' ``GPT2Model`` has it. Nothing else takes what the tables give.
    """
    homes: Homes | None = None
    for group in list_outer(root):
        sums = [c for c in group.children if isinstance(c, Node) and c.op_type == "Add"]
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
                _wrap(group, [*parts, node], _NAME, free_path)
                homes = None  # they are others now


def _is_taken_once(value: Value) -> bool:
    """Return whether one node takes the elements of a value; others may ask for its shape."""
    return sum(user.op_type not in SHAPE_READERS for user in value.users[:_MOST_NODES]) == 1


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
        if value.producer is not None and value.producer.op_type not in SHAPE_READERS:
            pending += value.producer.inputs
    return False


def _picks_positions(child: Child, group: Group, homes: Homes) -> bool:
    """Return whether rows of a table are picked by positions that are counted."""
    for node in _list_few(child):
        if node.op_type == "Gather" and len(node.inputs) > 1:
            ids = node.inputs[1]
            if ids is None or ids.producer is None:
                return ids is not None and ids.initializer is not None
            giver = homes.child_holding(group, ids.producer)
            if isinstance(giver, Group) and giver.label == "position ids":
                return True
    return False


def _is_embedding(child: Child) -> bool:
    """Return whether a child picks rows of a table and does nothing else but arrange."""
    nodes = _list_few(child)
    picking = [node for node in nodes if node.op_type not in _LAYOUT]
    if len(picking) != 1 or picking[0].op_type != "Gather":
        return False
    weight = find_weight(picking[0])
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


def _wrap(group: Group, members: list[Child], name: str, free_path: FreePath) -> Group:
    """Put children of a group into a block, in the place of the last of them."""
    block = Group("block", group.graph, free_path(group, name), name, name, group)
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
