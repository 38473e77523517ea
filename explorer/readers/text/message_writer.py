"""Protobuf messages written field by field: text forms become the bytes of the binary form.

The text and the JSON reader write into this, so that one reader reads every container: what a
schema does not know, strings that are not UTF-8 and any depth of nesting behave as they do in
a binary file (https://protobuf.dev/programming-guides/encoding/).
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from netloupe.explorer.readers.protobuf.descriptors import is_repeated
from netloupe.proto.grammars import DELIMITED, FIXED32, FIXED64, VARINT
from netloupe.proto.wire import encode_varint

FLOATS = {FieldDescriptor.TYPE_DOUBLE: "d", FieldDescriptor.TYPE_FLOAT: "f"}
STRINGS = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)
#: lowest and highest number of each integer type that the two schemas use
INTEGERS = {
    FieldDescriptor.TYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 2**64 - 1),
    FieldDescriptor.TYPE_BOOL: (0, 1),
    FieldDescriptor.TYPE_ENUM: (-(2**31), 2**31 - 1),
}


class Field:
    """A field of a message, as the writers need it."""

    __slots__ = (
        "enum_name",
        "enum_values",
        "message",
        "name",
        "number",
        "packable",
        "tags",
        "type",
    )

    def __init__(self, descriptor: Any) -> None:
        self.name: str = descriptor.name
        self.number: int = descriptor.number
        self.type: int = descriptor.type
        self.message: Any = descriptor.message_type
        enum = descriptor.enum_type
        self.enum_name: str = enum.name if enum is not None else ""
        # a dict of our own: the runtime's cannot be asked for a name with half of a surrogate pair
        self.enum_values = {v.name: v.number for v in enum.values} if enum is not None else {}
        self.packable = is_repeated(descriptor) and (self.type in FLOATS or self.type in INTEGERS)
        self.tags = {
            wire_type: encode_varint(self.number << 3 | wire_type)
            for wire_type in (VARINT, FIXED64, DELIMITED, FIXED32)
        }


_FIELDS: dict[str, dict[str, Field]] = {}


def fields_of(message: Any) -> dict[str, Field]:
    """Return the fields of a message descriptor by their names, snake and camel case."""
    found = _FIELDS.get(message.full_name)
    if found is None:
        found = {}
        for descriptor in message.fields:
            found[descriptor.name] = found[descriptor.json_name] = Field(descriptor)
        _FIELDS[message.full_name] = found
    return found


class MessageWriter:
    """Collects the fields of one message and of those inside it.

    Lengths are filled in when a message ends, so that the work is linear at any depth.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self._open: list[tuple[Field, int, int]] = []  # with where the header goes, and the size

    def begin(self, field: Field) -> None:
        """Begin a message that is the value of a field."""
        self._open.append((field, len(self._pieces), self._size))
        self._pieces.append(b"")

    def end(self, missing: int = 0) -> None:
        """End the message begun last; its length counts bytes that are ``missing``."""
        field, place, size = self._open.pop()
        header = field.tags[DELIMITED] + encode_varint(self._size - size + missing)
        self._pieces[place] = header
        self._size += len(header)

    def add_string(self, field: Field, data: bytes) -> None:
        """Add a string or bytes."""
        self._add(field.tags[DELIMITED] + encode_varint(len(data)))
        self._add(data)

    def add_float(self, field: Field, number: float) -> None:
        """Add a float or double; what a 32-bit float cannot hold becomes infinite."""
        code = FLOATS[field.type]
        self._add(field.tags[FIXED64 if code == "d" else FIXED32] + _pack_floats(code, (number,)))

    def add_integer(self, field: Field, number: int) -> None:
        """Add an integer, bool or enum value.

        Raises
        ------
        ValueError
            Where the field's type cannot hold the number.
        """
        self._add(field.tags[VARINT] + encode_varint(_check_range(field, number)))

    def add_packed(self, field: Field, numbers: Sequence[float] | Sequence[int]) -> None:
        """Add many numbers of a repeated field at once; raises as `add_integer` does."""
        code = FLOATS.get(field.type)
        if code is not None:
            self.add_string(field, _pack_floats(code, numbers))
            return
        self.add_string(
            field, b"".join(encode_varint(_check_range(field, int(number))) for number in numbers)
        )

    def cut_short(self) -> bytes:
        """Return what is written so far, as a file has it that ends here.

        The messages that are open say that they are longer than what there is of them.
        """
        while self._open:
            self.end(missing=1)
        return self.finish()

    def finish(self) -> bytes:
        """Return the bytes of the outermost message."""
        return b"".join(self._pieces)

    def _add(self, data: bytes) -> None:
        self._pieces.append(data)
        self._size += len(data)


def _pack_floats(code: str, numbers: Sequence[float]) -> bytes:
    packed = array(code, numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def _check_range(field: Field, number: int) -> int:
    lowest, highest = INTEGERS[field.type]
    if not lowest <= number <= highest:
        raise ValueError(f"{field.name} cannot be {number}")
    return number
