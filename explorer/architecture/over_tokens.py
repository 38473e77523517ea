"""MLPs that mix tokens, and not features."""

from __future__ import annotations

from .outline import Outline, OutlinePart

#: kinds that work along the last axis, besides norms of features
_OF_FEATURES = frozenset({"linear", "mlp"})


def is_over_tokens(outline: Outline, part: OutlinePart) -> bool:
    """Return whether what an MLP mixes are not features, which are on the last axis, but tokens.

    So where it takes both in each other's place (I. Tolstikhin and others, MLP-Mixer, 2021,
    figure 1). Convolutions mix what is before the last axis: they take features in that place.
    """
    operations = outline.operations
    givers = outline.givers(part)
    if len(givers) != 1 or not _is_over_features(givers[0]):
        return False
    first = operations.nodes[min(part.numbers)]
    inputs = first.inputs
    taken = next((one for one in inputs if one and not operations.is_fixed(one)), None)
    turned = [node for node in operations.path(taken) if node.operator.has("permutes")]
    if first.operator.has("convolves"):
        return not turned
    attribute = turned[0].attributes.get("perm") if len(turned) == 1 else None
    return attribute is not None and attribute.value == (0, 2, 1)


def _is_over_features(part: OutlinePart) -> bool:
    """Return whether a part works along the last axis, so that features are there."""
    if part.kind == "norm":
        return "LayerNorm" in part.name or "RMSNorm" in part.name
    return part.kind in _OF_FEATURES
