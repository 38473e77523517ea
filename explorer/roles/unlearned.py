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
from netloupe.explorer.dataflow import Booleans, find_giver, is_input_independent
from netloupe.explorer.model import Graph, Node, Value, find_nodes_where, find_nodes_with
from netloupe.explorer.operators import PASSING_TRAITS

from .weights import find_weight

#: what T5 computes its distances with; only what looks for such distances asks
_OF_DISTANCES = frozenset({"Log", "Min", "Where"})
_MOST_STEPS = 12
_MOST_LOOKED = 200


def find_unlearned(graph: Graph, weighted: Booleans) -> Iterator[int]:
    """Yield the indices of nodes with a weight that belong to preparation nevertheless."""
    yield from _find_angles(graph, weighted)
    tables = [
        graph.nodes[index]
        for index in find_nodes_where(graph, lambda operator: operator.form == "Gather").tolist()
        if weighted[index]
    ]
    yield from _find_caches(tables)
    yield from (node.index for node in tables if is_relative_bias(node))


def _find_angles(graph: Graph, weighted: Booleans) -> Iterator[int]:
    """Yield products over one frequency each, of which both cosine and sine are taken."""
    functions: dict[int, set[str]] = {}
    for end in find_nodes_with(graph, "takes_sine").tolist():
        for index in _walk_to_product(graph, end, weighted):
            functions.setdefault(index, set()).add(graph.nodes[end].operator.form)
    for index in sorted(index for index, forms in functions.items() if len(forms) > 1):
        weight = find_weight(graph.nodes[index])
        if weight is not None and weight.features is not None and weight.features[0] == 1:
            yield index


def _walk_to_product(graph: Graph, end: int, weighted: Booleans) -> Iterator[int]:
    node: Node | None = graph.nodes[end]
    for _ in range(_MOST_STEPS):
        if node is None or node.graph is not graph:
            return
        operator = node.operator
        if weighted[graph.index_of(node)]:
            if operator.weight_kind and operator.multiplies_either:
                yield node.index
            return
        is_passed = operator.has("joins", "multiplies_elements", *PASSING_TRAITS)
        if node.index != end and not is_passed:
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
    forms: set[str] = set()
    is_difference = False
    while pending:
        value = pending.pop()
        producer = value.producer
        if value.initializer is not None:
            continue
        if producer is None or len(seen) > _MOST_LOOKED:
            return False  # of the elements of an input
        operator = producer.operator
        if producer in seen or operator.has("reads_shape"):
            continue
        if producer.graph is not node.graph:
            return False
        seen.add(producer)
        forms.add(operator.form)
        if operator.has("subtracts"):
            is_difference = is_difference or all(map(comes_from_range, producer.inputs))
        pending += [operand for operand in producer.inputs if operand is not None]
    return is_difference or forms >= _OF_DISTANCES


def comes_from_range(value: Value | None) -> bool:
    """Return whether a value is a range of numbers in some layout."""
    return find_giver(value, "counts", through=PASSING_TRAITS, most=_MOST_STEPS) is not None
