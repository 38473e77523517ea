"""Weights: what stands at a weight operand and depends on no input, found exactly."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.roles import Weight, find_weight
from netloupe.explorer.roles.weighted import find_weighted
from netloupe.proto import caffe2_pb2
from tests.corpus import LIGHT_MODELS, light_file
from tests.onnx_text import load_text


def weight_of(model: Model, op_type: str, number: int = 0) -> Weight | None:
    nodes = [node for graph in model.graphs for node in graph.nodes if node.op_type == op_type]
    return find_weight(nodes[number])


def known_weight(model: Model, op_type: str, number: int = 0) -> Weight:
    weight = weight_of(model, op_type, number)
    assert weight is not None
    return weight


def load_onnx(
    nodes: list[onnx.NodeProto],
    weights: dict[str, np.ndarray],  # type: ignore[type-arg]
    inputs: tuple[str, ...] = ("x",),
    listed: tuple[str, ...] = (),
) -> Model:
    """Load a graph of nodes; ``listed`` are initializers that are inputs as well."""
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in inputs + listed]
    end = helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", infos, [end])
    graph.initializer.extend(numpy_helper.from_array(w, n) for n, w in weights.items())
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return load(helper.make_model(graph, opset_imports=opsets))


def zeros(*dims: int) -> np.ndarray:  # type: ignore[type-arg]
    return np.zeros(dims, np.float32)


@pytest.mark.parametrize(
    ("dims", "attributes", "features"),
    [
        ((8, 3), {"transB": 1}, (3, 8)),
        ((3, 8), {"transB": 0}, (3, 8)),
        ((3, 8), {}, (3, 8)),
    ],
)
def test_features_of_a_gemm_follow_transb(
    dims: tuple[int, ...], attributes: dict[str, int], features: tuple[int, int]
) -> None:
    node = helper.make_node("Gemm", ["x", "w"], ["y"], **attributes)
    weight = known_weight(load_onnx([node], {"w": zeros(*dims)}), "Gemm")
    assert weight.features == features
    assert weight.dims == dims
    assert weight.is_transposed is bool(attributes.get("transB"))


@pytest.mark.parametrize(("flag", "features"), [(0, (5, 8)), (1, (8, 5))])
def test_the_left_factor_of_a_product_can_be_the_weight(
    flag: int, features: tuple[int, int]
) -> None:
    node = helper.make_node("Gemm", ["w", "x"], ["y"], transA=flag, transB=1)
    weight = known_weight(load_onnx([node], {"w": zeros(8, 5)}), "Gemm")
    assert (weight.index, weight.is_left, weight.is_transposed) == (0, True, bool(flag))
    assert weight.features == features


def test_a_product_of_two_inputs_or_of_two_constants_has_no_weight() -> None:
    both = load_onnx([helper.make_node("MatMul", ["x", "z"], ["y"])], {}, ("x", "z"))
    assert weight_of(both, "MatMul") is None
    none = load_onnx(
        [
            helper.make_node("MatMul", ["v", "w"], ["m"]),
            helper.make_node("MatMul", ["x", "m"], ["y"]),
        ],
        {"v": zeros(4, 3), "w": zeros(3, 5)},
    )
    assert weight_of(none, "MatMul") is None
    product = known_weight(none, "MatMul", 1)
    assert product.tensor is None  # computed from two
    assert is_input_independent(none.graph.values["m"])


def test_an_initializer_that_is_listed_as_an_input_is_a_weight() -> None:
    node = helper.make_node("Conv", ["x", "w"], ["y"], group=2)
    model = load_onnx([node], {"w": zeros(8, 3, 5, 7)}, listed=("w",))
    weight = known_weight(model, "Conv")
    assert weight.features == (6, 8)
    assert weight.kernel == (5, 7)
    assert weight.tensor is model.graph.values["w"].initializer


def test_a_convolution_with_a_kernel_from_outside_has_no_weight() -> None:
    node = helper.make_node("Conv", ["x", "w"], ["y"])
    assert weight_of(load_onnx([node], {}, ("x", "w")), "Conv") is None


def test_a_transposed_convolution_takes_its_first_axis() -> None:
    node = helper.make_node("ConvTranspose", ["x", "w"], ["y"], group=2)
    model = load_onnx([node], {"w": zeros(8, 3, 2, 2)})
    assert known_weight(model, "ConvTranspose").features == (8, 6)


def test_a_weight_is_followed_through_what_changes_type_or_layout_only() -> None:
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "s"], ["a"]),
        helper.make_node("Cast", ["a"], ["b"], to=1),
        helper.make_node("Transpose", ["b"], ["c"]),
        helper.make_node("Reshape", ["c", "shape"], ["d"]),
        helper.make_node("Unsqueeze", ["d", "first"], ["e"]),
        helper.make_node("Squeeze", ["e", "first"], ["f"]),
        helper.make_node("Identity", ["f"], ["g"]),
        helper.make_node("MatMul", ["x", "g"], ["y"]),
    ]
    weights = {
        "q": np.zeros((6, 4), np.int8),
        "s": np.float32(1.0),
        "shape": np.array([0, 3, -1], np.int64),
        "first": np.array([0], np.int64),
    }
    model = load_onnx(nodes, weights)  # type: ignore[arg-type]
    weight = known_weight(model, "MatMul")
    assert weight.tensor is model.graph.values["q"].initializer
    assert weight.dims == (4, 3, 2)
    assert weight.features == (3, 2)
    assert weight.is_quantized
    assert not weight.is_transposed


def test_a_perm_says_how_a_weight_is_transposed() -> None:
    nodes = [
        helper.make_node("Transpose", ["w"], ["t"], perm=[1, 2, 0]),
        helper.make_node("MatMul", ["x", "t"], ["y"]),
    ]
    assert known_weight(load_onnx(nodes, {"w": zeros(2, 3, 4)}), "MatMul").dims == (3, 4, 2)


def test_a_weight_filled_in_a_shape_has_its_dims_and_no_tensor() -> None:
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["w"]),
        helper.make_node("Conv", ["x", "w"], ["y"]),
    ]
    weight = known_weight(load_onnx(nodes, {"shape": np.array([8, 3, 5, 5])}), "Conv")
    assert (weight.tensor, weight.features, weight.kernel) == (None, (3, 8), (5, 5))


def test_a_weight_that_is_computed_of_stored_ones_has_its_dims() -> None:
    nodes = [
        helper.make_node("Mul", ["spread", "noise"], ["m"]),
        helper.make_node("Add", ["mean", "m"], ["s"]),
        helper.make_node("Transpose", ["s"], ["w"]),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    weights = {
        "mean": np.ones((3, 5), np.float32),
        "spread": np.ones((3, 1), np.float32),
        "noise": np.ones(5, np.float32),
    }
    weight = known_weight(load_onnx(nodes, weights), "MatMul")
    assert (weight.tensor, weight.dims, weight.features) == (None, (5, 3), (5, 3))
    weights["noise"] = np.ones(4, np.float32)
    assert known_weight(load_onnx(nodes, weights), "MatMul").dims is None


def test_a_constant_node_and_random_numbers_give_weights() -> None:
    value = numpy_helper.from_array(zeros(3, 8), "value")
    nodes = [
        helper.make_node("Constant", [], ["w"], value=value),
        helper.make_node("RandomNormal", [], ["v"], shape=[8, 5]),
        helper.make_node("MatMul", ["x", "w"], ["m"]),
        helper.make_node("MatMul", ["m", "v"], ["y"]),
    ]
    model = load_onnx(nodes, {})
    first, second = (known_weight(model, "MatMul", number) for number in (0, 1))
    assert first.tensor is not None
    assert (first.features, second.features) == ((3, 8), (8, 5))


def test_weights_of_a_function_are_those_that_every_call_gives() -> None:
    model = load_text("""
        agraph (float[n, 3] x) => (float[n, 3] y)
        <float[3, 3] w = {1,2,3,4,5,6,7,8,9}, float[3, 3] v = {1,2,3,4,5,6,7,8,9}>
        {
            a = local.dense (x, w)
            b = local.dense (a, v)
            y = local.product (b, a)
        }
        <opset_import: ["": 21], domain: "local">
        dense (data, weight) => (result) {
            turned = Transpose (weight)
            result = MatMul (data, turned)
        }
        <opset_import: ["": 21], domain: "local">
        product (left, right) => (result) { result = MatMul (left, right) }
    """)
    dense, product = (function.nodes[-1] for function in model.functions)
    common = find_weight(dense)
    assert common is not None
    assert (common.tensor, common.dims) == (None, (3, 3))
    first, second = model.functions[0].calls
    for call, name in ((first, "w"), (second, "v")):
        weight = find_weight(dense, (call,))
        assert weight is not None
        assert weight.tensor is model.graph.values[name].initializer
    assert find_weight(product) is None
    assert model.functions[1].calls == (model.graph.nodes[2],)


def test_what_a_function_gives_is_followed_into_it() -> None:
    model = load_text("""
        agraph (float[n, 3] x) => (float[n, 5] y)
        <float[5, 3] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15}>
        {
            t = local.turn (w)
            y = MatMul (x, t)
        }
        <opset_import: ["": 21], domain: "local">
        turn (a) => (b) { b = Transpose (a) }
    """)
    weight = known_weight(model, "MatMul")
    assert weight.tensor is model.graph.values["w"].initializer
    assert weight.features == (3, 5)


def test_functions_that_call_one_another_in_a_circle_have_no_weight() -> None:
    model = load_text("""
        agraph (float[3, 3] x) => (float[3, 3] y) { y = local.f (x) }
        <opset_import: ["": 21, "local": 1], domain: "local">
        f (a) => (b) { c = local.g (a)  b = MatMul (a, c) }
        <opset_import: ["": 21, "local": 1], domain: "local">
        g (a) => (b) { b = local.f (a) }
    """)
    assert weight_of(model, "MatMul") is None


def test_a_body_takes_weights_from_around_it() -> None:
    model = load_text("""
        agraph (bool c, float[n, 3] x) => (float[n, 5] y)
        <float[3, 5] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15}>
        {
            t = Identity (w)
            y = If (c) <
                then_branch = left () => (float[n, 5] l) { l = MatMul (x, t) },
                else_branch = right () => (float[n, 5] r) { z = Sin (x) r = MatMul (z, x) }
            >
        }
    """)
    weight = known_weight(model, "MatMul")
    assert weight.tensor is model.graph.values["w"].initializer
    assert weight_of(model, "MatMul", 1) is None
    (branch,) = {value for node in model.graph.nodes for value in node.outputs} - {
        model.graph.values["t"]
    }
    assert branch is not None
    assert not is_input_independent(branch)


@pytest.mark.parametrize(
    ("weight", "axis", "is_table"),
    [
        (zeros(100, 8), 0, True),
        (zeros(100, 8), 1, False),
        (zeros(100), 0, False),
        (np.zeros((100, 8), np.int64), 0, False),
        (np.zeros((100, 8), np.int8), 0, True),
    ],
)
def test_a_table_has_rows_of_learned_numbers(
    weight: np.ndarray,  # type: ignore[type-arg]
    axis: int,
    is_table: bool,
) -> None:
    model = load_onnx([helper.make_node("Gather", ["w", "x"], ["y"], axis=axis)], {"w": weight})
    found = weight_of(model, "Gather")
    assert (found is not None) is is_table
    if found is not None:
        assert (found.kind, found.features) == ("embedding", (100, 8))


@pytest.mark.parametrize(
    ("equation", "is_linear"), [("abc,cde->abde", True), ("abc,cd", True), ("i,j->ij", False)]
)
def test_an_einsum_is_linear_where_it_sums(equation: str, is_linear: bool) -> None:
    node = helper.make_node("Einsum", ["x", "w"], ["y"], equation=equation)
    assert (weight_of(load_onnx([node], {"w": zeros(3, 4)}), "Einsum") is not None) is is_linear


def test_operators_of_quantized_numbers_have_quantized_weights() -> None:
    nodes = [
        helper.make_node("MatMulInteger", ["x", "w", "z", "z"], ["a"]),
        helper.make_node("QLinearMatMul", ["a", "s", "z", "w", "s", "z", "s", "z"], ["b"]),
        helper.make_node("MatMulNBits", ["b", "p", "s"], ["c"], K=64, N=32, domain="com.microsoft"),
        helper.make_node("Attention", ["c", "v"], ["y"], num_heads=2, domain="com.microsoft"),
    ]
    weights = {
        "w": np.zeros((3, 5), np.int8),
        "z": np.int8(0),
        "s": np.float32(1.0),
        "p": np.zeros((32, 2, 16), np.uint8),
        "v": zeros(32, 96),
    }
    model = load_onnx(nodes, weights)  # type: ignore[arg-type]
    found = [known_weight(model, node.op_type) for node in model.graph.nodes]
    assert [weight.is_quantized for weight in found] == [True, True, True, False]
    assert [weight.index for weight in found] == [1, 3, 1, 1]
    assert [weight.features for weight in found] == [(3, 5), (3, 5), (64, 32), (32, 96)]


def test_trees_hold_their_weights_in_attributes() -> None:
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml")
    weight = known_weight(load_onnx([node], {}), "TreeEnsembleRegressor")
    assert (weight.kind, weight.value, weight.index, weight.features) == ("ml", None, -1, None)


@pytest.mark.parametrize(
    ("kind", "arguments", "dims", "features", "kernel"),
    [
        ("FC", {}, (10, 4, 2), (8, 10), None),
        ("FCTransposed", {}, (8, 10), (8, 10), None),
        ("Conv", {"group": 2}, (8, 3, 5, 7), (6, 8), (5, 7)),
        ("Conv", {"order": b"NHWC"}, (8, 5, 7, 3), (3, 8), (5, 7)),
        ("MatMul", {"trans_b": 1}, (10, 8), (8, 10), None),
    ],
)
def test_weights_of_caffe2(
    kind: str,
    arguments: dict[str, int | bytes],
    dims: tuple[int, ...],
    features: tuple[int, int],
    kernel: tuple[int, int] | None,
) -> None:
    net = caffe2_pb2.NetDef(name="net", external_input=["x", "w"], external_output=["y"])
    operator = net.op.add(type=kind, input=["x", "w"], output=["y"])
    for name, value in arguments.items():
        operator.arg.add(name=name, **{"s" if isinstance(value, bytes) else "i": value})
    init = caffe2_pb2.NetDef(name="init")
    fill = init.op.add(type="XavierFill", output=["w"])
    fill.arg.add(name="shape", ints=dims)
    weight = known_weight(load((net, init)), kind)
    assert (weight.dims, weight.features, weight.kernel) == (dims, features, kernel)
    assert not weight.is_quantized


@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_every_convolution_and_gemm_of_the_light_models_has_its_weight(name: str) -> None:
    model = load(light_file(name))
    for node in model.graph.nodes:
        if node.op_type in ("BatchNormalization", "Conv", "Gemm"):
            weight = find_weight(node)
            assert weight is not None
            assert weight.dims is not None
            assert None not in weight.dims
    classifier = [n for n in model.graph.nodes if n.op_type in ("Conv", "Gemm")][-1]
    found = find_weight(classifier)
    assert found is not None
    assert found.features is not None
    assert found.features[1] == 1000


def test_a_long_chain_and_a_shared_value_take_no_longer_than_their_size() -> None:
    count = 20_000
    nodes = [helper.make_node("Neg", ["w"], ["n0"])]
    nodes += [helper.make_node("Neg", [f"n{i}"], [f"n{i + 1}"]) for i in range(count)]
    nodes += [helper.make_node("MatMul", ["x", f"n{count}"], [f"m{i}"]) for i in range(count)]
    model = load_onnx(nodes, {"w": zeros(3, 3)})
    found = [find_weight(node) for node in model.graph.nodes[-count:]]
    assert all(weight is not None for weight in found)


def test_a_weight_is_looked_for_once_unless_calls_are_told() -> None:
    nodes = [
        helper.make_node("Cast", ["w"], ["c"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["x", "c"], ["y"]),
        helper.make_node("MatMul", ["x", "x"], ["z"]),
    ]
    _, product, without = load_onnx(nodes, {"w": zeros(3, 3)}).graph.nodes
    found = find_weight(product)
    assert found is not None
    assert find_weight(product) is found
    other = find_weight(product, [without])  # any call: the product is in no function
    assert other == found
    assert other is not found
    assert find_weight(without) is find_weight(without) is None


@pytest.mark.parametrize(("index", "is_table"), [(1, False), ([1], True), ([0, 2], True)])
def test_one_row_that_is_always_the_same_is_no_lookup(index: object, is_table: bool) -> None:
    node = helper.make_node("Gather", ["w", "i"], ["row"])
    follows = helper.make_node("Add", ["row", "x"], ["y"])
    weights = {"w": zeros(3, 4), "i": np.array(index, np.int64)}
    assert (weight_of(load_onnx([node, follows], weights), "Gather") is not None) == is_table


@pytest.mark.parametrize(
    ("again", "has_weight"),
    [
        ("b = Gemm (data, w)", True),  # the first step of a loop begins with stored numbers
        ("b = Gemm (w, data)", False),  # the other factor
        ("b = Gemm (stored, w)", False),  # of no data
        ("b = Add (data, w)", False),
    ],
)
def test_what_multiplies_data_too_is_a_weight_of_stored_numbers(
    again: str, *, has_weight: bool
) -> None:
    model = load_text(
        f"""
        <ir_version: 10, opset_import: ["": 21]>
        graph (float[2, 2] x) => (float[2, 2] y)
        <float[2, 2] w = {{1, 2, 3, 4}}, float[2, 2] stored = {{1, 1, 1, 1}}> {{
            first = Gemm (stored, w)
            data = Mul (x, first)
            {again}
            y = Add (b, data)
        }}
        """
    )
    weight = find_weight(model.graph.nodes[0])
    assert (weight is not None) == has_weight
    assert bool(find_weighted(model.graph)[0]) == has_weight
    assert weight is None or weight.index == 1
