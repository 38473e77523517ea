"""ONNX tensors and types as those of the view model (onnx.proto: TensorProto, TypeProto)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count, repeat
from typing import Any, Literal, NamedTuple

from netloupe.explorer.model import (
    DataType,
    Dimension,
    ExternalLocation,
    MapType,
    ModelWarning,
    OpaqueType,
    OptionalType,
    Payload,
    Segment,
    SequenceType,
    SparseTensor,
    SparseTensorType,
    Tensor,
    TensorType,
    UnknownType,
    ValueType,
    data_type,
)
from netloupe.explorer.model.dtype import ONNX_DATA_TYPES
from netloupe.explorer.model.failing import fail
from netloupe.explorer.model.storage import multiply_dims
from netloupe.explorer.notation import clip_text
from netloupe.explorer.readers.protobuf.parts import TensorStorage
from netloupe.explorer.readers.protobuf.stored_field import tell_stored
from netloupe.explorer.readers.protobuf.texts import read_text
from netloupe.explorer.tensors import ModelFiles
from netloupe.proto import onnx_pb2

from .packed import PackedTensors
from .parts import OnnxParts

_EXTERNAL = 1  # TensorProto.DataLocation.EXTERNAL
_MAX_TYPE_DEPTH = 64
_DECIMAL = r"-?[0-9]+"
_SHORT_TYPE = 200  # bytes: longer ones are few, and not worth keeping
_MOST_DIGITS = 40  # of an offset: no file is nearly so long
_FIELDS = onnx_pb2.TensorProto.DESCRIPTOR.fields_by_name
#: what a tensor says of which nothing but type and dimensions has to be judged
_SOUND_FIELDS = frozenset(
    _FIELDS[name] for name in ("name", "data_type", "dims", "raw_data", "doc_string")
)
_RAW_DATA, _DATA_TYPE, _DIMS = (_FIELDS[name] for name in ("raw_data", "data_type", "dims"))
#: the typed field of an element type; all others are in int32_data
_TYPED_FIELD_OF = {
    "float32": "float_data",
    "complex64": "float_data",
    "float64": "double_data",
    "complex128": "double_data",
    "int64": "int64_data",
    "uint32": "uint64_data",
    "uint64": "uint64_data",
    "string": "string_data",
}


def read_dtype(code: int) -> DataType:
    """Return the element type of a DataType number; unknown numbers stay visible."""
    if 0 <= code < len(ONNX_DATA_TYPES):
        return data_type(ONNX_DATA_TYPES[code])
    return data_type(f"unknown({code})")


def read_entries(entries: Iterable[Any]) -> dict[str, str]:
    """Return StringStringEntryProto messages as a dict; a repeated key gets ``#2`` appended."""
    result: dict[str, str] = {}
    for entry in entries:
        key = base = read_text(entry.key)
        count = 2
        while key in result:
            key = f"{base}#{count}"
            count += 1
        result[key] = read_text(entry.value)
    return result


def read_type(proto: Any) -> ValueType:
    """Return a TypeProto as a value type; the values of a graph share few types."""
    data = proto.SerializeToString()
    return _parse_type(data) if len(data) <= _SHORT_TYPE else _read_type(proto)


@lru_cache(maxsize=4096)
def _parse_type(data: bytes) -> ValueType:
    return _read_type(onnx_pb2.TypeProto.FromString(data))


def _read_type(proto: Any, depth: int = 0) -> ValueType:
    denotation = read_text(proto.denotation)
    kind = proto.WhichOneof("value")
    if kind is None or depth > _MAX_TYPE_DEPTH:
        return UnknownType(denotation)
    inner = getattr(proto, kind)
    if kind == "tensor_type":
        return TensorType(read_dtype(inner.elem_type), _read_shape(inner), denotation)
    if kind == "sparse_tensor_type":
        return SparseTensorType(read_dtype(inner.elem_type), _read_shape(inner), denotation)
    if kind == "map_type":
        value = _read_type(inner.value_type, depth + 1) if inner.HasField("value_type") else None
        return MapType(read_dtype(inner.key_type), value, denotation)
    if kind == "opaque_type":
        return OpaqueType(read_text(inner.domain), read_text(inner.name), denotation)
    element = _read_type(inner.elem_type, depth + 1) if inner.HasField("elem_type") else None
    if kind == "sequence_type":
        return SequenceType(element, denotation)
    return OptionalType(element, denotation)


def _read_shape(proto: Any) -> tuple[Dimension, ...] | None:
    if not proto.HasField("shape"):
        return None
    return tuple(
        Dimension(_read_dimension(dimension), read_text(dimension.denotation))
        for dimension in proto.shape.dim
    )


def _read_dimension(proto: Any) -> int | str | None:
    kind = proto.WhichOneof("value")
    if kind == "dim_value":
        return int(proto.dim_value)
    if kind == "dim_param":
        return read_text(proto.dim_param)
    return None


class TensorReader:
    """Makes tensors of the view model; elements stay in the message until asked for.

    Parameters
    ----------
    files
        Gives external data.
    parts
        Where data inside the model are.
    """

    def __init__(self, files: ModelFiles, parts: OnnxParts) -> None:
        self._files = files
        self._parts = parts
        self._packed: PackedTensors | None = None
        #: what tensors claim that are sound, by number of the type and dimensions
        self.claims: dict[tuple[int, tuple[int, ...]], Claim] = {}
        #: the name of the file
        self.source = parts.source.name

    def read(self, proto: Any, path: str) -> Tensor:
        """Return a TensorProto as a tensor at a path."""
        return _OnnxTensor(read_text(proto.name), path, proto, self)

    def read_initializer(self, proto: Any, graph_path: str) -> Tensor:
        """Return a TensorProto as the tensor of its own name in a graph."""
        return _OnnxTensor(read_text(proto.name), None, proto, self, graph_path)

    def read_packed(self, tensors: PackedTensors, graph_path: str) -> Sequence[Tensor]:
        """Return initializers of a graph that are kept as bytes."""
        self._packed = tensors
        columns = tensors.columns
        # of single numbers Python asks these faster than arrays
        self._forms, self._raw_sizes = columns.forms.data, columns.raw_sizes.data
        self._claims: list[Claim | None] = [None] * len(columns.codes)
        claims = [
            claim
            if number >= 0 and (claim := self._find_packed_claim(number)).size == size
            else None
            for number, size in zip(self._forms, self._raw_sizes, strict=True)
        ]
        rest = repeat(None), count(), repeat(self), repeat(graph_path), claims
        return [*map(_OnnxTensor, tensors.names(), *rest)]

    def find_message(self, held: Any) -> Any:
        """Return the message of a tensor, of which the number is held where it is packed."""
        return self._packed[held] if type(held) is int and self._packed is not None else held

    def read_form(self, held: Any) -> Claim:
        """Return the type and dimensions that a tensor states, whatever is stored of it."""
        message = self.find_message(held)
        return _share_claim(message.data_type, tuple(message.dims), self.claims)

    def find_claim(self, held: Any) -> Claim | None:
        """Return what a tensor claims whose raw data are just that, and which says no more."""
        packed = self._packed
        if type(held) is not int or packed is None:
            return _measure_sound(held, self.claims)
        number = self._forms[held]
        if number < 0:
            return _measure_sound(packed[held], self.claims)
        return None  # what is sound was noted of all at once

    def _find_packed_claim(self, number: int) -> Claim:
        """Return what tensors of a form claim; its bytes are -1 where it cannot be sound."""
        claim = self._claims[number]
        if claim is None:
            assert self._packed is not None  # noqa: S101 - forms are numbered of packed ones
            form = self._packed.columns.form(number)
            claim = self._claims[number] = self.claims[form] = _read_claim(*form)
        return claim

    def read_facts(self, tensor: Tensor, proto: Any) -> None:
        """Fill in what a TensorProto says beyond its name."""
        name, path = tensor.name, tensor.path
        warnings = []
        dtype = read_dtype(proto.data_type)
        if not dtype.is_known or dtype.name == "undefined":
            warnings.append(ModelWarning(path, f"the element type is {dtype}"))
        dims = tuple(proto.dims)
        if any(dim < 0 for dim in dims):
            warnings.append(ModelWarning(path, f"the dimensions {list(dims)} are negative"))
        stored = self._parts.stored(proto)
        external = None
        if proto.data_location == _EXTERNAL or proto.external_data:
            external = _read_external_location(proto)
            storage = TensorStorage(
                "external", external.length, self._external_fetch(proto, path, external)
            )
        else:
            storage = self._parts.find_storage(proto, path, stored)
        segment = None
        if proto.HasField("segment"):
            segment = Segment(proto.segment.begin, proto.segment.end)
        Tensor.__init__(
            tensor,
            name,
            path,
            dtype,
            dims,
            storage.field,
            storage.size,
            storage.fetch,
            doc=read_text(proto.doc_string),
            metadata=read_entries(proto.metadata_props),
            external=external,
            segment=segment,
            find_unknown=lambda: self._parts.find_unknown(proto),
        )
        held = self._parts.list_storages(proto, stored)
        if len(held) > 1 or (held and external is not None):
            also = ", ".join(name for name in held if name != storage.field)
            warnings.append(
                ModelWarning(path, f"also holds {also}, which is not read beside {storage.field}")
            )
        warnings += (ModelWarning(path, message) for message in _judge_storage(tensor, storage))
        tensor.warnings = tuple(warnings)

    def read_sparse(self, proto: Any, path: str) -> SparseTensor:
        """Return a SparseTensorProto as a sparse tensor at a path."""
        values = self.read(proto.values, path)
        indices = self.read(proto.indices, path) if proto.HasField("indices") else None
        warnings: tuple[ModelWarning, ...] = ()
        if indices is None:
            warnings = (ModelWarning(path, "the sparse tensor has no indices"),)
        unknown = self._parts.find_unknown(proto, frozenset(("TensorProto",)))
        return SparseTensor(path, values, indices, tuple(proto.dims), warnings, unknown)

    def _external_fetch(
        self, proto: Any, path: str, external: ExternalLocation
    ) -> Callable[[], Payload]:
        def fetch() -> Payload:
            dtype = read_dtype(proto.data_type)
            expected = None
            if dtype.bits is not None and all(dim >= 0 for dim in proto.dims):
                expected = (multiply_dims(proto.dims) * dtype.bits + 7) // 8
            return Payload("raw", self._files.open_external(external, expected, path))

        return fetch


def _measure_sound(proto: Any, claims: dict[tuple[int, tuple[int, ...]], Claim]) -> Claim | None:
    """Return what a tensor claims whose raw data are just that.

    None where they are not, and where the message says more, so that it has to be read whole.

    Notes
    -----
    A message that is asked for a list which it does not hold keeps an object for it.
    """
    held = dict(proto.ListFields())
    raw = held.get(_RAW_DATA)
    if raw is None or not held.keys() <= _SOUND_FIELDS:
        return None
    claim = _share_claim(held.get(_DATA_TYPE, 0), tuple(held.get(_DIMS, ())), claims)
    return claim if claim.size == len(raw) else None


def _share_claim(
    code: int, dims: tuple[int, ...], claims: dict[tuple[int, tuple[int, ...]], Claim]
) -> Claim:
    """Return a claim, one object for all tensors that have it."""
    claim = claims.get((code, dims))
    if claim is None:
        claim = claims[code, dims] = _read_claim(code, dims)
    return claim


def _read_claim(code: int, dims: tuple[int, ...]) -> Claim:
    dtype = read_dtype(code)
    if dtype.bits is None or min(dims, default=0) < 0:
        return Claim(dtype, dims, -1)
    return Claim(dtype, dims, (multiply_dims(dims) * dtype.bits + 7) // 8)


def _judge_storage(tensor: Tensor, storage: TensorStorage) -> Iterator[str]:
    """Yield where what is stored contradicts type and dimensions, without decoding any of it."""
    dtype, segment = tensor.dtype, tensor.segment
    if not dtype.is_known or dtype.name == "undefined" or any(dim < 0 for dim in tensor.dims):
        return
    size = tensor.size if segment is None else max(0, segment.end - segment.begin)
    if storage.field == "raw_data" and dtype.bits is not None:
        claimed = (size * dtype.bits + 7) // 8
        # 6-bit elements may fill their last three bytes, as the decoder allows
        padded = (size + 3) // 4 * 3 if dtype.bits == 6 else claimed
        if storage.size not in (claimed, padded):
            yield tell_stored(str(storage.size), "byte", claimed, "claimed")
    if storage.field not in ("none", "external", *_fields_of(dtype)):
        yield f"its elements are in {storage.field} instead of {_fields_of(dtype)[-1]}"
    elif storage.count is not None:
        needed = _count_needed(dtype, size)
        stored = storage.count.differs(needed)
        if stored:
            what = "string" if dtype.name == "string" else "number"
            yield tell_stored(stored, what, needed, "needed")


def _fields_of(dtype: DataType) -> tuple[str, ...]:
    """Return the fields that elements of a type may be in (onnx.proto: TensorProto)."""
    typed = _TYPED_FIELD_OF.get(dtype.name, "int32_data")
    return (typed,) if dtype.name == "string" else ("raw_data", typed)


def _count_needed(dtype: DataType, size: int) -> int:
    """Return how many entries of a typed field so many elements take.

    A complex element takes two; 2- and 4-bit elements share the bytes that int32_data holds.
    """
    if dtype.is_complex:
        return 2 * size
    return (size * dtype.bits + 7) // 8 if dtype.bits in (2, 4) else size


#: what is known of a tensor once it is known to be sound
_OF_SOUND = frozenset(("_stored_bytes", "dims", "dtype", "quantization", "warnings"))


class Claim(NamedTuple):
    """The type and dimensions that a tensor states, and the bytes that follow; -1 for none."""

    dtype: DataType
    dims: tuple[int, ...]
    size: int


class _OnnxTensor(Tensor):
    """A tensor of which the name is read; the rest follows when any of it is asked for.

    Notes
    -----
    Most tensors of a large model are never looked at. The slots of :class:`Tensor` stay unset
    until then, which is when Python turns to ``__getattr__``. What is asked of all tensors at
    once is answered from the message, and what is kept of it many of them share: there may be a
    million.
    """

    __slots__ = ("_graph_path", "_held", "_measured", "_reader")

    def __init__(
        self,
        name: str,
        path: str | None,
        proto: Any,
        reader: TensorReader,
        graph_path: str = "",
        claim: Claim | None = None,
    ) -> None:
        self.name = name
        if path is not None:
            self.path = path
        self._held = proto
        self._reader: TensorReader | None = reader
        self._graph_path = graph_path
        self._measured: int | Literal[False] | None
        if claim is None:
            self._measured = False
        else:
            self.dtype, self.dims, self._measured = claim
            self._stored_bytes, self.quantization, self.warnings = claim.size, None, ()

    @property
    def _is_plain(self) -> bool:
        """As of every tensor; the message is asked where nothing else is read of it yet."""
        if self._reader is None:
            return super()._is_plain
        return self._sound_bytes is not None and len(self.dims) <= 4

    @property
    def _sound_bytes(self) -> int | None:
        """The bytes of a tensor that is sound, else None; measured once."""
        measured = self._measured
        if measured is False:
            claim = self._reader.find_claim(self._held) if self._reader else None
            if claim is None:
                measured = None
            else:
                self.dtype, self.dims, measured = claim
                self._stored_bytes, self.quantization, self.warnings = measured, None, ()
            self._measured = measured
        return measured

    def __getattr__(self, name: str) -> Any:
        if name == "path":  # of an initializer
            self.path = f"{self._graph_path}/%{self.name}"
            return self.path
        if name not in Tensor.__slots__:
            raise AttributeError(f"a tensor has no attribute {name!r}")
        reader = self._reader
        if reader is None:  # read by another thread since this one has found nothing
            return object.__getattribute__(self, name)
        if name in ("dims", "dtype") and self._measured is False:
            self.dtype, self.dims, _ = reader.read_form(self._held)  # it may be all that is asked
            return object.__getattribute__(self, name)
        if name == "external" and self._sound_bytes is not None:
            self.external = None
            return None
        if name in _OF_SOUND:
            if self._sound_bytes is not None:
                return object.__getattribute__(self, name)
            if name == "quantization":  # ONNX states it elsewhere
                return None
            if name in ("dims", "dtype"):
                self.dtype, self.dims, _ = reader.read_form(self._held)
                return object.__getattribute__(self, name)
        try:
            reader.read_facts(self, reader.find_message(self._held))
        except Exception as error:
            fail(error, reader.source, f"tensor {self.path}")
        self._reader = None
        return getattr(self, name)


def _read_external_location(proto: Any) -> ExternalLocation:
    entries = tuple((read_text(e.key), read_text(e.value)) for e in proto.external_data)
    known = dict(reversed(entries))  # of a repeated key the first entry counts
    numbers = {}
    misstated = ""
    for key in ("offset", "length"):
        text = known.get(key)
        if text is not None and not re.fullmatch(_DECIMAL, text):
            shown = repr(clip_text(text, _MOST_DIGITS))
            misstated = misstated or f"its {key} is {shown}, which is no plain decimal number"
        elif text is not None and len(text) > _MOST_DIGITS:
            misstated = misstated or f"its {key} is a number of {len(text):,} digits"
        elif text is not None:
            numbers[key] = int(text)
    # a length of 0 is none (ONNX Runtime, tensor_external_data_info.cc): all that is needed is read
    length = numbers.get("length") or None
    return ExternalLocation(
        known.get("location", ""), numbers.get("offset"), length, entries, misstated
    )
