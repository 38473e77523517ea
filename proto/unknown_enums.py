"""Enum numbers that the schema does not know."""

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

_WIRE_TYPE_VARINT = 0


def read_enum_number(message: Message, field: str) -> int | None:
    """Return the number that the file gives for a singular enum field, known or not.

    Parameters
    ----------
    message
        A parsed message.
    field
        The name of a singular enum field, such as ``type`` of an AttributeProto.

    Returns
    -------
    int or None
        The number as a signed 32-bit integer, or None if the file does not give the field.

    Notes
    -----
    In proto2 a number outside the enum does not reach the field when bytes are parsed: ``HasField``
    is false, and the field reads as its default. The runtime keeps the number among the unknown
    fields instead, where this function finds it. If a file gives the field twice, a known number
    wins over an unknown one, because their order is lost; among unknown numbers the last one wins.
    """
    if message.HasField(field):
        return int(getattr(message, field))
    number = message.DESCRIPTOR.fields_by_name[field].number
    found = None
    unknowns = UnknownFieldSet(message)
    for index in range(len(unknowns)):
        unknown = unknowns[index]
        if unknown.field_number == number and unknown.wire_type == _WIRE_TYPE_VARINT:
            found = (unknown.data + 2**31) % 2**32 - 2**31
    return found
