"""What a file holds that no schema of ours has a name for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UnknownField:
    """A protobuf field that a newer or another writer put into an element.

    Parameters
    ----------
    place
        The message within the element that has it, as in ``attribute[0].tp``; "" for the
        element's own.
    number
        The field's number.
    wire_type
        ``varint``, ``fixed64``, ``length-delimited``, ``group`` or ``fixed32``
        (https://protobuf.dev/programming-guides/encoding/#structure).
    value
        A number as it is without a sign; the bytes of what is length-delimited, which may be
        a text, a message or a list; of a group, how many fields it has.
    """

    place: str
    number: int
    wire_type: str
    value: int | bytes


UnknownFields = tuple[UnknownField, ...]
#: looks for the unknown fields of an element when they are asked for
FindUnknown = Callable[[], UnknownFields]
