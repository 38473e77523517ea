"""What attention does with a value: whether it becomes keys, values or queries.

Told is how products of two computed matrices take it, before or behind the softmax between them
(A. Vaswani and others, Attention Is All You Need, 2017, equation 1).
"""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.dataflow import is_input_independent, trace_on
from netloupe.explorer.model import Node, Value
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.roles import find_weight

#: so many uses are followed, and nodes from each of them
_MOST_USES, _MOST_STEPS = 64, 24
_KEEPING = ("drops_out", "picks", "repeats", "splits", "joins", *LAYOUT_TRAITS)
KEYS, VALUES = "keys", "values"
#: what the products of queries and keys are before they become shares, as where a layer adds those
#: of the one before to its own (R. He and others, RealFormer, 2020, equation 3)
SCORES = "scores"
#: what leaves scores to be scores: a scale, a mask, those of another layer
_RESCORING = ("adds", "divides", "multiplies_elements", *LAYOUT_TRAITS)


def name_attended(value: Value) -> str:
    """Return ``keys`` or ``values`` where all that takes a value takes it for such; else ""."""
    uses: list[tuple[Node, int] | None] = []
    for user, taken in trace_on(value, *LAYOUT_TRAITS):
        if user.operator.has(*LAYOUT_TRAITS, "reads_shape"):
            continue
        if len(uses) == _MOST_USES:
            return ""
        uses.append(find_product(user, taken))
    names = {_name_end(*end) if end is not None else "" for end in uses}
    return names.pop() if len(names) == 1 else ""


def _name_end(product: Node, place: int) -> str:
    if leads_to_shares(product):
        return KEYS if place else ""
    return VALUES if takes_shares(product, place) else ""


def are_scores(value: Value) -> bool:
    """Return whether a value is a product of two computed matrices that is turned into shares.

    On the way to and from it is only what scales, masks, adds and changes layout.
    """
    return _is_of_products(value) and _becomes_shares(value)


def _is_of_products(value: Value) -> bool:
    pending, seen = [value], {value}
    for taken in pending:  # grows
        node = taken.producer
        if node is None or len(pending) > _MOST_STEPS:
            continue
        if node.operator.has("multiplies"):
            if find_weight(node) is None and not any(map(_is_fixed, node.inputs)):
                return True
        elif node.operator.has(*_RESCORING):
            given = [one for one in node.inputs if one is not None and one not in seen]
            pending += [one for one in given if not _is_fixed(one)]
            seen.update(given)
    return False


def _becomes_shares(value: Value) -> bool:
    pending, seen = [value], {value}
    for taken in pending:  # grows
        for node in taken.users[:_MOST_USES]:
            if node.operator.has("distributes"):
                return True
            if node.operator.has(*_RESCORING) and len(pending) < _MOST_STEPS:
                found = [one for one in node.outputs if one is not None and one not in seen]
                pending += found
                seen.update(found)
    return False


def _is_fixed(value: Value | None) -> bool:
    return value is None or is_input_independent(value)


def find_product(node: Node, taken: Value) -> tuple[Node, int] | None:
    """Return the product of two computed matrices that a use leads to, and as which operand.

    On the way are one projection with its bias, and what changes layout or scales by a constant.
    """
    for _ in range(_MOST_STEPS):
        operator = node.operator
        is_plain = operator.has(*_KEEPING) and node.input(0) is taken
        # queries that are stored are no weight of a projection
        if operator.has("multiplies") and (find_weight(node) is None or leads_to_shares(node)):
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


def leads_to_shares(node: Node) -> bool:
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


def takes_shares(node: Node, place: int) -> bool:
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
