"""Nodes of a quantizer stand with what they serve, whatever they are named after."""

from __future__ import annotations

import numpy as np
import onnx.parser
from onnx import helper, numpy_helper

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.readers.load import load
from tests.unrolled import WIDTH, Writer


def _list_members(text: str, path: str) -> list[str]:
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> {text}')
    for node in model.graph.node:
        node.name = node.name.replace("__", "/")
    tree = build_group_tree(load(model).graph)
    group = tree.find(path)
    assert isinstance(group, Group)
    return [node.op_type for node in tree.order[group.low : group.high]]


_DYNAMIC = """
    g (float[n, 4] x) => (float[n, 4] y)
    <float[4] s = {1, 1, 1, 1}, int8[4, 4] w = {1,1,1,1, 1,1,1,1, 1,1,1,1, 1,1,1,1},
     float t = {0.5}, int8 z = {0}>
    {
        [__m__norm__Norm] a = LayerNormalization (x, s)
        [__m__norm__Norm_output_0_QuantizeLinear] q, qs, qz = DynamicQuantizeLinear (a)
        [__m__dense__MatMul_quant] i = MatMulInteger (q, w, qz, z)
        [__m__dense__MatMul_cast] f = Cast <to = 1> (i)
        [__m__dense__MatMul_scales] m = Mul (qs, t)
        [__m__dense__MatMul_scaled] d = Mul (f, m)
        [__m__dense__Relu] r = Relu (d)
        [__m__Add] y = Add (a, r)
    }
"""


def test_what_gives_a_scale_stands_with_the_product_that_takes_it() -> None:
    assert _list_members(_DYNAMIC, "dense")[0] == "DynamicQuantizeLinear"


_STATIC = """
    g (float[n, 4, 8, 8] x) => (float[n, 4, 6, 6] y)
    <float[4, 4, 3, 3] w, float t = {0.5}, int8 z = {-128}>
    {
        [__m__conv1__Conv] a = Conv (x, w)
        [__m__relu__Relu_output_0_QuantizeLinear] q = QuantizeLinear (a, t, z)
        [__m__relu__Relu_output_0_DequantizeLinear] d = DequantizeLinear (q, t, z)
        [__m__pool__Abs] p = Abs (d)
        [__m__pool__Neg] o = Neg (p)
        [__m__last__Exp] e = Exp (o)
        [__m__last__Sin] y = Sin (e)
    }
"""


def test_a_scope_that_only_quantizes_joins_what_it_quantizes() -> None:
    found = _list_members(_STATIC.replace("w,", "w = {" + ",".join("1" * 144) + "},"), "conv1")
    assert found == ["Conv", "QuantizeLinear", "DequantizeLinear"]


def test_modules_stand_in_the_order_in_which_they_run() -> None:
    """Quantizers write first of all what they make of weights, those of the last module first."""
    writer = Writer()
    writer.inputs = {"x": [1, WIDTH]}
    weights = {}
    for module in (2, 0, 1):
        value = writer.weight(f"w{module}", WIDTH, WIDTH)
        for kind in ("Identity", "QuantizeLinear", "DequantizeLinear"):
            operands = [value] if kind == "Identity" else [value, writer.weight("scale", 1)]
            value = writer.add("", kind, *operands)
            writer.nodes[-1].name = f"w{module}_{kind}"
        weights[module] = value
    value = "x"
    for module in range(3):
        for act in ("Relu", "Tanh", "Exp")[: module + 1]:
            value = writer.add(f"part.{module}", "MatMul", value, weights[module])
            value = writer.add(f"part.{module}", act, value)
    writer.outputs = [value]
    root = build_group_tree(writer.load().graph, "names").root
    assert [group.label for group in root.inner_groups()] == ["part.0", "part.1", "part.2"]


def test_a_branch_may_copy_what_a_node_around_it_gives() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]>
        g (float[4] x, bool c) => (float[4] y) {
            a = Abs (x)
            y = If (c) <
                then_branch = t () => (float[4] p)
                { [m_n] n = Neg (o)  [m_o] o = Identity (a)  [m_p] p = Exp (n) },
                else_branch = e () => (float[4] q) { q = Identity (a) }
            >
        }"""
    model = onnx.parser.parse_model(text)
    for node in model.graph.node[1].attribute[0].g.node:
        node.name = node.name.replace("_", "/")
    tree = build_group_tree(load(model).graph.nodes[1].subgraphs[0], "names")
    assert [node.op_type for node in tree.order] == ["Identity", "Neg", "Exp"]


def _shuffle() -> list[tuple[str, list[str]]]:
    """Return the groups of a unit that shuffles channels, as torch's newer exporter writes it.

    It gives each operator a scope of its own, and a quantizer names what it adds after values.
    """
    nodes: list[onnx.NodeProto] = []

    def add(scope: str, kind: str, *taken: str, **attributes: object) -> str:
        name = scope.rpartition(".")[2]
        node = helper.make_node(kind, taken, [name], f"node_{name}", **attributes)
        scopes = str(["", *(scope[:end] for end in (4, len(scope)))])
        node.metadata_props.add(key="pkg.torch.onnx.name_scopes", value=scopes)
        nodes.append(node)
        for kind, ending in (("QuantizeLinear", "q"), ("DequantizeLinear", "d")):
            given = f"{name}_{ending}"
            nodes.append(helper.make_node(kind, [name, "s", "z"], [given], f"{name}_{kind}"))
            name = given
        return name

    value = "x"
    for unit in range(2):
        at = f"uni{unit}"
        left = add(f"{at}.left{unit}", "Conv", value, "w", kernel_shape=[1, 1])
        right = add(f"{at}.right{unit}", "Conv", left, "w", kernel_shape=[1, 1])
        joined = add(f"{at}.cat{unit}", "Concat", left, right, axis=1)
        apart = add(f"{at}.view{unit}", "Reshape", joined, "apart")
        turned = add(f"{at}.turn{unit}", "Transpose", apart, perm=[0, 2, 1, 3, 4])
        joined = add(f"{at}.back{unit}", "Reshape", turned, "back")
        value = add(f"{at}.last{unit}", "Conv", joined, "v", kernel_shape=[1, 1])
    stored = {
        "w": np.ones((4, 4, 1, 1), np.float32),
        "v": np.ones((4, 8, 1, 1), np.float32),
        "s": np.array(0.5, np.float32),
        "z": np.array(0, np.int8),
        "apart": np.array([1, 2, 4, 6, 6]),
        "back": np.array([1, 8, 6, 6]),
    }
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 4, 6, 6])],
        [helper.make_tensor_value_info(value, onnx.TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in stored.items()],
    )
    model = load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]))
    tree = build_group_tree(model.graph)
    groups = {id(group): group for group in tree.groups.values() if "Concat" in group.path}
    found = []
    for group in groups.values():
        members = [node.op_type for node in tree.order[group.low : group.high]]
        found.append((group.label, [one for one in members if not one.endswith("Linear")]))
    return found


def test_quantizers_make_no_groups_of_what_only_arranges() -> None:
    joined = ["Concat", "Reshape", "Transpose", "Reshape"]
    assert _shuffle() == [("Concat", joined)] * 2
