"""Numbers that positions have and that are no weights: masks, angles, tables for all pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from netloupe.explorer.model import Graph, Node, SparseTensor, Tensor
from netloupe.explorer.operators import PASSING_TRAITS, Operator, kept_with_catalogue

from .stored_uses import (
    ConstantUse,
    StoredUse,
    is_stored_value,
    list_nodes,
    list_traced,
    trace,
)

#: what scores pass on their way to Softmax
_BETWEEN_SCORES = ("elementwise", "gathers", "joins", "pads", *PASSING_TRAITS)
_MOST_STEPS = 12
#: so many nodes are looked at around one Softmax
_MOST_AROUND = 60
#: so many uses of one table are looked at
_MOST_USES = 50


def list_score_terms(softmax: Node) -> list[ConstantUse]:
    """Return the constant summands of what a Softmax takes, where that are scores."""
    if not _weighs_values(softmax):
        return []
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
        operator = node.operator
        if operator.has("multiplies"):
            products.append(node)
            traced = list_traced(node, operator.weight_places)
            is_matrix = operator.form == "MatMul"
            found += [
                one for one in traced if _has_pairs(one) or (is_matrix and _has_distances(one))
            ]
        elif operator.has(*_BETWEEN_SCORES) and not operator.has("compares", "logical"):
            places = _list_data_places(operator, len(node.inputs))
            if operator.has("adds", "subtracts", "chooses"):
                traced = list_traced(node, places)
                # a last axis of one has a number for each head
                found += [one for one in traced if one.tensor.dims[-1:] != (1,)]
            pending += [node.inputs[place] for place in places]
    if not found or all(map(_has_stored_factor, products)):
        return []
    return [one.use_as("attention bias") for one in found]


def _weighs_values(softmax: Node) -> bool:
    """Return whether shares that a Softmax gives are multiplied with computed values."""
    pending = [softmax]
    for _ in range(_MOST_STEPS):
        if not pending:
            return False
        for value in pending.pop().outputs:
            for user in () if value is None else value.users[:_MOST_STEPS]:
                operator = user.operator
                if operator.has("multiplies"):
                    if not _has_stored_factor(user):
                        return True
                elif operator.has(*_BETWEEN_SCORES):
                    pending.append(user)
    return False


@kept_with_catalogue(maxsize=1 << 12)
def _list_data_places(operator: Operator, count: int) -> tuple[int, ...]:
    """Return which of so many operands an operator computes with."""
    return tuple(place for place in range(count) if operator.operands.at(place) == "data")


def _has_stored_factor(product: Node) -> bool:
    return any(is_stored_value(product.input(place)) for place in product.operator.weight_places)


def _has_pairs(one: StoredUse) -> bool:
    """Return whether a tensor has a vector for each pair of so many positions."""
    dims = one.tensor.dims
    return len(dims) >= 3 and dims[-3] == dims[-2]


def _has_distances(one: StoredUse) -> bool:
    """Return whether a tensor has for each head a vector for each distance.

    Z. Dai and others, Transformer-XL, 2019, appendix B; P. He and others, DeBERTa, 2021, equation
    4: projected distances are the same for all of a batch, so that an exporter stores them. There
    are 2n - 1 of them, or more than a vector has numbers.
    """
    dims = one.tensor.dims
    if len(dims) == 4 and dims[0] == 1 < dims[1]:
        return dims[-1] % 2 == 1 < dims[-1]
    return len(dims) == 3 and dims[0] > 1 and dims[-1] > dims[-2]


def find_angles(graph: Graph) -> Iterator[ConstantUse]:
    """Yield angles of which both sine and cosine are taken, and what they are products with."""
    functions = list_nodes(graph, lambda operator: operator.has("takes_sine"))
    angles = [(node.operator.form, one) for node in functions for one in _list_angles(node)]
    taking: dict[Tensor | SparseTensor, set[str]] = {}
    for form, one in angles:
        taking.setdefault(one.tensor, set()).add(form)
    yield from (one.use_as("other") for _, one in angles if len(taking[one.tensor]) > 1)


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
        operator = producer.operator
        if operator.has(*PASSING_TRAITS):
            pending.append((producer, 0))
        elif operator.has("joins", "multiplies_elements"):
            pending += [(producer, index) for index in range(len(producer.inputs))]
        elif operator.form == "MatMul":
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
    for node in list_nodes(graph, lambda operator: operator.form == "Gather"):
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
            operator = user.operator
            if operator.has("joins", *PASSING_TRAITS):
                pending += [given for given in user.outputs if given is not None]
            elif not operator.has("multiplies_elements") or any(
                other is not value and (other is None or is_stored_value(other))
                for other in user.inputs
            ):
                return False
    return True
