"""Blocks that are known by how they are wired: residual blocks, fire modules, attention."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.patterns import find_nested_blocks, name_block
from netloupe.explorer.readers.load import load
from netloupe.proto import caffe2_pb2
from tests.corpus import light_file
from tests.grouping.test_repeats import Builder, repeats
from tests.grouping.test_tree import check_tree
from tests.onnx_text import load_text


def blocks(nodes: list[Node]) -> list[tuple[str, list[str]]]:
    """Return the names of the well-known groups among nodes, and the operators in each."""
    return [
        (block.name, [nodes[place].op_type for place in sorted(block.places)])
        for block in find_nested_blocks(nodes)
    ]


def convolve(builder: Builder, x: str, size: int = 3, **attributes: object) -> str:
    return builder.add("Conv", x, builder.weight(), kernel_shape=[size, size], **attributes)


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("activated", [False, True])
def test_a_sum_with_a_shortcut_is_a_residual_block(projected: bool, activated: bool) -> None:
    builder = Builder()
    start = builder.add("MaxPool", "x", kernel_shape=[2, 2])
    main = convolve(builder, builder.add("Relu", convolve(builder, start)))
    shortcut = convolve(builder, start, 1) if projected else start
    y = builder.add("Add", main, shortcut)
    y = builder.add("Relu" if activated else "Flatten", y)
    nodes = builder.load(builder.add("Softmax", y)).nodes
    found = dict(blocks(nodes))
    expected = ["Conv", "Relu", "Conv", *["Conv"] * projected, "Add", *["Relu"] * activated]
    assert found["Residual block"] == expected


def test_what_only_a_residual_block_uses_belongs_to_it() -> None:
    builder = Builder()
    time = builder.add("Tanh", "x")
    start = convolve(builder, "x")
    shift = builder.add("Unsqueeze", builder.add("Gemm", time, builder.weight()), builder.weight())
    main = convolve(builder, builder.add("Add", convolve(builder, start), shift))
    y = builder.add("Add", start, main)
    nodes = builder.load(builder.add("Mul", y, time)).nodes
    (block,) = [ops for name, ops in blocks(nodes) if name == "Residual block"]
    assert sorted(block) == ["Add", "Add", "Conv", "Conv", "Gemm", "Unsqueeze"]


def test_sums_of_branches_and_of_one_convolution_are_no_residual_blocks() -> None:
    builder = Builder()
    left, right = convolve(builder, convolve(builder, "x")), convolve(builder, "x")
    y = builder.add("Add", builder.add("Relu", left), builder.add("Relu", right))
    y = builder.add("Add", y, convolve(builder, y))
    nodes = builder.load(builder.add("Softmax", y)).nodes
    assert "Residual block" not in dict(blocks(nodes))


@pytest.mark.parametrize(
    ("inner", "channels", "group", "name"),
    [
        (64, 1, 64, "Inverted residual"),  # M. Sandler and others, MobileNetV2, 2018, figure 3
        (32, 1, 32, "Residual block"),  # it is not wider inside
        (64, 8, 8, "Residual block"),
        (64, 64, 1, "Residual block"),
    ],
)
def test_a_block_is_inverted_that_is_wider_inside_and_takes_each_channel_alone(
    inner: int, channels: int, group: int, name: str
) -> None:
    shapes = {"e": (inner, 32, 1, 1), "w": (inner, channels, 3, 3), "p": (32, inner, 1, 1)}
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Conv", ["a", "e"], ["b"]),
        helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("Conv", ["c", "w"], ["d"], group=group),
        helper.make_node("Conv", ["d", "p"], ["f"]),
        helper.make_node("Add", ["a", "f"], ["y"]),
        helper.make_node("Softmax", ["y"], ["z"]),
    ]
    info = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, None) for n in "xz"]
    tensors = [numpy_helper.from_array(np.zeros(dims, "f"), key) for key, dims in shapes.items()]
    model = helper.make_model(helper.make_graph(nodes, "", info[:1], info[1:], tensors))
    graph = load(model.SerializeToString()).graph
    found = {block.name: len(block.places) for block in find_nested_blocks(graph.nodes)}
    assert found[name] == 5
    assert not {"Inverted residual", "Residual block"} - {name} & found.keys()


def test_long_chains_of_sums_are_bounded() -> None:
    builder = Builder()
    x = "x"
    for _ in range(3000):
        x = builder.add("Add", x, builder.add("Relu", x))
    assert blocks(builder.load(x).nodes) == []


def fire(builder: Builder, x: str) -> str:
    squeezed = builder.add("Relu", convolve(builder, x, 1))
    twins = [builder.add("Relu", convolve(builder, squeezed, size)) for size in (1, 3)]
    return builder.add("Concat", *twins, axis=1)


def test_names_of_blocks_that_concatenate() -> None:
    builder = Builder()
    assert name_block(builder.load(fire(builder, "x")).nodes) == "Fire module"
    builder = Builder()
    y = builder.add("Concat", "x", convolve(builder, convolve(builder, "x", 1)), axis=1)
    assert name_block(builder.load(y).nodes) == "Dense layer"
    builder = Builder()
    y = builder.add("Concat", convolve(builder, convolve(builder, "x")), convolve(builder, "x"))
    assert name_block(builder.load(y).nodes) == "Convolution block"


def test_what_is_added_to_a_part_of_the_channels_is_no_dense_layer() -> None:
    builder = Builder()
    before = convolve(builder, "x")
    added = convolve(builder, builder.add("Add", before, convolve(builder, "x")))
    y = builder.add("Relu", builder.add("Concat", before, added, axis=1))
    assert name_block(builder.load(y).nodes) != "Dense layer"


def test_a_norm_before_reshaped_projections_is_not_part_of_the_attention() -> None:
    builder = Builder()
    normed = builder.add("LayerNormalization", "x", builder.weight())
    rows = builder.add("Reshape", normed, builder.weight())
    q, k, v = (builder.add("Transpose", builder.add("Gemm", rows, builder.weight())) for _ in "qkv")
    scores = builder.add("Softmax", builder.add("MatMul", q, k))
    y = builder.add("MatMul", builder.add("MatMul", scores, v), builder.weight())
    nodes = builder.load(builder.add("Add", "x", y)).nodes
    assert "LayerNormalization" not in dict(blocks(nodes))["Attention"]


def test_attention_is_told_through_quantization() -> None:
    builder = Builder()

    def quantized(x: str) -> str:
        x = builder.add("QuantizeLinear", x, builder.weight())
        return builder.add("DequantizeLinear", x, builder.weight())

    def project(x: str) -> str:
        weight = builder.add("DequantizeLinear", builder.weight(), builder.weight())
        return builder.add("MatMul", x, weight)

    x = quantized("x")
    q, k, v = (quantized(project(x)) for _ in "qkv")
    scores = quantized(builder.add("Div", quantized(builder.add("MatMul", q, k)), builder.weight()))
    weights = quantized(builder.add("Softmax", scores))
    y = project(quantized(builder.add("MatMul", weights, v)))
    nodes = builder.load(builder.add("Add", "x", y)).nodes
    assert dict(blocks(nodes))["Attention"].count("MatMul") == 6


def make_net(*operators: tuple[str, str, str, dict[str, float]]) -> Graph:
    net = caffe2_pb2.NetDef(name="net", external_input=["data"])
    for op_type, taken, given, arguments in operators:
        operator = net.op.add(type=op_type, input=[taken, "w"], output=[given])
        for name, number in arguments.items():
            operator.arg.add(name=name, f=number)
    net.external_input.append("w")
    net.external_output.append(operators[-1][2])
    return load(net.SerializeToString()).graph


@pytest.mark.parametrize(("argument", "count"), [("Y_scale", 1), ("alpha", 0)])
def test_scales_of_caffe2_are_no_structure(argument: str, count: int) -> None:
    types = ["Int8Conv", "Int8Relu", "Int8AveragePool", "Int8Quantize"] * 6
    graph = make_net(
        *[
            (op_type, f"blob{n - 1}" if n else "data", f"blob{n}", {argument: n + 0.5})
            for n, op_type in enumerate(types)
        ]
    )
    tree = build_group_tree(graph, "repeats")
    check_tree(tree)
    assert len(list(repeats(tree))) == count


def test_blobs_that_are_written_again_by_others_name_nothing() -> None:
    slots = ["res1_0_a", "res1_0_b", "res2_0_a", "res2_0_b"]
    names = ["data", *[slots[n * 7 % 4] for n in range(40)]]
    graph = make_net(*[("Relu", names[n], names[n + 1], {}) for n in range(40)])
    tree = build_group_tree(graph, "names")
    assert all(isinstance(child, Node) for child in tree.root.children)
    fresh = ["data", *[f"res{n // 4}_0_{'abcd'[n % 4]}" for n in range(40)]]
    tree = build_group_tree(
        make_net(*[("Relu", fresh[n], fresh[n + 1], {}) for n in range(40)]), "names"
    )
    assert any(isinstance(child, Group) for child in tree.root.children)


def test_an_mlp_of_many_layers_is_one_block() -> None:
    graph = load(light_file("light_bvlc_alexnet.onnx")).graph
    (places,) = [block.places for block in find_nested_blocks(graph.nodes) if block.name == "MLP"]
    ops = [graph.nodes[place].op_type for place in sorted(places)]
    ops = [op for op in ops if op not in ("Constant", "ConstantOfShape")]
    assert ops[-7:] == ["Gemm", "Relu", "Dropout", "Gemm", "Relu", "Dropout", "Gemm"]


def test_units_with_grouped_convolutions_are_no_inverted_residuals() -> None:
    graph = load(light_file("light_shufflenet.onnx")).graph
    names = {block.name for block in find_nested_blocks(graph.nodes)}
    assert "Inverted residual" not in names
    assert "Residual block" in names


@pytest.mark.parametrize(
    "products",
    [
        "h = Mul (a, half) y = Mul (h, p)",
        "h = Mul (half, p) y = Mul (a, h)",
        "h = Mul (p, half) y = Mul (h, a)",
        "h = Mul (a, p) y = Mul (h, half)",
        "h = Mul (p, a) y = Mul (half, h)",
        "h = Mul (half, a) y = Mul (p, h)",
        "y = Mul (a, p)",  # half of it is in the weights behind
    ],
)
def test_a_gelu_holds_its_products_whatever_their_order(products: str) -> None:
    constants = "r = Constant <value_float = 1.4142> () one = Constant <value_float = 1.0> () "
    constants += "half = Constant <value_float = 0.5> () "
    text = f"a = Relu (x) d = Div (a, r) e = Erf (d) p = Add (e, one) {products} z = Relu (y)"
    header = '<opset_import: ["": 21]> g (float[n] x) => (float[n] z)'
    model = load(f"{header} {{{constants}{text}}}".encode())
    wanted = ["Div", "Erf", "Add", *["Mul"] * products.count("=")]
    (found,) = [operators for name, operators in blocks(model.graph.nodes) if name == "GELU"]
    assert [op_type for op_type in found if op_type != "Constant"] == wanted


def test_a_distribution_that_multiplies_nothing_is_no_gelu() -> None:
    text = "d = Div (x, r) e = Erf (d) p = Add (e, one) y = Mul (p, half) z = Relu (y)"
    constants = "r = Constant <value_float = 1.4142> () one = Constant <value_float = 1.0> () "
    constants += "half = Constant <value_float = 0.5> () "
    header = '<opset_import: ["": 21]> g (float[n] x) => (float[n] z)'
    model = load(f"{header} {{{constants}{text}}}".encode())
    assert "GELU" not in [name for name, _ in blocks(model.graph.nodes)]


@pytest.mark.parametrize("from_elsewhere", [False, True])
def test_a_decoder_that_adds_what_an_encoder_gave_has_no_shortcut(from_elsewhere: bool) -> None:
    builder = Builder()
    kept = builder.add("Relu", convolve(builder, "x"))
    start = builder.add("Relu", convolve(builder, kept))
    y = convolve(builder, start, 1)
    y = convolve(builder, builder.add("Relu", y))
    y = builder.add("Add", convolve(builder, y, 1), kept if from_elsewhere else start)
    nodes = builder.load(builder.add("Relu", y)).nodes
    block = nodes[-6:]
    assert [node.op_type for node in block] == ["Conv", "Relu", "Conv", "Conv", "Add", "Relu"]
    expected = "Convolution block" if from_elsewhere else "Bottleneck block"
    assert name_block(block) == expected


def test_a_shortcut_may_be_taken_before_the_norm_ahead_of_a_block() -> None:
    builder = Builder()
    start = builder.add("MaxPool", "x", kernel_shape=[2, 2])
    ready = builder.add(
        "Relu", builder.add("InstanceNormalization", start, builder.weight(), builder.weight())
    )
    y = convolve(builder, builder.add("Relu", convolve(builder, ready)))
    nodes = builder.load(builder.add("Add", y, start)).nodes
    assert name_block(nodes[-4:]) == "Residual block"


def test_the_convolution_of_a_shortcut_may_stand_before_a_block() -> None:
    builder = Builder()
    start = builder.add("MaxPool", "x", kernel_shape=[2, 2])
    shortcut = convolve(builder, start)
    y = convolve(builder, builder.add("Relu", convolve(builder, start)))
    nodes = builder.load(builder.add("Add", y, shortcut)).nodes
    assert name_block(nodes[-4:]) == "Residual block"


def test_what_stands_between_parts_of_an_attention_is_in_it() -> None:
    # scores are taken from their largest, as channel attention has it (J. Fu and others, 2019)
    builder = Builder()
    start = builder.add("Relu", "x")
    query, key, value = (builder.add("Reshape", start, builder.weight()) for _ in "qkv")
    scores = builder.add("MatMul", query, builder.add("Transpose", key))
    largest = builder.add("ReduceMax", scores)
    weights = builder.add("Softmax", builder.add("Sub", largest, scores))
    y = builder.add("Reshape", builder.add("MatMul", weights, value), builder.weight())
    nodes = builder.load(builder.add("Relu", y)).nodes
    found = [operators for name, operators in blocks(nodes) if name == "Attention"]
    assert found
    assert all("ReduceMax" in operators for operators in found)


@pytest.mark.parametrize("has_biases", [False, True])
def test_the_operator_swiglu_is_a_gate_between_linear_nodes(has_biases: bool) -> None:
    builder = Builder()
    start = builder.add("Relu", "x")

    def project(value: str) -> str:
        if has_biases:
            return builder.linear(value)
        return builder.add("MatMul", value, builder.weight())

    gated = builder.add("SwiGLU", project(start), project(start))
    nodes = builder.load(builder.add("Relu", project(gated))).nodes
    (found,) = [operators for name, operators in blocks(nodes) if name == "Gated MLP"]
    assert sorted(found) == sorted([*["MatMul", "Add"][: 1 + has_biases] * 3, "SwiGLU"])


@pytest.mark.parametrize("is_turned", [False, True])
def test_what_is_divided_the_other_way_is_no_norm_and_no_gelu(is_turned: bool) -> None:
    builder = Builder()
    square = builder.add("Pow", "x", builder.weight(2))
    root = builder.add("Sqrt", builder.add("Add", builder.add("ReduceMean", square), "w0"))
    quotient = builder.add("Div", *[("x", root), (root, "x")][is_turned])
    normed = builder.add("Mul", quotient, builder.weight(size=8))
    divisor = builder.weight(1.41421356)
    inner = builder.add("Div", *[(normed, divisor), (divisor, normed)][is_turned])
    half = builder.add("Add", builder.add("Erf", inner), builder.weight(1))
    product = builder.add("Mul", builder.add("Mul", normed, half), builder.weight(0.5))
    nodes = builder.load(builder.add("Softmax", product)).nodes
    names = {name for name, _ in blocks(nodes)}
    assert names == (set() if is_turned else {"RMSNorm", "GELU"})


@pytest.mark.parametrize("is_beside", [False, True])
def test_attention_beside_a_graph_makes_no_transformer_block(is_beside: bool) -> None:
    """GPS adds what neighbours send to what attention gives, and its MLP takes both."""
    weights = {"wq": [8, 8], "wk": [8, 8], "wv": [8, 8], "wo": [8, 8], "w1": [8, 32], "w2": [32, 8]}
    attended = """
        q = MatMul (x, wq)  k = MatMul (x, wk)  v = MatMul (x, wv)
        m = Attention <q_num_heads = 2, kv_num_heads = 2> (q, k, v)  o = MatMul (m, wo)
    """
    passed = """
        sent = GatherND (x, from)  t = ScatterND <reduction = "add"> (x, to, sent)
        both = Add (o, t)
    """
    fed = """
        r = Add (x, SUM)  h = MatMul (r, w1)  a = Relu (h)  f = MatMul (a, w2)  y = Add (r, f)
        z = Ceil (y)
    """
    filled = ", ".join(f"float[{','.join(map(str, dims))}] {n}" for n, dims in weights.items())
    text = (
        attended + (passed if is_beside else "") + fed.replace("SUM", "both" if is_beside else "o")
    )
    header = '<ir_version: 10, opset_import: ["": 23]>'
    inputs = f"float[1, 10, 8] x, int64[30, 2] from, int64[30, 2] to, {filled}"
    model = load(f"{header} g ({inputs}) => (float[n] z) {{ {text} }}".encode())
    for value in model.graph.inputs:
        value.is_parameter = value.name in weights
    name = "Attention block" if is_beside else "Transformer block"
    assert name_block(model.graph.nodes) == name


@pytest.mark.parametrize("decayed", [True, False])
def test_a_block_with_an_mlp_is_named_after_what_attends_beside_it(decayed: bool) -> None:
    decay = "decayed = Mul (products, decay)" if decayed else "decayed = Tanh (products)"
    graph = load_text(f"""
    block (float[1, 3, 8] x) => (float[1, 3, 8] y)
    <int64[2] square = {{8, 8}}, float[3, 3] decay = {{1, 0, 0, 0.5, 1, 0, 0.25, 0.5, 1}}>
    {{
      wq = ConstantOfShape (square)  wk = ConstantOfShape (square)  wv = ConstantOfShape (square)
      w1 = ConstantOfShape (square)  w2 = ConstantOfShape (square)
      q = MatMul (x, wq)  k = MatMul (x, wk)  v = MatMul (x, wv)
      turned = Transpose <perm = [0, 2, 1]> (k)
      products = MatMul (q, turned)  {decay}
      w3 = ConstantOfShape (square)  w4 = ConstantOfShape (square)
      mixed = MatMul (decayed, v)  gate = MatMul (x, w3)  share = Sigmoid (gate)
      opened = Mul (gate, share)  gated = Mul (mixed, opened)  own = MatMul (gated, w4)
      sum = Add (x, own)
      inner = MatMul (sum, w1)  active = Relu (inner)  outer = MatMul (active, w2)
      y = Add (sum, outer)
    }}""").graph
    nodes = [node for node in graph.nodes if node.op_type != "ConstantOfShape"]
    assert name_block(nodes) == ("Retention block" if decayed else "")


def _chain_with_skips(count: int, *, kernels: tuple[int, ...]) -> list[Node]:
    """Return blocks that widen, take each channel alone and narrow, with a sum of second outputs.

    Y. Luo and N. Mesgarani, Conv-TasNet, 2019, figure 1c.
    """
    nodes, tensors, value, total = [], [], "x", ""
    for step in range(count):
        shapes = {
            f"e{step}": (64, 32, 1),
            f"w{step}": (64, 1, kernels[step % len(kernels)]),
            f"r{step}": (32, 64, 1),
            f"s{step}": (32, 64, 1),
        }
        tensors += [numpy_helper.from_array(np.ones(d, "f"), key) for key, d in shapes.items()]
        nodes += [
            helper.make_node("Conv", [value, f"e{step}"], [f"a{step}"]),
            helper.make_node(
                "Conv", [f"a{step}", f"w{step}"], [f"d{step}"], group=64, auto_pad="SAME_UPPER"
            ),
            helper.make_node("Conv", [f"d{step}", f"r{step}"], [f"b{step}"]),
            helper.make_node("Conv", [f"d{step}", f"s{step}"], [f"k{step}"]),
            helper.make_node("Add", [value, f"b{step}"], [f"v{step}"]),
        ]
        value = f"v{step}"
        if total:
            nodes.append(helper.make_node("Add", [total, f"k{step}"], [f"t{step}"]))
        total = f"t{step}" if total else f"k{step}"
    outputs = [
        helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, None) for n in (value, total)
    ]
    info = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 32, 100])
    model = helper.make_model(helper.make_graph(nodes, "", [info], outputs, tensors))
    return [*load(model.SerializeToString()).graph.nodes]


def test_a_block_of_several_is_named_by_how_many() -> None:
    assert name_block(_chain_with_skips(1, kernels=(3,))) == "Inverted residual"
    assert name_block(_chain_with_skips(3, kernels=(3,))) == "3 inverted residuals"
    assert name_block(_chain_with_skips(3, kernels=(3, 5, 7))) == "3 inverted residuals"
    # without a spatial one, the last is of another kind
    assert name_block(_chain_with_skips(2, kernels=(3, 1))) == "Inverted residual"


@pytest.mark.parametrize(
    ("step", "name"),
    [
        ("moved = Add (x, shift)  y = Mul (moved, factor)", "Affine coupling"),
        ("moved = Mul (x, factor)  y = Add (moved, shift)", "Affine coupling"),
        ("moved = Sub (x, shift)  y = Div (moved, factor)", "Affine coupling"),
        ("moved = Add (x, shift)  y = Add (moved, factor)", "MLP block"),
        ("moved = Add (x, bound)  y = Mul (moved, factor)", "MLP block"),
    ],
)
def test_a_block_is_a_coupling_however_large_its_network_is(step: str, name: str) -> None:
    """L. Dinh and others, Density Estimation Using Real NVP, 2017, equations 8 and 9."""
    layers = "  ".join(f"a{n} = Relu (h{n})  h{n + 1} = MatMul (a{n}, w)" for n in range(100))
    graph = load_text(f"""
    block (float[4, 8] x) => (float[4, 8] y)
    <int64[2] square = {{8, 8}}, int64[2] wide = {{8, 16}},
     float[8] mask = {{1, 0, 1, 0, 1, 0, 1, 0}}, float[8] rest = {{0, 1, 0, 1, 0, 1, 0, 1}},
     float[8] strength = {{2, 2, 2, 2, 2, 2, 2, 3}}>
    {{
      w = ConstantOfShape (square)  u = ConstantOfShape (wide)
      kept = Mul (x, mask)  h0 = MatMul (kept, w)  {layers}
      both = MatMul (h100, u)  s, t = Split <axis = 1, num_outputs = 2> (both)
      squashed = Tanh (s)  scaled = Mul (squashed, strength)  bound = Mul (scaled, rest)
      shift = Mul (t, rest)  factor = Exp (bound)
      {step}
    }}""").graph
    nodes = [node for node in graph.nodes if node.op_type != "ConstantOfShape"]
    assert name_block(nodes) == name
