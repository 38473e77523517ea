"""Tables that several lookups take rows of, or that the output layer multiplies by as well.

A language model's output layer may be its embedding (O. Press and L. Wolf, Using the Output
Embedding to Improve Language Models, 2017, section 1); two texts have one vocabulary.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import NamedTuple

from netloupe.explorer.costs.ties import find_ties
from netloupe.explorer.model import Graph, Node, SparseTensor, Tensor, find_nodes_where
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.model.storage import multiply_dims
from netloupe.explorer.roles import find_weight

#: in models of more nodes nobody looks
_MOST_NODES = 20_000
#: a row is a vector
_TABLE_AXES = 2


class SharedTables(NamedTuple):
    """Which nodes of a graph use tables that others use, too.

    Parameters
    ----------
    tables
        The table of each of these nodes.
    lookups
        The nodes that take rows of each table.
    products
        The nodes that multiply by each table.
    """

    tables: Mapping[Node, Tensor | SparseTensor]
    lookups: Mapping[Tensor | SparseTensor, Sequence[Node]]
    products: Mapping[Tensor | SparseTensor, Sequence[Node]]


def find_shared_tables(graph: Graph) -> SharedTables:
    """Return which lookups and products of a graph use the same tables; looked for once.

    A product may have a copy of the table, perhaps transposed: exporters store what they have
    transposed beforehand. Two lookups have the same stored table: copies may be of layers that
    were made alike.
    """
    return find_kept(graph, SharedTables, lambda: _find(graph))


def _find(graph: Graph) -> SharedTables:
    if len(graph.nodes) > _MOST_NODES:
        return SharedTables({}, {}, {})
    lookups: dict[Tensor | SparseTensor, list[Node]] = {}
    products: dict[Tensor | SparseTensor, list[Node]] = {}
    for node, tensor in _list_matrices(graph, "embedding"):
        lookups.setdefault(tensor, []).append(node)
    sizes = {multiply_dims(table.dims) for table in lookups}
    factors = [*_list_matrices(graph, "linear", sizes)] if lookups else []
    copies: dict[Tensor | SparseTensor, Tensor | SparseTensor] = {}
    if lookups and factors:
        copies.update(find_ties(graph.model).copies)
    of_originals = {copies.get(table, table): table for table in lookups}
    for node, tensor in factors:
        table = of_originals.get(copies.get(tensor, tensor))
        if table is not None:
            products.setdefault(table, []).append(node)
    shared = [t for t, users in lookups.items() if len(users) + len(products.get(t, ())) > 1]
    tables = {n: t for t in shared for n in (*lookups[t], *products.get(t, ()))}
    return SharedTables(tables, lookups, products)


def _list_matrices(
    graph: Graph, kind: str, sizes: Container[int] | None = None
) -> Iterator[tuple[Node, Tensor | SparseTensor]]:
    """Yield the nodes whose weight is a stored matrix, and that.

    Parameters
    ----------
    kind
        The kind of their weights.
    sizes
        How many elements the matrices may have that are asked for; any where None. A product is
        not looked at that takes a matrix as it is stored, and that of another size.
    """
    for index in find_nodes_where(graph, lambda one: one.weight_kind == kind).tolist():
        node = graph.nodes[index]
        if sizes is not None:
            operands = [node.input(place) for place in node.operator.weight_places]
            stored = [value.initializer for value in operands if value is not None]
            taken = [
                multiply_dims(one.dims)
                for one in stored
                if one is not None and len(one.dims) == _TABLE_AXES
            ]
            if taken and not any(size in sizes for size in taken):
                continue
        weight = find_weight(node)
        if weight is None or weight.tensor is None or weight.kind != kind:
            continue
        if len(weight.tensor.dims) == _TABLE_AXES:
            yield node, weight.tensor


def tell_shared_table(nodes: Sequence[Node]) -> str:
    """Return ``shared`` of a lookup, ``shared with embedding`` of a product; "" for others.

    Parameters
    ----------
    nodes
        All nodes of one box. Nothing is said where it has more weights than one: nobody could
        tell which of them is shared; nor where the table is used in the box alone.
    """
    weighted = [node for node in nodes if find_weight(node) is not None]
    if len(weighted) != 1:
        return ""
    shared = find_shared_tables(weighted[0].graph)
    table = shared.tables.get(weighted[0])
    if table is None:
        return ""
    is_lookup = weighted[0] in shared.lookups[table]
    return "shared" if is_lookup else "shared with embedding"
