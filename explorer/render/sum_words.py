"""Which blocks of a stack do not end in the sum that the one that is shown ends in."""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node

#: norms, activations and what rearranges stand behind a sum
_MOST_BEHIND = 12


def find_lacking_sums(members: Sequence[Sequence[Node]], shown: int) -> list[int]:
    """Return the numbers of blocks whose last joint is no sum, where that of one is.

    What is shown is called a residual block (K. He and others, Deep Residual Learning for Image
    Recognition, 2016, section 3.2): where others do nothing but compute anew, that is said.

    Parameters
    ----------
    members
        The nodes of each block, producers first.
    shown
        Which of them is shown.
    """
    last = [_find_last_joint(nodes) for nodes in members]
    ends = last[shown]
    if ends is None or not ends.operator.has("adds"):
        return []
    return [
        number
        for number, joint in enumerate(last)
        # what is computed of stored values alone begins a stack
        if joint is not None and not joint.operator.has("adds")
    ]


def _find_last_joint(nodes: Sequence[Node]) -> Node | None:
    """Return the last node of a block that joins computed values; None for none or several."""
    inside = {*nodes}
    ends = [node for node in nodes if _leaves(node, inside)]
    current = ends[0] if len(ends) == 1 else None
    for _ in range(_MOST_BEHIND):
        if current is None:
            return None
        taken = [v for v in current.inputs if v is not None and not is_input_independent(v)]
        if len({*taken}) > 1:
            return current
        producer = taken[0].producer if taken else None
        current = producer if producer in inside else None
    return None


def _leaves(node: Node, inside: set[Node]) -> bool:
    """Return whether a block gives what a node computes, and not its size alone."""
    computed = [v for v in node.outputs if v is not None and not is_input_independent(v)]
    return any(
        value.is_output
        or any(user not in inside and not user.operator.has("reads_shape") for user in value.users)
        for value in computed
    )
