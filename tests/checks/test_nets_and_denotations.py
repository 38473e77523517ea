"""Caffe2 nets, denotations carried through operators, blocks written out: near misses."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.checks import Finding, check
from netloupe.explorer.readers.load import load
from netloupe.proto import caffe2_pb2
from tests.checks.ruling import Made, build, find

_NCHW = ("DATA_BATCH", "DATA_CHANNEL", "DATA_FEATURE", "DATA_FEATURE")


# nets


def check_net(rule: str, *operators: dict[str, Any]) -> list[Finding]:
    """Return what a rule finds in a net of some operators, whose weight w is filled."""
    net = caffe2_pb2.NetDef(name="net", external_input=["x", "w", "v"])
    for fields in operators:
        given = dict(fields)
        arguments, device = given.pop("arg", {}), given.pop("device", 0)
        op = net.op.add(**given)
        op.device_option.device_type = device
        for name, value in arguments.items():
            argument = op.arg.add(name=name)
            setattr(argument, "i" if isinstance(value, int) else "f", value)
    net.external_output.append("y")
    init = caffe2_pb2.NetDef(name="init")
    fill = init.op.add(type="GivenTensorFill", output=["w"])
    fill.arg.add(name="shape").ints.extend([2, 2])
    fill.arg.add(name="values").floats.extend([1, 2, 3, 4])
    return list(check(load((net.SerializeToString(), init.SerializeToString())), select=[rule]))


def op(kind: str, *inputs: str, output: str = "y", **more: Any) -> dict[str, Any]:
    return {"type": kind, "input": inputs, "output": [output], **more}


def test_dropout_of_a_net() -> None:
    assert check_net("NL-C01", op("Dropout", "x"))
    assert check_net("NL-C01", op("Dropout", "x", arg={"is_test": 0}))
    assert not check_net("NL-C01", op("Dropout", "x", arg={"is_test": 1}))
    gradient = op("ReluGradient", "y", "x", output="g")
    assert not check_net("NL-C01", op("Dropout", "x"), gradient)


def test_weights_that_are_filled() -> None:
    assert not check_net("NL-C02", op("FC", "x", "w", "x"))
    (finding,) = check_net("NL-C02", op("FC", "x", "v", "w"))
    assert finding.evidence == {"missing": 1, "filled": 1}


def test_gradients() -> None:
    assert check_net("NL-C03", op("ReluGradient", "x", "x"))
    assert not check_net("NL-C03", op("Relu", "x"))


@pytest.mark.parametrize(
    ("arguments", "is_found"),
    [
        ({"Y_scale": 0.1, "Y_zero_point": 0}, False),
        ({"Y_scale": 0.1, "Y_zero_point": 255}, False),
        ({"Y_scale": 0.1, "Y_zero_point": 256}, True),
        ({"Y_scale": -0.1, "Y_zero_point": 0}, True),
        ({"Y_scale": float("nan")}, True),
        ({}, True),
    ],
)
def test_scales_of_nets(arguments: dict[str, float], is_found: bool) -> None:
    assert bool(check_net("NL-C04", op("Int8Relu", "x", arg=arguments))) is is_found
    assert not check_net("NL-C04", op("Int8Dequantize", "x"))


def test_devices() -> None:
    first = op("Relu", "x", output="a", device=1)
    assert check_net("NL-C05", first, op("Relu", "a"))
    assert not check_net("NL-C05", first, op("Relu", "a", device=1))
    assert not check_net("NL-C05", first, op("CopyGPUToCPU", "a", output="b"), op("Relu", "b"))


# denotations


def denoted(
    nodes: list[onnx.NodeProto],
    names: tuple[str, ...] = _NCHW,
    result: tuple[str, ...] = (),
    **arrays: np.ndarray[Any, Any],
) -> Any:
    """Return what makes a model whose input, and perhaps its output, has denotations."""

    def make() -> onnx.ModelProto:
        dims = [2, 3, 4, 5, 6][: len(names)]
        given = helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)
        output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1] * len(result) or None)
        for value, denotations in ((given, names), (output, result)):
            for dim, name in zip(value.type.tensor_type.shape.dim, denotations, strict=False):
                dim.denotation = name
        tensors = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
        graph = helper.make_graph(nodes, "g", [given], [output], tensors)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])

    return make


_POOL = {"kernel_shape": [1, 1]}


def make(kind: str, inputs: str, output: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(kind, inputs.split(), [output], name=output, **attributes)


@pytest.mark.parametrize(
    ("order", "is_found"),
    [([0, 2, 1, 3], True), ([0, 1, 3, 2], False), ([1, 0, 2, 3], True), ([0, 1, 2, 3], False)],
)
def test_the_example_of_the_specification(order: list[int], is_found: bool) -> None:
    nodes = [make("Transpose", "x", "t", perm=order), make("AveragePool", "t", "y", **_POOL)]
    assert bool(find(denoted(nodes), "NL-D02")) is is_found


@pytest.mark.parametrize("between", ["Relu", "Softmax", "Identity"])
def test_denotations_go_through_what_keeps_axes(between: str) -> None:
    nodes = [
        make("Transpose", "x", "a", perm=[0, 2, 3, 1]),
        make(between, "a", "b"),
        make("MaxPool", "b", "y", **_POOL),
    ]
    (finding,) = find(denoted(nodes), "NL-D02")
    assert finding.evidence == {
        "operand": 0,
        "axis": 3,
        "denoted": "DATA_CHANNEL",
        "expected": ["DATA_FEATURE", "DATA_TIME"],
    }


def test_denotations_end_where_axes_are_lost() -> None:
    shape = np.array([2, 4, 5, 3])
    nodes = [make("Reshape", "x shape", "a"), make("MaxPool", "a", "y", **_POOL)]
    assert not find(denoted(nodes, shape=shape), "NL-D02")


@pytest.mark.parametrize(
    ("axes", "kept", "is_found"),
    [
        ([0], ("DATA_CHANNEL", "DATA_FEATURE", "DATA_FEATURE"), False),
        ([1], ("DATA_CHANNEL",), True),
    ],
)
def test_reduced_axes_are_gone(axes: list[int], kept: tuple[str, ...], is_found: bool) -> None:
    nodes = [make("ReduceMean", "x axes", "y", keepdims=0)]
    kept = (*kept, *["DATA_FEATURE"] * (3 - len(kept)))
    given = denoted(nodes, result=kept, axes=np.array(axes))
    assert bool(find(given, "NL-D02")) is is_found


def test_added_axes_are_of_no_kind() -> None:
    nodes = [make("Unsqueeze", "x axes", "a"), make("Squeeze", "a axes", "b")]
    nodes.append(make("MaxPool", "b", "y", **_POOL))
    assert not find(denoted(nodes, axes=np.array([1])), "NL-D02")
    nodes[2] = make("MaxPool", "a", "y", kernel_shape=[1, 1, 1])
    (finding,) = find(denoted(nodes, axes=np.array([1])), "NL-D02")
    assert finding.evidence["axis"] == 2


def test_joined_axes_have_to_be_alike() -> None:
    nodes = [make("Transpose", "x", "t", perm=[0, 2, 1, 3]), make("Add", "x t", "y")]
    assert find(denoted(nodes), "NL-D02")
    nodes = [make("Relu", "x", "t"), make("Add", "x t", "y")]
    assert not find(denoted(nodes), "NL-D02")


def test_what_a_result_is_denoted() -> None:
    nodes = [make("Transpose", "x", "y", perm=[0, 2, 3, 1])]
    right = ("DATA_BATCH", "DATA_FEATURE", "DATA_FEATURE", "DATA_CHANNEL")
    assert not find(denoted(nodes, result=right), "NL-D02")
    (finding,) = find(denoted(nodes, result=_NCHW), "NL-D02")
    assert finding.paths == ("main/%y",)


def test_recurrent_layers_take_time_first() -> None:
    weights = {"w": np.zeros((1, 4, 4), np.float32), "r": np.zeros((1, 4, 4), np.float32)}
    names = ("DATA_BATCH", "DATA_TIME", "DATA_FEATURE")
    node = make("RNN", "x w r", "y", hidden_size=4)
    assert find(denoted([node], names, **weights), "NL-D02")
    node = make("RNN", "x w r", "y", hidden_size=4, layout=1)
    assert not find(denoted([node], names, **weights), "NL-D02")


def subtract(rank: int) -> Made:
    """A picture without denotations less a denoted mean [3, 1, 1], pooled."""

    def made() -> onnx.ModelProto:
        picture = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8][-rank:])
        mean = helper.make_tensor_value_info("mean", TensorProto.FLOAT, [3, 1, 1])
        names = ("DATA_CHANNEL", "DATA_FEATURE", "DATA_FEATURE")
        for dim, name in zip(mean.type.tensor_type.shape.dim, names, strict=True):
            dim.denotation = name
        nodes = [make("Sub", "x mean", "d"), make("MaxPool", "d", "y", **_POOL)]
        output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        graph = helper.make_graph(nodes, "g", [picture, mean], [output])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])

    return made


def test_axes_are_counted_by_the_operand_that_has_most() -> None:
    assert not find(subtract(4), "NL-D02")
    (finding,) = find(subtract(3), "NL-D02")  # the first axis is taken for the batch
    assert finding.evidence["axis"] == 0


@pytest.mark.parametrize(
    ("nodes", "arrays", "axis"),
    [
        ([make("Gather", "x i", "b", axis=1)], {"i": np.array(0)}, None),
        ([make("Gather", "x i", "b", axis=0)], {"i": np.array([0, 1])}, None),
        ([make("Gather", "x i", "b", axis=2)], {"i": np.array([[0, 1]])}, None),
        ([helper.make_node("Split", ["x"], ["a", "b"], axis=2, num_outputs=2)], {}, None),
        ([make("MatMul", "x w", "b")], {"w": np.ones((5, 2), np.float32)}, None),
        ([make("Transpose", "x", "t", perm=[0, 2, 1, 3]), make("Split", "t", "b")], {}, 2),
        (
            [make("Transpose", "x", "t", perm=[0, 3, 2, 1]), make("MatMul", "t w", "b")],
            {"w": np.ones((3, 2), np.float32)},
            None,
        ),
        (
            [make("Transpose", "x", "t", perm=[0, 2, 1, 3]), make("Gather", "t i", "b", axis=3)],
            {"i": np.array([0, 1])},
            2,
        ),
    ],
)
def test_denotations_go_through_what_takes_some_of_an_axis(
    nodes: list[onnx.NodeProto], arrays: dict[str, np.ndarray], axis: int | None
) -> None:
    found = find(denoted([*nodes, make("MaxPool", "b", "y", **_POOL)], **arrays), "NL-D02")
    assert [finding.evidence["axis"] for finding in found] == ([] if axis is None else [axis])


@pytest.mark.parametrize(
    ("shape", "result"),
    [
        ([2, 3, 20], ("DATA_BATCH", "DATA_CHANNEL", "")),
        ([0, 0, -1], ("DATA_BATCH", "DATA_CHANNEL", "")),
        ([-1, 60], ("DATA_BATCH", "")),
        ([-1, 3, 4, 5], _NCHW),
    ],
)
def test_denotations_go_as_far_into_a_reshape_as_axes_are_the_same(
    shape: list[int], result: tuple[str, ...]
) -> None:
    nodes = [make("Reshape", "x shape", "y")]
    given = denoted(nodes, result=result, shape=np.array(shape))
    assert not find(given, "NL-D02")
    turned = ("DATA_CHANNEL", *result[1:])
    (finding,) = find(denoted(nodes, result=turned, shape=np.array(shape)), "NL-D02")
    assert finding.evidence["follows"] == "DATA_BATCH"


def test_where_denotations_end_is_said() -> None:
    shape = np.array([4, 2, 5, 3])
    nodes = [make("Reshape", "x shape", "a"), make("MaxPool", "a", "y", **_POOL)]
    found = check(load(denoted(nodes, shape=shape)()), select=["NL-D02"])
    told = [(skipped.id, skipped.reason) for skipped in found.skipped_rules]
    assert told == [("NL-D02", "denotations of axes are not followed behind Reshape (1)")]
    whole = check(load(denoted([make("MaxPool", "x", "y", **_POOL)])()), select=["NL-D02"])
    assert whole.skipped_rules == ()


def test_names_of_ones_own_are_a_note() -> None:
    names = ("DATA_BATCH", "DATA_PIXEL", "DATA_FEATURE", "DATA_FEATURE")
    (finding,) = find(denoted([make("Relu", "x", "y")], names), "NL-D01")
    assert finding.severity == "note"
    twice = ("DATA_BATCH", "DATA_BATCH", "DATA_FEATURE", "DATA_FEATURE")
    (finding,) = find(denoted([make("Relu", "x", "y")], twice), "NL-D01")
    assert finding.severity == "warning"


def test_names_that_no_standard_has_are_no_denotations() -> None:
    names = ("DATA_BATCH", "HEIGHT", "WIDTH", "CHANNEL")
    assert not find(denoted([make("MaxPool", "x", "y", **_POOL)], names), "NL-D02")


# exporting, blocks


def test_softmax_of_softmax() -> None:
    twice = [helper.make_node("Softmax", ["x"], ["a"]), helper.make_node("Softmax", ["a"], ["y"])]
    assert find(build(twice), "NL-X05")
    apart = [helper.make_node("Softmax", ["x"], ["a"]), helper.make_node("Log", ["a"], ["y"])]
    assert not find(build(apart), "NL-X05")


def test_chance() -> None:
    assert find(build([helper.make_node("RandomNormalLike", ["x"], ["y"])]), "NL-X06")
    assert not find(build([helper.make_node("RandomNormalLike", ["x"], ["y"], seed=1.0)]), "NL-X06")


@pytest.mark.parametrize(("size", "is_found"), [(8, True), (1, False)])
def test_expansion(size: int, is_found: bool) -> None:
    node = helper.make_node("Expand", ["x", "s"], ["y"])
    assert bool(find(build([node], {"s": np.array([size, 4])}), "NL-X07")) is is_found
    fixed = build([node], {"s": np.array([8, 4])}, inputs={"x": (1, 4)})
    assert not find(fixed, "NL-X07")


def test_a_norm_that_is_an_operator_is_not_written_out() -> None:
    node = helper.make_node("LayerNormalization", ["x", "w"], ["y"])
    assert not find(build([node], {"w": np.ones(4, np.float32)}), "NL-G14")
