"""Comparisons of features with stored thresholds, which compute and are no mask."""

from __future__ import annotations

from math import prod

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import is_input_independent, trace_on
from netloupe.explorer.model import Node
from netloupe.explorer.operators import LAYOUT_TRAITS

#: with one number a mask is made
_LEAST = 2
#: so many nodes of layout may stand between
_MOST_BEHIND = 6


def compares_with_thresholds(node: Node) -> bool:
    """Return whether a node compares what is computed with several stored numbers, in their order.

    So features are the share of places that are above each (A. Dempster and others, MiniRocket,
    2021, section 3.3): the results are averaged. Other comparisons choose a row of a table, or hide
    something.
    """
    if not node.operator.has("compares_order"):
        return False
    fixed = [value for value in node.inputs if value is not None and is_input_independent(value)]
    others = [value for value in node.inputs if value is not None and value not in fixed]
    if len(fixed) != 1 or len(others) != 1:
        return False
    facts = find_value_facts(node.graph.model)
    dims, stream = facts.find_dims(fixed[0]), facts.find(others[0])
    if dims is None or prod(dim for dim in dims if isinstance(dim, int)) < _LEAST:
        return False
    result = node.output(0)
    if result is None or stream.dtype is None or not stream.dtype.is_float:
        return False
    takers = [taker for taker, _ in trace_on(result, *LAYOUT_TRAITS, most=_MOST_BEHIND)]
    return any(taker.operator.has("averages") for taker in takers)
