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
        else:
            numbers = np.frombuffer(part, f"<i{int(kind[1:]) // 8}").tolist()
            integers[column["name"]] = [*accumulate(numbers)] if kind[0] == "d" else numbers
        at += len(part) + -len(part) % 4
    assert at == len(content)
    return integers, values
