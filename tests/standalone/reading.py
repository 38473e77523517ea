"""Reads blocks by the description of their format alone."""

from __future__ import annotations

import json
import zlib
from itertools import accumulate
from typing import Any

import numpy as np


def read_block(block: bytes) -> tuple[dict[str, list[int]], dict[str, Any]]:
    """Return the columns of integers of a block, and its other columns."""
    content = zlib.decompress(block, -15)
    end = content.index(b"\n")
    at = end + 1
    integers: dict[str, list[int]] = {}
    values: dict[str, Any] = {}
    for column in json.loads(content[:end])["columns"]:
        part = content[at : at + column["bytes"]]
        kind = column["kind"]
        if kind == "json":
            values[column["name"]] = json.loads(part)
        elif kind == "texts":
            values[column["name"]] = part.decode().encode("utf-16-le")
        else:
            numbers = np.frombuffer(part, f"<i{int(kind[1:]) // 8}").tolist()
            integers[column["name"]] = [*accumulate(numbers)] if kind[0] == "d" else numbers
        at += len(part) + -len(part) % 4
    assert at == len(content)
    if "texts_lengths" in integers:
        whole = values["texts"]
        ends = [2 * end for end in accumulate(integers.pop("texts_lengths"))]
        assert ends[-1:] in ([len(whole)], [])
        values["texts"] = [
            whole[start:end].decode("utf-16-le")
            for start, end in zip([0, *ends], ends, strict=False)
        ]
    return integers, values
