"""Quantization: one record per value, whatever part of the file says so."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import netloupe
from netloupe.explorer.quantization import find_quantization, node_badge, summarize_quantization


def load(nodes, initializers=(), inputs=(), outputs=(), annotations=(), value_info=()):
    """Load a model from nodes and {name: array}; inputs are (name, dtype, shape)."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(*entry) for entry in inputs],
        [helper.make_tensor_value_info(*entry) for entry in outputs],
        [numpy_helper.from_array(array, name) for name, array in dict(initializers).items()],
        value_info=[helper.make_tensor_value_info(*entry) for entry in value_info],
    )
    for tensor, entries in dict(annotations).items():
        annotation = graph.quantization_annotation.add(tensor_name=tensor)
        for key, text in entries.items():
            annotation.quant_parameter_tensor_names.add(key=key, value=text)
    return netloupe.load(helper.make_model(graph))


def node(op, inputs, outputs, domain="", **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), domain=domain, **attributes)


F, U8, I8 = TensorProto.FLOAT, TensorProto.UINT8, TensorProto.INT8


@pytest.fixture(scope="module")
def pairs():
    """Return x → Q → xq → DQ → xd, w8 → DQ → wd, MatMul, as quantizers write it."""
    return load(
        [
            node("QuantizeLinear", "x s z", "xq"),
            node("DequantizeLinear", "xq s z", "xd"),
            node("DequantizeLinear", "w8 ws wz", "wd", axis=-1),
            node("MatMul", "xd wd", "y"),
        ],
        {
            "s": np.array(0.5, np.float32),
            "z": np.array(128, np.uint8),
            "w8": np.ones((4, 3), np.int8),
            "ws": np.array([0.1, 0.2, 0.4], np.float32),
            "wz": np.zeros(3, np.int8),
        },
        [("x", F, [1, 4])],
        [("y", F, [1, 3])],
    )


@pytest.mark.parametrize("name", ["x", "xq", "xd"])
def test_all_values_of_a_pair_have_the_same_record(pairs, name):
    value = pairs.graph.values[name]
    record = find_quantization(value)
    assert record.value is value
    assert record.source == "QuantizeLinear/DequantizeLinear"
    assert record.scale == 0.5
    assert record.zero_point == 128
    assert record.storage.name == "uint8"
    assert (record.axis, record.block_size, record.granularity) == (None, None, "per tensor")
    assert record.real_range == (-64.0, 63.5)
    assert record.scale_value.name == "s"
    assert record.zero_point_value.name == "z"
    assert record.badge == "uint8"
    assert record.describe() == "uint8 · per tensor · [-64, 63.5]"
    assert record.levels.size == 256


@pytest.mark.parametrize("name", ["w8", "wd"])
def test_per_channel(pairs, name):
    record = find_quantization(pairs.graph.values[name])
    low, high = record.real_range
    np.testing.assert_allclose(low, [-12.8, -25.6, -51.2])
    np.testing.assert_allclose(high, [12.7, 25.4, 50.8])
    assert record.granularity == "per channel"
    assert record.badge == "int8 · per channel"
    assert record.levels is None
    if name == "w8":
        assert record.axis == 1
        assert record.describe() == "int8 · per channel (axis 1) · [-51.2, 50.8]"


@pytest.mark.parametrize("name", ["s", "z", "ws", "wz", "y"])
def test_parameters_and_plain_values_have_none(pairs, name):
    assert find_quantization(pairs.graph.values[name]) is None


def test_badges_and_summary(pairs):
    badges = {node.outputs[0].name: node_badge(node) for node in pairs.graph.nodes}
    assert badges == {
        "xq": "uint8",
        "xd": "uint8",
        "wd": "int8 · per channel",
        "y": "int8 · per channel",  # its weights: they lie behind a DequantizeLinear
    }
    assert summarize_quantization(pairs) == {
        "tensors": 5,
        "sources": {"QuantizeLinear/DequantizeLinear": 5},
    }


def test_blocks():
    model = load(
        [node("DequantizeLinear", "w s", "wd", axis=0, block_size=2), node("Relu", "wd", "y")],
        {
            "w": np.ones((4, 3), ml_dtypes.int4),
            "s": np.full((2, 3), 0.5, np.float32),
        },
        outputs=[("y", F, [4, 3])],
    )
    record = find_quantization(model.graph.values["w"])
    assert (record.granularity, record.block_size, record.axis) == ("per block", 2, 0)
    assert record.zero_point is None
    assert record.describe() == "int4 · per block of 2 (axis 0) · [-4, 3.5]"
    assert node_badge(model.graph.nodes[0]) == "int4 · per block"


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({}, "uint8"),
        ({"output_dtype": TensorProto.INT16}, "int16"),
        ({"output_dtype": TensorProto.FLOAT8E4M3FN}, "float8_e4m3fn"),
        ({"output_dtype": TensorProto.INT4}, "int4"),
    ],
)
def test_storage_without_a_zero_point(attributes, expected):
    model = load(
        [node("QuantizeLinear", "x s", "y", **attributes)],
        {"s": np.array([2], np.float32)},
        [("x", F, [4])],
    )
    record = find_quantization(model.graph.values["x"])
    assert record.storage.name == expected
    if expected == "float8_e4m3fn":
        assert record.real_range == (-896.0, 896.0)


def test_scale_from_constant_nodes():
    tensor = numpy_helper.from_array(np.array(3, np.int8))
    model = load(
        [
            node("Constant", "", "s", value_float=0.25),
            node("Constant", "", "z", value=tensor),
            node("QuantizeLinear", "x s z", "y"),
        ],
        inputs=[("x", F, [4])],
    )
    record = find_quantization(model.graph.values["y"])
    assert record.real_range == (-32.75, 31.0)


def test_annotation_resolves_names_and_keeps_other_keys():
    model = load(
        [node("Relu", "x", "h"), node("Relu", "h", "y")],
        {"s": np.array(0.5, np.float32), "z": np.array(1, np.int8)},
        [("x", F, [4])],
        [("y", F, [4])],
        {
            "h": {"SCALE_TENSOR": "s", "ZERO_POINT_TENSOR": "z", "tensor_layout": "NCHW"},
            "x": {"finn_datatype": "INT4"},
            "y": {"SCALE_TENSOR": "missing"},
        },
    )
    record = find_quantization(model.graph.values["h"])
    assert record.source == "quantization_annotation"
    assert record.extra == (("tensor_layout", "NCHW"),)
    assert record.real_range == (-64.5, 63.0)
    assert "tensor_layout=NCHW" in record.describe()
    assert find_quantization(model.graph.values["x"]).badge == "int4"
    missing = find_quantization(model.graph.values["y"])
    assert missing.scale is missing.real_range is missing.granularity is None
    assert summarize_quantization(model)["sources"] == {"quantization_annotation": 3}


def test_annotation_in_a_subgraph_finds_names_outside():
    body = helper.make_graph(
        [node("Relu", "x", "h")], "body", [], [helper.make_tensor_value_info("h", F, [4])]
    )
    annotation = body.quantization_annotation.add(tensor_name="h")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="s")
    model = load(
        [helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)],
        {"s": np.array(0.5, np.float32)},
        [("x", F, [4]), ("c", TensorProto.BOOL, [])],
        [("y", F, [4])],
    )
    inner = next(graph for graph in model.graphs if graph.kind == "subgraph")
    record = find_quantization(inner.values["h"])
    assert record.scale == 0.5
    assert record.scale_value is model.graph.values["s"]


MS = "com.microsoft"
PARAMETERS = {
    **{f"s{i}": np.array(2.0**-i, np.float32) for i in range(4)},
    **{f"z{i}": np.array(i, np.int8) for i in range(4)},
    "sv": np.array([0.5, 1], np.float32),
    "zv": np.zeros(2, np.int8),
    "w": np.ones((2, 2), np.int8),
}
OPERANDS = [
    ("QLinearConv", "", "x s1 z1 w sv zv s2 z2", {"x": 1, "w": "v", "y": 2}, 0),
    ("QLinearMatMul", "", "x s1 z1 w sv zv s2 z2", {"x": 1, "w": "v", "y": 2}, 1),
    ("QLinearAdd", MS, "x s1 z1 w s3 z3 s2 z2", {"x": 1, "w": 3, "y": 2}, None),
    ("QLinearMul", MS, "x s1 z1 w s3 z3 s2 z2", {"x": 1, "w": 3, "y": 2}, None),
    ("QLinearSigmoid", MS, "x s1 z1 s2 z2", {"x": 1, "y": 2}, None),
    ("QLinearSoftmax", MS, "x s1 z1 s2 z2", {"x": 1, "y": 2}, None),
    ("QLinearConcat", MS, "s2 z2 x s1 z1 w s3 z3", {"x": 1, "w": 3, "y": 2}, None),
    ("QLinearWhere", MS, "c x s1 z1 w s3 z3 s2 z2", {"x": 1, "w": 3, "y": 2}, None),
    ("QGemm", MS, "x s1 z1 w sv zv b s2 z2", {"x": 1, "w": "v", "y": 2}, 1),
    ("QAttention", MS, "x w b s1 sv mask z1 zv", {"x": 1, "w": "v"}, 1),
    ("MatMulIntegerToFloat", MS, "x w s1 sv z1 zv", {"x": 1, "w": "v"}, 1),
    ("DynamicQuantizeMatMul", MS, "x w sv zv", {"w": "v"}, 1),
]


@pytest.mark.parametrize(("op", "domain", "inputs", "expected", "axis"), OPERANDS)
def test_operands(op, domain, inputs, expected, axis):
    model = load(
        [node(op, inputs, "y", domain)], PARAMETERS, [("x", I8, [2, 2])], [("y", I8, [2, 2])]
    )
    found = {}
    for name, value in model.graph.values.items():
        record = find_quantization(value)
        if record is not None:
            assert record.source == f"operands of {op}"
            assert record.storage.name == "int8"
            np.testing.assert_array_equal(record.scale, PARAMETERS[record.scale_value.name])
            found[name] = (record.scale_value.name, record.zero_point_value.name)
            if name == "w":
                assert record.axis == axis
    assert found == {name: (f"s{key}", f"z{key}") for name, key in expected.items()}


def test_integer_operators_and_dynamic_quantization():
    model = load(
        [
            node("DynamicQuantizeLinear", "x", "xq xs xz"),
            node("MatMulInteger", "xq w xz z3", "y"),
        ],
        PARAMETERS,
        [("x", F, [2, 2])],
    )
    dynamic = find_quantization(model.graph.values["xq"])
    assert dynamic.source == "operands of DynamicQuantizeLinear"
    assert (dynamic.storage.name, dynamic.scale) == ("uint8", None)
    assert dynamic.scale_value.name == "xs"
    assert dynamic.describe() == "uint8 · scale not constant"
    weights = find_quantization(model.graph.values["w"])
    assert weights.source == "operands of MatMulInteger"
    assert (weights.scale, weights.zero_point) == (None, 3)
    assert find_quantization(model.graph.values["xs"]) is None


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("has_zero_point", [True, False])
def test_matmul_nbits(bits, has_zero_point):
    rows, blocks = 3, 5
    codes = np.random.default_rng(0).integers(0, 2**bits, (rows, blocks)).astype(np.uint8)
    per_byte = 8 // bits
    padded = np.zeros((rows, -(-blocks // per_byte) * per_byte), np.uint8)
    padded[:, :blocks] = codes
    packed = np.zeros((rows, padded.shape[1] // per_byte), np.uint8)
    for place in range(per_byte):
        packed |= padded[:, place::per_byte] << np.uint8(place * bits)
    model = load(
        [
            node(
                "MatMulNBits", "x w s z" if has_zero_point else "x w s", "y", MS,
                bits=bits, block_size=16, K=80, N=rows,
            )
        ],
        {
            "w": np.zeros((rows, blocks, 16 * bits // 8), np.uint8),
            "s": np.full((rows, blocks), 0.5, np.float32),
            "z": packed.reshape(-1),
        },
        [("x", F, [1, 80])],
        [("y", F, [1, rows])],
    )  # fmt: skip
    record = find_quantization(model.graph.values["w"])
    assert record.storage.name == f"uint{bits}"
    assert (record.granularity, record.block_size) == ("per block", 16)
    low, high = record.real_range
    zero_point = codes.astype(float) if has_zero_point else 2 ** (bits - 1)
    np.testing.assert_array_equal(low, np.broadcast_to((0 - zero_point) * 0.5, low.shape))
    np.testing.assert_array_equal(high, low + (2**bits - 1) * 0.5)
    assert node_badge(model.graph.nodes[0]) == f"uint{bits} · per block"


@pytest.mark.parametrize(
    ("inputs", "initializers"),
    [
        ("x", {}),
        ("x missing", {}),
        ("x s", {"s": np.zeros(0, np.float32)}),
        ("x s z", {"s": np.ones(3, np.float32), "z": np.zeros(2, np.uint8)}),
        ("x s z", {"s": np.ones((1, 1), np.float32), "z": np.zeros(1, np.uint8)}),
        ("x s", {"s": np.array(["a"], object)}),
        ("x s", {"s": np.array(1j, np.complex64)}),
        ("x s", {"s": np.array([np.nan, np.inf], np.float32)}),
    ],
)
def test_odd_input_never_raises(inputs, initializers):
    model = load([node("QuantizeLinear", inputs, "y")], initializers, [("x", F, [4])])
    record = find_quantization(model.graph.values["x"])
    assert record.storage.name == "uint8"
    assert record.describe()
    assert node_badge(model.graph.nodes[0])


def test_damaged_scale_data_leave_a_gap():
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18]> g (float[4] x) => (uint8[4] y) '
        "<float s = {1.0}> { y = QuantizeLinear (x, s) }"
    )
    model.graph.initializer[0].dims[:] = [2**40]
    record = find_quantization(netloupe.load(model).graph.values["x"])
    assert record.scale is None
    assert record.scale_value.name == "s"


def test_operators_of_other_domains_are_no_quantization():
    model = load([node("QuantizeLinear", "x s", "y", "my.domain")], inputs=[("x", F, [4])])
    assert find_quantization(model.graph.values["x"]) is None
    assert node_badge(model.graph.nodes[0]) is None
