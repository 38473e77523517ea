"""What is made of pairs of places: sums with the transpose, and features of both."""

from __future__ import annotations

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.model import Node, Value, is_constant
from netloupe.explorer.operators import LAYOUT_TRAITS

from .readings import read_axes, read_ints

_BOTH = 2
_MOST_STEPS = 8
_REPEATING = ("broadcasts", "repeats", "casts", "copies")


def is_symmetrized(node: Node) -> bool:
    """Return whether a node adds a value and its transpose, two axes of which change places."""
    values = [value for value in node.inputs if value is not None]
    if not node.operator.has("adds") or len(values) != _BOTH:
        return False
    for turned, other in (values, values[::-1]):
        giver = turned.producer
        if giver is None or not giver.operator.has("permutes") or giver.input(0) is not other:
            continue
        order = read_ints(giver, "perm")
        moved = [place for place, axis in enumerate(order) if place != axis]
        if len(moved) == _BOTH and [order[place] for place in moved] == moved[::-1]:
            return True
    return False


def joins_pairs(node: Node) -> bool:
    """Return whether a node joins the features of each place with those of each other place.

    One value is repeated along a new axis and along another one (S. Wang and others, Accurate De
    Novo Prediction of Protein Contact Map, 2017: outer concatenation).
    """
    if not node.operator.has("joins"):
        return False
    found: dict[Value, set[int]] = {}
    for value in node.inputs:
        if value is None or value.producer is None or is_constant(value):
            continue
        inserting = find_source(value, *_REPEATING)
        giver = inserting.producer if inserting is not None else None
        if giver is None or not giver.operator.has("inserts_axes"):
            continue
        axes, source = read_axes(giver), find_source(giver.input(0), *LAYOUT_TRAITS)
        if source is not None and axes is not None and len(axes) == 1:
            found.setdefault(source, set()).update(axes)
    return any(len(axes) == _BOTH for axes in found.values())
