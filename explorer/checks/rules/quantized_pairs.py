"""QuantizeLinear and DequantizeLinear that belong together, and biases of products."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netloupe.explorer.checks.operands import (
    find_dtype_of,
    is_operator,
    list_own_nodes,
    list_own_nodes_with,
    read_constant,
)
from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.dataflow import find_operand
from netloupe.explorer.model import Node, Value
from netloupe.explorer.notation import write_number

from .quantization import Numbers, find_dequantizer, read_flat_numbers

#: relative deviation of a bias scale that is counted as wrong: rounding in float32 gives 1e-7
_BIAS_DEVIATION = 1e-3
_INT32 = 2**31 - 1


def _list_chains(subject: Subject, first: str, then: str) -> Iterator[tuple[Node, Node]]:
    """Yield nodes of one operator with those of another that take their result."""
    for node in list_own_nodes(subject.graphs, then):
        value = node.input(0)
        before = value.producer if value is not None else None
        if is_operator(before, first):
            yield before, node


def _read_parameters(node: Node) -> tuple[Numbers, Numbers] | None:
    """Return scales and zero points of a node; None where they are not constant."""
    scale = read_flat_numbers(node.input(1))
    zero_point = node.input(2)
    zeros = np.zeros(1) if zero_point is None else read_flat_numbers(zero_point)
    return None if scale is None or zeros is None else (scale, zeros)


def _are_equal(one: tuple[Numbers, Numbers], two: tuple[Numbers, Numbers]) -> bool:
    """Return whether scales and zero points are the same; one stands for all channels."""
    return all(
        (a.size == b.size and np.array_equal(a, b))
        or (min(a.size, b.size) == 1 and not (a != b).any())
        for a, b in zip(one, two, strict=True)
    )


def _find_unequal_pairs(subject: Subject) -> Iterator[Occurrence]:
    for quantize, dequantize in _list_chains(subject, "QuantizeLinear", "DequantizeLinear"):
        if quantize.input(1) is dequantize.input(1) and quantize.input(2) is dequantize.input(2):
            continue
        one, two = _read_parameters(quantize), _read_parameters(dequantize)
        if one is not None and two is not None and not _are_equal(one, two):
            yield Occurrence(
                dequantize.path,
                f"dequantizes with scale {write_number(two[0][0])} and zero point "
                f"{write_number(two[1][0])} what {quantize.label[:100]} quantized with "
                f"{write_number(one[0][0])} and {write_number(one[1][0])}",
                {
                    "quantize": [float(one[0][0]), float(one[1][0])],
                    "dequantize": [float(two[0][0]), float(two[1][0])],
                },
            )


def _find_requantizing(subject: Subject) -> Iterator[Occurrence]:
    for dequantize, quantize in _list_chains(subject, "DequantizeLinear", "QuantizeLinear"):
        one, two = _read_parameters(dequantize), _read_parameters(quantize)
        if one is None or two is None:
            continue
        source, target = (
            find_dtype_of(dequantize.input(0)),
            find_dtype_of(quantize.output(0)),
        )
        is_same = _are_equal(one, two) and (source is None or target is None or source == target)
        if not np.isfinite([one[0][0], two[0][0]]).all():  # told of the scale itself
            continue
        ratio = float(two[0][0] / one[0][0]) if one[0][0] else 0.0
        yield Occurrence(
            quantize.path,
            "quantizes with the same scale and zero point what was dequantized just before"
            if is_same
            else "quantizes anew what was dequantized just before, the scale times "
            f"{write_number(ratio)}: rounded twice",
            {"scale_ratio": ratio},
            str(is_same),
        )


def _list_biases(subject: Subject) -> Iterator[tuple[Node, Node, Value]]:
    """Yield convolutions and products, what dequantizes their bias, and its int32 numbers."""
    for node in list_own_nodes_with(subject.graphs, "convolves", "multiplies"):
        pair = find_dequantizer(find_operand(node, "bias"))
        stored = pair.input(0) if pair is not None else None
        if pair is not None and stored is not None and find_dtype_of(stored) == "int32":
            yield node, pair, stored


def _find_bias_scales(subject: Subject) -> Iterator[Occurrence]:
    for node, pair, _ in _list_biases(subject):
        scales = []
        for index in (0, 1):
            before = find_dequantizer(node.input(index))
            scales.append(read_flat_numbers(before.input(1)) if before is not None else None)
        bias = read_flat_numbers(pair.input(1))
        data, weight = scales
        if data is None or weight is None or bias is None or data.size != 1 or not bias.size:
            continue
        if weight.size != bias.size and 1 not in (weight.size, bias.size):
            continue
        with np.errstate(all="ignore"):
            wanted = data[0] * weight
            off = np.abs(bias - wanted) / np.abs(wanted)
        if not np.isfinite(off).any() or not float(np.nanmax(off)) > _BIAS_DEVIATION:
            continue
        worst = int(np.nanargmax(off))
        has, wants = bias[worst % bias.size], wanted[worst % wanted.size]
        yield Occurrence(
            node.path,
            f"its bias is dequantized with {write_number(has)}, but scale of input times scale of "
            f"weight is {write_number(wants)}"
            + (
                f", in {int((off > _BIAS_DEVIATION).sum()):,} of {off.size:,} channels"
                if off.size > 1
                else ""
            ),
            {
                "bias_scale": float(has),
                "wanted": float(wants),
                "ratio": float(has / wants) if wants else None,
                "channel": worst,
            },
        )


def _find_saturated_biases(subject: Subject) -> Iterator[Occurrence]:
    seen: set[Value] = set()
    stored = [value for _, _, value in _list_biases(subject)]
    for node in list_own_nodes(subject.graphs, "QLinearConv"):
        value = node.input(8)
        stored += [] if value is None else [value]
    for value in stored:
        if value in seen:
            continue
        seen.add(value)
        codes = read_constant(value)
        if codes is None or codes.dtype != np.int32 or not codes.size:
            continue
        full = (codes >= _INT32) | (codes <= -_INT32)
        if full.any():
            yield Occurrence(
                value.path,
                f"{int(full.sum()):,} of its {codes.size:,} biases are clipped to int32",
                {"saturated": int(full.sum()), "first": int(full.argmax())},
            )


RULES = (
    Rule(
        "NL-Q07",
        "unequal-pair",
        "warning",
        "QuantizeLinear and DequantizeLinear of one pair that differ",
        "What comes out is scaled or shifted against what went in.",
        "Give both the same scale and zero point.",
        "TREx, trex/lint.py",
        _find_unequal_pairs,
    ),
    Rule(
        "NL-Q08",
        "requantizing",
        "note",
        "DequantizeLinear followed by QuantizeLinear at once",
        "With equal parameters it is work for nothing; with others numbers are rounded twice.",
        "Remove the pair, or let the producer quantize with the second scale.",
        "TREx, trex/lint.py",
        _find_requantizing,
    ),
    Rule(
        "NL-Q09",
        "bias-scale",
        "error",
        "A bias whose scale is not that of the products it is added to",
        "Integer kernels add the bias to sums of products, whose scale is that of the input times "
        "that of the weight; they add something else than the float model.",
        "Quantize the bias with scale(input) * scale(weight), for each node that uses it.",
        "Jacob et al. 2018 (arXiv:1712.05877), 2.4; onnxruntime-qnn #739",
        _find_bias_scales,
    ),
    Rule(
        "NL-Q10",
        "saturated-bias",
        "error",
        "A bias that is clipped to 32 bits",
        "The scale of input times weight is too small for it; the channel is wrong.",
        "Raise the scale of the weight in such channels, as ONNX Runtime does since #22020.",
        "ONNX Runtime #22020, #25278",
        _find_saturated_biases,
    ),
)
