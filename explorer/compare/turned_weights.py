"""Weights that one model has transposed, where its products undo it by transB or Transpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Node, Tensor, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.progress import is_ending, step
from netloupe.explorer.tensors import open_elements

from .numbers import DifferenceSums, NumberDifference
from .passed_values import read_numeric_attribute
from .references import open_reference
from .roles import list_operands

if TYPE_CHECKING:
    from .matching import Matching

_WEIGHT = 1
#: so many elements are read at once
_PIECE = 2**18


class TurnedWeight(NamedTuple):
    """A weight that is transposed in one of two models.

    Parameters
    ----------
    numbers
        How far the numbers are apart, each beside the one that stands for it.
    nodes
        The products of the left model that take it.
    """

    numbers: NumberDifference
    nodes: frozenset[Node]


class _Use(NamedTuple):
    """A stored matrix that a product takes as its weight, and whether it is turned on the way."""

    tensor: Tensor
    is_turned: bool
    takers: int


def find_turned_weights(matching: Matching) -> dict[tuple[Tensor, Tensor], TurnedWeight]:
    """Return by pair of weights those that are nearer to one another if one is transposed.

    So it is only asked where all products that take them read the one by rows and the other by
    columns.
    """
    uses: dict[tuple[Tensor, Tensor], list[tuple[Node, _Use, _Use]]] = {}
    for pair in matching.pairs:
        heads = [[node for node in side if _multiplies(node)] for side in (pair.left, pair.right)]
        if len(heads[0]) != 1 or len(heads[1]) != 1:
            continue
        one, other = (_find_use(side[0]) for side in heads)
        if one is None or other is None or matching.tensors.get(one.tensor) is not other.tensor:
            continue
        uses.setdefault((one.tensor, other.tensor), []).append((heads[0][0], one, other))
    found = {}
    for (left, right), taken in uses.items():
        is_all = all(len(taken) == use.takers for _, *both in taken for use in both)
        if is_all and all(one.is_turned != other.is_turned for _, one, other in taken):
            numbers = _compare_turned(left, right)
            if numbers is not None:
                nodes = frozenset(node for node, *_ in taken)
                found[left, right] = TurnedWeight(numbers, nodes)
    return found


def _multiplies(node: Node) -> bool:
    operator = node.operator
    is_plain = operator.weight_kind == "linear" and operator.weight_layout == "linear"
    return is_plain and node.function is None


def _find_use(node: Node) -> _Use | None:
    operands = list_operands(node)
    value = operands[_WEIGHT] if len(operands) > _WEIGHT else None
    if value is None or operands[0] is value or not node.graph.dialect.has_opsets:
        return None
    is_turned = bool(read_numeric_attribute(node, "transB"))
    takers, producer = _count_takers(value), value.producer
    if producer is not None and producer.operator.has("permutes"):
        (source,) = producer.inputs[:1] or (None,)
        order = producer.attributes.get("perm")
        if source is None or (order is not None and order.value != (1, 0)):
            return None
        if _count_takers(source) != 1:
            return None
        value, is_turned = source, not is_turned
    tensor = find_stored_tensor(value)
    if tensor is None or len(tensor.dims) != 2 or not tensor.dtype.is_float or not takers:
        return None
    return _Use(tensor, is_turned, takers)


def _count_takers(value: Value) -> int:
    """Return how often a value is taken; 0 where it is also given."""
    return 0 if value.is_output else sum(user.inputs.count(value) for user in value.users)


def _compare_turned(left: Tensor, right: Tensor) -> NumberDifference | None:
    """Return how far two weights are apart if one is turned; None where they fit as they are."""
    if left.dims != right.dims[::-1] or not left.size:
        return None
    try:
        turned = _measure(left, right, (1, right.dims[0], right.dims[1]))
        straight = _measure(left, right, None) if left.dims == right.dims else None
    except NetloupeError as error:
        if is_ending(error):
            raise
        return None
    return turned if straight is None or turned.relative < straight.relative else None


@np.errstate(all="ignore")
def _measure(left: Tensor, right: Tensor, turned: tuple[int, int, int] | None) -> NumberDifference:
    elements, reference, sums = open_elements(left), open_reference(right, turned), DifferenceSums()
    for start in range(0, left.size, _PIECE):
        step()
        stop = min(start + _PIECE, left.size)
        numbers = np.asarray(elements.take(start, stop)).astype(np.float64)
        sums.add(numbers, reference.take(start, stop))
    return sums.finish(left.size)
