"""Where attention is among some nodes, by their wiring alone: products around a Softmax."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

from netloupe.explorer.operators import ARRANGING_TRAITS, HANDING_TRAITS

from .wires import Wires

#: what may stand between the two products of an attention
_SCORES = (*(*HANDING_TRAITS, "adds", "clips", "divides", "multiplies_elements", "subtracts"),)
_ALSO_SCORES = frozenset({"IsNaN", "Tanh", "Where"})
#: what may stand between a projection and the products: heads, rotary positions, norms, caches
_HEADS = (
    *(*HANDING_TRAITS, *ARRANGING_TRAITS, "adds", "divides", "looks_up", "multiplies_elements"),
    *("negates", "normalizes", "rotates"),
)
_MOST_OF_ATTENTION = 120
_MOST_STEPS = 14


def find_attention_places(wires: Wires) -> Iterator[frozenset[int]]:
    """Yield the places of products around a Softmax, and of the projections around them."""
    for place in range(len(wires.nodes)):
        if wires.has(place, "attends"):
            core, end = {place}, place
        elif wires.op(place) == "Softmax":
            found = _find_core(wires, place)
            if found is None:
                continue
            core, end = found
        else:
            continue
        _add_projections(wires, core)
        core.update(wires.linear_behind(end) or wires.follow(end))
        yield frozenset(core)


def _find_core(wires: Wires, softmax: int) -> tuple[set[int], int] | None:
    back = _search(softmax, lambda place: list(wires.producers(place)), wires)
    onward = _search(
        softmax, lambda place: [user for user in wires.users(place) if user >= 0], wires
    )
    if back is None or onward is None:
        return None
    core = {softmax, *back, *onward}
    # what tests the scores, as for rows that are masked in whole
    for place in list(core):
        core.update(
            user
            for user in wires.users(place)
            if user >= 0 and _is_of_scores(wires, user) and core.issuperset(wires.users(user))
        )
    return core, onward[-1]


def _is_of_scores(wires: Wires, place: int) -> bool:
    return wires.has(place, *_SCORES) or wires.op(place) in _ALSO_SCORES


def _search(start: int, follow: Callable[[int], list[int]], wires: Wires) -> list[int] | None:
    """Return the shortest way from a Softmax to a product of two computed tensors."""
    ways = [[start]]
    seen = {start}
    for _ in range(_MOST_STEPS):
        longer = []
        for way in ways:
            for place in follow(way[-1]):
                if place in seen:
                    continue
                seen.add(place)
                if wires.has(place, "multiplies") and len(wires.computed(place)) > 1:
                    return [*way[1:], place]
                if _is_of_scores(wires, place):
                    longer.append([*way, place])
        ways = longer[:16]
    return None


def _add_projections(wires: Wires, core: set[int]) -> None:
    """Add what alone leads to the core, back to the projections and these."""
    pending = [
        -producer for place in core for producer in wires.producers(place) if producer not in core
    ]
    heapq.heapify(pending)
    #: what only brings a projection's operand into the form of a matrix: nothing lies behind it
    last: set[int] = set()
    # users come later in the order, so that those that belong are in already
    while pending and len(core) < _MOST_OF_ATTENTION:
        place = -heapq.heappop(pending)
        if place in core or not core.issuperset(wires.users(place)):
            continue
        is_linear = wires.is_linear(place)
        if not is_linear and not wires.has(place, *_HEADS):
            continue
        core.add(place)
        if place in last:
            continue
        for producer in wires.producers(place):
            if not is_linear:
                heapq.heappush(pending, -producer)
            elif wires.op(producer) == "Reshape" and wires.only_user(producer) == place:
                last.add(producer)
                heapq.heappush(pending, -producer)
