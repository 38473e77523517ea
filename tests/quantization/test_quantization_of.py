"""Asking a model for a quantization: by value, by tensor, by path or name."""

from __future__ import annotations

import pytest

from netloupe import NetloupeError
from netloupe.explorer.model import SparseTensor, Tensor
from tests.corpus import corpus_file
from tests.onnx_text import load_text

MODEL = """g (float[2] x) => (float[2] y, float[2] z)
<int8[2] w = {1, 2}, float s = {0.5}, int8 p = {3}> {
    [dequantize] f = DequantizeLinear (w, s, p)
    [constant] c = Constant <value = int8[2] {4, 5}> ()
    [other] d = DequantizeLinear (c, s, p)
    [add] y = Add (x, f)
    [sub] z = Sub (x, d)
}"""


def test_all_ways_lead_to_one_record() -> None:
    model = load_text(MODEL)
    value = model.graph.values["w"]
    for element in (value, value.initializer, "main/%w", "w"):
        assert element is not None
        found = model.quantization(element)
        assert found is not None
        assert found.value is value
        assert found.real_range == (-65.5, 62.0)
    assert model.quantization("main/%x") is None


def test_the_tensor_of_a_constant_node() -> None:
    model = load_text(MODEL)
    node = model["main/constant"]
    tensor = node.attributes["value"].value  # type: ignore[union-attr]
    assert isinstance(tensor, Tensor)
    found = model.quantization(tensor)
    assert found is not None
    assert found.value is model.graph.values["c"]


def test_a_sparse_tensor() -> None:
    from netloupe.explorer.readers.load import load

    model = load(corpus_file("features/sparse_initializer.onnx"))
    sparse = model.graph.sparse_initializers[0]
    assert isinstance(sparse, SparseTensor)
    assert model.quantization(sparse) is None
    assert model.quantization(sparse.values) is None


@pytest.mark.parametrize(
    ("element", "words"),
    [
        ("main/%nothing", "no node, value or graph named"),
        ("main/dequantize", "Node 'main/dequantize' .* Give one of its values: 'main/%w', "),
        ("main", "Graph 'main' has no quantization of its own"),
        (3, "int has no quantization of its own. Give a value"),
    ],
)
def test_anything_else_is_a_clear_error(element: object, words: str) -> None:
    with pytest.raises(NetloupeError, match=words):
        load_text(MODEL).quantization(element)  # type: ignore[arg-type]


def test_a_tensor_of_another_model_is_refused() -> None:
    model, other = load_text(MODEL), load_text(MODEL)
    tensor = other.graph.initializers[0]
    with pytest.raises(NetloupeError, match="a constant of this model"):
        model.quantization(tensor)
