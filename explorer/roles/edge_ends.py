"""Lists of edges: which of its nodes each edge of a graph leads from, and to.

Networks on graphs take them as pairs of whole numbers, one pair for each edge, and look up by one
end what they add up by the other (J. Gilmer and others, Neural Message Passing for Quantum
Chemistry, 2017; PyTorch Geometric's ``edge_index``). Cut into the ends, they are no data.
"""

from __future__ import annotations

from itertools import islice

from netloupe.explorer.dataflow import find_source, is_input_independent, trace_on
from netloupe.explorer.model import TensorType, Value
from netloupe.explorer.operators import PASSING_TRAITS

from .preparation_pieces import EDGE_ENDS, PreparationNodes, PreparationUse, Purpose

_PAIR = 2
_MOST_LOOKED = 40
#: how an end is cut out and brought into a form, negative numbers of nodes counted from the end
_CUTTING = ("adds", "chooses", "compares", "joins", "looks_up", "splits", *PASSING_TRAITS)


def find_edge_ends(piece: PreparationNodes) -> Purpose | None:
    """Return whether a piece cuts one end of all edges out of a list of pairs."""
    inputs = piece.list_inputs()
    if len(inputs) != 1 or not _lists_pairs(inputs[0]) or not piece.uses:
        return None
    is_plain = all(node.operator.has("reads_shape", *_CUTTING) for node in piece.nodes)
    chooses = all(map(_chooses, piece.uses[:_MOST_LOOKED]))
    return Purpose(EDGE_ENDS) if is_plain and chooses and _joins_nodes(inputs[0]) else None


def _joins_nodes(pairs: Value) -> bool:
    """Return whether one end of pairs picks computed rows, or tells where some are added up.

    What only picks rows of stored tables is no edge: a pair of an entity and a relation is one of
    rows of two tables (T. Dettmers and others, Convolutional 2D Knowledge Graph Embeddings, 2018).
    """
    return any(
        user.operator.has("scatters")
        or (user.operator.has("looks_up") and _is_computed(user.input(0), pairs))
        for user, _ in islice(trace_on(pairs, *_CUTTING), _MOST_LOOKED)
    )


def _is_computed(table: Value | None, pairs: Value) -> bool:
    """Return whether rows are not stored, and no pairs either, which one of both is cut out of."""
    if table is None or is_input_independent(table):
        return False
    return find_source(table, *_CUTTING) is not pairs


def _lists_pairs(value: Value) -> bool:
    kind = value.type
    if not isinstance(kind, TensorType) or kind.shape is None or not kind.dtype.is_integer:
        return False
    dims = [dim.value for dim in kind.shape]
    return len(dims) == _PAIR and _PAIR in dims


def _chooses(use: PreparationUse) -> bool:
    """Return whether a value tells where others are looked up, or where they are written."""
    ends = (
        (use.user, use.value),
        *(end for value in use.user.outputs if value for end in trace_on(value, *PASSING_TRAITS)),
    )
    return any(
        user.operator.has("looks_up", "scatters") and user.operator.operands.at(place) == "indices"
        for user, value in islice(ends, _MOST_LOOKED)
        for place, operand in enumerate(user.inputs)
        if operand is value
    )
