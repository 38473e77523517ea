"""Inputs of a Caffe2 net that its init net fills only so that their blobs are there."""

from __future__ import annotations

from typing import Any

import pytest

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.proto import caffe2_pb2


def make_nets(fill: dict[str, Any], listed: tuple[str, ...] = ("data", "w", "b")) -> Model:
    net = caffe2_pb2.NetDef(name="net", external_input=listed, external_output=["y"])
    conv = net.op.add(type="Conv", input=["data", "w", "b"], output=["c"])
    conv.arg.add(name="kernel", i=3)
    net.op.add(type="Relu", input=["c"], output=["y"])
    init = caffe2_pb2.NetDef(name="init")
    for name, dims in (("w", (4, 3, 3, 3)), ("b", (4,))):
        given = init.op.add(type="GivenTensorFill", output=[name])
        given.arg.add(name="shape", ints=dims)
        size = 108 if name == "w" else 4
        given.arg.add(name="values", floats=[1.0] * size)
    placeholder = init.op.add(type=fill["type"], output=["data"])
    for name, value in fill.items():
        if name == "shape":
            placeholder.arg.add(name=name, ints=value)
        elif name == "value":
            placeholder.arg.add(name=name, f=value)
        elif name == "values":
            placeholder.arg.add(name=name, strings=value)
    return load(net.SerializeToString(), init.SerializeToString())


FILLS: dict[str, dict[str, Any]] = {
    "one number": {"type": "ConstantFill", "shape": [1]},
    "its own shape": {"type": "ConstantFill", "shape": [1, 3, 8, 8]},
    "zero": {"type": "ConstantFill", "shape": [1], "value": 0.0},
    "a byte": {"type": "GivenTensorByteStringToUInt8Fill", "shape": [1], "values": [b"\0"]},
}


@pytest.mark.parametrize("kind", FILLS)
def test_a_placeholder_is_an_input(kind: str) -> None:
    model = make_nets(FILLS[kind])
    assert [value.name for value in model.graph.inputs] == ["data"]
    assert sorted(tensor.name for tensor in model.graph.initializers) == ["b", "w"]
    assert model.totals.parameters == 112
    assert "placeholder" in model.graph.inputs[0].metadata
    bound = model.costs({"data": [1, 3, 8, 8]})
    assert bound.macs == 36 * 3 * 4 * 9


def test_only_its_own_shape_is_believed() -> None:
    given, one = (
        make_nets(FILLS[kind]).graph.inputs[0] for kind in ("its own shape", "one number")
    )
    assert str(given.type) == "float32[1, 3, 8, 8]"
    assert str(one.type) == "float32"


@pytest.mark.parametrize(
    ("fill", "listed"),
    [
        ({"type": "ConstantFill", "shape": [1, 3, 8, 8], "value": 0.5}, ("data", "w", "b")),
        ({"type": "XavierFill", "shape": [1, 3, 8, 8]}, ("data", "w", "b")),
        ({"type": "ConstantFill", "shape": [1, 3, 8, 8]}, ("w", "b", "data")),
        ({"type": "ConstantFill", "shape": [1, 3, 8, 8]}, ("w", "b")),
    ],
    ids=["a number", "random", "behind the parameters", "not listed"],
)
def test_what_may_be_meant_is_no_placeholder(fill: dict[str, Any], listed: tuple[str, ...]) -> None:
    model = make_nets(fill, listed)
    assert [value.name for value in model.graph.inputs] == []
    assert len(model.graph.initializers) == 3


def make_example(*, is_first: bool = True, is_alone: bool = True) -> Model:
    listed = ["data", "w", "b"] if is_first else ["w", "b", "data"]
    net = caffe2_pb2.NetDef(name="net", external_input=listed, external_output=["y"])
    net.op.add(type="Conv", input=["data", "w", "b"], output=["c"]).arg.add(name="kernel", i=3)
    net.op.add(type="Relu", input=["c"], output=["y"])
    if not is_alone:
        net.external_input.append("more")
        net.op.add(type="Add", input=["c", "more"], output=["z"])
    init = caffe2_pb2.NetDef(name="init")
    for name, dims in (("data", (1, 3, 8, 8)), ("w", (4, 3, 3, 3)), ("b", (4,))):
        given = init.op.add(type="GivenTensorFill", output=[name])
        given.arg.add(name="shape", ints=dims)
        size = {"data": 192, "w": 108, "b": 4}[name]
        given.arg.add(name="values", floats=[0.5] * size)
    return load(net.SerializeToString(), init.SerializeToString())


def test_an_image_that_the_init_net_holds_is_an_input_of_a_net_without_another() -> None:
    model = make_example()
    (value,) = model.graph.inputs
    assert (value.name, str(value.type)) == ("data", "float32[1, 3, 8, 8]")
    assert value.metadata["placeholder"] == "the init net holds an example of it"
    assert model.totals.parameters == 112
    assert model.costs().macs == 36 * 3 * 4 * 9
    assert model.costs({"data": [2, 3, 8, 8]}).macs == 2 * 36 * 3 * 4 * 9


@pytest.mark.parametrize("changed", [{"is_first": False}, {"is_alone": False}], ids=str)
def test_numbers_that_may_be_learned_stay_so(changed: dict[str, bool]) -> None:
    model = make_example(**changed)
    assert "data" not in [value.name for value in model.graph.inputs]
    assert model.totals.parameters == 112 + 192


def test_a_zero_weight_is_no_placeholder() -> None:
    net = caffe2_pb2.NetDef(name="net", external_input=["w", "data"], external_output=["y"])
    net.op.add(type="Conv", input=["data", "w"], output=["y"])
    init = caffe2_pb2.NetDef(name="init")
    init.op.add(type="ConstantFill", output=["w"]).arg.add(name="shape", ints=[4, 3, 3, 3])
    model = load(net.SerializeToString(), init.SerializeToString())
    assert [value.name for value in model.graph.inputs] == ["data"]
    assert [tensor.name for tensor in model.graph.initializers] == ["w"]
