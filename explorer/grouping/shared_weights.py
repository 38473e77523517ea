"""Whether repetitions are a loop: one body that runs again and again, written out step by step.

The steps of a decoder, the updates of a flow, one layer that is applied twelve times use the same
weights each time, and each takes what the one before has made. A stack of layers has weights of its
own in each; towers have the same weights, but none takes from another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from netloupe.explorer.model import Node, SparseTensor, Tensor
from netloupe.explorer.roles import find_weight

from .shared_tensors import find_originals

#: repetitions have so large a share of their weights in common; a first or last one may have less
_MOST_OF_ALL = 0.9
#: larger repeats are not looked at
MOST_NODES = 50_000
#: among so many groups beside one another those with the same weights are looked for
MOST_BESIDE = 64

_Weights = Mapping[Tensor | SparseTensor, int]


def share_weights(repetitions: Sequence[Sequence[Node]]) -> bool:
    """Return whether repetitions, given by their nodes, use the same stored weights.

    These are seen through casts, transposes and the like. The first two and the last may use
    fewer of them: a first step whose state is zero, and a second one whose other state still
    is. Linear in the nodes; where weights are found to differ, in a few of them.
    """
    if len(repetitions) < 2:
        return False
    middle = repetitions[len(repetitions) // 2]
    if not may_share_weights(middle, repetitions[-1]):
        return False
    body = dict(_list_weights(middle))
    own = [dict(_list_weights(nodes)) for nodes in repetitions]
    if all(len(tensor.dims) < 2 for tensor in body) or not all(own):
        return False
    if any(_count_shared(weights, body) < _MOST_OF_ALL * _count(weights) for weights in own):
        return False
    whole = own[2:-1] or own[1:-1] or own
    return all(_count_shared(body, weights) >= _MOST_OF_ALL * _count(body) for weights in whole)


def may_share_weights(nodes: Sequence[Node], others: Sequence[Node]) -> bool:
    """Return whether the first weight of some nodes is one of others: else they share too few."""
    first = next(_list_weights(nodes), None)
    return first is not None and any(first[0] is one for one, _ in _list_weights(others))


def are_loop(repetitions: Sequence[Sequence[Node]]) -> bool:
    """Return whether repetitions are one body that runs again and again.

    All use the same weights, and each takes what the one before gives.
    """
    return share_weights(repetitions) and all(
        _takes_from(after, before) for before, after in pairwise(repetitions)
    )


def _takes_from(nodes: Sequence[Node], before: Sequence[Node]) -> bool:
    """Return whether any of some nodes takes what others give."""
    given = {*before}
    return any(
        value is not None and value.producer in given for node in nodes for value in node.inputs
    )


def _list_weights(nodes: Sequence[Node]) -> Iterator[tuple[Tensor | SparseTensor, int]]:
    """Yield the stored tensors at the weights of nodes, with how many elements each has."""
    for node in nodes:
        weight = find_weight(node)
        if weight is not None and weight.tensor is not None:
            yield find_originals(node.graph.model).find(weight.tensor), weight.tensor.size


def _count(weights: _Weights) -> int:
    return sum(weights.values())


def _count_shared(weights: _Weights, others: _Weights) -> int:
    return sum(size for tensor, size in weights.items() if tensor in others)
