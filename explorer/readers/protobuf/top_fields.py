"""The outermost fields of a message, whatever format it is of: numbers, wire types and places.

Protobuf does not say what it holds. By these fields, and a look into the first of them, the
formats tell their messages from others.
"""

from __future__ import annotations

from typing import NamedTuple

from netloupe.proto.grammars import DELIMITED, FIXED32, FIXED64, GROUP_END, GROUP_START, VARINT
from netloupe.proto.wire import ReadRange

_WINDOW = 24  # a tag and a length are at most ten bytes each
_MOST_FIELDS = 20_000


class TopField(NamedTuple):
    """One outermost field: its number, wire type, and where its value lies."""

    number: int
    wire_type: int
    offset: int
    length: int


class TopFields(NamedTuple):
    """The outermost fields of a file, up to where they end or make no sense."""

    fields: tuple[TopField, ...]
    is_whole: bool  # False: cut short, or no protobuf from some place on
    is_cut_short: bool = False

    def has(self, number: int, wire_type: int) -> bool:
        """Return whether there is a field of that number and wire type."""
        return self.first(number, wire_type) is not None

    def first(self, number: int, wire_type: int = DELIMITED) -> TopField | None:
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
        elif wire_type == DELIMITED:
            length, taken = _read_varint(window, used)
            if taken == 0:
                return TopFields(tuple(fields), False, len(window) < _WINDOW)
            value_at += taken
        elif wire_type == GROUP_START:
            groups.append(number)
        elif not groups or groups.pop() != number:
            return TopFields(tuple(fields), False)
        if not groups and wire_type != GROUP_END:
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


def look_inside(field: TopField, read: ReadRange) -> TopFields:
    """List the outermost fields of the message that is the value of a field."""
    return scan_fields(read, field.offset, field.length)


def read_number(top: TopFields, number: int, read: ReadRange) -> int | None:
    """Return the value of a numeric field; None where it is not there once."""
    found = [field for field in top.fields if field.number == number]
    if len(found) != 1 or found[0].wire_type != VARINT:
        return None
    return _read_varint(read(found[0].length, found[0].offset), 0)[0]


def is_clean_text(top: TopFields, number: int, read: ReadRange) -> bool:
    """Return whether a field is not there, or is text that a person may have written."""
    field = top.first(number)
    if field is None:
        return not any(other.number == number for other in top.fields)
    text = read(min(field.length, 1000), field.offset).decode("utf-8", "backslashreplace")
    return text.isprintable()
