"""Numbers that positions have and that are no weights: masks, angles, tables for all pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from netloupe.explorer.model import Graph, Node

from .stored_uses import (
    LAYOUT,
    ConstantUse,
    StoredUse,
    is_stored_value,
    list_nodes,
    list_traced,
    trace,
)

#: operators through which scores pass on their way to Softmax
_BETWEEN_SCORES = LAYOUT | {"Add", "Div", "Max", "Min", "Mul", "Sub", "Tanh", "Where"}
_PRODUCTS = frozenset({"Einsum", "MatMul"})

_MOST_STEPS = 12
#: so many nodes are looked at around one Softmax
_MOST_AROUND = 60
#: so many uses of one table are looked at
_MOST_USES = 50


def list_score_terms(softmax: Node) -> list[ConstantUse]:
    """Return the constant summands of what a Softmax takes, where that are scores."""
    found: list[StoredUse] = []
    pending = [*softmax.inputs[:1]]
    seen: set[Node] = set()
    products: list[Node] = []
    while pending and len(seen) < _MOST_AROUND:
        value = pending.pop()
        node = None if value is None else value.producer
        if node is None or node in seen or node.graph is not softmax.graph:
            continue
        seen.add(node)
        if node.op_type in _PRODUCTS:
            products.append(node)
            traced = list_traced(node, range(len(node.inputs)))
            found += [one for one in traced if _has_pairs(one)]
        elif node.op_type in _BETWEEN_SCORES:
            first = 1 if node.op_type == "Where" else 0
            last = 1 if node.op_type in LAYOUT else len(node.inputs)
            if node.op_type in ("Add", "Sub", "Where"):
                traced = list_traced(node, range(first, last))
                # a last axis of one has a number for each head
                found += [one for one in traced if one.tensor.dims[-1:] != (1,)]
            pending += node.inputs[first:last]
    if not found or all(any(map(is_stored_value, node.inputs)) for node in products):
        return []
    return [one.use_as("attention bias") for one in found]


def _has_pairs(one: StoredUse) -> bool:
    """Return whether a tensor has a vector for each pair of so many positions."""
    dims = one.tensor.dims
    return len(dims) >= 3 and dims[-3] == dims[-2]


def find_angles(graph: Graph) -> Iterator[ConstantUse]:
    """Yield angles of which both sine and cosine are taken, and what they are products with."""
    cosines, sines = (
        [place for node in list_nodes(graph, {function}) for place in _list_angles(node)]
        for function in ("Cos", "Sin")
    )
    both = {one.tensor for one in cosines} & {one.tensor for one in sines}
    yield from (one.use_as("other") for one in (*cosines, *sines) if one.tensor in both)


def _list_angles(node: Node) -> Iterator[StoredUse]:
    """Yield what angles are made of: factors of positions, by which nothing is summed."""
    pending = [(node, 0)]
    for _ in range(_MOST_STEPS):
        if not pending:
            return
        taker, place = pending.pop()
        traced = trace(taker, place)
        if traced is not None:
            yield traced
            continue
        value = taker.input(place)
        producer = None if value is None else value.producer
        if producer is None or producer.graph is not node.graph:
            continue
        if producer.op_type in LAYOUT:
            pending.append((producer, 0))
        elif producer.op_type in ("Concat", "Mul"):
            pending += [(producer, index) for index in range(len(producer.inputs))]
        elif producer.op_type == "MatMul":
            traced_both = list_traced(producer, range(len(producer.inputs)))
            yield from (one for one in traced_both if _is_column(one, producer))


def _is_column(one: StoredUse, product: Node) -> bool:
    """Return whether a product with a tensor sums over one number: ``(n, 1) @ (1, m)``."""
    dims = one.tensor.dims
    if one.node is not product:  # its layout changes before
        return sum(dim != 1 for dim in dims) <= 1
    return len(dims) >= 2 and dims[-1 if one.place == 0 else -2] == 1


def find_rotary_tables(graph: Graph) -> Iterator[ConstantUse]:
    """Yield stored tables of cosines and sines, from which positions choose factors."""
    tables = []
    for node in list_nodes(graph, {"Gather"}):
        table = node.input(0)
        tensor = None if table is None else table.initializer
        if tensor is not None and tensor.dtype.is_float:
            tables.append((node, tensor.dims))
    yield from (ConstantUse(node, 0, "other") for node in find_pairs_of_factors(tables))


def find_pairs_of_factors(tables: Iterable[tuple[Node, tuple[object, ...]]]) -> Iterator[Node]:
    """Yield pairs of Gather from tables of the same dims, where the same indices choose factors.

    Parameters
    ----------
    tables
        Nodes, each with the dims of its table.
    """
    by_positions: dict[tuple[object, ...], list[Node]] = {}
    for node, dims in tables:
        if len(node.inputs) > 1:
            by_positions.setdefault((node.input(1), dims), []).append(node)
    for nodes in by_positions.values():
        if len(nodes) == 2 and all(_gives_factors(node) for node in nodes):
            yield from nodes


def _gives_factors(node: Node) -> bool:
    """Return whether all that a node gives are factors of computed values."""
    pending = [value for value in node.outputs if value is not None]
    looked = 0
    while pending:
        value = pending.pop()
        if value.is_output or not value.is_used:
            return False
        for user in value.users:
            looked += 1
            if looked > _MOST_USES:
                return False
            if user.op_type in LAYOUT or user.op_type == "Concat":
                pending += [given for given in user.outputs if given is not None]
            elif user.op_type != "Mul" or any(
                other is not value and (other is None or is_stored_value(other))
                for other in user.inputs
            ):
                return False
    return True
