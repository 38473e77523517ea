"""Families of operators."""

import onnx
import onnx.parser
import pytest

from netloupe.explorer.model import Model
from netloupe.explorer.operators import schemas
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.category import FAMILIES, category_of, category_of_operator


@pytest.mark.parametrize(
    ("domain", "op_type", "family"),
    [
        ("", "Conv", "linear"),
        ("", "Relu", "activation"),
        ("", "LayerNormalization", "normalization"),
        ("", "Transpose", "shape"),
        ("", "Add", "elementwise"),
        ("", "QLinearConv", "quantization"),
        ("ai.onnx.ml", "Scaler", "classical"),
        ("com.microsoft", "MultiHeadAttention", "attention"),
        ("com.microsoft", "QLinearAdd", "quantization"),
        ("", "SpatialBN", "normalization"),
        ("", "Int8FC", "quantization"),
        ("", "ConvGradient", "training"),
        ("example", "MyFancyConv2d", "linear"),
        ("example", "Frobnicate", "other"),
        ("example", "x" * 100_000, "other"),
    ],
)
def test_family_of_an_operator(domain: str, op_type: str, family: str) -> None:
    assert category_of_operator(domain, op_type) == family


def test_every_operator_of_the_table_has_a_family() -> None:
    for domain, operators in schemas._load_operators().items():
        for op_type in operators:
            family = category_of_operator(domain, op_type)
            assert family in FAMILIES
            assert family != "other", (domain, op_type)


def test_a_call_is_a_function_unless_its_name_is_an_operators() -> None:
    model: Model = load(
        onnx.parser.parse_model(
            """
            <ir_version: 8, opset_import: ["": 17, "local": 1]>
            g (float[N] x) => (float[N] y) { t = local.Block(x) y = local.Gelu(t) }
            <domain: "local", opset_import: ["": 17]> Block (a) => (b) { b = Relu(a) }
            <domain: "local", opset_import: ["": 17]> Gelu (a) => (b) { b = Relu(a) }
            """
        )
    )
    assert [category_of(node) for node in model.graph.nodes] == ["function", "activation"]
