"""Pictures are the same with inferred types and without, whatever is installed."""

from __future__ import annotations

import pytest

from netloupe.explorer.model.graph import get_inferred_types
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.picture import make_picture, render_picture
from netloupe.explorer.view import ViewOptions
from tests.corpus import LIGHT_MODELS, corpus_file, light_file

NAMES = (LIGHT_MODELS[0], "exported/gpt2.legacy.onnx", "exported/lstm.legacy-functions.onnx")


@pytest.mark.parametrize("name", NAMES)
def test_pictures_of_a_model_know_nothing_of_inferred_types(name: str) -> None:
    path = light_file(name) if name in LIGHT_MODELS else corpus_file(name)
    plain, inferred = load(path), load(path, infer_shapes=True)
    assert any(get_inferred_types(graph) for graph in inferred.graphs)
    for expand in ("auto", "all"):
        # a layout that a busy machine ends early is another one
        options = ViewOptions.parse({"expand": expand})
        pictures = [make_picture(model, options, deadline=600) for model in (inferred, plain)]
        one, other = (render_picture(picture, "svg") for picture in pictures)
        is_same = one == other  # long texts are not to be held against each other by pytest
        assert is_same, expand
    assert inferred.to_dot().source == plain.to_dot().source
