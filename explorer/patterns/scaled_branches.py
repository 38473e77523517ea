"""What stored numbers do to branches: a scale for each channel before a sum, a mean of several."""

from __future__ import annotations

from netloupe.explorer.dataflow import is_input_independent, trace_on
from netloupe.explorer.model import Node, Value, is_constant
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import LAYOUT_TRAITS

from .readings import read_scalar

#: of more branches that are added the mean is not looked for
_MOST_BRANCHES = 16


def read_layer_scale(node: Node) -> int | None:
    """Return how many channels a node scales, each by a stored number, before a residual sum.

    H. Touvron and others, Going deeper with Image Transformers, 2021, section 2. None for all else.
    """
    if not node.operator.has("multiplies_elements") or len(node.inputs) != 2:
        return None
    tensors = [None if value is None else find_stored_tensor(value) for value in node.inputs]
    stored = [tensor for tensor in tensors if tensor is not None]
    result = node.output(0)
    if len(stored) != 1 or result is None or not stored[0].dtype.is_float:
        return None
    channels = [dim for dim in stored[0].dims if dim != 1]
    if len(channels) != 1:
        return None
    takers = [*trace_on(result, *LAYOUT_TRAITS, "drops_out", most=4)]
    if result.is_output or len(takers) != 1:
        return None
    user, taken = takers[0]
    others = [value for value in user.inputs if value is not None and value is not taken]
    is_residual = user.operator.has("adds") and len(others) == 1 and not is_constant(others[0])
    return channels[0] if is_residual else None


def count_averaged(node: Node) -> int | None:
    """Return of how many branches a node gives the mean: their sum, divided by their number.

    None where it does something else, as where the number is another one.
    """
    operator = node.operator
    if not operator.has("divides", "multiplies_elements") or len(node.inputs) != 2:
        return None
    number, data = read_scalar(node.input(1)), node.input(0)
    if number is None and operator.has("multiplies_elements"):
        number, data = read_scalar(node.input(0)), node.input(1)
    if not number or data is None:
        return None
    count = round(number if operator.has("divides") else 1 / number, 4)
    if not 2 < count + 1 <= _MOST_BRANCHES or count != int(count):
        return None
    return int(count) if _adds_up(data, int(count)) else None


def _adds_up(value: Value, count: int) -> bool:
    """Return whether a value is the sum of so many branches.

    Where these end with sums themselves, as residual blocks do, all have to end alike.
    """
    branches = [value]
    while len(branches) < count:
        place = next((n for n, one in enumerate(branches) if _list_added(one)), None)
        if place is None:
            return False
        branches[place : place + 1] = _list_added(branches[place])
    return len(branches) == count and len({_count_leaves(one) for one in branches}) == 1


def _count_leaves(value: Value) -> int:
    """Return how many values a value is the sum of; beyond some one more."""
    pending, count = [value], 0
    while pending and count <= _MOST_BRANCHES:
        added = _list_added(pending.pop())
        pending += added
        count += not added
    return count


def _list_added(value: Value) -> list[Value]:
    """Return the computed values that a value is the sum of, where nothing else takes it."""
    giver = value.producer
    if giver is None or not giver.operator.has("adds") or len(value.users) != 1:
        return []
    taken = [each for each in giver.inputs if each is not None]
    is_of_computed = len({*taken}) == len(taken) > 1 and not any(map(is_input_independent, taken))
    return taken if is_of_computed else []
