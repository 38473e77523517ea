"""Operators of ai.onnx.ml: what their attributes say, and the pipelines that they form."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from netloupe.explorer.grouping import build_group_tree
from netloupe.explorer.model import Model
from netloupe.explorer.patterns import recognise
from netloupe.explorer.readers.load import load
from tests.corpus import beside, corpus_file


def make(*nodes: onnx.NodeProto) -> Model:
    """Return a model of nodes that work on ``x``; what the last of them gives is its output."""
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])]
    outputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in nodes[-1].output
    ]
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 5)]
    return load(helper.make_model(graph, opset_imports=opsets).SerializeToString())


def ml(op_type: str, inputs: str = "x", outputs: str = "y", **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(
        op_type, inputs.split(), outputs.split(), domain="ai.onnx.ml", **attributes
    )


def tell(*nodes: onnx.NodeProto) -> str:
    found = recognise(make(*nodes).graph.nodes)
    return found.text if found is not None else ""


THREE = {"nodes_treeids": [0, 0, 0, 7, 7, 7], "nodes_nodeids": [0, 1, 2, 0, 1, 2]}


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (ml("TreeEnsembleRegressor", **THREE), "Tree ensemble, 2 trees, 6 nodes"),
        (
            ml("TreeEnsembleClassifier", **THREE, classlabels_strings=["a", "b"]),
            "Tree ensemble, 2 trees, 6 nodes, 2 classes",
        ),
        (
            ml("TreeEnsembleRegressor", **THREE, n_targets=3),
            "Tree ensemble, 2 trees, 6 nodes, 3 targets",
        ),
        (
            ml("TreeEnsembleRegressor", nodes_treeids=[4], nodes_nodeids=[0]),
            "Decision tree, 1 tree, 1 node",
        ),
        # opset 5: splits and leaves apart, and where each tree begins
        (
            ml(
                "TreeEnsemble",
                tree_roots=[0, 1],
                nodes_featureids=[0, 1, 2],
                leaf_targetids=[0, 0, 0, 0, 0],
            ),
            "Tree ensemble, 2 trees, 3 splits, 5 leaves",
        ),
        # ids of trees and of nodes in different numbers say nothing
        (ml("TreeEnsembleRegressor", nodes_treeids=[0, 1], nodes_nodeids=[0]), "Tree ensemble"),
        (ml("TreeEnsembleRegressor"), "Tree ensemble"),
        (
            ml(
                "LinearClassifier",
                coefficients=[0.5] * 12,
                intercepts=[0.0] * 3,
                classlabels_ints=[1, 2, 3],
            ),
            "Linear classifier, 4 features, 3 classes",
        ),
        (
            ml("LinearClassifier", coefficients=[0.5] * 11, intercepts=[0.0] * 3),
            "Linear classifier",
        ),
        (ml("LinearRegressor", coefficients=[0.5] * 4), "Linear regressor, 4 features"),
        (
            ml("LinearRegressor", coefficients=[0.5] * 8, targets=2),
            "Linear regressor, 4 features, 2 targets",
        ),
        (ml("LinearRegressor", coefficients=[0.5] * 8, targets=0), "Linear regressor"),
        (
            ml(
                "SVMClassifier",
                kernel_type="RBF",
                support_vectors=[0.5] * 20,
                vectors_per_class=[2, 3],
                classlabels_ints=[0, 1],
            ),
            "Support vector classifier, RBF kernel, 5 support vectors, 4 features, 2 classes",
        ),
        (
            ml("SVMRegressor", kernel_type="POLY", support_vectors=[0.5] * 8, n_supports=2),
            "Support vector regressor, polynomial kernel, 2 support vectors, 4 features",
        ),
        (ml("SVMRegressor", coefficients=[0.5] * 4), "Support vector regressor"),
        (ml("Scaler", offset=[0.0] * 4, scale=[1.0] * 4), "Scaler, 4 features"),
        (ml("Scaler", offset=[0.0], scale=[1.0]), "Scaler"),
        (ml("Scaler", offset=[0.0] * 3, scale=[1.0] * 4), "Scaler"),
        (ml("Imputer", imputed_value_floats=[0.5, 2.0]), "Imputer, 2 features"),
        (ml("Normalizer", norm="L2"), "Normalizer, L2"),
        (ml("Normalizer"), "Normalizer, MAX"),
        (ml("OneHotEncoder", cats_strings=["a", "b"]), "One-hot encoder, 2 categories"),
        (
            ml("LabelEncoder", keys_strings=["a", "b"], values_int64s=[1, 2]),
            "Label encoder, 2 keys",
        ),
        (ml("ZipMap", classlabels_strings=["a", "b", "c"]), "ZipMap, 3 classes"),
        (ml("ArrayFeatureExtractor", "x x"), ""),
        (helper.make_node("Scaler", ["x"], ["y"], domain="theirs", scale=[1.0] * 4), ""),
    ],
)
def test_what_attributes_say_of_what_was_fitted(node: onnx.NodeProto, text: str) -> None:
    assert tell(node) == text


LINEAR = ml("LinearClassifier", "s", "l r", coefficients=[0.5] * 12, intercepts=[0.0] * 3)
SCALER = ml("Scaler", "x", "s", offset=[0.0] * 4, scale=[1.0] * 4)


def test_a_model_with_what_stands_before_and_behind_it_is_a_pipeline() -> None:
    behind = [ml("Normalizer", "r", "p", norm="L1"), ml("ZipMap", "p", "y")]
    assert tell(SCALER, LINEAR, *behind) == "Linear classifier pipeline, 4 features, after scaler"
    before = [ml("Imputer", "x", "i"), ml("Scaler", "i", "s")]
    text = "Linear classifier pipeline, 4 features, after imputer and scaler"
    assert tell(*before, LINEAR, *behind) == text
    # what only follows is no pipeline of preparation
    model = ml("LinearClassifier", "x", "l r", coefficients=[0.5] * 12, intercepts=[0.0] * 3)
    assert tell(model, *behind) == "Linear classifier, 4 features"


@pytest.mark.parametrize(
    "nodes",
    [
        [SCALER, ml("Imputer", "s", "y")],  # no model
        [SCALER, LINEAR, ml("LinearRegressor", "r", "y", coefficients=[0.5] * 3)],  # two of them
        [SCALER, LINEAR, helper.make_node("Sin", ["r"], ["y"])],  # what is no part of pipelines
    ],
)
def test_what_is_no_pipeline_of_one_model(nodes: list[onnx.NodeProto]) -> None:
    assert tell(*nodes) == ""


PIPELINES = [
    (
        "sklearn/logreg_zipmap_int.onnx",
        "Linear classifier pipeline, 4 features, 3 classes",
        "scaler",
    ),
    (
        "sklearn/mixed_columns.onnx",
        "Linear classifier pipeline, 5 features, 3 classes",
        "imputer, scaler, one-hot encoder and label encoder",
    ),
    ("sklearn/trees_regressor.onnx", "Tree ensemble, 100 trees, 12,700 nodes", ""),
]
#: of files beside the repository, where these are
MORE_PIPELINES = {
    "sklearn/gbdt_regressor.onnx": ("Tree ensemble, 200 trees, 2,786 nodes", ""),
    "sklearn/svc.onnx": (
        "Support vector classifier, RBF kernel, 229 support vectors, 10 features, 3 classes",
        "",
    ),
    "sklearn/titanic_pipeline.onnx": (
        "Tree ensemble pipeline, 20 trees, 228 nodes, 3 classes",
        "one-hot encoder, imputer and scaler",
    ),
}


@pytest.mark.parametrize(
    ("name", "model", "steps"),
    [
        *PIPELINES,
        *(
            (name, *MORE_PIPELINES[name.removeprefix("beside:")])
            for name in beside(*MORE_PIPELINES)
        ),
    ],
)
def test_pipelines_of_scikit_learn(name: str, model: str, steps: str) -> None:
    found = build_group_tree(load(corpus_file(name)).graph).root.recognised
    assert found is not None
    assert found.text == (f"{model}, after {steps}" if steps else model)


def make_boosting(estimators: int) -> Model:
    """Return an ensemble as skl2onnx writes it: all trees, then all votes, then their sum."""
    numbers = range(estimators)
    trees = [
        ml(
            "TreeEnsembleClassifier",
            outputs=f"label{n} votes{n}",
            nodes_treeids=[0, 0, 0],
            nodes_nodeids=[0, 1, 2],
            classlabels_int64s=[0, 1],
        )
        for n in numbers
    ]
    rows = [
        helper.make_node(op_type, [f"{before}{n}"], [f"{after}{n}"])
        for op_type, before, after in (("ArgMax", "votes", "best"), ("Abs", "best", "vote"))
        for n in numbers
    ]
    total = helper.make_node("Sum", [f"vote{n}" for n in numbers], ["y"])
    return make(*trees, *rows, total)


@pytest.mark.parametrize("estimators", [6, 12])
def test_estimators_of_an_ensemble_written_row_by_row_are_one_stack(estimators: int) -> None:
    assert list_stacks(make_boosting(estimators)) == [("Decision tree", estimators)]


@pytest.mark.parametrize("name", beside("sklearn/adaboost.onnx", "sklearn/isolation_forest.onnx"))
def test_estimators_of_an_ensemble_are_called_what_they_are(name: str) -> None:
    count = 20 if "adaboost" in name else 50
    assert list_stacks(load(corpus_file(name))) == [("Decision tree", count)]


def list_stacks(model: Model) -> list[tuple[str, int]]:
    groups = build_group_tree(model.graph).root.inner_groups()
    return [(group.label, len(group.children)) for group in groups if group.kind == "repeat"]
