"""Pictures are the same with inferred types and without, whatever is installed."""

from __future__ import annotations

import pytest

from netloupe.explorer.readers.load import load
from tests.corpus import LIGHT_MODELS, corpus_file, light_file

NAMES = (LIGHT_MODELS[0], "exported/gpt2.legacy.onnx", "exported/lstm.legacy-functions.onnx")


@pytest.mark.parametrize("name", NAMES)
def test_pictures_of_a_model_know_nothing_of_inferred_types(name: str) -> None:
    path = light_file(name) if name in LIGHT_MODELS else corpus_file(name)
    plain, inferred = load(path), load(path, infer_shapes=True)
    assert any(graph._inferred_types for graph in inferred.graphs)
    for expand in ("auto", "all"):
        assert inferred.to_svg(expand=expand) == plain.to_svg(expand=expand)
    assert inferred.to_dot().source == plain.to_dot().source
