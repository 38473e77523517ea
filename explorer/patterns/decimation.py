"""Features of which every n-th place is kept, and the others are dropped."""

from __future__ import annotations

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node, TensorType, Value

from .picked_parts import PickedPart, read_parts

#: a batch and channels come before places
_FIRST_PLACE = 2
#: what so many take is looked through
_MOST_USERS = 64


def read_decimation(node: Node) -> tuple[int, ...]:
    """Return how many times fewer places a slice leaves, by axis; nothing for other nodes.

    So the features of time steps are discarded before the next coarser scale (D. Stoller and
    others, Wave-U-Net, 2018, section 3.1). Where other slices take what this one drops nothing is
    discarded: halves of pairs, pixels put into channels.
    """
    value = node.input(0) if node.operator.has("slices") else None
    dims = find_value_facts(node.graph.model).find_dims(value)
    if value is None or dims is None or len(dims) <= _FIRST_PLACE or not _is_float(value):
        return ()
    parts = _list_kept(node)
    if not parts or not all(_keeps_every(part) for part in parts):
        return ()
    users = value.users[:_MOST_USERS]
    others = [one for one in users if one is not node and one.operator.has("slices")]
    if any(part.step != 1 for one in others for part in _list_kept(one)):
        return ()
    return tuple(part.step for part in parts if isinstance(part.step, int))


def _list_kept(node: Node) -> list[PickedPart]:
    """Return the parts that a node takes of axes, but of those of which it takes all."""
    return [
        part
        for part in read_parts(node)
        if not (part.start == 0 and part.step == 1 and part.is_to_end)
    ]


def _keeps_every(part: PickedPart) -> bool:
    """Return whether a part is every n-th of all places, n more than 1."""
    step, start = part.step, part.start
    is_every = isinstance(step, int) and isinstance(start, int) and 0 <= start < step
    is_place = part.axis is not None and part.axis >= _FIRST_PLACE
    return is_every and step != 1 and is_place and part.is_to_end


def _is_float(value: Value) -> bool:
    stated = value.type
    return not isinstance(stated, TensorType) or stated.dtype.is_float
