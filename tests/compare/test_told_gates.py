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
        told = [read_fail_on(gate)[0].applies(found) for found in (same, other, more)]
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


def store(kind: str, model: onnx.ModelProto) -> onnx.ModelProto:
    """Write the weight of a model in another way: its numbers stay."""
    made = onnx.ModelProto.FromString(model.SerializeToString())
    (tensor,) = made.graph.initializer
    array = numpy_helper.to_array(tensor)
    if kind == "renamed":
        tensor.name = made.graph.node[0].input[1] = "other"
    elif kind == "documented":
        tensor.doc_string = "text"
    elif kind == "typed data":
        tensor.ClearField("raw_data")
        tensor.float_data.extend(array.reshape(-1).tolist())
    else:
        made.graph.node.insert(0, helper.make_node("Constant", [], ["w"], value=tensor))
        del made.graph.initializer[:]
    return made


@pytest.mark.parametrize("kind", ["renamed", "documented", "typed data", "constant node"])
def test_weights_that_are_only_written_otherwise_count_as_equal(kind: str) -> None:
    model = make_sum(np.arange(1, 13, dtype=np.float32))
    for sides in ((model, store(kind, model)), (store(kind, model), model)):
        found = diff(*sides)
        assert found.verdict == "cosmetic"
        assert (found.equal_tensors, found.counts.weights_changed) == (1, 0)
    other = store(kind, make_sum(np.arange(2, 14, dtype=np.float32)))
    assert diff(model, other).equal_tensors == 0


def test_stored_axes_that_differ_are_no_equal_weights() -> None:
    def make(axis: int) -> onnx.ModelProto:
        model = make_sum(np.array([axis], np.int64))
        model.graph.node[0].op_type = "ReduceSum"
        return model

    assert diff(make(0), make(0)).equal_tensors == 1
    assert diff(make(0), make(1)).equal_tensors == 0


def test_the_sentence_on_unread_weights_says_what_could_be_read() -> None:
    def make(*, is_missing: bool) -> onnx.ModelProto:
        model = make_sum(np.arange(1, 13, dtype=np.float32))
        model.graph.node.append(helper.make_node("Mul", ["y", "v"], ["z"]))
        tensor = numpy_helper.from_array(np.arange(12, dtype=np.float32), "v")
        if is_missing:
            tensor.ClearField("raw_data")
            tensor.data_location = TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value="nowhere.bin")
        model.graph.initializer.append(tensor)
        return model

    found = diff(make(is_missing=False), make(is_missing=True))
    assert found.verdict == "unread"
    assert write_verdict(found) == (
        "The structure is the same, and so is the weight that could be read: "
        "1 weight could not be read."
    )
