"""Every model of the tests says the same whichever way its file and its graphs are read."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from netloupe.explorer.readers.onnx import model as reader
from netloupe.explorer.readers.protobuf.parts import SMALL_MESSAGE_BYTES
from netloupe.explorer.readers.source import WHOLE_BYTES
from tests.corpus import LIGHT_MODELS, MADE, corpus_file, light_file, list_only_beside
from tests.readers.test_columns import columns_from, facts_of
from tests.thresholds import threshold

MODELS = [name for name in MADE if name.endswith(".onnx")] + list_only_beside("*/*.onnx")
#: exports of torch by both of its exporters, of other nodes and sizes
LARGE = ["exported/clip.dynamo.onnx", "exported/clip.legacy.onnx", "exported/unet.dynamo.onnx"]
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


@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_models_of_the_onnx_package(name: str) -> None:
    packed, by_columns, one_by_one, _ = list_read_by_columns(light_file(name))
    assert (packed, by_columns, one_by_one) == ([True], [True], [])


@pytest.mark.parametrize("name", MODELS)
def test_models_of_the_corpus(name: str) -> None:
    list_read_by_columns(corpus_file(name))


@pytest.mark.parametrize("name", LARGE)
def test_large_files_read_whole_and_by_their_size(name: str) -> None:
    """Ways that of files small enough to be read whole are one of the others."""
    path = corpus_file(name)
    assert path.stat().st_size > WHOLE_BYTES
    with threshold(NEVER), columns_from(NEVER):
        expected = facts_of(path)
    for size, least in ((NEVER, reader.MANY_NODES), (WHOLE_BYTES, NEVER)):
        with threshold(size), columns_from(least):
            assert facts_of(path) == expected, (size, least)
