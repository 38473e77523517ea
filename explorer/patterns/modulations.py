"""Features that another value scales and shifts, without a norm."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Node, Value

from .found_blocks import FoundBlock, FoundBlocks
from .leading import find_leading
from .operations import ARRANGING, PICKING, Operations
from .terms import Term, read_terms
from .weight_sizes import read_type_dims

_BOTH = 2
_LAYERS = ("Conv", "Gemm")
_MOST_STEPS = 12
_MOST_BEFORE = 60
_MOST_TERMS = 4


def find_modulations(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find x · γ + β, both projections of a value that x does not come from.

    E. Perez and others, FiLM: Visual Reasoning with a General Conditioning Layer, 2018, equations 1
    and 2. The scale may be 1 + γ.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Add" or len(taken) != _BOTH or blocks.owner[end] is not None:
            continue
        for scaled, shift in (taken, taken[::-1]):
            product = operations.given_by(scaled, "Mul")
            if product is None or operations.only_user(product) != end:
                continue
            if blocks.owner[product] is not None or len(operations.operands[product]) != _BOTH:
                continue
            found = _read_modulation(blocks, end, product, shift)
            if found is not None:
                yield found
                break


def _read_modulation(
    blocks: FoundBlocks, end: int, product: int, shift: Value
) -> FoundBlock | None:
    operations = blocks.operations
    factors = operations.operands[product]
    for features, scale in (factors, factors[::-1]):
        made_scale, made_shift = _find_made(operations, scale), _find_made(operations, shift)
        if made_scale is None or made_shift is None or made_scale is not made_shift:
            continue
        if _find_made(operations, features) is made_scale:
            continue
        giver = operations.giver(features)
        is_normal = blocks.ending(giver, "norm") is not None
        if is_normal or _is_made_of(operations, made_scale, features):
            continue
        if not _is_for_all_places(operations, scale, features):
            continue  # numbers for each place are a gate, or attention
        leading = find_leading(operations, {end, product}, [scale, shift], [features])
        if leading is None:
            continue
        numbers = frozenset({end, product, *leading.numbers})
        if not any(operations.kinds[n] in _LAYERS for n in numbers):
            numbers = frozenset({end, product})
        return FoundBlock("unit", "Feature-wise modulation", numbers, end)
    return None


def _find_made(operations: Operations, value: Value) -> Value | None:
    """Return what a projection takes of which a value is a part, perhaps with 1 added.

    It may stand before the operations at hand, as where one layer gives those of all blocks.
    """
    for _ in range(_MOST_STEPS):
        node = value.producer
        taken = _list_taken(operations, node)
        if node is None or not taken:
            return None
        if node.operator.has("convolves", "multiplies") and len(taken) == 1:
            return taken[0]
        is_shift = node.operator.has("adds") and len(taken) == 1
        if not is_shift and not node.operator.has(*PICKING, *ARRANGING, "splits", "slices"):
            return None
        value = taken[0]
    return None


def _list_taken(operations: Operations, node: Node | None) -> list[Value]:
    """Return what a node takes that is computed of what the network takes."""
    taken = () if node is None else node.inputs
    return [value for value in taken if value is not None and not operations.is_fixed(value)]


def _is_made_of(operations: Operations, value: Value, features: Value) -> bool:
    """Return whether a value comes from what features come from by operations on them alone."""
    before = {features}
    for _ in range(_MOST_BEFORE):
        taken = _list_taken(operations, features.producer)
        if len(taken) != 1:
            break
        (features,) = taken
        before.add(features)
    seen = {value}
    pending = [value]
    while pending and len(seen) < _MOST_BEFORE:
        one = pending.pop(0)
        if one in before:
            return True
        for taken_value in _list_taken(operations, one.producer):
            if taken_value not in seen:
                seen.add(taken_value)
                pending.append(taken_value)
    return False


def _is_for_all_places(operations: Operations, scale: Value, features: Value) -> bool:
    """Return whether all places of features have the same scale.

    Where sizes are not stated, so it is where a linear layer gives one for what is convolved.
    """
    sizes = _count_places(scale), _count_places(features)
    if all(sizes):
        return sizes[0] < sizes[1]
    node = scale.producer
    for _ in range(_MOST_STEPS):
        taken = _list_taken(operations, node)
        if node is None or not taken or node.operator.has("convolves", "multiplies"):
            break
        node = taken[0].producer
    is_linear = node is not None and node.operator.has("multiplies")
    return is_linear and _is_convolved(operations, features)


def _is_convolved(operations: Operations, features: Value) -> bool:
    """Return whether a convolution gives features, or a term of the sums that they are."""
    pending = [features]
    for _ in range(_MOST_TERMS):
        maker = pending.pop(0).producer if pending else None
        if maker is not None and maker.operator.has("convolves"):
            return True
        if maker is not None and maker.operator.has("adds", "activates"):
            pending += _list_taken(operations, maker)
    return False


def _count_places(value: Value) -> int:
    """Return how many places a value has: of a matrix one; 0 where that is not known."""
    dims = read_type_dims(value)
    count = 1 if dims else 0
    for dim in dims[2:]:
        count *= dim if isinstance(dim, int) else 0
    return count


def find_style_norms(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find features with mean and deviation of others: AdaIN.

    X. Huang and S. Belongie, Arbitrary Style Transfer in Real-time with Adaptive Instance
    Normalization, 2017, equation 8.
    """
    operations = blocks.operations
    if operations.kinds.count("Sqrt") < _BOTH and "Pow" not in operations.kinds:
        return
    terms: list[Term] = []
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        product = None
        if kind == "Add" and len(taken) == _BOTH and blocks.owner[end] is None:
            products = [n for v in taken if (n := operations.given_by(v, "Mul")) is not None]
            means = [n for v in taken if (n := operations.given_by(v, "ReduceMean")) is not None]
            product = products[0] if len(products) == len(means) == 1 else None
        if product is None:
            continue
        terms = terms or read_terms(operations)
        found = {terms[n].kind: terms[n] for n in operations.givers(product)}
        mean = terms[means[0]]
        standard, deviation = found.get("standard"), found.get("deviation")
        if standard is None or deviation is None or mean.kind != "mean":
            continue
        if deviation.of is not mean.of or standard.of is mean.of or mean.of is None:
            continue
        stops = [one for one in (standard.of, mean.of) if one is not None]
        values = (*taken, *operations.operands[product])
        leading = find_leading(operations, {end, product}, values, stops)
        if leading is not None:
            numbers = frozenset({end, product, *leading.numbers})
            yield FoundBlock("adaptive norm", "Adaptive InstanceNorm", numbers, end)
