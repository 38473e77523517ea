"""What has become of each node: added, removed or changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from netloupe.explorer.model import Node, Tensor
from netloupe.explorer.model.stored_tensors import find_stored_tensor

if TYPE_CHECKING:
    from .difference import Diff, TensorDifference

#: what a node of two models is that is not the same in both
State = Literal["added", "removed", "changed"]


def classify_nodes(found: Diff) -> dict[Node, State]:
    """Return what has become of the nodes that are not the same; see :attr:`Diff.states`."""
    states: dict[Node, State] = dict.fromkeys(found.left_alone, "removed")
    states.update(dict.fromkeys(found.right_alone, "added"))
    changed: list[Node] = [
        one.pair.right[0] for one in found.nodes if any(not change.aspect for change in one.changes)
    ]
    equal = {pair for pair, fold in found.folds.items() if fold.is_equal}
    changed += (node for pair in found.fused if pair not in equal for node in pair.right)
    differing = {one.right for one in found.tensors if differs(one)}
    gone = {*found.left_tensors}
    if differing or found.right_tensors or gone:
        changed += _list_users(found, differing | {*found.right_tensors}, gone)
    for node in changed:
        states.setdefault(node, "changed")
    return states


def differs(one: TensorDifference) -> bool:
    """Return whether a weight is another one, and not only called or stored in another way.

    Of one that could not be read nobody knows it.
    """
    is_other = any(not change.aspect for change in one.changes)
    return bool(one.numbers or is_other)


def _list_users(found: Diff, right: set[Tensor], left: set[Tensor]) -> list[Node]:
    """Return the paired nodes of the right model that take other weights than their partners."""
    users: list[Node] = []
    for pair in found.matching.pairs:
        for nodes, tensors in ((pair.right, right), (pair.left, left)):
            if tensors and any(_takes(node, tensors) for node in nodes):
                users += pair.right
                break
    return users


def _takes(node: Node, tensors: set[Tensor]) -> bool:
    return any(
        value is not None
        and (
            value.initializer in tensors
            if value.initializer is not None
            else value.producer is not None
            and value.producer.op_type == "Constant"
            and find_stored_tensor(value) in tensors
        )
        for value in node.inputs
    )
