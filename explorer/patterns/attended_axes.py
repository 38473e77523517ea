"""Along which axis of a map attention goes, where it goes along one and the others are a batch."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from netloupe.explorer.costs.facts import Dims
from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.model.kept import find_kept

from .operations import Operations
from .score_axes import find_compared_axis
from .traced_axes import TracedAxis, step_back
from .weight_sizes import read_kernel

_MOST_STEPS = 200
#: batch, features, and two others at least
_LEAST_AXES = 4
#: what the axes of a map are called that follow the channels, by how many there are
_NAMES = {2: ("height", "width"), 3: ("time", "height", "width")}
#: how facts begin that tell an axis of a map, and of what is cut in chunks
ALONG, _WITHIN = "along ", "within chunks"
_ACROSS = "across chunks"
#: so many nodes are looked at for convolutions over maps
_MOST_NODES = 20_000


def find_attended_axis(operations: Operations, product: Node) -> str:
    """Return ``along height``, ``within chunks of 250`` or ``across chunks``; "" for others.

    Rows of a map attend to nothing but themselves, and so do columns (J. Ho and others, Axial
    Attention in Multidimensional Transformers, 2019, section 3), frames and places of a video (G.
    Bertasius and others, Is Space-Time Attention All You Need?, 2021, figure 2), chunks of a
    sequence and what stands at one place of each (C. Subakan and others, Attention is All You Need
    in Speech Separation, 2021, section 2.1). All axes but one are a batch then.
    """
    place = find_compared_axis(product, 0)
    value = product.input(0)
    facts = find_value_facts(operations.context.graph.model)
    dims = facts.find_dims(value)
    if value is None or place is None or not dims or len(dims) < -place:
        return ""
    tokens = TracedAxis(value, frozenset({len(dims) + place}), len(dims))
    features: TracedAxis | None = None
    for _ in range(_MOST_STEPS):
        node = tokens.value.producer
        if node is None:
            return ""
        if features is None and node.operator.has("convolves"):
            features = TracedAxis(tokens.value, frozenset({1}), tokens.rank)
        elif features is None and _projects(operations, node):
            before = step_back(operations, facts, node, tokens)
            if before is None:
                return ""
            tokens = before
            features = TracedAxis(tokens.value, frozenset({tokens.rank - 1}), tokens.rank)
        else:
            moved = _move_back(operations, node, tokens)
            also = _move_back(operations, node, features) if features is not None else None
            if moved is None or (features is not None and also is None):
                return ""
            tokens, features = moved, also
        if features is not None and tokens.rank >= _LEAST_AXES:
            return _name_axis(operations, *_undo_permutations(operations, tokens, features))
    return ""


def _undo_permutations(
    operations: Operations, tokens: TracedAxis, features: TracedAxis
) -> tuple[TracedAxis, TracedAxis]:
    """Return axes as they were before a map was turned so that the one of tokens could be cut."""
    for _ in range(_MOST_STEPS):
        node = tokens.value.producer
        if node is None or not node.operator.has("permutes", "converts"):
            break
        moved, also = (_move_back(operations, node, one) for one in (tokens, features))
        if moved is None or also is None:
            break
        tokens, features = moved, also
    return tokens, features


def _move_back(operations: Operations, node: Node, given: TracedAxis) -> TracedAxis | None:
    """Return axes in what a node takes; of a sum of two in the one that goes by all between."""
    facts = find_value_facts(operations.context.graph.model)
    computed = [v for v in node.inputs if v is not None and not operations.is_fixed(v)]
    if not node.operator.has("adds") or len(computed) < 2:
        return step_back(operations, facts, node, given)
    dims = facts.find_dims(given.value)
    alike = [value for value in computed if dims and facts.find_dims(value) == dims]
    place = operations.context.graph.index_of
    if not alike:
        return None
    skip = min(alike, key=lambda v: -1 if v.producer is None else place(v.producer))
    return TracedAxis(skip, given.axes, given.rank)


def _projects(operations: Operations, node: Node) -> bool:
    """Return whether a node multiplies by a weight."""
    return node.operator.has("multiplies") and any(
        operations.is_fixed(value) for value in node.inputs[:2]
    )


def _name_axis(operations: Operations, tokens: TracedAxis, features: TracedAxis) -> str:
    """Return what the axis of tokens is called, if another one besides the batch is left."""
    facts = find_value_facts(operations.context.graph.model)
    dims = facts.find_dims(tokens.value) or ()
    own = tokens.axes | features.axes
    if len(tokens.axes) != 1 or len(features.axes) != 1 or tokens.axes & features.axes:
        return ""
    rest = [axis for axis in range(1, tokens.rank) if axis not in own and dims[axis] != 1]
    (axis,) = tokens.axes
    if not rest or axis == 0:
        return ""
    cut = _find_cut(operations, tokens)
    if cut is not None:
        size = dims[axis]
        within = f"{_WITHIN} of {size:,}" if isinstance(size, int) else _WITHIN
        return within if cut else _ACROSS
    beside = TracedAxis(tokens.value, frozenset(rest), tokens.rank)
    if len(rest) == 1 and _find_cut(operations, beside):
        return _ACROSS  # of how many chunks there are the size may not be known
    names = _NAMES.get(tokens.rank - 2, ())
    is_named = features.axes == {1} and len(names) in _find_ranks(operations.context.graph)
    if names and is_named and _is_map(operations, tokens):
        return f"{ALONG}{names[axis - 2]}"
    return ""  # a number would be that of one of several layouts


def _is_map(operations: Operations, tokens: TracedAxis) -> bool:
    """Return whether a value has the axes of a map that is convolved, pooled or an input."""
    for _ in range(_MOST_STEPS):
        node = tokens.value.producer
        if node is None or node.operator.has("convolves", "pools", "resamples"):
            return True
        before = _move_back(operations, node, tokens)
        if before is None or before.rank != tokens.rank or node.operator.has("reshapes"):
            return False
        tokens = before
    return False


def _find_cut(operations: Operations, tokens: TracedAxis) -> bool | None:
    """Return whether an axis is of the places in each chunk that a Reshape cuts another one into.

    False for that which counts chunks; None for neither, and where that is not known.
    """
    facts = find_value_facts(operations.context.graph.model)
    for _ in range(_MOST_STEPS):
        node = tokens.value.producer
        before = _move_back(operations, node, tokens) if node is not None else None
        if node is None or before is None or len(before.axes) != 1:
            return None
        if node.operator.has("reshapes"):
            dims, whole = facts.find_dims(tokens.value) or (), facts.find_dims(before.value) or ()
            (axis,), (one,) = tokens.axes, before.axes
            if dims[axis] != whole[one]:
                return one == 0 or not _is_first(dims, whole, axis, one)
        tokens = before
    return None


def _is_first(dims: Dims, whole: Dims, axis: int, one: int) -> bool:
    """Return whether an axis is the first of those that another one was cut into."""
    sizes = dims[:axis], whole[:one]
    known = [[size for size in each if isinstance(size, int)] for each in sizes]
    return all(map(len, sizes)) and prod(known[0]) == prod(known[1])


class _KernelRanks(NamedTuple):
    """Along how many axes kernels of a graph's convolutions are longer than 1."""

    ranks: frozenset[int]


def _find_ranks(graph: Graph) -> frozenset[int]:
    return find_kept(graph, _KernelRanks, lambda: _KernelRanks(_list_ranks(graph))).ranks


def _list_ranks(graph: Graph) -> frozenset[int]:
    kernels = (
        read_kernel(node) for node in graph.nodes[:_MOST_NODES] if node.operator.has("convolves")
    )
    return frozenset(len(kernel) for kernel in kernels if min(kernel, default=1) > 1)
