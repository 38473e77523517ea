"""What a value is for the box that takes it beside its main operand: a mask, indices, a memory.

Such an edge ends in the same arrow head as the stream, and would be taken for features that join
it. Names are given only where all that is done with the value inside the box bears them out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from netloupe.explorer.dataflow import trace_on
from netloupe.explorer.grouping import Group, GroupTree
from netloupe.explorer.model import Value
from netloupe.explorer.operators import LAYOUT_TRAITS

from .attended import find_product, leads_to_shares, takes_shares
from .item import BORDER, Item, Link
from .value_names import ATTENTION_BIAS, MASK, find_role_name, is_added_to_scores

if TYPE_CHECKING:
    from .view import View

INDICES = "indices"
#: what is attended to: of cross-attention both are projections of one other sequence (A. Vaswani
#: and others, Attention Is All You Need, 2017, section 3.2.3)
KEYS_AND_VALUES = "keys, values"
#: what joins a stream without being a part of it
BESIDE = frozenset({ATTENTION_BIAS, INDICES, MASK})
#: what is told of operands as their operators call them
_TOLD = (MASK, "keys", "values", "past state", "routing")
#: so many uses are followed
_MOST_USES = 64


def name_joining_values(view: View, item: Item, links: Sequence[Link]) -> dict[int, str]:
    """Return what those values are that closed boxes take beside others, by number of the link.

    What a box of preparation gives is told there.

    Parameters
    ----------
    view
        What the item is shown in.
    item
        An open item.
    links
        Those between its children.
    """
    taken = Counter(link.target for link in links if link.kind == "data")
    found: dict[int, str] = {}
    for number, link in enumerate(links):
        if BORDER in (link.source, link.target) or taken[link.target] < 2 or link.bundle:
            continue
        giver, taker = (item.children[end] for end in (link.source, link.target))
        is_told = isinstance(giver.element, Group) and giver.element.kind == "preparation"
        group = taker.element
        if is_told or giver.kind in ("input", "stub") or taker.is_open:
            continue
        if not isinstance(group, Group) or group.kind == "operation":
            continue
        if name := _name_operand(link.value, group, view.borders(link.value.graph).tree):
            found[number] = name
    return found


def _name_operand(value: Value, taker: Group, tree: GroupTree) -> str:
    """Return what a value is for a group beside what else this takes; "" where that is not sure."""
    if _gives_indices(value):
        return INDICES
    name = find_role_name(value)
    if name in _TOLD:
        return name
    if is_added_to_scores(value):
        return ATTENTION_BIAS
    return KEYS_AND_VALUES if _is_attended(value, taker, tree) else ""


def _gives_indices(value: Value) -> bool:
    """Return whether a value is the places that something was taken from."""
    node = value.producer
    return node is not None and node.operator.results.kind_at(node.outputs.index(value)) == INDICES


def _is_attended(value: Value, taker: Group, tree: GroupTree) -> bool:
    """Return whether what a group takes of a value are keys and values, and never queries."""
    uses = [*trace_on(value, *LAYOUT_TRAITS)]
    if len(uses) > 1:
        uses = [
            (user, taken)
            for user, taken in uses
            if user.graph is tree.graph and tree.holds(taker, user)
        ]
    if not 1 < len(uses) <= _MOST_USES:
        return False
    ends = [find_product(user, taken) for user, taken in uses]
    if None in ends:
        return False
    scores = {node: place for node, place in filter(None, ends) if leads_to_shares(node)}
    contents = [node for node, place in filter(None, ends) if takes_shares(node, place)]
    both = sum(node in scores for node, _ in filter(None, ends))
    return bool(scores) and both == len(scores) == len(contents) == len(ends) - len(scores)
