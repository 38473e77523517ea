"""Blocks: columns of numbers and texts, compressed, that a page reads when it needs them.

A block is deflated (RFC 1951, as ``DecompressionStream("deflate-raw")`` reads it) and, in a page,
written in base64. Unpacked it is a JSON object in UTF-8, a line feed, and columns one behind the
other. The object says of each column its name, ``kind`` and ``bytes``: ``i8``, ``i16`` and
``i32`` are signed little-endian integers, ``d8``, ``d16`` and ``d32`` the steps from each to the
next, the first from 0, ``json`` is any value, ``texts`` are texts one behind the other: how many
code units of UTF-16 each has is a column of integers of the same name with ``_lengths`` behind.
Texts that UTF-8 cannot write are a ``json`` list. Columns are padded to multiples of four bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netloupe.explorer.render.json_text import write_json

_WIDTHS = ((8, np.int8), (16, np.int16), (32, np.int32))
_ALIGNMENT = 4
_LEVEL = 7


def write_block(
    integers: Mapping[str, Sequence[int] | NDArray[Any]],
    values: Mapping[str, Any],
    texts: Sequence[str] | None = None,
) -> bytes:
    """Return a block, compressed.

    Parameters
    ----------
    integers
        Columns of integers by their names, each of at most 32 bits; each is written in as few
        bytes a number as all of it fits in.
    values
        Other columns, as JSON writes them.
    texts
        The column ``texts``; none where None.

    Raises
    ------
    OverflowError
        For an integer of more than 32 bits.
    """
    columns: list[tuple[str, str, bytes]] = []
    if texts is not None:
        try:
            columns.append(("texts", "texts", "".join(texts).encode()))
        except UnicodeEncodeError:  # half a surrogate pair
            values = {**values, "texts": texts}
        else:
            integers = {**integers, "texts_lengths": _measure_texts(texts)}
    columns += [(name, *_write_integers(name, column)) for name, column in integers.items()]
    columns += [(name, "json", write_json(value)) for name, value in values.items()]
    header = [
        {"name": name, "kind": kind, "bytes": len(content)} for name, kind, content in columns
    ]
    written = [write_json({"columns": header}), b"\n"]
    for _, _, content in columns:
        written += [content, b"\0" * (-len(content) % _ALIGNMENT)]
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return b"".join([*map(compressor.compress, written), compressor.flush()])


def _measure_texts(texts: Sequence[str]) -> list[int]:
    """Return how many code units of UTF-16 each text has."""
    return [len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2 for text in texts]


def _write_integers(name: str, column: Sequence[int] | NDArray[Any]) -> tuple[str, bytes]:
    """Return a column as it is or by its steps, whichever is the shorter once compressed."""
    numbers = np.asarray(column, np.int64).ravel()
    plain = _narrow(numbers, "i")
    if plain is None:
        raise OverflowError(f"column {name!r} holds a number of more than 32 bits")
    steps = _narrow(np.diff(numbers, prepend=0), "d")
    if steps is None or _measure(plain[1]) <= _measure(steps[1]):
        return plain
    return steps


def _narrow(numbers: NDArray[np.int64], kind: str) -> tuple[str, bytes] | None:
    low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    for bits, dtype in _WIDTHS:
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return f"{kind}{bits}", numbers.astype(np.dtype(dtype).newbyteorder("<")).tobytes()
    return None


def _measure(column: bytes) -> int:
    return len(zlib.compress(column, 1))
