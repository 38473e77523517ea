"""What differs between two models as paint of each on its own, for two pictures side by side.

The older one shows what is removed and changed, the newer one what is added and changed; and each
which of its edges the other has not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from netloupe.explorer.compare import Diff
from netloupe.explorer.compare.stated_types import find_type_aspects
from netloupe.explorer.model import Model, Node, Value
from netloupe.explorer.progress import step
from netloupe.explorer.view import OperandKinds
from netloupe.explorer.view.item import LinkKind

from .differences import PAINTS_OF_STATES, NodePainter
from .paint import Paint, Paints


class SidePaints(NamedTuple):
    """How two models are painted, each by the paths of its own.

    Parameters
    ----------
    left, right
        Paints of the older and of the newer model.
    """

    left: Paints
    right: Paints


class SideOperandKinds(NamedTuple):
    """How nodes of two models take what they do not take in the other one.

    Parameters
    ----------
    left, right
        Of the older model by node the values that it takes there alone, as ``former``; of the
        newer one as ``newer``.
    """

    left: OperandKinds
    right: OperandKinds


def paint_sides(found: Diff, grouping: str = "auto") -> SidePaints:
    """Return how each of two compared models is painted.

    Parameters
    ----------
    found
        What differs between them.
    grouping
        How the pictures group nodes: closed groups that hold differences have their number.
    """
    step("painting")
    left = _SidePainter(found.left, grouping)
    right = _SidePainter(found.right, grouping)
    pairs = {pair.right[0]: pair for pair in found.matching.pairs}
    for node, state in found.states.items():
        if state == "removed":
            left.mark(node, state)
            left.paint_results(node, Paint(ring="removed", dashed=True))
            continue
        right.mark(node, state)
        if state == "added":
            right.paint_results(node, Paint(ring="added"))
        elif node in pairs:
            for partner in pairs[node].left:
                left.mark(partner, state)
    for pair in found.moved:
        left.mark_moved(pair.left[0])
        right.mark_moved(pair.right[0])
    for side in (left, right):
        side.paint_marked()
    _paint_inputs(found, left, right)
    _paint_outputs(found, left, right)
    return SidePaints(left.paints, right.paints)


def find_operand_kinds(found: Diff) -> SideOperandKinds:
    """Return which edges of two compared models the other one has not.

    They are those that the merged picture of both tells apart: what is removed takes and gives
    former edges, what is added newer ones, and what both have where they take other values.

    Parameters
    ----------
    found
        What differs between the models.
    """
    merging, partners = found.merging, found.matching.values

    def find_older(one: Node | Value) -> Node | Value | None:
        made = merging.older.get(one)
        partner = partners.get(one) if made is None and isinstance(one, Value) else None
        return made if partner is None else merging.newer.get(partner)

    return SideOperandKinds(
        _tell_alone(found.left, find_older, merging.list_taken_before, "former"),
        _tell_alone(found.right, merging.newer.get, merging.list_taken_now, "newer"),
    )


def _tell_alone(
    model: Model,
    find_merged: Callable[[Node | Value], Node | Value | None],
    list_taken: Callable[[Node], Sequence[Value | None]],
    kind: LinkKind,
) -> OperandKinds:
    """Return by node of a model the values that it takes there alone, as a merged model says."""
    told: dict[Node, dict[Value, LinkKind]] = {}
    for graph in model.graphs:
        for node in graph.nodes:
            merged = find_merged(node)
            taken = {*list_taken(merged)} - {None} if isinstance(merged, Node) else ()
            if taken:
                operands = (value for value in node.inputs if value is not None)
                told[node] = {value: kind for value in operands if find_merged(value) in taken}
    return told


class _SidePainter(NodePainter):
    def __init__(self, model: Model, grouping: str) -> None:
        super().__init__(model, grouping)

    def paint_results(self, node: Node, paint: Paint) -> None:
        """Paint the edges of what a node gives; the box of an output is told of by its name."""
        for value in node.outputs:
            if value is not None and value.graph is node.graph and not value.is_output:
                self.paints[value.path] = paint


def _paint_inputs(found: Diff, left: _SidePainter, right: _SidePainter) -> None:
    """Paint the inputs that are new, gone or of another type."""
    pairs = found.matching.values
    for value in found.left.graph.inputs:
        if value.initializer is not None:
            continue
        after = pairs.get(value)
        if after is None:
            left.paints[value.path] = PAINTS_OF_STATES["removed"]
        elif find_type_aspects(value.type, after.type):
            _paint_changed(left, value, right, after)
    for value in found.right.graph.inputs:
        if value.initializer is None and value not in found.matching.values_back:
            right.paints[value.path] = PAINTS_OF_STATES["added"]


def _paint_outputs(found: Diff, left: _SidePainter, right: _SidePainter) -> None:
    """Paint the outputs, which who uses a model knows by their names."""
    old, new = (
        {value.name: value for value in model.graph.outputs} for model in (found.left, found.right)
    )
    back = found.matching.values_back
    for name, after in new.items():
        before = old.get(name)
        renamed = back.get(after)
        if before is not None and find_type_aspects(before.type, after.type):
            _paint_changed(left, before, right, after)
        elif before is None and renamed is not None and old.get(renamed.name) is renamed:
            _paint_changed(left, renamed, right, after)
        elif before is None:
            right.paints[after.path] = PAINTS_OF_STATES["added"]
    for name, before in old.items():
        if name not in new and before.path not in left.paints:
            left.paints[before.path] = PAINTS_OF_STATES["removed"]


def _paint_changed(left: _SidePainter, one: Value, right: _SidePainter, other: Value) -> None:
    left.paints[one.path] = right.paints[other.path] = PAINTS_OF_STATES["changed"]
