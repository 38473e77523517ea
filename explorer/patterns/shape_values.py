"""What a value of shape arithmetic is, in words: ``[batch, seq, 12, 64]``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Node, SparseTensor, TensorType, Value, constant_tensor

#: an element: a number, or an expression of symbols
Element = int | str
#: a scalar, a list, or None where nothing is known
Known = Element | tuple[Element, ...] | None

UNKNOWN = "?"
_MOST_ELEMENTS = 16
_MOST_TEXT = 60
_MOST_DEPTH = 40
_MOST_STEPS = 500
#: ranges of ranges are described so deep
_MOST_RANGES = 3
_MOST_NUMBER = 2**63


def describe_shape_value(value: Value) -> str:
    """Return what a value that comes from shapes is, as far as the stated types tell.

    Dimensions are numbers or the file's own symbols; constants are folded, Gather and Slice
    pick, Concat joins, products of symbols are written ``batch·12``. What cannot be told is
    ``?``. At most 500 nodes are looked at.
    """
    return _describe(value, 0)


def _describe(value: Value, depth: int) -> str:
    known = ShapeValues().of(value)
    if known is None:
        return _describe_unknown(value, depth)
    if isinstance(known, tuple):
        return f"[{', '.join(map(str, known))}]"
    return str(known)


def _describe_unknown(value: Value, depth: int) -> str:
    producer = value.producer
    if (
        depth < _MOST_RANGES
        and producer is not None
        and producer.op_type == "Range"
        and len(producer.inputs) == 3
    ):
        start, end = (
            _describe(operand, depth + 1) if operand is not None else UNKNOWN
            for operand in producer.inputs[:2]
        )
        if len(start) + len(end) <= _MOST_TEXT:
            return f"{start} … {end}"
    rank = _length(value)
    return f"[{', '.join([UNKNOWN] * rank)}]" if rank is not None else UNKNOWN


def _length(value: Value) -> int | None:
    """Return how many elements a list has by its stated type."""
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    if shape is None or len(shape) != 1:
        return None
    length = shape[0].value
    return length if isinstance(length, int) and 0 <= length <= _MOST_ELEMENTS else None


class ShapeValues:
    """Evaluates values from the inside out, each once, with a bound on depth and work."""

    def __init__(self) -> None:
        self._known: dict[Value, Known] = {}
        self._steps = 0

    def of(self, value: Value | None, depth: int = 0) -> Known:
        """Return what a value is; None where nothing is known."""
        if value is None:
            return None
        if value in self._known:
            return self._known[value]
        self._steps = self._steps + 1 if depth else 1
        if depth > _MOST_DEPTH or self._steps > _MOST_STEPS:
            return None
        self._known[value] = None  # for a value in a cycle
        tensor = constant_tensor(value)
        node = value.producer
        if tensor is not None and not isinstance(tensor, SparseTensor):
            found = _read(tensor)
        elif node is None or value.output_index != 0:
            found = None
        else:
            found = self._apply(node, depth)
        if isinstance(found, tuple) and len(found) > _MOST_ELEMENTS:
            found = None
        self._known[value] = found
        return found

    def _apply(self, node: Node, depth: int) -> Known:
        if node.op_type == "Shape":
            return _read_shape(node)
        if node.op_type == "Size":
            dims = _read_shape(node, whole=True)
            return _product(dims) if isinstance(dims, tuple) else None
        if node.op_type == "Constant":
            return _read_constant(node)
        operands = [self.of(value, depth + 1) for value in node.inputs]
        pairwise = _PAIRWISE.get(node.op_type)
        if pairwise is not None:
            result = operands[0] if operands else None
            for operand in operands[1:]:
                result = _broadcast(pairwise, result, operand)
            return result
        function = _FUNCTIONS.get(node.op_type)
        return function(node, operands) if function is not None and operands else None


def _read(tensor: object) -> Known:
    size, dims = getattr(tensor, "size", None), getattr(tensor, "dims", ())
    if not isinstance(size, int) or size > _MOST_ELEMENTS or len(dims) > 1:
        return None
    try:
        array = np.asarray(tensor.numpy())  # type: ignore[attr-defined] # a Tensor, by the caller
    except NetloupeError:
        return None
    if array.dtype.kind not in "iub" and not (
        array.dtype.kind == "f" and np.all(np.isfinite(array)) and np.all(array == np.floor(array))
    ):
        return None
    numbers = tuple(int(number) for number in array.ravel())
    return numbers if array.ndim else numbers[0]


def _read_constant(node: Node) -> Known:
    for attribute in node.attributes.values():
        content = attribute.value
        if isinstance(content, int):
            return content
        if isinstance(content, tuple) and all(isinstance(entry, int) for entry in content):
            return content
    return None


def _read_shape(node: Node, *, whole: bool = False) -> Known:
    operand = node.input(0)
    stated = operand.type if operand is not None else None
    if not isinstance(stated, TensorType) or stated.shape is None:
        return None
    dims = tuple(
        UNKNOWN if dim.value is None or dim.value == "" else dim.value for dim in stated.shape
    )
    if whole:
        return dims
    limits = [_attribute(node, name) for name in ("start", "end")]
    return dims[limits[0] : limits[1]]


def _attribute(node: Node, name: str) -> int | None:
    attribute = node.attributes.get(name)
    return attribute.value if attribute is not None and isinstance(attribute.value, int) else None


def _broadcast(function: Callable[[Element, Element], Element], left: Known, right: Known) -> Known:
    if left is None or right is None:
        return None
    if not isinstance(left, tuple) and not isinstance(right, tuple):
        return function(left, right)
    first = left if isinstance(left, tuple) else (left,)
    second = right if isinstance(right, tuple) else (right,)
    length = max(len(first), len(second))
    if len(first) not in (1, length) or len(second) not in (1, length):
        return None
    first, second = first * (length // max(1, len(first))), second * (length // max(1, len(second)))
    return tuple(function(one, other) for one, other in zip(first, second, strict=True))


def _bound(element: Element) -> Element:
    if isinstance(element, int):
        return element if abs(element) <= _MOST_NUMBER else UNKNOWN
    return element if len(element) <= _MOST_TEXT else UNKNOWN


def _in_product(element: Element) -> str:
    text = str(element)
    return f"({text})" if " " in text else text


def _multiply(left: Element, right: Element) -> Element:
    if isinstance(left, int) and isinstance(right, int):
        return _bound(left * right)
    if UNKNOWN in (left, right):
        return UNKNOWN
    if isinstance(left, int):
        left, right = right, left
    if right in (0, 1):
        return left if right else 0
    return _bound(f"{_in_product(left)}·{_in_product(right)}")


def _divide(left: Element, right: Element) -> Element:
    if isinstance(left, int) and isinstance(right, int):
        return int(left / right) if right and abs(left) < 2**50 else UNKNOWN
    if UNKNOWN in (left, right):
        return UNKNOWN
    if right == 1:
        return left
    return 1 if left == right else _bound(f"{_in_product(left)} / {_in_product(right)}")


def _add(left: Element, right: Element) -> Element:
    if isinstance(left, int) and isinstance(right, int):
        return _bound(left + right)
    if UNKNOWN in (left, right):
        return UNKNOWN
    if isinstance(left, int):
        left, right = right, left
    if isinstance(right, int) and right <= 0:
        return _bound(f"{left} - {-right}") if right else left
    return _bound(f"{left} + {right}")


def _subtract(left: Element, right: Element) -> Element:
    if isinstance(right, int):
        return _add(left, -right)
    if UNKNOWN in (left, right):
        return UNKNOWN
    return 0 if left == right else _bound(f"{left} - {_in_product(right)}")


def _modulo(left: Element, right: Element) -> Element:
    if isinstance(left, int) and isinstance(right, int):
        return left % right if right else UNKNOWN
    return (
        UNKNOWN
        if UNKNOWN in (left, right)
        else _bound(f"{_in_product(left)} mod {_in_product(right)}")
    )


def _equal(left: Element, right: Element) -> Element:
    if left == right and left != UNKNOWN:
        return 1
    if isinstance(left, int) and isinstance(right, int):
        return 0
    # a symbol is the size of something: never negative
    return 0 if any(isinstance(side, int) and side < 0 for side in (left, right)) else UNKNOWN


def _choose(name: str, choose: Callable[..., int]) -> Callable[[Element, Element], Element]:
    def function(left: Element, right: Element) -> Element:
        if isinstance(left, int) and isinstance(right, int):
            return choose(left, right)
        if UNKNOWN in (left, right):
            return UNKNOWN
        return left if left == right else _bound(f"{name}({left}, {right})")

    return function


def _product(elements: tuple[Element, ...]) -> Element:
    result: Element = 1
    for element in elements:
        result = _multiply(result, element)
    return result


def _same(node: Node, operands: list[Known]) -> Known:
    return operands[0]


def _to_list(node: Node, operands: list[Known]) -> Known:
    known = operands[0]
    return known if known is None or isinstance(known, tuple) else (known,)


def _to_scalar(node: Node, operands: list[Known]) -> Known:
    known = operands[0]
    return known[0] if isinstance(known, tuple) and len(known) == 1 else known


def _reshape(node: Node, operands: list[Known]) -> Known:
    target = operands[1] if len(operands) > 1 else None
    if target == ():
        return _to_scalar(node, operands)
    return _to_list(node, operands) if isinstance(target, tuple) and len(target) == 1 else None


def _concat(node: Node, operands: list[Known]) -> Known:
    joined: list[Element] = []
    for known, value in zip(operands, node.inputs, strict=True):
        if isinstance(known, tuple):
            joined.extend(known)
            continue
        length = _length(value) if value is not None else None
        if length is None:
            return None
        joined.extend([UNKNOWN] * length)
    return tuple(joined)


def _gather(node: Node, operands: list[Known]) -> Known:
    known, indexes = [*operands, None][:2]
    if not isinstance(known, tuple) or _attribute(node, "axis") not in (None, 0):
        # one of a list of which nothing is known
        return UNKNOWN if isinstance(indexes, int) else None
    wanted = indexes if isinstance(indexes, tuple) else (indexes,)
    picked = [
        known[index] if isinstance(index, int) and -len(known) <= index < len(known) else UNKNOWN
        for index in wanted
    ]
    return tuple(picked) if isinstance(indexes, tuple) else picked[0]


def _slice(node: Node, operands: list[Known]) -> Known:
    known = operands[0]
    limits = []
    for operand in (operands + [None] * 4)[1:5]:
        limit = operand[0] if isinstance(operand, tuple) and len(operand) == 1 else operand
        limits.append(limit if isinstance(limit, int) else None)
    if not isinstance(known, tuple) or len(operands) < 3 or None in limits[:2]:
        return None
    if limits[2] not in (None, 0, -1) or limits[3] == 0:
        return None
    return known[limits[0] : limits[1] : limits[3]]


def _where(node: Node, operands: list[Known]) -> Known:
    if len(operands) != 3:
        return None
    condition, chosen, other = operands
    sides = _broadcast(lambda left, right: left if left == right else UNKNOWN, chosen, other)
    if condition is None or chosen is None or other is None or sides is None:
        return sides
    length = max(
        len(side) if isinstance(side, tuple) else 1 for side in operands if side is not None
    )
    rows = [_repeat(side, length) for side in (condition, chosen, other, sides)]
    picked = tuple(
        {0: no, 1: yes}.get(flag, both) if isinstance(flag, int) else both
        for flag, yes, no, both in zip(*rows, strict=True)
    )
    return picked if any(isinstance(side, tuple) for side in operands) else picked[0]


def _repeat(known: Element | tuple[Element, ...], length: int) -> tuple[Element, ...]:
    elements = known if isinstance(known, tuple) else (known,)
    return elements * length if len(elements) == 1 else elements


def _fill(node: Node, operands: list[Known]) -> Known:
    dims = operands[0]
    attribute = node.attributes.get("value")
    fill = _read(attribute.value) if attribute is not None else 0
    element = fill[0] if isinstance(fill, tuple) and fill else fill
    if not isinstance(dims, tuple) or not isinstance(element, int):
        return None
    if not dims:
        return element
    length = dims[0]
    if len(dims) != 1 or not isinstance(length, int) or not 0 <= length <= _MOST_ELEMENTS:
        return None
    return (element,) * length


def _multiply_all(node: Node, operands: list[Known]) -> Known:
    known = operands[0]
    if not isinstance(known, tuple):
        return known
    result = _product(known)
    return result if _attribute(node, "keepdims") == 0 else (result,)


_PAIRWISE: dict[str, Callable[[Element, Element], Element]] = {
    "Add": _add,
    "Div": _divide,
    "Equal": _equal,
    "Max": _choose("max", max),
    "Min": _choose("min", min),
    "Mod": _modulo,
    "Mul": _multiply,
    "Sub": _subtract,
}
_FUNCTIONS: dict[str, Callable[[Node, list[Known]], Known]] = {
    "Cast": _same,
    "Ceil": _same,
    "Concat": _concat,
    "ConstantOfShape": _fill,
    "Floor": _same,
    "Gather": _gather,
    "Identity": _same,
    "ReduceProd": _multiply_all,
    "Reshape": _reshape,
    "Slice": _slice,
    "Squeeze": _to_scalar,
    "Unsqueeze": _to_list,
    "Where": _where,
}
