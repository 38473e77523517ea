"""What a value is for the box that takes it beside its main operand: a mask, indices, a memory.

Such an edge ends in the same arrow head as the stream, and would be taken for features that join
it. Names are given only where all that is done with the value inside the box bears them out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from netloupe.explorer.dataflow import is_input_independent, trace_on
from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.member_nodes import list_nodes_inside
from netloupe.explorer.model import Node, Value
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.roles import find_weight

from .item import BORDER, Item, Link
from .value_names import ATTENTION_BIAS, MASK, find_role_name, is_added_to_scores

INDICES = "indices"
#: what is attended to: of cross-attention both are projections of one other sequence (A. Vaswani
#: and others, Attention Is All You Need, 2017, section 3.2.3)
KEYS_AND_VALUES = "keys, values"
#: what joins a stream without being a part of it
BESIDE = frozenset({ATTENTION_BIAS, INDICES, MASK})
#: what is told of operands as their operators call them
_TOLD = (MASK, "keys", "values", "past state", "routing")
#: so many uses are followed, and nodes from each of them
_MOST_USES, _MOST_STEPS = 64, 24
_KEEPING = ("drops_out", "picks", "repeats", "splits", "joins", *LAYOUT_TRAITS)


def name_joining_values(item: Item, links: Sequence[Link]) -> dict[int, str]:
    """Return what those values are that closed boxes take beside others, by number of the link.

    What a box of preparation gives is told there.

    Parameters
    ----------
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
        if name := _name_operand(link.value, group):
            found[number] = name
    return found


def _name_operand(value: Value, taker: Group) -> str:
    """Return what a value is for a group beside what else this takes; "" where that is not sure."""
    if _gives_indices(value):
        return INDICES
    name = find_role_name(value)
    if name in _TOLD:
        return name
    if is_added_to_scores(value):
        return ATTENTION_BIAS
    return KEYS_AND_VALUES if _is_attended(value, taker) else ""


def _gives_indices(value: Value) -> bool:
    """Return whether a value is the places that something was taken from."""
    node = value.producer
    return node is not None and node.operator.results.kind_at(node.outputs.index(value)) == INDICES


def _is_attended(value: Value, taker: Group) -> bool:
    """Return whether what a group takes of a value are keys and values, and never queries."""
    uses = [*trace_on(value, *LAYOUT_TRAITS)]
    if len(uses) > 1:
        inside = {*list_nodes_inside([taker])}
        uses = [(user, taken) for user, taken in uses if user in inside]
    if not 1 < len(uses) <= _MOST_USES:
        return False
    ends = [_find_product(user, taken) for user, taken in uses]
    if None in ends:
        return False
    scores = {node: place for node, place in filter(None, ends) if _leads_to_shares(node)}
    contents = [node for node, place in filter(None, ends) if _takes_shares(node, place)]
    both = sum(node in scores for node, _ in filter(None, ends))
    return bool(scores) and both == len(scores) == len(contents) == len(ends) - len(scores)


def _find_product(node: Node, taken: Value) -> tuple[Node, int] | None:
    """Return the product of two computed matrices that a use leads to, and as which operand.

    On the way are one projection with its bias, and what changes layout or scales by a constant.
    """
    for _ in range(_MOST_STEPS):
        operator = node.operator
        is_plain = operator.has(*_KEEPING) and node.input(0) is taken
        if operator.has("multiplies") and find_weight(node) is None:
            places = [place for place, one in enumerate(node.inputs) if one is taken]
            return (node, places[0]) if len(places) == 1 else None
        is_scaled = operator.has("adds", "divides", "multiplies_elements") and all(
            one is taken or (one is not None and is_input_independent(one)) for one in node.inputs
        )
        if not (is_plain or is_scaled or find_weight(node) is not None):
            return None
        following = [*_list_following(node)]
        if len(following) != 1:
            return None
        node, taken = following[0]
    return None


def _list_following(node: Node) -> Iterator[tuple[Node, Value]]:
    for value in node.outputs:
        for user in value.users if value is not None else ():
            if value is not None and not user.operator.has("reads_shape"):
                yield user, value


def _leads_to_shares(node: Node) -> bool:
    """Return whether a product is of scores: what it gives is turned into shares."""
    for _ in range(_MOST_STEPS):
        following = [*_list_following(node)]
        if len(following) != 1:
            return any(user.operator.has("distributes") for user, _ in following)
        ((node, _),) = following
        if node.operator.has("distributes"):
            return True
        if not node.operator.has("elementwise", *_KEEPING):
            return False
    return False


def _takes_shares(node: Node, place: int) -> bool:
    """Return whether a product weighs one of its operands with shares that add up to 1."""
    for other, value in enumerate(node.inputs):
        if other == place or value is None:
            continue
        source: Value | None = value
        for _ in range(_MOST_STEPS):
            giver = source.producer if source is not None else None
            if giver is None:
                break
            if giver.operator.has("distributes"):
                return True
            if not giver.operator.has("elementwise", *_KEEPING):
                break
            source = giver.input(0)
    return False
