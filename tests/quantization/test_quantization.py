"""Quantization: one record per value, whatever part of the file says so."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import netloupe
from netloupe.commands.info import format_summary, summarize_model
from netloupe.explorer.describe import add_statistics, describe_path, format_text, to_json
from netloupe.explorer.plots import make_axes
from netloupe.explorer.quantization import (
    find_quantization,
    measure_saturation,
    node_badge,
    summarize_quantization,
)
from netloupe.explorer.tensors import open_elements


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
        "not_quantized": 0,
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


def test_annotations_of_floating_point_are_not_counted_as_quantized():
    model = load(
        [node("Relu", "x", "h"), node("Relu", "h", "i"), node("Relu", "i", "y")],
        {},
        [("x", F, [4])],
        [("y", F, [4])],
        {
            "x": {"finn_datatype": "FLOAT32", "tensor_layout": "['N']"},
            "h": {"finn_datatype": "FLOAT<4,3,7>"},
            "i": {"tensor_layout": "['N']"},
            "y": {"finn_datatype": "FLOAT32", "SCALE_TENSOR": "missing"},
        },
    )
    assert summarize_quantization(model) == {
        "tensors": 2,
        "sources": {"quantization_annotation": 2},
        "not_quantized": 2,
    }
    summary = summarize_model(model)
    text = format_summary(summary, model.graph.dialect)
    assert "quantized  2 values" in text
    assert "annotated  2 values with a type of floating point or a layout alone" in text


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
    assert dynamic.describe() == "uint8 · per tensor · scale not constant"
    weights = find_quantization(model.graph.values["w"])
    assert weights.source == "operands of MatMulInteger"
    assert (weights.scale, weights.zero_point) == (None, 3)
    assert find_quantization(model.graph.values["xs"]) is None


def load_integer_product(multiplications, op="MatMulInteger"):
    """Load x → DynamicQuantizeLinear → product with w → Cast → what is multiplied."""
    return load(
        [
            node("DynamicQuantizeLinear", "x", "xq xs xz"),
            node(op, "xq w xz wz", "p"),
            node("Cast", "p", "c", to=F),
            *multiplications,
        ],
        {
            "w": np.ones((2, 3), np.int8),
            "wz": np.array(1, np.int8),
            "ws": np.array([0.5, 1, 2], np.float32),
            "other": np.array(8, np.float32),
        },
        [("x", F, [2, 2])],
        [("y", F, [2, 3])],
    )


@pytest.mark.parametrize("op", ["MatMulInteger", "ConvInteger"])
@pytest.mark.parametrize(
    "multiplications",
    [
        [node("Mul", "xs ws", "s"), node("Mul", "c s", "y")],
        [node("Mul", "ws xs", "s"), node("Mul", "s c", "y")],
        [node("Mul", "c xs", "m"), node("Mul", "m ws", "y")],
        [node("Mul", "ws c", "m"), node("Mul", "m xs", "y")],
    ],
)
def test_the_mul_behind_an_integer_product_tells_the_scale_of_the_weights(op, multiplications):
    weights = find_quantization(load_integer_product(multiplications, op).graph.values["w"])
    np.testing.assert_array_equal(weights.scale, [0.5, 1, 2])
    assert (weights.zero_point, weights.granularity) == (1, "per channel")
    assert weights.axis == (0 if op == "ConvInteger" else 1)
    np.testing.assert_array_equal(weights.real_range[1], [63, 126, 252])


@pytest.mark.parametrize(
    "multiplications",
    [
        [node("Mul", "c other", "y")],  # no factor is the scale of the activations
        [node("Mul", "c ws", "m"), node("Mul", "m other", "y")],
        [node("Mul", "xs ws", "s"), node("Mul", "s other", "t"), node("Mul", "c t", "y")],
        [node("Mul", "c c", "y")],
        [node("Mul", "c xs", "y")],
        [node("Mul", "xs ws", "s"), node("Add", "c s", "y")],
        [node("Mul", "c xs", "m"), node("Mul", "m ws", "y"), node("Relu", "p", "q")],
    ],
)
def test_a_scale_that_cannot_be_told_is_not_guessed(multiplications):
    weights = find_quantization(load_integer_product(multiplications).graph.values["w"])
    assert weights.scale is weights.scale_value is None
    assert weights.granularity == "per tensor"  # the zero point tells it
    assert weights.describe() == "int8 · per tensor · scale not given"


def pack(codes, bits):
    """Pack rows of codes into bytes, the lowest bits first."""
    per_byte = 8 // bits
    width = -(-codes.shape[-1] // per_byte) * per_byte
    padded = np.zeros((*codes.shape[:-1], width), np.uint8)
    padded[..., : codes.shape[-1]] = codes
    packed = np.zeros((*codes.shape[:-1], width // per_byte), np.uint8)
    for place in range(per_byte):
        packed |= padded[..., place::per_byte] << np.uint8(place * bits)
    return packed


def load_matmul_nbits(codes, bits, block_size=16, op="MatMulNBits", **attributes):
    """Load a MatMulNBits with these weights; what fills the last block is all ones."""
    rows, width = codes.shape
    blocks = -(-width // block_size)
    filled = np.full((rows, blocks * block_size), 2**bits - 1, np.uint8)
    filled[:, :width] = codes
    given = {"bits": bits, "block_size": block_size, "K": width, "N": rows, **attributes}
    bits = 4 if bits == 3 else bits
    return load(
        [node(op, "x w s z", "y", MS, **given)],
        {
            "w": pack(filled, bits).reshape(rows, blocks, -1),
            "s": np.full((rows, blocks), 0.5, np.float32),
            "z": pack(np.arange(rows * blocks, dtype=np.uint8).reshape(rows, blocks) % 3, bits),
        },
        [("x", F, [1, width])],
        [("y", F, [1, rows])],
    )


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("width", [16, 32, 30, 33, 1])
def test_packed_weights_are_taken_apart_and_padding_is_left_out(bits, width):
    codes = np.random.default_rng(width).integers(0, 2**bits, (5, width)).astype(np.uint8)
    model = load_matmul_nbits(codes, bits)
    unpacked = model.quantization("w").unpacked
    assert (unpacked.dtype.name, unpacked.dims) == (f"uint{bits}", (5, width))
    np.testing.assert_array_equal(unpacked.numpy().astype(np.uint8), codes)
    histogram = unpacked.histogram(bins=2**bits, value_range=(-0.5, 2**bits - 0.5))
    np.testing.assert_array_equal(histogram.counts, np.bincount(codes.ravel(), minlength=2**bits))
    channel = unpacked.statistics(axis=0, channel=3)
    assert (channel.count, channel.maximum) == (width, codes[3].max())
    zero_points = describe_path(model, "z").tensor
    assert zero_points.dims == (5, -(-width // 16))
    np.testing.assert_array_equal(
        zero_points.numpy().astype(np.uint8).ravel(), np.arange(zero_points.size) % 3
    )


@pytest.mark.parametrize(("start", "stop"), [(0, 0), (0, 7), (3, 5), (5, 40), (29, 31), (7, 150)])
def test_any_run_of_packed_numbers_can_be_taken(start, stop):
    codes = np.random.default_rng(0).integers(0, 16, (5, 30)).astype(np.uint8)
    unpacked = load_matmul_nbits(codes, 4).quantization("w").unpacked
    taken = open_elements(unpacked).take(start, stop)
    np.testing.assert_array_equal(taken.astype(np.uint8), codes.ravel()[start:stop])


def test_packed_weights_are_described_by_their_numbers_and_not_by_their_bytes():
    codes = np.random.default_rng(0).integers(0, 16, (96, 96)).astype(np.uint8)
    model = load_matmul_nbits(codes, 4, 32)
    text = format_text(add_statistics(describe_path(model, "w")))
    assert "holds packed  uint4[96, 96]  (9,216 numbers of 4 bits)" in text
    assert "max             15\n" in text
    assert "9,200 more]" in text
    told = to_json(describe_path(model, "w"))
    assert told["unpacked"] == {"dtype": "uint4", "dims": [96, 96]}
    assert (told["dims"], told["statistics"]["maximum"]) == ([96, 3, 16], 15)
    assert sum(told["histogram"]["counts"]) == 9216


def test_a_plot_of_packed_weights_draws_their_numbers():
    codes = np.full((4, 32), 5, np.uint8)
    model = load(
        [node("MatMulNBits", "x w s", "y", MS, bits=4, block_size=32, K=32, N=4)],
        {"w": pack(codes, 4).reshape(4, 1, 16), "s": np.ones((4, 1), np.float32)},
        [("x", F, [1, 32])],
    )
    tensor = model["w"]
    axes = tensor.plot(make_axes("light"), quantization=model.quantization(tensor))
    assert sum(patch.get_height() for patch in axes.patches) == codes.size
    assert any("zero point 8" in text.get_text() for text in axes.texts)


@pytest.mark.parametrize("attributes", [{"bits": 3}, {"weight_prepacked": 1}, {"N": 7}, {"K": 0}])
def test_bytes_of_an_unknown_layout_stay_bytes_without_a_zero_point(attributes):
    model = load_matmul_nbits(np.zeros((5, 32), np.uint8), **{"bits": 4, **attributes})
    found = model.quantization("w")
    assert found.is_packed
    assert found.unpacked is None
    assert describe_path(model, "w").tensor is model["w"]
    axes = model["w"].plot(make_axes("light"), quantization=found)
    assert not any("zero point" in text.get_text() for text in axes.texts)
    assert measure_saturation(open_elements(model["w"]), found) is None


@pytest.mark.parametrize(
    ("op", "names", "rows"),
    [
        ("MatMulNBitsMlp", "x  n w s  w2 s2", {"w": "N", "w2": "N"}),
        ("MatMulNBitsQkv", "x  n w s  w2 s2  w3 s3", {"w": "Nq", "w2": "Nkv", "w3": "Nkv"}),
    ],
)
def test_fused_operators_hold_several_packed_weights(op, names, rows):
    counts = {"N": 6, "Nq": 6, "Nkv": 2}
    constants = {}
    for name, attribute in rows.items():
        codes = np.full((counts[attribute], 32), 9, np.uint8)
        constants[name] = pack(codes, 4).reshape(-1, 2, 8)
        constants[name.replace("w", "s")] = np.ones((counts[attribute], 2), np.float32)
    given = {key: counts[key] for key in set(rows.values())}
    fused = helper.make_node(
        op, names.split(" "), ["y"], domain=MS, K=32, block_size=16, bits=4, **given
    )
    model = load([fused], constants, [("x", F, [1, 32]), ("n", F, [32])])
    for name, attribute in rows.items():
        found = model.quantization(name)
        assert found.unpacked.dims == (counts[attribute], 32)
        assert found.unpacked.statistics().minimum == 9
        assert (found.zero_point, found.granularity) == (8, "per block")


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_gather_block_quantized_packs_its_last_axis(bits):
    codes = np.random.default_rng(0).integers(0, 2**bits, (7, 2, 32)).astype(np.uint8)
    model = load(
        [node("GatherBlockQuantized", "w i s", "y", MS, bits=bits, block_size=16)],
        {"w": pack(codes, bits), "s": np.ones((7, 2, 2), np.float32)},
        [("i", TensorProto.INT64, [1])],
    )
    found = model.quantization("w")
    np.testing.assert_array_equal(found.unpacked.numpy().astype(np.uint8), codes)
    assert found.zero_point == 2 ** (bits - 1)


def test_ends_of_ranges_are_in_order_and_have_no_digits_of_chance():
    model = load(
        [node("DequantizeLinear", "w s", "y", axis=1), node("Relu", "y", "o")],
        {"w": np.ones((2, 3), np.int8), "s": np.array([0.1, -0.3, 0.7], np.float32)},
        outputs=[("o", F, [2, 3])],
    )
    rows = {
        row.name: row.value
        for section in describe_path(model, "w").sections
        for row in section.rows
    }
    assert rows["lowest, each"] == "[-12.8, -38.1, -89.6]"
    assert rows["highest, each"] == "[12.7, 38.4, 88.9]"
    assert rows["real range"] == "-89.6 … 88.9"
    assert model.quantization("w").describe().endswith("[-89.6, 88.9]")


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("has_zero_point", [True, False])
def test_matmul_nbits(bits, has_zero_point):
    rows, blocks = 3, 5
    codes = np.random.default_rng(0).integers(0, 2**bits, (rows, blocks)).astype(np.uint8)
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
            "z": pack(codes, bits).reshape(-1),
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
