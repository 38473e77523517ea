"""Codes of quantized weights: ranges left unused, clipped, or spent on a few channels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netloupe.explorer.checks.operands import (
    CONTRIB_DOMAIN,
    find_dtype_of,
    list_own_nodes_with,
)
from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.stored_codes import StoredCodes
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import Node, Tensor, Value, find_nodes_where
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.notation import write_count, write_number, write_percent
from netloupe.explorer.operators import find_operator
from netloupe.explorer.progress import step
from netloupe.explorer.quantization.codes import CodeFacts
from netloupe.explorer.quantization.layout import read_bits, read_integer
from netloupe.explorer.quantization.quantized_elements import QuantizedElements, open_weight
from netloupe.explorer.quantization.quantized_weights import find_output_axis

from .quantization import find_dequantizer

#: fewer weights tell nothing of how they are spread
_LEAST_WEIGHTS = 64
#: codes of fewer bits lie at the ends as a rule
_LEAST_BITS = 7
#: below this share of the range a bit is lost, and below its half two
_HALF, _QUARTER = 0.5, 0.25
#: uniform weights have 3 of 256 codes at the ends where the largest sets the scale, and normal
#: ones fewer: so many more are no chance, in standard deviations, and never so few
_ENDED, _DEVIATIONS, _LEAST_ENDED = 3 / 256, 5.0, 8
#: what was clipped lies at the end, and not also at the codes beside it
_SPIKE = 2.0
#: empty codes among those in the middle of the distribution
_MOST_EMPTY = 0.1
_ACCUMULATOR = 2**31 - 1
_PIECE = 2**18


def _list_counted(subject: Subject, bits: float) -> Iterator[tuple[StoredCodes, CodeFacts]]:
    """Yield weights of at least so many bits, biases and tables of one number left out."""
    for one in subject.quantized.codes:
        facts = one.facts
        if facts is None or one.weight.is_bias or facts.distinct < 2:
            continue
        if facts.size >= _LEAST_WEIGHTS and (one.weight.bits or 0) >= bits:
            yield one, facts


def _find_unused_ranges(subject: Subject) -> Iterator[Occurrence]:
    for one, facts in _list_counted(subject, 4):
        if facts.reach >= _HALF or not facts.reach:
            continue
        lost = -float(np.log2(facts.reach))
        yield Occurrence(
            one.weight.path,
            f"its codes go from {write_number(facts.least)} to {write_number(facts.most)}, which "
            f"is {write_percent(facts.reach)} of what {one.weight.storage} reaches: {lost:.1f} of "
            f"{one.weight.bits:g} bits are not used",
            {"least": facts.least, "most": facts.most, "bits_lost": round(lost, 2)},
            severity="warning" if facts.reach < _QUARTER else None,
        )


def _find_clipped_codes(subject: Subject) -> Iterator[Occurrence]:
    for one, facts in _list_counted(subject, _LEAST_BITS):
        channel_size = facts.size // max(facts.channels, 1)
        ended, near = facts.ended_share * channel_size, facts.near_share * channel_size
        is_channel = _is_clipped(ended, near, channel_size, 1)
        at_ends = facts.at_lowest + facts.at_highest
        if not is_channel and not _is_clipped(at_ends, facts.near_ends, facts.size, facts.scales):
            continue
        message = (
            f"{write_percent(facts.ended)} of its codes are at the ends of the range "
            f"({facts.at_lowest:,} below, {facts.at_highest:,} above)"
        )
        if is_channel:
            message += (
                f"; of channel {facts.ended_channel} {write_percent(facts.ended_share)}, "
                f"and over 1 % of {facts.ended_channels:,} of {facts.channels:,} channels"
            )
        yield Occurrence(
            one.weight.path,
            message,
            {
                "ended": facts.ended,
                "channel": facts.ended_channel if is_channel else None,
                "channel_ended": facts.ended_share if is_channel else None,
            },
            "channel" if is_channel else "tensor",
        )


def _is_clipped(ended: float, near: float, size: int, scales: int) -> bool:
    """Return whether more codes are at the ends than one for each scale and some by chance.

    Where as many are beside the ends the weights are large there, and not clipped.
    """
    if ended <= _SPIKE * near:
        return False
    by_chance = size * _ENDED + scales
    return ended > max(by_chance + _DEVIATIONS * float(np.sqrt(by_chance)), _LEAST_ENDED)


def _find_unequal_channels(subject: Subject) -> Iterator[Occurrence]:
    for one, facts in _list_counted(subject, 4):
        if facts.scales != 1 or facts.channels < 2 or not facts.small_channels:
            continue
        left = facts.bits_left or 0.0
        yield Occurrence(
            one.weight.path,
            f"one scale serves {facts.channels:,} channels; the largest numbers of "
            f"{facts.small_channels:,} of them are below a sixteenth of those of the largest, and "
            f"{max(left, 0.0):.1f} of {one.weight.bits:g} bits are left of the smallest",
            {
                "channels": facts.channels,
                "small_channels": facts.small_channels,
                "disparity": facts.disparity,
                "bits_left": round(left, 2),
            },
        )


def _find_weight_zero_points(subject: Subject) -> Iterator[Occurrence]:
    for one, facts in _list_counted(subject, 2):
        if one.weight.scheme not in ("QDQ", "QOperator", "dynamic") or facts.is_symmetric:
            continue
        if one.weight.granularity == "per block":
            continue
        if not any(map(_multiplies, one.weight.list_users())):
            continue
        yield Occurrence(
            one.weight.path,
            f"its zero points are not in the middle of the range of {one.weight.storage}",
            {"storage": one.weight.storage, "scales": facts.scales},
            one.weight.storage,
        )


def _multiplies(node: Node) -> bool:
    return node.operator.has("convolves", "multiplies")


def _find_combs(subject: Subject) -> Iterator[Occurrence]:
    for one, facts in _list_counted(subject, _LEAST_BITS):
        if facts.scales != 1 or facts.empty_between <= _MOST_EMPTY * facts.between:
            continue
        yield Occurrence(
            one.weight.path,
            f"{facts.empty_between:,} of the {facts.between:,} codes in the middle of its "
            f"distribution do not occur among {facts.size:,} weights",
            {"empty": facts.empty_between, "between": facts.between},
        )


def _find_saturating_pairs(subject: Subject) -> Iterator[Occurrence]:
    """Yield weights of which two neighbours, times codes of 255, leave 16 bits."""
    for one, facts in _list_counted(subject, 8):
        weight = one.weight
        users = [*filter(_multiplies, weight.list_users())]
        axis = find_output_axis(weight)
        if weight.storage != "int8" or axis is None or not facts.is_symmetric or not users:
            continue
        if not any(_takes_unsigned(user) for user in users):
            continue
        try:
            pairs, full = _count_pairs(open_weight(weight), axis)
        except TensorDataError:
            continue
        if full:
            yield Occurrence(
                weight.path,
                f"{full:,} of its {pairs:,} pairs of neighbours "
                f"({write_percent(full / pairs)}) leave 16 bits where both activations are 255",
                {"pairs": pairs, "at_risk": full},
            )


def _takes_unsigned(node: Node) -> bool:
    """Return whether the activations that a node multiplies are uint8."""
    value = node.input(0)
    pair = find_dequantizer(value)
    if pair is not None:
        value = pair.input(0)
    producer = value.producer if value is not None else None
    made = producer.operator if producer is not None else None
    if producer is not None and made is not None and made.is_quantized and made.has("quantizes"):
        place = made.operands.find("result.zero_point")
        zero = producer.input(place) if place is not None else None
        return zero is None or find_dtype_of(zero) == "uint8"
    return find_dtype_of(value) == "uint8"


def _count_pairs(quantized: QuantizedElements, axis: int) -> tuple[int, int]:
    """Return how many pairs of neighbours along the sum there are, and how many may saturate.

    VPMADDUBSW adds u1 w1 + u2 w2 to 16 bits, u up to 255 and w along the axis of the sum.
    """
    size, pairs, full = quantized.codes.size, 0, 0
    is_row = axis == 0  # a row for each output channel; else the sum goes along the first axis
    width = size // quantized.dims[0] if quantized.dims[0] else 0
    if not width or (not is_row and len(quantized.dims) != 2):
        return 0, 0
    rows = max(_PIECE // width // 2, 1) * 2
    for start in range(0, size, rows * width):
        step()
        codes = quantized.codes.take(start, min(start + rows * width, size))
        block = codes.astype(np.int32).reshape(-1, width)
        if not is_row:
            block = block.T
        many = block.shape[1] // 2 * 2
        first, second = block[:, 0:many:2], block[:, 1:many:2]
        high = np.maximum(first, 0) + np.maximum(second, 0)
        low = np.minimum(first, 0) + np.minimum(second, 0)
        pairs += high.size
        full += int(np.count_nonzero((high * 255 > 32_767) | (low * 255 < -32_768)))
    return pairs, full


def _find_packed_shapes(subject: Subject) -> Iterator[Occurrence]:
    packed = find_operator(CONTRIB_DOMAIN, "MatMulNBits")
    for graph in subject.graphs:
        for index in find_nodes_where(graph, lambda operator: operator is packed).tolist():
            yield from _judge_packed(graph.nodes[index])


def _judge_packed(node: Node) -> Iterator[Occurrence]:
    """Yield what of MatMulNBits does not fit its attributes (ContribOperators, MatMulNBits)."""
    bits = read_bits(node)
    rows, width = read_integer(node, "N") or 0, read_integer(node, "K") or 0
    block = read_integer(node, "block_size") or 0
    if bits is None or min(rows, width, block) <= 0:
        return
    blocks = -(-width // block)
    for place, name, wanted in (
        (1, "bytes of packed weights", rows * blocks * (-(-block * bits // 8))),
        (2, "scales", rows * blocks),
        (3, "zero points", rows * blocks),
    ):
        tensor = _find_tensor(node.input(place))
        if tensor is None or tensor.dtype.bits is None:
            continue
        if place == 3 and tensor.dtype.name == "uint8":
            wanted, name = rows * (-(-blocks * bits // 8)), "bytes of packed zero points"
        if tensor.size != wanted:
            yield Occurrence(
                node.path,
                f"it has {tensor.size:,} {name}; N = {rows:,}, K = {width:,}, bits = {bits} and "
                f"block_size = {block:,} need {wanted:,}",
                {"has": tensor.size, "needs": wanted},
                name,
            )


def _find_tensor(value: Value | None) -> Tensor | None:
    return find_stored_tensor(value) if value is not None else None


def _find_accumulators(subject: Subject) -> Iterator[Occurrence]:
    for node in list_own_nodes_with(subject.graphs, "convolves", "multiplies"):
        pairs = [find_dequantizer(node.input(place)) for place in (0, 1)]
        first, second = pairs
        if first is None or second is None or not node.operator.weight_layout:
            continue
        weight = _find_tensor(second.input(0))
        tops = [_find_top(pair.input(0)) for pair in (first, second)]
        if weight is None or None in tops:
            continue
        depth = _find_depth(node, weight)
        most = depth * (tops[0] or 0) * (tops[1] or 0)
        if most > _ACCUMULATOR:
            yield Occurrence(
                node.path,
                f"it adds {write_count(depth, 'product')} of "
                f"up to {tops[0]:,} times {tops[1]:,}: up to "
                f"{most:.3g}, and 32 bits hold {_ACCUMULATOR:.3g}",
                {"depth": depth, "largest_sum": most},
            )


def _find_top(value: Value | None) -> int | None:
    """Return the largest magnitude of codes: 255 of uint8, 127 of symmetric int8."""
    dtype = find_dtype_of(value)
    tops = {"uint8": 255, "int8": 127, "uint4": 15, "int4": 7, "uint16": 65535, "int16": 32767}
    return None if dtype is None else tops.get(dtype.name)


def _find_depth(node: Node, weight: Tensor) -> int:
    """Return how many products are added up for one number."""
    dims, operator = weight.dims, node.operator
    if len(dims) < 2:
        return weight.size
    if operator.has("transposed"):
        return dims[0]
    if operator.has("convolves"):
        return weight.size // max(dims[0], 1)
    return dims[1] if read_integer(node, "transB", 0) else dims[-2]


RULES = (
    Rule(
        "NL-Q04",
        "weight-zero-point",
        "note",
        "A weight whose zero point is not in the middle of its codes",
        "Kernels then need the sums of the activations too, which costs time; TensorRT and GPU "
        "kernels of ONNX Runtime refuse it.",
        "Quantize weights symmetrically: zero point 0 of int8, 128 of uint8.",
        "TensorRT, explicit quantization; ONNX Runtime, quantization.md",
        _find_weight_zero_points,
        reads_values=True,
    ),
    Rule(
        "NL-Q13",
        "saturating-pairs",
        "note",
        "Weights of 8 bits that may saturate 16 bits beside unsigned activations",
        "CPUs with AVX2 or AVX512 but no VNNI add two products of uint8 and int8 in 16 bits and "
        "clip the sum.",
        "Quantize weights to 7 bits (reduce_range=True), or activations to int8.",
        "ONNX Runtime, quantization.md, when and why to try U8U8",
        _find_saturating_pairs,
        reads_values=True,
        is_opt_in=True,
    ),
    Rule(
        "NL-Q16",
        "unused-range",
        "note",
        "A weight whose codes fill less than half of their range",
        "Each half of the range that is not used is a bit less of precision.",
        "Make the scale max|w| / (2^(bits - 1) - 1) of each channel.",
        "Krishnamoorthi 2018 (arXiv:1806.08342), 2; practice",
        _find_unused_ranges,
        reads_values=True,
    ),
    Rule(
        "NL-Q17",
        "clipped-codes",
        "warning",
        "A weight with many codes at the ends of their range",
        "What lies beyond is clipped: the largest weights, which matter most, are wrong. A scale "
        "from the largest magnitude puts about one code of a channel there.",
        "Raise the scale of such channels to max|w| / (2^(bits - 1) - 1), or compare with the "
        "float model in an audit.",
        "ONNX Runtime, quantization.md; practice",
        _find_clipped_codes,
        reads_values=True,
    ),
    Rule(
        "NL-Q18",
        "unequal-channels",
        "warning",
        "One scale for channels whose ranges differ more than 16 times",
        "A channel with a sixteenth of the largest range has 4 of 8 bits left.",
        "Quantize with a scale for each channel (per_channel=True), or equalise the layers before.",
        "Nagel et al. 2019 (arXiv:1906.04721), 3 and 4.1",
        _find_unequal_channels,
        reads_values=True,
    ),
    Rule(
        "NL-Q26",
        "packed-shape",
        "error",
        "Packed weights, scales or zero points whose number does not fit the attributes",
        "The operator cannot unpack them; runtimes refuse the model or read beyond them.",
        "Pack them again for K, N, bits and block_size.",
        "ONNX Runtime, ContribOperators.md, MatMulNBits",
        _find_packed_shapes,
    ),
    Rule(
        "NL-Q27",
        "accumulator",
        "note",
        "Sums of products that may not fit 32 bits",
        "Where activations and weights are all large the sum wraps around.",
        "Quantize weights to fewer bits (reduce_range), or split the product.",
        "Jacob et al. 2018 (arXiv:1712.05877), 2.2",
        _find_accumulators,
    ),
    Rule(
        "NL-Q34",
        "rounded-twice",
        "note",
        "A weight with codes between others that never occur",
        "It was perhaps quantized twice, with another scale before: both errors add up.",
        "Quantize the float weights, and not what was dequantized.",
        "practice",
        _find_combs,
        reads_values=True,
    ),
)
