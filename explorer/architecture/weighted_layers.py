"""The layers of a graph as its operators tell them: what multiplies by a weight, whatever it is in.

Unlike patterns these know nothing of blocks, and they hold what takes nothing from the inputs of a
model as well: a layer whose operand is learned is a layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from netloupe.explorer.grouping.shared_tensors import find_originals
from netloupe.explorer.model import Model, Node, SparseTensor, Tensor
from netloupe.explorer.operators import HANDING_TRAITS
from netloupe.explorer.patterns import find_graph_context
from netloupe.explorer.patterns.given_matrices import is_given
from netloupe.explorer.patterns.stored_kernels import ZERO
from netloupe.explorer.roles import find_weight
from netloupe.explorer.roles.origins import find_origin

#: kinds of weight that are told as layers
_COUNTED = frozenset({"convolution", "linear"})
_MATRIX = 2
#: so many steps may lie between shares and what they weigh
_MOST_STEPS = 6
_BETWEEN = (*HANDING_TRAITS, "broadcasts", "chooses")


class WeightedLayers:
    """Layers by the weight that each has.

    Parameters
    ----------
    model
        The model.
    nodes
        Nodes of one graph.
    """

    def __init__(self, model: Model, nodes: Iterable[Node]) -> None:
        originals = find_originals(model)
        self.keys: dict[Node, int] = {}
        self.kinds: dict[int, str] = {}
        self.firsts: list[Node] = []
        self.shares: list[Node] = []
        for node in nodes:
            operator = node.operator
            if operator.has("attends") or (operator.has("distributes") and _weighs(node)):
                self.shares.append(node)
            if operator.weight_kind not in _COUNTED:
                continue
            weight = find_weight(node)
            if weight is not None and is_given(weight.value):
                continue
            tensor = weight.tensor if weight is not None else _find_matrix(node)
            if weight is None and tensor is None:
                continue
            stored = originals.find(tensor) if tensor is not None else None
            key = id(stored) if stored is not None else id(weight and weight.value)
            if operator.has("convolves") and _is_zero(node):
                key = id(node)  # layers that begin with nothing, stored once
            self.keys[node] = key
            if key not in self.kinds:
                kind = operator.weight_kind
                is_transposed = kind == "convolution" and operator.has("transposed")
                self.kinds[key] = "transposed convolution" if is_transposed else _NOUNS[kind]
                self.firsts.append(node)

    def list_keys(self, nodes: Iterable[Node]) -> set[int]:
        """Return the weights of some nodes."""
        return {self.keys[node] for node in nodes if node in self.keys}


_NOUNS = {"convolution": "convolution", "linear": "linear layer"}


def _find_matrix(node: Node) -> Tensor | SparseTensor | None:
    """Return the stored matrix of a product of which both factors are fixed: learned, and its."""
    if not node.operator.multiplies_either or len(node.inputs) < _MATRIX:
        return None
    for value in node.inputs[1::-1]:
        origin = find_origin(value) if value is not None else None
        tensor = origin.tensor if origin is not None else None
        if tensor is not None and len(tensor.dims) == _MATRIX and min(tensor.dims) > 1:
            return tensor
    return None


def _is_zero(node: Node) -> bool:
    return find_graph_context(node.graph).read_form(node.input(1)) == ZERO


def _weighs(node: Node) -> bool:
    """Return whether shares weigh rows of a computed value: a product takes them on its left."""
    pending: Sequence[Node] = [node]
    for _ in range(_MOST_STEPS):
        users = [
            (user, value)
            for one in pending
            for value in one.outputs[:1]
            if value is not None
            for user in value.users[:4]
        ]
        for user, value in users:
            if user.operator.has("multiplies") and len(user.inputs) > 1 and user.input(0) is value:
                return True
        pending = [user for user, _ in users if user.operator.has(*_BETWEEN)]
        if not pending:
            return False
    return False
