"""Values that one model divides by one node and the other by a node for each part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, permutations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from netloupe.explorer.compare import Diff, diff, match_models
from netloupe.explorer.compare.partitions import list_partitions
from netloupe.explorer.readers.load import load

#: along which axis a value of four axes is divided
_AXIS = 1
_NAMES = ("first", "second", "third")


class Builder:
    """Adds nodes and stored integers to a graph."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.stored: list[onnx.TensorProto] = []

    def integers(self, numbers: int | Sequence[int]) -> str:
        name = f"c{len(self.stored)}"
        self.stored.append(numpy_helper.from_array(np.array(numbers, np.int64), name))
        return name

    def add(
        self, op_type: str, inputs: list[str], outputs: list[str], **attributes: object
    ) -> None:
        name = f"{op_type}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, outputs, name=name, **attributes))


Form = Callable[[Builder, str, Sequence[int]], list[str]]


def split(builder: Builder, value: str, sizes: Sequence[int]) -> list[str]:
    parts = [f"part{place}" for place in range(len(sizes))]
    builder.add("Split", [value, builder.integers(sizes)], parts, axis=_AXIS)
    return parts


def split_evenly(builder: Builder, value: str, sizes: Sequence[int]) -> list[str]:
    parts = [f"part{place}" for place in range(len(sizes))]
    builder.add("Split", [value], parts, axis=_AXIS - 4, num_outputs=len(sizes))
    return parts


def split_and_squeeze(builder: Builder, value: str, sizes: Sequence[int]) -> list[str]:
    parts = split(builder, value, sizes)
    for part in parts:
        builder.add("Squeeze", [part, builder.integers([_AXIS])], [f"{part} alone"])
    return [f"{part} alone" for part in parts]


def slices(builder: Builder, value: str, sizes: Sequence[int]) -> list[str]:
    return _slice(builder, value, sizes, _AXIS, None)


def slices_to_the_end(builder: Builder, value: str, sizes: Sequence[int]) -> list[str]:
    return _slice(builder, value, sizes, _AXIS - 4, 2**63 - 1)


def _slice(
    builder: Builder, value: str, sizes: Sequence[int], axis: int, last: int | None
) -> list[str]:
    ends = [*accumulate(sizes)]
    starts = [0, *ends[:-1]]
    for place in reversed(range(len(sizes))):  # in whichever order they stand
        end = last if last is not None and place == len(sizes) - 1 else ends[place]
        bounds = [builder.integers([number]) for number in (starts[place], end, axis)]
        builder.add("Slice", [value, *bounds], [f"part{place}"])
    return [f"part{place}" for place in range(len(sizes))]


def gathers(builder: Builder, value: str, sizes: Sequence[int]) -> list[str]:
    for place in range(len(sizes)):
        builder.add("Gather", [value, builder.integers(place)], [f"part{place}"], axis=_AXIS)
    return [f"part{place}" for place in range(len(sizes))]


def gathers_of_one(builder: Builder, value: str, sizes: Sequence[int]) -> list[str]:
    for place in range(len(sizes)):
        index = builder.integers([place - len(sizes)])
        builder.add("Gather", [value, index], [f"part{place}"], axis=_AXIS)
    return [f"part{place}" for place in range(len(sizes))]


#: by name, how a value is divided, and whether the parts are without the axis
FORMS: dict[str, tuple[Form, bool]] = {
    each.__name__: (each, each in (split_and_squeeze, gathers))
    for each in (
        *(split, split_evenly, slices, slices_to_the_end, gathers_of_one),
        *(split_and_squeeze, gathers),
    )
}
_SPLITTING = ("split", "split_evenly", "split_and_squeeze")


def build(
    form: str,
    sizes: Sequence[int] = (1, 1, 1),
    order: Sequence[int] = (0, 1, 2),
    total: int | None = None,
) -> onnx.ModelProto:
    """Return a model that divides a value into three parts, and takes each otherwise."""
    builder = Builder()
    builder.add("Relu", ["x"], ["r"])
    parts = FORMS[form][0](builder, "r", sizes)
    for place, op_type in zip(order, ("Sin", "Exp", "Tanh"), strict=True):
        builder.add(op_type, [parts[place]], [f"{op_type} of it"])
        builder.add("ReduceSum", [f"{op_type} of it"], [f"{op_type} sum"], keepdims=0)
    builder.add("Sub", ["Sin sum", "Exp sum"], ["difference"])
    builder.add("Div", ["difference", "Tanh sum"], ["y"])
    total = sum(sizes) if total is None else total
    graph = helper.make_graph(
        builder.nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, total, 3, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [])],
        builder.stored,
        value_info=[helper.make_tensor_value_info("r", TensorProto.FLOAT, [2, total, 3, 4])],
    )
    opsets = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def compare(left: onnx.ModelProto, right: onnx.ModelProto) -> Diff:
    return diff(load(left.SerializeToString()), load(right.SerializeToString()))


def list_told(difference: Diff) -> list[tuple[str, object, object]]:
    """Return what is told of pairs beside names."""
    return [
        (change.what, change.left, change.right)
        for node in difference.nodes
        for change in node.changes
        if not change.aspect
    ]


PAIRS = [
    (one, other)
    for one in FORMS
    for other in FORMS
    if (one in _SPLITTING) != (other in _SPLITTING) and FORMS[one][1] == FORMS[other][1]
]


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_parts_are_the_same_whatever_gives_them(left: str, right: str) -> None:
    models = [load(build(form).SerializeToString()) for form in (left, right)]
    matching = match_models(*models)
    assert not matching.list_left_alone()
    assert not matching.list_right_alone()
    pairs = [pair for pair in matching.pairs if len(pair.left) + len(pair.right) > 2]
    assert [max(len(pairs[0].left), len(pairs[0].right))] == [4 if FORMS[left][1] else 3]
    for op_type in ("Sin", "Exp", "Tanh"):
        (one,), (other,) = (
            [node.inputs[0] for node in model.graph.nodes if node.op_type == op_type]
            for model in models
        )
        assert matching.values[one] is other
    difference = diff(*models)
    assert list_told(difference) == []
    assert not difference.left_tensors, "indices are no weights"
    assert not difference.right_tensors


def test_an_axis_counted_from_the_end_is_known_where_the_rank_follows() -> None:
    """Of what Relu gives nothing is stated, but it has as many axes as what it takes."""
    models = [build(form) for form in ("split", "slices_to_the_end")]
    for model in models:
        del model.graph.value_info[:]
    difference = compare(*models)
    assert not [*difference.left_alone, *difference.right_alone, *list_told(difference)]


@pytest.mark.parametrize(("left", "right"), PAIRS)
@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_parts_that_change_places_are_told(left: str, right: str, order: tuple[int, ...]) -> None:
    """That something else is computed says onnx's own evaluator."""
    models = build(left), build(right, order=order)
    operand = np.linspace(-3, 3, 2 * 3 * 3 * 4, dtype=np.float32).reshape(2, 3, 3, 4)
    results = [ReferenceEvaluator(model).run(None, {"x": operand})[0] for model in models]
    told = list_told(compare(*models))
    assert (not told) == bool(np.allclose(*results))
    assert len(told) == sum(place != number for number, place in enumerate(order))


@pytest.mark.parametrize("form", ["slices", "slices_to_the_end"])
@pytest.mark.parametrize("sizes", [(1, 2, 3), (2, 1, 3), (1, 1, 4)])
def test_parts_of_other_sizes_are_other_parts(form: str, sizes: tuple[int, ...]) -> None:
    told = compare(build("split", (1, 2, 3)), build(form, sizes))
    alone = [node.op_type for node in (*told.left_alone, *told.right_alone)]
    is_same = sizes == (1, 2, 3)
    assert is_same == (not alone and not list_told(told))


def test_what_is_no_whole_is_no_partition() -> None:
    """A Split gives all of what it takes, and Slices may leave some out, or take some twice."""
    for sizes, total in (((1, 2, 3), 7), ((1, 2, 3), 6)):
        found = [
            *list_partitions(load(build("slices", sizes, total=total).SerializeToString()).graph)
        ]
        assert bool(found) == (total == 6)
    model = build("gathers", total=3)
    for place, numbers in enumerate(([0, 0, 2], [0, 1, 3], [1, 2, 3], [0, 1, -4])):
        for tensor, number in zip(model.graph.initializer, numbers, strict=True):
            tensor.CopyFrom(numpy_helper.from_array(np.array(number, np.int64), tensor.name))
        assert not [*list_partitions(load(model.SerializeToString()).graph)], place


def test_a_squeeze_of_another_axis_is_no_part_of_a_partition() -> None:
    model = build("split_and_squeeze", total=3)
    for tensor in model.graph.initializer[1:]:
        tensor.CopyFrom(numpy_helper.from_array(np.array([0], np.int64), tensor.name))
    (found,) = list_partitions(load(model.SerializeToString()).graph)
    assert not found.is_squeezed
    assert [node.op_type for node in found.nodes] == ["Split"]


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_reshape_that_an_optimizer_joined_with_the_next_one_is_that_one(is_shared: bool) -> None:
    """MatMul, Add and Reshape became Reshape, Gemm and Reshape: into heads at once."""
    chance = np.random.default_rng(3)
    weight, bias = (chance.standard_normal(dims).astype(np.float32) for dims in ((6, 8), (8,)))
    stored = [numpy_helper.from_array(weight, "W"), numpy_helper.from_array(bias, "B")]

    def finish(builder: Builder) -> onnx.ModelProto:
        builder.add("Transpose", ["heads"], ["turned"], perm=[0, 2, 1, 3])
        builder.add("Exp" if is_shared else "Sin", ["r" if is_shared else "turned"], ["beside"])
        builder.add("ReduceSum", ["beside"], ["sum"], keepdims=0)
        builder.add("Mul", ["turned", "sum"], ["y"])
        graph = helper.make_graph(
            builder.nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 5, 6])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4, 5, 2])],
            [*builder.stored, *stored],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)

    left, right = Builder(), Builder()
    left.add("Relu", ["x"], ["r"])
    left.add("MatMul", ["r", "W"], ["product"])
    left.add("Add", ["product", "B"], ["projected"])
    left.add("Reshape", ["projected", left.integers([2, 5, 4, 2])], ["heads"])
    right.add("Relu", ["x"], ["r"])
    right.add("Reshape", ["r", right.integers([10, 6])], ["flat"])
    right.add("Gemm", ["flat", "W", "B"], ["projected"])
    right.add("Reshape", ["projected", right.integers([2, 5, 4, 2])], ["heads"])
    models = [load(finish(builder).SerializeToString()) for builder in (left, right)]
    matching = match_models(*models)
    assert not matching.list_left_alone()
    pairs = {
        tuple(sorted(node.op_type for node in pair.left)): [node.op_type for node in pair.right]
        for pair in matching.pairs
    }
    assert pairs["Reshape",] == ["Reshape"]
    assert pairs["Transpose",] == ["Transpose"]
    assert "Gemm" in pairs["Add", "MatMul"]
