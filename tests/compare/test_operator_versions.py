"""One operator under two versions of its operator set: what is the same, and what only looks so."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import netloupe
from netloupe.explorer.compare import Diff
from netloupe.explorer.compare.operator_versions import find_version_difference
from netloupe.explorer.model import Node
from netloupe.explorer.operators.schemas import _load_operators, find_schema

FLOAT = TensorProto.FLOAT
#: a value of each kind of attribute, and another one
VALUES: dict[str, tuple[Any, Any]] = {
    "int": (1, 0),
    "ints": ([1], [0]),
    "float": (0.25, 0.5),
    "floats": ([0.25], [0.5]),
}


def make_model(
    node: onnx.NodeProto,
    version: int,
    shape: tuple[int, ...] | None = None,
    stored: dict[str, np.ndarray[Any, Any]] | None = None,
    result: tuple[int, ...] | None = None,
) -> onnx.ModelProto:
    """Make a model of one node; operands that are not stored are inputs."""
    stored = stored or {}
    names = [name for name in dict.fromkeys(node.input) if name and name not in stored]
    graph = helper.make_graph(
        [node],
        "graph",
        [helper.make_tensor_value_info(name, FLOAT, shape) for name in names],
        [helper.make_tensor_value_info(name, FLOAT, result) for name in node.output],
        [numpy_helper.from_array(array, name) for name, array in stored.items()],
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid(node.domain, version)], ir_version=8
    )


def list_real(found: Diff) -> list[str]:
    """Return what differs in nodes and is not only written otherwise."""
    return [change.what for one in found.nodes for change in one.changes if not change.aspect]


def list_pairs() -> Iterator[tuple[str, str, int, int]]:
    """Yield every operator with each two versions of it that follow one another, both ways."""
    for domain, operators in _load_operators().items():
        for op_type, versions in operators.items():
            numbers = sorted(map(int, versions))
            for one, other in itertools.pairwise(numbers):
                yield domain, op_type, one, other
                yield domain, op_type, other, one


def load_nodes(domain: str, op_type: str, *versions: int) -> list[Node]:
    node = helper.make_node(op_type, ["x"], ["y"], domain=domain)
    return [netloupe.load(make_model(node, version)).graph.nodes[0] for version in versions]


def find_moved() -> Iterator[tuple[str, str, int, int, str, int]]:
    """Yield each attribute of an older version that is an operand of the next."""
    for domain, op_type, one, other in list_pairs():
        if one < other:
            difference = find_version_difference(*load_nodes(domain, op_type, one, other))
            for entry in difference.operands if difference is not None else ():
                yield domain, op_type, one, other, entry.attribute, entry.place


MOVED = [*find_moved()]


def test_the_attributes_that_became_operands_are_known() -> None:
    names = {(op_type, attribute) for _, op_type, _, _, attribute, _ in MOVED}
    reduced = {name for name, _ in names if name.startswith("Reduce")}
    assert len(reduced) == 10
    assert names - {(name, "axes") for name in reduced} == {
        *(("Clip", "min"), ("Clip", "max"), ("DFT", "axis"), ("Dropout", "ratio")),
        *(("Pad", "pads"), ("Pad", "value"), ("Reshape", "shape"), ("Split", "split")),
        *(("Slice", "starts"), ("Slice", "ends"), ("Slice", "axes"), ("Squeeze", "axes")),
        *(("TopK", "k"), ("Unsqueeze", "axes"), ("Upsample", "scales")),
    }


@pytest.mark.parametrize("is_turned", [False, True], ids=["newer", "older"])
@pytest.mark.parametrize(
    "moved", MOVED, ids=lambda moved: f"{moved[1]}-{moved[4]}" if isinstance(moved, tuple) else None
)
def test_an_attribute_that_became_an_operand_is_only_written_otherwise(
    moved: tuple[str, str, int, int, str, int], is_turned: bool
) -> None:
    domain, op_type, old, new, attribute, place = moved
    schema = find_schema(domain, op_type, old)
    assert schema is not None
    value, another = VALUES[schema.attributes[attribute].kind]
    before = make_model(
        helper.make_node(op_type, ["x"], ["y"], domain=domain, **{attribute: value}), old
    )
    inputs = ["x"] + [""] * (place - 1) + ["p"]
    node = helper.make_node(op_type, inputs, ["y"], domain=domain)
    for held, is_same in ((value, True), (another, False)):
        dtype = np.int64 if isinstance(np.ravel(held).tolist()[0], int) else np.float32
        after = make_model(node, new, stored={"p": np.array(held, dtype)})
        found = netloupe.diff(*((after, before) if is_turned else (before, after)))
        assert list_real(found) == ([] if is_same else [f"attribute {attribute}"])
        assert not found.left_tensors
        assert not found.right_tensors
        assert found.verdict != "identical"
        if not is_same:
            change = next(c for c in found.nodes[0].changes if not c.aspect)
            sides = [np.ravel(np.array(side)).tolist() for side in (change.left, change.right)]
            wanted = [np.ravel(value).tolist(), np.ravel(held).tolist()]
            assert sides == (wanted[::-1] if is_turned else wanted)


def test_an_operand_that_is_computed_is_no_attribute() -> None:
    before = make_model(helper.make_node("Unsqueeze", ["x"], ["y"], axes=[0]), 11)
    after = make_model(helper.make_node("Unsqueeze", ["x", "axes"], ["y"]), 13)
    assert "number of inputs" in list_real(netloupe.diff(before, after))


def test_an_operand_beside_those_that_were_attributes_is_told() -> None:
    before = make_model(helper.make_node("Dropout", ["x"], ["y"], ratio=0.25), 11)
    stored = {"r": np.array(0.25, np.float32), "t": np.array(True)}
    after = make_model(helper.make_node("Dropout", ["x", "r", "t"], ["y"]), 13, stored=stored)
    assert list_real(netloupe.diff(before, after)) == ["number of inputs"]


def test_an_operand_that_is_left_out_is_the_default_of_the_attribute() -> None:
    after = make_model(helper.make_node("Clip", ["x"], ["y"]), 13)
    lowest = float(np.finfo(np.float32).min)
    for value, is_same in ((lowest, True), (0.0, False)):
        before = make_model(helper.make_node("Clip", ["x"], ["y"], min=value), 6)
        found = list_real(netloupe.diff(before, after))
        assert found == ([] if is_same else ["attribute min"])


def find_other_defaults() -> list[tuple[str, str, int, int, str]]:
    found = []
    for domain, op_type, one, other in list_pairs():
        sides = [find_schema(domain, op_type, version) for version in (one, other)]
        assert sides[0] is not None
        assert sides[1] is not None
        for name in sorted(sides[0].attributes.keys() & sides[1].attributes.keys()):
            values = [side.attributes[name].default for side in sides if side is not None]
            if None not in values and values[0] != values[1]:
                found.append((domain, op_type, one, other, name))
    return found


@pytest.mark.parametrize("case", find_other_defaults(), ids=str)
def test_a_default_that_is_another_now_is_told(case: tuple[str, str, int, int, str]) -> None:
    domain, op_type, one, other, name = case
    node = helper.make_node(op_type, ["x"], ["y"], domain=domain)
    found = netloupe.diff(make_model(node, one), make_model(node, other))
    told = list_real(found)
    if (op_type, name) in {("GRU", "direction"), ("GridSample", "mode")}:
        assert not told  # the same by another name
    elif op_type in ("Softmax", "LogSoftmax", "Hardmax"):
        assert told == ["normalizes, unless axis 1 is the last, over"]
    else:
        assert f"default of attribute {name}" in told
    assert found.verdict != "identical"


@pytest.mark.parametrize(
    ("op_type", "old", "new", "wanted"),
    [
        ("RoiAlign", 10, 16, ["coordinate_transformation_mode"]),
        ("Resize", 10, 11, ["coordinate_transformation_mode", "nearest_mode"]),
    ],
)
def test_what_held_before_there_was_an_attribute_is_no_default(
    op_type: str, old: int, new: int, wanted: list[str]
) -> None:
    node = helper.make_node(op_type, ["x"], ["y"])
    told = list_real(netloupe.diff(make_model(node, old), make_model(node, new)))
    assert told == [f"default of attribute {name}" for name in wanted]
    value = "output_half_pixel" if op_type == "RoiAlign" else "asymmetric"
    stating = helper.make_node(op_type, ["x"], ["y"], coordinate_transformation_mode=value)
    told = list_real(netloupe.diff(make_model(node, old), make_model(stating, new)))
    assert told == [f"default of attribute {name}" for name in wanted[1:]]


@pytest.mark.parametrize("is_turned", [False, True], ids=["newer", "older"])
def test_operands_are_the_same_by_what_they_are_called(is_turned: bool) -> None:
    scales = {"s": np.array([1, 1, 2, 2], np.float32)}
    before = make_model(helper.make_node("Resize", ["x", "s"], ["y"]), 10, stored=scales)
    stated = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    node = helper.make_node("Resize", ["x", "", "s"], ["y"], **stated)
    after = make_model(node, 13, stored=scales)
    models = (after, before) if is_turned else (before, after)
    found = netloupe.diff(*models)
    assert list_real(found) == []
    assert found.equal_tensors == 1
    roi = {**scales, "roi": np.zeros(8, np.float32)}
    node = helper.make_node("Resize", ["x", "roi", "s"], ["y"], **stated)
    models = (before, make_model(node, 13, stored=roi))
    found = netloupe.diff(*models)
    assert list_real(found) == []  # nothing reads the region
    assert found.equal_tensors == 1
    assert len(found.right_tensors) == 0
    turned = helper.make_node("Resize", ["x", "", "x"], ["y"], **stated)
    models = (before, make_model(turned, 13))
    assert list_real(netloupe.diff(*models)) == ["input 2"]


@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (2, 3, 4, 2), (2, 5, 1, 1)], ids=str)
@pytest.mark.parametrize("old", [None, 0, 1, -1])
@pytest.mark.parametrize("new", [None, 0, 1, -1])
def test_axes_are_the_same_where_the_results_are(
    op_type: str, shape: tuple[int, ...], old: int | None, new: int | None
) -> None:
    runtime = pytest.importorskip("onnxruntime")
    models = []
    for version, axis in ((11, old), (13, new)):
        stated: dict[str, Any] = {} if axis is None else {"axis": axis}
        models.append(
            make_model(helper.make_node(op_type, ["x"], ["y"], **stated), version, shape, {}, shape)
        )
    data = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    results = [
        runtime.InferenceSession(model.SerializeToString()).run(None, {"x": data})[0]
        for model in models
    ]
    assert (not list_real(netloupe.diff(*models))) == np.allclose(*results)


def test_what_softmax_normalizes_is_told_in_words() -> None:
    shape = (2, 3, 4)
    models = [
        make_model(helper.make_node("Softmax", ["x"], ["y"], axis=1), version, shape)
        for version in (11, 13)
    ]
    found = netloupe.diff(*models)
    assert "normalizes over axis 1 and all behind it together → axis 1" in str(found)
    assert found.verdict == "structure"


def test_a_default_is_that_of_the_node_that_does_not_state_it() -> None:
    shape = (2, 3, 4)
    silent = make_model(helper.make_node("Concat", ["x"], ["y"]), 13, shape)
    assert list_real(netloupe.diff(silent, silent)) == []
    stating = make_model(helper.make_node("Flatten", ["x"], ["y"], axis=1), 13, shape)
    silent = make_model(helper.make_node("Flatten", ["x"], ["y"]), 9, shape)
    assert list_real(netloupe.diff(stating, silent)) == []
    stating = make_model(helper.make_node("Hardmax", ["x"], ["y"], axis=1), 11, shape)
    silent = make_model(helper.make_node("Hardmax", ["x"], ["y"]), 13, shape)
    assert "attribute axis" in list_real(netloupe.diff(stating, silent))


@pytest.mark.parametrize("count", [2, 3])
def test_split_in_equal_parts_states_their_number_since_18(count: int) -> None:
    outputs = ["a", "b"]
    silent = make_model(helper.make_node("Split", ["x"], outputs), 13, (6, 4))
    stating = make_model(helper.make_node("Split", ["x"], outputs, num_outputs=count), 18, (6, 4))
    told = list_real(netloupe.diff(silent, stating))
    assert told == ([] if count == len(outputs) else ["attribute num_outputs"])


@pytest.mark.parametrize("op_type", ["ReduceMean", "Squeeze", "Unsqueeze"])
def test_axes_from_the_first_and_from_the_last_are_the_same(op_type: str) -> None:
    shape = (2, 1, 4)
    result = (2, 1, 1, 4) if op_type == "Unsqueeze" else (2, 4)
    one, other = (
        make_model(helper.make_node(op_type, ["x"], ["y"], axes=[axis]), 11, shape, {}, result)
        for axis in (1, 1 - len(result if op_type == "Unsqueeze" else shape))
    )
    assert list_real(netloupe.diff(one, other)) == []
    other = make_model(helper.make_node(op_type, ["x"], ["y"], axes=[-1]), 11, shape, {}, result)
    assert list_real(netloupe.diff(one, other)) == ["attribute axes"]
    unknown = [make_model(helper.make_node(op_type, ["x"], ["y"], axes=[n]), 11) for n in (1, -2)]
    assert list_real(netloupe.diff(*unknown)) == ["attribute axes"]


def test_axes_that_became_an_operand_may_be_counted_from_the_end() -> None:
    before = make_model(helper.make_node("ReduceMean", ["x"], ["y"], axes=[2]), 13, (2, 3, 4))
    node = helper.make_node("ReduceMean", ["x", "axes"], ["y"])
    for axis, is_same in ((-1, True), (-2, False)):
        after = make_model(node, 18, (2, 3, 4), {"axes": np.array([axis])})
        assert list_real(netloupe.diff(before, after)) == ([] if is_same else ["attribute axes"])


@pytest.mark.parametrize(("shape", "is_same"), [((1, 8, 1), True), ((1, 8, 8, 1), False)])
def test_an_axis_of_dft_that_is_left_out_is_the_last_but_one(
    shape: tuple[int, ...], is_same: bool
) -> None:
    after = make_model(helper.make_node("DFT", ["x"], ["y"]), 20, shape)
    cases: list[dict[str, Any]] = [{}, {"axis": 1}]
    for stated in cases:
        before = make_model(helper.make_node("DFT", ["x"], ["y"], **stated), 17, shape)
        assert list_real(netloupe.diff(before, after)) == ([] if is_same else ["attribute axis"])


def test_axes_of_operators_of_others_are_not_interpreted() -> None:
    models = [
        make_model(
            helper.make_node("QLinearConcat", ["x"], ["y"], domain="com.microsoft", axis=axis),
            1,
            (4,),
        )
        for axis in (0, -1)
    ]
    assert list_real(netloupe.diff(*models)) == ["attribute axis"]
