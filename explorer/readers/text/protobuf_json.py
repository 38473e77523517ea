"""Protobuf JSON, turned into the bytes of the binary form (https://protobuf.dev/programming-guides/json/).

Names may be in camel case, as ``onnx.save`` writes them, or as in the schema; bytes are base64;
64-bit integers may be strings; enum values are names or numbers.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from .message_writer import (
    FLOATS,
    INTEGERS,
    STRINGS,
    Field,
    MessageWriter,
    fields_of,
)
from .protobuf_text import ParsedText

_MOST_UNKNOWN = 20


class JsonError(ValueError):
    """Why a JSON text is no message.

    Parameters
    ----------
    written
        The message up to there, as a binary one that is cut short.
    """

    def __init__(self, reason: str, written: bytes = b"") -> None:
        super().__init__(reason)
        self.written = written


def load_json(data: bytes) -> Any:
    """Return the value of a JSON text; bytes that are not UTF-8 become lone surrogates.

    Raises
    ------
    JsonError
        Where the text is no JSON, is cut short, or is nested deeper than Python's stack allows
        (some 900 objects and lists, which is about 180 nested If nodes).
    """
    try:
        return json.loads(data.decode("utf-8", "surrogateescape"))
    except json.JSONDecodeError as error:
        raise JsonError(f"line {error.lineno}: {error.msg.lower()}") from None
    except RecursionError:
        raise JsonError("it is nested too deep for JSON; write it as protobuf") from None
    except ValueError:  # a number of more digits than Python reads
        raise JsonError("it has a number that is too long") from None


def convert_json(value: dict[str, Any], message: Any) -> ParsedText:
    """Turn a JSON object into the bytes of a message.

    Parameters
    ----------
    value
        What `load_json` gave.
    message
        The descriptor of the outermost message.

    Raises
    ------
    JsonError
        Where a value does not fit the type of its field.
    """
    return _Encoder().encode(value, message)


class _Encoder:
    def __init__(self) -> None:
        self._writer = MessageWriter()
        self._unknown: dict[str, None] = {}

    def encode(self, value: dict[str, Any], message: Any) -> ParsedText:
        pending = [self._list_fields(value, message)]
        while pending:
            for field, item in pending[-1]:
                if field.message is None:
                    self._write(field, item)
                    continue
                if not isinstance(item, dict):
                    raise self._fail(f"{field.name} is a {type(item).__name__}, not an object")
                self._writer.begin(field)
                pending.append(self._list_fields(item, field.message))
                break
            else:
                pending.pop()
                if pending:
                    self._writer.end()
        return ParsedText(self._writer.finish(), tuple(self._unknown))

    def _list_fields(self, value: dict[str, Any], message: Any) -> Iterator[tuple[Field, Any]]:
        fields = fields_of(message)
        for name, items in value.items():
            field = fields.get(name)
            if field is None:
                self._note(f"{message.name}.{name}")
            elif isinstance(items, list):
                for item in items:
                    yield field, item
            elif items is not None:
                yield field, items

    def _note(self, name: str) -> None:
        if len(self._unknown) < _MOST_UNKNOWN:
            shown = encode_characters(name[:100]).decode("utf-8", "backslashreplace")
            self._unknown.setdefault(shown)

    def _write(self, field: Field, item: Any) -> None:
        try:
            if field.type in STRINGS:
                self._writer.add_string(field, _read_string(field, item))
            elif field.type in FLOATS:
                self._writer.add_float(field, float(item))  # also "NaN", "Infinity", "1.5"
            elif field.type == FieldDescriptor.TYPE_ENUM and isinstance(item, str):
                self._write_enum(field, item)
            elif field.type in INTEGERS:
                self._writer.add_integer(field, _read_integer(item))
        except (TypeError, ValueError, OverflowError):
            shown = repr(item)[:60]
            raise self._fail(f"{field.name} cannot be {shown}") from None

    def _fail(self, reason: str) -> JsonError:
        return JsonError(reason, self._writer.cut_short())

    def _write_enum(self, field: Field, item: str) -> None:
        number = field.enum_values.get(item)
        if number is not None:
            self._writer.add_integer(field, number)
        elif item.lstrip("-").isdigit():
            self._writer.add_integer(field, int(item))
        else:
            self._note(f"{field.enum_name}.{item}")


def _read_string(field: Field, item: Any) -> bytes:
    if not isinstance(item, str):
        raise TypeError(item)
    if field.type == FieldDescriptor.TYPE_STRING:
        return encode_characters(item)
    padded = item.rstrip("=").replace("-", "+").replace("_", "/").encode("ascii")
    try:
        return base64.b64decode(padded + b"=" * (-len(padded) % 4), validate=True)
    except binascii.Error:
        raise ValueError(item) from None


def encode_characters(text: str) -> bytes:
    """Return text as UTF-8, with the bytes back that were no UTF-8 when it was decoded."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a surrogate pair, written as \ud800
        return text.encode("utf-8", "surrogatepass")


def _read_integer(item: Any) -> int:
    if isinstance(item, float) and not item.is_integer():
        raise ValueError(item)
    return int(item)
