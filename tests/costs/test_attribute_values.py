"""Learned numbers in attributes are counted apart from parameters, exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.commands.cli import main
from netloupe.explorer.costs import count_nodes
from netloupe.explorer.describe import describe_path, to_json
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.html import write_model_html
from tests.corpus import corpus_file

from .test_totals import read_html, read_rows

#: a root that asks whether feature 0 is at most 0.5, and two leaves
TREE: dict[str, Any] = {
    "nodes_treeids": [0, 0, 0],
    "nodes_nodeids": [0, 1, 2],
    "nodes_featureids": [0, 0, 0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
    "nodes_values": [0.5, 0.0, 0.0],
}
_LEAVES: dict[str, Any] = {
    "target_treeids": [0, 0],
    "target_nodeids": [1, 2],
    "target_ids": [0, 0],
    "target_weights": [1.0, 2.0],
    "n_targets": 1,
}


def make_model(*nodes: tuple[str, dict[str, Any]], domain: str = "ai.onnx.ml") -> Model:
    """Return a model of nodes one behind another."""
    names = ["x", *(f"v{number}" for number in range(len(nodes)))]
    made = [
        helper.make_node(op_type, [names[i]], [names[i + 1]], domain=domain, **attributes)
        for i, (op_type, attributes) in enumerate(nodes)
    ]
    taken, given = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3])
        for name in (names[0], names[-1])
    )
    graph = helper.make_graph(made, "g", [taken], [given])
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 5)]
    return load(helper.make_model(graph, opset_imports=opsets).SerializeToString())


def double(*numbers: float) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(numbers, np.float64))


@pytest.mark.parametrize(
    ("op_type", "attributes", "count"),
    [
        ("LinearClassifier", {"coefficients": [0.5] * 6, "intercepts": [0.5] * 2}, 8),
        ("LinearRegressor", {"coefficients": [0.5] * 3}, 3),
        (
            "SVMClassifier",
            {"coefficients": [1.0] * 4, "support_vectors": [1.0] * 12, "rho": [0.1]}
            | {"prob_a": [0.1], "prob_b": [0.1], "kernel_params": [0.1, 0.0, 3.0]},
            19,
        ),
        ("SVMRegressor", {"coefficients": [1.0] * 4, "support_vectors": [1.0] * 12}, 16),
        # one threshold, two leaves; what leaves have for thresholds is nothing
        ("TreeEnsembleRegressor", TREE | _LEAVES, 3),
        ("TreeEnsembleRegressor", TREE | _LEAVES | {"base_values": [0.5]}, 4),
        (
            "TreeEnsembleClassifier",
            TREE | {"class_weights": [0.1, 0.9, 0.9, 0.1], "classlabels_int64s": [0, 1]},
            5,
        ),
        (
            "TreeEnsembleRegressor",
            {
                k: v
                for k, v in (TREE | _LEAVES).items()
                if k not in ("nodes_values", "target_weights")
            }
            | {"nodes_values_as_tensor": double(0.5, 0, 0)}
            | {"target_weights_as_tensor": double(1, 2)},
            3,
        ),
        ("TreeEnsemble", {"nodes_splits": double(0.5), "leaf_weights": double(1, 2)}, 3),
        ("Scaler", {"offset": [1.0] * 3, "scale": [1.0] * 3}, 0),
        ("Imputer", {"imputed_value_floats": [1.0] * 3}, 0),
        ("TreeEnsembleRegressor", {}, 0),
        # without thresholds, and with more leaves than nodes, there are none
        ("TreeEnsembleRegressor", {"nodes_modes": ["LEAF"] * 3, "target_weights": [1.0]}, 1),
    ],
)
def test_each_operator_has_its_own(op_type: str, attributes: dict[str, Any], count: int) -> None:
    model = make_model((op_type, attributes))
    assert model.totals.attribute_values == model.costs().attribute_values == count
    assert model.totals.parameters == 0


def test_an_operator_of_another_domain_is_another_operator() -> None:
    model = make_model(("LinearRegressor", {"coefficients": [0.5] * 3}), domain="local")
    assert model.totals.attribute_values == 0


def count_by_onnx(path: Path) -> int:
    """Return thresholds, leaves and coefficients as the onnx package reads them."""
    count = 0
    for node in onnx.load(path).graph.node:
        held = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        if node.op_type.startswith("TreeEnsemble"):
            count += sum(mode != b"LEAF" for mode in held["nodes_modes"])
            count += len(held.get("class_weights", ())) + len(held.get("target_weights", ()))
            count += len(held.get("base_values", ()))
        elif node.op_type.startswith(("Linear", "SVM")):
            names = ("coefficients", "intercepts", "support_vectors", "rho", "prob_a", "prob_b")
            count += sum(len(held.get(name, ())) for name in names)
    return count


@pytest.mark.parametrize(
    "name",
    ["trees_classifier", "trees_regressor", "svc", "logreg_zipmap_int", "mixed_columns"],
)
def test_models_of_scikit_learn(name: str) -> None:
    path = corpus_file(f"sklearn/{name}.onnx")
    count = count_by_onnx(path)
    assert count
    assert load(path).totals.attribute_values == count


def test_all_who_count_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    path = corpus_file("sklearn/trees_classifier.onnx")
    model = load(path)
    count = model.totals.attribute_values
    assert main(["info", str(path)]) == 0
    assert f"0 parameters and {count:,} values in attributes" in capsys.readouterr().out
    assert main(["info", "--json", str(path)]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["totals"]["attribute_values"] == summary["costs"]["attribute_values"] == count
    rows = read_rows(model, "model", "Contents")
    assert rows["values in attributes"] == (
        f"{count:,}",
        "thresholds and leaves of trees, coefficients, support vectors",
    )
    assert to_json(describe_path(model, "model"))["totals"]["attribute_values"] == count
    assert read_html(write_model_html(model))["values in attributes"] == f"{count:,}"


def test_each_node_has_its_own_part() -> None:
    model = make_model(
        ("LinearRegressor", {"coefficients": [0.5] * 3}),
        ("LinearRegressor", {"coefficients": [0.5] * 2}),
    )
    nodes = model.graph.nodes
    assert [count_nodes(model, [node]).attribute_values for node in nodes] == [3, 2]
    assert model.totals.attribute_values == 5
