"""The category of a box, which decides its colours: what a node does, or a group mostly does.

Categories are fewer than families of operators, so that each has a hue that is told from all
others at a glance: what has learned weights, attention, norms, activations, what changes the
resolution, what looks up, and what carries a state. All else is ``plain``.
"""

from __future__ import annotations

from netloupe.explorer.model import Node
from netloupe.explorer.operators import (
    Operator,
    find_operator,
    kept_with_catalogue,
    list_known_domains,
)
from netloupe.explorer.roles import find_weight

#: by family of operators; others are ``plain``
_OF_FAMILIES = {
    "linear": "weights",
    "attention": "attention",
    "normalization": "norm",
    "activation": "activation",
    "pooling": "resample",
    "reduction": "resample",
    "recurrent": "recurrent",
}
#: by what an operator does with its weight
_OF_WEIGHTS = {
    "attention": "attention",
    "convolution": "weights",
    "embedding": "lookup",
    "experts": "weights",
    "linear": "weights",
    "ml": "weights",
    "normalization": "norm",
    "recurrent": "recurrent",
}
#: with a hue of their own, as a key lists them
HUES = ("weights", "attention", "norm", "activation", "resample", "lookup", "recurrent")
#: every category, the keys of a theme's palette
CATEGORIES = (*HUES, "plain", "preparation", "terminal")
_DOMAINS = {"ai.onnx.ml": "classical", "ai.onnx.preview.training": "training"}

#: parts of a name that tell the category of an operator that no table lists, or lists as one that
#: computes with quantized numbers; first match counts
_HINTS = (
    ("attention", "attention"),
    ("embed", "lookup"),
    ("lstm", "recurrent"),
    ("gru", "recurrent"),
    ("norm", "norm"),
    ("pool", "resample"),
    ("resize", "resample"),
    ("upsample", "resample"),
    ("conv", "weights"),
    ("matmul", "weights"),
    ("gemm", "weights"),
    ("softmax", "activation"),
    ("relu", "activation"),
    ("gelu", "activation"),
    ("sigmoid", "activation"),
    ("reduce", "resample"),
)


def category_of(node: Node) -> str:
    """Return the category of a node: a key of the theme's palette.

    An operator that has a weight is of the category of what it does with it; a product of two
    values that are computed has none, and is ``plain``, as taking elements is where there is no
    table. A call of a function of the model is ``plain`` unless its name is an operator's.
    """
    if node.function is not None:
        return category_of_operator(node.domain, node.op_type) if _is_listed(node) else "plain"
    usual = category_of_operator(node.domain, node.op_type)
    operator = node.operator
    if operator.weight_kind == "embedding":
        return "lookup" if find_weight(node) is not None else usual
    if operator.multiplies_either and usual == "weights" and find_weight(node) is None:
        return "plain"
    return usual


def category_of_family(family: str) -> str:
    """Return the category of blocks of a family of operators; "" where it tells of no hue."""
    return _OF_FAMILIES.get(family, "")


@kept_with_catalogue(maxsize=1 << 17)
def category_of_operator(domain: str, op_type: str) -> str:
    """Return the category of an operator by its domain and name; ``plain`` where unknown.

    What the catalogue does not have is taken for the operator of the same name in another domain,
    or for what its name tells: a colour is a hint.
    """
    operator = _find_listed(domain, op_type)
    family = _DOMAINS.get(domain, operator.family)
    if operator.has("solves"):  # transforms and inverses, of the family of products
        return "plain"
    if family in _OF_FAMILIES:  # which may be told by whoever registers an operator
        return _OF_FAMILIES[family]
    if operator.weight_kind and operator.weight_kind != "embedding":
        return _OF_WEIGHTS[operator.weight_kind]
    if operator.has("resamples", "moves_pixels"):
        return "resample"
    if operator.has("samples"):
        return "lookup"
    if family and family not in ("quantization", "other"):
        return "plain"
    if op_type.endswith("Gradient"):
        return "plain"
    lowered = op_type[:200].lower()
    return next((category for part, category in _HINTS if part in lowered), "plain")


def _is_listed(node: Node) -> bool:
    return bool(_find_family(node.domain, node.op_type))


@kept_with_catalogue(maxsize=1 << 17)
def moves_data(domain: str, op_type: str) -> bool:
    """Return whether an operator is of a family that computes nothing with the elements."""
    return _find_family(domain, op_type) in ("shape", "generator", "logic", "quantization")


@kept_with_catalogue(maxsize=1 << 17)
def _find_family(domain: str, op_type: str) -> str:
    """Return the family that the catalogue has for an operator, in its own domain or another."""
    return _DOMAINS.get(domain, _find_listed(domain, op_type).family)


@kept_with_catalogue(maxsize=1 << 17)
def _find_listed(domain: str, op_type: str) -> Operator:
    """Return what the catalogue has of an operator, in its own domain or else another."""
    found = (find_operator(each, op_type) for each in (domain, *sorted(list_known_domains())))
    return next((each for each in found if each.family), find_operator(domain, op_type))
