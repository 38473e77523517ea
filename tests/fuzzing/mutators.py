"""Mutators: from sound bytes to bytes that are nearly sound.

Each takes the source of chance first, so that a mutant can be made again from its number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

_VARINT, _FIXED64, _DELIMITED, _START_GROUP, _END_GROUP, _FIXED32 = range(6)
_FIXED_SIZES = {_FIXED64: 8, _FIXED32: 4}

#: numbers at which something may overflow, wrap or be taken for a size
EXTREMES = (
    0, 1, 2, 7, 8, 31, 32, 63, 64, 127, 128, 255, 256, 65535, 65536, 2**20, 2**24,
    2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1,
    2**64 - 2, 2**64 - 2**31,
)  # fmt: skip
_FIXED_BYTES = (b"\0" * 8, b"\xff" * 8, b"\0\0\xc0\x7f" * 2, b"\0\0\x80\x7f" * 2, b"\1" + b"\0" * 7)
_CONTENTS = (
    b"",
    b"\0",
    b"a",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"/" * 40,
    b"a/" * 60,
    b"..",
    b"main",
    b"\n",
    "\u202e<script>&\"'".encode(),
    b"x" * 3000,
    b"\x80" * 12,
    b"%s%n{}",
    b"1e999",
    b"-1",
)
_TOKENS = (
    b"{", b"}", b"[", b"]", b"<", b">", b"(", b")", b":", b",", b'"', b"'", b"=", b"=>", b"#",
    b"\\", b"-", b"nan", b"inf", b"-inf", b"1e999", b"0x", b"0xffffffffffffffff", b"-0", b"1f",
    b"99999999999999999999999", b"-9223372036854775808", b"4294967296", b"true", b"null",
    b'"\\ud800"', b'"\\u0000"', b"'\\377\\x00'", b"\xff", b"\0", b"\xef\xbb\xbf", b"1" * 5000,
    b"{" * 300, b"[" * 300, b"a" * 2000, b"node", b"graph", b"op", b"arg", b"dims", b"name",
)  # fmt: skip
_TOKEN = re.compile(rb"\w+|\s+|[^\w\s]")

Pieces = list[tuple[int, int, bytes]]


def mutate_binary(chance: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Return the bytes of a protobuf message changed in one to four places."""
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        if chance.random() < 0.65:
            data = mutate_fields(chance, data, others)
        else:
            data = mutate_bytes(chance, data, others)
    return data


def mutate_text(chance: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Return text changed in one to four places."""
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        if chance.random() < 0.8:
            data = mutate_tokens(chance, data, others)
        else:
            data = mutate_bytes(chance, data, others)
    return data


def mutate_bytes(chance: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Flip, insert, delete, repeat or overwrite bytes, cut off, or splice with another seed."""
    if not data:
        return chance.choice(others)
    at = chance.randrange(len(data))
    length = min(chance.choice((1, 1, 2, 4, 8, 32, 256)), len(data) - at)
    kind = chance.randrange(8)
    if kind == 0:
        return data[:at] + bytes((data[at] ^ 1 << chance.randrange(8),)) + data[at + 1 :]
    if kind == 1:
        return data[:at] + bytes((chance.randrange(256),)) + data[at + 1 :]
    if kind == 2:
        return data[:at] + chance.randbytes(length) + data[at:]
    if kind == 3:
        return data[:at] + data[at + length :]
    if kind == 4:
        return data[:at] + data[at : at + length] * chance.choice((2, 2, 3, 50)) + data[at:]
    if kind == 5:
        return data[:at]
    if kind == 6:
        return data[:at] + write_varint(chance.choice(EXTREMES)) + data[at + 1 :]
    other = chance.choice(others)
    return data[:at] + other[chance.randrange(len(other) + 1) :]


def mutate_tokens(chance: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Drop, repeat, exchange or replace tokens of a text, or take some of another text."""
    tokens = _TOKEN.findall(data)
    if not tokens:
        return chance.choice(others)
    at = chance.randrange(len(tokens))
    length = chance.choice((1, 1, 1, 3, 10, 40))
    kind = chance.randrange(7)
    if kind == 0:
        del tokens[at : at + length]
    elif kind == 1:
        tokens[at:at] = tokens[at : at + length] * chance.choice((1, 1, 2, 100))
    elif kind == 2:
        tokens[at] = chance.choice(_TOKENS)
    elif kind == 3:
        tokens.insert(at, chance.choice(_TOKENS))
    elif kind == 4:
        other = chance.randrange(len(tokens))
        tokens[at], tokens[other] = tokens[other], tokens[at]
    elif kind == 5:
        numbers = [index for index, token in enumerate(tokens) if token.isdigit()]
        extreme = chance.choice(EXTREMES) * chance.choice((1, -1))
        tokens[chance.choice(numbers or [at])] = str(extreme).encode()
    else:
        donor = _TOKEN.findall(chance.choice(others))
        start = chance.randrange(len(donor) or 1)
        tokens[at : at + length] = donor[start : start + length]
    return b"".join(tokens)


def mutate_fields(chance: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Change one field, at whatever depth, so that the lengths around it stay right."""
    fields = split_fields(data)
    if not fields:
        return mutate_bytes(chance, data, others)
    at = chance.randrange(len(fields))
    number, wire_type, content = fields[at]
    if wire_type == _DELIMITED and content and chance.random() < 0.75 and split_fields(content):
        fields[at] = number, wire_type, mutate_fields(chance, content, others)
        return join_fields(fields)
    kind = chance.randrange(9)
    if kind == 0:
        del fields[at]
    elif kind == 1:
        times = chance.choice((1, 1, 2, 20))
        fields[at:at] = [fields[at]] * times
    elif kind == 2:
        renumbered = chance.choice((number + 1, number - 1, 1, 15, 16, 500, 2**29 - 1))
        fields[at] = renumbered, wire_type, content
    elif kind == 3:
        fields[at] = number, *_random_content(chance)
    elif kind == 4:
        fields.insert(at, (chance.randrange(1, 30), *_random_content(chance)))
    elif kind == 5:
        other = chance.randrange(len(fields))
        fields[at], fields[other] = fields[other], fields[at]
    elif kind == 6:
        donor = _find_donor(chance, chance.choice(others))
        fields[at] = donor if chance.random() < 0.5 else (number, *donor[1:])
    elif kind == 7 and wire_type == _DELIMITED:
        for _ in range(chance.choice((1, 3, 40, 120))):
            content = join_fields([(number, _DELIMITED, content)])
        fields[at] = number, wire_type, content
    else:
        fields[at] = number, wire_type, _change_content(chance, wire_type, content)
    return join_fields(fields)


def _find_donor(chance: Random, data: bytes) -> tuple[int, int, bytes]:
    donor = 1, _VARINT, b"\1"
    while fields := split_fields(data):
        donor = chance.choice(fields)
        if donor[1] != _DELIMITED or chance.random() < 0.4:
            break
        data = donor[2]
    return donor


def _random_content(chance: Random) -> tuple[int, bytes]:
    wire_type = chance.choice((_VARINT, _VARINT, _DELIMITED, _DELIMITED, _FIXED32, _FIXED64))
    return wire_type, _change_content(chance, wire_type, b"\1")


def _change_content(chance: Random, wire_type: int, content: bytes) -> bytes:
    if wire_type == _VARINT:
        return write_varint(chance.choice(EXTREMES))
    if wire_type in _FIXED_SIZES:
        size = _FIXED_SIZES[wire_type]
        return chance.choice((*_FIXED_BYTES, chance.randbytes(8)))[:size]
    if wire_type != _DELIMITED:
        return content
    if chance.random() < 0.5:
        return chance.choice(_CONTENTS)
    return mutate_bytes(chance, content, (b"\0", b"a"))


def split_fields(data: bytes) -> Pieces:
    """Return the fields of a message as (number, wire type, content); none if it is no message.

    The content of a varint is the varint itself, that of a delimited field has no length.
    """
    fields: Pieces = []
    position, end = 0, len(data)
    while position < end:
        tag, position = _read_varint(data, position)
        number, wire_type = tag >> 3, tag & 7
        start = position
        if wire_type == _VARINT:
            _, position = _read_varint(data, position)
        elif wire_type in _FIXED_SIZES:
            position += _FIXED_SIZES[wire_type]
        elif wire_type == _DELIMITED:
            length, start = _read_varint(data, position)
            position = start + length
        else:
            return []
        if not 0 < number < 2**29 or position > end:
            return []
        fields.append((number, wire_type, data[start:position]))
    return fields


def join_fields(fields: Pieces) -> bytes:
    """Return the bytes of a message of these fields."""
    written = bytearray()
    for number, wire_type, content in fields:
        written += write_varint(number << 3 | wire_type)
        if wire_type == _DELIMITED:
            written += write_varint(len(content))
        written += content
    return bytes(written)


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    number = 0
    for count in range(10):
        if position + count >= len(data):
            break
        byte = data[position + count]
        number |= (byte & 127) << 7 * count
        if byte < 128:
            return number, position + count + 1
    return 0, len(data) + 1


def write_varint(number: int) -> bytes:
    """Return a number that is not negative as a varint."""
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    written.append(number)
    return bytes(written)
