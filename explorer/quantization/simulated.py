"""Float weights that are rounded when the model runs: what trains, or hands on to a compiler.

QONNX (Quant, BipolarQuant) writes the rounding of each weight and activation as one operator, of
any number of bits; others put QuantizeLinear on a float weight.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import Node, Tensor, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import Operator
from netloupe.explorer.tensors.elements import Elements

from .layout import Granularity, find_dtype, judge_granularity, read_integer

Numbers = npt.NDArray[np.float64]

_MOST_BITS = 16
_MOST_READ = 2**22


class Foreseen(NamedTuple):
    """What is known of the rounding of a weight before scales are read."""

    storage: str
    granularity: Granularity | None
    axis: int | None
    block_size: int | None


def rounds_floats(operator: Operator) -> bool:
    """Return whether an operator rounds floats to the multiples of a scale that an operand is."""
    is_pair = operator.is_quantized and operator.form == "QuantizeLinear"
    return is_pair or operator.has("rounds_to_integers")


def read_bit_width(node: Node) -> float | None:
    """Return the bits that an operator rounds to; None where they are computed or too many."""
    if node.operator.form == "BipolarQuant":
        return 1.0
    if node.operator.has("quantizes"):
        dtype = find_dtype(node.input(2)) or find_dtype(node.output(0))
        return 8.0 if dtype is None else float(dtype.bits or 0) or None
    numbers = read_small_numbers(node.input(3))
    if numbers is None or numbers.size != 1 or not 0 < numbers[0] <= _MOST_BITS:
        return None
    return float(numbers[0])


def find_code_range(node: Node) -> tuple[float, float] | None:
    """Return the lowest and the highest code; the codes of BipolarQuant are -1 and 1.

    Quant of b bits, signed and narrow: -2^(b-1) + 1 … 2^(b-1) - 1 (QONNX, Quant).
    """
    bits = read_bit_width(node)
    if bits is None:
        return None
    if node.operator.form == "BipolarQuant":
        return -1.0, 1.0
    is_signed = bool(read_integer(node, "signed", 1))
    is_narrow = bool(read_integer(node, "narrow", 0))
    if node.operator.has("quantizes"):
        dtype = find_dtype(node.input(2)) or find_dtype(node.output(0))
        if dtype is not None and not dtype.is_integer:
            return None
        is_signed, is_narrow = dtype is not None and not dtype.name.startswith("u"), False
    if is_signed:
        return -(2.0 ** (bits - 1)) + is_narrow, 2.0 ** (bits - 1) - 1
    return 0.0, 2.0**bits - 1 - is_narrow


def foresee_simulated(node: Node, tensor: Tensor) -> Foreseen:
    """Return how a node rounds a float weight."""
    bits, ends = read_bit_width(node), find_code_range(node)
    storage = ""
    if bits is not None and ends is not None:
        sign = "u" if ends[0] >= 0 else ""
        storage = "bipolar" if node.operator.form == "BipolarQuant" else f"{sign}int{bits:g}"
    scale = find_stored_tensor(value) if (value := node.input(1)) is not None else None
    if scale is None:
        return Foreseen(storage, None, None, None)
    granularity = judge_granularity(scale.dims)
    if granularity == "per tensor":
        return Foreseen(storage, granularity, None, None)
    axis = _find_axis(node, scale.dims, tensor.dims)
    block_size = read_integer(node, "block_size", 0) if node.operator.has("quantizes") else 0
    return Foreseen(storage, "per block" if block_size else granularity, axis, block_size or None)


def _find_axis(node: Node, scale: tuple[int, ...], dims: tuple[int, ...]) -> int | None:
    """Return the axis along which scales differ: stated, or where they are broadcast to."""
    if node.operator.has("quantizes"):
        axis = read_integer(node, "axis", 1) or 0
        return axis % len(dims) if dims and -len(dims) <= axis < len(dims) else None
    places = [place for place, size in enumerate(scale) if size != 1]
    if len(places) != 1 or len(scale) > len(dims):
        return None
    return places[0] + len(dims) - len(scale)


def round_weights(
    elements: Elements, scale: Numbers, zero_point: Numbers, node: Node, spread: Any
) -> Elements:
    """Return the codes of float weights.

    Quant: clip(round(w / s + z)); QuantizeLinear: clip(round(w / s) + z); BipolarQuant: the signs.

    Parameters
    ----------
    elements
        The weights.
    scale, zero_point
        Flat.
    node
        The operator that rounds.
    spread
        Gives the entry of scale or zero point for each element from one place to another.
    """
    ends = find_code_range(node)
    if ends is None:
        raise TensorDataError(f"{node.path}: to how many bits it rounds is not stated.")
    low, high = ends

    def take(start: int, stop: int) -> npt.NDArray[np.int32]:
        numbers = elements.take(start, stop).astype(np.float64)
        if node.operator.form == "BipolarQuant":
            return np.where(numbers >= 0, 1, -1).astype(np.int32)
        with np.errstate(all="ignore"):
            codes = numbers / spread(scale, start, stop)
            if node.operator.has("quantizes"):  # it rounds first
                codes = np.rint(codes)
            codes = np.rint(codes + spread(zero_point, start, stop))
            whole: npt.NDArray[np.int32] = np.nan_to_num(np.clip(codes, low, high)).astype(np.int32)
        return whole

    return Elements(np.dtype(np.int32), elements.size, take)


def read_small_numbers(value: Value | None) -> Numbers | None:
    """Return a constant as float64, flat; None where it is none, or large."""
    tensor = find_stored_tensor(value) if value is not None else None
    if tensor is None or tensor.size > _MOST_READ:
        return None
    try:
        found = tensor.numpy()
    except TensorDataError:
        return None
    if found.dtype.kind in "OcSU":
        return None
    with np.errstate(all="ignore"):
        return found.astype(np.float64).reshape(-1)
