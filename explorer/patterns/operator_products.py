"""A function that a network gives: features of what it is made of, and of where it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node, Value
from netloupe.explorer.notation import write_count
from netloupe.explorer.roles import find_weight

from .found_blocks import FoundBlock, FoundBlocks
from .operations import ARRANGING, Operations
from .weight_sizes import read_features

#: places have so many coordinates at most, with time among them
_MOST_COORDINATES = 4
_LEAST_TERMS = 4
_LEAST_LAYERS = 2
#: so many nodes are followed back, layers and activations
_MOST_STEPS = 40
_BOTH = 2
_PASSING = (*ARRANGING, "activates", "takes_sine", "adds")


class _Network(NamedTuple):
    """Linear layers with activations between them.

    Parameters
    ----------
    taken, given
        How many features the first one takes, and the last one gives.
    start
        What the first one takes.
    """

    taken: int
    given: int
    start: Value


def find_operator_products(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find Σ bₖ·tₖ, b of an MLP of many numbers and t of one of coordinates, perhaps with a bias.

    L. Lu and others, Learning nonlinear operators via DeepONet, 2021, equation 2: branch and trunk.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        numbers = {end}
        if kind == "ReduceSum" and len(taken) == 1:
            product = operations.given_by(taken[0], "Mul")
            if product is None or operations.only_user(product) != end:
                continue
            numbers.add(product)
            taken = operations.operands[product]
        elif kind not in ("Einsum", "MatMul"):
            continue
        if len(taken) != _BOTH or blocks.owner[end] is not None:
            continue
        networks = [one for value in taken if (one := _follow_layers(value)) is not None]
        if len(networks) != _BOTH or len({one.start for one in networks}) != _BOTH:
            continue
        trunk, branch = sorted(networks, key=lambda one: one.taken)
        is_asked = trunk.taken <= _MOST_COORDINATES < branch.taken
        if not is_asked or trunk.given != branch.given or trunk.given < _LEAST_TERMS:
            continue
        bias = operations.only_user(end)
        if bias is not None and _adds_number(operations, bias):
            numbers.add(bias)
            end = bias
        facts = (write_count(trunk.given, "term"),)
        yield FoundBlock("unit", "Product of branch and trunk", frozenset(numbers), end, facts)


def _follow_layers(value: Value) -> _Network | None:
    """Return the linear layers that a value comes from; None where there are fewer than two."""
    layers = taken = given = 0
    for _ in range(_MOST_STEPS):
        node = value.producer
        before = _find_data(node) if node is not None else None
        if node is None or before is None:
            break
        if node.operator.has("multiplies") and find_weight(node) is not None:
            taken, last = read_features(node)
            given = given or last
            layers += 1
        elif not node.operator.has(*_PASSING) and not _activates(node):
            break
        value = before
    return _Network(taken, given, value) if layers >= _LEAST_LAYERS and taken and given else None


def _find_data(node: Node) -> Value | None:
    """Return the one value that a node computes with, besides what activates it."""
    values = [v for v in node.inputs if v is not None and not is_input_independent(v)]
    if len(values) == _BOTH and _activates(node):
        return next((v for v in values if _gives_activation(v) is None), None)
    return values[0] if len(values) == 1 else None


def _activates(node: Node) -> bool:
    """Return whether a node multiplies a value by an activation of it, as SiLU is written."""
    if not node.operator.has("multiplies_elements") or len(node.inputs) != _BOTH:
        return False
    one, other = node.inputs
    pairs = ((one, other), (other, one))
    return any(v is not None and w is not None and _gives_activation(v) is w for v, w in pairs)


def _gives_activation(value: Value) -> Value | None:
    """Return what a value is the activation of."""
    node = value.producer
    return node.input(0) if node is not None and node.operator.has("activates") else None


def _adds_number(operations: Operations, number: int) -> bool:
    is_sum = operations.kinds[number] == "Add" and len(operations.operands[number]) == 1
    return is_sum and operations.scalar(number) is not None
