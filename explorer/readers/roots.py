"""Roots: which message the bytes of a protobuf file are, judged by the fields they begin with.

Protobuf does not say what it holds. Numbers and wire types of the outermost fields, and a look
into the first of them, tell the messages apart that are found in files named ``.onnx`` or
``.pb``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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
        ``ModelProto``, ``GraphProto``, ``FunctionProto``, ``TensorProto``, or what
        :func:`identify_data` returns.
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
    # before tensors: a name may be taken for their dimensions
    return identify_data(top, read) or ("TensorProto" if _is_tensor(top, read) else "")


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
    claim = _read_claim(top, read)
    if claim is None or not 0 < claim.data_type < len(ONNX_DATA_TYPES):
        return False
    if not top.numbers & set(_TENSOR_STORAGE):  # no elements, and none needed
        return 0 in claim.dims and min(claim.dims) >= 0
    raw = top.first(9)
    if raw is None:
        return top.numbers & set(_TENSOR_STORAGE) <= {_storage_of(claim.data_type), 13}
    bits = data_type(ONNX_DATA_TYPES[claim.data_type]).bits
    return bits is None or raw.length == (count_elements(claim.dims) * bits + 7) // 8


def is_odd_tensor(top: TopFields, read: ReadRange) -> bool:
    """Return whether this may be a lone TensorProto whose type is unknown, or does not fit.

    That is little to go by: ask only where the bytes are nothing else.
    """
    claim = _read_claim(top, read)
    if claim is None or not top.is_whole or not top.numbers & set(_TENSOR_STORAGE):
        return False
    return bool(claim.dims or top.has(8, LENGTH)) and _is_clean_text(top, 8, read)


def _read_claim(top: TopFields, read: ReadRange) -> Any:
    """Return a TensorProto with type and dimensions only; None where the bytes are no tensor."""
    if not top.has(2, VARINT):
        return None
    if any(f.wire_type not in _TENSOR_FIELDS.get(f.number, ()) for f in top.fields):
        return None
    kept = [f for f in top.fields if f.number in (1, 2) and f.length < 1_000]
    head = b"".join(
        bytes((f.number << 3 | f.wire_type,))
        + (bytes((f.length & 127 | 128, f.length >> 7)) if f.wire_type == LENGTH else b"")
        + read(f.length, f.offset)
        for f in kept[:100]
    )
    try:
        return onnx_pb2.TensorProto.FromString(head)
    except DecodeError:
        return None


#: fields that hold elements or say where they are, with the types that the typed ones are for
_TENSOR_STORAGE = {4: (1, 14), 5: (), 6: (8,), 7: (7,), 9: (), 10: (11, 15), 11: (12, 13), 13: ()}


def _storage_of(code: int) -> int:
    """Return the number of the typed field that holds elements of a type."""
    return next((number for number, codes in _TENSOR_STORAGE.items() if code in codes), 5)


def identify_data(top: TopFields, read: ReadRange) -> str:
    """Return which value that is no tensor the fields are (onnx-data.proto), or the empty string.

    Returns
    -------
    str
        ``MapProto``, ``SequenceProto``, or ``SequenceProto or OptionalProto``: of at most one
        element both are written alike.
    """
    if not top.is_whole or not _is_clean_text(top, 1, read):
        return ""
    if _is_map(top, read, 0):
        return "MapProto"
    if not _is_sequence(top, read, 0):
        return ""
    elements = sum(field.number > 2 for field in top.fields)
    return "SequenceProto" if elements > 1 else "SequenceProto or OptionalProto"


def _is_sequence(top: TopFields, read: ReadRange, depth: int) -> bool:
    """Return whether this is a SequenceProto or an OptionalProto with elements of its type."""
    kind = _read_number(top, 2, read)
    if kind is None or kind not in _ELEMENTS or not top.is_whole:
        return False
    elements = [field for field in top.fields if field.number > 2]
    if any(f.number != kind + 2 or f.wire_type != LENGTH for f in elements):
        return False
    if depth > _MOST_NESTED:
        return True
    if kind == 0:  # an optional without a value; a name is needed to tell it from anything
        return top.has(1, LENGTH) or depth > 0
    judge = _ELEMENTS[kind]
    inner = (_look_inside(field, read) for field in elements[:_MOST_JUDGED])
    return all(found.is_whole and judge(found, read, depth + 1) for found in inner)


def _is_map(top: TopFields, read: ReadRange, depth: int) -> bool:
    """Return whether this is a MapProto with keys of its type."""
    kind = _read_number(top, 2, read)
    values = top.first(5)
    if kind not in _KEY_TYPES or values is None or not top.numbers <= {1, 2, 3, 4, 5}:
        return False
    if not top.numbers & {3, 4} and kind in _ELEMENTS:  # rather a sequence of sequences
        return False
    inner = _look_inside(values, read)
    return inner.is_whole and (not inner.fields or _is_sequence(inner, read, depth + 1))


def _is_sparse(top: TopFields, read: ReadRange, depth: int) -> bool:
    values = top.first(1)
    return (
        values is not None
        and top.numbers <= {1, 2, 3}
        and _is_tensor(_look_inside(values, read), read)
    )


_MOST_JUDGED = 16
_MOST_NESTED = 16
#: DataType numbers that keys of a map may have: integers and strings
_KEY_TYPES = (2, 3, 4, 5, 6, 7, 8, 12, 13)
_ELEMENTS: dict[int, Callable[[TopFields, ReadRange, int], bool]] = {
    0: lambda top, read, depth: False,
    1: lambda top, read, depth: _is_tensor(top, read),
    2: _is_sparse,
    3: _is_sequence,
    4: _is_map,
    5: _is_sequence,
}


def _read_number(top: TopFields, number: int, read: ReadRange) -> int | None:
    """Return the value of a numeric field; None where it is not there once."""
    found = [field for field in top.fields if field.number == number]
    if len(found) != 1 or found[0].wire_type != VARINT:
        return None
    return _read_varint(read(found[0].length, found[0].offset), 0)[0]


def _is_clean_text(top: TopFields, number: int, read: ReadRange) -> bool:
    """Return whether a field is not there, or is text that a person may have written."""
    field = top.first(number)
    if field is None:
        return not any(other.number == number for other in top.fields)
    text = read(min(field.length, 1000), field.offset).decode("utf-8", "backslashreplace")
    return text.isprintable()


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
