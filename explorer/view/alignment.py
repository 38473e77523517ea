"""Which node of one repetition stands for which of another that differs a little.

The nodes of both stand in rows. First those are matched around which all is wired alike, then
those with the same neighbours, then those of the same operator, each time between those that are
matched already. In a row of operators alone a sum of skips may be taken for the sum of the
residual that a last repetition lacks. Rows are aligned with :class:`difflib.SequenceMatcher`
(Ratcliff and Metzener, Dr. Dobb's Journal, July 1988); how nodes are wired is told by refined
colours (B. Weisfeiler and A. Leman, The reduction of a graph to canonical form, 1968).
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from .edges import EdgeTable, Integers

#: where two repetitions differ in more nodes than this, only their equal ends are aligned
MOST_ALIGNED = 2000
#: how far around a node it counts how nodes are wired
_ROUNDS = 2

Colours = npt.NDArray[np.uint64]


def colour_nodes(
    edges: EdgeTable, low: int, high: int, uses: Integers, makers: Integers, users: Integers
) -> list[Colours]:
    """Return colours of the nodes of all repetitions of a repeat, from the finest to operators.

    Nodes have the same colour where they are wired alike inside their repetitions. What comes from
    elsewhere is told by what uses it in the same repetition.

    Parameters
    ----------
    edges
        The uses of values in the graph.
    low, high
        The positions of the repeat.
    uses
        shape (uses,): rows of ``edges`` inside the repeat and across its border.
    makers, users
        shape (uses,): which repetition gives and which uses a value; -1 for none.
    """
    sources, targets = edges.sources[uses] - low, edges.targets[uses] - low
    slots = _mix(edges.slots[uses].astype(np.uint64))
    inner = np.flatnonzero((makers == users) & (users >= 0))
    entering = np.flatnonzero((makers != users) & (users >= 0))
    keys = users[entering] * (int(edges.used.max(initial=0)) + 1) + edges.used[uses[entering]]
    _, values = np.unique(keys, return_inverse=True)
    found = [_mix(edges.codes[low:high].astype(np.uint64))]
    for _ in range(_ROUNDS):
        colours = found[0]
        outer = np.zeros(len(entering), np.uint64)
        np.add.at(outer, values, _mix(colours[targets[entering]] + slots[entering]))
        taken, given = np.zeros((2, high - low), np.uint64)
        np.add.at(taken, targets[inner], _mix(colours[sources[inner]] ^ slots[inner]))
        np.add.at(taken, targets[entering], _mix(outer[values] ^ ~slots[entering]))
        np.add.at(given, sources[inner], _mix(colours[targets[inner]] + slots[inner]))
        found.insert(0, _mix(_mix(_mix(colours) + taken) + given))
    return found


def _mix(numbers: Colours) -> Colours:
    """Return numbers that are equal where some are, and otherwise as if drawn by chance."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    found: Colours = mixed ^ (mixed >> np.uint64(29))
    return found


def align(model: Sequence[Colours], other: Sequence[Colours]) -> Integers:
    """Return for each node of a repetition its counterpart in another one; -1 for none.

    Parameters
    ----------
    model, other
        The colours of the nodes of two repetitions, from the finest to the coarsest.
    """
    places = np.full(len(other[0]), -1, np.int64)
    for ours, theirs in zip(other, model, strict=True):
        known = np.flatnonzero(places >= 0)
        ends = [-1, *known.tolist(), len(ours)]
        counterparts = [-1, *places[known].tolist(), len(theirs)]
        gaps = zip(pairwise(ends), pairwise(counterparts), strict=True)
        for (before, after), (first, last) in gaps:
            if after - before > 1 and last - first > 1:
                found = _match(theirs[first + 1 : last], ours[before + 1 : after])
                places[before + 1 : after] = np.where(found < 0, -1, found + first + 1)
    return places


def _match(model: Colours, colours: Colours) -> Integers:
    """Return for each entry of a row its counterpart in another one; -1 for none."""
    places = np.full(len(colours), -1, np.int64)
    shorter = min(len(model), len(colours))
    differing = np.flatnonzero(model[:shorter] != colours[:shorter])
    head = int(differing[0]) if len(differing) else shorter
    rest = shorter - head
    differing = np.flatnonzero(model[::-1][:rest] != colours[::-1][:rest])
    tail = int(differing[0]) if len(differing) else rest
    places[:head] = np.arange(head)
    places[len(colours) - tail :] = np.arange(len(model) - tail, len(model))
    ours, theirs = colours[head : len(colours) - tail], model[head : len(model) - tail]
    if len(ours) and len(theirs) and max(len(ours), len(theirs)) <= MOST_ALIGNED:
        matcher = difflib.SequenceMatcher(None, theirs.tolist(), ours.tolist(), autojunk=False)
        for block in matcher.get_matching_blocks():
            at = head + block.b
            places[at : at + block.size] = np.arange(block.size) + head + block.a
    return places
