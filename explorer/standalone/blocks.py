"""Blocks: columns of numbers and texts, compressed, that a page reads when it needs them.

A block is deflated (RFC 1951, as ``DecompressionStream("deflate-raw")`` reads it) and, in a page,
written in base64. Unpacked it is a JSON object in UTF-8, a line feed, and columns one behind the
other. The object says of each column its name, ``kind`` and ``bytes``: ``i8``, ``i16`` and
``i32`` are signed little-endian integers, ``json`` is any value. A column of integers is padded
to whole multiples of four bytes from the beginning of the columns.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_KINDS = (("i8", np.int8), ("i16", np.int16), ("i32", np.int32))
_ALIGNMENT = 4
_LEVEL = 9


def write_block(
    integers: Mapping[str, Sequence[int] | NDArray[Any]], values: Mapping[str, Any]
) -> bytes:
    """Return a block, compressed.

    Parameters
    ----------
    integers
        Columns of integers by their names, each of at most 32 bits; each is written in as few
        bytes a number as all of it fits in.
    values
        Other columns, as JSON writes them.

    Raises
    ------
    OverflowError
        For an integer of more than 32 bits.
    """
    columns = [(name, *_write_integers(name, column)) for name, column in integers.items()]
    columns += [(name, "json", write_json(value)) for name, value in values.items()]
    header = [
        {"name": name, "kind": kind, "bytes": len(content)} for name, kind, content in columns
    ]
    written = [write_json({"columns": header}), b"\n"]
    for _, _, content in columns:
        written += [content, b"\0" * (-len(content) % _ALIGNMENT)]
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return b"".join([*map(compressor.compress, written), compressor.flush()])


def _write_integers(name: str, column: Sequence[int] | NDArray[Any]) -> tuple[str, bytes]:
    numbers = np.asarray(column, np.int64).ravel()
    low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    for kind, dtype in _KINDS:
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return kind, numbers.astype(np.dtype(dtype).newbyteorder("<")).tobytes()
    raise OverflowError(f"column {name!r} holds a number of more than 32 bits")


def write_json(value: Any) -> bytes:
    """Return a value as JSON in UTF-8, without white space."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which only an escape can write
        return json.dumps(value, separators=(",", ":")).encode()
