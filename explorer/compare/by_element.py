"""The pairs of two models and what differs between them, by node and by weight."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from netloupe.explorer.model import Node, Tensor

from .changed_elements import NodeDifference, TensorDifference
from .changes import Change
from .pair import Pair


class DifferencesByElement:
    """Finds what a ``Diff`` says of one node or weight of either model.

    Each table is made when it is first asked for.

    Parameters
    ----------
    pairs, nodes, tensors
        As of a ``Diff``: pairs of nodes, and paired nodes and weights that differ.
    """

    def __init__(
        self,
        pairs: Sequence[Pair],
        nodes: Sequence[NodeDifference],
        tensors: Sequence[TensorDifference],
    ) -> None:
        self._pairs, self._nodes, self._tensors = pairs, nodes, tensors

    @cached_property
    def pairs(self) -> dict[Node, Pair]:
        """Pairs by the nodes of both sides."""
        return {node: pair for pair in self._pairs for node in (*pair.left, *pair.right)}

    @cached_property
    def changes(self) -> dict[Node, tuple[Change, ...]]:
        """In what paired nodes differ, by the first node of the right side."""
        return {one.pair.right[0]: one.changes for one in self._nodes}

    @cached_property
    def tensors(self) -> dict[Tensor, list[TensorDifference]]:
        """In what paired weights differ, by the weights of both sides."""
        found: dict[Tensor, list[TensorDifference]] = {}
        for one in self._tensors:
            for tensor in (one.left, one.right):
                found.setdefault(tensor, []).append(one)
        return found
