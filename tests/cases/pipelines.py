"""Pipelines of ai.onnx.ml as converters of scikit-learn write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.cases.models import make_model, value

_OPSETS = {"": 18, "ai.onnx.ml": 3}
_FEATURES = 4


def _ml(op_type: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(
        op_type,
        inputs.split(),
        outputs.split(),
        name=op_type,
        domain="ai.onnx.ml",
        **attributes,
    )


def _node(op_type: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op_type, inputs.split(), outputs.split(), name=op_type, **attributes)


def _pipeline(
    *nodes: onnx.NodeProto, outputs: list[Any], weights: tuple[Any, ...] = (), inputs: Any = None
) -> bytes:
    inputs = inputs or [value("X", (None, _FEATURES))]
    return make_model(
        nodes, weights, inputs, outputs, opsets=_OPSETS, producer_name="skl2onnx"
    ).SerializeToString()


_LABEL = value("output_label", (None,), TensorProto.INT64)
_SCORES = value("scores", (None, 3))


def _probabilities(keys: int) -> Any:
    """Return the declaration of what ZipMap gives: a sequence of maps."""
    row = helper.make_map_type_proto(keys, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    return helper.make_value_info("output_probability", helper.make_sequence_type_proto(row))


def _logistic(labels: list[Any], suffix: str, kind: int) -> bytes:
    """Return a scaled logistic regression whose labels are numbers or words."""
    return _pipeline(
        _ml("Scaler", "X", "scaled", offset=[0.5] * _FEATURES, scale=[2.0] * _FEATURES),
        _ml(
            "LinearClassifier",
            "scaled",
            "label raw",
            coefficients=[0.1 * number for number in range(3 * _FEATURES)],
            intercepts=[0.0, 0.1, 0.2],
            multi_class=1,
            post_transform="SOFTMAX",
            **{f"classlabels_{suffix}s": labels},
        ),
        _ml("Normalizer", "raw", "scores", norm="L1"),
        _ml(
            "ZipMap",
            "scores",
            "output_probability",
            **{f"classlabels_{'int64' if suffix == 'int' else suffix}s": labels},
        ),
        outputs=[value("label", (None,), kind), _probabilities(kind)],
    )


def _trees(count: int, depth: int, classes: int) -> dict[str, Any]:
    """Return the attributes of a tree ensemble whose trees are all full."""
    inner, every = 2**depth - 1, 2 ** (depth + 1) - 1
    nodes = [(tree, number) for tree in range(count) for number in range(every)]
    leaves = [(tree, number) for tree in range(count) for number in range(inner, every)]
    prefix = "class" if classes else "target"
    return {
        "nodes_treeids": [tree for tree, _ in nodes],
        "nodes_nodeids": [number for _, number in nodes],
        "nodes_modes": ["BRANCH_LEQ" if number < inner else "LEAF" for _, number in nodes],
        "nodes_featureids": [number % _FEATURES for _, number in nodes],
        "nodes_values": [number / 7 for _, number in nodes],
        "nodes_truenodeids": [2 * n + 1 if n < inner else 0 for _, n in nodes],
        "nodes_falsenodeids": [2 * n + 2 if n < inner else 0 for _, n in nodes],
        "nodes_hitrates": [1.0] * len(nodes),
        f"{prefix}_treeids": [tree for tree, _ in leaves],
        f"{prefix}_nodeids": [number for _, number in leaves],
        f"{prefix}_ids": [number % max(classes, 1) for _, number in leaves],
        f"{prefix}_weights": [number / 100 for _, number in leaves],
        "post_transform": "NONE",
    }


def _tree_classifier() -> bytes:
    trees = _trees(20, 5, 3)
    return _pipeline(
        _ml("TreeEnsembleClassifier", "X", "label raw", classlabels_int64s=[0, 1, 2], **trees),
        _ml("ZipMap", "raw", "output_probability", classlabels_int64s=[0, 1, 2]),
        outputs=[value("label", (None,), TensorProto.INT64), _probabilities(TensorProto.INT64)],
    )


def _tree_regressor() -> bytes:
    trees = _trees(100, 6, 0)
    return _pipeline(
        _ml("TreeEnsembleRegressor", "X", "variable", n_targets=1, **trees),
        outputs=[value("variable", (None, 1))],
    )


def _vector_machine() -> bytes:
    vectors = 12
    return _pipeline(
        _ml(
            "SVMClassifier",
            "X",
            "output_label scores",
            classlabels_ints=[0, 1, 2],
            coefficients=[0.5] * (2 * vectors),
            kernel_params=[0.1, 0.0, 3.0],
            kernel_type="RBF",
            rho=[0.1, 0.2, 0.3],
            support_vectors=[number / 9 for number in range(vectors * _FEATURES)],
            vectors_per_class=[4, 4, 4],
        ),
        outputs=[_LABEL, _SCORES],
    )


def _mixed_columns() -> bytes:
    """Return a pipeline of numbers and words: imputed and scaled, looked up and made one-hot."""
    return _pipeline(
        _ml("Imputer", "age", "known", imputed_value_floats=[29.5], replaced_value_float=-1.0),
        _ml("Scaler", "known", "scaled", offset=[29.5], scale=[0.07]),
        _ml("OneHotEncoder", "class", "hot", cats_strings=["first", "second", "third"], zeros=1),
        _ml(
            "LabelEncoder",
            "port",
            "code",
            keys_strings=["C", "Q", "S"],
            values_floats=[0.0, 1.0, 2.0],
            default_float=-1.0,
        ),
        _node("Reshape", "hot shape", "flat"),
        _ml("FeatureVectorizer", "scaled flat code", "all", inputdimensions=[1, 3, 1]),
        _ml(
            "LinearClassifier",
            "all",
            "output_label scores",
            coefficients=[0.1] * 15,
            intercepts=[0.0] * 3,
            classlabels_ints=[0, 1, 2],
        ),
        inputs=[
            value("age", (None, 1)),
            value("class", (None, 1), TensorProto.STRING),
            value("port", (None, 1), TensorProto.STRING),
        ],
        weights=(numpy_helper.from_array(np.array([-1, 3]), "shape"),),
        outputs=[_LABEL, _SCORES],
    )


def _nearest_centre() -> bytes:
    centres = np.arange(3 * _FEATURES, dtype=np.float32).reshape(3, _FEATURES)
    return _pipeline(
        _node("ReduceSumSquare", "X", "norms", axes=[1], keepdims=1),
        _node("Gemm", "X centres", "products", alpha=-2.0, transB=1),
        _node("Add", "products norms", "scores"),
        _node("ArgMin", "scores", "output_label", axis=1, keepdims=0),
        weights=(numpy_helper.from_array(centres, "centres"),),
        outputs=[_LABEL, _SCORES],
    )


_FLOWERS = ["setosa", "versicolor", "virginica"]

CASES: dict[str, Callable[[], bytes]] = {
    "sklearn/logreg_zipmap_int.onnx": lambda: _logistic([0, 1, 2], "int", TensorProto.INT64),
    "sklearn/logreg_zipmap_str.onnx": lambda: _logistic(_FLOWERS, "string", TensorProto.STRING),
    "sklearn/trees_classifier.onnx": _tree_classifier,
    "sklearn/trees_regressor.onnx": _tree_regressor,
    "sklearn/svc.onnx": _vector_machine,
    "sklearn/mixed_columns.onnx": _mixed_columns,
    "sklearn/kmeans.onnx": _nearest_centre,
}
