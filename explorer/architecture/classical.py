"""Models of ``ai.onnx.ml``: trees, linear models, support vectors, and small MLPs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from netloupe.explorer.model import Node
from netloupe.explorer.notation import write_count
from netloupe.explorer.patterns import Detail
from netloupe.explorer.patterns.transformer_details import MlpDetails

from .outline import Outline
from .sizes import find_head
from .sketch import BlockSketch, Sketch

_DOMAIN = "ai.onnx.ml"
#: of what learned models of other kinds are made of
_NETWORK = ("convolves", "multiplies", "recurrent")
#: what models are called that are no trees: words of this place alone
_FAMILIES = {
    "LinearClassifier": "linear classifier",
    "LinearRegressor": "linear regressor",
    "SVMClassifier": "support vector classifier",
    "SVMRegressor": "support vector regressor",
}
#: what operators are called that prepare features: words of this place alone
_STEPS = {
    "FeatureVectorizer": "feature vector",
    "Imputer": "imputer",
    "LabelEncoder": "label encoder",
    "Normalizer": "normalizer",
    "OneHotEncoder": "one-hot encoder",
    "Scaler": "scaler",
}
_LABELS = ("classlabels_strings", "classlabels_int64s", "classlabels_ints")


def find_classical(nodes: Sequence[Node]) -> Sketch | None:
    """Tell a model of ``ai.onnx.ml`` by its one kind of learned operator; None for others."""
    models = [node for node in nodes if node.operator.has("predicts")]
    if not models or any(map(_is_of_network, nodes)):
        return None
    if not any(node.operator.has("multiplies") for node in models):
        return _tell_trees(nodes, models)
    if len(models) > 1:
        return _tell_stacked(models)
    node = models[0]
    classes = _count_classes(node)
    facts: dict[str, Detail] = {"classes": classes} if classes else {}
    family = _FAMILIES[node.op_type]
    before = _list_steps(nodes, node)
    clauses = (write_count(classes, "class", "classes") if classes else "", before)
    return Sketch(family, family[:1].upper() + family[1:], clauses, (), facts, False)


def _is_of_network(node: Node) -> bool:
    operator = node.operator
    return node.function is not None or (operator.has(*_NETWORK) and not operator.has("predicts"))


def _list_steps(nodes: Sequence[Node], model: Node) -> str:
    """Return what prepares the features: ``after imputer, scaler and one-hot encoder``."""
    steps = list(
        dict.fromkeys(
            _STEPS[node.op_type]
            for node in nodes
            if node.index < model.index and node.domain == _DOMAIN and node.op_type in _STEPS
        )
    )
    if not steps:
        return ""
    listed = f"{', '.join(steps[:-1])} and {steps[-1]}" if len(steps) > 1 else steps[0]
    return f"after {listed}"


def _tell_trees(nodes: Sequence[Node], models: Sequence[Node]) -> Sketch | None:
    """Tell trees by the ids of their nodes (ONNX, ai.onnx.ml, TreeEnsembleClassifier)."""
    counts = [_count_trees(node) for node in models]
    if not all(counts):
        return None
    trees = sum(counts)
    classes = {_count_classes(node) for node in models}
    facts: dict[str, Detail] = {"trees": trees}
    count = classes.pop() if len(classes) == 1 else 0
    is_classifier = all(map(_gives_classes, models))
    if is_classifier and count:
        facts["classes"] = count
    several = len(models) > 1
    clauses = (
        f"{write_count(len(models), 'estimator')} with {write_count(trees, 'tree')} together"
        if several and trees != len(models)
        else write_count(trees, "tree"),
        write_count(count, "class", "classes") if is_classifier and count else "",
        _list_steps(nodes, models[0]),
    )
    return Sketch("tree ensemble", "Tree ensemble", clauses, _sketch_trees(models), facts, False)


def _gives_classes(node: Node) -> bool:
    return node.operator.results.find("classes") is not None


def _sketch_trees(models: Sequence[Node]) -> tuple[BlockSketch, ...]:
    return (BlockSketch("estimator", len(models), tuple(models)),) if len(models) > 1 else ()


def _count_trees(node: Node) -> int:
    for name in ("nodes_treeids", "tree_roots"):
        attribute = node.attributes.get(name)
        value = attribute.value if attribute is not None else None
        if isinstance(value, tuple) and value:
            return len(set(value)) if name == "nodes_treeids" else len(value)
    return 0


def _count_classes(node: Node) -> int:
    for name in _LABELS:
        attribute = node.attributes.get(name)
        value = attribute.value if attribute is not None else None
        if isinstance(value, tuple) and value:
            return len(value)
    return 0


def _tell_stacked(models: Sequence[Node]) -> Sketch | None:
    """Tell classifiers of which the last takes what the others give.

    D. Wolpert, Stacked Generalization, 1992.
    """
    last = models[-1]
    if not _gives_classes(last):
        return None
    kinds = Counter(node.op_type for node in models[:-1])
    given = {value for node in models[:-1] for value in node.outputs if value is not None}
    pending = [value for value in last.inputs if value is not None]
    seen = set(pending)
    reached: set[Node] = set()
    while pending and len(seen) < 10_000:
        value = pending.pop()
        node = value.producer
        if node is None:
            continue
        if value in given:
            reached.add(node)
            continue
        fresh = [one for one in node.inputs if one is not None and one not in seen]
        seen.update(fresh)
        pending += fresh
    if reached != set(models[:-1]):
        return None
    classes = _count_classes(last)
    named = ", ".join(f"{name} ×{count}" if count > 1 else name for name, count in kinds.items())
    facts: dict[str, Detail] = {"classes": classes} if classes else {}
    clauses = (
        f"{last.op_type} over {named}",
        write_count(classes, "class", "classes") if classes else "",
    )
    return Sketch("stacked classifiers", "Stacked classifiers", clauses, (), facts, False)


def find_multilayer_perceptron(outline: Outline) -> Sketch | None:
    """Tell linear layers with activations between them, and nothing else with weights.

    D. Rumelhart and others, Learning representations by back-propagating errors, 1986.
    """
    found = outline.of_kind("mlp")
    if len(found) != 1 or len(outline.main) != 1:
        return None
    details = found[0].details.read_as(MlpDetails)
    widths = details.widths
    head = find_head(outline, outline.parts)
    if details.gated or not widths:
        return None
    if not all(
        part.kind in ("activation", "mlp", "norm") or part.has("looks_up") or part.classifies
        for part in outline.parts
    ):
        return None
    facts: dict[str, Detail] = {"widths": widths}
    if any(part.classifies for part in outline.parts) or (head is not None and head[2]):
        facts["classes"] = widths[-1]
    clauses = (" → ".join(f"{width:,}" for width in widths), details.activation or "")
    return Sketch("MLP", "MLP", clauses, (), facts)
