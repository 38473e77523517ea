"""Types that files state of values beside nodes: told once, of the node or the weight."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.compare import Diff, diff
from netloupe.explorer.describe.differences import format_diff

_DTYPES = {TensorProto.FLOAT: np.float32, TensorProto.FLOAT16: np.float16}
#: names of the values beside nodes
_STATED = ("w", "h", "k")


def make_model(
    dtype: int, *, width: int = 3, renamed: bool = False, wrong: str = ""
) -> onnx.ModelProto:
    """Make a model that states the types of its weight and of all results, one wrongly if asked."""
    names = {name: f"{name}_new" if renamed else name for name in _STATED}
    weight = np.arange(2 * width).reshape(2, width).astype(_DTYPES[dtype])
    nodes = [
        helper.make_node("MatMul", ["x", names["w"]], [names["h"]], "product"),
        helper.make_node("Relu", [names["h"]], [names["k"]], "act"),
        helper.make_node("ReduceSum", [names["k"]], ["y"], "sum", keepdims=0),
    ]
    shapes = {"w": [2, width], "h": ["n", width], "k": ["n", width]}
    infos = []
    for name in _STATED:
        other = TensorProto.DOUBLE if name == wrong else dtype
        infos.append(helper.make_tensor_value_info(names[name], other, shapes[name]))
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", dtype, ["n", 2])],
        [helper.make_tensor_value_info("y", dtype, [])],
        [numpy_helper.from_array(weight, names["w"])],
        value_info=infos,
    )
    imports = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def list_told(found: Diff, name: str) -> list[str]:
    """Return what is told beside nodes and weights of a value."""
    return [change.what for change in found.about if f"value {name}" in change.what]


@pytest.mark.parametrize("renamed", [False, True])
@pytest.mark.parametrize("change", [{"dtype": TensorProto.FLOAT16}, {"width": 5}])
def test_another_type_is_told_of_the_node_or_the_weight_alone(
    change: dict[str, int], renamed: bool
) -> None:
    before = make_model(TensorProto.FLOAT)
    found = diff(before, make_model(**{"dtype": TensorProto.FLOAT, **change}, renamed=renamed))
    assert found.has_other_structure
    assert [list_told(found, name) for name in _STATED] == [[], [], []]
    assert "other statement" not in format_diff(found)
    told = [change.what for each in found.nodes for change in each.changes]
    assert told.count("type of output 0") >= 2
    (weight,) = found.tensors
    assert {change.what for change in weight.changes} & {"dtype", "dims"}


def test_a_type_that_is_stated_wrongly_is_told_for_itself() -> None:
    left = make_model(TensorProto.FLOAT)
    right = make_model(TensorProto.FLOAT16, wrong="w")
    assert list_told(diff(left, right), "w")
