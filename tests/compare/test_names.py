"""Elements of a model for names from elsewhere."""

from __future__ import annotations

import pytest
from onnx import parser

from netloupe.explorer.compare import match_names
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from tests.compare.networks import make_layers, make_nested


@pytest.fixture(scope="module")
def layers() -> Model:
    return load(make_layers(3))


@pytest.mark.parametrize(
    ("name", "path", "key"),
    [
        ("main/layers.1/fc/MatMul", "main/layers.1/fc/MatMul", "path"),
        ("main/%h1", "main/%h1", "path"),
        ("/layers.1/fc/MatMul", "main/layers.1/fc/MatMul", "node name"),
        ("/layers.1/m", "main/%/layers.1/m", "output"),
        ("ids", "main/%ids", "output"),
        ("layers.2.fc.bias", "main/%layers.2.fc.bias", "tensor"),
        ("main/layers.1/", "main/layers.1/", "group"),
        ("layers.1", "main/layers.1/", "group"),
        ("LAYERS.1.FC.MatMul", "main/layers.1/fc/MatMul", "normalised"),
        ("layers/2/fc/bias", "main/%layers.2.fc.bias", "normalised"),
        ("Layers/0/M", "main/%/layers.0/m", "normalised"),
        ("y:0", "main/%y", "normalised"),
    ],
)
def test_names_lead_to_elements_by_the_strongest_key(
    layers: Model, name: str, path: str, key: str
) -> None:
    found = match_names(layers, [name]).found[name]
    assert (found.path, found.key) == (path, key)


def test_names_of_nothing_are_told_and_names_of_several_are_not_placed() -> None:
    model = load(
        parser.parse_model("""
            <ir_version: 10, opset_import: ["" : 21]>
            main (float[n] x) => (float[n] y)
            { [twice] a = Relu (x) [twice] b = Tanh (a) [Same] c = Exp (b) [same] y = Neg (c) }
        """)
    )
    result = match_names(model, ["twice", "nothing", "SAME", "twice", "", "/"])
    assert not result.found
    assert result.missing == ["nothing", "", "/"]
    assert result.ambiguous == {
        "twice": ("main/twice", "main/twice#2"),
        "SAME": ("main/Same", "main/same"),
    }


def test_names_that_differ_only_in_how_they_are_written_are_not_placed_both(
    layers: Model,
) -> None:
    result = match_names(layers, ["LAYERS.1.FC.MATMUL", "Layers/1/fc/MatMul"])
    assert not result.found
    assert [*result.ambiguous] == ["LAYERS.1.FC.MATMUL", "Layers/1/fc/MatMul"]


def test_names_inside_subgraphs_and_functions_are_found() -> None:
    found = match_names(load(make_nested()), ["twice", "inner", "is_positive"]).found
    assert found["twice"].path == "main/choice.then_branch/twice"
    assert found["inner"].path == "functions/local::Scaled/inner"
    assert found["is_positive"].key == "output"
