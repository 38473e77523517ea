"""Another order of nodes than the file's, in which those that belong together are near."""

from __future__ import annotations

import numpy as np

from .signatures import Integers, NodeTable


def walk_from_outputs(table: NodeTable) -> Integers:
    """Return the rows of a table in the order of a depth-first walk from the last nodes.

    Every node comes behind those that it takes from, operand by operand, unless they are in a
    cycle. A node that several use comes before the first of them. Takes time linear in nodes
    and edges.

    Returns
    -------
    array
        shape (n,): a permutation of the rows.
    """
    count = len(table.kinds)
    order = np.argsort(table.targets, kind="stable")
    starts = np.searchsorted(table.targets[order], np.arange(count + 1)).tolist()
    sources = table.sources[order].tolist()
    # operands in the order in which the node names them, so that the walk knows no file order
    slots = table.producers.tolist()
    ends = np.flatnonzero(np.diff(table.starts) == 0).tolist()
    visited = bytearray(count)
    walked: list[int] = []
    for end in (*ends, *range(count)):
        if visited[end]:
            continue
        visited[end] = 1
        stack = [(end, iter((*slots[end], *sources[starts[end] : starts[end + 1]])))]
        while stack:
            row, producers = stack[-1]
            for producer in producers:
                if producer >= 0 and not visited[producer]:
                    visited[producer] = 1
                    inner = (*slots[producer], *sources[starts[producer] : starts[producer + 1]])
                    stack.append((producer, iter(inner)))
                    break
            else:
                stack.pop()
                walked.append(row)
    return np.array(walked, dtype=np.int64)
