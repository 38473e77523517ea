"""Categories of operators."""

import onnx
import onnx.parser
import pytest

from netloupe.explorer.model import Model
from netloupe.explorer.operators import schemas
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.category import CATEGORIES, category_of, category_of_operator


@pytest.mark.parametrize(
    ("domain", "op_type", "category"),
    [
        ("", "Conv", "weights"),
        ("", "Relu", "activation"),
        ("", "LayerNormalization", "norm"),
        ("", "Transpose", "plain"),
        ("", "Add", "plain"),
        ("", "Resize", "resample"),
        ("", "DepthToSpace", "resample"),
        ("", "ReduceMean", "resample"),
        ("", "GridSample", "lookup"),
        ("", "LSTM", "recurrent"),
        ("", "Softmax", "activation"),
        ("", "DFT", "plain"),
        ("", "QuantizeLinear", "plain"),
        ("", "QLinearConv", "weights"),
        ("", "QLinearMatMul", "weights"),
        ("ai.onnx.ml", "Scaler", "weights"),
        ("ai.onnx.ml", "ZipMap", "plain"),
        ("com.microsoft", "MultiHeadAttention", "attention"),
        ("com.microsoft", "QLinearAdd", "plain"),
        ("com.microsoft", "QLinearSigmoid", "activation"),
        ("", "SpatialBN", "norm"),
        ("", "Int8FC", "weights"),
        ("", "ConvGradient", "plain"),
        ("example", "MyFancyConv2d", "weights"),
        ("example", "Frobnicate", "plain"),
        ("example", "x" * 100_000, "plain"),
    ],
)
def test_category_of_an_operator(domain: str, op_type: str, category: str) -> None:
    assert category_of_operator(domain, op_type) == category


def test_every_operator_of_the_table_has_a_category() -> None:
    for domain, operators in schemas._load_operators().items():
        for op_type in operators:
            assert category_of_operator(domain, op_type) in CATEGORIES


def test_what_has_no_weight_is_not_coloured_as_weights() -> None:
    model: Model = load(
        onnx.parser.parse_model(
            """
            <ir_version: 8, opset_import: ["": 17]>
            g (float[4, 4] x, int64[3] i) => (float[4, 4] y, float[3, 4] z, float[3, 4] t)
            <float[4, 4] w = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}> {
                y = MatMul(x, w)
                s = MatMul(x, x)
                z = Gather(w, i)
                t = Gather(s, i)
            }
            """
        )
    )
    found = [category_of(node) for node in model.graph.nodes]
    assert found == ["weights", "plain", "lookup", "plain"]


def test_a_call_is_plain_unless_its_name_is_an_operators() -> None:
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
    assert [category_of(node) for node in model.graph.nodes] == ["plain", "activation"]
