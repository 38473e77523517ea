"""Attributes that do not fit one another: bases that do, and what breaks them, before judges."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import onnx
import onnx.parser
import pytest

from netloupe.explorer.checks import check
from netloupe.explorer.checks.rules.attribute_fits import DEMANDS
from netloupe.explorer.readers.load import load


class Base(NamedTuple):
    """A node whose attributes fit.

    Parameters
    ----------
    inputs, outputs
        With their types.
    node
        The right side.
    opset, learned
        The versions of both operator sets of ONNX.
    judged
        Whether a judge looks at what is broken.
    """

    inputs: str
    outputs: str
    node: str
    opset: int = 21
    learned: int = 3
    judged: bool = True

    def make(self, part: str = "", other: str = "") -> onnx.ModelProto:
        """Return the model, with something else in the place of a part of the node."""
        assert part in self.node, (part, self.node)
        sets = f'"": {self.opset}, "com.microsoft": 1, "ai.onnx.ml": {self.learned}'
        names = ", ".join(one.split()[-1] for one in self.outputs.split(", ") if " " in one)
        text = f"<ir_version: 10, opset_import: [{sets}]>\n"
        node = self.node.replace(part, other, 1)
        text += f"g ({self.inputs}) => ({self.outputs}) {{ {names} = {node} }}"
        return onnx.parser.parse_model(text)


_TREE = (
    "nodes_nodeids = [0, 1, 2], nodes_treeids = [0, 0, 0], nodes_featureids = [0, 0, 0], "
    'nodes_modes = ["BRANCH_LEQ", "LEAF", "LEAF"], nodes_values = [0.5, 0.0, 0.0], '
    "nodes_truenodeids = [1, 0, 0], nodes_falsenodeids = [2, 0, 0]"
)
_ROW = "float[N, 4] x"
_TREES = {
    "regressor": Base(
        _ROW,
        "float[N, 1] y",
        f"ai.onnx.ml.TreeEnsembleRegressor <n_targets = 1, {_TREE}, target_nodeids = [1, 2], "
        "target_treeids = [0, 0], target_ids = [0, 0], target_weights = [1.0, 2.0], "
        "base_values = [0.5]> (x)",
    ),
    "classifier": Base(
        _ROW,
        "int64[N] y, float[N, 2] z",
        f"ai.onnx.ml.TreeEnsembleClassifier <classlabels_int64s = [7, 8], {_TREE}, "
        "class_nodeids = [1, 2], class_treeids = [0, 0], class_ids = [0, 1], "
        "class_weights = [1.0, 2.0]> (x)",
    ),
    "trees": Base(
        _ROW,
        "float[N, 2] y",
        "ai.onnx.ml.TreeEnsemble <n_targets = 2, tree_roots = [0], nodes_featureids = [0, 0], "
        "nodes_modes: tensor = uint8[2] {0, 0}, nodes_splits: tensor = float[2] {0.5, 0.7}, "
        "nodes_truenodeids = [1, 1], nodes_trueleafs = [0, 1], "
        "nodes_falsenodeids = [0, 2], nodes_falseleafs = [1, 1], "
        "leaf_targetids = [0, 1, 0], leaf_weights: tensor = float[3] {1.0, 2.0, 3.0}> (x)",
        learned=5,
    ),
}
_LEARNED = {
    "labels": Base(
        "int64[2] x",
        "float[2] y",
        "ai.onnx.ml.LabelEncoder <keys_int64s = [1, 2], values_floats = [1.0, 2.0]> (x)",
    ),
    "categories": Base(
        "string[2] x",
        "int64[2] y",
        'ai.onnx.ml.CategoryMapper <cats_int64s = [1, 2], cats_strings = ["a", "b"]> (x)',
    ),
    "one hot": Base(
        "int64[2] x", "float[2, A] y", "ai.onnx.ml.OneHotEncoder <cats_int64s = [1, 2]> (x)"
    ),
    "scaler": Base(
        _ROW, "float[N, 4] y", "ai.onnx.ml.Scaler <scale = [1.0, 2.0], offset = [0.0, 0.0]> (x)"
    ),
    "imputer": Base(_ROW, "float[N, 4] y", "ai.onnx.ml.Imputer <imputed_value_floats = [1.0]> (x)"),
    "features": Base(
        _ROW, "float[N, 4] y", "ai.onnx.ml.FeatureVectorizer <inputdimensions = [4]> (x)"
    ),
    "linear": Base(
        _ROW,
        "int64[N] y, float[N, 2] z",
        "ai.onnx.ml.LinearClassifier <classlabels_ints = [0, 1], coefficients = [1.0, 2.0], "
        "intercepts = [0.0, 0.0]> (x)",
    ),
    "machine": Base(
        _ROW,
        "int64[N] y, float[N, 2] z",
        "ai.onnx.ml.SVMClassifier <classlabels_ints = [0, 1], kernel_params = [0.1, 0.0, 3.0], "
        "rho = [0.5], support_vectors = [1.0, 2.0], coefficients = [1.0, 1.0], "
        "vectors_per_class = [1, 1], prob_a = [1.0], prob_b = [1.0]> (x)",
    ),
    "machine for numbers": Base(
        _ROW,
        "float[N, 1] y",
        "ai.onnx.ml.SVMRegressor <kernel_params = [0.1, 0.0, 3.0], rho = [0.5], "
        "support_vectors = [1.0, 2.0], coefficients = [1.0], n_supports = 1> (x)",
    ),
}
_RECURRENT = {
    op_type: Base(
        f"float[S, 1, 2] x, float[D, {count * 3}, 2] w, float[D, {count * 3}, 3] r",
        "float[S, D, 1, 3] y",
        f"{op_type} <hidden_size = 3, {acts}> (x, w, r)",
    )
    for op_type, count, acts in (
        ("RNN", 1, 'activations = ["Relu"]'),
        ("GRU", 3, 'activations = ["Sigmoid", "Tanh"]'),
        ("LSTM", 4, 'activations = ["Sigmoid", "Tanh", "Tanh"]'),
    )
}
_OTHERS = {
    "grams": Base(
        "int64[A] x",
        "float[3] y",
        'TfIdfVectorizer <mode = "TF", min_gram_length = 1, max_gram_length = 2, '
        "max_skip_count = 0, ngram_counts = [0, 2], ngram_indexes = [0, 1, 2], "
        "weights = [1.0, 1.0, 1.0], pool_int64s = [5, 6, 7, 8]> (x)",
    ),
    "resize": Base(
        "float[1, 1, 4, 4] x, float[R] r, float[S] s",
        "float[A, B, C, D] y",
        'Resize <mode = "linear", antialias = 1, exclude_outside = 1> (x, r, s)',
    ),
    "clip": Base("float[4] x", "float[4] y", "Clip <min = 0.0, max = 6.0> (x)", opset=6),
    "norm": Base(
        "float[1, 3, 4] x, float[3] s, float[3] b, float[3] m, float[3] v",
        "float[1, 3, 4] y",
        "BatchNormalization <training_mode = 0> (x, s, b, m, v)",
        opset=15,
    ),
    "regions": Base(
        "float[1, 3, 8, 8] x, float[2, 5] r",
        "float[A, B, C, D] y",
        "MaxRoiPool <pooled_shape = [2, 2]> (x, r)",
    ),
    "quantize": Base(
        "float[4] x, float s, uint8 z",
        "uint8[4] y",
        "QuantizeLinear <output_dtype = 2> (x, s, z)",
        judged=True,
    ),
    "constant": Base("float[1] x", "float[2] y", "Constant <value_floats = [1.0, 2.0]> ()"),
    "groups": Base(
        "float[1, 2, 64] q, float[1, 2, 32] k, float[1, 2, 32] v, int32[1] n, int32 t",
        "float[1, 2, 64] y",
        "com.microsoft.GroupQueryAttention <num_heads = 4, kv_num_heads = 2, "
        "sliding_window_cache = 1, local_window_size = 8> (q, k, v, , , n, t)",
        judged=False,
    ),
    "rotary": Base(
        "float[1, 2, 64] x, int64[1, 2] p, float[M, 8] c, float[M, 8] s",
        "float[1, 2, 64] y",
        "com.microsoft.RotaryEmbedding <num_heads = 4, rotary_embedding_dim = 16> (x, p, c, s)",
    ),
    "scan": Base(
        "float[3] z, float[S, 3] x",
        "float[3] y, float[S, 3] v",
        "Scan <num_scan_inputs = 1, scan_input_axes = [0], scan_output_axes = [0], "
        "scan_input_directions = [0], scan_output_directions = [0], body = "
        "b (float[3] s, float[3] e) => (float[3] t, float[3] o) "
        "{ t = Add (s, e) o = Identity (t) }> (z, x)",
    ),
    "spectrum": Base(
        "float[1, 8, 1] x, int64 n, int64 a",
        "float[A, B, C] y",
        "DFT <inverse = 1, onesided = 0> (x, n, a)",
        opset=20,
    ),
    "tokens": Base(
        "string[2] x",
        "string[2, A] y",
        'com.microsoft.Tokenizer <mark = 0, pad_value = "#", separators = ["a"], '
        "mincharnum = 1> (x)",
    ),
    "experts": Base(
        "float[2, 4] x, float[2, 3] r, float[3, 8, 4] w, float[3, 4, 8] v",
        "float[2, 4] y",
        "com.microsoft.MoE <k = 1, use_sparse_mixer = 0> (x, r, w, , v)",
    ),
    "map": Base(
        _ROW,
        "seq(map(int64, float)) y",
        "ai.onnx.ml.ZipMap <classlabels_int64s = [0, 1, 2, 3]> (x)",
    ),
    "linear attention": Base(
        "float[1, 2, 64] q, float[1, 2, 32] k, float[1, 2, 32] v",
        "float[A, B, C] y, float[D, E, F, G] s",
        'LinearAttention <q_num_heads = 4, kv_num_heads = 2, update_rule = "linear"> (q, k, v)',
        opset=27,
    ),
    "bits": Base("float[4] x", "int32[4] y", "BitCast <to = 6> (x)", opset=26),
    "saturated": Base(
        "float[4] x", "float8e4m3fn[4] y", "Cast <to = 17, saturate = 0> (x)", opset=19
    ),
}
BASES = {**_TREES, **_LEARNED, **_RECURRENT, **_OTHERS}
#: by base a part of it, what is put in its place, and what is said then
BROKEN: list[tuple[str, str, str, str]] = [
    *(
        (base, *each)
        for base in ("regressor", "classifier")
        for each in (
            ("nodes_nodeids = [0, 1, 2]", "nodes_nodeids = [0, 1]", "nodes_nodeids 2"),
            ("nodes_values = [0.5, 0.0, 0.0]", "nodes_values = [0.5]", "has 1 entry"),
            ("nodes_nodeids = [0, 1, 2]", "nodes_nodeids = [0, 1, 1]", "has the node 1 twice"),
            ("truenodeids = [1", "truenodeids = [5", "leads to node 5 of tree 0, which is not"),
            ("truenodeids = [1", "truenodeids = [0", "leads in a circle"),
            ("nodes_featureids = [0", "nodes_featureids = [-3", "-3, which is no feature"),
            ("_nodeids = [1, 2]", "_nodeids = [1, 4]", "_nodeids has node 4 of tree 0"),
            ("_treeids = [0, 0], ", "_treeids = [0], ", "has 1 entry"),
        )
    ),
    ("regressor", "target_ids = [0, 0]", "target_ids = [0, 1]", "there are 1 targets"),
    ("regressor", "base_values = [0.5]", "base_values = [0.5, 1.0]", "n_targets is 1"),
    ("classifier", "class_ids = [0, 1]", "class_ids = [0, 2]", "there are 2 labels"),
    ("classifier", "class_weights = [1.0, 2.0]", "class_weights = [1.0]", "class_nodeids 2"),
    ("trees", "nodes_trueleafs = [0, 1]", "nodes_trueleafs = [0]", "has 1 entry"),
    ("trees", "leaf_targetids = [0, 1, 0]", "leaf_targetids = [0, 1]", "leaf_weights 3"),
    ("trees", "leaf_targetids = [0, 1, 0]", "leaf_targetids = [0, 2, 0]", "there are 2 targets"),
    ("trees", "tree_roots = [0]", "tree_roots = [2]", "tree_roots has 2, but there are 2 nodes"),
    ("trees", "truenodeids = [1, 1]", "truenodeids = [1, 3]", "has 3, but there are 3 leaves"),
    ("trees", "truenodeids = [1, 1]", "truenodeids = [0, 1]", "leads in a circle"),
    (
        "trees",
        "falsenodeids = [0, 2], nodes_falseleafs = [1, 1]",
        "falsenodeids = [1, 2], nodes_falseleafs = [0, 1]",
        "node 1 of TreeEnsemble has two parents",
    ),
    ("labels", "[1.0, 2.0]", "[1.0]", "but keys_int64s 2"),
    ("labels", "keys_int64s", "keys_floats = [1.0, 2.0], keys_int64s", "keys_floats and keys_int"),
    ("labels", ", values_floats = [1.0, 2.0]", "", "none of values_floats, values_int64s"),
    ("categories", '["a", "b"]', '["a"]', "but cats_int64s 2"),
    ("one hot", "cats_int64s", 'cats_strings = ["a"], cats_int64s', "must have one of"),
    ("scaler", "offset = [0.0, 0.0]", "offset = [0.0]", "but scale 2"),
    ("imputer", "imputed", "imputed_value_int64s = [1], imputed", "must have one of"),
    ("features", " <inputdimensions = [4]>", "", "no entries in inputdimensions"),
    ("linear", "[1.0, 2.0]", "[1.0, 2.0, 3.0]", "no multiple of 2 classes"),
    ("linear", "classlabels_ints = [0, 1]", "classlabels_ints = [0]", "has 1 label, but"),
    ("linear", ", intercepts = [0.0, 0.0]", "", "no entries in intercepts"),
    ("linear", "classlabels", 'classlabels_strings = ["a", "b"], classlabels', "left out"),
    ("machine", "[0.1, 0.0, 3.0]", "[0.1, 0.0]", "must have 3: gamma, coef0, degree"),
    ("machine", "prob_b = [1.0]", "prob_b = [1.0, 2.0]", "have 1 and 2 entries"),
    ("machine", "rho = [0.5]", "rho: floats = []", "no entries in rho"),
    ("machine", "vectors_per_class = [1, 1]", "vectors_per_class = [1]", "there are 2 labels"),
    ("machine", "support_vectors = [1.0, 2.0]", "support_vectors = [1.0]", "divisible by 2"),
    ("machine", "coefficients = [1.0, 1.0]", "coefficients = [1.0]", "must have 2"),
    ("machine for numbers", "n_supports = 1", "n_supports = 2", "it has 1 coefficients"),
    ("machine for numbers", "= [1.0, 2.0]", ": floats = []", "it has no support_vectors"),
    ("RNN", '["Relu"]', '["Relu", "Relu", "Relu"]', "must have 1 for 1 direction"),
    ("GRU", '"Sigmoid", "Tanh"', '"Sigmoid"', "must have 2 for 1 direction"),
    ("LSTM", "hidden_size", 'direction = "bidirectional", hidden_size', "6 for 2 directions"),
    *((name, "hidden_size = 3, ", "", "without which ONNX Runtime does") for name in _RECURRENT),
    ("grams", "weights = [1.0, 1.0, 1.0]", "weights = [1.0]", "but ngram_indexes 3"),
    ("grams", "min_gram_length = 1", "min_gram_length = 3", "is 3, more than max_gram_length, 2"),
    ("grams", "max_gram_length = 2", "max_gram_length = 3", "but ngram_counts has 2 entries"),
    ("grams", "[5, 6, 7, 8]", "[5, 6, 7]", "no multiple of 2"),
    ("grams", "[5, 6, 7, 8]", "[5, 5, 7, 8]", "one of its 1-grams twice"),
    ("grams", "ngram_counts = [0, 2]", "ngram_counts = [0, 5]", "end at 5 of 4"),
    ("grams", ", pool_int64s = [5, 6, 7, 8]", "", "no entries in pool_int64s"),
    (
        "resize",
        'linear", antialias = 1, exclude_outside = 1',
        'nearest", antialias = 1',
        "or cubic",
    ),
    ("resize", "antialias = 1", "antialias = 0", "it must be cubic, or linear with antialias"),
    ("clip", "min = 0.0", "min = 7.0", "min of Clip is 7, but max 6"),
    ("norm", "training_mode = 0", "training_mode = 1", "which gives 3, but there is 1 output"),
    ("regions", "pooled_shape = [2, 2]", "pooled_shape = [2]", "must have height and width"),
    ("quantize", "output_dtype = 2", "output_dtype = 3", "is int8, but y_zero_point (z) is uint8"),
    ("constant", "value_floats", "value_int = 1, value_floats", "must have exactly one of"),
    ("groups", "kv_num_heads = 2", "kv_num_heads = 3", "no multiple of kv_num_heads, 3"),
    ("groups", ", local_window_size = 8", "", "local_window_size is -1"),
    ("rotary", "num_heads = 4", "num_heads = 0", "for which num_heads must be more than 0"),
    ("scan", "num_scan_inputs = 1", "num_scan_inputs = 3", "is 3, but there are 2 inputs"),
    ("scan", "scan_input_axes = [0]", "scan_input_axes = [0, 0]", "there is 1 scanned input"),
    ("scan", "scan_output_axes = [0]", "scan_output_axes: ints = []", "there is 1 scanned output"),
    ("scan", "scan_input_axes = [0]", "scan_input_axes = [4]", "_axes of Scan has 4, but"),
    ("spectrum", "onesided = 0", "onesided = 1", "need complex numbers, two at the end"),
    ("tokens", 'separators = ["a"]', "separators: strings = []", "no entries in separators"),
    ("experts", "mixer = 0", "mixer = 1", "for which k must be 2, not 1"),
    ("map", " <classlabels_int64s = [0, 1, 2, 3]>", "", "none of classlabels_int64s or classl"),
    ("linear attention", "kv_num_heads = 2", "kv_num_heads = 3", "no multiple of kv_num_heads"),
    ("bits", "to = 6", "to = 10", "float16, of 16 bits, but input (x) is float32"),
    ("saturated", "to = 17", "to = 10", "which ONNX Runtime takes for float8 alone"),
]
#: what is legal, and has no kernel in ONNX Runtime
_WARNED = ("hidden_size", "saturate")


def _find(model: onnx.ModelProto) -> list[tuple[str, str]]:
    found = check(load(model.SerializeToString()), select=["NL-L41"])
    return [(each.severity, each.message) for each in found]


def _ask(model: onnx.ModelProto, folder: Path) -> str:
    """Return why either judge refuses a model."""
    from tests.judge_worker import ask_checker, ask_runtime
    from tests.judges import explain

    path = folder / "m.onnx"
    path.write_bytes(model.SerializeToString())
    said = [ask_checker(str(path)), ask_runtime(str(path))]
    return " ".join(each for each in said if each and not explain(each))


@pytest.mark.parametrize("name", BASES)
def test_what_fits_is_accepted(name: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    model = BASES[name].make()
    assert _find(model) == []
    assert _ask(model, tmp_path) == ""


@pytest.mark.parametrize(("name", "part", "other", "said"), BROKEN)
def test_what_does_not_fit_is_found(
    name: str, part: str, other: str, said: str, tmp_path: Path
) -> None:
    pytest.importorskip("onnxruntime")
    base = BASES[name]
    model = base.make(part, other)
    for value in model.graph.output:  # other attributes give other shapes, and other types
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            dim.dim_param = f"{value.name}{axis}"
        if name in ("bits", "saturated", "quantize"):
            value.type.tensor_type.elem_type = base_type(model)
    ((severity, message),) = _find(model)
    assert said in message
    is_warned = name == "saturated" or part.startswith("hidden_size = 3")
    assert severity == ("warning" if is_warned else "error")
    if base.judged:
        assert _ask(model, tmp_path) != ""


def base_type(model: onnx.ModelProto) -> int:
    """Return the element type that the attribute of a node asks for."""
    (number,) = (
        each.i for each in model.graph.node[0].attribute if each.name in ("to", "output_dtype")
    )
    return int(number)


def test_every_demand_is_broken_in_a_case() -> None:
    broken = {BASES[name].node.split()[0].rpartition(".")[2] for name, *_ in BROKEN}
    left = {op_type for demands in DEMANDS.values() for op_type in demands} - broken
    # demands that another operator of the same case has, and what no text can state
    assert left == {
        *("AttnLSTM", "DynamicQuantizeLSTM", "SparseAttention", "MRotaryEmbedding", "QMoE"),
        *("BifurcationDetector", "DictVectorizer"),
    }
