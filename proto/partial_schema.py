"""Message classes of a schema that has only some fields of another: what is asked about.

Fields that the schema leaves out are skipped by the runtime, which does so at its own speed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_FIELD = descriptor_pb2.FieldDescriptorProto

#: message → (field, its number, its message), ``*`` behind the message where all of them count;
#: instead of a message also one of those below
Schema = Mapping[str, Sequence[tuple[str, int, str]]]
#: bytes; any number of bytes, or of texts; bytes without which no message is complete; a number
BYTES, ALL_BYTES, ALL_TEXTS, REQUIRED, INTEGER = "", "*", "**", "!", "#"


def make_message_class(name: str, schema: Schema, root: str) -> Any:
    """Return the class of one of the messages of a schema.

    Messages within messages are declared once each (``optional``) where nothing else is said:
    if the bytes hold more of them, they are merged into one, as the encoding has it for
    singular messages.

    Parameters
    ----------
    name
        The schema's own name.
    schema
        The messages.
    root
        The message whose class is wanted.
    """
    file = descriptor_pb2.FileDescriptorProto(
        name=f"netloupe/{name}.proto", package=f"netloupe.{name}", syntax="proto2"
    )
    for message_name, fields in schema.items():
        message = file.message_type.add(name=message_name)
        for field, number, kind in fields:
            entry = message.field.add(
                name=field, number=number, label=_FIELD.LABEL_OPTIONAL, type=_FIELD.TYPE_BYTES
            )
            if kind == REQUIRED:
                entry.label = _FIELD.LABEL_REQUIRED
            elif kind in (ALL_BYTES, ALL_TEXTS):
                entry.label = _FIELD.LABEL_REPEATED
                entry.type = _FIELD.TYPE_BYTES if kind == ALL_BYTES else _FIELD.TYPE_STRING
            elif kind == INTEGER:
                entry.type = _FIELD.TYPE_INT64
            elif kind != BYTES:
                entry.type, entry.type_name = _FIELD.TYPE_MESSAGE, f".{file.package}.{kind}"
                if kind.endswith("*"):
                    entry.label, entry.type_name = _FIELD.LABEL_REPEATED, entry.type_name[:-1]
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{file.package}.{root}"))
