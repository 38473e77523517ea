"""Weights that a file stores twice are one parameter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe import load
from netloupe.commands.info import format_summary, summarize_model
from netloupe.explorer.costs import ties
from netloupe.explorer.costs.initializer_kinds import InitializerKinds
from netloupe.explorer.costs.ties import find_ties
from netloupe.explorer.model import Model
from netloupe.explorer.model.kept import get_kept

CHANCE = np.random.default_rng(0)
TABLE = CHANCE.normal(size=(60, 40)).astype(np.float32)


def make(weights: Mapping[str, np.ndarray]) -> onnx.ModelProto:
    nodes = [helper.make_node("Sum", ["x", *weights], ["y"])]
    values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)]
    output = helper.make_empty_tensor_value_info("y")
    stored = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    return helper.make_model(helper.make_graph(nodes, "g", values, [output], stored))


def find_copies(model: Model) -> list[tuple[str, str]]:
    return [(copy.name, first.name) for copy, first in find_ties(model).copies]


def test_copies_and_transposed_copies_count_once() -> None:
    model = load(make({"wte": TABLE, "other": TABLE + 1, "head": TABLE.T.copy(), "again": TABLE}))
    assert find_copies(model) == [("head", "wte"), ("again", "wte")]
    costs = model.costs()
    assert (costs.parameters, costs.tied_parameters) == (2 * 2400, 2 * 2400)
    assert costs.tying_is_checked
    assert model.totals.parameters == 4 * 2400
    text = format_summary(summarize_model(model), model.dialect)
    assert "4.80 k parameters are stored twice; 4.80 k are different" in text


def test_what_is_alike_by_chance_is_no_copy() -> None:
    ones = np.ones((60, 40), np.float32)
    ends = CHANCE.normal(size=(60, 40)).astype(np.float32)
    ends.flat[0], ends.flat[-1] = TABLE.flat[0], TABLE.flat[-1]
    weights = {
        "ones": ones,
        "more ones": ones,
        "a": TABLE,
        "ends alike": ends,
        "reshaped": TABLE.reshape(40, 60),
        "float64": TABLE.astype(np.float64),
        "small": TABLE[:4],
        "small too": TABLE[:4],
        "vector": TABLE.reshape(-1),
    }
    model = load(make(weights))
    assert find_copies(model) == []
    assert model.costs().tied_parameters == 0
    assert model.costs().tying_is_checked


def test_the_parts_of_large_tensors_are_compared_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ties, "_PIECE", 100)
    late = TABLE.copy()
    late[59, 38] += 1
    turned = TABLE.T.copy()
    turned[3, 7] += 1
    model = load(make({"a": TABLE, "late": late, "turned": turned, "head": TABLE.T.copy()}))
    assert find_copies(model) == [("head", "a")]


def test_what_was_not_compared_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    proto = make({"a": TABLE, "b": TABLE})
    monkeypatch.setattr(ties, "_MOST_BYTES", 100)
    costs = load(proto).costs()
    assert (costs.tied_parameters, costs.tying_is_checked) == (0, False)
    monkeypatch.undo()
    path = tmp_path / "m.onnx"
    onnx.save_model(
        proto, str(path), save_as_external_data=True, location="w.bin", size_threshold=0
    )
    assert load(path).costs().tied_parameters == 2400
    (tmp_path / "w.bin").unlink()
    costs = load(path).costs()
    assert (costs.parameters, costs.tying_is_checked) == (2 * 2400, False)


def test_ties_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(make({"a": TABLE, "b": TABLE}))
    first = find_ties(model)
    monkeypatch.setattr(ties, "open_elements", lambda _: pytest.fail("read again"))
    assert find_ties(model) is first
    assert model.costs(bind=None).tied_parameters == 2400


def test_what_weights_are_for_is_asked_only_where_two_begin_and_end_alike() -> None:
    apart, alike = load(make({"a": TABLE, "b": TABLE + 1})), load(make({"a": TABLE, "b": TABLE}))
    find_ties(apart)
    find_ties(alike)
    assert get_kept(apart, InitializerKinds) is None
    assert get_kept(alike, InitializerKinds) is not None


@pytest.mark.parametrize("node", ["", "/layers.{}/linear/MatMul"])
def test_numbered_layers_that_were_made_alike_are_no_copies(node: str) -> None:
    """torch makes the layers of a TransformerEncoder by copying the first."""
    values, nodes = "x", []
    weights = {}
    for layer in range(3):
        name = f"onnx::MatMul_{layer}" if node else f"layers.{layer}.linear.weight"
        weights[name] = TABLE[:40]
        nodes.append(helper.make_node("MatMul", [values, name], [f"y{layer}"], node.format(layer)))
        values = f"y{layer}"
    stored = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)]
    output = helper.make_empty_tensor_value_info(values)
    graph = helper.make_graph(nodes, "g", given, [output], stored)
    model = load(helper.make_model(graph))
    assert model.costs().parameters == 3 * 40 * 40


def test_modules_by_the_scopes_of_nodes() -> None:
    nodes = []
    for layer in range(2):
        one = helper.make_node("MatMul", [f"y{layer}", f"val_{layer}"], [f"y{layer + 1}"])
        one.metadata_props.add(
            key="pkg.torch.onnx.name_scopes",
            value=f"['', 'layers.{layer}.linear', 'linear_{layer}']",
        )
        nodes.append(one)
    stored = [numpy_helper.from_array(TABLE[:40], f"val_{layer}") for layer in range(2)]
    given = [helper.make_tensor_value_info("y0", TensorProto.FLOAT, None)]
    output = helper.make_empty_tensor_value_info("y2")
    model = load(helper.make_model(helper.make_graph(nodes, "g", given, [output], stored)))
    assert model.costs().parameters == 2 * 40 * 40
