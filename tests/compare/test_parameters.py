"""Stored operands that say what a node does are no weights: by the schemas of all operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.commands.diff import read_fail_on
from netloupe.explorer.compare import Diff, diff
from netloupe.explorer.operators.schemas import _load_operators, find_schema

#: by type another value than the first
_VALUES: dict[str, tuple[Any, Any]] = {
    "int64": (np.array([1], np.int64), np.array([2], np.int64)),
    "int32": (np.array([1], np.int32), np.array([2], np.int32)),
    "bool": (np.array([True]), np.array([False])),
}
_LARGE = 65


def list_parameters() -> Iterator[tuple[str, int, int, str]]:
    """Yield operator, version, place and type of each operand that is integers or bools alone."""
    for op_type, versions in _load_operators()[""].items():
        version = max(map(int, versions))
        schema = find_schema("", op_type, version)
        assert schema is not None
        for place, declared in enumerate(schema.inputs):
            if declared.types and declared.types <= _VALUES.keys() and not schema.deprecated:
                kind = "int64" if "int64" in declared.types else min(declared.types)
                yield op_type, version, place, kind


PARAMETERS = [*list_parameters()]


def make_model(
    op_type: str,
    version: int,
    place: int,
    array: np.ndarray[Any, Any],
    *,
    as_node: bool = False,
    attributes: dict[str, Any] | None = None,
) -> onnx.ModelProto:
    """Make a model of one node with a stored operand; all others are inputs."""
    names = [f"x{number}" for number in range(place + 1)]
    node = helper.make_node(op_type, names, ["y"], **(attributes or {}))
    stored = numpy_helper.from_array(array, names[place])
    nodes = [node]
    if as_node:
        nodes.insert(0, helper.make_node("Constant", [], [names[place]], value=stored))
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 3]) for n in names[:place]],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [] if as_node else [stored],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8)


def list_real(found: Diff) -> list[str]:
    return [change.what for entry in found.entries if entry.is_real for change in entry.changes]


def test_many_operators_have_such_operands() -> None:
    assert {"ReduceSum", "Reshape", "Slice", "TopK", "Dropout", "Loop", "Gather"} <= {
        op_type for op_type, *_ in PARAMETERS
    }


@pytest.mark.parametrize(
    ("op_type", "version", "place", "kind"),
    PARAMETERS,
    ids=[f"{op_type}-{place}" for op_type, _, place, _ in PARAMETERS],
)
def test_what_says_what_a_node_does_is_structure(
    op_type: str, version: int, place: int, kind: str
) -> None:
    models = [make_model(op_type, version, place, array) for array in _VALUES[kind]]
    found = diff(*models)
    schema = find_schema("", op_type, version)
    assert schema is not None
    assert list_real(found) == [f"operand {schema.input_name(place)}"]
    assert read_fail_on("structure")[0].applies(found)
    assert read_fail_on("weights")[0].applies(found)
    assert diff(models[0], models[0]).verdict == "identical"
    stored = make_model(op_type, version, place, _VALUES[kind][0], as_node=True)
    assert not read_fail_on("structure")[0].applies(diff(models[0], stored))
    assert list_real(diff(stored, models[1])) == list_real(found)


@pytest.mark.parametrize(
    ("op_type", "version", "place", "kind"),
    PARAMETERS,
    ids=[f"{op_type}-{place}" for op_type, _, place, _ in PARAMETERS],
)
def test_what_is_gone_with_its_node_or_from_it_is_no_weight(
    op_type: str, version: int, place: int, kind: str
) -> None:
    model = make_model(op_type, version, place, _VALUES[kind][0])
    without, other = onnx.ModelProto(), onnx.ModelProto()
    for copy in (without, other):
        copy.CopyFrom(model)
        del copy.graph.initializer[:]
    without.graph.node[0].input[place] = ""
    other.graph.node[0].CopyFrom(helper.make_node("Exp", ["x0"], ["y"]))
    for changed in (without, other):
        for sides in ((model, changed), (changed, model)):
            found = diff(*sides)
            assert (found.left_tensors, found.right_tensors) == ([], [])
            assert read_fail_on("structure")[0].applies(found)


def test_other_numbers_of_axes_are_told_with_them() -> None:
    sides = [make_model("ReduceSum", 13, 1, np.array(axes, np.int64)) for axes in ([0], [0, 1])]
    (entry,) = [one for one in diff(*sides).entries if one.is_real]
    assert [(c.what, c.left, c.right) for c in entry.changes] == [("operand axes", (0,), (0, 1))]


def test_axes_counted_from_the_end_are_the_same() -> None:
    sides = [make_model("ReduceSum", 13, 1, np.array(axes, np.int64)) for axes in ([0], [-2])]
    found = diff(*sides)
    assert (found.verdict, found.aspects) == ("cosmetic", ["defaults"])
    assert not read_fail_on("weights")[0].applies(found)


@pytest.mark.parametrize("count", [_LARGE, 2 * _LARGE])
def test_many_integers_are_weights(count: int) -> None:
    array = np.arange(count, dtype=np.int64)
    found = diff(*(make_model("Gather", 13, 1, each) for each in (array, array[::-1].copy())))
    assert found.verdict == "weights"


def test_an_operand_that_something_else_computes_with_is_a_weight() -> None:
    models = []
    for array in _VALUES["int64"]:
        model = make_model("Reshape", 13, 1, array)
        model.graph.node.append(helper.make_node("Neg", ["x1"], ["z"]))
        model.graph.output.append(helper.make_tensor_value_info("z", TensorProto.INT64, None))
        models.append(model)
    assert diff(*models).verdict == "weights"


def test_factors_of_resize_are_structure() -> None:
    scales = [np.array([1, 1, size, size], np.float32) for size in (2, 3)]
    models = []
    for array in scales:
        model = make_model("Resize", 13, 2, array)
        model.graph.node[0].input[1] = ""
        models.append(model)
    assert list_real(diff(*models)) == ["operand scales"]
