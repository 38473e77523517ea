"""Weights of which one model holds the floats and the other what these were quantized to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Model, Node, Tensor
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.progress import is_ending, step
from netloupe.explorer.quantization.quantized_elements import QuantizedElements, open_weight
from netloupe.explorer.quantization.quantized_weights import QuantizedWeight, list_quantized_weights

from .matching import Matching
from .numbers import DifferenceSums, NumberDifference
from .references import Reference, open_reference
from .twin_weights import TwinWeights

_PIECE = 2**16


class QuantizedPair(NamedTuple):
    """A weight that is floats in one model and codes in the other.

    Parameters
    ----------
    before, after
        What each holds, in words: ``float32``, ``int8 per channel``.
    numbers
        How far the floats and what the codes stand for are apart; None where these cannot be
        read, so that names and places alone say that they belong together.
    parameters
        The scales and zero points that belong to the codes.
    """

    left: Tensor
    right: Tensor
    before: str
    after: str
    numbers: NumberDifference | None
    parameters: tuple[Tensor, ...]


def pair_quantized(matching: Matching) -> Iterator[QuantizedPair]:
    """Yield weights that one model has quantized, each pair verified by value where it can be.

    Where nothing is left without a partner on one of the sides, nothing is read.
    """
    yield from _pair_sides(matching, is_right=True)
    yield from _pair_sides(matching, is_right=False)


def _pair_sides(matching: Matching, *, is_right: bool) -> Iterator[QuantizedPair]:
    """Yield pairs of which the codes are on one side."""
    coded, floats = (matching.right, matching.left) if is_right else (matching.left, matching.right)
    paired = matching.tensors
    known = {other: one for one, other in paired.items()} if is_right else paired
    taken = {*known.values()}
    weights = [*_list_candidates(coded, known)]
    if not weights:
        return
    partners: dict[Node, tuple[Node, ...]] = {}
    for pair in matching.pairs:
        ours, theirs = (pair.right, pair.left) if is_right else (pair.left, pair.right)
        partners.update(dict.fromkeys(ours, theirs))
    twins = TwinWeights(floats, partners)
    for number, weight in enumerate(weights):
        step("" if number else "comparing quantized weights", number / len(weights))
        found = _compare(weight, twins)
        if found is None:
            continue
        tensor, numbers = found
        if known.get(weight.tensor) is not tensor and tensor in taken:
            continue
        taken.add(tensor)
        words = " ".join(part for part in (weight.storage, weight.granularity) if part)
        parameters = tuple(_list_parameters(weight))
        if is_right:
            yield QuantizedPair(
                tensor, weight.tensor, tensor.dtype.name, words, numbers, parameters
            )
        else:
            yield QuantizedPair(
                weight.tensor, tensor, words, tensor.dtype.name, numbers, parameters
            )


def _list_candidates(model: Model, known: dict[Tensor, Tensor]) -> Iterator[QuantizedWeight]:
    """Yield the quantized weights that have no partner, or one of floats."""
    for graph in model.graphs:
        for weight in list_quantized_weights(graph):
            partner = known.get(weight.tensor)
            if weight.scheme != "simulated" and (partner is None or partner.dtype.is_float):
                yield weight


def _compare(
    weight: QuantizedWeight, twins: TwinWeights
) -> tuple[Tensor, NumberDifference | None] | None:
    try:
        quantized = open_weight(weight)
        if quantized.codes.is_constant:
            return None
        found = twins.find(weight, quantized)
        if found.tensor is not None:
            return found.tensor, _measure(quantized, open_reference(found.tensor, found.turned))
    except NetloupeError as error:
        if is_ending(error):
            raise
        tensor = twins.find_by_place(weight)
    else:
        tensor = twins.find_by_place(weight)
        if tensor is None or _can_be_read(tensor):  # then its numbers are others
            return None
    return None if tensor is None else (tensor, None)


def _can_be_read(tensor: Tensor) -> bool:
    try:
        open_reference(tensor, None).take(0, min(tensor.size, 1))
    except NetloupeError as error:
        if is_ending(error):
            raise
        return False
    return True


@np.errstate(all="ignore")
def _measure(quantized: QuantizedElements, reference: Reference) -> NumberDifference:
    """Return how far the floats and what the codes stand for are apart, read in pieces."""
    count, sums = quantized.codes.size, DifferenceSums()
    for start in range(0, count, _PIECE):
        step()
        stop = min(start + _PIECE, count)
        codes = quantized.codes.take(start, stop)
        sums.add(reference.take(start, stop), quantized.dequantize(codes, start, stop))
    return sums.finish(count)


def _list_parameters(weight: QuantizedWeight) -> Iterator[Tensor]:
    values = [weight.node.input(2)] if weight.node is not None and weight.statement is None else []
    if weight.statement is not None:
        values = [weight.statement.scale, weight.statement.zero_point]
    for value in values:
        tensor = find_stored_tensor(value) if value is not None else None
        if tensor is not None:
            yield tensor
