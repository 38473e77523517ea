"""How values are quantized: scales, zero points, axes and pairs that do not fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from netloupe.explorer.checks.operands import (
    find_dtype_of,
    find_output_channel_axis,
    is_operator,
    list_own_nodes,
    list_own_nodes_with,
    read_constant,
    take_attribute,
)
from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.notation import write_count, write_number
from netloupe.explorer.quantization.codes import count_lost
from netloupe.explorer.quantization.layout import find_storage, read_integer
from netloupe.explorer.quantization.quantized_elements import open_weight
from netloupe.explorer.quantization.sources import Statement, list_statements

Numbers = npt.NDArray[np.float64]

#: scales of blocks may be this many; larger ones are not read here
_MOST_SCALES = 2**22
#: so many scales are read; a file may have a million
_MOST_READ = 50_000
_LEAST_ALIKE = 5
#: codes of so few bits are written with negative scales
_FEW_BITS = 4
_SPEC = "Operators.md, QuantizeLinear and DequantizeLinear"


def read_flat_numbers(value: Value | None) -> Numbers | None:
    """Return a constant as float64, flat; None where it is none."""
    found = read_constant(value, _MOST_SCALES)
    if found is None or found.dtype.kind == "c":
        return None
    return _flatten(found)


@np.errstate(all="ignore")
def _flatten(found: npt.NDArray[Any]) -> Numbers:
    return np.asarray(found.astype(np.float64).reshape(-1))


def _list_scales(subject: Subject) -> Iterator[tuple[Statement, Numbers, np.dtype[Any]]]:
    """Yield each stored scale once, with the first operator that uses it."""
    seen: set[Value] = set()
    for graph in subject.graphs:
        for statement in list_statements(graph):
            scale = statement.scale
            if scale is None or scale in seen:
                continue
            if len(seen) >= _MOST_READ:
                subject.leave_out(f"only the first {_MOST_READ:,} scales were read")
                return
            seen.add(scale)
            found = read_constant(scale, _MOST_SCALES)
            stored = find_stored_tensor(scale)
            if stored is not None and stored.size > _MOST_SCALES:
                subject.leave_out(f"{scale.path} has more than {_MOST_SCALES:,} scales")
            if found is not None and found.size and found.dtype.kind not in "cO":
                yield statement, _flatten(found), found.dtype


def _find_bad_scales(subject: Subject) -> Iterator[Occurrence]:
    for statement, numbers, dtype in _list_scales(subject):
        assert statement.scale is not None  # noqa: S101 - only such are listed
        bad = _judge_scales(statement, numbers, subject)
        if bad.any():
            first = int(bad.argmax())
            where = f"[{first}]" if numbers.size > 1 else ""
            yield Occurrence(
                statement.scale.path,
                f"{int(bad.sum()):,} of its {numbers.size:,} scales cannot be used: "
                f"scale{where} = {write_number(numbers[first])}",
                {"first": first, "scale": float(numbers[first]), "bad": int(bad.sum())},
            )
            continue
        negative = numbers < 0
        if negative.any() and not _has_blocks(statement):
            first = int(negative.argmax())
            yield Occurrence(
                statement.scale.path,
                f"{int(negative.sum()):,} of its {numbers.size:,} scales are negative: the codes "
                "stand for what they say, but kernels on integers and TensorRT want positive ones",
                {"first": first, "scale": float(numbers[first]), "bad": int(negative.sum())},
                "negative",
                severity="warning",
            )
            continue
        smallest = float(np.finfo(dtype).smallest_normal) if dtype.kind == "f" else 0.0
        small = (numbers < smallest) & (numbers > 0)
        if small.any():
            first = int(small.argmax())
            yield Occurrence(
                statement.scale.path,
                f"the scale {write_number(numbers[first])} is subnormal in {dtype}: its digits are "
                "lost, and it may be flushed to 0",
                {"first": first, "scale": float(numbers[first])},
                "subnormal",
                severity="warning",
            )


def _judge_scales(
    statement: Statement, numbers: Numbers, subject: Subject
) -> npt.NDArray[np.bool_]:
    """Return by scale whether it cannot be used: where it divides, and where it multiplies codes.

    What only multiplies stored codes may be negative: so ONNX Runtime's quantizer, as llama.cpp's
    Q4_0, writes symmetric blocks of 4 bits, the largest magnitude at the code -8. Of a block of
    zeros the scale may be 0.
    """
    unusable = ~np.isfinite(numbers)
    zero = numbers == 0
    if _has_blocks(statement):
        if zero.any() and _loses_codes(statement, subject):
            unusable |= zero
    else:
        unusable |= zero
        if not _is_of_stored_codes(statement):
            unusable |= numbers < 0
    return unusable


def _has_blocks(statement: Statement) -> bool:
    """Return whether scales are of blocks of stored codes, or of codes of 4 bits."""
    node = statement.node
    if node is not None and node.operator.has("packed_weight"):
        return True
    if not _is_of_stored_codes(statement) or node is None:
        return False
    storage = find_storage(statement)
    return bool(read_integer(node, "block_size", 0)) or (
        storage is not None and (storage.bits or 64) <= _FEW_BITS
    )


def _is_of_stored_codes(statement: Statement) -> bool:
    """Return whether a scale only multiplies codes that the file stores."""
    codes, node = statement.quantized, statement.node
    is_one = node is None or node.operator.has("packed_weight", "dequantizes")
    return is_one and codes is not None and find_stored_tensor(codes) is not None


def _loses_codes(statement: Statement, subject: Subject) -> bool:
    """Return whether a scale of 0 is of codes that do not stand for 0."""
    for weight in subject.quantized.weights:
        if weight.value is statement.quantized:
            try:
                return count_lost(open_weight(weight)) > 0
            except TensorDataError as error:
                subject.leave_out(str(error))
                return False
    subject.leave_out("blocks with a scale of 0 whose codes are not stored were not judged")
    return False


def _list_pairs(subject: Subject) -> Iterator[Node]:
    return list_own_nodes_with(subject.graphs, "quantizes", "dequantizes")


def _find_zero_points(subject: Subject) -> Iterator[Occurrence]:
    for node in _list_pairs(subject) if subject.is_onnx else ():
        zero_point = node.input(2)
        stored = find_stored_tensor(zero_point) if zero_point is not None else None
        if zero_point is None or stored is None:
            continue
        is_dequantizing = node.operator.has("dequantizes")
        quantized = node.input(0) if is_dequantizing else node.output(0)
        dtype = find_dtype_of(quantized)
        if dtype is not None and dtype != stored.dtype and dtype.is_known and dtype.bits:
            yield Occurrence(
                node.path,
                f"its zero point is of {stored.dtype}, the quantized numbers of {dtype}",
                {"zero_point": stored.dtype.name, "quantized": dtype.name},
                "dtype",
            )
            continue
        scale = node.input(1)
        scales = find_stored_tensor(scale) if scale is not None else None
        if scales is not None and scales.size != stored.size:
            yield Occurrence(
                node.path,
                f"it has {write_count(scales.size, 'scale')}, "
                f"but {write_count(stored.size, 'zero point')}",
                {"scales": scales.size, "zero_points": stored.size},
                "count",
            )
        elif is_dequantizing and stored.dtype.name == "int32":
            numbers = read_flat_numbers(zero_point)
            if numbers is not None and numbers.any():
                yield Occurrence(
                    node.path,
                    "its zero point is not 0, as it has to be of int32",
                    {"zero_point": float(numbers[numbers != 0][0])},
                    "int32",
                )


def _find_axes(subject: Subject) -> Iterator[Occurrence]:
    for node in _list_pairs(subject) if subject.is_onnx else ():
        scale = node.input(1)
        stored = find_stored_tensor(scale) if scale is not None else None
        if stored is None or len(stored.dims) != 1 or stored.size < 2:
            continue
        is_standard = node.domain == node.graph.dialect.domain
        if read_integer(node, "block_size", 0) or (is_standard and (node.opset_version or 13) < 13):
            continue
        value = node.input(0)
        tensor = find_stored_tensor(value) if value is not None else None
        dims = tensor.dims if tensor is not None else None
        if dims is None:
            facts = subject.fact(value).dims
            if facts is None or not all(isinstance(dim, int) for dim in facts):
                continue
            dims = tuple(dim for dim in facts if isinstance(dim, int))
        axis = read_integer(node, "axis", 1)
        if axis is None:
            continue
        evidence = {"axis": axis, "dims": list(dims[:16]), "scales": stored.size}
        if not -len(dims) <= axis < len(dims):
            message = f"its axis {axis} is none of the {len(dims)} axes of what it takes"
        elif dims[axis] != stored.size:
            message = (
                f"it has {write_count(stored.size, 'scale')} for the "
                f"{write_count(dims[axis], 'channel')} of axis {axis}"
            )
        else:
            continue
        yield Occurrence(node.path, message, evidence, "axis")


def _find_channel_axes(subject: Subject) -> Iterator[Occurrence]:
    """Yield weights with a scale for each index of an axis that is summed over."""
    for node in list_own_nodes_with(subject.graphs, "convolves", "multiplies"):
        pair = find_dequantizer(node.input(1))
        scale = pair.input(1) if pair is not None else None
        stored = find_stored_tensor(scale) if scale is not None else None
        weight = pair.input(0) if pair is not None else None
        tensor = find_stored_tensor(weight) if weight is not None else None
        if pair is None or stored is None or tensor is None or len(stored.dims) != 1:
            continue
        if stored.size < 2 or read_integer(pair, "block_size", 0) or not tensor.dims:
            continue
        axis = (read_integer(pair, "axis", 1) or 0) % len(tensor.dims)
        rank = len(tensor.dims)
        wanted = find_output_channel_axis(node, rank)
        if wanted == rank - 1 > 1:
            continue  # of more axes any but one may be a batch
        if wanted not in (None, axis) and tensor.dims[axis] == stored.size:  # else see scale-axis
            yield Occurrence(
                pair.path,
                f"the weight of {node.op_type} has a scale for each index of axis {axis}, which is "
                f"summed over; its output channels are axis {wanted}",
                {"axis": axis, "output_axis": wanted, "dims": list(tensor.dims)},
                node.op_type,
            )


def find_dequantizer(value: Value | None) -> Node | None:
    """Return the DequantizeLinear that gives a value; None where another operator does."""
    node = value.producer if value is not None else None
    return node if is_operator(node, "DequantizeLinear") else None


def _find_opsets(subject: Subject) -> Iterator[Occurrence]:
    for node in _list_pairs(subject) if subject.is_onnx else ():
        version = node.opset_version
        if version is None or version >= 21 or node.domain != node.graph.dialect.domain:
            continue  # com.microsoft has all of it since its version 1
        scale = node.input(1)
        stored = find_stored_tensor(scale) if scale is not None else None
        quantized = node.input(0) if node.operator.has("dequantizes") else node.output(0)
        dtype = find_dtype_of(quantized)
        name = "" if dtype is None else dtype.name
        if version < 13 and stored is not None and stored.size > 1:
            what, since = f"{stored.size:,} scales, one for each channel,", 13
        elif read_integer(node, "block_size", 0):
            what, since = "scales for blocks", 21
        elif name in ("int4", "uint4", "int16", "uint16"):
            what, since = name, 21
        elif name.startswith("float8") and version < 19:
            what, since = name, 19
        else:
            continue
        message = (
            f"{node.op_type} takes {what} since operator set {since}, and {version} is imported"
        )
        yield Occurrence(node.path, message, {"opset": version, "since": since}, f"{what} {since}")


def _find_equal_scales(subject: Subject) -> Iterator[Occurrence]:
    scales: Counter[float] = Counter()
    first: dict[float, str] = {}
    for node in list_own_nodes(subject.graphs, "QuantizeLinear"):
        numbers = read_flat_numbers(node.input(1))
        if numbers is None or numbers.size != 1 or take_attribute(node, "axis") == 0:
            continue
        number = float(numbers[0])
        scales[number] += 1
        first.setdefault(number, node.path)
    if len(scales) == 1 and scales.total() >= _LEAST_ALIKE:
        number, count = next(iter(scales.items()))
        yield Occurrence(
            first[number],
            f"all {count:,} quantized activations have the scale {write_number(number)}",
            {"scale": number, "activations": count},
        )


RULES = (
    Rule(
        "NL-Q01",
        "bad-scale",
        "error",
        "A scale that is 0, negative, NaN or infinite",
        "Quantizing divides by it: all numbers become the same, or nonsense. What only multiplies "
        "stored codes may be negative, and of a block of zeros 0.",
        "Calibrate again; for a channel that is all zero use any positive scale, such as 1.",
        _SPEC,
        _find_bad_scales,
    ),
    Rule(
        "NL-Q02",
        "bad-zero-point",
        "error",
        "A zero point of another type or number than the quantized numbers have",
        "The types must be the same, and there is one zero point for each scale.",
        "Write the zero point in the type of the quantized numbers.",
        _SPEC,
        _find_zero_points,
    ),
    Rule(
        "NL-Q05",
        "scale-axis",
        "error",
        "Scales that do not fit the axis",
        "There must be one scale for each index of the axis.",
        "Correct the attribute axis: 0 for weights of Conv, 1 for those of ConvTranspose.",
        _SPEC,
        _find_axes,
    ),
    Rule(
        "NL-Q06",
        "channel-axis",
        "warning",
        "Scales along an axis that is summed over",
        "No integer kernel can take them out of the sum: the operator runs in float.",
        "Quantize weights per output channel.",
        "TensorRT, explicit quantization; Krishnamoorthi 2018 (arXiv:1806.08342), 3.1",
        _find_channel_axes,
    ),
    Rule(
        "NL-Q25",
        "quantization-opset",
        "error",
        "A kind of quantization that the imported operator set does not have",
        "Channels are since operator set 13, float8 since 19, blocks, 4 and 16 bits since 21.",
        "Import the newer set: `onnx.version_converter.convert_version(m, 21)`.",
        "onnx, Changelog.md, QuantizeLinear 13, 19, 21",
        _find_opsets,
    ),
    Rule(
        "NL-Q30",
        "equal-scales",
        "warning",
        "Activations that all have the same scale",
        "Ranges of activations differ; calibration has perhaps never run.",
        "Calibrate with data like those of use.",
        "PPQ; practice",
        _find_equal_scales,
    ),
)
