"""Graphs whose edges are a matrix that is pooled: soft clusters of nodes, and sums over neighbours.

R. Ying and others, Hierarchical Graph Representation Learning with Differentiable Pooling, 2018,
equations 3 and 4: of shares S of nodes in clusters, features X and edges A come SᵀX and SᵀAS.
Products with such edges are sums over neighbours and no attention, though S is a softmax.
"""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value
from netloupe.explorer.patterns.details import NO_DETAILS, FeatureDetails

from .composites import Merge, make_part
from .outline import Outline, OutlinePart
from .sizes import read_stated_shape

#: what a product takes
_TWO = 2


def find_dense_graphs(outline: Outline) -> Iterator[Merge]:
    """Find soft poolings of graphs, and graph convolutions along the edges that they pool."""
    edges: set[Value] = set()
    for part in outline.parts:
        found = _find_pooling(outline, part)
        if found is None:
            continue
        shares, product, taken = found
        edges.add(taken)
        edges.update(one for one in outline.operations.nodes[part.end].outputs if one is not None)
        beside = [one for one in outline.users(shares) if one not in (part, product)]
        own = [one for one in beside if _is_product(outline, one)]
        parts = [shares, product, part, *own]
        merged = make_part(parts, "soft pooling", "Soft pooling", NO_DETAILS)
        merged.end = part.end
        merged.facts = _write_counts(outline, shares)
        yield parts, merged
    if edges:
        yield from _find_convolutions(outline, edges)


def _is_product(outline: Outline, part: OutlinePart) -> bool:
    return part.has("multiplies") and len(outline.operations.operands[part.end]) == _TWO


def _find_pooling(
    outline: Outline, part: OutlinePart
) -> tuple[OutlinePart, OutlinePart, Value] | None:
    """Return the shares, the first product and the edges of SᵀAS, which a part gives."""
    if not _is_product(outline, part):
        return None
    values = outline.operations.operands[part.end]
    givers = [outline.giver(value) for value in values]
    for product, shares in (givers, givers[::-1]):
        if product is None or shares is None or shares.name != "Softmax":
            continue
        if product is shares or not _is_product(outline, product):
            continue
        taken = outline.operations.operands[product.end]
        edges = [value for value in taken if outline.giver(value) is not shares]
        if len(edges) == 1 and outline.only_user(product) is part and _is_square(edges[0]):
            return shares, product, outline.operations.source(edges[0])
    return None


def _is_square(value: Value) -> bool:
    """Return whether a value has as many rows as columns, as far as that is stated."""
    shape = read_stated_shape(value)
    return shape is None or len(shape) < _TWO or shape[-1] == shape[-2]


def _write_counts(outline: Outline, shares: OutlinePart) -> tuple[str, ...]:
    """Return ``100 → 25 nodes``; nothing where the file states no shape."""
    shape = read_stated_shape(outline.operations.nodes[shares.end].output(0)) or ()
    counts = [size for size in shape[-_TWO:] if isinstance(size, int)]
    return (f"{counts[0]:,} → {counts[1]:,} nodes",) if len(counts) == _TWO else ()


def _find_convolutions(outline: Outline, edges: set[Value]) -> Iterator[Merge]:
    """Find layers of sums over neighbours, with one of each node itself or without.

    W. Hamilton and others, Inductive Representation Learning on Large Graphs, 2017, section 3.1:
    the mean of neighbours is a sum that is divided.
    """
    for layer in outline.of_kind("linear"):
        features = _find_features(outline, layer, edges)
        if features is None:
            continue
        parts = [layer]
        total = outline.only_user(layer)
        if total is not None and total.has("adds"):
            others = [one for one in outline.givers(total) if one is not layer]
            own = others[0] if len(others) == 1 and others[0].kind == "linear" else None
            if own is not None and outline.only_user(own) is total:
                taken = [outline.operations.source(value) for value in outline.operands(own)]
                parts += [own, total] if features in taken else []
        details = FeatureDetails(in_features=layer.in_features, out_features=layer.out_features)
        merged = make_part(parts, "graph convolution", "Graph convolution", details)
        yield parts, merged


def _find_features(outline: Outline, layer: OutlinePart, edges: set[Value]) -> Value | None:
    """Return of what a layer takes the sums over neighbours; None where it takes none."""
    operands = outline.operands(layer)
    part = outline.giver(operands[0]) if len(operands) == 1 else None
    if part is not None and part.has("divides"):
        taken = outline.operations.operands[part.end]
        part = outline.giver(taken[0]) if taken else None
    if part is None or not _is_product(outline, part):
        return None
    values = [outline.operations.source(one) for one in outline.operations.operands[part.end]]
    others = [value for value in values if value not in edges]
    return others[0] if len(others) == 1 and len(values) == _TWO else None
