"""Cross layers whose products are shares of several experts of low rank."""

from __future__ import annotations

from typing import NamedTuple

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .leading import Leading, find_leading
from .operations import PICKING
from .transformer_details import MlpDetails

_BOTH = 2
_LEAST_EXPERTS = 2
_MOST_OF_LAYER = 160
_LAYERS = ("linear", "mlp")
_KINDS = frozenset({"Add", "Concat", "Einsum", "MatMul", "Mul", "ReduceSum", "Softmax"})


class MixedCross(NamedTuple):
    """A cross layer of experts.

    Parameters
    ----------
    first, stream
        What all layers multiply by, and what this one takes and adds to.
    numbers
        Its operations.
    experts
        What is told of its experts: ``4 experts of rank 16``.
    """

    first: Value
    stream: Value
    numbers: set[int]
    experts: str


def read_mixed_cross(blocks: FoundBlocks, end: int) -> MixedCross | None:
    """Return a layer Σ shareᵢ · x₀ · (Uᵢ·g(Cᵢ·g(Vᵢ·x)) + b) + x that ends at an operation.

    R. Wang and others, DCN V2, 2021, equations 3 and 4: the shares are a softmax of layers of x.
    """
    operations = blocks.operations
    taken = operations.operands[end]
    if operations.kinds[end] != "Add" or len(taken) != _BOTH or blocks.owner[end] is not None:
        return None
    for inner, stream in (taken, taken[::-1]):
        leading = find_leading(operations, {end}, [inner], [stream], most=_MOST_OF_LAYER)
        if leading is None or stream not in leading.sources or len(leading.sources) > _BOTH:
            continue
        first = next((value for value in leading.sources if value is not stream), stream)
        experts = _read_experts(blocks, leading, first, stream)
        if experts:
            return MixedCross(first, stream, {end, *leading.numbers}, experts)
    return None


def _read_experts(blocks: FoundBlocks, leading: Leading, first: Value, stream: Value) -> str:
    """Return how many experts a layer has, and of which rank; "" where it has none."""
    operations = blocks.operations
    products, softmaxes = list[FoundBlock](), 0
    for number in leading.numbers:
        kind, owner = operations.kinds[number], blocks.owner[number]
        softmaxes += kind == "Softmax"
        if owner is not None:
            if not owner.numbers <= leading.numbers:
                return ""
            if owner.kind not in (*_LAYERS, "activation"):
                return ""
            continue
        if kind not in _KINDS and not operations.nodes[number].operator.has(*PICKING):
            return ""
        if kind == "Mul" and first in operations.operands[number]:
            others = [value for value in operations.operands[number] if value is not first]
            layer = _find_layer(blocks, others[0], stream) if len(others) == 1 else None
            if layer is None:
                return ""
            products.append(layer)
    if softmaxes != 1 or len(products) < _LEAST_EXPERTS:
        return ""
    widths = [layer.details.read_as(MlpDetails).widths for layer in products]
    ranks = {min(each[1:-1]) for each in widths if len(each) > _BOTH}
    rank = f" of rank {ranks.pop():,}" if len(ranks) == 1 and all(widths) else ""
    return f"{len(products)} experts{rank}"


def _find_layer(blocks: FoundBlocks, value: Value, stream: Value) -> FoundBlock | None:
    """Return the layer of a stream that gives a value, to which a bias may have been added."""
    operations = blocks.operations
    number = operations.given_by(value, "Add")
    owner = blocks.owner[number] if number is not None else None
    if number is not None and owner is None and len(operations.operands[number]) == 1:
        value = operations.operands[number][0]
    layer = blocks.ending(operations.giver(value), *_LAYERS)
    if layer is None or operations.operands[min(layer.numbers)][0] is not stream:
        return None
    return layer
