"""Reprs are short, HTML reprs are there, whatever the model holds."""

from __future__ import annotations

from typing import Any

import pytest

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.proto import onnx_pb2
from tests.corpus import also_beside, corpus_file
from tests.onnx_text import load_text

MODEL = """g (float[N, 3] x) => (float[N, 3] y) <float[3] w = {1.0, 2.0, 3.0}> {
    [mul] m = Mul (x, w)
    y = LeakyRelu <alpha = 0.5> (m)
}"""


def test_reprs_say_what_a_thing_is() -> None:
    model = load_text(MODEL)
    node = model.graph.nodes[0]
    assert repr(model) == "<Model '<ModelProto>': ONNX, 2 nodes in 1 graph>"
    assert repr(model.graph) == "<Graph 'main', 2 nodes>"
    assert repr(node) == "<Node Mul 'main/mul'>"
    assert repr(node.inputs[0]) == "<Value 'main/%x' float32[N, 3]>"
    assert repr(node.inputs[1].initializer) == "<Tensor 'w' float32[3]>"  # type: ignore[union-attr]
    alpha = model.graph.nodes[1].attributes["alpha"]
    assert repr(alpha) == "<Attribute 'alpha': float = 0.5>"


def check_reprs(model: Model) -> None:
    for graph in model.graphs:
        things: list[Any] = [model, graph, *graph.nodes[:50], *graph.initializers[:50]]
        for thing in things:
            page = thing._repr_html_()
            assert "<script" not in page.lower()
            assert len(page) < 200_000
        for part in (*things, *graph.sparse_initializers, *graph.values.values()):
            assert "\n" not in repr(part)


@pytest.mark.parametrize(
    "name",
    also_beside(
        [
            "hostile/evil_names.onnx",
            "hostile/empty_names.onnx",
            "hostile/attr_oddities.onnx",
            "hostile/invalid_utf8.onnx",
            "hostile/dims_rank64.onnx",
            "hostile/attrs_3000.onnx",
            "hostile/dtype_neg.onnx",
            "features/all_dtypes_raw.onnx",
            "features/sparse_initializer.onnx",
            "features/functions_nested_transformer.onnx",
        ]
    ),
)
def test_reprs_of_odd_models(name: str) -> None:
    check_reprs(load(corpus_file(name)))


def test_reprs_of_a_plain_model() -> None:
    check_reprs(load_text(MODEL))


def test_floats_of_attributes_have_no_digits_of_chance() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    node = proto.graph.node.add(op_type="LeakyRelu", name="act", input=["x"], output=["y"])
    node.attribute.add(name="alpha", type=onnx_pb2.AttributeProto.FLOAT, f=0.01)
    node.attribute.add(name="betas", type=onnx_pb2.AttributeProto.FLOATS, floats=[0.1, 0.25])
    attributes = load(proto.SerializeToString()).graph.nodes[0].attributes
    assert repr(attributes["alpha"]) == "<Attribute 'alpha': float = 0.01>"
    assert repr(attributes["betas"]) == "<Attribute 'betas': floats = (0.1, 0.25)>"
