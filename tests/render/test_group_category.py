"""What a group is coloured as: its idea, by what is in it, whatever it is called."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.group_category import GroupCategories
from tests.corpus import corpus_file
from tests.onnx_text import load_text


class Builder:
    """Puts nodes of one scope after each other."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.last = "x"

    def add(self, scope: str, operator: str, *others: str, weight: Any = None, **given: Any) -> str:
        number = len(self.nodes)
        inputs = [self.last, *others]
        if weight is not None:
            self.weights.append(numpy_helper.from_array(np.zeros(weight, np.float32), f"w{number}"))
            inputs.append(f"w{number}")
        self.last = f"/{scope}/v{number}"
        name = f"/{scope}/{operator}_{number}"
        self.nodes.append(helper.make_node(operator, inputs, [self.last], name, **given))
        return self.last

    def load(self, dims: list[int]) -> Model:
        ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, dims) for n in ("x", self.last)]
        graph = helper.make_graph(self.nodes, "g", ends[:1], ends[1:], self.weights)
        opset = [helper.make_opsetid("", 17)]
        return load(helper.make_model(graph, opset_imports=opset, ir_version=8))


def add_attention(build: Builder, scope: str) -> None:
    start = build.last
    query = build.add(scope, "MatMul", weight=(8, 8))
    build.last = start
    build.add(scope, "MatMul", weight=(8, 8))
    key = build.add(scope, "Transpose", perm=[1, 0])
    build.last = start
    value = build.add(scope, "MatMul", weight=(8, 8))
    build.last = query
    build.add(scope, "MatMul", key)
    build.add(scope, "Softmax")
    build.add(scope, "MatMul", value)
    build.add(scope, "MatMul", weight=(8, 8))
    build.add(scope, "Add", start)


def category(model: Model, label: str) -> str:
    group = build_group_tree(model.graph, "names").find(label)
    assert isinstance(group, Group), label
    return GroupCategories().of_group(group)


def test_attention_dominates_a_block_though_most_weights_are_elsewhere() -> None:
    build = Builder()
    add_attention(build, "thing")
    build.add("thing", "MatMul", weight=(8, 800))
    build.add("thing", "Relu")
    build.add("thing", "MatMul", weight=(800, 8))
    build.add("other", "Sin")
    build.add("other", "Cos")
    assert category(build.load([4, 8]), "thing") == "attention"


def test_one_attention_among_many_convolutions_does_not() -> None:
    build = Builder()
    for _ in range(40):
        build.add("thing", "MatMul", weight=(8, 8))
        build.add("thing", "Relu")
    add_attention(build, "thing")
    build.add("other", "Sin")
    build.add("other", "Cos")
    assert category(build.load([4, 8]), "thing") == "weights"


@pytest.mark.parametrize(
    ("operators", "wanted"),
    [
        (["Relu", "Sigmoid", "Add"], "activation"),
        (["Sin", "Cos", "Sin"], "plain"),
        (["ReduceMean", "Sin", "Sin"], "resample"),
        (["Relu", "MatMul", "Relu"], "weights"),
    ],
)
def test_a_group_without_a_known_kind_has_the_hue_of_what_it_holds(
    operators: list[str], wanted: str
) -> None:
    build = Builder()
    for operator in operators:
        given = {"weight": (8, 8)} if operator in ("MatMul", "Add") else {}
        build.add("thing", operator, **given)
    build.add("other", "Sin")
    build.add("other", "Cos")
    assert category(build.load([8, 8]), "thing") == wanted


@pytest.mark.parametrize(
    ("name", "operators", "wanted"),
    [
        ("attn", ["MatMul", "Softmax", "Sin"], "attention"),
        ("attn", ["Sin", "Cos", "Sin"], "plain"),
        ("layer_norm", ["ReduceMean", "Sub", "Div"], "norm"),
        ("norm_free", ["MatMul", "Relu", "MatMul"], "weights"),
    ],
)
def test_a_name_colours_a_small_group_that_may_be_what_it_says(
    name: str, operators: list[str], wanted: str
) -> None:
    build = Builder()
    for operator in operators:
        given = {"weight": (8, 8)} if operator in ("MatMul", "Sub", "Div") else {}
        build.add(name, operator, **given)
    build.add("other", "Sin")
    build.add("other", "Cos")
    assert category(build.load([8, 8]), name) == wanted


def test_a_name_colours_no_large_group() -> None:
    build = Builder()
    for _ in range(30):
        build.add("attention_free", "MatMul", weight=(8, 8))
        build.add("attention_free", "Relu")
    build.add("other", "Sin")
    assert category(build.load([8, 8]), "attention_free") == "weights"


def test_a_function_that_calls_itself_is_plain() -> None:
    model = load_text("""
        <ir_version: 8, opset_import: ["": 17, "l": 1]>
        g (float[N] x) => (float[N] y) { y = l.F(x) }
        <domain: "l", opset_import: ["": 17, "l": 1]> F (a) => (b) { b = l.F(a) }
    """)
    assert GroupCategories().of_node(model.graph.nodes[0]) == "plain"


def test_calls_and_bodies_have_the_hue_of_what_they_hold() -> None:
    model = load_text("""
        <ir_version: 8, opset_import: ["": 17, "l": 1]>
        g (float[N] x, bool c) => (float[N] y, float[N] z) {
            y = l.F(x)
            z = If (c) <then_branch = t () => (float[N] r) { r = Relu(x) },
                        else_branch = e () => (float[N] s) { s = Tanh(x) }>
        }
        <domain: "l", opset_import: ["": 17]> F (a) => (b) { t = Sin(a) b = Elu(t) }
    """)
    categories = GroupCategories()
    assert [categories.of_node(node) for node in model.graph.nodes] == ["activation", "activation"]


@pytest.mark.parametrize(("has_transform", "wanted"), [(True, "plain"), (False, "norm")])
def test_a_norm_behind_an_idea_does_not_colour_it(has_transform: bool, wanted: str) -> None:
    """Mixing by a Fourier transform is no norm (J. Lee-Thorp and others, FNet, 2021, figure 1)."""
    nodes = []
    taken = "x"
    if has_transform:
        for number, axis in enumerate(("2", "1")):
            nodes.append(
                helper.make_node("DFT", [taken, "", axis], [f"d{number}"], f"/mix/d{number}")
            )
            taken = f"d{number}"
    else:
        nodes.append(helper.make_node("Abs", ["x"], ["d0"], "/mix/d0"))
        taken = "d0"
    nodes.append(helper.make_node("ReduceMax", [taken, "last"], ["r"], "/mix/r", keepdims=0))
    nodes.append(helper.make_node("LayerNormalization", ["r", "w"], ["n"], "/mix/n"))
    for number, kind in enumerate(("Sin", "Cos")):
        nodes.append(helper.make_node(kind, ["n"], [f"y{number}"], f"/other/{kind}"))
    ends = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, d)
        for n, d in (("x", [1, 8, 8, 1]), ("y0", [1, 8, 8]), ("y1", [1, 8, 8]))
    ]
    stored = [numpy_helper.from_array(np.array(int(axis), np.int64), axis) for axis in ("1", "2")]
    stored.append(numpy_helper.from_array(np.array([3]), "last"))
    stored.append(numpy_helper.from_array(np.ones(8, np.float32), "w"))
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], stored)
    model = load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]))
    assert category(model, "mix") == wanted


def test_what_hands_a_state_along_a_sequence_is_recurrent() -> None:
    tree = build_group_tree(load(corpus_file("exported/mamba.legacy.onnx")).graph)
    categories = GroupCategories()
    pending = [*tree.root.inner_groups()]
    told = {}
    for group in pending:
        pending += group.inner_groups()
        told[group.label] = categories.of_group(group)
    assert told["Selective scan"] == told["mixer"] == "recurrent"
    assert told["in_proj"] == told["out_proj"] == "weights"
