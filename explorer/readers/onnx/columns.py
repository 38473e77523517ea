"""Nodes and values of a large graph made from columns, where it is as most graphs are.

The same as :mod:`.graph` does node by node, for a graph that stands alone (no subgraphs
around or inside) and in which every value is defined once, before it is used, as the IR
specification wants it (Names within a Graph; Nodes: topological order).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat

import numpy as np

from netloupe.explorer.model import Graph, Node, NodeLoader, Value, Wiring, wire_nodes
from netloupe.explorer.model.wiring import Integers, number_alike, number_values
from netloupe.explorer.progress import step
from netloupe.proto.columns import GraphColumns

from .dialect import ONNX


def add_nodes(
    graph: Graph,
    columns: GraphColumns,
    loader: NodeLoader,
    stated_domains: dict[int, str],
    given: list[str],
    places: Iterable[int],
) -> bool:
    """Fill a graph with nodes, and with the values that they give.

    Parameters
    ----------
    graph
        A graph with its inputs and initializers, and no nodes yet.
    columns
        What its nodes are called, do, take and give.
    loader
        Reads the rest of what is said of a node.
    stated_domains
        Gets the domains that the file writes another way than nodes have them, by index.
    given
        The names of the values that the nodes give, those left out aside.
    places
        Where the graph's value loader finds what else is said of each; -1 for nothing.

    Returns
    -------
    bool
        False where a name is defined twice, or used without or before its definition; nothing
        is changed then.
    """
    if (
        "" in graph.values
        or len({*given}) < len(given)
        or not graph.values.keys().isdisjoint(given)
    ):
        return False  # a name is defined twice
    domains = columns.domains
    if not ONNX.domain_spellings.isdisjoint(domains):
        stated = enumerate(domains)
        stated_domains.update(entry for entry in stated if entry[1] in ONNX.domain_spellings)
        domains = [*map(ONNX.read_domain, domains)]
    nodes = [
        *map(
            Node,
            repeat(graph),
            range(len(columns.names)),
            columns.names,
            _share_equal(columns.op_types),
            _share_equal(domains),
            repeat(loader),
        )
    ]
    every = np.arange(len(nodes))
    output_counts = np.diff(columns.output_ends)
    producer = np.repeat(every, output_counts)
    output_index = np.arange(len(producer)) - np.repeat(columns.output_ends[:-1], output_counts)
    if len(given) < len(producer):
        is_given = np.array([*map(bool, columns.outputs)])
        producer, output_index = producer[is_given], output_index[is_given]
    made = [
        *map(
            Value,
            given,
            repeat(graph),
            repeat(""),
            map(nodes.__getitem__, producer.tolist()),
            output_index.tolist(),
            places,
        )
    ]
    step()
    values = graph.values.copy()
    values.update(zip(given, made, strict=True))
    inputs = tuple(map(values.get, columns.inputs))
    used = number_values(values.values(), inputs)
    producers = np.concatenate([np.full(len(graph.values), -1), producer])
    bounds = np.array(columns.input_ends, np.int64)
    users = np.repeat(every, np.diff(bounds))
    if (
        any(columns.inputs[place] for place in np.flatnonzero(used < 0).tolist())
        or (np.append(producers, -1)[used] >= users).any()
    ):
        return False

    step()
    if len(made) == len(columns.outputs):
        outputs: tuple[Value | None, ...] = tuple(made)
    else:
        following = iter(made)
        outputs = tuple(next(following) if name else None for name in columns.outputs)
    wire_nodes(nodes, inputs, columns.input_ends, outputs, columns.output_ends)
    graph.values = values
    graph.nodes += nodes
    graph.wiring = Wiring(
        [*values.values()], producers, used, bounds, _number_operators(columns.op_types, domains)
    )
    return True


def _number_operators(op_types: list[str], domains: list[str]) -> Integers:
    if any(domains):
        return number_alike([*zip(domains, op_types, strict=True)])
    return number_alike(op_types)


def _share_equal(texts: list[str]) -> Iterator[str]:
    """Return the texts, equal ones as one object: there are few different ones."""
    known: dict[str, str] = {}
    return map(known.setdefault, texts, texts)
