"""How activations are quantized: joined scales, known ranges, what is quantized in vain."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netloupe.explorer.checks.known_ranges import KNOWN_RANGES
from netloupe.explorer.checks.operands import (
    find_dtype_of,
    find_only_user,
    is_operator,
    list_own_nodes,
)
from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.model import (
    Node,
    Value,
    find_nodes_where,
    find_nodes_with,
    list_quantized_operands,
)
from netloupe.explorer.notation import write_number, write_percent
from netloupe.explorer.operators import Operator

from .quantization import find_dequantizer, read_flat_numbers

#: scales of what is joined that differ by more than this lose two bits, and by the second four
_JOINED, _FAR_JOINED = 4.0, 16.0
_DEVIATION = 1e-3
#: a range that is wider than what comes by more than this loses a bit
_WIDER = 2.0
#: the share of codes below zero that is told behind a Relu
_NEGATIVE = 1 / 16
_ENDS = {"uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767)}


def _read_scale(value: Value | None) -> float | None:
    """Return one positive constant scale; None where it is none."""
    numbers = read_flat_numbers(value)
    if numbers is None or numbers.size != 1 or not np.isfinite(numbers[0]) or numbers[0] <= 0:
        return None
    return float(numbers[0])


def _find_range(quantizer: Node) -> tuple[float, float] | None:
    """Return the real range of the codes that a node gives: [s (qmin - z), s (qmax - z)]."""
    find = quantizer.operator.operands.find
    scale_place, zero_place = find("result.scale"), find("result.zero_point")
    if scale_place is None or not quantizer.operator.is_quantized:
        return None
    zero = quantizer.input(zero_place) if zero_place is not None else None
    step = _read_scale(quantizer.input(scale_place))
    zeros = np.zeros(1) if zero is None else read_flat_numbers(zero)
    dtype = find_dtype_of(quantizer.output(0)) or find_dtype_of(zero)
    ends = _ENDS.get("uint8" if dtype is None and zero is None else getattr(dtype, "name", ""))
    if step is None or zeros is None or zeros.size != 1 or ends is None:
        return None
    return step * (ends[0] - float(zeros[0])), step * (ends[1] - float(zeros[0]))


def _find_joined_scales(subject: Subject) -> Iterator[Occurrence]:
    for graph in subject.graphs:
        for index in find_nodes_with(graph, "shares_scale").tolist():
            node = graph.nodes[index]
            scales = [
                _read_scale(scale)
                for codes, scale in _list_quantized(node)
                if codes is not None and codes.initializer is None
            ]
            yield from _judge_joined(node, scales)


def _list_quantized(node: Node) -> Iterator[tuple[Value | None, Value | None]]:
    """Yield the codes and the scale of each quantized operand of a node."""
    for operand in list_quantized_operands(node):
        if not operand.is_output and operand.scale is not None:
            yield node.input(operand.index), node.input(operand.scale)
    for value in node.inputs:
        pair = find_dequantizer(value)
        if pair is not None:
            yield pair.input(0), pair.input(1)


def _judge_joined(node: Node, found: list[float | None]) -> Iterator[Occurrence]:
    scales = [scale for scale in found if scale is not None]
    if len(scales) < 2:
        return
    ratio = max(scales) / min(scales)
    if ratio <= _JOINED:
        return
    yield Occurrence(
        node.path,
        f"{node.op_type} joins values whose scales are {write_number(min(scales))} and "
        f"{write_number(max(scales))}, {write_number(round(ratio, 2))} times as large: on the "
        f"larger one the other has {np.log2(ratio):.1f} bits less",
        {"smallest": min(scales), "largest": max(scales), "ratio": ratio},
        node.op_type,
        severity="warning" if ratio > _FAR_JOINED else None,
    )


def _find_twice_quantized(subject: Subject) -> Iterator[Occurrence]:
    seen: dict[Value, list[tuple[Node, float]]] = {}
    for node in list_own_nodes(subject.graphs, "QuantizeLinear"):
        value, scale = node.input(0), _read_scale(node.input(1))
        if value is not None and scale is not None:
            seen.setdefault(value, []).append((node, scale))
    for value, uses in seen.items():
        scales = [scale for _, scale in uses]
        if len(uses) > 1 and max(scales) > min(scales) * (1 + _DEVIATION):
            yield Occurrence(
                value.path,
                f"it is quantized {len(uses):,} times, with scales from "
                f"{write_number(min(scales))} to {write_number(max(scales))}",
                {"scales": scales[:16], "nodes": [node.path for node, _ in uses[:16]]},
            )


def _find_known_ranges(subject: Subject) -> Iterator[Occurrence]:
    for graph in subject.graphs:
        for index in find_nodes_where(graph, _has_ends).tolist():
            node = graph.nodes[index]
            known = KNOWN_RANGES.get(node.operator.form) or _read_clip(node)
            # QLinearSigmoid and the like quantize themselves what they give
            quantizer = node if node.operator.is_quantized else find_only_user(node.output(0))
            if known is not None and quantizer is not None:
                found = _find_range(quantizer)
                yield from _judge_range(quantizer, node.op_type, known, found)


def _has_ends(operator: Operator) -> bool:
    return operator.form in KNOWN_RANGES or operator.has("clips")


def _read_clip(node: Node) -> tuple[float, float] | None:
    low, high = (read_flat_numbers(node.input(place)) for place in (1, 2))
    if low is None or high is None or low.size != 1 or high.size != 1:
        return None
    ends = float(low[0]), float(high[0])
    return ends if np.isfinite(ends).all() and ends[0] < ends[1] else None


def _judge_range(
    node: Node, op_type: str, known: tuple[float, float], found: tuple[float, float] | None
) -> Iterator[Occurrence]:
    if found is None:
        return
    wider = (found[1] - found[0]) / (known[1] - known[0])
    if wider <= _WIDER * (1 + _DEVIATION):
        return
    yield Occurrence(
        node.path,
        f"its codes reach from {write_number(found[0])} to {write_number(found[1])}, but what "
        f"{op_type} gives stays between {write_number(known[0])} and {write_number(known[1])}: "
        f"{np.log2(wider):.1f} bits are not used",
        {"range": [*found], "known": [*known], "wider": wider},
        op_type,
    )


def _find_lone_quantizers(subject: Subject) -> Iterator[Occurrence]:
    for node in list_own_nodes(subject.graphs, "QuantizeLinear"):
        codes = node.output(0)
        if codes is None or not codes.users:
            continue
        for user in codes.users:
            if _hands_codes_on(user.operator) or _takes_codes(user):
                continue
            yield Occurrence(
                node.path,
                f"{user.op_type} takes its codes as numbers: nothing dequantizes them, and the "
                "operator is none on quantized numbers",
                {"user": user.path, "operator": user.op_type},
                user.op_type,
            )
            break


def _takes_codes(node: Node) -> bool:
    """Return whether an operator is one on quantized numbers, or runs what may be."""
    if node.function is not None or node.subgraphs or node.domain:
        return True
    return node.operator.is_quantized or not node.operator.is_known


def _changes_no_number(operator: Operator) -> bool:
    return operator.has("copies", "permutes", "picks", "reshapes") or operator.form == "MaxPool"


def _hands_codes_on(operator: Operator) -> bool:
    """Return whether what an operator gives are codes where it takes codes."""
    return _changes_no_number(operator) or operator.has(
        "joins", "looks_up", "pads", "repeats", "resamples"
    )


def _list_passing(subject: Subject) -> Iterator[Node]:
    for graph in subject.graphs:
        for index in find_nodes_where(graph, _changes_no_number).tolist():
            yield graph.nodes[index]


def _find_passed_scales(subject: Subject) -> Iterator[Occurrence]:
    for node in _list_passing(subject):
        before, after = find_dequantizer(node.input(0)), find_only_user(node.output(0))
        if before is None or not is_operator(after, "QuantizeLinear"):
            continue
        stored = before.input(0)
        if stored is None or stored.initializer is not None:
            continue
        scales = [_read_scale(each.input(1)) for each in (before, after)]
        if None in scales or scales[0] is None or scales[1] is None:
            continue
        ratio = scales[1] / scales[0]
        if abs(ratio - 1) > _DEVIATION:
            yield Occurrence(
                after.path,
                f"{node.op_type} changes no number, but what it takes has the scale "
                f"{write_number(scales[0])} and what it gives {write_number(scales[1])}: all are "
                "rounded again",
                {"before": scales[0], "after": scales[1], "ratio": ratio},
                node.op_type,
            )


def _find_negative_ranges(subject: Subject) -> Iterator[Occurrence]:
    for node in list_own_nodes(subject.graphs, "Relu"):
        user = find_only_user(node.output(0))
        if not is_operator(user, "QuantizeLinear"):
            continue
        found = _find_range(user)
        if found is None:
            continue
        share = -found[0] / (found[1] - found[0])
        if share > _NEGATIVE:
            yield Occurrence(
                user.path,
                f"{write_percent(share)} of its codes stand for numbers below 0, "
                "which Relu never gives",
                {"range": [*found], "share": share},
            )


def _find_norms(subject: Subject) -> Iterator[Occurrence]:
    for norm in list_own_nodes(subject.graphs, "BatchNormalization"):
        value = norm.input(0)
        pair = find_dequantizer(value)
        if pair is not None:
            quantizer = _find_producer(pair.input(0))
            value = quantizer.input(0) if is_operator(quantizer, "QuantizeLinear") else None
        conv = _find_producer(value)
        if conv is None or not conv.operator.has("convolves", "multiplies"):
            continue
        if find_dequantizer(conv.input(1)) is None:
            continue
        yield Occurrence(
            norm.path,
            f"it follows the quantized {conv.label[:100]}"
            + (", whose result is quantized in between" if pair is not None else ""),
            {"operator": conv.path},
            "between" if pair is not None else "",
        )


def _find_producer(value: Value | None) -> Node | None:
    return value.producer if value is not None else None


RULES = (
    Rule(
        "NL-Q12",
        "joined-scales",
        "note",
        "Joined values whose scales differ more than four times",
        "What is joined gets one scale: of the finer value bits are lost. Many accelerators need "
        "equal scales at a concatenation.",
        "Calibrate the inputs of the join together, or give them the scale of the result.",
        "TensorFlow Lite, quantization specification; PPQ, alignment of scales",
        _find_joined_scales,
    ),
    Rule(
        "NL-Q21",
        "unfolded-norm",
        "warning",
        "A BatchNormalization behind a quantized convolution",
        "It runs in floats, and the weights were not those that count when they were quantized.",
        "Fold it into the convolution before quantizing: `onnxruntime.quantization.preprocess`.",
        "ONNX Runtime, quantization.md, pre-processing",
        _find_norms,
    ),
    Rule(
        "NL-Q24",
        "quantized-twice",
        "warning",
        "A value that is quantized several times with different scales",
        "Its users compute with different numbers; a kernel has to do the work again.",
        "Quantize it once, and let all users take that.",
        "TensorRT, explicit quantization",
        _find_twice_quantized,
    ),
    Rule(
        "NL-Q29",
        "known-range",
        "warning",
        "A range more than twice as wide as what the operator can give",
        "Half of the codes or more are never used.",
        "Use the known range: Sigmoid and Softmax [0, 1], Tanh [-1, 1], Clip its ends.",
        "TensorFlow Lite, quantization specification",
        _find_known_ranges,
    ),
    Rule(
        "NL-Q31",
        "lone-quantizer",
        "warning",
        "QuantizeLinear without DequantizeLinear",
        "The codes are taken as if they were the numbers, without scale and zero point.",
        "Put a DequantizeLinear with the same parameters between.",
        "TREx, trex/lint.py; TensorRT, explicit quantization",
        _find_lone_quantizers,
    ),
    Rule(
        "NL-Q32",
        "passed-scales",
        "note",
        "Another scale behind an operator that changes no number",
        "All numbers are rounded again, and a kernel runs for nothing else.",
        "Give what goes in and what comes out the same scale and zero point.",
        "TensorFlow Lite, quantization specification; PPQ, alignment of scales",
        _find_passed_scales,
    ),
    Rule(
        "NL-Q33",
        "negative-range",
        "note",
        "Codes for numbers below 0 behind a Relu",
        "Up to half of the codes, one bit, are never used.",
        "Quantize to uint8 with zero point 0, where the kernels of the target take it.",
        "ONNX Runtime, quantization.md; practice",
        _find_negative_ranges,
    ),
)
