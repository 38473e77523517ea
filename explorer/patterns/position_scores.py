"""Scores of positions, which are added to those of queries and keys."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from netloupe.explorer.costs.value_facts import find_value_facts

from .operations import ARRANGING, Operations
from .weight_sizes import read_dims

#: what puts each score at the place of its key
_SHIFTS = ("gathers", "pads", "picks", "slices")
#: and scales it
_MOVES = ("divides", "multiplies_elements", *_SHIFTS, *ARRANGING)
_MOST_OF_SCORES = 24


def find_position_scores(operations: Operations, scores: Sequence[int]) -> set[int]:
    """Return the operations of scores of positions, which are added to those of keys; else none.

    Queries are multiplied by projected distances as well, and what results is moved so that each
    query meets its own distance to each key (Z. Dai and others, Transformer-XL, 2019, appendix B);
    or by one table for rows and one for columns, of which the sum is added (Y. Li and others,
    MViTv2, 2022, equation 4; A. Srinivas and others, Bottleneck Transformers, 2021, figure 4); or
    queries by distances of keys and keys by those of queries (P. He and others, DeBERTa, 2021,
    equation 4).

    Parameters
    ----------
    scores
        The way from the Softmax back to the product of queries and keys.
    """
    known = {*scores}
    every: set[int] = set()
    for number in scores:
        givers = operations.givers(number) if operations.kinds[number] == "Add" else []
        for giver in givers if known.intersection(givers) else ():
            # what another attention takes as well are scores of its own
            if giver not in known and {*operations.users[giver]} == {number}:
                every |= _find_sum_of_products(operations, giver, known)
    return every


def _find_sum_of_products(operations: Operations, start: int, known: set[int]) -> set[int]:
    """Return the operations of one product, or of a sum of several, all of them moved; else none.

    Nothing else takes any of them.
    """
    found: set[int] = set()
    pending = [start]
    while pending:
        number = pending.pop()
        if number in known or len(found) == _MOST_OF_SCORES:
            return set()
        found.add(number)
        node = operations.nodes[number]
        # distances of a length that is known are constants
        if node.operator.has("multiplies"):
            continue
        before = operations.givers(number)
        is_sum = operations.kinds[number] == "Add" and len(operations.operands[number]) > 1
        is_moved = node.operator.has(*_MOVES) and len(operations.operands[number]) == 1
        if not (is_sum or is_moved) or len(before) != len({*operations.operands[number]}):
            return set()
        pending += before
    return found if operations.is_closed(found, start) else set()


def are_of_distances(operations: Operations, numbers: Collection[int]) -> bool:
    """Return whether scores of positions are of distances.

    They are moved so, or positions are stored for each query or head, not one for each key.
    """
    if any(operations.nodes[number].operator.has(*_SHIFTS) for number in numbers):
        return True
    facts = find_value_facts(operations.context.graph.model)
    stored = [value for number in numbers for value in operations.fixed(number)]
    return any(len(read_dims(value) or facts.find_dims(value) or ()) > 2 for value in stored)
