"""Caffe2 tensors as those of the view model (caffe2.proto: TensorProto, QTensorProto)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import (
    DataType,
    DeviceOption,
    ExternalLocation,
    ModelWarning,
    Payload,
    Segment,
    StatedQuantization,
    Tensor,
    data_type,
)
from netloupe.explorer.model.dtype import CAFFE2_DATA_TYPES
from netloupe.explorer.model.storage import MOST_ELEMENTS
from netloupe.explorer.readers.protobuf.parts import Fetch, Parts, TensorStorage, measure
from netloupe.explorer.readers.protobuf.stored_field import Count, StoredField, tell_stored
from netloupe.explorer.readers.protobuf.texts import read_text
from netloupe.explorer.tensors import ModelFiles
from netloupe.proto.unknown_enums import read_enum_number

from .recognition import TYPED_FIELDS

_TYPED, _RAW, _EXTERNAL, _NO_CONTENT = 1, 2, 3, 4  # TensorProto.StorageType
_SOURCES = {0: "INLINE_CONTAINER", 1: "SIMPLE_FILE"}  # ExternalDataProto.SourceType
_SIMPLE_FILE = 1
_ELEMENTS = {
    "float_data": np.float32,
    "int32_data": np.int32,
    "int64_data": np.int64,
    "double_data": np.float64,
    "data": np.int32,  # of a QTensorProto
}
#: fields of a TensorProto that may hold elements
DATA_FIELDS = (
    "float_data",
    "int32_data",
    "int64_data",
    "double_data",
    "byte_data",
    "string_data",
    "raw_data",
)
_MOST_LISTED = 32


def read_caffe2_dtype(number: int) -> DataType:
    """Return the element type of a DataType number; unknown numbers stay visible."""
    return data_type(CAFFE2_DATA_TYPES.get(number, f"unknown({number})"))


def read_device(proto: Any, *, is_inherited: bool = False) -> DeviceOption:
    """Return a DeviceOption message."""

    def read(field: str) -> int | None:
        return int(getattr(proto, field)) if proto.HasField(field) else None

    return DeviceOption(
        read("device_type"),
        read("device_id"),
        read("random_seed"),
        read_text(proto.node_name),
        read("numa_node_id"),
        tuple(map(read_text, proto.extra_info)),
        is_inherited,
    )


def read_tensor(proto: Any, path: str, files: ModelFiles, parts: Parts) -> Tensor:
    """Return a TensorProto as a tensor at a path; elements stay where they are until asked for.

    Parameters
    ----------
    proto
        The message.
    path
        Where the tensor is in the model.
    files
        Gives external data.
    parts
        What the message was read with.
    """
    warnings: list[str] = []
    number = read_enum_number(proto, "data_type")
    dtype = read_caffe2_dtype(1 if number is None else number)
    if not dtype.is_known or dtype.name == "undefined":
        warnings.append(f"the element type is {dtype}")
    dims = tuple(proto.dims)
    if any(dim < 0 for dim in dims):
        warnings.append(f"the dimensions {list(dims)} are negative")
    external = _read_external(proto) if proto.HasField("external_data") else None
    held = _find_fields(proto, path, parts)
    storage = _choose_storage(proto, path, files, external, held, warnings)
    metadata = {
        f"also in {field}": _list_elements(other)
        for field, other in held.items()
        if field != storage.field
    }
    tensor = Tensor(
        read_text(proto.name),
        path,
        dtype,
        dims,
        storage.field,
        storage.size,
        storage.fetch,
        metadata=metadata,
        external=external,
        segment=_read_segment(proto, warnings),
        device=read_device(proto.device_detail) if proto.HasField("device_detail") else None,
        find_unknown=lambda: parts.find_unknown(proto),
    )
    count = _count_stored(storage, dtype)
    if count is not None:
        warnings += judge_count(tensor, count)
    if metadata:
        warnings.append(
            f"holds its elements more than once: {', '.join((storage.field, *metadata))}"
        )
    tensor.warnings = tuple(ModelWarning(path, message) for message in warnings)
    return tensor


def read_qtensor(proto: Any, path: str, parts: Parts) -> Tensor:
    """Return a QTensorProto as a tensor of its codes, with its quantization.

    A code q stands for the real number q · scale + bias, so that the zero point is
    −bias / scale; it need not be an integer.
    """
    number = read_enum_number(proto, "data_type")
    dims = tuple(proto.dims)
    left = parts.stored(proto).get("data")
    storage = _find_left(left, path) if left is not None else _find_field(proto, "data")
    is_empty = left is None and not proto.data
    metadata = {}
    for field in ("precision", "scale", "bias", "is_signed", "is_multiparam", "axis"):
        if proto.HasField(field):
            metadata[field] = str(getattr(proto, field))
    for field in ("scales", "biases"):
        if getattr(proto, field):
            metadata[field] = _list_content(getattr(proto, field))
    tensor = Tensor(
        read_text(proto.name),
        path,
        read_caffe2_dtype(2 if number is None else number),
        dims,
        "none" if is_empty else storage.field,
        storage.size,
        (lambda: Payload("absent")) if is_empty else storage.fetch,
        metadata=metadata,
        quantization=_read_quantization(proto),
    )
    warnings = []
    missing = [
        field for field in ("precision", "scale", "bias", "is_signed") if not proto.HasField(field)
    ]
    if missing:
        warnings.append(f"does not give its {', '.join(missing)}")
    if storage.count is not None:
        warnings += judge_count(tensor, storage.count)
    tensor.warnings = tuple(ModelWarning(path, message) for message in warnings)
    return tensor


def _read_quantization(proto: Any) -> StatedQuantization:
    is_multiple = proto.is_multiparam or bool(proto.scales)
    scales = tuple(proto.scales) if is_multiple else (proto.scale,)
    biases = tuple(proto.biases) if is_multiple else (proto.bias,)
    if len(biases) < len(scales):
        biases += (0.0,) * (len(scales) - len(biases))
    zero_points = tuple(
        -bias / scale if scale else 0.0 for bias, scale in zip(biases, scales, strict=False)
    )
    storage = data_type(f"{'' if proto.is_signed else 'u'}int{proto.precision}")
    return StatedQuantization(
        "QTensorProto",
        scales,
        zero_points,
        proto.axis if is_multiple and proto.HasField("axis") else None,
        storage if storage.is_known else None,
    )


def _find_fields(proto: Any, path: str, parts: Parts) -> dict[str, TensorStorage]:
    """Return the fields of a TensorProto that hold elements."""
    left = parts.stored(proto)
    return {
        field: _find_left(left[field], path) if field in left else _find_field(proto, field)
        for field in DATA_FIELDS
        if field in left or _is_given(proto, field)
    }


def _choose_storage(
    proto: Any,
    path: str,
    files: ModelFiles,
    external: ExternalLocation | None,
    held: dict[str, TensorStorage],
    warnings: list[str],
) -> TensorStorage:
    kind = read_enum_number(proto, "storage_type")
    if kind is not None and kind not in (_TYPED, _RAW, _EXTERNAL, _NO_CONTENT):
        warnings.append(f"the storage type is unknown({kind})")
    if kind == _NO_CONTENT:
        return TensorStorage("no content", 0, lambda: Payload("absent"))
    if kind == _EXTERNAL or (external is not None and not held):
        if external is None:
            warnings.append("is stored externally, but the file does not say where")
            return TensorStorage("external", None, lambda: Payload("absent"))
        fetch = _external_fetch(proto, path, files, external)
        return TensorStorage("external", external.length, fetch)
    number = read_enum_number(proto, "data_type")
    wanted = "raw_data" if kind == _RAW else TYPED_FIELDS.get(1 if number is None else number, "")
    if wanted in held:
        return held[wanted]
    if not held:
        return TensorStorage("none", 0, lambda: Payload("absent"))
    field, storage = next(iter(held.items()))
    # bytes are also where some writers put elements of other 8-bit types
    if wanted and field != "byte_data":
        warnings.append(f"its elements are in {field} instead of {wanted}")
    return storage


def _find_field(proto: Any, field: str) -> TensorStorage:
    content = getattr(proto, field)
    if field in ("raw_data", "byte_data"):
        return TensorStorage(field, len(content), lambda: Payload("raw", getattr(proto, field)))
    if field == "string_data":
        return TensorStorage(
            field,
            lambda: sum(map(len, content)),
            lambda: Payload("strings", list(content)),
            Count.of(len(content)),
        )
    element = np.dtype(_ELEMENTS[field])
    return TensorStorage(
        field,
        len(content) * element.itemsize,
        lambda: Payload("typed", np.array(getattr(proto, field), element)),
        Count.of(len(content)),
    )


def _find_left(left: StoredField, path: str) -> TensorStorage:
    """Return where elements are that were left behind."""
    if left.field in ("raw_data", "byte_data"):
        last = left.pieces[-1]
        size = last.end - last.content
        return TensorStorage(left.field, size, lambda: Payload("raw", left.content(path)))
    if left.field == "string_data":
        return TensorStorage(
            left.field, left.size, lambda: Payload("strings", left.strings(path)), left.count
        )
    known = left.size
    return TensorStorage(
        left.field,
        known if known is not None else lambda: measure(lambda: left.numbers(path).nbytes),
        lambda: Payload("typed", left.row(path)),
        left.count,
    )


def _is_given(proto: Any, field: str) -> bool:
    if field in ("raw_data", "byte_data"):
        return bool(proto.HasField(field))
    return bool(getattr(proto, field))


def _list_elements(storage: TensorStorage) -> str:
    try:
        data = storage.fetch().data
        count = len(data)
        if not isinstance(data, (Sequence, np.ndarray)):
            data = data.read(0, min(count, _MOST_LISTED))
    except TensorDataError:
        return "what cannot be read"
    first = data[:_MOST_LISTED]
    if isinstance(first, np.ndarray):
        is_bytes = first.dtype == np.uint8
        return _list_content(first.tobytes() if is_bytes else first.tolist(), count)
    return _list_content(first, count)


def _list_content(content: Any, count: int | None = None) -> str:
    count = len(content) if count is None else count
    if isinstance(content, bytes):
        return repr(content[:_MOST_LISTED]) + (" …" if count > _MOST_LISTED else "")
    shown = ", ".join(map(str, content[:_MOST_LISTED]))
    return shown + (f", … {count:,} in all" if count > _MOST_LISTED else "")


def _count_stored(storage: TensorStorage, dtype: DataType) -> Count | None:
    """Return how many elements are stored, where that is known without reading them."""
    is_bytes = storage.field in ("raw_data", "byte_data")
    if is_bytes and dtype.bits and isinstance(storage.size, int):
        return Count.of(storage.size * 8 // dtype.bits)
    return storage.count


def judge_count(tensor: Tensor, count: Count) -> list[str]:
    """Return where as many elements are not what a tensor's dimensions claim."""
    segment = tensor.segment
    claimed = tensor.size if segment is None else max(0, segment.end - segment.begin)
    stored = count.differs(claimed)
    return [tell_stored(stored, "element", claimed, "claimed")] if stored else []


def _read_segment(proto: Any, warnings: list[str]) -> Segment | None:
    if not proto.HasField("segment"):
        return None
    segment = proto.segment
    if not (segment.HasField("begin") and segment.HasField("end")):
        warnings.append("its segment has no beginning or no end")
    return Segment(segment.begin, segment.end)


def _read_external(proto: Any) -> ExternalLocation:
    data = proto.external_data
    number = read_enum_number(data, "source_type") or 0
    entries = [("source_type", _SOURCES.get(number, f"unknown({number})"))]
    if data.HasField("record_id"):
        entries.append(("record_id", read_text(data.record_id)))
    for field in ("record_size", "offset"):
        if data.HasField(field):
            entries.append((field, str(getattr(data, field))))
    if data.strides:
        entries.append(("strides", _list_content(data.strides)))
    return ExternalLocation(
        read_text(data.record_id),
        data.offset if data.HasField("offset") else None,
        data.record_size if data.HasField("record_size") else None,
        tuple(entries),
    )


def _external_fetch(proto: Any, path: str, files: ModelFiles, external: ExternalLocation) -> Fetch:
    def fetch() -> Payload:
        number = read_enum_number(proto.external_data, "source_type") or 0
        if number != _SIMPLE_FILE:
            raise TensorDataError(
                f"{path}: its elements are the record {external.location!r} of an archive that "
                "this file does not hold. Save the tensor again with its data inside."
            )
        strides = tuple(proto.external_data.strides)
        if strides and strides != _row_major(proto.dims):
            raise TensorDataError(
                f"{path}: its elements are stored with the strides {list(strides)}. "
                "Save the tensor again in row-major order."
            )
        return Payload("raw", files.open_external(external, None, path))

    return fetch


def _row_major(dims: Any) -> tuple[int, ...]:
    strides, step = [], 1
    for dim in reversed(dims):
        strides.append(step)
        step = min(step * dim, MOST_ELEMENTS)
    return tuple(reversed(strides))
