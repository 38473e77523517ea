"""Squares of numbers that tell who is joined to whom in a graph: fed, stored, or learned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Node, TensorType, Value
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import LAYOUT_TRAITS

from .operations import Operations
from .readings import read_str
from .weight_sizes import read_dims

_MOST_STEPS = 6
_LEAST_NODES, _MOST_NODES = 4, 1024
_MOST_AXES = 4
#: what an adjacency may go through before it is used: loops of a node to itself, shares of each
_PREPARING = (
    *("adds", "casts", "compares", "copies", "divides", "multiplies_elements", "subtracts"),
    *("broadcasts", "clips", "gathers", "permutes", "picks", "reduces", "reshapes", "takes_root"),
)
_POWERS = frozenset({"Pow", "Reciprocal"})
#: of what is computed of stored vectors of nodes so many nodes are looked at
_MOST_COMPUTED = 24
#: what makes likeness of nodes a graph: shares, and what is between 0 and 1
_SHARING = frozenset({"Sigmoid", "Softmax"})
_NEARLY = 1e-4
#: among fewer nodes trained numbers may be 0 on both sides by chance
_LEAST_JOINED, _LEAST_ZEROS = 8, 0.5

Matrix = npt.NDArray[np.float64]


class Adjacency(NamedTuple):
    """A square that tells who is joined to whom.

    Parameters
    ----------
    value
        What is multiplied with.
    origin
        ``fed``, ``stored``, or ``learned`` where it is made of stored vectors of the nodes.
    nodes
        How many nodes there are; 0 where unknown.
    graphs
        How many graphs of the same nodes it holds.
    """

    value: Value
    origin: Literal["fed", "stored", "learned"]
    nodes: int
    graphs: int = 1


class _Adjacencies:
    """The stored and learned adjacencies of a model, each read once."""

    def __init__(self) -> None:
        self.known: dict[Value, Adjacency | None] = {}


def read_step(operations: Operations, number: int) -> tuple[Adjacency, Value] | None:
    """Return by which graph an operation sums up what neighbours have, and the value of theirs.

    None for all else: so a product with a square of learned weights, which is a layer.
    """
    node = operations.nodes[number]
    if node.op_type not in ("Einsum", "MatMul") or len(node.inputs) != 2:
        return None
    first, second = node.inputs
    if first is None or second is None:
        return None
    if node.op_type == "Einsum":
        pairs = [pair for pair in ((first, second), (second, first)) if _contracts(node, *pair)]
    else:
        pairs = [(first, second), (second, first)]
    for graph, features in pairs:
        if operations.is_fixed(features):
            continue
        if operations.is_fixed(graph):
            found = read_stored_adjacency(graph)
            if found is not None:
                return found, operations.source(features)
            continue
        is_left = graph is first or node.op_type == "Einsum"
        if is_left and is_fed_adjacency(operations, graph):
            if is_fed_adjacency(operations, features):
                continue
            dims = _read_dims(graph)
            count = int(np.prod(dims[:-2])) if _is_apart(dims, _read_dims(features)) else 1
            return Adjacency(graph, "fed", dims[-1] if dims else 0, count), operations.source(
                features
            )
    return None


def _is_apart(graph: Sequence[int], features: Sequence[int]) -> bool:
    """Return whether several graphs are fed for the same features, as of several relations."""
    return len(graph) > 2 and all(dim == 1 for dim in features[:-2])


def _contracts(node: Node, graph: Value, features: Value) -> bool:
    """Return whether an Einsum sums over one axis of a square, and keeps the other in its place."""
    terms, _, result = read_str(node, "equation").replace(" ", "").partition("->")
    sides = terms.split(",")
    if len(sides) != 2 or not result:
        return False
    square, taken = sides if node.input(0) is graph else sides[::-1]
    summed = {*square[-2:]} & {*taken} - {*result}
    kept = {*square[-2:]} & {*result} - {*taken}
    return len(summed) == 1 and len(kept) == 1


def is_fed_adjacency(operations: Operations, value: Value) -> bool:
    """Return whether a value is a square that the model is fed, or made of it without weights.

    Such as with loops of a node to itself, and as shares of what a node is joined to.
    """
    pending, seen = [operations.source(value)], {value}
    fed: Value | None = None
    while pending:
        current = pending.pop()
        node = current.producer
        if node is None:
            if not current.is_input or (fed is not None and fed is not current):
                return False
            fed = current
            continue
        is_preparing = node.operator.has(*_PREPARING) or node.operator.form in _POWERS
        if not is_preparing or len(seen) > _MOST_COMPUTED:
            return False
        for operand in node.inputs:
            if operand is not None and operand not in seen and not operations.is_fixed(operand):
                seen.add(operand)
                pending.append(operand)
    return fed is not None and _is_square(fed) and (fed is value or _may_be_square(value))


def _is_square(value: Value) -> bool:
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    if shape is None or len(shape) < 2:
        return False
    rows, columns = shape[-2:]
    # squares of three and four turn and move places
    is_small = isinstance(rows.value, int) and rows.value <= _MOST_AXES
    return rows.value == columns.value and rows.value is not None and not is_small


def _may_be_square(value: Value) -> bool:
    dims = find_value_facts(value.graph.model).find_dims(value)
    return dims is None or (len(dims) > 1 and dims[-1] == dims[-2] != 1)


def read_stored_adjacency(value: Value) -> Adjacency | None:
    """Return the graph that a constant tells; None where it is weights, or too large to be read.

    What is stored tells one where its numbers are not negative and in both directions the same, or
    shares that add up to 1, or 0 and 1 alone; or where it is the Laplacian of such a graph; or
    where it is 0 between most, in both directions the same, whatever the others are weighted by (S.
    Yan and others, Spatial Temporal Graph Convolutional Networks, 2018, section 3.4: partitions
    times the importance of edges). No layer that was trained is so. What is made of stored vectors
    is one where the products of these become shares (Z. Wu and others, Graph WaveNet, 2019,
    equation 5; L. Bai and others, Adaptive Graph Convolutional Recurrent Network, 2020, equation
    5).
    """
    kept = find_kept(value.graph.model, _Adjacencies, _Adjacencies)
    if value not in kept.known:
        kept.known[value] = _read_constant(value)
    return kept.known[value]


def _read_constant(value: Value) -> Adjacency | None:
    # sizes of what is stored are at hand, and those of what is computed take time
    is_of_vectors = _is_of_vectors(value)
    dims = _read_dims(value) if is_of_vectors else read_dims(value)
    if len(dims) < 2 or dims[-1] != dims[-2] or not _LEAST_NODES <= dims[-1] <= _MOST_NODES:
        return None
    count = int(np.prod(dims[:-2])) if len(dims) > 2 else 1
    if len(dims) > 3 or count > 16:
        return None
    if is_of_vectors:
        return Adjacency(value, "learned", dims[-1], count)
    source: Value | None = value
    for _ in range(_MOST_STEPS):
        node = source.producer if source is not None else None
        if node is None or not node.operator.has(*LAYOUT_TRAITS, "copies"):
            break
        source = node.input(0)
    tensor = find_stored_tensor(source) if source is not None else None
    if tensor is None or not tensor.dtype.is_float or tensor.external is not None:
        return None
    if tensor.size != count * dims[-1] ** 2:
        return None
    try:
        stored = tensor.numpy().reshape(-1, dims[-1], dims[-1])
        beside = stored[0, 0, 1:].astype(np.float64)
        if beside.min() < 0 < beside.max() and (beside == 0).mean() < _LEAST_ZEROS:
            return None  # as most layers are, of which no more is looked at
        squares = stored.astype(np.float64)
    except (NetloupeError, TypeError, ValueError):
        return None
    is_graph = [_tells_graph(square) or _is_unit(square) for square in squares]
    if all(is_graph) and not all(map(_is_unit, squares)):
        return Adjacency(value, "stored", dims[-1], count)
    if _joins_both_ways((squares != 0).any(axis=0)):
        return Adjacency(value, "stored", dims[-1], count)
    return None


def _joins_both_ways(joined: npt.NDArray[np.bool_]) -> bool:
    """Return whether few are joined, each as the other, and not all that are joined to one."""
    is_sparse = len(joined) >= _LEAST_JOINED and joined.mean() <= 1 - _LEAST_ZEROS
    if not is_sparse or (joined != joined.T).any():
        return False
    if (joined[1:, 1:] == joined[:-1, :-1]).all():
        return False  # a window over places
    own = joined | np.eye(len(joined), dtype=bool)
    reached = own.astype(np.float64) @ own.astype(np.float64) > 0
    return bool((reached != own).any())  # else groups of features, each with weights of its own


def _read_dims(value: Value) -> tuple[int, ...]:
    dims = find_value_facts(value.graph.model).find_dims(value)
    known = [dim for dim in dims or () if isinstance(dim, int)]
    return tuple(known) if dims is not None and len(known) == len(dims) else ()


def _is_unit(square: Matrix) -> bool:
    return bool((square == np.eye(len(square))).all())


def _tells_graph(square: Matrix) -> bool:
    """Return whether numbers are those of an adjacency, or of a Laplacian."""
    if not np.isfinite(square).all():
        return False
    between = square - np.diag(np.diag(square))
    if not between.any():
        return False
    # what looks back alone is a mask of time, and what is the same everywhere an average
    if not np.triu(between).any() or not np.tril(between).any():
        return False
    if np.allclose(square[1:, 1:], square[:-1, :-1]):
        return False
    is_symmetric = np.allclose(square, square.T, rtol=_NEARLY, atol=_NEARLY * np.abs(square).max())
    if (between <= 0).all():
        return bool(is_symmetric)
    if (square < 0).any():
        return False
    places = (square > 0).sum(axis=1)
    if places.max() == 1:
        return False  # rows in another order
    is_binary = bool(np.isin(square, (0.0, 1.0)).all()) and bool((between == 0).any())
    return bool(is_symmetric or is_binary or _are_shares(square) or _are_shares(square.T))


def _are_shares(square: Matrix) -> bool:
    """Return whether each row adds up to 1, or is of a node that nobody is joined to."""
    sums = square.sum(axis=1)
    return bool((np.isclose(sums, 1, atol=_NEARLY) | (sums == 0)).all() and sums.any())


def _is_of_vectors(value: Value) -> bool:
    """Return whether a constant is made of products of stored vectors by shares."""
    pending = [value]
    seen = {value}
    is_shared = is_product = False
    while pending and len(seen) < _MOST_COMPUTED:
        node = pending.pop().producer
        if node is None:
            continue
        is_shared = is_shared or node.operator.form in _SHARING
        if node.operator.form in ("Einsum", "Gemm", "MatMul"):
            is_product = is_product or is_shared
            continue
        for operand in node.inputs:
            if operand is not None and operand not in seen:
                seen.add(operand)
                pending.append(operand)
    return is_product


def find_learned_adjacencies(nodes: Sequence[Node]) -> Iterator[tuple[Node, ...]]:
    """Yield the nodes that make a graph of stored vectors, for each that products are taken with.

    None of them depends on an input, so that no operations stand for them.
    """
    inside = {*nodes}
    for node in nodes:
        value = node.output(0) if node.operator.form in _SHARING else None
        if value is None or not is_input_independent(value) or value.is_output:
            continue
        users = value.users[:_MOST_COMPUTED]
        if not users or any(user.operator.form in _SHARING for user in users):
            continue
        found = read_stored_adjacency(value)
        if found is not None and found.origin == "learned":
            members, pending = {node}, [node]
            while pending:
                for operand in pending.pop().inputs:
                    giver = operand.producer if operand is not None else None
                    if giver is None or giver not in inside or giver in members:
                        continue
                    taking = {user for output in giver.outputs if output for user in output.users}
                    if len(members) < _MOST_COMPUTED and taking <= members:
                        members.add(giver)
                        pending.append(giver)
            yield tuple(sorted(members, key=node.graph.index_of))
