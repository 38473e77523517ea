"""Every export of torch says the same whichever way its file and its graphs are read."""

from __future__ import annotations

import pytest

from netloupe.explorer.readers.onnx import model as reader
from netloupe.explorer.readers.source import WHOLE_BYTES
from tests.corpus import MADE, corpus_file
from tests.readers.every_way import NEVER, list_read_by_columns
from tests.readers.test_columns import columns_from, facts_of
from tests.thresholds import threshold

MODELS = [name for name in MADE if name.endswith(".onnx") and name.startswith("exported/")]
#: by both of torch's exporters, of other nodes and sizes
LARGE = ["exported/clip.dynamo.onnx", "exported/clip.legacy.onnx", "exported/unet.dynamo.onnx"]


@pytest.mark.parametrize("name", MODELS)
def test_models_of_the_zoo(name: str) -> None:
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
