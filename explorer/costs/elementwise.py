"""Results of operators that work element by element, and what they do with sizes.

Sources: ONNX operator specification, ContribOperators of ONNX Runtime, Caffe2's operators. A rule
gives a fact for each result that it knows; what depends on elements that are not known stays open.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Tensor, data_type

from .facts import Dim, Dims, Fact, Use
from .polynomial import Amount, divide_down, divide_exactly
from .products import broadcast

BOOL, FLOAT32 = data_type("bool"), data_type("float32")

#: types of shapes, axes and indices
_INDICES = ("int64", "int32")
#: so many elements of a value are followed
MOST_ELEMENTS = 32


def read_elements(tensor: Tensor) -> tuple[int, ...] | None:
    """Return the elements of a small list or scalar of integers; None for all other tensors."""
    if tensor.size > MOST_ELEMENTS or len(tensor.dims) > 1 or tensor.dtype.name not in _INDICES:
        return None
    try:
        return tuple(tensor.numpy().ravel().tolist())
    except NetloupeError:
        return None


def same(use: Use) -> list[Fact | None]:
    """Return the shape and type of the first operand, and its elements."""
    return [use.operand(0)]


def like_first(use: Use) -> list[Fact | None]:
    """Return the shape and type of the first operand."""
    first = use.operand(0)
    return [Fact(first.dims, first.dtype)]


def drop_out(use: Use) -> list[Fact | None]:
    """Return the data as it is and a mask of its shape."""
    data = use.operand(0)
    return [data, Fact(data.dims, BOOL)]


def normalize_layer(use: Use) -> list[Fact | None]:
    """Return the data's shape, and that of mean and deviation: 1 from the axis on."""
    data, axis = use.operand(0), use.integer("axis", -1)
    given = Fact(data.dims, data.dtype)
    if data.dims is None or axis is None or not -len(data.dims) <= axis < len(data.dims):
        return [given]
    start = axis % len(data.dims)
    dims = tuple(1 if place >= start else dim for place, dim in enumerate(data.dims))
    return [given, Fact(dims, FLOAT32), Fact(dims, FLOAT32)]


def combine(use: Use) -> list[Fact | None]:
    """Return the operands' shapes broadcast, and the type of the first."""
    dims = broadcast(*(None if one is None else one.dims for one in use.operands))
    dtype = next((one.dtype for one in use.operands if one is not None and one.dtype), None)
    return [Fact(dims, dtype, _combine_elements(use))]


def compare(use: Use) -> list[Fact | None]:
    """Return the operands' shapes broadcast, as truth values."""
    dims = broadcast(*(None if one is None else one.dims for one in use.operands))
    return [Fact(dims, BOOL, _combine_elements(use))]


def choose(use: Use) -> list[Fact | None]:
    """Return the result of Where."""
    dims = broadcast(use.dims(0), use.dims(1), use.dims(2))
    sides = _stretch_elements([use.operand(index).elements for index in range(3)])
    elements = None if sides is None else tuple(map(_pick, *sides))
    return [Fact(dims, use.operand(1).dtype or use.operand(2).dtype, elements)]


def _pick(condition: Dim, chosen: Dim, other: Dim) -> Dim:
    if condition is None or not isinstance(condition, int):
        return chosen if chosen == other else None
    return chosen if condition else other


def _combine_elements(use: Use) -> Dims | None:
    compute = _COMPUTE.get(use.operator.form)
    if compute is None or len(use.operands) != 2:
        return None
    sides = _stretch_elements([use.operand(0).elements, use.operand(1).elements])
    if sides is None:
        return None
    pairs = zip(*sides, strict=True)
    return tuple(None if a is None or b is None else compute(a, b) for a, b in pairs)


def _stretch_elements(sides: Sequence[Dims | None]) -> list[Dims] | None:
    """Return lists of elements that are all as long as the longest; None where they are not."""
    known = [side for side in sides if side is not None]
    if len(known) < len(sides):
        return None
    length = max(map(len, known))
    found = [side * length if len(side) == 1 else side for side in known]
    return found if all(len(side) == length for side in found) else None


def _divide(left: Amount, right: Amount) -> Dim:
    exact = divide_exactly(left, right)
    if exact is not None or not isinstance(right, int) or right <= 0:
        return exact
    # sizes are not negative, and so integer division rounds down
    return divide_down(left, right) if not isinstance(left, int) or left >= 0 else None


def _equal(left: Amount, right: Amount) -> Dim:
    if left == right:
        return 1
    numbers = [side for side in (left, right) if isinstance(side, int)]
    # a symbol is a size, and so is a sum of sizes: never negative
    return 0 if len(numbers) == 2 or any(number < 0 for number in numbers) else None


def _limit(choose: Callable[[int, int], int]) -> Callable[[Amount, Amount], Dim]:
    def function(left: Amount, right: Amount) -> Dim:
        if isinstance(left, int) and isinstance(right, int):
            return choose(left, right)
        return left if left == right else None

    return function


#: by operator, what is computed with sizes: functions of this module
_COMPUTE: dict[str, Callable[[Amount, Amount], Dim]] = {
    "Add": operator.add,
    "Div": _divide,
    "Equal": _equal,
    "Max": _limit(max),
    "Min": _limit(min),
    "Mul": operator.mul,
    "Sub": operator.sub,
}


def cast(use: Use) -> list[Fact | None]:
    """Return the operand in another type; small integers stay what they are."""
    data = use.operand(0)
    return [Fact(data.dims, use.element_type("to"), data.elements)]


def take_bits(use: Use) -> list[Fact | None]:
    """Return the operand with its bits taken for another type."""
    return [Fact(use.dims(0), use.element_type("to"))]


def cast_like(use: Use) -> list[Fact | None]:
    """Return the operand in the type of another one."""
    data = use.operand(0)
    return [Fact(data.dims, use.operand(1).dtype, data.elements)]


def quantize(use: Use) -> list[Fact | None]:
    """Return the data as quantized numbers."""
    stated = use.element_type("output_dtype") if use.integer("output_dtype", 0) else None
    default = use.operand(2).dtype if use.has(2) else data_type("uint8")
    return [Fact(use.dims(0), stated or default)]


def dequantize(use: Use) -> list[Fact | None]:
    """Return quantized numbers as real ones, in the type of the scale."""
    stated = use.element_type("output_dtype") if use.integer("output_dtype", 0) else None
    return [Fact(use.dims(0), stated or use.operand(1).dtype)]


def quantize_dynamically(use: Use) -> list[Fact | None]:
    """Return the results of DynamicQuantizeLinear."""
    byte = data_type("uint8")
    return [Fact(use.dims(0), byte), Fact((), FLOAT32), Fact((), byte)]
