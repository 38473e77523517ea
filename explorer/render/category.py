"""The family of an operator, which decides the colours of its box."""

from __future__ import annotations

from netloupe.explorer.model import Node
from netloupe.explorer.operators import (
    OPERATOR_FAMILIES,
    find_operator,
    kept_with_catalogue,
    list_known_domains,
)

#: every family, the keys of a theme's palette besides ``terminal`` and ``constant``
FAMILIES = (*OPERATOR_FAMILIES, "function", "group")
_DOMAINS = {"ai.onnx.ml": "classical", "ai.onnx.preview.training": "training"}

#: parts of a name that tell the family of an operator that no table lists; first match counts
_HINTS = (
    ("attention", "attention"),
    ("quant", "quantization"),
    ("qlinear", "quantization"),
    ("int8", "quantization"),
    ("lstm", "recurrent"),
    ("gru", "recurrent"),
    ("norm", "normalization"),
    ("pool", "pooling"),
    ("conv", "linear"),
    ("matmul", "linear"),
    ("gemm", "linear"),
    ("softmax", "activation"),
    ("relu", "activation"),
    ("gelu", "activation"),
    ("sigmoid", "activation"),
    ("reduce", "reduction"),
    ("loss", "training"),
    ("random", "generator"),
    ("reshape", "shape"),
    ("transpose", "shape"),
    ("concat", "shape"),
    ("gather", "shape"),
)


def category_of(node: Node) -> str:
    """Return the family of a node's operator: a key of the theme's palette.

    A call of a function of the model counts as ``function`` unless its name is an operator's.
    """
    if node.function is not None and not _find_family(node.domain, node.op_type):
        return "function"
    return category_of_operator(node.domain, node.op_type)


@kept_with_catalogue(maxsize=1 << 17)
def category_of_operator(domain: str, op_type: str) -> str:
    """Return the family of an operator by its domain and name; ``other`` where unknown.

    What the catalogue does not have is taken for the operator of the same name in another domain,
    or for what its name tells: a colour is a hint.
    """
    if domain in _DOMAINS:
        return _DOMAINS[domain]
    family = _find_family(domain, op_type)
    if family:
        return family
    if op_type.startswith("Int8"):
        return "quantization"
    if op_type.endswith("Gradient"):
        return "training"
    lowered = op_type[:200].lower()
    return next((family for part, family in _HINTS if part in lowered), "other")


@kept_with_catalogue(maxsize=1 << 17)
def _find_family(domain: str, op_type: str) -> str:
    """Return the family that the catalogue has for an operator, in its own domain or another."""
    found = (
        find_operator(each, op_type).family for each in (domain, *sorted(list_known_domains()))
    )
    return next(filter(None, found), "")
