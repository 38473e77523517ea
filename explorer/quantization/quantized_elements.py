"""Codes, scales and zero points of one quantized weight, and the real numbers that they stand for.

Elements are given piece by piece; scales and zero points are read whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import Node, find_quantized_bias
from netloupe.explorer.notation import write_count
from netloupe.explorer.tensors import Elements, open_elements

from .codebooks import find_codebook, unpack_codebook
from .quantized_weights import QuantizedWeight, list_bias_scales
from .record import find_quantization, find_stored_range
from .simulated import find_code_range, read_small_numbers, round_weights

Numbers = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class QuantizedElements:
    """A quantized weight whose elements can be taken.

    Parameters
    ----------
    codes
        In row-major order.
    dims
        The shape of the codes.
    scale, zero_point
        One number, or one for each channel or block, flat in row-major order.
    lowest, highest
        The ends of the range of codes; None of a code book and of narrow floats.
    axis, block_size
        Where scales differ along an axis, this; without an axis blocks follow one another.
    book
        The real numbers that codes stand for where these are places in a code book.
    own
        The float weights where the file holds these, and rounds them when it runs.
    """

    codes: Elements
    dims: tuple[int, ...]
    scale: Numbers
    zero_point: Numbers
    lowest: float | None
    highest: float | None
    axis: int | None
    block_size: int | None
    book: Numbers | None = None
    own: Elements | None = None

    @property
    def units(self) -> int:
        """How many scales there are."""
        return self.scale.size

    @property
    def is_symmetric(self) -> bool:
        """Whether every zero point is the middle of the codes, so that -w is held like w."""
        if self.lowest is None or self.highest is None:
            return not self.zero_point.any()
        middle = 0.0 if self.lowest < 0 else (self.lowest + self.highest + 1) / 2
        return bool((self.zero_point == middle).all())

    def find_units(self, start: int, stop: int) -> Indices:
        """Return for each element from one place to another which scale it has."""
        return find_scale_places(self.dims, self.axis, self.block_size, start, stop)

    def spread(self, numbers: Numbers, start: int, stop: int) -> Any:
        """Return the scale, or zero point, of each element; one number where all share it."""
        if numbers.size == 1:
            return numbers[0]
        return numbers[self.find_units(start, stop)]

    @property
    def levels(self) -> float:
        """How many codes there are in the range; 0 of a code book and of narrow floats."""
        if self.lowest is None or self.highest is None:
            return 0.0
        return self.highest - self.lowest + 1

    def find_whole_blocks(self, start: int, stop: int) -> slice | None:
        """Return the scales of a span of whole blocks along the last axis; None of others."""
        size = self.block_size
        if not size or start % size or stop % size:
            return None
        if self.axis is not None and (self.axis != len(self.dims) - 1 or self.dims[-1] % size):
            return None
        return slice(start // size, stop // size)

    def lay_out(
        self,
        numbers: Numbers,
        span: tuple[int, int],
        shape: tuple[int, int, int],
        is_along: bool,
    ) -> Any:
        """Return scales, or zero points, so that they can be multiplied with a piece of elements.

        Parameters
        ----------
        numbers
            The scales.
        span
            From which place to which the piece is.
        shape
            Its shape [outer, some channels, inner].
        is_along
            Whether its channels are those along which scales differ.
        """
        if numbers.size == 1:
            return numbers[0]
        if is_along and not self.block_size and self.axis is not None:
            inner = 1
            for dim in self.dims[self.axis + 1 :]:
                inner *= dim
            first = span[0] // inner % self.dims[self.axis]
            return numbers[first : first + shape[1]].reshape(1, -1, 1)
        units = self.find_whole_blocks(*span)
        if units is not None and self.block_size is not None:
            return np.repeat(numbers[units], self.block_size).reshape(shape)
        return numbers[self.find_units(*span)].reshape(shape)

    def decode(self, codes: npt.NDArray[Any], scale: Any, zero_point: Any) -> Numbers:
        """Return the real numbers of codes: s (q - z), or of a code book s table[q]."""
        if self.book is not None:
            return np.asarray(self.book[codes] * scale)
        centred = codes.astype(np.float64)
        if np.ndim(zero_point) or zero_point:
            centred -= zero_point
        centred *= scale
        return centred

    def dequantize(self, codes: npt.NDArray[Any], start: int, stop: int) -> Numbers:
        """Return the real numbers of codes from one place to another, flat."""
        scale = self.spread(self.scale, start, stop)
        return self.decode(codes, scale, self.spread(self.zero_point, start, stop))


def find_scale_places(
    dims: tuple[int, ...], axis: int | None, block_size: int | None, start: int, stop: int
) -> Indices:
    """Return which scale each element from one place to another has.

    Parameters
    ----------
    dims
        The shape of the elements.
    axis, block_size
        As of :class:`QuantizedElements`.
    start, stop
        Places in row-major order.
    """
    places = np.arange(start, stop, dtype=np.int64)
    if axis is None:
        return places // block_size if block_size else np.zeros_like(places)
    inner = 1
    for dim in dims[axis + 1 :]:
        inner *= dim
    rows = places // inner if inner > 1 else places
    if not block_size:
        return rows % dims[axis]
    blocks = -(-dims[axis] // block_size)
    found = (rows // dims[axis]) * blocks + (rows % dims[axis]) // block_size
    return found * inner + places % inner if inner > 1 else found


def open_weight(weight: QuantizedWeight) -> QuantizedElements:
    """Read scales and zero points of a quantized weight, and open its elements.

    Raises
    ------
    TensorDataError
        Where elements, scales or zero points cannot be read, are computed as the model runs, or do
        not fit one another.
    """
    node = weight.node
    if weight.dims is None:
        raise TensorDataError(
            f"{weight.path}: how its codes are packed does not follow from the attributes of "
            f"{'its operator' if node is None else node.label}."
        )
    if node is not None and node.operator.has("codebook_weight"):
        return _open_coded(weight, node)
    if weight.scheme == "simulated" and node is not None:
        return _open_simulated(weight, node)
    if weight.is_bias and node is not None and find_quantized_bias(node.operator) is not None:
        return _open_bias(weight, node)
    stated = weight.value if weight.statement is None else weight.statement.quantized
    found = find_quantization(stated or weight.value)
    if found is None or found.scale is None:
        is_given = found is not None and found.scale_value is not None
        what = (
            "its scale is not a constant of the file"
            if is_given
            else "no scale of its own is found"
        )
        raise TensorDataError(f"{weight.path}: {what}.")
    tensor = found.unpacked if found.unpacked is not None else weight.tensor
    scale, zero_point = _flatten(found.scale), np.zeros(1)
    if found.zero_point is not None and found.zero_point.size:
        zero_point = _flatten(found.zero_point)
    elif found.zero_point_value is not None:
        raise TensorDataError(f"{weight.path}: its zero point is not a constant of the file.")
    axis, block_size = _place(weight, found.axis, found.block_size, scale.size)
    _check_sizes(weight, scale, zero_point, axis, block_size)
    lowest, highest = found.stored_range or (None, None)
    if found.storage is not None and not found.storage.is_integer:
        lowest = highest = None
    codes = open_elements(tensor)
    return QuantizedElements(
        codes, weight.dims, scale, zero_point, lowest, highest, axis, block_size
    )


@np.errstate(all="ignore")
def _flatten(numbers: npt.NDArray[Any]) -> Numbers:
    return np.asarray(numbers.astype(np.float64).reshape(-1))


def _place(
    weight: QuantizedWeight, axis: int | None, block_size: int | None, count: int
) -> tuple[int | None, int | None]:
    """Return axis and block size, the axis from the front; None for one scale."""
    dims = weight.dims or ()
    if count == 1:
        return None, None
    if axis is None:  # an annotation does not say it: where one axis alone fits it is that one
        fitting = [place for place, dim in enumerate(dims) if dim == count]
        if len(fitting) != 1 and not (weight.scheme == "QOperator" and dims[:1] == (count,)):
            raise TensorDataError(f"{weight.path}: along which axis its scales lie is not said.")
        return fitting[0], None
    if not -len(dims) <= axis < len(dims):
        raise TensorDataError(f"{weight.path}: its scales lie along an axis that it does not have.")
    return axis % len(dims), block_size


def _check_sizes(
    weight: QuantizedWeight,
    scale: Numbers,
    zero_point: Numbers,
    axis: int | None,
    block_size: int | None,
) -> None:
    dims = weight.dims or ()
    wanted = 1
    if axis is not None:
        sizes = [*dims]
        sizes[axis] = -(-dims[axis] // block_size) if block_size else dims[axis]
        if not block_size:
            sizes = sizes[axis : axis + 1]
        for size in sizes:
            wanted *= size
    if scale.size != wanted or zero_point.size not in (1, wanted):
        raise TensorDataError(
            f"{weight.path}: {write_count(scale.size, 'scale')} and "
            f"{write_count(zero_point.size, 'zero point')} do not fit "
            f"its shape {list(dims)[:16]}."
        )


def _open_bias(weight: QuantizedWeight, node: Node) -> QuantizedElements:
    """Open a bias in integers: its scale is that of the input times that of the weight.

    Of QGemm also alpha is in it (Operators.md, QLinearConv: B; ContribOperators.md, QGemm: C).
    """
    scales = [read_small_numbers(value) for value in list_bias_scales(node)]
    known = [scale for scale in scales if scale is not None]
    if len(known) != 2:
        raise TensorDataError(f"{weight.path}: the scales of its factors are no constants.")
    sizes = {scale.size for scale in known} - {1}
    if sizes - {weight.dims[-1] if weight.dims else 1}:
        raise TensorDataError(f"{weight.path}: the scales of its factors do not fit its shape.")
    alpha = node.attributes.get("alpha")
    factor = alpha.value if alpha is not None and isinstance(alpha.value, float) else 1.0
    with np.errstate(all="ignore"):
        scale = known[0] * known[1] * factor
    lowest, highest = find_stored_range(weight.tensor.dtype) or (None, None)
    dims = weight.dims or ()
    axis = len(dims) - 1 if scale.size > 1 else None
    codes = open_elements(weight.tensor)
    return QuantizedElements(codes, dims, scale, np.zeros(1), lowest, highest, axis, None)


def _open_coded(weight: QuantizedWeight, node: Node) -> QuantizedElements:
    scale = read_small_numbers(node.input(2))
    size = weight.size
    if scale is None or not weight.block_size or scale.size != -(-size // weight.block_size):
        raise TensorDataError(f"{weight.path}: the largest magnitudes of its blocks do not fit.")
    codes = unpack_codebook(open_elements(weight.tensor), size)
    return QuantizedElements(
        codes,
        weight.dims or (),
        scale,
        np.zeros(1),
        None,
        None,
        None,
        weight.block_size,
        find_codebook(node),
    )


def _open_simulated(weight: QuantizedWeight, node: Node) -> QuantizedElements:
    scale = read_small_numbers(node.input(1))
    ends = find_code_range(node)
    if scale is None or ends is None:
        raise TensorDataError(f"{weight.path}: its scale or number of bits is no constant.")
    place = node.operator.operands.find("result.zero_point")
    zero = None if place is None else node.input(place)
    zero_point = np.zeros(1) if zero is None else read_small_numbers(zero)
    if zero_point is None:
        raise TensorDataError(f"{weight.path}: its zero point is not a constant of the file.")
    axis, block_size = _place(weight, weight.axis, weight.block_size, scale.size)
    _check_sizes(weight, scale, zero_point, axis, block_size)
    own = open_elements(weight.tensor)
    dims = weight.dims or ()

    def spread(numbers: Numbers, start: int, stop: int) -> Any:
        if numbers.size == 1:
            return numbers[0]
        return numbers[find_scale_places(dims, axis, block_size, start, stop)]

    codes = round_weights(own, scale, zero_point, node, spread)
    return QuantizedElements(
        codes, dims, scale, zero_point, ends[0], ends[1], axis, block_size, None, own
    )
