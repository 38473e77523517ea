"""How many bytes of values are alive at once when nodes run in the order of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from netloupe.explorer.model import Graph

from .polynomial import Amount, Monomial, Polynomial

#: more different products of symbols are not compared with one another
_MOST_MONOMIALS = 12
#: sums of bytes that are certain to fit into 64 bits
_MOST_BYTES = 2**62

Curve = np.ndarray[Any, np.dtype[Any]]


def find_peak(
    graph: Graph,
    numbers: Sequence[int],
    sizes: Mapping[int, Amount | None],
    inside: Mapping[int, Amount | None],
) -> Amount | None:
    """Return the largest number of bytes that are alive at one node.

    Parameters
    ----------
    graph
        A graph. A value is alive from the node that gives it to the last that takes it; inputs
        from the beginning, and outputs to the end. Nothing is computed in place.
    numbers
        For each of the values of ``graph.wiring`` a number that tells its size.
    sizes
        Bytes by these numbers; 0 for constants, None where they are not known.
    inside
        By index of a node, the peak of the graphs that it runs.

    Returns
    -------
    int or Polynomial or None
        None where sizes are not known, or it depends on those of symbols which node has the
        largest.
    """
    count = len(graph.nodes)
    amounts = [*sizes.values(), *inside.values()]
    monomials = {m for size in amounts if size is not None for m in _list_terms(size)}
    if None in amounts or len(monomials) > _MOST_MONOMIALS:
        return None
    if not count or not monomials:
        return 0
    starts, ends = _find_lives(graph)
    places = {number: place for place, number in enumerate(sizes)}
    which = np.fromiter((places[number] for number in numbers), np.int64, len(numbers))
    curves = {}
    for monomial in monomials:
        factors = [_list_terms(size or 0).get(monomial, 0) for size in sizes.values()]
        more = {i: _list_terms(peak or 0).get(monomial, 0) for i, peak in inside.items()}
        total = max(map(abs, factors), default=0) * len(numbers) + sum(map(abs, more.values()))
        kind = np.int64 if total < _MOST_BYTES else object
        taken = np.array(factors, kind)[which]
        steps = np.zeros(count + 1, kind)
        np.add.at(steps, starts, taken)
        np.subtract.at(steps, ends + 1, taken)
        curve = np.cumsum(steps)[:count]
        for index, amount in more.items():
            curve[index] += amount
        curves[monomial] = curve
    return _find_top(curves)


def _find_lives(graph: Graph) -> tuple[Curve, Curve]:
    """Return at which node each value begins to be alive, and at which it is so for the last time.

    Shapes (values,).
    """
    wiring = graph.wiring
    starts = np.maximum(wiring.producers, 0)
    ends = starts.copy()
    users = np.repeat(np.arange(len(graph.nodes)), np.diff(wiring.bounds))
    is_given = wiring.used >= 0
    np.maximum.at(ends, wiring.used[is_given], users[is_given])
    numbers = {}
    if wiring.with_others:
        numbers = {value: number for number, value in enumerate(wiring.values)}
    for index in wiring.with_others:
        for value in (*graph.nodes[index].captures, *graph.nodes[index].control_inputs):
            if value in numbers:
                ends[numbers[value]] = max(ends[numbers[value]], index)
    outputs = [number for number, value in enumerate(wiring.values) if value.is_output]
    ends[outputs] = len(graph.nodes) - 1
    return starts, np.maximum(ends, starts)


def _list_terms(size: Amount) -> Mapping[Monomial, int]:
    if isinstance(size, Polynomial):
        return size.terms
    return {(): size} if size else {}


def _find_top(curves: Mapping[Monomial, Curve]) -> Amount | None:
    """Return the values of all curves at a place where each of them is highest, if there is one."""
    tops = {monomial: curve.max() for monomial, curve in curves.items()}
    is_top = np.ones(len(next(iter(curves.values()))), bool)
    for monomial, curve in curves.items():
        is_top &= curve == tops[monomial]
    if not is_top.any():
        return None
    found: Amount = 0
    for monomial, top in tops.items():
        factor = int(top)
        found = found + (Polynomial({monomial: factor}) if monomial and factor else factor)
    return found
