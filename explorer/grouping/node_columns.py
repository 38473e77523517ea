"""The wiring of very many nodes of one graph, made of the graph's own in arrays.

What :class:`.signatures.NodeTable` finds node by node, for tables so large that this takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from netloupe.explorer.arrays import sort_distinct
from netloupe.explorer.dataflow import copies_stored
from netloupe.explorer.model import Graph, Node, Value, is_constant_node
from netloupe.explorer.model.wiring import number_alike, to_array
from netloupe.explorer.operators import Operator

from .kind_keys import KindKeys

Integers = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]

#: what an operand is: left out, constant, or computed
ABSENT, CONSTANT, COMPUTED = "-", "c", "v"
_CODES = (ABSENT, CONSTANT, COMPUTED)
#: of more operands the form is no number of two bits each
_MOST_IN_NUMBER = 30
#: behind so many operands none tells sizes, places or axes
_MOST_ARRANGING = 8


#: gives the row of a node; -1 where it has none
FindRow = Callable[[Node], int]


class NodeColumns(NamedTuple):
    """What is known of some nodes in arrays, by row.

    Parameters
    ----------
    alike, firsts
        A number that nodes share whose operator, form, number of results, attributes and
        subgraphs are equal; and the first row of each, in order.
    lengths, starts
        How many operands each has, and where these begin among all.
    codes, sources
        Of each operand which of ``_CODES`` it is, and the row that gives it; -1 for none.
    edges
        Shape (edges, 2): distinct pairs of rows, the first of which gives what the second takes;
        sorted.
    used_outside
        Whether a result is an output of the graph or used by other nodes.
    """

    find_row: FindRow
    alike: Integers
    firsts: Integers
    lengths: Integers
    starts: Integers
    codes: Integers
    sources: Integers
    edges: Integers
    used_outside: Flags

    def form(self, row: int) -> str:
        """Return what the operands of a node are."""
        start = int(self.starts[row])
        codes = self.codes[start : start + int(self.lengths[row])]
        return "".join(map(_CODES.__getitem__, codes.tolist()))

    def take_slots(self, count: int) -> Integers:
        """Return the rows of the first operands and of the last: shape (nodes, count)."""
        found = np.full((len(self.lengths), count), -1)
        for slot in range(count - 1):
            having = np.flatnonzero(self.lengths > slot)
            found[having, slot] = self.sources[self.starts[having] + slot]
        having = np.flatnonzero(self.lengths > 0)
        found[having, -1] = self.sources[self.starts[having] + self.lengths[having] - 1]
        return found


def read_columns(nodes: Sequence[Node]) -> NodeColumns:
    """Return what is known of some nodes of one graph.

    Parameters
    ----------
    nodes
        The nodes, one at least.
    """
    graph = nodes[0].graph
    wiring = graph.wiring
    count = len(nodes)
    indices = to_array((node.index for node in nodes), count)
    row_of = np.full(len(graph.nodes), -1)
    row_of[indices] = np.arange(count)
    given_by = np.where(wiring.producers >= 0, row_of[wiring.producers], -1)

    lengths = wiring.bounds[indices + 1] - wiring.bounds[indices]
    starts = np.cumsum(lengths) - lengths
    users = np.repeat(np.arange(count), lengths)
    places = np.repeat(wiring.bounds[indices] - starts, lengths) + np.arange(len(users))
    used = wiring.used[places]
    sources = np.where(used >= 0, given_by[used], -1)
    codes = _code_operands(wiring.values, used, sources)
    _code_arranging(nodes, wiring.operators[indices], lengths, starts, codes)

    edges = sort_distinct(sources[sources >= 0] * count + users[sources >= 0])
    pairs = np.column_stack([edges // count, edges % count])

    def find_row(node: Node) -> int:
        return int(row_of[graph.index_of(node)]) if node.graph is graph else -1

    return NodeColumns(
        find_row,
        *_number_alike(nodes, wiring.operators[indices], lengths, starts, codes),
        lengths,
        starts,
        codes,
        sources,
        pairs,
        _find_used_outside(graph, row_of, given_by, find_row),
    )


def _code_operands(values: Sequence[Value], used: Integers, sources: Integers) -> Integers:
    """Return what each operand is; values that none of the nodes gives are looked at once."""
    codes = np.where(used >= 0, _CODES.index(COMPUTED), _CODES.index(ABSENT))
    others = (used >= 0) & (sources < 0)
    numbers, inverse = np.unique(used[others], return_inverse=True)
    found = to_array(map(_code, map(values.__getitem__, numbers.tolist())), len(numbers))
    codes[others] = found[inverse]
    return codes


def _code_arranging(
    nodes: Sequence[Node], operators: Integers, lengths: Integers, starts: Integers, codes: Integers
) -> None:
    """Let operands that tell sizes, places or axes count as constant, whatever gives them."""
    order = np.argsort(operators, kind="stable")
    _, firsts = np.unique(operators[order], return_index=True)
    for rows in np.split(order, firsts[1:]):
        for place in range(min(int(lengths[rows].max(initial=0)), _MOST_ARRANGING)):
            if is_arranging(nodes[int(rows[0])], place):
                at = starts[rows[lengths[rows] > place]] + place
                at = at[codes[at] != _CODES.index(ABSENT)]
                codes[at] = _CODES.index(CONSTANT)


def _code(value: Value) -> int:
    return _CODES.index(tell_operand(value))


def is_arranging(node: Node, place: int) -> bool:
    """Return whether an operand of a node tells sizes, places or axes: it counts as constant."""
    return place < _MOST_ARRANGING and node.operator.arranges(place)


def tell_operand(value: Value) -> str:
    """Return what an operand is that none of the nodes gives."""
    producer = value.producer
    if producer is None:
        is_constant = value.initializer is not None or value.is_parameter
    else:
        is_constant = is_constant_node(producer) or copies_stored(producer)
    return CONSTANT if is_constant else COMPUTED


def _number_alike(
    nodes: Sequence[Node],
    operators: Integers,
    lengths: Integers,
    starts: Integers,
    codes: Integers,
) -> tuple[Integers, Integers]:
    """Return a number for each node, the same for nodes alike, and the first row of each."""
    forms = _number_forms(lengths, starts, codes)
    _, firsts, kinds = np.unique(operators, return_index=True, return_inverse=True)
    variadic = np.array([is_variadic(nodes[first].operator) for first in firsts.tolist()], bool)
    forms[variadic[kinds]] = -1
    keys = KindKeys()
    columns = [
        forms,
        to_array((len(node.outputs) for node in nodes), len(nodes)),
        number_alike([keys.write(node) for node in nodes]),
        number_alike([list_subgraph_kinds(node) if node.subgraphs else () for node in nodes]),
    ]
    alike = kinds
    for column in columns:
        if (column == column[0]).all():
            continue
        _, ranks = np.unique(column, return_inverse=True)
        _, alike = np.unique(alike * (int(ranks.max()) + 1) + ranks, return_inverse=True)
    _, firsts = np.unique(alike, return_index=True)
    order = np.argsort(firsts)
    places: Integers = np.empty_like(order)
    places[order] = np.arange(len(order))
    numbered: Integers = places[alike]
    return numbered, firsts[order]


def is_variadic(operator: Operator) -> bool:
    """Return whether it takes any number of operands, and how many is no difference in kind."""
    return operator.operands.repeated > 0 and operator.has("elementwise", "joins")


def list_subgraph_kinds(node: Node) -> tuple[tuple[str, ...], ...]:
    """Return the operators in the subgraphs of a node."""
    return tuple(tuple(inner.op_type for inner in graph.nodes) for graph in node.subgraphs)


def _number_forms(lengths: Integers, starts: Integers, codes: Integers) -> Integers:
    """Return a number for each form, of long ones a negative one."""
    forms: Integers = np.full(len(lengths), 3) << (2 * np.minimum(lengths, _MOST_IN_NUMBER))
    for place in range(min(int(lengths.max(initial=0)), _MOST_IN_NUMBER)):
        having = np.flatnonzero(lengths > place)
        forms[having] |= codes[starts[having] + place] << (2 * place)
    known: dict[bytes, int] = {}
    for row in np.flatnonzero(lengths > _MOST_IN_NUMBER).tolist():
        form = codes[starts[row] : starts[row] + lengths[row]].astype(np.int8).tobytes()
        forms[row] = -2 - known.setdefault(form, len(known))
    return forms


def _find_used_outside(
    graph: Graph, row_of: Integers, given_by: Integers, find_row: FindRow
) -> Flags:
    """Return whether results of each row are outputs of the graph or used by other nodes."""
    wiring = graph.wiring
    count = int((row_of >= 0).sum())
    outside = np.zeros(count + 1, np.bool_)  # the last is of no row
    for value in graph.outputs:
        if value.producer is not None:
            outside[find_row(value.producer)] = True
    if count < len(row_of):
        _, firsts, kinds = np.unique(wiring.operators, return_index=True, return_inverse=True)
        reads_shape = np.array(
            [graph.nodes[first].operator.has("reads_shape") for first in firsts.tolist()], bool
        )
        others = np.repeat((row_of < 0) & ~reads_shape[kinds], np.diff(wiring.bounds))
        taken = wiring.used[others]
        outside[given_by[taken[taken >= 0]]] = True
    for index in wiring.with_others:
        node = graph.nodes[index]
        for value in (*node.captures, *node.control_inputs):
            row = -1 if value.producer is None else find_row(value.producer)
            outside[row] |= row >= 0 and is_used_outside(value, find_row)
    return outside[:-1]


def is_used_outside(value: Value, find_row: FindRow) -> bool:
    """Return whether nodes without a row use a value, but for those that ask for its shape."""
    return any(find_row(user) < 0 and not user.operator.has("reads_shape") for user in value.users)
