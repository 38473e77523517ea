"""Whether a quantized weight lies transposed against its twin, as its operator reads it."""

from __future__ import annotations

from netloupe.explorer.compare.references import open_reference
from netloupe.explorer.compare.twin_weights import WeightPair
from netloupe.explorer.model import Node, Value
from netloupe.explorer.operators import CONVERTING_TRAITS
from netloupe.explorer.quantization.layout import read_integer
from netloupe.explorer.quantization.quantized_elements import QuantizedElements
from netloupe.explorer.quantization.quantized_weights import QuantizedWeight

from .fidelity import measure_fidelity

#: a twin that is so much less like the codes in the other order is not symmetric, in dB
_LEAST_GAP = 6.0


def is_turned(
    weight: QuantizedWeight, quantized: QuantizedElements, twin: Value | None, pair: WeightPair
) -> bool:
    """Return whether operators sum over another axis of a weight than over that of its twin.

    False where that is not known, and where the numbers are as near in the right order.

    Parameters
    ----------
    weight, quantized
        A quantized weight.
    twin
        The value that holds its twin; None where that is not known.
    pair
        The twin, and in which order it has the elements.
    """
    dims = quantized.dims
    if twin is None or pair.tensor is None or len(dims) != 2 or dims[0] != dims[1]:
        return False
    axes = [_find_summed(value) for value in (weight.value, twin)]
    if None in axes or pair.order not in ("as stored", "transposed"):
        return False
    is_other = axes[0] != axes[1]
    if (pair.order == "transposed") == is_other:
        return False
    found, right = (
        measure_fidelity(quantized, open_reference(pair.tensor, turned), None).summarize().sqnr_db
        for turned in (pair.turned, (1, *dims) if is_other else None)
    )
    return found - right > _LEAST_GAP


def _find_summed(value: Value) -> int | None:
    """Return over which axis of a matrix all that take it sum; None where that is not one."""
    axes: set[int | None] = set()
    waiting = [(value, False)]
    seen: set[tuple[Value, bool]] = set()
    while waiting:
        current, is_flipped = waiting.pop()
        if (current, is_flipped) in seen:  # a file may have cycles
            continue
        seen.add((current, is_flipped))
        for user in current.users:
            if not user.inputs or user.input(0) is not current:
                axes.add(_flip(_read_axis(user, current), is_flipped))
            elif user.operator.has(*CONVERTING_TRAITS) or _transposes(user):
                flipped = is_flipped != _transposes(user)
                waiting += [(out, flipped) for out in user.outputs if out is not None]
            else:
                axes.add(_flip(_read_axis(user, current), is_flipped))
    return axes.pop() if len(axes) == 1 else None


def _flip(axis: int | None, is_flipped: bool) -> int | None:
    return axis if axis is None or not is_flipped else 1 - axis


def _read_axis(node: Node, value: Value) -> int | None:
    """Return over which axis of a matrix a product sums that takes it as its right factor."""
    operator = node.operator
    places = tuple(place for place, each in enumerate(node.inputs) if each is value)
    if places != operator.weight_places[:1]:
        return None
    if operator.has("packed_weight"):  # [N, K]
        return 1 if operator.weight_kind == "linear" else None
    if not operator.weight_layout.startswith("linear"):
        return None
    is_turned = operator.weight_layout == "linear_transposed" or read_integer(node, "transB", 0)
    return 1 if is_turned else 0


def _transposes(node: Node) -> bool:
    """Return whether a node exchanges the axes of a matrix."""
    if node.operator.form != "Transpose":
        return False
    perm = node.attributes.get("perm")
    return perm is None or perm.value == (1, 0)
