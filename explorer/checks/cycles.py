"""Cycles of a directed graph, in linear time (Tarjan 1972)."""

from __future__ import annotations

from collections.abc import Sequence


def find_cycles(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the strongly connected components that hold a cycle.

    Parameters
    ----------
    successors
        For each vertex the vertices that its edges lead to.

    Returns
    -------
    list of list of int
        Components of more than one vertex, and single ones with an edge to themselves; each in
        ascending order, by their first vertices.

    Notes
    -----
    Without recursion: hostile chains are as long as the file allows.
    """
    count = len(successors)
    order = [-1] * count
    lowest = [0] * count
    on_stack = bytearray(count)
    stack: list[int] = []
    found: list[list[int]] = []
    visited = 0
    for root in range(count):
        if order[root] >= 0:
            continue
        order[root] = lowest[root] = visited
        visited += 1
        stack.append(root)
        on_stack[root] = 1
        walk = [(root, iter(successors[root]))]
        while walk:
            vertex, edges = walk[-1]
            for target in edges:
                if order[target] < 0:
                    order[target] = lowest[target] = visited
                    visited += 1
                    stack.append(target)
                    on_stack[target] = 1
                    walk.append((target, iter(successors[target])))
                    break
                if on_stack[target]:
                    lowest[vertex] = min(lowest[vertex], order[target])
            else:
                walk.pop()
                if walk:
                    caller = walk[-1][0]
                    lowest[caller] = min(lowest[caller], lowest[vertex])
                if lowest[vertex] == order[vertex]:
                    component = []
                    member = -1
                    while member != vertex:
                        member = stack.pop()
                        on_stack[member] = 0
                        component.append(member)
                    if len(component) > 1 or vertex in successors[vertex]:
                        found.append(sorted(component))
    return sorted(found)
