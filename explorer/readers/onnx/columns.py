"""Nodes and values of a large graph made from columns, where it is as most graphs are.

The same as :mod:`.graph` does node by node, for a graph that stands alone (no subgraphs
around or inside) and in which every value is defined before it is used, as the IR specification
wants it (Names within a Graph; Nodes: topological order). It also wants names to be given once;
those that are given again have keys (:mod:`.versions`).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat

import numpy as np

from netloupe.explorer.model import Graph, Node, NodeLoader, Value, Wiring, wire_nodes
from netloupe.explorer.model.wiring import Integers, number_alike, number_values
from netloupe.explorer.progress import step
from netloupe.proto.columns import GraphColumns

from .dialect import ONNX
from .versions import Keys


def add_nodes(
    graph: Graph,
    columns: GraphColumns,
    loader: NodeLoader,
    stated_domains: dict[int, str],
    given: list[str],
    places: Iterable[int],
    keys: Keys | None = None,
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
    keys
        What tells the values apart where names are given again.

    Returns
    -------
    bool
        False where a name is used without or before its definition; nothing is changed then.
    """
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
            columns.op_types,
            domains,
            repeat(loader),
        )
    ]
    every = np.arange(len(nodes))
    output_counts = np.array(columns.output_counts, np.int64)
    producer = np.repeat(every, output_counts)
    firsts = np.cumsum(output_counts) - output_counts
    output_index = np.arange(len(producer)) - np.repeat(firsts, output_counts)
    if len(given) < len(producer):
        is_given = np.array([*map(bool, columns.outputs)])
        producer, output_index = producer[is_given], output_index[is_given]
    made = [
        *map(
            Value,
            given,
            repeat(graph),
            given if keys is None else keys.given,
            map(nodes.__getitem__, producer.tolist()),
            output_index.tolist(),
            places,
        )
    ]
    step()
    values = graph.values.copy()
    taken = columns.inputs
    if keys is not None:
        taken, given = keys.used, keys.given
    values.update(zip(given, made, strict=True))
    inputs = tuple(map(values.get, taken))
    used = number_values(values.values(), inputs)
    producers = np.concatenate([np.full(len(graph.values), -1), producer])
    bounds = np.cumsum([0, *columns.input_counts], dtype=np.int64)
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
    wire_nodes(nodes, inputs, columns.input_counts, outputs, columns.output_counts)
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
