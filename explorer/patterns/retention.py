"""Attention without a softmax: what a token keeps of earlier ones falls with the distance."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Tensor, Value
from netloupe.explorer.model.constant import constant_tensor

from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations

_PRODUCTS = ("Einsum", "MatMul")
#: what queries and keys are turned with by their positions
_TURNING = frozenset({"Add", "Concat", "Mul", "Neg", "RotaryEmbedding", "Slice", "Split", "Sub"})
_MOST_OF_TURNING = 16
#: what scores are summed up with before they are divided by that
_SUMMING = frozenset({"Abs", "Clip", "Max", "ReduceSum"})
_MOST_STEPS = 6
#: of so many numbers it is seen whether they fall: 16 MB
_MOST_OF_SQUARES = 1 << 22
#: how many axes a square has
_OF_SQUARE = 2


def find_retentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find (q·kᵀ times a stored decay)·v with projections, and no softmax.

    The decay is the less the further back a token is, and 0 for later ones (Y. Sun and others,
    Retentive Network, 2023, equation 5; queries and keys may be turned by their positions, and
    scores divided by their sum, as in equations 3 and 8 there). Where what is stored is no such
    triangle, it is linear attention with a mask (A. Katharopoulos and others, Transformers are
    RNNs, 2020, section 3.3).
    """
    operations = blocks.operations
    for product, kind in enumerate(operations.kinds):
        taken = operations.operands[product]
        if kind not in _PRODUCTS or len(taken) != 2 or blocks.owner[product] is not None:
            continue
        numbers, end, decay = {product}, product, None
        for _ in range(_MOST_STEPS):
            user = operations.only_user(end)
            if user is None or blocks.owner[user] is not None:
                break
            if operations.kinds[user] in _PRODUCTS:
                break
            if operations.kinds[user] != "Mul" or len(operations.operands[user]) != 1:
                break
            decay = decay or _find_square(operations, user)
            numbers.add(user)
            end = user
        numbers, end = _add_division(operations, numbers, end)
        final = operations.only_user(end)
        if final is None or decay is None or blocks.owner[final] is not None:
            continue
        if operations.kinds[final] not in _PRODUCTS:
            continue
        values = [v for v in operations.operands[final] if operations.giver(v) != end]
        found = [_find_projection(blocks, value) for value in (*taken, *values)]
        layers = [layer for layer, _ in filter(None, found)]
        if len(values) != 1 or len(layers) < len(found):
            continue
        numbers |= {final}
        for _, turning in filter(None, found):
            for number in sorted(turning, reverse=True):
                if numbers.issuperset(operations.users[number]):
                    numbers.add(number)
        for layer in layers:
            if numbers.issuperset(operations.users[layer.end]):
                numbers |= layer.numbers
        is_falling = _falls(decay)
        name = "Retention" if is_falling else "Linear attention"
        facts = (*_tell_heads(decay, layers[0]), "causal" if is_falling else "masked")
        yield FoundBlock("attention", name, frozenset(numbers), final, facts)


def _find_projection(blocks: FoundBlocks, value: Value) -> tuple[FoundBlock, set[int]] | None:
    """Return the projection that a value is, and what turns it; None where it is of none or two."""
    operations = blocks.operations
    pending = [operations.giver(value)]
    layer, turning = None, set[int]()
    while pending:
        number = pending.pop()
        found = blocks.ending(number, "linear")
        if number is None or len(turning) > _MOST_OF_TURNING:
            return None
        if found is not None:
            if layer not in (None, found):
                return None
            layer = found
        elif number not in turning:
            if operations.kinds[number] not in _TURNING or blocks.owner[number] is not None:
                return None
            turning.add(number)
            pending += [operations.giver(one) for one in operations.operands[number]]
    return None if layer is None else (layer, turning)


def _add_division(operations: Operations, numbers: set[int], end: int) -> tuple[set[int], int]:
    """Return more operations where scores are divided by their sum, and which one ends them."""
    users = {*operations.users[end]}
    divisions = [n for n in users if n >= 0 and operations.kinds[n] == "Div"]
    if len(users) != 2 or len(divisions) != 1:
        return numbers, end
    summing = set[int]()
    (current,) = users - {*divisions}
    while current != divisions[0]:
        if current < 0 or operations.kinds[current] not in _SUMMING:
            return numbers, end
        summing.add(current)
        current = operations.only_user(current) or -1
    is_summed = any(operations.kinds[number] == "ReduceSum" for number in summing)
    return (numbers | summing | {*divisions}, divisions[0]) if is_summed else (numbers, end)


def _find_square(operations: Operations, number: int) -> Value | None:
    """Return the stored square that an operation multiplies by; None for a number."""
    for value in operations.fixed(number):
        tensor = constant_tensor(value)
        if tensor is not None and len(tensor.dims) > 1 and tensor.dims[-1] == tensor.dims[-2] > 1:
            return value
    return None


def _tell_heads(decay: Value, layer: FoundBlock) -> tuple[str, ...]:
    """Return ``4 heads × 16``, where each has a decay of its own."""
    tensor = constant_tensor(decay)
    heads = tensor.dims[-3] if tensor is not None and len(tensor.dims) > _OF_SQUARE else 1
    width = layer.details.read_as(FeatureDetails).out_features
    if heads < _OF_SQUARE or not width or width % heads:
        return ()
    return (f"{heads} heads × {width // heads}",)


def _falls(value: Value) -> bool:
    """Return whether squares are 0 above their diagonals, and rise along each row up to there."""
    tensor = constant_tensor(value)
    if not isinstance(tensor, Tensor) or not 0 < tensor.size <= _MOST_OF_SQUARES:
        return False
    try:
        squares = np.asarray(tensor.numpy(), np.float64)
    except (NetloupeError, TypeError, ValueError):
        return False
    squares = squares.reshape(-1, tensor.dims[-1], tensor.dims[-1])
    is_kept = np.tri(tensor.dims[-1], dtype=np.bool_)
    if squares[:, ~is_kept].any() or (squares[:, -1, 0] >= squares[:, -1, -1]).any():
        return False
    return bool((np.diff(squares) >= 0)[:, is_kept[:, 1:]].all())
