"""Operators of ``ai.onnx.ml``, which hold in attributes what was fitted to data.

Sources: the ONNX specification of that domain for what each attribute holds; for how many features
a linear classifier has, ONNX Runtime's ``linearclassifier.cc`` (as many coefficients for each
intercept). What attributes do not say exactly is not told, nor anything where they disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from netloupe.explorer.model import Node
from netloupe.explorer.notation import write_count

from .details import EstimatorDetails
from .found_blocks import FoundBlock, FoundBlocks
from .readings import read_int, read_str
from .whole_groups import make_whole_block

_DOMAIN = "ai.onnx.ml"
_CLASSES = ("classlabels_strings", "classlabels_int64s", "classlabels_ints")
#: what stands between and behind what was fitted
_BETWEEN = frozenset(
    {"ArgMax", "ArrayFeatureExtractor", "Binarizer", "Concat", "FeatureVectorizer", "Normalizer"}
    | {"Softmax", "ZipMap"}
)
_NAMES = {
    "DictVectorizer": "Dictionary vectorizer",
    "Imputer": "Imputer",
    "LabelEncoder": "Label encoder",
    "LinearClassifier": "Linear classifier",
    "LinearRegressor": "Linear regressor",
    "Normalizer": "Normalizer",
    "OneHotEncoder": "One-hot encoder",
    "SVMClassifier": "Support vector classifier",
    "SVMRegressor": "Support vector regressor",
    "Scaler": "Scaler",
    "TreeEnsemble": "Tree ensemble",
    "TreeEnsembleClassifier": "Tree ensemble",
    "TreeEnsembleRegressor": "Tree ensemble",
    "ZipMap": "ZipMap",
}
_MODELS = frozenset(op for op in _NAMES if op.startswith(("Linear", "SVM", "Tree")))
_KERNELS = {"LINEAR": "linear", "POLY": "polynomial", "RBF": "RBF", "SIGMOID": "sigmoid"}


def find_estimators(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find one operator that holds what was fitted, or a pipeline with one model.

    A pipeline is a model, what prepares its features, and what turns its scores into labels and
    their probabilities, as converters of scikit-learn write it.
    """
    operations = blocks.operations
    if len(operations) == 1:
        details = read_estimator(operations.nodes[0])
        if details is not None:
            name = name_estimator(operations.nodes[0], details)
            yield make_whole_block(blocks, "estimator", name, _tell(details), details)
        return
    fitted = [n for n, node in enumerate(operations.nodes) if is_estimator(node)]
    models = [n for n in fitted if operations.nodes[n].op_type in _MODELS]
    others = [kind for n, kind in enumerate(operations.kinds) if n not in fitted]
    if len(models) != 1 or not _BETWEEN.issuperset(others):
        return
    model = operations.nodes[models[0]]
    details = read_estimator(model)
    if details is None:
        return
    before = [operations.nodes[n] for n in fitted if operations.nodes[n].op_type not in _BETWEEN]
    steps = [*dict.fromkeys(_NAMES[n.op_type].lower() for n in before if n.index < model.index)]
    name = name_estimator(model, details) + (" pipeline" if steps else "")
    facts = (*_tell(details), *([f"after {_list(steps)}"] if steps else []))
    yield make_whole_block(blocks, "estimator", name, facts, details)


def is_estimator(node: Node) -> bool:
    """Return whether a node is an operator that holds what was fitted, or writes labels."""
    return node.domain == _DOMAIN and node.op_type in _NAMES and node.function is None


def is_predictor(node: Node) -> bool:
    """Return whether a node predicts by what was fitted."""
    return is_estimator(node) and node.op_type in _MODELS


def name_estimator(node: Node, details: EstimatorDetails) -> str:
    """Return what an operator that holds what was fitted is: one tree is no ensemble."""
    is_tree = _NAMES[node.op_type] == "Tree ensemble" and details.trees == 1
    return "Decision tree" if is_tree else _NAMES[node.op_type]


def _list(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def read_estimator(node: Node) -> EstimatorDetails | None:
    """Return what the attributes of an operator say; None for an operator that is not known."""
    if not is_estimator(node):
        return None
    read = _READERS.get(node.op_type)
    return read(node) if read is not None else EstimatorDetails()


def _tell(details: EstimatorDetails) -> tuple[str, ...]:
    counted = (
        (details.vectors, "support vector", "support vectors"),
        (details.features, "feature", "features"),
        (details.trees, "tree", "trees"),
        (details.splits, "split", "splits"),
        (details.leaves, "leaf", "leaves"),
        (details.nodes, "node", "nodes"),
        (details.classes, "class", "classes"),
        (details.targets, "target", "targets"),
        (details.keys, "key", "keys"),
        (details.categories, "category", "categories"),
    )
    return (
        *([f"{details.kernel} kernel"] if details.kernel else []),
        *(write_count(count, one, several) for count, one, several in counted if count),
        *([details.norm] if details.norm else []),
    )


def _count(node: Node, *names: str) -> int | None:
    """Return how many elements the first of some attributes has that is there."""
    for name in names:
        attribute = node.attributes.get(name)
        if attribute is not None and isinstance(attribute.value, tuple) and attribute.value:
            return len(attribute.value)
    return None


def _read_trees(node: Node) -> EstimatorDetails:
    targets = read_int(node, "n_targets") or 0
    details = EstimatorDetails(
        classes=_count(node, *_CLASSES), targets=targets if targets > 1 else None
    )
    if node.op_type == "TreeEnsemble":
        return replace(
            details,
            trees=_count(node, "tree_roots"),
            splits=_count(node, "nodes_featureids"),
            leaves=_count(node, "leaf_targetids"),
        )
    attribute = node.attributes.get("nodes_treeids")
    ids = attribute.value if attribute is not None else ()
    if isinstance(ids, tuple) and len(ids) == _count(node, "nodes_nodeids"):
        return replace(details, trees=len({*ids}), nodes=len(ids))
    return details


def _read_linear(node: Node) -> EstimatorDetails:
    coefficients = _count(node, "coefficients")
    if node.op_type == "LinearRegressor":
        targets = read_int(node, "targets")
        rows = 1 if targets is None else targets
        features = _divide(coefficients, rows)
        return EstimatorDetails(features=features, targets=rows if rows > 1 else None)
    features = _divide(coefficients, _count(node, "intercepts"))
    return EstimatorDetails(features=features, classes=_count(node, *_CLASSES))


def _read_vectors(node: Node) -> EstimatorDetails:
    """Read the support vectors of which one is made, and how many of them there are."""
    attribute = node.attributes.get("vectors_per_class")
    counts = attribute.value if attribute is not None else ()
    count = read_int(node, "n_supports") or 0
    if isinstance(counts, tuple) and counts:
        count = sum(each for each in counts if isinstance(each, int))
    features = _divide(_count(node, "support_vectors"), count)
    details = EstimatorDetails(classes=_count(node, *_CLASSES))
    if features is None:
        return details
    kernel = _KERNELS.get(read_str(node, "kernel_type") or "LINEAR")
    return replace(details, kernel=kernel, vectors=count, features=features)


def _divide(count: int | None, rows: int | None) -> int | None:
    return count // rows if count and rows and rows > 0 and count % rows == 0 else None


def _read_scaler(node: Node) -> EstimatorDetails:
    """Read how many features are scaled each in its own way; one number is for all."""
    offsets, scales = _count(node, "offset"), _count(node, "scale") or 0
    is_each = scales > 1 and offsets in (None, 1, scales)
    return EstimatorDetails(features=scales if is_each else None)


def _read_imputer(node: Node) -> EstimatorDetails:
    count = _count(node, "imputed_value_floats", "imputed_value_int64s") or 0
    return EstimatorDetails(features=count if count > 1 else None)


_READERS: dict[str, Callable[[Node], EstimatorDetails]] = {
    "DictVectorizer": lambda node: EstimatorDetails(
        features=_count(node, "string_vocabulary", "int64_vocabulary")
    ),
    "Imputer": _read_imputer,
    "LabelEncoder": lambda node: EstimatorDetails(
        keys=_count(node, "keys_strings", "keys_int64s", "keys_floats", "classes_strings")
    ),
    "LinearClassifier": _read_linear,
    "LinearRegressor": _read_linear,
    "Normalizer": lambda node: EstimatorDetails(norm=read_str(node, "norm") or "MAX"),
    "OneHotEncoder": lambda node: EstimatorDetails(
        categories=_count(node, "cats_strings", "cats_int64s")
    ),
    "SVMClassifier": _read_vectors,
    "SVMRegressor": _read_vectors,
    "Scaler": _read_scaler,
    "TreeEnsemble": _read_trees,
    "TreeEnsembleClassifier": _read_trees,
    "TreeEnsembleRegressor": _read_trees,
    "ZipMap": lambda node: EstimatorDetails(classes=_count(node, *_CLASSES)),
}
