"""Protobuf text (.textproto, .pbtxt, .onnxtxt), turned into the bytes of the binary form.

The grammar is https://protobuf.dev/reference/protobuf/textformat-spec/. Protobuf's own parser
refuses what is merely odd here (numbers of unknown enum values, strings that are not UTF-8,
a field given twice), and nesting exhausts its stack; this one keeps the first three and has
no limit of depth.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from google.protobuf.descriptor import FieldDescriptor

from .message_writer import (
    FLOATS,
    INTEGERS,
    STRINGS,
    Field,
    MessageWriter,
    fields_of,
)

_SPACE = rb"(?:[\s,;]++|#[^\n]*+)*+"
_STRING = rb"\"(?:[^\"\\\n]++|\\.)*+\"|'(?:[^'\\\n]++|\\.)*+'"
_SCALAR = rb"-?\s*+(?:[A-Za-z_]\w*+|[0-9.](?:[eE][+-]|[\w.])*+)"
_VALUE = (
    rb"(?:(?P<open>[{<])|(?P<list>\[)|(?P<string>" + _STRING + rb")|(?P<scalar>" + _SCALAR + rb"))"
)
_ENTRY = re.compile(
    _SPACE
    + rb"(?:(?P<close>[}>])|(?P<name>\w++|\[[\w./\-\s]*+\])"
    + _SPACE
    + rb"(?P<colon>:?)"
    + _SPACE
    + _VALUE
    + rb")"
)
_ELEMENT = re.compile(_SPACE + rb"(?:(?P<close>\])|" + _VALUE + rb")")
_MORE_STRING = re.compile(rb"(?:\s++|#[^\n]*+)*+(" + _STRING + rb")")
_END = re.compile(_SPACE + rb"\Z")

_PLAIN_ESCAPES = re.compile(
    rb"(?:[^\\]|\\(?:[abfnrtv\\'\"]|[0-3][0-7]{2}|[0-7]{1,2}(?![0-7])|x[0-9a-fA-F]{2}))*"
)
_ESCAPE = re.compile(
    rb"\\(?:([0-3][0-7]{2}|[0-7]{1,2})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})"
    rb"|U([0-9a-fA-F]{8})|(.))",
    re.DOTALL,
)
_LETTERS = {
    b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"
}  # fmt: skip

_MOST_UNKNOWN = 20


class TextError(ValueError):
    """Why a text is no message, with the line.

    Parameters
    ----------
    written
        The message up to there, as a binary one that is cut short.
    """

    def __init__(self, reason: str, written: bytes) -> None:
        super().__init__(reason)
        self.written = written


class ParsedText(NamedTuple):
    """A text as a binary message, and the names in it that the schema does not know."""

    data: bytes
    unknown: tuple[str, ...]


def parse_text(text: bytes, message: Any) -> ParsedText:
    """Turn protobuf text into the bytes of a message.

    Parameters
    ----------
    text
        UTF-8 without a byte order mark; bytes that are not UTF-8 stay as they are.
    message
        The descriptor of the outermost message.

    Raises
    ------
    TextError
        Where the text is cut short or does not follow the grammar, with the line.
    """
    return _Parser(text, message).parse()


class _Frame(NamedTuple):
    """A message or a list that is open."""

    fields: dict[str, Field] | None  # None inside what the schema does not know
    name: str  # of the message, for what is said of unknown fields
    element: Field | None  # a list: the field whose elements follow
    is_list: bool
    closer: bytes
    start: int
    is_written: bool


class _Parser:
    def __init__(self, text: bytes, message: Any) -> None:
        self._text = text
        self._writer = MessageWriter()
        self._frames = [_Frame(fields_of(message), message.name, None, False, b"", 0, False)]
        self._unknown: dict[str, None] = {}

    def parse(self) -> ParsedText:
        position = 0
        text = self._text
        while True:
            frame = self._frames[-1]
            found = (_ELEMENT if frame.is_list else _ENTRY).match(text, position)
            if found is None:
                if len(self._frames) == 1 and _END.match(text, position):
                    return ParsedText(self._writer.finish(), tuple(self._unknown))
                raise self._fail(position)
            position = found.end()
            if found["close"]:
                self._close(frame, found)
            elif frame.is_list:
                position = self._read_value(frame.element, frame, found)
            else:
                field = self._find_field(frame, found)
                position = self._read_value(field, frame, found)

    def _close(self, frame: _Frame, found: re.Match[bytes]) -> None:
        if found["close"] != frame.closer:
            raise self._fail(found.start("close"))
        self._frames.pop()
        if frame.is_written:
            self._writer.end()

    def _find_field(self, frame: _Frame, found: re.Match[bytes]) -> Field | None:
        if frame.fields is None:
            return None
        name = found["name"].decode("utf-8", "backslashreplace")
        field = frame.fields.get(name)
        if field is None:
            self._note(f"{frame.name}.{name}"[:100])
        return field

    def _note(self, name: str) -> None:
        if len(self._unknown) < _MOST_UNKNOWN:
            self._unknown.setdefault(name)

    def _read_value(self, field: Field | None, frame: _Frame, found: re.Match[bytes]) -> int:
        """Write a value that was found; return where the text goes on."""
        position = found.end()
        if found["open"]:
            closer = b"}" if found["open"] == b"{" else b">"
            message = field.message if field is not None else None
            if field is not None and message is None:
                raise self._fail(found.start("open"), f"{field.name} is no message")
            if field is not None:
                self._writer.begin(field)
            fields = fields_of(message) if message is not None else None
            name = message.name if message is not None else ""
            self._frames.append(
                _Frame(fields, name, None, False, closer, found.start("open"), field is not None)
            )
            return position
        if found["list"]:
            if frame.is_list:
                raise self._fail(found.start("list"))
            self._frames.append(_Frame(None, "", field, True, b"]", found.start("list"), False))
            return position
        if found["string"]:
            return self._read_string(field, found)
        if field is None:
            return position
        if field.packable and not frame.is_list:
            run = _run_of(found["name"]).match(self._text, position)
            if run is not None:
                self._write_run(field, found, run)
                return run.end()
        try:
            self._write_scalar(field, found["scalar"].replace(b" ", b""))
        except ValueError as error:
            raise self._fail(found.start("scalar"), str(error)) from None
        return position

    def _read_string(self, field: Field | None, found: re.Match[bytes]) -> int:
        parts = [found["string"]]
        position = found.end()
        more = _MORE_STRING.match(self._text, position)
        while more is not None:
            parts.append(more[1])
            position = more.end()
            more = _MORE_STRING.match(self._text, position)
        if field is not None:
            if field.type not in STRINGS:
                raise self._fail(found.start("string"), f"{field.name} is no string")
            try:
                self._writer.add_string(field, b"".join(unescape(part[1:-1]) for part in parts))
            except ValueError as error:
                raise self._fail(found.start("string"), str(error)) from None
        return position

    def _write_run(self, field: Field, found: re.Match[bytes], run: re.Match[bytes]) -> None:
        """Write a field that is repeated line after line, as typed tensor data are."""
        numbers = [found["scalar"], *run[0].replace(found["name"] + b":", b" ").split()]
        convert = _read_float if field.type in FLOATS else _read_integer
        try:
            self._writer.add_packed(field, [convert(number) for number in numbers])
        except ValueError as error:
            raise self._fail(found.start("scalar"), str(error)) from None

    def _write_scalar(self, field: Field, word: bytes) -> None:
        if field.type in FLOATS:
            self._writer.add_float(field, _read_float(word))
        elif field.type == FieldDescriptor.TYPE_ENUM and not word.lstrip(b"-")[:1].isdigit():
            number = field.enum_values.get(word.decode("latin-1"))
            if number is None:
                self._note(f"{field.enum_name}.{word.decode('utf-8', 'backslashreplace')}"[:100])
            else:
                self._writer.add_integer(field, number)
        elif field.type == FieldDescriptor.TYPE_BOOL and word.lower() in _BOOLEANS:
            self._writer.add_integer(field, _BOOLEANS[word.lower()])
        elif field.type in INTEGERS:
            self._writer.add_integer(field, _read_integer(word))
        else:
            kind = "message" if field.message is not None else "string"
            raise ValueError(f"{field.name} is a {kind}, not {word[:40].decode('latin-1')}")

    def _fail(self, position: int, reason: str = "") -> TextError:
        text = self._text
        line = text.count(b"\n", 0, position) + 1
        rest = (
            text[position : position + 2_000].lstrip(b" \t\r\n,;")[:30].decode("utf-8", "replace")
        )
        if not reason:
            innermost = self._frames[-1]
            if not rest and len(self._frames) > 1:
                opened = text.count(b"\n", 0, innermost.start) + 1
                reason = f"the text ends inside what line {opened} begins"
            else:
                line += (
                    text[position : position + 2_000].split(rest[:1].encode(), 1)[0].count(b"\n")
                )
                reason = f"{rest.split(chr(10), 1)[0]!r} is not understood"
        return TextError(f"line {line}: {' '.join(reason.split())}", self._writer.cut_short())


_BOOLEANS = {b"true": 1, b"t": 1, b"false": 0, b"f": 0}


@cache
def _run_of(name: bytes) -> re.Pattern[bytes]:
    """Return the pattern of a field's further numbers, each on a line of its own."""
    return re.compile(
        rb"(?:\s++" + re.escape(name) + rb":[ ]?+-?[0-9.](?:[eE][+-]|[\w.])*+)++(?=\s)"
    )


def _read_float(word: bytes) -> float:
    text = word.decode("latin-1").lower()
    if text.endswith("f") and not text.endswith("inf"):
        text = text[:-1]
    try:
        return float(text)
    except ValueError:
        if text.lstrip("-").startswith("0x"):
            return float(int(text, 16))
        raise ValueError(f"{text[:40]!r} is no number") from None


def _read_integer(word: bytes) -> int:
    text = word.decode("latin-1")
    digits = text.lstrip("-")
    try:
        if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
            return int(text, 8)
        return int(text, 0)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is no whole number") from None


def unescape(quoted: bytes) -> bytes:
    """Return the bytes that the inside of a quoted string stands for."""
    if b"\\" not in quoted:
        return quoted
    if _PLAIN_ESCAPES.fullmatch(quoted):  # those that Python shares, at the speed of C
        return quoted.decode("unicode_escape").encode("latin-1")
    return _ESCAPE.sub(_replace_escape, quoted)


def _replace_escape(found: re.Match[bytes]) -> bytes:
    octal, hexadecimal, short, long, letter = found.groups()
    if octal:
        return bytes((int(octal, 8),))
    if hexadecimal:
        return bytes((int(hexadecimal, 16),))
    if short or long:
        number = int(short or long, 16)
        if number > 0x10FFFF:
            raise ValueError(f"\\U{number:08x} is no character")
        return chr(number).encode("utf-8", "surrogatepass")
    return _LETTERS.get(letter, letter)


def list_top_names(text: bytes) -> list[str]:
    """Return the names of the outermost fields, as far as the text can be understood."""
    names: dict[str, None] = {}
    depth = 0
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token in b"{<[":
            depth += 1
        elif token in b"}>]":
            depth -= 1
        elif depth == 0 and found["name"] and len(names) < _MOST_TOP_NAMES:
            names.setdefault(found["name"].decode("latin-1"))
    return list(names)


_MOST_TOP_NAMES = 50
_TOKEN = re.compile(
    rb"#[^\n]*+|" + _STRING + rb"|[{<\[\]>}]|(?P<name>[A-Za-z_]\w*+)(?=\s*+[:{<])|[\w.+-]++"
)
