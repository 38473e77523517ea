"""Containers around a model: gzip, and the encodings of text."""

from __future__ import annotations

import codecs
import zlib

from netloupe.explorer.errors import ModelFormatError
from netloupe.explorer.notation import write_bytes

GZIP_MAGIC = b"\x1f\x8b"

#: nothing larger is unpacked into memory
MOST_UNPACKED = 4 * 2**30
#: beyond the first bytes, content may be at most so many times as large as the file; weights
#: hardly shrink, and texts of numbers by ten, while a bomb grows by a thousand
_FREE_BYTES = 64 * 2**20
_MOST_RATIO = 100

_WINDOW = 2**20
_GZIP_WRAPPER = 31  # window bits of zlib for a gzip header and trailer


def unpack_gzip(data: bytes, name: str) -> bytes:
    """Return what a gzip file holds, its members one after the other.

    Parameters
    ----------
    data
        The whole gzip file.
    name
        What to call it in messages.

    Raises
    ------
    ModelFormatError
        Where it is damaged or cut short, or unpacks to more than 4 GiB, or to more than 64 MiB
        and a hundred times its own size.
    """
    most = min(MOST_UNPACKED, max(_FREE_BYTES, len(data) * _MOST_RATIO))
    pieces: list[bytes] = []
    size = 0
    rest = memoryview(data)
    while rest[:2] == GZIP_MAGIC:  # whatever follows the last member is padding
        unpacker = zlib.decompressobj(_GZIP_WRAPPER)
        position = 0
        while not unpacker.eof:
            window = unpacker.unconsumed_tail or rest[position : position + _WINDOW]
            if not unpacker.unconsumed_tail:
                position += len(window)
            if not window:
                raise ModelFormatError(f"{name}: is gzip that is cut short. Download it again.")
            try:
                piece = unpacker.decompress(window, _WINDOW)
            except zlib.error:
                raise ModelFormatError(
                    f"{name}: is gzip that is damaged. Download it again."
                ) from None
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise ModelFormatError(
                    f"{name}: is gzip that unpacks to more than {write_bytes(most)} from "
                    f"{write_bytes(len(data))}. If you trust it, unpack it with gunzip first."
                )
        rest = rest[position - len(unpacker.unused_data) :]
    return b"".join(pieces)


def decode_marked_text(data: bytes) -> bytes:
    """Return text as UTF-8 without a byte order mark; UTF-16 is known by its mark."""
    if data.startswith(codecs.BOM_UTF8):
        return data[len(codecs.BOM_UTF8) :]
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode("utf-8", "surrogatepass")
    return data
