"""As what numbers a model stores the weights of its layers, where these are quantized alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from netloupe.explorer.model import Model, Node
from netloupe.explorer.quantization.quantized_weights import list_quantized_weights
from netloupe.explorer.roles import find_weight

from .counted_words import SMALL_NUMBERS, join_with_and
from .sketch import Sketch

#: what keeps its weights where layers are quantized, and what is no network's layer
_NO_LAYERS = frozenset({"normalization", "ml"})
#: the type and the bits of weights that are not quantized
_FLOATS = ("", 0)
#: of fewer layers nothing is said where not all are quantized alike
_LEAST_SHARE = 0.9


def add_weight_types(model: Model, sketch: Sketch | None) -> Sketch | None:
    """Return a sketch with ``int8 weights``, where that is so of all layers or nearly all."""
    if sketch is None or not sketch.is_network:
        return sketch
    said = tell_weight_types(model)
    return replace(sketch, clauses=(*sketch.clauses, said)) if said else sketch


def tell_weight_types(model: Model) -> str:
    """Return as what the weights of layers are stored; "" where they are not quantized alike.

    ``int8 weights`` and ``int8 and uint8 weights`` are those of all layers and tables, of as many
    bits each. Where some keep floating point, it is said how many of the layers do not.
    """
    stored = _find_types(model)
    if not stored:
        return ""
    layers: Counter[tuple[str, float]] = Counter()
    tables: Counter[tuple[str, float]] = Counter()
    for graph in model.graphs:
        for node in graph.nodes:
            weight = find_weight(node)
            if weight is not None and weight.kind not in _NO_LAYERS:
                counts = tables if weight.kind == "embedding" else layers
                counts[stored.get(node, _FLOATS)] += 1
    whole = layers + tables
    bits = {width for _, width in whole}
    if len(bits) == 1 and _FLOATS not in whole:
        return f"{join_with_and([name for (name, _), _ in whole.most_common()])} weights"
    ((name, _), count), *_ = layers.most_common(1) or [(_FLOATS, 0)]
    if not name or count < _LEAST_SHARE * layers.total():
        return ""
    return f"{name} weights in {_write_share(count, layers.total())}"


def _write_share(count: int, every: int) -> str:
    """Return ``all layers``, ``all layers but one``."""
    rest = every - count
    if rest < len(SMALL_NUMBERS):
        return "all layers" if not rest else f"all layers but {SMALL_NUMBERS[rest]}"
    return "nearly all layers"


def _find_types(model: Model) -> dict[Node, tuple[str, float]]:
    """Return for each node that takes a quantized weight the type and the bits of its numbers."""
    found: dict[Node, tuple[str, float]] = {}
    for graph in model.graphs:
        for weight in list_quantized_weights(graph):
            if weight.is_bias or weight.scheme == "simulated" or not weight.storage:
                continue
            for node in weight.list_users():
                found[node] = weight.storage, weight.bits or 0
    return found
