"""Two columns of two models as one: the difference, or the ratio, of what paired nodes have."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, get_args

from netloupe.explorer.compare import Matching, match_models
from netloupe.explorer.errors import OverlayError
from netloupe.explorer.model import Node
from netloupe.explorer.notation import write_count

from .column import Column, NodeSet

if TYPE_CHECKING:
    from .on_model import Overlay

Comparison = Literal["difference", "ratio"]


def compare_columns(
    old: Overlay, new: Overlay, how: Comparison = "difference", matching: Matching | None = None
) -> Column:
    """Return how two overlays differ, as a column of the model of the second.

    Parameters
    ----------
    old, new
        Numbers on two models, or on one twice.
    how
        ``difference``: new less old, in the unit of the columns; groups have sums where the columns
        do. ``ratio``: new over old, 1 where they are equal; a group has the ratio of the sums.
    matching
        Which nodes are pairs, where that is known already.

    Returns
    -------
    Column
        By path of the new model. Nodes that are several on one side have one number together.

    Raises
    ------
    OverlayError
        For words, for columns with different units, or where nothing is in both.
    """
    if how not in get_args(Comparison):
        raise OverlayError(f"{how!r} compares nothing. Choose 'difference' or 'ratio'.")
    for one in (old, new):
        if one.column.has_words:
            raise OverlayError(f"{one.name!r} has words, which cannot be compared.")
    if old.column.unit != new.column.unit:
        raise OverlayError(
            f"{old.name!r} is in {old.column.unit or 'no unit'} and {new.name!r} in "
            f"{new.column.unit or 'no unit'}. Compare numbers of one unit."
        )
    pairs = _list_pairs(old, new, matching)
    before, after = dict(_list_numbers(old)), dict(_list_numbers(new))
    values: dict[str, float | str] = {}
    weights: dict[str, float] = {}
    sets: list[NodeSet] = []
    lost = 0
    for left, right in pairs:
        first, second = _join(old, left, before), _join(new, right, after)
        if first is None or second is None:
            lost += first is not None or second is not None
            continue
        if how == "ratio" and first <= 0:
            lost += 1
            continue
        number = second - first if how == "difference" else second / first
        paths = tuple(node.path for node in right)
        if len(paths) > 1:
            sets.append(NodeSet(paths, number))
            continue
        values[paths[0]] = number
        weights[paths[0]] = first
    if not values and not sets:
        raise OverlayError(
            f"no pair of nodes has a number in both {old.name!r} and {new.name!r}. "
            "Look at what each could place."
        )
    return _make_column(old, new, how, values, weights, sets, _say_lost(lost))


def _list_pairs(
    old: Overlay, new: Overlay, matching: Matching | None
) -> list[tuple[tuple[Node, ...], tuple[Node, ...]]]:
    if old.model is new.model:
        return [((node,), (node,)) for node in new.model.graph.nodes]
    matching = matching or match_models(old.model, new.model)
    main = new.model.graph
    return [
        (pair.left, pair.right)
        for pair in matching.pairs
        if all(node.graph is main for node in pair.right)
    ]


def _list_numbers(overlay: Overlay) -> list[tuple[Node, float]]:
    return [
        (node, measured.value)
        for node, measured in overlay.list_measured()
        if isinstance(measured.value, float)
        and math.isfinite(measured.value)
        and not measured.in_set
    ]


def _join(overlay: Overlay, nodes: tuple[Node, ...], numbers: dict[Node, float]) -> float | None:
    """Return what some nodes have together; None where one of them has no number."""
    found = [numbers[node] for node in nodes if node in numbers]
    if len(found) < len(nodes):
        return None
    how = overlay.column.aggregation
    if how == "sum":
        return math.fsum(found)
    if how == "mean":
        return math.fsum(found) / len(found)
    return max(found) if how == "max" else min(found)


def _say_lost(lost: int) -> tuple[str, ...]:
    if not lost:
        return ()
    return (
        write_count(lost, "pair of nodes has", "pairs of nodes have")
        + " a number on one side alone, or none to divide by",
    )


def _make_column(
    old: Overlay,
    new: Overlay,
    how: Comparison,
    values: dict[str, float | str],
    weights: dict[str, float],
    sets: list[NodeSet],
    notes: tuple[str, ...],
) -> Column:
    title = f"{new.name}: new {'less' if how == 'difference' else 'over'} old"
    is_ratio = how == "ratio"
    aggregation = "mean" if is_ratio else new.column.aggregation
    return Column(
        title,
        values,
        "×" if is_ratio else new.column.unit,
        new.column.better,
        aggregation,
        weights=weights if is_ratio and new.column.aggregation == "sum" else {},
        midpoint=1.0 if is_ratio else 0.0,
        sets=tuple(sets),
        notes=notes,
    )
