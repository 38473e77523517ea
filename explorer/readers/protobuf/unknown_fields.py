"""Unknown fields of messages, which the protobuf runtime keeps beside those of the schema."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from google.protobuf.unknown_fields import UnknownFieldSet

from netloupe.explorer.model.unknown import UnknownField, UnknownFields

_WIRE_TYPES = ("varint", "fixed64", "length-delimited", "group", "end of group", "fixed32")
_GROUP = 3
#: of one element no more are listed
MOST_LISTED = 1000
#: of more messages in one field groups of so many are looked at first
_AT_ONCE = 1000


def find_unknown_fields(
    message: Any, apart: frozenset[str] = frozenset(), own_prefix: bytes = b""
) -> UnknownFields:
    """Return the unknown fields of a message and of the messages in it.

    Parameters
    ----------
    message
        A parsed message.
    apart
        Names of messages that are not looked into, because they are elements of their own.
    own_prefix
        What unknown fields begin with that the scanner put there itself; none where empty.
    """
    return tuple(islice(_walk(message, apart, own_prefix), MOST_LISTED))


def _walk(message: Any, apart: frozenset[str], own_prefix: bytes) -> Iterator[UnknownField]:
    pending = [("", message)]
    while pending:
        place, at_hand = pending.pop()
        yield from _list_unknown(place, at_hand, own_prefix)
        inner: list[tuple[str, Any]] = []
        for field, content in at_hand.ListFields():
            if field.message_type is None or field.message_type.name in apart:
                continue
            name = f"{place}.{field.name}" if place else field.name
            if hasattr(content, "append"):
                inner += [
                    (f"{name}[{index}]", content[index]) for index in _choose(at_hand, field.name)
                ]
            else:
                inner.append((name, content))
        pending += reversed(inner)


def may_have_unknown(message: Any, field: str) -> bool:
    """Return whether any message of a repeated field may hold unknown fields, itself or inside.

    Where many are, the runtime is asked by the thousand, which is fast.
    """
    entries = getattr(message, field)
    return any(
        _lose_bytes(message, field, entries[start : start + _AT_ONCE])
        for start in range(0, len(entries), _AT_ONCE)
    )


def _lose_bytes(message: Any, field: str, entries: Any) -> bool:
    """Return whether a copy from which what is unknown is taken is smaller."""
    copy = type(message)()
    getattr(copy, field).extend(entries)
    size = copy.ByteSize()
    copy.DiscardUnknownFields()
    return bool(copy.ByteSize() < size)


def _choose(message: Any, field: str) -> Iterator[int]:
    """Return which messages of a repeated field may hold unknown fields."""
    entries = getattr(message, field)
    if len(entries) <= _AT_ONCE:
        yield from range(len(entries))
        return
    for start in range(0, len(entries), _AT_ONCE):
        some = entries[start : start + _AT_ONCE]
        if _lose_bytes(message, field, some):
            yield from range(start, start + len(some))


def _list_unknown(place: str, message: Any, own_prefix: bytes) -> Iterator[UnknownField]:
    unknown = UnknownFieldSet(message)
    for index in range(len(unknown)):
        field = unknown[index]
        known = message.DESCRIPTOR.fields_by_number.get(field.field_number)
        if known is not None and known.enum_type is not None:
            continue  # a number outside of an enum, which its reader finds
        data = field.data
        if own_prefix and isinstance(data, bytes) and data.startswith(own_prefix):
            continue
        value = len(data) if field.wire_type == _GROUP else data
        yield UnknownField(place, field.field_number, _WIRE_TYPES[field.wire_type], value)
