"""Tensors: what the file says of them now, their elements only when asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from netloupe.explorer.notation import write_dims

from .dtype import DataType
from .types import Dimension, SparseTensorType, TensorType
from .warning import ModelWarning

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netloupe.explorer.quantization import Quantization
    from netloupe.explorer.tensors import Histogram, Statistics
    from netloupe.explorer.tensors.plot import Theme

    from .device import DeviceOption


@dataclass(frozen=True, slots=True)
class ExternalLocation:
    """Where a tensor's bytes lie outside the model file, as the file states it.

    Parameters
    ----------
    location
        Path relative to the model's folder, verbatim and not yet judged.
    offset
        First byte; None for the start of the file.
    length
        Number of bytes; None for all up to the end.
    entries
        Every key and value in file order, known or not.
    """

    location: str
    offset: int | None
    length: int | None
    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Segment:
    """The part of a chunked tensor that is stored here: elements ``begin`` to ``end``."""

    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Payload:
    """A tensor's elements in the form in which they are stored.

    Parameters
    ----------
    kind
        ``raw``: little-endian bytes, sub-byte types packed low bits first. ``typed``: an
        array of the typed field's own element type. ``strings``: one bytes object per
        element. ``absent``: nothing is stored.
    data
        The bytes, the array or the list that ``kind`` promises.
    """

    kind: Literal["raw", "typed", "strings", "absent"]
    data: bytes | memoryview | np.ndarray[Any, Any] | Sequence[bytes] = b""


@dataclass(frozen=True, slots=True)
class StatedQuantization:
    """Scale and zero point that stand beside the quantized elements themselves (Caffe2).

    Parameters
    ----------
    source
        What says so: ``arguments of Int8GivenTensorFill``, ``QTensorProto``.
    scale, zero_point
        One number, or one for each index of ``axis``. A zero point need not be an integer.
    storage
        The type of the stored numbers.
    """

    source: str
    scale: tuple[float, ...]
    zero_point: tuple[float, ...]
    axis: int | None
    storage: DataType | None


class Tensor:
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
    """

    __slots__ = (
        "_fetch",
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

    @property
    def stored_bytes(self) -> int | None:
        """Size of the stored elements in bytes; None where it cannot be told."""
        if callable(self._stored_bytes):
            self._stored_bytes = self._stored_bytes()
        return self._stored_bytes

    @property
    def is_plain(self) -> bool:
        """Whether it is known at little cost that elements are stored within the model.

        And that there are not more dimensions than four; of other tensors more has to be asked.
        """
        return self.storage == "raw_data" and len(self.dims) <= 4

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions as stated."""
        return self.dims

    @property
    def size(self) -> int:
        """Number of elements that the dimensions claim; 0 where one is negative."""
        return _count_elements(self.dims)

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

    def payload(self) -> Payload:
        """Read the stored elements, undecoded.

        Raises
        ------
        TensorDataError
            Where they are external and may not or cannot be read.
        """
        return self._fetch()

    def numpy(self) -> np.ndarray[Any, Any]:
        """Decode the elements.

        Returns
        -------
        numpy.ndarray
            Shape ``dims``; dtype ``self.dtype.numpy``; strings as ``str`` objects, or
            ``bytes`` where they are not UTF-8. May be a read-only view of the file's bytes.

        Raises
        ------
        TensorDataError
            Where nothing is stored, or its size contradicts the dimensions.
        """
        from netloupe.explorer.tensors import decode_tensor

        return decode_tensor(self)

    def statistics(self) -> Statistics:
        """Return count, range, moments, zeros, NaNs and quantiles over all elements."""
        from netloupe.explorer.tensors import compute_statistics

        return compute_statistics(self.numpy())

    def histogram(
        self, bins: int = 64, value_range: tuple[float, float] | None = None
    ) -> Histogram:
        """Count the finite elements in ``bins`` intervals of equal width."""
        from netloupe.explorer.tensors import compute_histogram

        return compute_histogram(self.numpy(), bins=bins, value_range=value_range)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        bins: int = 64,
        log: bool = False,
        quantization: Quantization | None = None,
        theme: Theme = "light",
    ) -> Axes:
        """Draw the histogram with matplotlib and return the axes.

        Parameters
        ----------
        ax
            Where to draw; None opens a figure with pyplot, which a notebook shows by itself
            and a script with ``matplotlib.pyplot.show()``.
        bins, log, quantization, theme
            As for :func:`~netloupe.explorer.tensors.plot_histogram`; a quantization is what
            ``model.quantization(tensor)`` returns.

        Raises
        ------
        TensorDataError
            Where the elements cannot be decoded.
        """
        from netloupe.explorer.tensors import open_axes, plot_histogram

        axes = open_axes(theme) if ax is None else ax
        return plot_histogram(self, axes, bins, log, quantization, theme)

    def __repr__(self) -> str:
        return f"<Tensor {self.name!r} {self.dtype}{write_dims(self.dims, 8)}>"

    def _repr_html_(self) -> str:
        from netloupe.explorer.render.html import describe_tensor

        return describe_tensor(self)


class SparseTensor:
    """A sparse constant: the non-default elements and where they stand.

    Parameters
    ----------
    values
        The elements that are given, shape [NNZ]; its name is the tensor's name.
    indices
        Shape [NNZ] (linear) or [NNZ, rank]; None where the file has none.
    dims
        The shape of the dense tensor.
    """

    __slots__ = ("dims", "indices", "path", "values", "warnings")

    def __init__(
        self,
        path: str,
        values: Tensor,
        indices: Tensor | None,
        dims: tuple[int, ...],
        warnings: tuple[ModelWarning, ...] = (),
    ) -> None:
        self.path = path
        self.values = values
        self.indices = indices
        self.dims = dims
        self.warnings = warnings

    @property
    def name(self) -> str:
        """The name of ``values``, as the specification has it."""
        return self.values.name

    @property
    def dtype(self) -> DataType:
        """Element type."""
        return self.values.dtype

    @property
    def type(self) -> SparseTensorType:
        """The type of the value that holds this tensor."""
        return SparseTensorType(self.dtype, tuple(map(Dimension, self.dims)))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the dense tensor."""
        return self.dims

    @property
    def size(self) -> int:
        """Number of elements of the dense tensor; 0 where a dimension is negative."""
        return _count_elements(self.dims)

    @property
    def nbytes(self) -> int | None:
        """Bytes of the stored values and indices."""
        index_bytes = self.indices.nbytes if self.indices else 0
        value_bytes = self.values.nbytes
        return None if value_bytes is None or index_bytes is None else value_bytes + index_bytes

    def numpy(self) -> np.ndarray[Any, Any]:
        """Build the dense array of shape ``dims``.

        Raises
        ------
        TensorDataError
            Where indices and values do not fit the dimensions.
        """
        from netloupe.explorer.tensors import decode_sparse_tensor

        return decode_sparse_tensor(self)

    def __repr__(self) -> str:
        dims = write_dims(self.dims, 8)
        return f"<SparseTensor {self.name!r} {self.dtype}{dims}, {self.values.size} given>"


def _count_elements(dims: tuple[int, ...]) -> int:
    return 0 if any(dim < 0 for dim in dims) else math.prod(dims)
