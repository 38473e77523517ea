"""What an input is that has no telling name, by what a graph does with it first."""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node, TensorType, Value
from netloupe.explorer.model.constant import constant_tensor
from netloupe.explorer.operators import LAYOUT_TRAITS

from .readings import read_numbers
from .weight_sizes import read_dims

#: so many operations behind an input are looked at
_MOST_LOOKED = 24
#: what a number may go through before its sines are taken, or a row of a table is
_PREPARING = (
    *LAYOUT_TRAITS,
    *("adds", "broadcasts", "casts", "clips", "copies", "divides", "multiplies_elements"),
)
#: a picture has so many channels, and so many axes
_COLOURS = (1, 3)
_AXES_OF_PICTURE = 4
_MOST_OF_TABLE = 1 << 16
_TABLE = 2


def find_role(value: Value) -> str:
    """Return what an input is, in words that stand behind ``conditioned on``; "" if unknown.

    A number for each example of which sines are taken is a timestep (J. Ho and others, Denoising
    Diffusion Probabilistic Models, 2020, appendix B); one by which a row of a learned table is
    picked, a class; a row of such numbers, tokens.
    """
    stated = value.type
    if not isinstance(stated, TensorType) or stated.shape is None:
        return ""
    shape = [dim.value for dim in stated.shape]
    is_one = all(size == 1 for size in shape[1:])
    for node, place in _list_uses(value):
        if node.operator.has("takes_sine") and is_one:
            return "timestep"
        if node.operator.has("gathers") and place == 1 and stated.dtype.is_integer:
            table = node.input(0)
            if table is None or not is_input_independent(table) or not _is_table(table):
                continue
            if is_one:
                return "timestep" if _is_of_waves(table) else "class"
            return "tokens" if len(shape) == _TABLE else ""
    return _name_by_shape(stated, shape)


def _name_by_shape(stated: TensorType, shape: Sequence[object]) -> str:
    """Return ``an image`` or ``a vector of 64`` for what is none of the others."""
    last = shape[-1] if shape else None
    if not stated.dtype.is_float:
        return ""
    if len(shape) == _AXES_OF_PICTURE:
        channels = shape[1]
        is_colour = channels in _COLOURS
        return "an image" if is_colour else ""
    if len(shape) == _TABLE and isinstance(last, int) and last > 1:
        return f"a vector of {last:,}"
    return ""


def _list_uses(value: Value) -> list[tuple[Node, int]]:
    """Return the first operations behind an input that do more than arrange or scale it.

    And at which place each of them takes it.
    """
    found: list[tuple[Node, int]] = []
    pending, seen = [value], {value}
    while pending and len(seen) < _MOST_LOOKED:
        current = pending.pop(0)
        for node in current.users:
            is_fixed = all(
                one is None or one in seen or is_input_independent(one) for one in node.inputs
            )
            result = node.output(0)
            if node.operator.has(*_PREPARING) and not node.operator.has("takes_sine") and is_fixed:
                if result is not None and result not in seen:
                    seen.add(result)
                    pending.append(result)
            else:
                found.append((node, node.inputs.index(current)))
    return found


def _is_table(value: Value) -> bool:
    """Return whether a value holds several rows, whatever axes of one place are beside them."""
    return sum(size > 1 for size in read_dims(value)) == _TABLE


def _is_of_waves(table: Value) -> bool:
    """Return whether a stored table is of sines: its first row is of zeros and ones."""
    width = read_dims(table)[-1]
    numbers = read_numbers(constant_tensor(table), _MOST_OF_TABLE)
    return bool(numbers) and {*numbers[:width]} == {0.0, 1.0}
