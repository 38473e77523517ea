"""How values are quantized: one record per value, whatever part of the file says so."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from netloupe.explorer.arguments import explain_methods
from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import (
    DataType,
    Model,
    Node,
    StatedQuantization,
    Tensor,
    Value,
    upper_rooms,
)
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.notation import say_how_many
from netloupe.explorer.options import ThemeName
from netloupe.explorer.progress import step

from .layout import (
    Granularity,
    find_storage,
    foresee_granularity,
    is_narrow,
    judge_granularity,
    read_layout,
)
from .packing import is_packed, unpack_weights, unpack_zero_points
from .sources import Statement, find_statement, is_quantizing, may_state_quantization

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Array = np.ndarray[Any, Any]


@explain_methods()
@dataclass(frozen=True, slots=True, eq=False)
class Quantization:
    """How one value is quantized.

    Parameters
    ----------
    value
        The quantized value, or the real one that it stands for.
    source
        What says so: ``quantization_annotation``, ``QuantizeLinear/DequantizeLinear``,
        ``operands of QLinearConv`` …
    scale
        Real difference between neighbouring integers: one element, one per index of ``axis``,
        or one per block; None where the file has no constant for it.
    zero_point
        The stored number that stands for 0.0; None where none is given (it is then 0).
    axis
        The axis along which scales differ, or along which blocks lie.
    block_size
        Elements along ``axis`` that share one scale; None where there are no blocks.
    storage
        The type of the stored numbers, where the file says it.
    scale_value, zero_point_value
        The values that hold scale and zero point.
    extra
        Other keys of an annotation, verbatim.
    foreseen
        The granularity where the scale is not constant: what shapes and operator tell of it.
    is_packed
        Whether several stored numbers lie in each byte of the value's tensor.
    unpacked
        These numbers one by one, as a tensor of their own type and shape; None where nothing
        is packed, or where size and attributes disagree.
    """

    value: Value
    source: str
    scale: Array | None
    zero_point: Array | None
    axis: int | None
    block_size: int | None
    storage: DataType | None
    scale_value: Value | None = None
    zero_point_value: Value | None = None
    extra: tuple[tuple[str, str], ...] = ()
    foreseen: Granularity | None = None
    is_packed: bool = False
    unpacked: Tensor | None = None

    @property
    def granularity(self) -> Granularity | None:
        """How many elements share a scale; None where nothing tells it."""
        if self.block_size:
            return "per block"
        return self.foreseen if self.scale is None else judge_granularity(self.scale.shape)

    def describes(self, dtype: np.dtype[Any]) -> bool:
        """Return whether elements of a dtype are what is quantized, and not bytes of several.

        Parameters
        ----------
        dtype
            Of the array that a tensor is decoded to.
        """
        return not self.is_packed or (self.storage is not None and dtype == self.storage.numpy)

    @property
    def real_range(self) -> tuple[float, float] | tuple[Array, Array] | None:
        """The real numbers that the lowest and the highest stored number stand for.

        (qmin − zero_point) · scale and (qmax − zero_point) · scale; arrays of the scale's
        shape where there is more than one. None where scale or storage is unknown.
        """
        ends = find_stored_range(self.storage)
        if ends is None or self.scale is None or not self.scale.size:
            return None
        scale = self.scale.astype(np.float64)
        zero_point: Array = np.zeros(())
        if self.zero_point is not None and self.zero_point.size:
            zero_point = self.zero_point.astype(np.float64)
            zero_point = zero_point.reshape(scale.shape if zero_point.size == scale.size else -1)
        if zero_point.size not in (1, scale.size):
            return None
        if zero_point.size == 1:
            zero_point = zero_point.reshape(())
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = ((end - zero_point) * scale for end in ends)
        if scale.size == 1:
            return low.item(), high.item()
        return low, high

    @property
    def stored_range(self) -> tuple[float, float] | None:
        """The lowest and the highest number of the storage type; None where it is unknown."""
        return find_stored_range(self.storage)

    @property
    def is_symmetric(self) -> bool:
        """Whether every zero point is the middle of the range of integers."""
        ends = self.stored_range
        if ends is None or self.storage is None or not self.storage.is_integer:
            return False
        middle = 0.0 if ends[0] < 0 else (ends[0] + ends[1] + 1) / 2
        if self.zero_point is None or not self.zero_point.size:
            return middle == 0.0 and self.zero_point_value is None
        return bool((self.zero_point == middle).all())

    @property
    def levels(self) -> Array | None:
        """Every real number that can be stored, ascending.

        For one scale and storage of at most 8 bits; else None.
        """
        if self.scale is None or self.scale.size != 1:
            return None
        if self.zero_point is not None and self.zero_point.size > 1:
            return None
        stored = _list_stored(self.storage)
        if stored is None:
            return None
        zero_point = 0.0
        if self.zero_point is not None and self.zero_point.size:
            zero_point = self.zero_point.astype(np.float64).item()
        with np.errstate(over="ignore", invalid="ignore"):
            return np.sort((stored - zero_point) * self.scale.astype(np.float64).item())

    def channel(self, index: int) -> Quantization:
        """Return how one channel is quantized: itself, where all share scale and zero point.

        Parameters
        ----------
        index
            Of the channel along ``axis``, from 0.

        Raises
        ------
        ValueError
            Where there is no such channel, or where scales differ by block.
        """
        if self.granularity == "per block":
            raise ValueError("scales that differ by block have no channels")
        size = 1 if self.scale is None else self.scale.size
        if size == 1:
            return self
        if not 0 <= index < size:
            raise ValueError(f"{say_how_many(size, 'channel')}, and no channel {index}")

        def pick(array: Array | None) -> Array | None:
            return array if array is None or array.size != size else array.reshape(-1)[index]

        scale, zero_point = pick(self.scale), pick(self.zero_point)
        return dataclasses.replace(self, scale=scale, zero_point=zero_point, axis=None)

    def plot(self, ax: Axes | None = None, *, theme: ThemeName = "light") -> Axes:
        """Draw the scale of each channel or block with matplotlib, and the zero points.

        Parameters
        ----------
        ax
            Where to draw; None opens a figure with pyplot.
        theme
            ``light`` or ``dark``.

        Raises
        ------
        ValueError
            Where the scale is not constant.
        """
        if self.scale is None or not self.scale.size:
            raise ValueError("the scale is not constant")
        return upper_rooms.draw_scales(
            upper_rooms.open_axes(theme) if ax is None else ax, self, theme
        )

    @property
    def badge(self) -> str:
        """A short text for a node's face: ``int8``, ``int8 · per channel``; may be empty."""
        return _write_badge(self.storage, self.granularity)

    def describe(self) -> str:
        """Return one line: ``int8 · per channel (axis 0) · [-1.2, 1.19]``."""
        parts = [str(self.storage) if self.storage else "quantized"]
        granularity = self.granularity
        axis = "" if self.axis is None else f" (axis {self.axis})"
        if granularity == "per block":
            size = f" of {self.block_size}" if self.block_size else ""
            parts.append(f"per block{size}{axis}")
        elif granularity == "per channel":
            parts.append(f"per channel{axis}")
        elif granularity is not None:
            parts.append(granularity)
        real_range = self.real_range
        if real_range is not None:
            low, high = np.min(real_range), np.max(real_range)  # a scale may be negative
            parts.append(f"[{low:.4g}, {high:.4g}]")
        elif self.scale is None and not self.extra:
            parts.append("scale not constant" if self.scale_value else "scale not given")
        parts += [f"{key}={text}" for key, text in self.extra]
        return " · ".join(parts)


def find_quantization(value: Value) -> Quantization | None:
    """Resolve how a value is quantized.

    Parameters
    ----------
    value
        Any value: the real one before QuantizeLinear or after DequantizeLinear, the stored
        one between, or an operand of a quantized operator.

    Returns
    -------
    Quantization or None
        From the annotation, else the operation that produces the value, else the first that
        consumes it; None where nothing says anything. Odd input gives a record with gaps.
    """
    statement = find_statement(value)
    if statement is None:
        return None
    if statement.stated is not None:
        return _take_stated(value, statement.stated)
    block_size, axis = read_layout(statement, value)
    storage = find_storage(statement)
    scale = _read_constant(statement.scale)
    zero_point = _read_constant(statement.zero_point)
    packed = is_packed(statement)
    if packed:
        zero_point = _read_packed_zero_point(statement, zero_point, scale, storage)
    return Quantization(
        value,
        statement.source,
        scale,
        zero_point,
        axis,
        block_size,
        storage,
        statement.scale,
        statement.zero_point,
        statement.extra,
        foresee_granularity(statement),
        packed,
        unpack_weights(statement) if packed else None,
    )


def _take_stated(value: Value, stated: StatedQuantization) -> Quantization:
    is_single = len(stated.scale) == 1
    scale = np.array(stated.scale, np.float64)
    zero_point = np.array(stated.zero_point, np.float64) if stated.zero_point else None
    if zero_point is not None and np.all(zero_point == np.rint(zero_point)):
        with np.errstate(invalid="ignore"):
            zero_point = zero_point.astype(np.int64)
    if is_single:
        scale = scale.reshape(())
        zero_point = zero_point.reshape(()) if zero_point is not None else None
    return Quantization(value, stated.source, scale, zero_point, stated.axis, None, stated.storage)


#: of a node with more inputs or outputs its badge tells of the first ones
_MOST_OPERANDS = 1_000
#: how many values are looked at in one step
_STEP = 10_000


def summarize_quantization(model: Model) -> dict[str, Any]:
    """Count the quantized values of a model without reading any tensor.

    Returns
    -------
    dict
        ``tensors``: number of distinct values that :func:`find_quantization` has a record
        for; ``sources``: how many of them by source; ``not_quantized``: number of those beside
        whose annotations say no more than a type of floating point, or a layout.
    """
    sources: Counter[str] = Counter()
    not_quantized = 0
    graphs = model.graphs
    is_stated = any(map(may_state_quantization, graphs))
    for graph in graphs:
        values: Iterable[Value] = graph.values.values()
        if not is_stated:  # but beside a tensor
            values = filter(_is_stated_beside, values)
        for number, value in enumerate(values):
            if not number % _STEP:
                step()
            statement = find_statement(value)
            if statement is None:
                continue
            if is_quantizing(statement):
                sources[statement.source] += 1
            else:
                not_quantized += 1
    return {
        "tensors": sources.total(),
        "sources": dict(sorted(sources.items())),
        "not_quantized": not_quantized,
    }


def _is_stated_beside(value: Value) -> bool:
    tensor = value.initializer
    return isinstance(tensor, Tensor) and tensor.quantization is not None


def node_badge(node: Node) -> str | None:
    """Return the short quantization badge of a node's face, or None.

    That of its first quantized constant of at most 16 bits (its weights), else of its first
    quantized input or output, each among the first thousand. Reads no tensor data. Operators
    that look only at the shape of their input have none.
    """
    if node.operator.has("reads_shape"):
        return None
    # of an input's other users none matters here, and there may be thousands
    inputs, outputs = node.inputs[:_MOST_OPERANDS], node.outputs[:_MOST_OPERANDS]
    statements = [find_statement(value, (node,)) for value in inputs if value is not None]
    statements += [find_statement(value) for value in outputs if value is not None]
    first: str | None = None
    for statement in statements:
        if statement is None:
            continue
        storage = find_storage(statement)
        badge = _write_badge(storage, foresee_granularity(statement))
        if not badge:
            continue
        is_constant = statement.quantized is not None and find_stored_tensor(statement.quantized)
        if is_constant and storage is not None and (storage.bits or 64) <= 16:
            return badge
        first = first or badge
    return first


def _read_constant(value: Value | None) -> Array | None:
    tensor = find_stored_tensor(value) if value is not None else None
    if tensor is None:
        return None
    try:
        array = tensor.numpy()
    except TensorDataError:
        return None
    return array if array.dtype.kind not in "Oc" else None


def _read_packed_zero_point(
    statement: Statement, stored: Array | None, scale: Array | None, storage: DataType | None
) -> Array | None:
    """Return zero points in the scale's shape; the middle of the range where none are given."""
    bits = storage.bits if storage is not None else None
    if bits is None or scale is None:
        return None
    if statement.zero_point is None:
        return np.array(2 ** (bits - 1), np.uint8)
    if stored is None or stored.dtype != np.uint8:
        return stored
    unpacked = unpack_zero_points(statement)
    if unpacked is None or unpacked.size != scale.size:
        return None
    return unpacked.numpy().astype(np.uint8).reshape(scale.shape)


def _write_badge(storage: DataType | None, granularity: Granularity | None) -> str:
    if storage is None:
        return ""
    if granularity in (None, "per tensor"):
        return storage.name
    return f"{storage} · {granularity}"


@cache
def find_stored_range(storage: DataType | None) -> tuple[float, float] | None:
    """Return the lowest and the highest number of a storage type."""
    if storage is None or not is_narrow(storage) or storage.bits is None:
        return None
    if storage.is_integer:
        if storage.name.startswith("u"):
            return 0.0, 2.0**storage.bits - 1
        return -(2.0 ** (storage.bits - 1)), 2.0 ** (storage.bits - 1) - 1
    stored = _list_stored(storage)
    return None if stored is None else (float(stored[0]), float(stored[-1]))


@cache
def _list_stored(storage: DataType | None) -> Array | None:
    """Return every finite number of a storage type of at most 8 bits, ascending."""
    if storage is None or not is_narrow(storage) or (storage.bits or 64) > 8:
        return None
    dtype = storage.numpy
    if dtype is None or storage.bits is None:
        return None
    numbers = np.arange(2**storage.bits, dtype=np.uint8).view(dtype).astype(np.float64)
    return np.unique(numbers[np.isfinite(numbers)])
