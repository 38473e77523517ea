"""Nodes that look as if they had a weight, but prepare something: angles, relative positions.

* The angles of rotary positions are a product of frequencies with positions, which sums over
  nothing (J. Su and others, RoFormer, 2021, section 3.4; transformers' ``LlamaRotaryEmbedding``).
* Caches of rotary positions are tables of cosines and sines, from which positions choose rows.
* A relative position bias is a table from which the distances of positions choose rows
  (C. Raffel and others, Exploring the Limits of Transfer Learning, 2020, section 2.1;
  transformers' ``T5Attention._relative_position_bucket``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from netloupe.explorer.costs import find_pairs_of_factors
from netloupe.explorer.model import Graph, Node, Value, find_operators

from .determined_nodes import Booleans
from .input_independence import is_input_independent
from .weights import find_weight

#: operators that only change layout or type
LAYOUT = frozenset(
    {"Cast", "Concat", "Expand", "Flatten", "Identity", "Reshape", "Slice", "Squeeze", "Tile"}
    | {"Transpose", "Unsqueeze"}
)
_MOST_STEPS = 12
_MOST_LOOKED = 200


def find_unlearned(graph: Graph, weighted: Booleans) -> Iterator[int]:
    """Yield the indices of nodes with a weight that belong to preparation nevertheless."""
    yield from _find_angles(graph, weighted)
    tables = [
        graph.nodes[index]
        for index in find_operators(graph, {"Gather"}).tolist()
        if weighted[index]
    ]
    yield from _find_caches(tables)
    yield from (node.index for node in tables if is_relative_bias(node))


def _find_angles(graph: Graph, weighted: Booleans) -> Iterator[int]:
    """Yield products over one frequency each, of which both cosine and sine are taken."""
    found: list[set[int]] = []
    for function in ("Cos", "Sin"):
        ends = find_operators(graph, {function}).tolist()
        found.append({index for end in ends for index in _walk_to_product(graph, end, weighted)})
    for index in sorted(found[0] & found[1]):
        weight = find_weight(graph.nodes[index])
        if weight is not None and weight.features is not None and weight.features[0] == 1:
            yield index


def _walk_to_product(graph: Graph, end: int, weighted: Booleans) -> Iterator[int]:
    node: Node | None = graph.nodes[end]
    for _ in range(_MOST_STEPS):
        if node is None or node.graph is not graph:
            return
        if weighted[graph.index_of(node)]:
            if node.operator.weight_kind and node.operator.multiplies_either:
                yield node.index
            return
        if node.index != end and node.op_type not in LAYOUT and node.op_type != "Mul":
            return
        computed = [v for v in node.inputs if v is not None and v.producer is not None]
        computed = [v for v in computed if not is_input_independent(v)]
        node = computed[0].producer if computed else None


def _find_caches(tables: Sequence[Node]) -> Iterator[int]:
    """Yield pairs of tables with the same dims, from which the same positions choose factors."""
    weights = ((node, find_weight(node)) for node in tables)
    known = ((node, w.dims) for node, w in weights if w is not None and w.dims is not None)
    yield from (node.index for node in find_pairs_of_factors(known))


def is_relative_bias(node: Node) -> bool:
    """Return whether rows of a table are chosen by the distances of positions.

    That is so where the index depends on no elements of inputs, only on their shapes, and is
    computed with a logarithm and a limit, as T5 does, or from the difference of two ranges.
    """
    index = node.input(1)
    if index is None or index.producer is None:
        return False
    seen: set[Node] = set()
    pending: list[Value] = [index]
    kinds: set[str] = set()
    is_difference = False
    while pending:
        value = pending.pop()
        producer = value.producer
        if value.initializer is not None:
            continue
        if producer is None or len(seen) > _MOST_LOOKED:
            return False  # of the elements of an input
        if producer in seen or producer.op_type in ("Shape", "Size"):
            continue
        if producer.graph is not node.graph:
            return False
        seen.add(producer)
        kinds.add(producer.op_type)
        if producer.op_type == "Sub":
            is_difference = is_difference or all(map(comes_from_range, producer.inputs))
        pending += [operand for operand in producer.inputs if operand is not None]
    return is_difference or kinds >= {"Log", "Min", "Where"}


def comes_from_range(value: Value | None) -> bool:
    """Return whether a value is a range of numbers in some layout."""
    for _ in range(_MOST_STEPS):
        producer = value.producer if value is not None else None
        if producer is None:
            return False
        if producer.op_type == "Range":
            return True
        if producer.op_type not in LAYOUT or producer.op_type == "Concat":
            return False
        value = producer.input(0)
    return False
