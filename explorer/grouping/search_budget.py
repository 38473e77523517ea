"""How much work the search for repeats may be."""

from __future__ import annotations

#: what the searches in one graph may take together: for each node, and beside that; a diffusion
#: UNet of 1,649 nodes, which has the most different blocks for its size, takes a fifth of it
_STEPS_A_NODE = 10
_STEPS = 1_500_000


class SearchBudget:
    """Steps of a search, of which so many may be taken as there are nodes to look at.

    Networks need a few for each node. Sequences made to repeat in every place without ever
    being a stack (Fibonacci's word) would need many more: when the steps are used up, what is
    left simply has no repeats. They are counted, not timed, so that the result is always the same.

    Parameters
    ----------
    nodes
        How many nodes are searched.
    """

    def __init__(self, nodes: int) -> None:
        self._left = _STEPS + _STEPS_A_NODE * nodes

    def spend(self, steps: int) -> None:
        """Count steps; one takes about a microsecond."""
        self._left -= steps

    @property
    def is_spent(self) -> bool:
        """Whether no steps are left."""
        return self._left <= 0
