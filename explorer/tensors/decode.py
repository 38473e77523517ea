"""Decode a tensor's stored elements into a numpy array, whole or piece by piece.

Sizes are compared with the bytes at hand before anything is allocated: the dimensions are
only a claim of the file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import SparseTensor, StoredRow, Tensor
from netloupe.explorer.notation import say_count, write_count

from .elements import Elements, as_elements
from .stored import ReadAhead

Array = np.ndarray[Any, Any]
Bytes = npt.NDArray[np.uint8]
Take = Callable[[int, int], Array]

MAX_RANK = 64
MAX_DENSE_ELEMENTS = 2**28

# the typed field's element type → types whose elements stand there one for one, by value
_BY_VALUE = {
    "float32": {"float32"},
    "float64": {"float64"},
    "int32": {"int32", "int16", "int8", "uint16", "uint8"},
    "int64": {"int64"},
    "uint64": {"uint64", "uint32"},
}
_COMPLEX_PARTS = {"complex64": "float32", "complex128": "float64"}


def decode_tensor(tensor: Tensor) -> Array:
    """Decode the elements of a dense tensor.

    Parameters
    ----------
    tensor
        Any tensor of the view model.

    Returns
    -------
    numpy.ndarray
        Shape ``tensor.dims``, dtype ``tensor.dtype.numpy``; a copy that belongs to the caller.

    Raises
    ------
    TensorDataError
        Where the type or the dimensions make no sense, nothing is stored, or the stored size
        is not the size that the dimensions claim.
    """
    elements = open_elements(tensor)
    taken = elements.take(0, elements.size)
    if not taken.flags.writeable:  # a view of what the model holds
        taken = taken.copy()
    return _shape(tensor.path, taken, tensor.dims)


def open_elements(tensor: Tensor | SparseTensor) -> Elements:
    """Return the elements of a tensor, to be decoded piece by piece; a sparse one is made dense.

    Raises
    ------
    TensorDataError
        As :func:`decode_tensor` and :func:`decode_sparse_tensor` do.

    Notes
    -----
    The packing of narrow types follows ``TensorProto.raw_data`` and ``int32_data`` of the
    ONNX schema (IR 14): 4-bit low nibble first, 2-bit lowest bits first, 6-bit as one
    little-endian bit stream.
    """
    if isinstance(tensor, SparseTensor):
        return as_elements(decode_sparse_tensor(tensor))
    dtype = tensor.dtype.numpy
    if dtype is None:
        raise TensorDataError(
            f"{tensor.path}: elements of type {tensor.dtype} cannot be decoded. "
            "Write the model again with a type of the ONNX or Caffe2 specification."
        )
    _check_dims(tensor.path, tensor.dims)
    segment = tensor.segment
    if segment is not None and (segment.begin, segment.end) != (0, tensor.size):
        raise TensorDataError(
            f"{tensor.path}: only the elements {segment.begin} to {segment.end} of {tensor.size} "
            "are stored in this tensor. Join the segments to see the whole."
        )
    payload = tensor.payload()
    data = payload.data
    match payload.kind:
        case "raw" if tensor.dtype.bits is not None:
            take = _decode_raw(tensor, _Row.of_bytes(tensor, data), dtype)
        case "typed" if tensor.dtype.bits is not None:
            take = _decode_typed(tensor, _Row.of_numbers(data), dtype)
        case "strings" if tensor.dtype.name == "string":
            take = _decode_strings(tensor, data)
        case "elements" if payload.elements is not None:
            return payload.elements
        case "absent":
            if tensor.size:
                raise TensorDataError(
                    f"{tensor.path}: claims {_describe_claim(tensor)}, but the file stores none. "
                    "Load the model with its data, or write it again with the data inside."
                )
            return as_elements(np.empty(0, dtype))
        case kind:
            raise TensorDataError(
                f"{tensor.path}: elements of type {tensor.dtype} cannot be stored as {kind} data "
                f"({tensor.storage}). Write the tensor again in the field of its type."
            )
    return Elements(dtype, tensor.size, take)


def decode_sparse_tensor(sparse: SparseTensor) -> Array:
    """Build the dense array that a sparse tensor stands for.

    Parameters
    ----------
    sparse
        Values of shape [NNZ], indices of shape [NNZ] (linear) or [NNZ, rank].

    Returns
    -------
    numpy.ndarray
        Shape ``sparse.dims``; zero (the empty string) where no value is given.

    Raises
    ------
    TensorDataError
        Where indices are absent, of the wrong shape or outside the dimensions, or where the
        dense form would have more than 2**28 elements.
    """
    path, dims = sparse.path, sparse.dims
    _check_dims(path, dims)
    size = sparse.size
    if size > MAX_DENSE_ELEMENTS:
        raise TensorDataError(
            f"{path}: the dense form would have {size} elements, more than {MAX_DENSE_ELEMENTS}. "
            "Look at its values and indices instead."
        )
    values = decode_tensor(sparse.values).reshape(-1)
    if sparse.indices is None:
        if values.size:
            raise TensorDataError(
                f"{path}: {say_count(values.size, 'value')} given without indices. "
                "Write the sparse tensor again with both."
            )
        positions = np.empty(0, np.int64)
    else:
        positions = _linear_positions(path, decode_tensor(sparse.indices), values.size, dims)
    if positions.size and (positions.min() < 0 or positions.max() >= size):
        raise _outside_error(path, dims)
    if values.dtype == object:
        dense: Array = np.full(size, "", object)
    else:
        dense = np.zeros(size, values.dtype)
    dense[positions] = values
    return _shape(path, dense, dims)


def _check_dims(path: str, dims: tuple[int, ...]) -> None:
    if len(dims) > MAX_RANK:
        raise TensorDataError(
            f"{path}: claims {len(dims)} dimensions, and arrays have at most {MAX_RANK}. "
            "Write the tensor again with fewer."
        )
    if any(dim < 0 for dim in dims):
        raise TensorDataError(
            f"{path}: claims the dimensions {list(dims)}, and a size cannot be negative. "
            "Write the tensor again with its true shape."
        )


def _shape(path: str, elements: Array, dims: tuple[int, ...]) -> Array:
    try:
        return elements.reshape(dims)
    except (ValueError, OverflowError) as error:  # e.g. [2**62, 2**62, 0]
        raise TensorDataError(
            f"{path}: an array cannot have the dimensions {list(dims)}. "
            "Write the tensor again with its true shape."
        ) from error


def _describe_claim(tensor: Tensor) -> str:
    return f"{tensor.size} element{'' if tensor.size == 1 else 's'} of {tensor.dtype}"


def _size_error(tensor: Tensor, fact: str) -> TensorDataError:
    return TensorDataError(
        f"{tensor.path}: claims {_describe_claim(tensor)} (dimensions {list(tensor.dims)}), "
        f"but {fact}. The file is damaged or was written wrongly: get it again from its source."
    )


class _Row(NamedTuple):
    """What a tensor stores, bytes or numbers: how many, and a function that reads some of them."""

    dtype: np.dtype[Any]
    size: int
    read: Take

    @classmethod
    def of_bytes(cls, tensor: Tensor, data: Any) -> _Row:
        if _is_in_file(data):
            return cls(np.dtype(np.uint8), len(data), ReadAhead(data).read)
        try:
            stored = np.frombuffer(data, np.uint8) if len(data) else np.empty(0, np.uint8)
        except (TypeError, ValueError) as error:
            raise TensorDataError(f"{tensor.path}: its stored elements are no bytes.") from error
        return cls(stored.dtype, stored.size, lambda start, stop: stored[start:stop])

    @classmethod
    def of_numbers(cls, data: Any) -> _Row:
        if _is_in_file(data):
            return cls(data.dtype, len(data), ReadAhead(data).read)
        stored = np.ravel(np.asarray(data))
        return cls(stored.dtype, stored.size, lambda start, stop: stored[start:stop])


def _is_in_file(data: Any) -> TypeGuard[StoredRow]:
    return hasattr(data, "read")


def _decode_raw(tensor: Tensor, row: _Row, dtype: np.dtype[np.generic]) -> Take:
    bits = tensor.dtype.bits
    assert bits is not None  # noqa: S101 - the caller matched on it
    size = tensor.size
    expected = (size * bits + 7) // 8
    # float6 writers may fill the last group of four elements up to its three bytes
    padded = (size + 3) // 4 * 3 if bits == 6 else expected
    if row.size not in (expected, padded):
        raise _size_error(
            tensor,
            f"{write_count(row.size, 'byte')} of raw data: {row.size * 8 // bits} elements "
            f"(expected {expected})",
        )
    read = row.read
    if bits < 8:
        return lambda start, stop: _unpack_range(read, bits, start, stop).view(dtype)
    width = dtype.itemsize
    if bits > 8 and sys.byteorder == "big":
        part = width // 2 if tensor.dtype.is_complex else width
        return lambda start, stop: (
            read(start * width, stop * width).reshape(-1, part)[:, ::-1].reshape(-1).view(dtype)
        )
    return lambda start, stop: read(start * width, stop * width).view(dtype)


def _unpack_range(read: Take, bits: int, start: int, stop: int) -> Bytes:
    """Unpack some of the codes; those before ``start`` in the same byte, or three, come along."""
    first = start - start % 4
    begin, end = first * bits // 8, (stop * bits + 7) // 8
    return _unpack(read(begin, end), bits, stop - first)[start - first :]


def _unpack(stored: Bytes, bits: int, size: int) -> Bytes:
    """Spread packed codes of 2, 4 or 6 bits over one byte each."""
    if bits != 6:
        return unpack_codes(stored, bits)[:size]
    groups = np.zeros(((size + 3) // 4, 3), np.uint8)
    groups.reshape(-1)[: stored.size] = stored
    low, middle, high = groups.T
    codes = np.empty((len(groups), 4), np.uint8)
    codes[:, 0] = low & 0x3F
    codes[:, 1] = (low >> 6) | ((middle & 0x0F) << 2)
    codes[:, 2] = (middle >> 4) | ((high & 0x03) << 4)
    codes[:, 3] = high >> 2
    return codes.reshape(-1)[:size]


def unpack_codes(stored: Bytes, bits: int) -> Bytes:
    """Spread codes of 2, 4 or 8 bits, packed lowest bits first, over one byte each."""
    codes = np.empty((stored.size, 8 // bits), np.uint8)
    for place, shift in enumerate(range(0, 8, bits)):
        codes[:, place] = (stored >> np.uint8(shift)) & np.uint8((1 << bits) - 1)
    return codes.reshape(-1)


def _decode_typed(tensor: Tensor, row: _Row, dtype: np.dtype[np.generic]) -> Take:
    name, field = tensor.dtype.name, row.dtype.name
    bits, read = tensor.dtype.bits, row.read
    assert bits is not None  # noqa: S101 - the caller matched on it
    if name in _BY_VALUE.get(field, ()):
        _check_count(tensor, row, tensor.size)
        # numbers out of range wrap around, as they do in the specification's own reader
        return lambda start, stop: read(start, stop).astype(dtype, copy=False)
    if _COMPLEX_PARTS.get(name) == field:
        _check_count(tensor, row, 2 * tensor.size)
        return lambda start, stop: np.ascontiguousarray(read(2 * start, 2 * stop)).view(dtype)
    if field != "int32" or bits > 16:  # int32_data holds codes of up to 16 bits
        raise TensorDataError(
            f"{tensor.path}: elements of type {name} cannot be stored as {field} numbers "
            f"({tensor.storage}). Write the tensor again in the field of its type."
        )
    if bits in (2, 4):
        _check_count(tensor, row, (tensor.size * bits + 7) // 8)
        return lambda start, stop: _unpack_range(
            lambda begin, end: read(begin, end).astype(np.uint8), bits, start, stop
        ).view(dtype)
    _check_count(tensor, row, tensor.size)
    if bits == 6:
        return lambda start, stop: (read(start, stop).astype(np.uint8) & np.uint8(0x3F)).view(dtype)
    whole = np.uint16 if bits == 16 else np.uint8
    return lambda start, stop: read(start, stop).astype(whole).view(dtype)


def _check_count(tensor: Tensor, row: _Row, expected: int) -> None:
    if row.size != expected:
        raise _size_error(
            tensor,
            f"{say_count(row.size, 'entry', 'entries')} stored in {tensor.storage} "
            f"(expected {expected})",
        )


def _decode_strings(tensor: Tensor, stored: Any) -> Take:
    strings: Sequence[bytes] = stored
    if len(strings) != tensor.size:
        raise _size_error(tensor, f"{say_count(len(strings), 'string')} stored")

    def take(start: int, stop: int) -> Array:
        elements = np.empty(stop - start, object)
        for index, text in enumerate(strings[start:stop]):
            try:
                elements[index] = bytes(text).decode()
            except UnicodeDecodeError:
                elements[index] = bytes(text)
        return elements

    return take


def _linear_positions(
    path: str, indices: Array, count: int, dims: tuple[int, ...]
) -> npt.NDArray[np.int64]:
    if indices.dtype.kind not in "iu":
        raise TensorDataError(f"{path}: its indices are {indices.dtype}, not integers.")
    indices = indices.astype(np.int64)
    if indices.shape == (count,):
        return indices
    if indices.shape != (count, len(dims)):
        raise TensorDataError(
            f"{path}: {count} values need indices of shape [{count}] or [{count}, {len(dims)}], "
            f"but they have {list(indices.shape)}. Write the sparse tensor again."
        )
    if not count or not dims:
        return np.zeros(count, np.int64)
    try:
        return np.asarray(np.ravel_multi_index(tuple(indices.T), dims), np.int64)
    except ValueError as error:  # never wraps from one row into the next
        raise _outside_error(path, dims) from error


def _outside_error(path: str, dims: tuple[int, ...]) -> TensorDataError:
    return TensorDataError(
        f"{path}: an index points outside the dimensions {list(dims)}. "
        "Write the sparse tensor again with indices inside them."
    )
