"""Paired nodes that stand elsewhere: in another module, or between others along a chain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.lookup import find_tree
from netloupe.explorer.model import Graph
from netloupe.explorer.progress import step

from .elements import list_around

if TYPE_CHECKING:
    from .changed_elements import NodeDifference
    from .matching import Matching
    from .pair import Pair

_STEP = 10_000


def find_moved(matching: Matching, changed: list[NodeDifference]) -> list[Pair]:
    """Return the pairs of single nodes that stand elsewhere.

    Either the exporter puts the one into a module that is not the partner of the module that it
    puts the other one into; modules are paired by what they hold, so that other names alone are
    no move. Or all that it takes comes from other nodes than before.

    Parameters
    ----------
    matching
        The pairs.
    changed
        Paired nodes that are not the same.
    """
    moved = {one.pair for one in changed if _takes_others(one, matching)}
    candidates: dict[Graph, list[Pair]] = {}
    for pair in matching.pairs:
        if len(pair.left) == len(pair.right) == 1 and _may_be_elsewhere(pair):
            candidates.setdefault(pair.left[0].graph, []).append(pair)
    if candidates:
        partners = {
            one.left: one.right
            for one in matching.groups
            if one.left.kind == one.right.kind == "scope"
        }
        for left, right in matching.graphs:
            if partners and left in candidates:
                trees = find_tree(matching.left, left), find_tree(matching.right, right)
                for number, pair in enumerate(candidates[left]):
                    if not number % _STEP:
                        step()
                    around = list_around(trees[0], pair.left[0])
                    others = list_around(trees[1], pair.right[0])
                    if _is_elsewhere(around, others, partners):
                        moved.add(pair)
    return [pair for pair in matching.pairs if pair in moved]


def _may_be_elsewhere(pair: Pair) -> bool:
    """Return whether names or metadata say of two nodes that they are in different places."""
    one, other = pair.left[0], pair.right[0]
    return one.name.rpartition("/")[0] != other.name.rpartition("/")[0] or (
        pair.key != "wiring" and one.metadata != other.metadata
    )


def _is_elsewhere(around: list[Group], others: list[Group], partners: dict[Group, Group]) -> bool:
    inner = next((group for group in around if group in partners), None)
    return inner is not None and partners[inner] not in others


def _takes_others(one: NodeDifference, matching: Matching) -> bool:
    """Return whether nothing that a node computes from comes from where it came.

    Operands that have only changed places come from where they came.
    """
    rewired = sum(change.what.startswith("input ") for change in one.changes)
    node = one.pair.left[0]
    taken = [v for v in node.inputs if v is not None and v.producer is not None]
    now = {v for v in one.pair.right[0].inputs if v is not None and v.producer is not None}
    return 0 < len({*taken}) <= rewired and {matching.values.get(v) for v in taken} != now
