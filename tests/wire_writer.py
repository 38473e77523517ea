"""Writes messages as bytes, by the encoding's description alone (protobuf.dev, Encoding)."""

from __future__ import annotations


def varint(number: int) -> bytes:
    """Return a number of any size, seven bits in each byte."""
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    return bytes((*written, number))


def field(number: int, content: bytes, wire: int = 2) -> bytes:
    """Return a field of a message; one of wire type 2 holds the length of its content as well."""
    return varint(number << 3 | wire) + (varint(len(content)) if wire == 2 else b"") + content
