"""What a single node is that does more than its operator says: positions, tokens, a mean."""

from __future__ import annotations

from typing import NamedTuple

from netloupe.explorer.model import Node
from netloupe.explorer.patterns.added_positions import read_added_positions
from netloupe.explorer.patterns.added_queries import read_added_queries
from netloupe.explorer.patterns.added_tokens import name_added_tokens
from netloupe.explorer.patterns.computed_kernels import CROSS_CORRELATION, correlates
from netloupe.explorer.patterns.decimation import read_decimation
from netloupe.explorer.patterns.edge_inputs import name_node_sum
from netloupe.explorer.patterns.pairwise import is_symmetrized, joins_pairs
from netloupe.explorer.patterns.picked_tokens import read_picked_token
from netloupe.explorer.patterns.predicted_transforms import PREDICTED, read_predicted_size
from netloupe.explorer.patterns.readings import read_ints
from netloupe.explorer.patterns.scaled_branches import count_averaged, read_layer_scale

from .operator_words import read_padding

_BOTH = 2
#: what papers call padding with what
_PADS = {
    "edge": "Replication pad",
    "reflect": "Reflection pad",
    "wrap": "Circular pad",
    "zeros": "Zero pad",
}


class NodeIdea(NamedTuple):
    """What figures call a node.

    Parameters
    ----------
    name
        Instead of its operator.
    facts
        What is known of it.
    category
        Decides its colours; "" where its operator does.
    """

    name: str
    facts: tuple[str, ...] = ()
    category: str = ""


def find_node_idea(node: Node) -> NodeIdea | None:
    """Return what figures call a node; None where its operator says it."""
    positions = read_added_positions(node)
    if positions is not None:
        return NodeIdea("+ positions", positions.facts, "lookup")
    queries = read_added_queries(node)
    if queries:
        written = " × ".join(f"{dim:,}" for dim in queries)
        return NodeIdea("+ learned queries", (written,), "lookup")
    channels = read_layer_scale(node)
    if channels is not None:
        return NodeIdea("Layer scale", (f"{channels:,}",))
    count = count_averaged(node)
    if count is not None:
        is_turned = count == _BOTH and any(
            giver is not None and is_symmetrized(giver)
            for giver in (value.producer for value in node.inputs if value is not None)
        )
        return NodeIdea("Mean with its transpose" if is_turned else f"Mean of {count}")
    if joins_pairs(node):
        return NodeIdea("Outer concatenation")
    if correlates(node):
        size = read_ints(node, "kernel_shape")
        return NodeIdea(CROSS_CORRELATION, ("×".join(map(str, size)),) if size else ())
    rows = read_predicted_size(node)
    if rows:
        return NodeIdea(PREDICTED, (f"{rows} × {rows}",))
    how, sides = read_padding(node) if node.operator.has("pads") else ("", "")
    if how in _PADS and sides:  # of what may cut as well nothing is said
        return NodeIdea(_PADS[how], (sides,))
    kept = read_decimation(node)
    if kept:
        factor = kept[:1] if len({*kept}) == 1 else kept
        return NodeIdea("Decimation", (f"/{'×'.join(map(str, factor))}",), "resample")
    tokens = name_added_tokens(node)
    if tokens:
        return NodeIdea(tokens, category="lookup")
    name = read_picked_token(node) or name_node_sum(node)
    return NodeIdea(name[0].upper() + name[1:]) if name else None
