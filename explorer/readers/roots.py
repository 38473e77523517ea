"""Roots: which message the bytes of a protobuf file are, judged by the fields they begin with.

Protobuf does not say what it holds. Numbers and wire types of the outermost fields, and a look
into the first of them, tell the messages apart that are found in files named ``.onnx`` or
``.pb``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from google.protobuf.message import DecodeError

from netloupe.explorer.model.dtype import ONNX_DATA_TYPES, data_type
from netloupe.explorer.model.storage import count_elements
from netloupe.proto import onnx_pb2

from .message_writer import FIXED32, FIXED64, LENGTH, VARINT

ReadRange = Callable[[int, int], bytes]

_WINDOW = 24  # a tag and a length are at most ten bytes each
_MOST_FIELDS = 20_000
_START_GROUP, _END_GROUP = 3, 4

#: numbers of the fields of a ModelProto
MODEL_FIELDS = frozenset(field.number for field in onnx_pb2.ModelProto.DESCRIPTOR.fields)

_SINGULAR_FIELDS = {
    1: "ir_version", 2: "producer_name", 3: "producer_version", 4: "domain",
    5: "model_version", 6: "doc_string", 7: "graph",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TopField:
    """One outermost field: its number, wire type, and where its value lies."""

    number: int
    wire_type: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class TopFields:
    """The outermost fields of a file, up to where they end or make no sense."""

    fields: tuple[TopField, ...]
    is_whole: bool  # False: cut short, or no protobuf from some place on
    is_cut_short: bool = False

    def has(self, number: int, wire_type: int) -> bool:
        """Return whether there is a field of that number and wire type."""
        return self.first(number, wire_type) is not None

    def first(self, number: int, wire_type: int = LENGTH) -> TopField | None:
        """Return the first field of that number and wire type."""
        for field in self.fields:
            if field.number == number and field.wire_type == wire_type:
                return field
        return None

    @property
    def numbers(self) -> set[int]:
        """The numbers in use."""
        return {field.number for field in self.fields}


def scan_fields(read: ReadRange, start: int, size: int) -> TopFields:
    """List the outermost fields of the message in ``read(length, offset)``, [start, start+size).

    At most 20,000 fields are listed; values are stepped over, not read.
    """
    fields: list[TopField] = []
    position, end = start, start + size
    groups: list[int] = []
    while position < end and len(fields) < _MOST_FIELDS:
        window = read(min(_WINDOW, end - position), position)
        tag, used = _read_varint(window, 0)
        number, wire_type = tag >> 3, tag & 7
        if used == 0 or number == 0 or number >= 2**29 or wire_type > FIXED32:
            return TopFields(tuple(fields), False, used == 0 and len(window) < _WINDOW)
        value_at = position + used
        length = 0
        if wire_type == VARINT:
            _, length = _read_varint(window, used)
            if length == 0:
                return TopFields(tuple(fields), False, len(window) < _WINDOW)
        elif wire_type in (FIXED32, FIXED64):
            length = 4 if wire_type == FIXED32 else 8
        elif wire_type == LENGTH:
            length, taken = _read_varint(window, used)
            if taken == 0:
                return TopFields(tuple(fields), False, len(window) < _WINDOW)
            value_at += taken
        elif wire_type == _START_GROUP:
            groups.append(number)
        elif not groups or groups.pop() != number:
            return TopFields(tuple(fields), False)
        if not groups and wire_type != _END_GROUP:
            fields.append(TopField(number, wire_type, value_at, min(length, end - value_at)))
        position = value_at + length
        if position > end:
            return TopFields(tuple(fields), False, True)
    return TopFields(tuple(fields), not groups, bool(groups))


def _read_varint(window: bytes, position: int) -> tuple[int, int]:
    """Return a varint and how many bytes it takes, which is 0 where it does not end."""
    number = 0
    for count, byte in enumerate(window[position : position + 10]):
        number |= (byte & 127) << 7 * count
        if byte < 128:
            return number, count + 1
    return 0, 0


def find_repetitions(top: TopFields) -> list[str]:
    """Return the fields of a ModelProto that may stand there once, but stand there again."""
    counts = Counter(field.number for field in top.fields)
    return [name for number, name in _SINGULAR_FIELDS.items() if counts[number] > 1]


def identify_onnx(top: TopFields, read: ReadRange) -> str:
    """Return the ONNX message that the fields belong to, or the empty string.

    Returns
    -------
    str
        ``ModelProto``, ``GraphProto``, ``FunctionProto`` or ``TensorProto``.
    """
    if _is_model(top, read):
        return "ModelProto"
    if not top.is_whole:
        return ""
    node = top.first(1)
    if node is not None and top.numbers <= {1, 2, 5, 10, 11, 12, 13, 14, 15, 16}:
        inner = _look_inside(node, read)
        if inner.is_whole and inner.has(4, LENGTH) and top.numbers & {5, 11, 12}:
            return "GraphProto"
    node = top.first(7)
    if node is not None and top.has(1, LENGTH) and top.numbers <= {1, *range(4, 15)}:
        inner = _look_inside(node, read)
        if inner.is_whole and inner.has(4, LENGTH):
            return "FunctionProto"
    return "TensorProto" if _is_tensor(top, read) else ""


def _is_model(top: TopFields, read: ReadRange) -> bool:
    # ir_version is a number, which a NetDef's name and a graph's nodes are not; the producer's
    # name is a string, which a tensor's data type is not
    if top.has(1, LENGTH) or top.has(2, VARINT):
        return False
    if top.has(25, LENGTH) or top.has(20, LENGTH):
        return True
    graph = top.first(7)
    if graph is None:
        return False
    if top.has(1, VARINT):
        return True
    inner = _look_inside(graph, read)
    return inner.is_whole or inner.is_cut_short


def _look_inside(field: TopField, read: ReadRange) -> TopFields:
    return scan_fields(read, field.offset, field.length)


#: number -> wire types of a TensorProto's fields; lists of numbers may be packed
_TENSOR_FIELDS = {
    1: (VARINT, LENGTH), 2: (VARINT,), 3: (LENGTH,), 4: (LENGTH, FIXED32), 5: (LENGTH, VARINT),
    6: (LENGTH,), 7: (LENGTH, VARINT), 8: (LENGTH,), 9: (LENGTH,), 10: (LENGTH, FIXED64),
    11: (LENGTH, VARINT), 12: (LENGTH,), 13: (LENGTH,), 14: (VARINT,), 16: (LENGTH,),
}  # fmt: skip


def _is_tensor(top: TopFields, read: ReadRange) -> bool:
    """Return whether this is a lone TensorProto whose elements fit its type and dimensions."""
    if not top.has(2, VARINT) or not top.numbers & set(_TENSOR_STORAGE):
        return False
    if any(f.wire_type not in _TENSOR_FIELDS.get(f.number, ()) for f in top.fields):
        return False
    kept = [f for f in top.fields if f.number in (1, 2) and f.length < 1_000]
    head = b"".join(
        bytes((f.number << 3 | f.wire_type,))
        + (bytes((f.length & 127 | 128, f.length >> 7)) if f.wire_type == LENGTH else b"")
        + read(f.length, f.offset)
        for f in kept[:100]
    )
    try:
        claim = onnx_pb2.TensorProto.FromString(head)
    except DecodeError:
        return False
    if not 0 < claim.data_type < len(ONNX_DATA_TYPES):
        return False
    raw = top.first(9)
    if raw is None:
        return top.numbers & set(_TENSOR_STORAGE) <= {_storage_of(claim.data_type), 13}
    bits = data_type(ONNX_DATA_TYPES[claim.data_type]).bits
    return bits is None or raw.length == (count_elements(claim.dims) * bits + 7) // 8


#: fields that hold elements or say where they are, with the types that the typed ones are for
_TENSOR_STORAGE = {4: (1, 14), 5: (), 6: (8,), 7: (7,), 9: (), 10: (11, 15), 11: (12, 13), 13: ()}


def _storage_of(code: int) -> int:
    """Return the number of the typed field that holds elements of a type."""
    return next((number for number, codes in _TENSOR_STORAGE.items() if code in codes), 5)


def identify_foreign(top: TopFields, read: ReadRange) -> str:
    """Return what else a protobuf file is that has nothing to do with ONNX, or the empty string."""
    if top.has(100, LENGTH) and top.has(1, LENGTH):
        return "a Caffe (not Caffe2) network"
    if top.has(1, VARINT) and top.has(2, LENGTH) and any(n >= 200 for n in top.numbers):
        return "a Core ML model"
    if top.has(1, VARINT) and top.has(2, LENGTH) and top.numbers <= {1, 2}:
        meta = _look_inside(top.first(2), read)  # type: ignore[arg-type]
        if meta.is_whole and (meta.has(2, LENGTH) or meta.has(1, LENGTH)):
            return "a TensorFlow SavedModel"
    node = top.first(1)
    if node is not None and top.numbers <= {1, 2, 3, 4}:
        inner = _look_inside(node, read)
        if inner.is_whole and inner.has(1, LENGTH) and inner.has(2, LENGTH):
            attribute = inner.first(5)
            entry = _look_inside(attribute, read) if attribute is not None else None
            if entry is None or entry.has(2, LENGTH):
                return "a TensorFlow GraphDef"
    return ""
