"""Which of ONNX's messages a file is, judged by its outermost fields and a look into the first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from google.protobuf.message import DecodeError

from netloupe.explorer.model.dtype import ONNX_DATA_TYPES, data_type
from netloupe.explorer.model.storage import multiply_dims
from netloupe.explorer.readers.protobuf.top_fields import (
    TopFields,
    is_clean_text,
    look_inside,
    read_number,
)
from netloupe.proto import onnx_pb2
from netloupe.proto.grammars import DELIMITED, FIXED32, FIXED64, VARINT
from netloupe.proto.wire import ReadRange

#: numbers of the fields of a ModelProto
MODEL_FIELDS = frozenset(field.number for field in onnx_pb2.ModelProto.DESCRIPTOR.fields)

_SINGULAR_FIELDS = {
    1: "ir_version", 2: "producer_name", 3: "producer_version", 4: "domain",
    5: "model_version", 6: "doc_string", 7: "graph",
}  # fmt: skip


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
        inner = look_inside(node, read)
        if inner.is_whole and inner.has(4, DELIMITED) and top.numbers & {5, 11, 12}:
            return "GraphProto"
    node = top.first(7)
    if node is not None and top.has(1, DELIMITED) and top.numbers <= {1, *range(4, 15)}:
        inner = look_inside(node, read)
        if inner.is_whole and inner.has(4, DELIMITED):
            return "FunctionProto"
    # before tensors: a name may be taken for their dimensions
    return identify_data(top, read) or ("TensorProto" if _is_tensor(top, read) else "")


def _is_model(top: TopFields, read: ReadRange) -> bool:
    # ir_version is a number, which a NetDef's name and a graph's nodes are not; the producer's
    # name is a string, which a tensor's data type is not
    if top.has(1, DELIMITED) or top.has(2, VARINT):
        return False
    if top.has(25, DELIMITED) or top.has(20, DELIMITED):
        return True
    graph = top.first(7)
    if graph is None:
        return False
    if top.has(1, VARINT):
        return True
    inner = look_inside(graph, read)
    return inner.is_whole or inner.is_cut_short


#: number -> wire types of a TensorProto's fields; lists of numbers may be packed
_TENSOR_FIELDS = {
    1: (VARINT, DELIMITED), 2: (VARINT,), 3: (DELIMITED,), 4: (DELIMITED, FIXED32),
    5: (DELIMITED, VARINT), 6: (DELIMITED,), 7: (DELIMITED, VARINT), 8: (DELIMITED,),
    9: (DELIMITED,), 10: (DELIMITED, FIXED64), 11: (DELIMITED, VARINT), 12: (DELIMITED,),
    13: (DELIMITED,), 14: (VARINT,), 16: (DELIMITED,),
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
    return bits is None or raw.length == (multiply_dims(claim.dims) * bits + 7) // 8


def is_odd_tensor(top: TopFields, read: ReadRange) -> bool:
    """Return whether this may be a lone TensorProto whose type is unknown, or does not fit.

    That is little to go by: ask only where the bytes are nothing else.
    """
    claim = _read_claim(top, read)
    if claim is None or not top.is_whole or not top.numbers & set(_TENSOR_STORAGE):
        return False
    return bool(claim.dims or top.has(8, DELIMITED)) and is_clean_text(top, 8, read)


def _read_claim(top: TopFields, read: ReadRange) -> Any:
    """Return a TensorProto with type and dimensions only; None where the bytes are no tensor."""
    if not top.has(2, VARINT):
        return None
    if any(f.wire_type not in _TENSOR_FIELDS.get(f.number, ()) for f in top.fields):
        return None
    kept = [f for f in top.fields if f.number in (1, 2) and f.length < 1_000]
    head = b"".join(
        bytes((f.number << 3 | f.wire_type,))
        + (bytes((f.length & 127 | 128, f.length >> 7)) if f.wire_type == DELIMITED else b"")
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
    if not top.is_whole or not is_clean_text(top, 1, read):
        return ""
    if _is_map(top, read, 0):
        return "MapProto"
    if not _is_sequence(top, read, 0):
        return ""
    elements = sum(field.number > 2 for field in top.fields)
    return "SequenceProto" if elements > 1 else "SequenceProto or OptionalProto"


def _is_sequence(top: TopFields, read: ReadRange, depth: int) -> bool:
    """Return whether this is a SequenceProto or an OptionalProto with elements of its type."""
    kind = read_number(top, 2, read)
    if kind is None or kind not in _ELEMENTS or not top.is_whole:
        return False
    elements = [field for field in top.fields if field.number > 2]
    if any(f.number != kind + 2 or f.wire_type != DELIMITED for f in elements):
        return False
    if depth > _MOST_NESTED:
        return True
    if kind == 0:  # an optional without a value; a name is needed to tell it from anything
        return top.has(1, DELIMITED) or depth > 0
    judge = _ELEMENTS[kind]
    inner = (look_inside(field, read) for field in elements[:_MOST_JUDGED])
    return all(found.is_whole and judge(found, read, depth + 1) for found in inner)


def _is_map(top: TopFields, read: ReadRange, depth: int) -> bool:
    """Return whether this is a MapProto with keys of its type."""
    kind = read_number(top, 2, read)
    values = top.first(5)
    if kind not in _KEY_TYPES or values is None or not top.numbers <= {1, 2, 3, 4, 5}:
        return False
    if not top.numbers & {3, 4} and kind in _ELEMENTS:  # rather a sequence of sequences
        return False
    inner = look_inside(values, read)
    return inner.is_whole and (not inner.fields or _is_sequence(inner, read, depth + 1))


def _is_sparse(top: TopFields, read: ReadRange, depth: int) -> bool:
    values = top.first(1)
    return (
        values is not None
        and top.numbers <= {1, 2, 3}
        and _is_tensor(look_inside(values, read), read)
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
