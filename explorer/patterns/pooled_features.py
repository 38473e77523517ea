"""Features of a picture put together over its places by more than a mean."""

from __future__ import annotations

from collections.abc import Iterator

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations

_BOTH = 2
_MEANS = ("AveragePool", "GlobalAveragePool", "ReduceMean")
_LEAST = ("Clip", "Max", "Relu")
_ROUNDING = 1e-3
_SQUARE = 2.0


def find_general_means(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the root of the mean of powers of features, by one stored exponent.

    F. Radenovic and others, Fine-tuning CNN Image Retrieval with No Human Annotation, 2018,
    equation 3 (GeM). By the exponent 2 it is the root mean square, as of the features of a token.
    """
    operations = blocks.operations
    for mean, kind in enumerate(operations.kinds):
        if kind not in _MEANS or len(operations.operands[mean]) != 1:
            continue
        power = operations.given_by(operations.operands[mean][0], "Pow")
        root = operations.only_user(mean)
        if power is None or root is None or operations.kinds[root] != "Pow":
            continue
        high, low = operations.scalar(power), operations.scalar(root)
        if operations.only_user(power) != mean or high is None or high <= 1 or high == _SQUARE:
            continue
        if low is None and not _is_over(operations, root):
            continue
        if low is not None and abs(high * low - 1) > _ROUNDING:
            continue
        numbers = {power, mean, root}
        least = operations.given_by(operations.operands[power][0], *_LEAST)
        if least is not None and operations.only_user(least) == power and not blocks.owner[least]:
            numbers.add(least)
        facts = (f"exponent {high:.3g}",)
        yield FoundBlock("unit", "Generalized-mean pooling", frozenset(numbers), root, facts)


def _is_over(operations: Operations, root: int) -> bool:
    """Return whether an exponent is 1 over something stored, as a node computes it."""
    exponent = operations.nodes[root].input(1)
    maker = exponent.producer if exponent is not None else None
    return maker is not None and maker.op_type in ("Div", "Reciprocal")


def find_bilinear_poolings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the products of all pairs of channels of maps, summed over places.

    T. Lin and others, Bilinear CNN Models for Fine-grained Visual Recognition, 2015, equation 1; as
    Gram matrices they tell the style of a picture (L. Gatys and others, 2016, equation 3).
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        taken = operations.operands[number]
        if kind != "MatMul" or len(taken) != _BOTH or taken[0] is not taken[1]:
            continue
        if blocks.owner[number] is not None or not _is_of_maps(operations, number):
            continue
        numbers, end = {number}, number
        scaled = operations.only_user(number)
        is_scaled = scaled is not None and operations.kinds[scaled] in ("Div", "Mul")
        if scaled is not None and is_scaled and operations.scalar(scaled) is not None:
            numbers.add(scaled)
            end = scaled
        users = [operations.kinds[user] for user in operations.users[end] if user >= 0]
        if "Softmax" not in users:
            yield FoundBlock("unit", "Bilinear pooling", frozenset(numbers), end)


def _is_of_maps(operations: Operations, number: int) -> bool:
    """Return whether a product is of the result of a convolution, turned on its second side."""
    node = operations.nodes[number]
    value = operations.operands[number][0]
    maker = value.producer
    for _ in range(_BOTH):  # an activation behind it
        if maker is None or maker.operator.has("convolves"):
            break
        is_bent = maker.operator.has("activates", "normalizes", "pools")
        first = maker.input(0)
        maker = first.producer if is_bent and first is not None else None
    is_turned = [
        any(one.operator.has("permutes") for one in operations.path(given))
        for given in node.inputs[:2]
    ]
    return maker is not None and maker.operator.has("convolves") and is_turned == [False, True]
