"""Whether a model says the same whichever way its file and its graphs are read."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from netloupe.explorer.readers.onnx import model as reader
from netloupe.explorer.readers.protobuf.parts import SMALL_MESSAGE_BYTES
from netloupe.explorer.readers.source import WHOLE_BYTES
from tests.readers.test_columns import columns_from, facts_of
from tests.thresholds import threshold

NEVER = 2**40
#: files of more bytes are scanned, and messages of more in them; graphs of so many nodes are read
#: by columns, and of so many not kept as messages
WAYS = (
    (WHOLE_BYTES, SMALL_MESSAGE_BYTES, 0, 0),
    (NEVER, SMALL_MESSAGE_BYTES, 0, NEVER),
    (-1, 0, NEVER, NEVER),
    (-1, SMALL_MESSAGE_BYTES, reader.MANY_NODES, NEVER),
)


@contextmanager
def collector_off() -> Iterator[None]:
    """Search for no garbage among facts: a quarter of the time, and all of them are kept."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@collector_off()
def list_read_by_columns(path: Path) -> list[list[bool]]:
    """Compare each way with a file read whole, node by node; tell which graphs were in columns."""
    with threshold(NEVER), columns_from(NEVER):
        expected = facts_of(path)
    read = []
    for size, small, least, packed in WAYS:
        with threshold(size, small), columns_from(least, packed) as done:
            assert facts_of(path) == expected, (size, small, least, packed)
        read.append(done)
    return read
