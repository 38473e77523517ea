"""What gates and headlines say of weights of other dimensions, exchanged ones and inner types."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, TypeProto, helper, numpy_helper

from netloupe.commands.diff import read_fail_on
from netloupe.explorer.compare import diff
from netloupe.explorer.describe.difference_summary import write_verdict


def make_sum(array: np.ndarray[Any, Any]) -> onnx.ModelProto:
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.parametrize("gate", ["weights", "weights:0.5"])
def test_a_weight_of_other_dimensions_has_other_numbers_unless_these_are_the_same(
    gate: str,
) -> None:
    numbers = np.arange(1, 13, dtype=np.float32)
    shapes = [(12,), (3, 4), (1, 12), (2, 6)]
    for first, second in itertools.permutations(shapes, 2):
        same = diff(make_sum(numbers.reshape(first)), make_sum(numbers.reshape(second)))
        other = diff(make_sum(numbers.reshape(first)), make_sum(numbers[::-1].reshape(second)))
        more = diff(make_sum(numbers.reshape(first)), make_sum(np.ones((1, 13), np.float32)))
        told = [read_fail_on(gate).applies(found) for found in (same, other, more)]
        assert told == [False, True, True], (first, second)


@pytest.mark.parametrize("name", ["w", "a: b", "in/a:b"])
def test_weights_of_any_name_that_are_exchanged_are_named(name: str) -> None:
    def make(first: float, second: float) -> onnx.ModelProto:
        names = [f"{name}{number}" for number in range(2)]
        graph = helper.make_graph(
            [
                helper.make_node("Mul", ["x", names[0]], ["h"], name="one"),
                helper.make_node("Sub", ["h", names[1]], ["y"], name="two"),
            ],
            "graph",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])],
            [
                numpy_helper.from_array(np.arange(4, dtype=np.float32) + start, each)
                for start, each in zip((first, second), names, strict=True)
            ],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)

    told = write_verdict(diff(make(1, 2), make(2, 1)))
    assert f"{name}0" in told
    assert f"{name}1" in told
    assert "exchanged" in told


def wrap(kind: str, inner: TypeProto | None) -> TypeProto:
    """Make a type that holds values of another."""
    made = TypeProto()
    if kind == "sequence":
        held = made.sequence_type.elem_type
        made.sequence_type.SetInParent()
    elif kind == "optional":
        held = made.optional_type.elem_type
        made.optional_type.SetInParent()
    else:
        made.map_type.key_type = TensorProto.INT64
        held = made.map_type.value_type
    if inner is not None:
        held.CopyFrom(inner)
    return made


@pytest.mark.parametrize("kind", ["sequence", "optional", "map"])
def test_inner_types_fit_where_those_of_tensors_do(kind: str) -> None:
    """What fits of tensors fits inside of other types, for inputs and for outputs."""
    plain = [
        helper.make_tensor_type_proto(TensorProto.FLOAT, shape)
        for shape in (None, [None], ["n"], [3], [4], [3, 3])
    ] + [helper.make_tensor_type_proto(TensorProto.INT64, [3])]

    def is_compatible(sides: tuple[TypeProto, TypeProto], *, of_input: bool) -> bool:
        models = []
        for one in sides:
            ends = [helper.make_value_info("x", plain[0]), helper.make_value_info("y", plain[0])]
            ends[not of_input].type.CopyFrom(one)
            graph = helper.make_graph(
                [helper.make_node("Identity", ["x"], ["y"])], "graph", ends[:1], ends[1:]
            )
            models.append(
                helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
            )
        return diff(*models).is_compatible

    for first, second in itertools.permutations(plain, 2):
        for of_input in (True, False):
            bare = is_compatible((first, second), of_input=of_input)
            held = is_compatible((wrap(kind, first), wrap(kind, second)), of_input=of_input)
            assert held == bare, (first, second, of_input)
