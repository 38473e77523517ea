"""Residual blocks of convolutions: a sum of a value and of what convolutions make of it.

The shortcut is the value itself or a convolution of it (K. He and others, Deep Residual Learning
for Image Recognition, CVPR 2016, figures 2 and 3 and section 3.3).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from netloupe.explorer.model import Node, Value

from .weight_sizes import read_dims
from .wires import Wires

#: what a shortcut may consist of
_SHORTCUT = ("convolves", "copies", "normalizes", "pools")
_MOST_SHORTCUT = 3
_MOST_NODES = 64


def find_residual_blocks(wires: Wires) -> Iterator[tuple[str, frozenset[int]]]:
    """Yield name and places of the residual blocks among some nodes.

    From each sum the nodes that it alone needs are walked back to the value that both sides
    begin with: at most ``_MOST_NODES`` steps for each way to take a shortcut.
    """
    for end in range(len(wires.nodes)):
        operands = wires.computed(end)
        if not wires.has(end, "adds") or len(operands) != 2:
            continue
        places = _find_sides(wires, end, *operands) or _find_sides(wires, end, *operands[::-1])
        if places is None:
            continue
        following = wires.only_user(end)
        if following is not None and wires.has(following, "activates"):
            places.add(following)
        nodes = [wires.nodes[place] for place in places]
        # units of ShuffleNet have groups besides
        is_inverted = any(map(is_depthwise, nodes)) and not any(map(_is_grouped, nodes))
        yield "Inverted residual" if is_inverted else "Residual block", frozenset(places)


def is_depthwise(node: Node) -> bool:
    """Return whether a node convolves each channel alone."""
    group = node.attributes.get("group")
    if group is None or not isinstance(group.value, int) or group.value < 2:
        return False
    dims = read_dims(node.input(1))
    # the weight's second dimension is channels for each group
    return len(dims) > 1 and dims[1] == 1


def _is_grouped(node: Node) -> bool:
    """Return whether a node convolves several channels at a time, but not all."""
    group = node.attributes.get("group")
    is_several = group is not None and isinstance(group.value, int) and group.value > 1
    return is_several and not is_depthwise(node)


def _find_sides(wires: Wires, end: int, shortcut: Value, main: Value) -> set[int] | None:
    """Return the places of a block that ends in a sum; None where there is none."""
    start = shortcut
    chain: set[int] = set()
    for _ in range(_MOST_SHORTCUT + 1):
        places = _walk_back(wires, {end, *chain}, main, start)
        if places is not None:
            return places
        producer = wires.producer(start)
        if producer is None or not wires.has(producer, *_SHORTCUT):
            return None
        operands = wires.computed(producer)
        if not operands or not {end, *chain}.issuperset(wires.users(producer)):
            return None
        chain.add(producer)
        start = operands[0]
    return None


def _walk_back(wires: Wires, core: set[int], main: Value, start: Value) -> set[int] | None:
    """Return a core with all that only leads to it from where a value begins."""
    barrier = wires.producer(start)
    first = wires.producer(main)
    pending = [-first] if first is not None and first != barrier else []
    convolutions = 0
    reached = False
    core = set(core)
    # users come later in the order, so that those that belong are in already
    while pending:
        place = -heapq.heappop(pending)
        if place in core or not core.issuperset(wires.users(place)):
            continue
        core.add(place)
        if len(core) > _MOST_NODES:
            return None
        convolutions += wires.has(place, "convolves")
        reached = reached or start in wires.nodes[place].inputs
        for producer in wires.producers(place):
            if producer != barrier and producer not in core:
                heapq.heappush(pending, -producer)
    return core if reached and convolutions > 1 else None
