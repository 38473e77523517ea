"""Every model of the tests says the same whichever way its file and its graphs are read.

But for exports of torch, of which :mod:`tests.readers.test_every_export` has all.
"""

from __future__ import annotations

import pytest

from tests.corpus import LIGHT_MODELS, MADE, corpus_file, light_file, list_only_beside
from tests.readers.every_way import list_read_by_columns

MODELS = [name for name in MADE if name.endswith(".onnx") and not name.startswith("exported/")]
MODELS += list_only_beside("*/*.onnx")


@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_models_of_the_onnx_package(name: str) -> None:
    packed, by_columns, one_by_one, _ = list_read_by_columns(light_file(name))
    assert (packed, by_columns, one_by_one) == ([True], [True], [])


@pytest.mark.parametrize("name", MODELS)
def test_models_of_the_corpus(name: str) -> None:
    list_read_by_columns(corpus_file(name))
