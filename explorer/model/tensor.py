"""Tensors: what the file says of them now, their elements only when asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np

from netloupe.explorer.arguments import explain_methods
from netloupe.explorer.notation import write_dims
from netloupe.explorer.options import ThemeName

from . import upper_rooms
from .array import ArrayLike
from .dtype import DataType
from .failing import fail
from .loaded import Loaded
from .storage import ExternalLocation, Payload, Segment, StatedQuantization, multiply_dims
from .types import Dimension, TensorType
from .unknown import FindUnknown, UnknownFields
from .warning import ModelWarning

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .device import DeviceOption


@explain_methods()
class Tensor(ArrayLike, Loaded):
    """A dense constant: an initializer, an attribute's value, a fill.

    Parameters
    ----------
    name
        The name in the file; may be empty for attribute values.
    path
        Where the tensor is in the model.
    dtype
        Element type.
    dims
        The dimensions as stated, not yet judged.
    storage
        The field or place that holds the elements: ``raw_data``, ``float_data``,
        ``external``, ``none`` …
    stored_bytes
        Size of the stored elements in bytes, where it is known without reading another file;
        or a function that finds it when it is first asked for.
    fetch
        Gives the stored elements when they are asked for.
    quantization
        How the elements are quantized, where that is stated beside them.
    device
        Where the tensor was when it was written (Caffe2).
    find_unknown
        Looks for fields that the schema does not know when they are asked for.
    external
        Where the elements lie outside of the model file; None for inside.
    segment
        Which part of a chunked tensor is stored; None for all of it.
    doc
        What it says for people.
    metadata
        The ``metadata_props`` of the tensor.
    warnings
        What is odd about the tensor.
    """

    __slots__ = (
        "_fetch",
        "_find_unknown",
        "_stored_bytes",
        "device",
        "dims",
        "doc",
        "dtype",
        "external",
        "metadata",
        "name",
        "path",
        "quantization",
        "segment",
        "storage",
        "warnings",
    )

    def __init__(
        self,
        name: str,
        path: str,
        dtype: DataType,
        dims: tuple[int, ...],
        storage: str,
        stored_bytes: int | Callable[[], int | None] | None,
        fetch: Callable[[], Payload],
        *,
        doc: str = "",
        metadata: dict[str, str] | None = None,
        external: ExternalLocation | None = None,
        segment: Segment | None = None,
        quantization: StatedQuantization | None = None,
        device: DeviceOption | None = None,
        warnings: tuple[ModelWarning, ...] = (),
        find_unknown: FindUnknown | None = None,
    ) -> None:
        self.name = name
        self.path = path
        self.dtype = dtype
        self.dims = dims
        self.storage = storage
        self._stored_bytes = stored_bytes
        self._fetch = fetch
        self.doc = doc
        self.metadata = metadata or {}
        self.external = external
        self.segment = segment
        self.quantization = quantization
        self.device = device
        self.warnings = warnings
        self._find_unknown = find_unknown

    @property
    def stored_bytes(self) -> int | None:
        """Size of the stored elements in bytes; None where it cannot be told."""
        stored = self._stored_bytes
        if callable(stored):
            try:
                self._stored_bytes = stored = stored()
            except Exception as error:
                self._fail(error)
        return stored

    @property
    def _is_plain(self) -> bool:
        """What :func:`is_plain` returns."""
        return self.storage == "raw_data" and len(self.dims) <= 4

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions as stated."""
        return self.dims

    @property
    def size(self) -> int:
        """Number of elements that the dimensions claim; 0 where one is negative."""
        return multiply_dims(self.dims)

    @property
    def nbytes(self) -> int | None:
        """Bytes that the dimensions claim; None for strings and unknown element types."""
        if self.dtype.bits is None:
            return None
        return (self.size * self.dtype.bits + 7) // 8

    @property
    def type(self) -> TensorType:
        """The type of the value that holds this tensor."""
        return TensorType(self.dtype, tuple(map(Dimension, self.dims)))

    @property
    def unknown_fields(self) -> UnknownFields:
        """Fields of the tensor that the schema does not know."""
        try:
            return () if self._find_unknown is None else self._find_unknown()
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> NoReturn:
        fail(error, "", f"the tensor {self.path}")  # it does not know its file

    def payload(self) -> Payload:
        """Read the stored elements, undecoded.

        Raises
        ------
        TensorDataError
            Where they are external and may not or cannot be read.
        """
        try:
            return self._fetch()
        except Exception as error:
            self._fail(error)

    def numpy(self) -> np.ndarray[Any, Any]:
        """Decode the elements.

        Returns
        -------
        numpy.ndarray
            Shape ``dims``; dtype ``self.dtype.numpy``; strings as ``str`` objects, or
            ``bytes`` where they are not UTF-8. A copy, which belongs to the caller: it does
            not change with the file.

        Raises
        ------
        TensorDataError
            Where nothing is stored, or its size contradicts the dimensions.
        SourceChangedError
            Where the elements are in a file that has changed since it was opened.
        """
        return upper_rooms.decode_tensor(self)

    def statistics(
        self,
        *,
        axis: int | None = None,
        channel: int | None = None,
    ) -> upper_rooms.Statistics:
        """Return count, range, moments, zeros, NaNs and quantiles over all elements.

        Parameters
        ----------
        axis, channel
            Look at one index along an axis alone.

        Raises
        ------
        TensorDataError
            Where the elements cannot be decoded.
        ValueError
            Where there is no such axis or channel, or only one of them is given.

        Notes
        -----
        The elements are read piece by piece: memory does not grow with the tensor, where it
        is stored as bytes. Of four million float32 elements this takes about 0.1 s;
        :func:`netloupe.watched` tells how far it is, and can end it.
        """
        return upper_rooms.compute_statistics(self._choose(axis, channel))

    @overload
    def histogram(
        self,
        bins: int = 64,
        value_range: tuple[float, float] | None = None,
        *,
        axis: None = None,
        channel: None = None,
    ) -> upper_rooms.Histogram: ...

    @overload
    def histogram(
        self,
        bins: int = 64,
        value_range: tuple[float, float] | None = None,
        *,
        axis: int,
        channel: int,
    ) -> upper_rooms.Histogram: ...

    @overload
    def histogram(
        self,
        bins: int = 64,
        value_range: tuple[float, float] | None = None,
        *,
        axis: int,
        channel: None = None,
    ) -> upper_rooms.ChannelHistogram: ...

    def histogram(
        self,
        bins: int = 64,
        value_range: tuple[float, float] | None = None,
        *,
        axis: int | None = None,
        channel: int | None = None,
    ) -> upper_rooms.Histogram | upper_rooms.ChannelHistogram:
        """Count the finite elements in ``bins`` intervals of equal width.

        Parameters
        ----------
        bins
            Number of bins, 1 to 65,536. Integers and bools without a ``value_range`` get at most
            so many, each covering the same whole number of integers.
        value_range
            Outer edges; None for the range of the finite elements.
        axis
            Count each index along this axis apart, in the same intervals.
        channel
            Count this index along the axis alone.

        Raises
        ------
        TensorDataError
            Where the elements cannot be decoded.
        ValueError
            For strings, bins or a range that make no sense, or no such axis or channel.
        """
        if axis is not None and channel is None:
            return upper_rooms.compute_channels(
                upper_rooms.open_elements(self), self.dims, axis, bins, value_range
            )
        elements = self._choose(axis, channel)
        return upper_rooms.compute_histogram(elements, bins, value_range)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        bins: int = 64,
        log: bool = False,
        axis: int | None = None,
        channel: int | None = None,
        quantization: upper_rooms.Quantization | None = None,
        theme: ThemeName = "light",
    ) -> Axes:
        """Draw the histogram with matplotlib and return the axes.

        Parameters
        ----------
        ax
            Where to draw; None opens a figure with pyplot, which a notebook shows by itself
            and a script with ``matplotlib.pyplot.show()``.
        axis
            Draw the channels along this axis side by side, as a heat map with the range of
            each.
        channel
            Draw the histogram of this index along the axis alone, with its own quantization.
        bins
            Number of bins, 1 to 65,536.
        log
            Whether counts are drawn on a logarithmic scale.
        quantization
            What ``model.quantization(tensor)`` returns: its real range is drawn as a band, and
            each level as a line where at most 64 are in view. Where it says that each byte
            holds several numbers, these are drawn.
        theme
            ``light`` or ``dark``.

        Raises
        ------
        TensorDataError
            Where the elements cannot be decoded.
        ValueError
            For an axis or a channel that does not exist, and for channels of strings.
        """
        unpacked = quantization.unpacked if quantization is not None else None
        if unpacked is not None and unpacked is not self and unpacked.path == self.path:
            return unpacked.plot(
                ax,
                bins=bins,
                log=log,
                axis=axis,
                channel=channel,
                quantization=quantization,
                theme=theme,
            )
        if axis is not None and channel is None:
            return upper_rooms.plot_channels(
                self, axis, ax or upper_rooms.open_axes(theme), bins, quantization, theme
            )
        elements = None if channel is None else self._choose(axis, channel)
        if channel is not None and quantization is not None and axis is not None:
            quantization = quantization.channel(channel)
        axes = upper_rooms.open_axes(theme) if ax is None else ax
        return upper_rooms.plot_histogram(
            self, axes, bins, log, quantization, theme, elements=elements
        )

    def _choose(self, axis: int | None, channel: int | None) -> upper_rooms.Elements:
        """Return all elements, or those of one index along an axis."""
        if (axis is None) != (channel is None):
            raise ValueError("a channel needs its axis, and an axis a channel")
        elements = upper_rooms.open_elements(self)
        if axis is None or channel is None:
            return elements
        return upper_rooms.take_channel(elements, self.dims, axis, channel)

    def __repr__(self) -> str:
        return f"<Tensor {self.name!r} {self.dtype}{write_dims(self.dims, 8)}>"

    def _repr_html_(self) -> str:
        return upper_rooms.write_tensor_html(self)


def is_plain(tensor: Tensor) -> bool:
    """Return whether it is known at little cost that elements are stored within the model.

    And that there are not more dimensions than four; of other tensors more has to be asked.
    """
    return tensor._is_plain
