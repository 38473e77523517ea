"""Types nested deeper than the protobuf runtime parses, cut off where it would give up.

The runtime refuses messages nested a hundred deep, which some fifty sequences within each other
are. Nothing makes such types but a mistake or mischief; the rest of the model is worth a look.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from netloupe.proto.grammars import DELIMITED, FIXED32, FIXED64, VARINT
from netloupe.proto.wire import encode_varint

#: types within types are kept down to this depth
MOST_NESTED_TYPES = 32

#: messages on the way to a type
_WAYS = frozenset((
    "AttributeProto", "FunctionProto", "GraphProto", "NodeProto", "TrainingInfoProto",
    "ValueInfoProto", "TypeProto", "Map", "Optional", "Sequence",
))  # fmt: skip
_SIZES = {FIXED32: 4, FIXED64: 8}


def cut_types(data: bytes, message: Any) -> tuple[bytes, int]:
    """Return the bytes of a message without what is nested too deep, and how often that was.

    Parameters
    ----------
    data
        The bytes; the graphs of attributes were taken out before, so that only types are deep.
    message
        The message's descriptor.

    Raises
    ------
    ValueError
        Where the bytes do not follow the wire format.
    """
    return _cut(data, message, 0)


def _cut(data: bytes, message: Any, depth: int) -> tuple[bytes, int]:
    pieces: list[bytes] = []
    kept = cuts = 0
    for number, start, content, end in _list_messages(data):
        field = message.fields_by_number.get(number)
        inner = None if field is None else field.message_type
        if inner is None or inner.name not in _WAYS:
            continue
        is_type = inner.name == "TypeProto"
        if is_type and depth == MOST_NESTED_TYPES:
            cuts += 1
            pieces.append(data[kept:start])
            kept = end
            continue
        reduced, count = _cut(data[content:end], inner, depth + is_type)
        if count:
            cuts += count
            tag, length = encode_varint(number << 3 | DELIMITED), encode_varint(len(reduced))
            pieces += (data[kept:start], tag, length, reduced)
            kept = end
    return (b"".join((*pieces, data[kept:])), cuts) if cuts else (data, 0)


def _list_messages(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield (number, start of the tag, start and end of the content) of delimited fields."""
    position, end = 0, len(data)
    while position < end:
        start = position
        tag, position = _read_varint(data, position)
        number, wire_type = tag >> 3, tag & 7
        content = position
        if wire_type == VARINT:
            _, position = _read_varint(data, position)
        elif wire_type == DELIMITED:
            length, content = _read_varint(data, position)
            position = content + length
        elif wire_type in _SIZES:
            position += _SIZES[wire_type]
        else:
            raise ValueError("a group")
        if not number or position > end:
            raise ValueError("the bytes are cut short")
        if wire_type == DELIMITED:
            yield number, start, content, position


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, 70, 7):
        if position == len(data):
            break
        byte = data[position]
        position += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, position
    raise ValueError("a number is cut short")
