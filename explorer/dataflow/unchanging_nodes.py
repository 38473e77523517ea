"""Which nodes give the same whatever the elements are that a model is given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netloupe.explorer.model import Graph, find_nodes_with
from netloupe.explorer.model.kept import find_kept

from .determined_nodes import find_determined_nodes, list_edges
from .input_independence import is_input_independent


@dataclass(frozen=True, slots=True)
class _UnchangingNodes:
    """A byte for each node: 1 where its results follow from constants and shapes alone."""

    nodes: bytes


def find_unchanging_nodes(graph: Graph) -> bytes:
    """Return a byte for each node: 1 where its results follow from constants and shapes alone.

    It is found once.
    """
    return find_kept(graph, _UnchangingNodes, lambda: _find(graph)).nodes


def _find(graph: Graph) -> _UnchangingNodes:
    wiring = graph.wiring
    count = len(graph.nodes)
    readers = np.zeros(count, np.bool_)
    readers[find_nodes_with(graph, "reads_shape")] = True
    varying = np.zeros(len(wiring.values) + 1, np.bool_)  # the last is for what is left out
    for number in np.flatnonzero(wiring.producers < 0).tolist():
        value = wiring.values[number]
        varying[number] = value.initializer is None and not is_input_independent(value)
    targets = np.repeat(np.arange(count), np.diff(wiring.bounds))
    allowed = np.ones(count, np.bool_)
    allowed[targets[varying[wiring.used]]] = False
    allowed[list(wiring.with_others)] = False
    allowed |= readers
    sources, ends = list_edges(graph)
    kept = ~readers[ends]
    found = find_determined_nodes(allowed, sources[kept], ends[kept])
    return _UnchangingNodes(found.tobytes())
