"""How many nodes and weights two models have in common, and how many they do not."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from .node_states import differs

if TYPE_CHECKING:
    from .difference import Diff


class Counts(NamedTuple):
    """How many nodes and weights two models have in common, and how many they do not.

    Parameters
    ----------
    kept
        Paired nodes that do the same with the same weights, or with what these were folded into;
        of several that are fused one counts.
    changed
        Paired nodes that do something else, or take other weights.
    added, removed
        Nodes without a partner, of the right and of the left model.
    moved
        Of those kept, how many stand elsewhere.
    reweighted
        Of those changed, how many differ in the weights that they take alone.
    weights_changed
        Paired weights that are not the same; of joined weights each part counts.
    weights_added, weights_removed
        Weights without a partner, of the right and of the left model.
    """

    kept: int
    changed: int
    added: int
    removed: int
    moved: int = 0
    reweighted: int = 0
    weights_changed: int = 0
    weights_added: int = 0
    weights_removed: int = 0


def count_differences(found: Diff) -> Counts:
    """Return how many nodes and weights are kept, and how many are not."""
    states = Counter(found.states.values())
    kept = sum(found.states.get(pair.right[0]) is None for pair in found.matching.pairs)
    own = {one.pair.right[0] for one in found.nodes if any(not c.aspect for c in one.changes)}
    own.update(node for pair in found.fused for node in pair.right if node in found.states)
    reweighted = sum(state == "changed" and node not in own for node, state in found.states.items())
    return Counts(
        kept,
        states["changed"],
        states["added"],
        states["removed"],
        sum(pair.right[0] not in found.states for pair in found.moved),
        reweighted,
        sum(map(differs, found.tensors)),
        len(found.right_tensors),
        len(found.left_tensors),
    )
