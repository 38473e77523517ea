"""Nodes that follow from some nodes alone: all that give to them are among these."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from netloupe.explorer.model import Graph, Wiring, find_nodes_with
from netloupe.explorer.progress import step

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

#: so many levels are taken at once; what is left then are narrow chains
_WIDE_LEVELS = 4
#: a level of fewer nodes is narrow
_WIDE = 64
_STEP = 100_000


def list_edges(graph: Graph) -> tuple[Integers, Integers]:
    """Return which node gives to which: two arrays of indices, an edge for each use.

    What subgraphs capture and what nodes only wait for counts as used.
    """
    wiring: Wiring = graph.wiring
    targets = np.repeat(np.arange(len(wiring.bounds) - 1), np.diff(wiring.bounds))
    sources = np.append(wiring.producers, -1)[wiring.used]  # the last is for what is left out
    known = sources >= 0
    sources, targets = sources[known], targets[known]
    more = [
        (value.producer.index, index)
        for index in wiring.with_others
        for value in (*graph.nodes[index].captures, *graph.nodes[index].control_inputs)
        if value.producer is not None and value.graph is graph
    ]
    if more:
        others = np.array(more, np.int64)
        sources = np.concatenate((sources, others[:, 0]))
        targets = np.concatenate((targets, others[:, 1]))
    return sources, targets


def find_taking(graph: Graph, *traits: str) -> Booleans:
    """Return which nodes take what others give whose operators have any of some traits.

    Returns
    -------
    numpy.ndarray
        shape (nodes,); what stands in graphs around is not looked at.
    """
    gives = np.zeros(len(graph.nodes), np.bool_)
    gives[find_nodes_with(graph, *traits)] = True
    sources, targets = list_edges(graph)
    taking = np.zeros(len(graph.nodes), np.bool_)
    taking[targets[gives[sources]]] = True
    return taking


def find_determined_nodes(allowed: Booleans, sources: Integers, targets: Integers) -> Booleans:
    """Return the nodes that are allowed and to which only such nodes give.

    Parameters
    ----------
    allowed
        shape (nodes,).
    sources, targets
        shape (edges,): which node gives to which.

    Returns
    -------
    array
        shape (nodes,). Nodes in a cycle are not among them.

    Notes
    -----
    Takes time linear in the nodes that are found and what uses them, beside a few passes over
    the arrays: what is not found is not looked at one by one.
    """
    count = len(allowed)
    found = np.zeros(count, np.bool_)
    waiting = np.bincount(targets, minlength=count)
    ready = np.flatnonzero((waiting == 0) & allowed)
    for _ in range(_WIDE_LEVELS):
        found[ready] = True
        is_level = np.zeros(count, np.bool_)
        is_level[ready] = True
        reached = targets[is_level[sources]]
        if not len(reached):
            return found
        waiting -= np.bincount(reached, minlength=count)
        is_reached = np.zeros(count, np.bool_)
        is_reached[reached] = True
        ready = np.flatnonzero(is_reached & (waiting == 0) & allowed)
        if len(ready) < _WIDE:
            break
    if len(ready):
        _follow_chains(found, ready.tolist(), allowed, waiting, sources, targets)
    return found


def find_leading_nodes(ends: Booleans, sources: Integers, targets: Integers) -> Booleans:
    """Return the nodes from which some are reached, these included; in linear time.

    Parameters
    ----------
    ends
        shape (nodes,): those that are to be reached.
    sources, targets
        shape (edges,): which node gives to which.
    """
    found = bytearray(ends.tobytes())
    order = np.argsort(targets, kind="stable")
    starts = np.searchsorted(targets[order], np.arange(len(ends) + 1)).tolist()
    givers = sources[order].tolist()
    pending = np.flatnonzero(ends).tolist()
    done = 0
    while pending:
        done += 1
        if not done % _STEP:
            step()
        node = pending.pop()
        for giver in givers[starts[node] : starts[node + 1]]:
            if not found[giver]:
                found[giver] = True
                pending.append(giver)
    return np.frombuffer(found, np.bool_)


def _follow_chains(
    found: Booleans,
    ready: list[int],
    allowed: Booleans,
    waiting: Integers,
    sources: Integers,
    targets: Integers,
) -> None:
    """Go on node by node."""
    order = np.argsort(sources, kind="stable")
    starts = np.searchsorted(sources[order], np.arange(len(allowed) + 1))
    following = targets[order]
    done = 0
    while ready:
        node = ready.pop()
        found[node] = True
        done += 1
        if not done % _STEP:
            step()
        for target in following[starts[node] : starts[node + 1]].tolist():
            waiting[target] -= 1
            if not waiting[target] and allowed[target]:
                ready.append(target)
