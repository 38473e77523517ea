"""Numbers among the weights and constants that do harm."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netloupe.explorer.checks.operands import (
    find_dtype_of,
    find_only_user,
    list_own_nodes,
    list_own_nodes_with,
    read_constant,
    take_attribute,
)
from netloupe.explorer.checks.rule import Occurrence, Rule, Severity
from netloupe.explorer.checks.sine_tables import is_sine_table
from netloupe.explorer.checks.stored_numbers import LARGEST_HALF, NumberFacts
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.costs.initializer_kinds import find_initializer_kinds
from netloupe.explorer.model import Tensor
from netloupe.explorer.notation import write_count, write_number, write_percent
from netloupe.explorer.operators import find_schema

#: numbers at most half as large become 0 in float16, whose smallest is 2**-24
_LOST_IN_HALF = 2.0**-25
#: the largest finite float32 (IEEE 754 binary32)
_LARGEST_SINGLE = float(np.finfo(np.float32).max)
#: which share of the numbers of a float16 tensor may be subnormal: of a normal distribution with
#: the deviation 0.02, as usual of weights, 0.2 % are
_MOST_SUBNORMAL = 0.1


def _list_measured(subject: Subject) -> Iterator[tuple[Tensor, NumberFacts]]:
    yield from subject.numbers.facts.items()


def _list_own(subject: Subject) -> Iterator[tuple[Tensor, NumberFacts]]:
    """Yield what is no scale: of those that cannot be used, bad-scale tells."""
    for tensor, facts in _list_measured(subject):
        if tensor not in subject.scales:
            yield tensor, facts


def _is_weight(subject: Subject, tensor: Tensor) -> bool:
    """Return whether a tensor is a weight, not a mask or another constant."""
    is_array = tensor.size > 1 and len(tensor.dims) > 0
    return is_array and find_initializer_kinds(subject.model).kind_of(tensor) == "parameter"


def _find_nan(subject: Subject) -> Iterator[Occurrence]:
    for tensor, facts in _list_own(subject):
        if facts.nans:
            where = _write_place(tensor, facts)
            yield Occurrence(
                tensor.path,
                f"{_write_share(facts.nans, tensor)} NaN{where}",
                {"nans": facts.nans, "first": facts.first_nonfinite},
            )


def _find_infinite(subject: Subject) -> Iterator[Occurrence]:
    for tensor, facts in _list_own(subject):
        count = facts.positive_infinities + facts.negative_infinities
        if not count:
            continue
        is_weight = _is_weight(subject, tensor)
        severity: Severity = "error" if is_weight else "note"
        kind = "" if is_weight else "; it is no weight, perhaps a mask"
        yield Occurrence(
            tensor.path,
            f"{_write_share(count, tensor)} infinite{_write_place(tensor, facts)}{kind}",
            {"positive": facts.positive_infinities, "negative": facts.negative_infinities},
            severity=severity,
        )


def _write_share(count: int, tensor: Tensor) -> str:
    if tensor.size == 1:
        return "its only number is"
    return f"{count:,} of its {tensor.size:,} numbers {'is' if count == 1 else 'are'}"


def _write_place(tensor: Tensor, facts: NumberFacts) -> str:
    """Return where the first number is that is not finite, in words."""
    if facts.first_nonfinite < 0 or tensor.size == 1:
        return ""
    place = []
    rest = facts.first_nonfinite
    for dim in reversed(tensor.dims):
        place.append(rest % dim if dim else 0)
        rest //= dim or 1
    return f", the first not finite at {[*reversed(place)]}"


def _find_beyond_half(subject: Subject) -> Iterator[Occurrence]:
    is_half = _is_half(subject)
    severity: Severity = "warning" if is_half else "note"
    for tensor, facts in _list_measured(subject):
        if tensor.size == 1 and not is_half and facts.largest >= _LARGEST_SINGLE:
            continue  # the number that stands for -inf in masks, which tools know to replace
        if facts.beyond_half:
            yield Occurrence(
                tensor.path,
                f"{write_count(facts.beyond_half, 'number')} of {tensor.dtype} up to "
                f"{write_number(facts.largest)} in magnitude: infinite in float16, which ends at "
                f"{LARGEST_HALF:g}" + ("; the other weights are float16" if is_half else ""),
                {"count": facts.beyond_half, "largest": facts.largest},
                severity=severity,
            )


def _is_half(subject: Subject) -> bool:
    """Return whether most stored real numbers are of float16."""
    half = wide = 0
    for tensor in subject.numbers.facts:
        if tensor.dtype.name == "float16":
            half += tensor.size
        elif tensor.dtype.name in ("float32", "float64", "bfloat16"):
            wide += tensor.size
    return half > wide


def _find_subnormal(subject: Subject) -> Iterator[Occurrence]:
    for tensor, facts in _list_own(subject):
        if not facts.subnormals:
            continue
        share = facts.subnormals / max(tensor.size, 1)
        if tensor.dtype.name == "float16" and share <= _MOST_SUBNORMAL:
            continue
        yield Occurrence(
            tensor.path,
            f"{_write_share(facts.subnormals, tensor)} subnormal in {tensor.dtype}: "
            + (
                "they keep fewer digits, and some hardware takes them for 0"
                if tensor.dtype.name == "float16"
                else "slow on processors that do not flush them to 0"
            ),
            {"subnormals": facts.subnormals, "share": round(share, 6)},
            tensor.dtype.name,
            severity="warning" if tensor.dtype.name == "float16" else "note",
        )


def _find_dead_channels(subject: Subject) -> Iterator[Occurrence]:
    for tensor, facts in _list_measured(subject):
        dead = facts.dead
        if dead is None or not dead.any():
            continue
        count = int(np.count_nonzero(dead))
        is_all = count == dead.size
        if is_sine_table(tensor, dead):
            continue
        yield Occurrence(
            tensor.path,
            "all its numbers are 0"
            if is_all
            else f"{count:,} of its {dead.size:,} output channels are all zeros",
            {"dead": count, "channels": int(dead.size), "first": int(dead.argmax())},
            "all" if is_all else "some",
            {"bytes": (tensor.nbytes or 0) * count // dead.size},
            severity="warning" if is_all else "note",
        )


def _find_uniform(subject: Subject) -> Iterator[Occurrence]:
    for tensor, facts in _list_measured(subject):
        if facts.dead is not None and facts.is_uniform and facts.largest and tensor.size > 1:
            yield Occurrence(
                tensor.path,
                f"all its {tensor.size:,} numbers are the same, {write_number(facts.largest)} in "
                "magnitude",
                {"magnitude": facts.largest, "dims": list(tensor.dims)},
            )


def _find_bad_variance(subject: Subject) -> Iterator[Occurrence]:
    for node in list_own_nodes(subject.graphs, "BatchNormalization") if subject.is_onnx else ():
        variance = read_constant(node.input(4))
        if variance is None or not variance.size or variance.dtype.kind not in "fV":
            continue
        numbers = variance.astype(np.float64)
        if np.isnan(numbers).all():  # told as such of the weight
            continue
        lowest = float(np.nanmin(numbers))
        epsilon = take_attribute(node, "epsilon", 1e-5)
        is_lost = not isinstance(epsilon, float) or lowest + epsilon <= 0
        if lowest > 0 or (lowest == 0 and not (isinstance(epsilon, float) and is_lost)):
            continue
        lost = "it divides by 0" if lowest == 0 else "the square root is NaN"
        yield Occurrence(
            node.path,
            f"its variance is as low as {write_number(lowest)}, with the epsilon "
            f"{write_number(epsilon) if isinstance(epsilon, float) else '?'}"
            + (f": {lost}" if is_lost else ""),
            {"lowest": lowest, "channel": int(np.nanargmin(numbers))},
            severity="error" if is_lost else "warning",
        )


def _find_lost_epsilon(subject: Subject) -> Iterator[Occurrence]:
    if not subject.is_onnx:
        return
    for node in list_own_nodes_with(subject.graphs, "normalizes"):
        schema = find_schema(node.domain, node.op_type, node.opset_version)
        if schema is None or "stash_type" in schema.attributes:  # these add it in float32
            continue
        dtype = find_dtype_of(node.input(0)) or find_dtype_of(node.input(1))
        epsilon = take_attribute(node, "epsilon", 1e-5)
        if dtype == "float16" and isinstance(epsilon, float) and abs(epsilon) <= _LOST_IN_HALF:
            message = f"its epsilon {write_number(epsilon)} is 0 in float16"
            yield Occurrence(node.path, message, {"epsilon": epsilon}, node.op_type)
    for node in list_own_nodes(subject.graphs, "Sqrt"):
        before = node.input(0)
        add = before.producer if before is not None else None
        if add is None or not add.operator.has("adds") or find_only_user(before) is not node:
            continue
        for value in add.inputs:
            if find_dtype_of(value) == "float16":
                number = read_constant(value, 1)
                if number is not None and number.size == 1 and not number.astype(np.float64).any():
                    message = "what it adds before the square root is 0 in float16"
                    yield Occurrence(add.path, message, {"epsilon": 0.0}, "Add")


def _find_double(subject: Subject) -> Iterator[Occurrence]:
    for graph in subject.graphs:
        for tensor in graph.initializers:
            if tensor.dtype.name == "float64" and tensor.size > 1:
                yield Occurrence(
                    tensor.path,
                    f"{tensor.size:,} numbers are stored as float64",
                    {"dims": list(tensor.dims[:16])},
                    amounts={"bytes": tensor.nbytes or 0},
                )


def _find_large_integers(subject: Subject) -> Iterator[Occurrence]:
    for graph in subject.graphs:
        for tensor in graph.initializers:
            value = graph.values.get(tensor.name)
            if tensor.dtype.name != "int64" or value is None or not value.is_used:
                continue
            numbers = read_constant(value)
            if numbers is not None and numbers.size:
                low, high = int(numbers.min()), int(numbers.max())
                if low < -(2**31) or high >= 2**31:
                    message = f"its integers reach from {low:,} to {high:,}, beyond 32 bits"
                    yield Occurrence(tensor.path, message, {"minimum": low, "maximum": high})


def _find_sparse(subject: Subject) -> Iterator[Occurrence]:
    for tensor, facts in _list_measured(subject):
        if tensor.size >= 1000 and len(tensor.dims) > 1 and 2 * facts.zeros > tensor.size:
            share = facts.zeros / tensor.size
            message = f"{write_percent(share)} of its {tensor.size:,} numbers are 0"
            yield Occurrence(tensor.path, message, {"zeros": facts.zeros, "share": round(share, 4)})


RULES = (
    Rule(
        "NL-N01",
        "nan-weight",
        "error",
        "NaN among stored numbers",
        "Whatever they take part in becomes NaN.",
        "Look for the training step that diverged, and export an earlier checkpoint.",
        "practice",
        _find_nan,
        reads_values=True,
    ),
    Rule(
        "NL-N02",
        "infinite-weight",
        "error",
        "Infinities among stored numbers",
        "A weight becomes NaN or infinity in its results. Of a mask -Inf is usual, but gives NaN "
        "in a row that is masked wholly.",
        "Export again in float32; for masks use -1e4 or the lowest finite number.",
        "practice; onnxsim, numeric-lint",
        _find_infinite,
        reads_values=True,
    ),
    Rule(
        "NL-N03",
        "beyond-float16",
        "note",
        "Numbers that float16 cannot hold",
        "Converted to float16 they are infinite; the mask -3.4e38 then gives NaN in Softmax.",
        "Use -65504 or -1e4 for masks, or keep the tensor in float32.",
        "IEEE 754, binary16; ModelOpt AutoCast, init_max; onnxsim, numeric-lint",
        _find_beyond_half,
        reads_values=True,
    ),
    Rule(
        "NL-N04",
        "subnormal-weight",
        "warning",
        "Subnormal numbers",
        "In float16 they have lost digits, and may be flushed to 0; in float32 they slow down.",
        "Keep such layers in float32 or bfloat16, or scale them.",
        "IEEE 754, 3.4; TensorRT #2542",
        _find_subnormal,
        reads_values=True,
    ),
    Rule(
        "NL-N05",
        "dead-channels",
        "note",
        "Output channels whose weights are all zero",
        "They compute nothing but their bias.",
        "Prune them, with the channels of what takes them.",
        "practice; AIMET",
        _find_dead_channels,
        reads_values=True,
    ),
    Rule(
        "NL-N06",
        "uniform-weight",
        "warning",
        "A matrix or kernel of one number",
        "Every channel computes the same; the weights were perhaps never loaded.",
        "Check that the checkpoint was loaded before exporting.",
        "practice",
        _find_uniform,
        reads_values=True,
    ),
    Rule(
        "NL-N07",
        "negative-variance",
        "error",
        "A BatchNormalization with a negative variance, or with one of 0 and no epsilon",
        "No variance is negative: the statistics are damaged, and their root may be NaN. One of 0 "
        "is a channel that never varied, by which nothing can be divided.",
        "Export again from a sound checkpoint.",
        "Operators.md, BatchNormalization",
        _find_bad_variance,
    ),
    Rule(
        "NL-N08",
        "lost-epsilon",
        "warning",
        "An epsilon that is 0 in float16",
        "Nothing keeps the division from infinity where the variance is 0.",
        "Use at least 6e-8, better 1e-5, or compute the norm in float32.",
        "IEEE 754, binary16: the smallest number is 2**-24",
        _find_lost_epsilon,
    ),
    Rule(
        "NL-N09",
        "float64-weight",
        "note",
        "Weights of 64 bits",
        "Twice the room of float32; many runtimes and devices have no kernels for them.",
        "Cast them to float32 before exporting: `model.float()`.",
        "ModelOpt, graph sanitizer",
        _find_double,
    ),
    Rule(
        "NL-N10",
        "wide-integer",
        "note",
        "64-bit integers that do not fit 32 bits",
        "Runtimes that have 32 bits only clamp them.",
        "Use INT_MAX instead of larger ends of Slice.",
        "onnx-tensorrt, importer",
        _find_large_integers,
        is_opt_in=True,
    ),
    Rule(
        "NL-N11",
        "sparse-weight",
        "note",
        "Weights more than half of which are zero",
        "Sparse kernels or formats may be worth it.",
        "See whether the runtime has 2:4 or block sparsity.",
        "onnx-doctor, sparsity",
        _find_sparse,
        reads_values=True,
        is_opt_in=True,
    ),
)
