"""How often a Loop or Scan runs, where the file tells it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.costs.bodies import count_trips
from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.readers.load import load

VALUE = helper.make_tensor_value_info
OPSET = helper.make_opsetid("", 17)


def count(nodes: list[Any], inputs: list[Any], stored: dict[str, Any]) -> int | None:
    """Return what is told of the last of some nodes, which gives ``y``."""
    graph = helper.make_graph(
        nodes,
        "g",
        inputs,
        [VALUE("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.array(held), name) for name, held in stored.items()],
    )
    model = load(helper.make_model(graph, opset_imports=[OPSET]).SerializeToString())
    return count_trips(model.graph.nodes[-1], find_value_facts(model))


def make_loop(limit: str, begins: str, goes_on: str) -> Any:
    """Return a Loop whose graph ends it, never does, or hands on what it was given."""
    if goes_on == "computed":
        ends = [
            helper.make_node("ReduceSum", ["s"], ["total"], keepdims=0),
            helper.make_node("Cast", ["total"], ["next"], to=TensorProto.BOOL),
        ]
    elif goes_on == "handed":
        ends = [helper.make_node("Identity", ["cond"], ["next"])]
    else:
        true = numpy_helper.from_array(np.array(goes_on == "true"))
        ends = [helper.make_node("Constant", [], ["next"], value=true)]
    body = helper.make_graph(
        [*ends, helper.make_node("Relu", ["s"], ["t"])],
        "body",
        [
            VALUE("i", TensorProto.INT64, []),
            VALUE("cond", TensorProto.BOOL, []),
            VALUE("s", TensorProto.FLOAT, [4]),
        ],
        [VALUE("next", TensorProto.BOOL, []), VALUE("t", TensorProto.FLOAT, [4])],
    )
    return helper.make_node("Loop", [limit, begins, "x"], ["y"], "loop", body=body)


@pytest.mark.parametrize(
    ("limit", "begins", "goes_on", "expected"),
    [
        ("five", "yes", "true", 5),
        ("five", "", "true", 5),
        ("five", "yes", "handed", 5),
        ("none", "yes", "true", 0),
        # whether it begins, or goes on, is told by what is computed
        ("five", "given", "true", None),
        ("five", "no", "true", None),
        ("five", "yes", "computed", None),
        ("five", "given", "handed", None),
        # how often is an input, or not limited at all
        ("often", "yes", "true", None),
        ("", "yes", "true", None),
        ("endless", "yes", "true", None),
    ],
)
def test_a_loop_runs_as_often_as_its_limit_where_nothing_ends_it(
    limit: str, begins: str, goes_on: str, expected: int | None
) -> None:
    inputs = [
        VALUE("x", TensorProto.FLOAT, [4]),
        VALUE("often", TensorProto.INT64, []),
        VALUE("given", TensorProto.BOOL, []),
    ]
    stored = {
        "five": np.int64(5),
        "none": np.int64(-1),
        "endless": np.int64(2**63 - 1),
        "yes": np.True_,
        "no": np.False_,
    }
    assert count([make_loop(limit, begins, goes_on)], inputs, stored) == expected


@pytest.mark.parametrize(
    ("dims", "axis", "expected"),
    [([7, 4], 0, 7), ([4, 7], 1, 7), ([4, 7], -1, 7), (["steps", 4], 0, None), ([7, 4], 5, None)],
)
def test_a_scan_runs_once_for_each_entry(dims: list[Any], axis: int, expected: int | None) -> None:
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "x_at"], ["t"])],
        "body",
        [VALUE("s", TensorProto.FLOAT, [4]), VALUE("x_at", TensorProto.FLOAT, [4])],
        [VALUE("t", TensorProto.FLOAT, [4])],
    )
    scan = helper.make_node(
        "Scan", ["begin", "x"], ["y"], "scan", body=body, num_scan_inputs=1, scan_input_axes=[axis]
    )
    inputs = [VALUE("begin", TensorProto.FLOAT, [4]), VALUE("x", TensorProto.FLOAT, dims)]
    assert count([scan], inputs, {}) == expected


def test_no_other_node_runs_a_graph() -> None:
    relu = helper.make_node("Relu", ["x"], ["y"])
    assert count([relu], [VALUE("x", TensorProto.FLOAT, [4])], {}) is None
