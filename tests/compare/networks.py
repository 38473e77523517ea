"""Small models to make twins of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper, parser

#: scopes as both exporters write them
SCOPES = "pkg.torch.onnx.name_scopes"


def store(model: onnx.ModelProto, arrays: dict[str, np.ndarray]) -> onnx.ModelProto:
    """Add weights by name."""
    for name, array in arrays.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    return model


def make_normed() -> onnx.ModelProto:
    """Return convolutions with norms behind them, and a constant that is computed."""
    model = parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21], producer_name: "someone">
        images (float[n, 2, 6, 6] x) => (float[n, 5] y)
        {
            [conv1] c1 = Conv <pads = [1, 1, 1, 1]> (x, conv1_weight)
            [norm1] b1 = BatchNormalization (c1, norm1_scale, norm1_shift, norm1_mean, norm1_var)
            [relu1] r1 = Relu (b1)
            [conv2] c2 = Conv (r1, conv2_weight, conv2_bias)
            [norm2] b2 = BatchNormalization (c2, norm2_scale, norm2_shift, norm2_mean, norm2_var)
            [sum] s = Add (b2, b2)
            [two] two = Constant <value: tensor = float {2.0}> ()
            [four] four = Mul (two, two)
            [scaled] m = Div (s, four)
            [pool] p = GlobalAveragePool (m)
            [flat] f = Flatten (p)
            [last] y = Gemm <transB = 1> (f, fc_weight, fc_bias)
        }
    """)
    chance = np.random.default_rng(1)

    def draw(*dims: int) -> np.ndarray:
        return (0.4 * chance.standard_normal(dims)).astype(np.float32)

    for number, width in ((1, 4), (2, 3)):
        values = {"scale": draw(width), "shift": draw(width), "mean": draw(width)}
        values["var"] = np.abs(draw(width)) + 0.5
        store(model, {f"norm{number}_{name}": array for name, array in values.items()})
    store(model, {"conv1_weight": draw(4, 2, 3, 3), "conv2_weight": draw(3, 4, 3, 3)})
    return store(model, {"conv2_bias": draw(3), "fc_weight": draw(5, 3), "fc_bias": draw(5)})


def make_layers(count: int = 5, width: int = 4) -> onnx.ModelProto:
    """Return some layers of one kind, named as the legacy exporter does."""
    nodes = [helper.make_node("Gather", ["embed.weight", "ids"], ["h0"], "/embed/Gather")]
    chance = np.random.default_rng(2)
    weights = {"embed.weight": chance.standard_normal((9, width)).astype(np.float32)}
    for index in range(count):
        scope = f"/layers.{index}"
        h, out = f"h{index}", f"h{index + 1}"
        weight, bias = f"layers.{index}.fc.weight", f"layers.{index}.fc.bias"
        nodes += [
            helper.make_node("MatMul", [h, weight], [f"{scope}/m"], f"{scope}/fc/MatMul"),
            helper.make_node("Add", [f"{scope}/m", bias], [f"{scope}/a"], f"{scope}/fc/Add"),
            helper.make_node("Tanh", [f"{scope}/a"], [f"{scope}/t"], f"{scope}/act/Tanh"),
            helper.make_node("Add", [h, f"{scope}/t"], [out], f"{scope}/Add"),
        ]
        spread = chance.standard_normal((width, width)).astype(np.float32)
        weights[weight] = spread
        weights[bias] = spread[0]
    nodes.append(helper.make_node("Softmax", [f"h{count}"], ["y"], "/Softmax"))
    graph = helper.make_graph(
        nodes,
        "layers",
        [helper.make_tensor_value_info("ids", onnx.TensorProto.INT64, ["n"])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", width])],
    )
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])
    return store(model, weights)


def make_residual(order: Sequence[int], last: str = "", *, behind: str = "") -> onnx.ModelProto:
    """Return a chain of residual blocks of two convolutions, named by where they stand.

    Parameters
    ----------
    order
        Of each block the number of the weights that it has.
    last, behind
        An operator behind them all, and one behind the sum of each.
    """
    nodes, value = [], "x"
    weights: dict[str, np.ndarray] = {}
    for place, number in enumerate(order):
        scope, chance = f"blocks.{place}", np.random.default_rng(number)
        for each in ("first", "second"):
            drawn = 0.1 * chance.standard_normal((4, 4, 3, 3))
            weights[f"{scope}.{each}.weight"] = drawn.astype(np.float32)
        path = f"/blocks.{place}"
        inner = [f"{path}/{each}" for each in ("first", "act", "second")]
        nodes += [
            helper.make_node(
                "Conv",
                [value, f"{scope}.first.weight"],
                inner[:1],
                f"{path}/first/Conv",
                pads=[1] * 4,
            ),
            helper.make_node("Relu", inner[:1], inner[1:2], f"{path}/act/Relu"),
            helper.make_node(
                "Conv",
                [inner[1], f"{scope}.second.weight"],
                inner[2:],
                f"{path}/second/Conv",
                pads=[1] * 4,
            ),
            helper.make_node("Add", [value, inner[2]], [f"{path}/y"], f"{path}/Add"),
        ]
        value = f"{path}/y"
        if behind:
            nodes.append(
                helper.make_node(behind, [value], [f"{path}/z"], f"{path}/behind/{behind}")
            )
            value = f"{path}/z"
    if last:
        nodes.append(helper.make_node(last, [value], ["last"], "/last"))
        value = "last"
    shape = [1, 4, 8, 8]
    graph = helper.make_graph(
        nodes,
        "residual",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(value, onnx.TensorProto.FLOAT, shape)],
    )
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])
    return store(model, weights)


def make_projected(width: int = 4) -> onnx.ModelProto:
    """Return an attention, whose keys have no bias, and a gated MLP."""
    model = parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21], producer_name: "someone">
        attention (float[n, {width}] x) => (float[n, {width}] y)
        {{
            ["/q/MatMul"] q0 = MatMul (x, q_weight)
            ["/q/Add"] q = Add (q_bias, q0)
            ["/k/MatMul"] k = MatMul (x, k_weight)
            ["/k/Transpose"] t = Transpose (k)
            ["/v/MatMul"] v0 = MatMul (x, v_weight)
            ["/v/Add"] v = Add (v_bias, v0)
            ["/scores"] s = MatMul (q, t)
            ["/softmax"] p = Softmax (s)
            ["/context"] c = MatMul (p, v)
            ["/gate/MatMul"] g = MatMul (c, gate_weight)
            ["/up/MatMul"] u = MatMul (c, up_weight)
            ["/gate/Sigmoid"] a = Sigmoid (g)
            ["/Mul"] m = Mul (a, u)
            ["/down/MatMul"] y = MatMul (m, down_weight)
        }}
    """)
    chance = np.random.default_rng(4)
    for name in ("q_weight", "k_weight", "v_weight", "gate_weight", "up_weight", "down_weight"):
        weight = 0.4 * chance.standard_normal((width, width))
        store(model, {name: weight.astype(np.float32)})
    for name in ("q_bias", "v_bias"):
        store(model, {name: (0.4 * chance.standard_normal(width)).astype(np.float32)})
    return model


def make_nested() -> onnx.ModelProto:
    """Return a choice of two graphs that take values from outside, and a call of a function."""
    model = parser.parse_model("""
        <ir_version: 9, opset_import: ["" : 18, "local" : 1]>
        outer (float[n, 3] x) => (float[n, 3] y)
        {
            [total] t = ReduceSum <keepdims = 0> (x)
            [positive] is_positive = Greater (t, zero)
            [choice] chosen = If (is_positive) <
                then_branch = yes () => (float[n, 3] z) { [twice] d = Add (x, w) z = Relu (d) },
                else_branch = no () => (float[n, 3] z) { [less] d = Sub (x, w) z = Neg (d) }
            >
            [call] y = local.Scaled (chosen, w)
        }
        <domain: "local", opset_import: ["" : 18]>
        Scaled (a, b) => (c) { [inner] m = Mul (a, b) c = Sigmoid (m) }
    """)
    model.graph.node[0].metadata_props.add(key=SCOPES, value="['', 'outer.total', 'sum']")
    model.graph.node[0].doc_string = "sums what outer takes"
    return store(model, {"zero": np.zeros(1, np.float32)[0], "w": np.array([1, -2, 3], np.float32)})


def make_exports() -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """Return one network as the legacy exporter would write it, and as the other one would."""
    legacy = parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17]>
        main_graph (float[n, 4] x) => (float[n, 4] y)
        {
            ["/norm/LayerNormalization"] a = LayerNormalization (x, "norm.weight", "norm.bias")
            ["/fc/MatMul"] b = MatMul (a, "onnx::MatMul_7")
            ["/fc/Add"] c = Add ("fc.bias", b)
            ["/Shape"] s = Shape (c)
            ["/Reshape"] d = Reshape (c, s)
            ["/act/Tanh"] y = Tanh (d)
        }
    """)
    dynamo = parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 20]>
        main_graph (float[n, 4] x) => (float[n, 4] y)
        {
            [node_layer_norm] a = LayerNormalization (x, "norm.weight", "norm.bias")
            [node_linear] b = Gemm <transB = 1> (a, "fc.weight", "fc.bias")
            [node_tanh] y = Tanh (b)
        }
    """)
    for node, module in zip(dynamo.graph.node, ("norm", "fc", "act"), strict=True):
        node.metadata_props.add(key=SCOPES, value=f"['', '{module}', '{module}_0']")
    weight = np.arange(16, dtype=np.float32).reshape(4, 4)
    ones = np.ones(4, np.float32)
    shared = {"norm.weight": ones, "norm.bias": ones, "fc.bias": ones}
    store(legacy, {**shared, "onnx::MatMul_7": weight})
    store(dynamo, {**shared, "fc.weight": np.zeros_like(weight)})
    return legacy, dynamo
