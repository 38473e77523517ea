"""What differs inside of fused nodes is told, and a fold is equal only where nothing else differs.

By construction: of two models that do the same one attribute of one node is edited.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, helper, numpy_helper

from netloupe.explorer.compare import Diff, diff
from netloupe.explorer.describe.differences import format_diff
from netloupe.explorer.readers.load import load
from tests.compare.networks import make_normed
from tests.compare.twins import TOOLS, is_installed, make_tool_twin
from tests.compare.twins.truth import read_proto

_CHANCE = np.random.default_rng(3)
_WEIGHT = _CHANCE.standard_normal((4, 4, 3, 3)).astype(np.float32)
_VECTORS = {name: _CHANCE.uniform(0.5, 2, 4).astype(np.float32) for name in "gbmv"}
_LINEAR = _CHANCE.standard_normal((8, 6)).astype(np.float32)
#: of each attribute of a convolution another value than that which holds
WINDOWS: dict[str, Any] = {
    "pads": [2, 0, 2, 0],
    "dilations": [2, 2],
    "strides": [2, 2],
    "group": 2,
    "auto_pad": "SAME_UPPER",
    "kernel_shape": [1, 1],
}
_SAME = {"pads": [1, 1, 1, 1], "kernel_shape": [3, 3]}


def make(nodes: list[onnx.NodeProto], arrays: dict[str, Any], opset: int = 17) -> ModelProto:
    kinds = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", kinds, None)],
        [helper.make_tensor_value_info("y", kinds, None)],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()],
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, ir_version=10, opset_imports=opsets)


def compare(left: ModelProto, right: ModelProto, *, is_backwards: bool = False) -> Diff:
    sides = [load(model.SerializeToString()) for model in (left, right)]
    return diff(*sides[:: -1 if is_backwards else 1])


def list_told(found: Diff) -> list[str]:
    """Return what is told of pairs of several nodes."""
    fused = {*found.fused}
    return [change.what for one in found.nodes if one.pair in fused for change in one.changes]


def make_normed_conv(scale: np.ndarray = _VECTORS["g"], opset: int = 17, **norm: Any) -> ModelProto:
    inputs = ["c", "g", "b", "m", "v"]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv", **_SAME),
        helper.make_node("BatchNormalization", inputs, ["n"], "norm", **norm),
        helper.make_node("Elu", ["n"], ["y"], "act"),
    ]
    return make(nodes, {"w": _WEIGHT, **_VECTORS, "g": scale}, opset)


def make_folded(
    scale: np.ndarray = _VECTORS["g"],
    channels: np.ndarray | float = 1,
    op_type: str = "Conv",
    **stated: Any,
) -> ModelProto:
    factor = scale / np.sqrt(_VECTORS["v"] + np.float32(1e-5))
    weight = _WEIGHT * (factor * channels)[:, None, None, None]
    arrays = {"w2": weight.astype(np.float32), "b2": _VECTORS["b"] - _VECTORS["m"] * factor}
    domain = "" if op_type == "Conv" else "com.microsoft"
    attributes = {**_SAME, **stated}
    inputs = ["x", "w2", "b2"]
    node = helper.make_node(op_type, inputs, ["n"], "conv", domain=domain, **attributes)
    return make([node, helper.make_node("Elu", ["n"], ["y"], "act")], arrays)


def check_fold(found: Diff, *, is_equal: bool) -> None:
    (fold,) = found.folds.values()
    assert fold.is_equal is is_equal
    assert ("folded: equal to 1e-" in format_diff(found)) is is_equal
    assert any(entry.is_real for entry in found.entries) is not is_equal
    assert bool(found.counts.changed) is not is_equal


both_ways = pytest.mark.parametrize("is_backwards", [False, True])


@both_ways
@pytest.mark.parametrize("name", [None, *WINDOWS])
def test_a_fold_is_equal_only_with_the_same_attributes(
    name: str | None, is_backwards: bool
) -> None:
    edited = {name: WINDOWS[name]} if name else {}
    found = compare(make_normed_conv(), make_folded(**edited), is_backwards=is_backwards)
    check_fold(found, is_equal=name is None)
    assert list_told(found) == ([f"attribute {name}"] if name else [])
    if name:
        assert f"folded: weights equal to 1e-7, but: attribute {name}" in format_diff(found)


@both_ways
@pytest.mark.parametrize(
    ("name", "value", "opset", "is_equal"),
    [
        ("training_mode", 1, 17, False),
        ("training_mode", 0, 17, True),
        ("momentum", 0.5, 17, True),
        ("spatial", 0, 7, False),
        ("is_test", 0, 6, False),
        ("is_test", 1, 6, True),
        ("epsilon", 0.5, 17, False),
    ],
)
def test_a_fold_is_of_a_normalization_by_stored_numbers(
    name: str, value: Any, opset: int, is_equal: bool, is_backwards: bool
) -> None:
    left = make_normed_conv(opset=opset, **{name: value})
    found = compare(left, make_folded(), is_backwards=is_backwards)
    check_fold(found, is_equal=is_equal)
    if not is_equal and name != "epsilon":  # that one is in the weights
        assert list_told(found) == [f"attribute {name} of BatchNormalization"]


@both_ways
def test_an_activation_that_came_in_is_no_fold(is_backwards: bool) -> None:
    right = make_folded(op_type="FusedConv", activation="Sigmoid")
    found = compare(make_normed_conv(), right, is_backwards=is_backwards)
    check_fold(found, is_equal=False)
    assert list_told(found) == ["activation"]


@both_ways
@pytest.mark.parametrize("size", [1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("factor", [1, -3])
def test_a_channel_is_measured_by_its_own_size(
    size: float, factor: float, is_backwards: bool
) -> None:
    scale = _VECTORS["g"] * np.array([1, size, 1, 1], np.float32)
    channels = np.array([1, factor, 1, 1])
    found = compare(
        make_normed_conv(scale), make_folded(scale, channels), is_backwards=is_backwards
    )
    check_fold(found, is_equal=factor == 1)


def make_activated(op_type: str, **stated: Any) -> ModelProto:
    nodes = []
    is_plain = op_type in ("Conv", "Gemm")
    weight = _WEIGHT if "Conv" in op_type else _LINEAR
    bias = np.ones(weight.shape[0] if "Conv" in op_type else 6, np.float32)
    if is_plain:
        nodes.append(helper.make_node("Relu", ["c"], ["n"], "act"))
    else:
        stated["activation"] = "Relu"
    domain = "" if is_plain else "com.microsoft"
    given = ["c" if is_plain else "n"]
    inputs = ["x", "w", "bias"]
    nodes.insert(0, helper.make_node(op_type, inputs, given, "head", domain=domain, **stated))
    nodes.append(helper.make_node("Exp", ["n"], ["y"], "end"))
    return make(nodes, {"w": weight, "bias": bias})


@both_ways
@pytest.mark.parametrize("name", [None, *WINDOWS])
def test_attributes_of_fused_convolutions_are_compared(
    name: str | None, is_backwards: bool
) -> None:
    edited = {name: WINDOWS[name]} if name else {}
    left, right = (
        make_activated("Conv", **_SAME),
        make_activated("FusedConv", **{**_SAME, **edited}),
    )
    found = compare(left, right, is_backwards=is_backwards)
    assert len(found.fused) == 1
    assert list_told(found) == ([f"attribute {name}"] if name else [])
    assert not name or f"attribute {name}" in format_diff(found).split("\n")[1]


@both_ways
@pytest.mark.parametrize(
    ("name", "value"), [(None, 0), ("alpha", 2.0), ("beta", 0.5), ("transA", 1), ("transB", 1)]
)
def test_attributes_of_fused_products_are_compared(
    name: str | None, value: float, is_backwards: bool
) -> None:
    left = make_activated("Gemm")
    right = make_activated("FusedGemm", **({name: value} if name else {}))
    found = compare(left, right, is_backwards=is_backwards)
    assert len(found.fused) == 1
    assert list_told(found) == ([f"attribute {name}"] if name else [])


def make_norm(axis: int = -1, epsilon: float = 1e-5) -> ModelProto:
    stated = {"axis": axis, "epsilon": epsilon}
    node = helper.make_node("LayerNormalization", ["x", "g", "b"], ["z"], "ln", **stated)
    arrays = {name: _VECTORS[name] for name in "gb"}
    return make([node, helper.make_node("Tanh", ["z"], ["y"], "end")], arrays)


def make_written_out(epsilon: float = 1e-5) -> ModelProto:
    rows = [
        ("ReduceMean", ["x"], "mu"),
        ("Sub", ["x", "mu"], "d"),
        ("Mul", ["d", "d"], "q"),
        ("ReduceMean", ["q"], "va"),
        ("Add", ["va", "eps"], "ve"),
        ("Sqrt", ["ve"], "sd"),
        ("Div", ["d", "sd"], "no"),
        ("Mul", ["no", "g"], "s"),
        ("Add", ["s", "b"], "z"),
        ("Tanh", ["z"], "y"),
    ]
    nodes = [helper.make_node(kind, taken, [given], f"n_{given}") for kind, taken, given in rows]
    for node in nodes:
        if node.op_type == "ReduceMean":
            node.attribute.append(helper.make_attribute("axes", [-1]))
    arrays = {name: _VECTORS[name] for name in "gb"}
    return make(nodes, {"eps": np.float32(epsilon), **arrays})


@both_ways
@pytest.mark.parametrize(
    ("edited", "told"), [({}, []), ({"epsilon": 0.5}, ["epsilon"]), ({"axis": -2}, ["axes"])]
)
def test_a_written_out_norm_is_compared_with_the_operator(
    edited: dict[str, Any], told: list[str], is_backwards: bool
) -> None:
    found = compare(make_written_out(), make_norm(**edited), is_backwards=is_backwards)
    assert len(found.fused) == 1
    assert list_told(found) == told


@pytest.mark.parametrize("kind", TOOLS)
def test_an_edited_node_of_what_a_tool_made_is_told(kind: str) -> None:
    if not is_installed(kind):
        pytest.skip(f"{TOOLS[kind][0]} is not installed")
    twin = make_tool_twin(kind, make_normed())
    assert twin is not None
    faithful = diff(read_proto(twin.left), read_proto(twin.right))
    assert not list_told(faithful)
    edited = ModelProto.FromString(twin.right.SerializeToString())
    heads = [node for node in edited.graph.node if "Conv" in node.op_type]
    (pads,) = (each for each in heads[0].attribute if each.name == "pads")
    pads.ints[:] = [2, 0, 2, 0]
    found = diff(read_proto(twin.left), read_proto(edited))
    told = [change.what for one in found.nodes for change in one.changes]
    assert "attribute pads" in told
    assert "attribute pads" in format_diff(found)
    assert "attribute pads" not in format_diff(faithful)


@pytest.mark.parametrize("size", [16, 2100])
@pytest.mark.parametrize("transposed", [0, 1])
def test_a_large_weight_that_is_read_the_other_way_is_told(size: int, transposed: int) -> None:
    """Of a weight of any size it is known whether it is turned, or only read so."""
    weight = _CHANCE.standard_normal((size, size)).astype(np.float32)
    nodes = [helper.make_node("Gemm", ["x", "w"], ["p"], "gemm")]
    nodes.append(helper.make_node("Relu", ["p"], ["y"], "act"))
    fused = helper.make_node(
        *("FusedGemm", ["x", "w"], ["y"], "gemm"),
        domain="com.microsoft",
        activation="Relu",
        transB=transposed,
    )
    found = compare(make(nodes, {"w": weight}), make([fused], {"w": weight}))
    assert list_told(found) == ["attribute transB"] * transposed
