"""What has become of each node: added, removed or changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from netloupe.explorer.model import Model, Node, Tensor, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor

from .pair import Pair
from .passed_values import PassedValues

if TYPE_CHECKING:
    from .changed_elements import TensorDifference
    from .difference import Diff

#: what a node of two models is that is not the same in both
NodeState = Literal["added", "removed", "changed"]


def classify_nodes(found: Diff) -> dict[Node, NodeState]:
    """Return what has become of the nodes that are not the same; see :attr:`Diff.states`."""
    states: dict[Node, NodeState] = dict.fromkeys(found.left_alone, "removed")
    states.update(dict.fromkeys(found.right_alone, "added"))
    changed: list[Node] = [
        one.pair.right[0] for one in found.nodes if any(not change.aspect for change in one.changes)
    ]
    equal = {pair for pair, fold in found.folds.items() if fold.is_equal}
    changed += (node for pair in found.fused if pair not in equal for node in pair.right)
    differing = {one.right for one in found.tensors if differs(one)}
    gone = {*found.left_tensors}
    if differing or found.right_tensors or gone:
        changed += _list_users(found, equal, differing | {*found.right_tensors}, gone)
    for node in changed:
        states.setdefault(node, "changed")
    return states


def differs(one: TensorDifference) -> bool:
    """Return whether a weight is another one, and not only called or stored in another way.

    Of one that could not be read nobody knows it.
    """
    is_other = any(not change.aspect for change in one.changes)
    return bool(one.numbers or is_other)


def _list_users(found: Diff, equal: set[Pair], right: set[Tensor], left: set[Tensor]) -> list[Node]:
    """Return the paired nodes of the right model that take other weights than their partners.

    A weight that is dequantized, cast or computed of other constants on its way is taken by the
    operator behind, not by what stands between; that counts where nothing behind it is paired. What
    is equal by calculation takes no other weight, though another node may that shares it.
    """
    ways = _Ways(found.right, right), _Ways(found.left, left)
    users: list[Node] = []
    between: list[tuple[Pair, list[tuple[_Ways, tuple[Node, ...]]]]] = []
    taken: set[Node] = set()
    for pair in found.matching.pairs:
        if pair in equal:
            continue
        sides = zip(ways, (pair.right, pair.left), strict=True)
        holding = [side for side in sides if any(map(side[0].holds, _list_inputs(side[1])))]
        if not holding:
            continue
        if all(node in way.between for way, nodes in holding for node in nodes):
            between.append((pair, holding))
            continue
        users += pair.right
        for way, nodes in holding:
            taken.update(way.list_between(nodes))
    for pair, holding in between:
        if not all(taken.issuperset(nodes) for _, nodes in holding):
            users += pair.right
    return users


class _Ways:
    """Which values of a model are some of its tensors, or computed of them and constants alone."""

    def __init__(self, model: Model, tensors: set[Tensor]) -> None:
        self._tensors = tensors
        self._values: set[Value] = set()
        #: nodes that compute of constants alone, with one of the tensors among these
        self.between: set[Node] = set()
        for graph in model.graphs if tensors else ():
            for index in sorted(PassedValues(graph).fixed):
                node = graph.nodes[index]
                if any(self.holds(value) for value in node.inputs):
                    self.between.add(node)
                    self._values.update(value for value in node.outputs if value is not None)

    def holds(self, value: Value | None) -> bool:
        """Return whether a value is one of the tensors or computed of one."""
        if value is None or not self._tensors:
            return False
        if value in self._values or value.initializer in self._tensors:
            return True
        producer = value.producer
        is_stored = producer is not None and producer.operator.form == "Constant"
        return is_stored and find_stored_tensor(value) in self._tensors

    def list_between(self, nodes: Iterable[Node]) -> Iterator[Node]:
        """Yield the nodes through which others take the tensors."""
        pending, seen = [*nodes], set[Node]()
        for node in pending:
            for value in node.inputs:
                producer = value.producer if value is not None else None
                if producer in self.between and producer not in seen:
                    seen.add(producer)
                    pending.append(producer)
                    yield producer


def _list_inputs(nodes: Iterable[Node]) -> Iterator[Value | None]:
    """Yield what nodes take."""
    for node in nodes:
        yield from node.inputs
