"""Attention without a softmax: what a token keeps of earlier ones falls with the distance."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from netloupe.explorer.model import Value
from netloupe.explorer.model.constant import constant_tensor

from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_numbers

_PRODUCTS = ("Einsum", "MatMul")
_MOST_STEPS = 6
#: of so many numbers it is seen whether they fall
_MOST_OF_SQUARES = 1 << 16
#: how many axes a square has
_OF_SQUARE = 2


def find_retentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find (q·kᵀ times a stored decay)·v with projections, and no softmax.

    The decay is the less the further back a token is, and 0 for later ones (Y. Sun and others,
    Retentive Network, 2023, equation 5). Where what is stored is no such triangle, it is linear
    attention with a mask (A. Katharopoulos and others, Transformers are RNNs, 2020, section 3.3).
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
        final = operations.only_user(end)
        if final is None or decay is None or blocks.owner[final] is not None:
            continue
        if operations.kinds[final] not in _PRODUCTS:
            continue
        values = [v for v in operations.operands[final] if operations.giver(v) != end]
        layers = [blocks.ending(operations.giver(v), "linear") for v in (*taken, *values)]
        if len(values) != 1 or any(layer is None for layer in layers):
            continue
        numbers |= {final}
        for layer in layers:
            if layer is not None and numbers.issuperset(operations.users[layer.end]):
                numbers |= layer.numbers
        is_falling = _falls(decay)
        name = "Retention" if is_falling else "Linear attention"
        facts = (*_tell_heads(decay, layers[0]), "causal" if is_falling else "masked")
        yield FoundBlock("attention", name, frozenset(numbers), final, facts)


def _find_square(operations: Operations, number: int) -> Value | None:
    """Return the stored square that an operation multiplies by; None for a number."""
    for value in operations.fixed(number):
        tensor = constant_tensor(value)
        if tensor is not None and len(tensor.dims) > 1 and tensor.dims[-1] == tensor.dims[-2] > 1:
            return value
    return None


def _tell_heads(decay: Value, layer: FoundBlock | None) -> tuple[str, ...]:
    """Return ``4 heads × 16``, where each has a decay of its own."""
    tensor = constant_tensor(decay)
    heads = tensor.dims[-3] if tensor is not None and len(tensor.dims) > _OF_SQUARE else 1
    width = layer.details.read_as(FeatureDetails).out_features if layer is not None else None
    if heads < _OF_SQUARE or not width or width % heads:
        return ()
    return (f"{heads} heads × {width // heads}",)


def _falls(value: Value) -> bool:
    """Return whether a square is 0 above its diagonal, and falls from there on in each row."""
    tensor = constant_tensor(value)
    if tensor is None:
        return False
    size = tensor.dims[-1]
    numbers = read_numbers(tensor, _MOST_OF_SQUARES)[: size * size]
    rows = [numbers[at : at + size] for at in range(0, len(numbers), size)]
    if not rows or rows[-1][0] >= rows[-1][-1]:
        return False
    return all(
        not any(row[at + 1 :]) and all(a <= b for a, b in pairwise(row[: at + 1]))
        for at, row in enumerate(rows)
    )
