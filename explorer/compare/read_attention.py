"""How many heads an attention has and how its scores are scaled, as one operator or written out.

Sources: onnx/docs/Operators.md: Attention; ContribOperators.md of ONNX Runtime: Attention,
GroupQueryAttention, MultiHeadAttention. A. Vaswani and others, Attention Is All You Need, 2017.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.dataflow import find_giver
from netloupe.explorer.model import Node, Value
from netloupe.explorer.operators import HANDING_TRAITS, Operator, find_default, find_schema

from .changes import Change
from .operator_versions import read_short_operand
from .pair import Pair
from .passed_values import read_numeric_attribute
from .read_norms import read_one_float
from .written_out import find_dims

_RUNTIME = "com.microsoft"
#: what the scores are multiplied by on the way from a product to a softmax
_SCALING = ("divides", "multiplies_elements")
#: so many nodes are followed from a softmax or a mask
_MOST_FOLLOWED = 64
#: where one of these is on the way to a mask, or a table of numbers, it may hide what is behind
_MAY_BE_CAUSAL = (
    *("accumulates", "compares", "control_flow", "counts", "fills", "masks", "reads_shape"),
)
#: what rotates queries and keys by their positions
_ROTATING = ("joins", "negates", "rotates", "slices", "splits")
_MASKED = -1e4
_NEAR, _NEAR_IN_HALF = 1e-4, 1e-2


class _Attention(NamedTuple):
    """What an attention says of itself; None for what cannot be told."""

    heads: int | None
    scale: float | None
    is_causal: bool | None
    is_rotated: bool | None
    masked: float | None
    is_half: bool = False


def compare_attention(pair: Pair) -> Iterator[Change]:
    """Yield in what two attentions differ, of which either may be written out as several nodes.

    What cannot be read of one that is written out, as whether a mask that is calculated hides what
    is behind, is left out.
    """
    if not any(_attends(node) for node in (*pair.left, *pair.right)):
        return
    one, other = _read(pair.left), _read(pair.right)
    if one is None or other is None:
        return
    near = _NEAR_IN_HALF if one.is_half or other.is_half else _NEAR
    for name, first, second in (
        ("number of heads", one.heads, other.heads),
        ("scale of scores", one.scale, other.scale),
        ("causal mask", one.is_causal, other.is_causal),
        ("rotary embedding", one.is_rotated, other.is_rotated),
        ("value of masked scores", one.masked, other.masked),
    ):
        if first is None or second is None or math.isclose(first, second, rel_tol=near):
            continue
        yield Change(name, _show(first), _show(second))


def _show(value: float) -> object:
    return ("yes" if value else "no") if isinstance(value, bool) else value


def _read(nodes: tuple[Node, ...]) -> _Attention | None:
    heads = [node for node in nodes if _attends(node) and node.function is None]
    if len(heads) == 1:
        return _read_operator(heads[0])
    softmaxes = [node for node in nodes if node.operator.form == "Softmax"]
    if heads or len(softmaxes) != 1:
        return None
    return _read_written_out(softmaxes[0], nodes)


def _attends(node: Node) -> bool:
    return node.operator.has("attends") and not node.operator.has("attends_linearly")


# operators


def _read_operator(node: Node) -> _Attention:
    is_runtime = node.domain == _RUNTIME
    heads = _read_number(node, "num_heads" if is_runtime else "q_num_heads")
    dims = find_dims(node, 0)
    if heads is None and not is_runtime and dims is not None and len(dims) == 4:
        heads = dims[1] if isinstance(dims[1], int) else None
    scale = _read_number(node, "scale")
    if scale is None or (is_runtime and scale == 0):
        size = _find_head_size(node, heads)
        scale = None if size is None else 1 / math.sqrt(size)
    causal = [_read_number(node, name) for name in ("unidirectional", "causal", "is_causal")]
    masked = _read_number(node, "mask_filter_value")
    return _Attention(
        int(heads) if heads is not None else None,
        scale,
        None if not {*causal} - {None} else any(causal),
        bool(_read_number(node, "do_rotary")) if is_runtime else None,
        masked if masked is not None or not is_runtime else _MASKED,
    )


def _read_number(node: Node, name: str) -> float | None:
    stated = node.attributes.get(name)
    if stated is not None:
        value: object = None if stated.reference else stated.value
    else:
        schema = find_schema(node.domain, node.op_type, node.opset_version)
        value = None if schema is None else find_default(schema, name)
    return value if isinstance(value, int | float) else None


def _find_head_size(node: Node, heads: float | None) -> float | None:
    """Return how many numbers a head has of each query; None where it is not known."""
    if not heads:
        return None
    if node.operator.weight_kind == "attention":
        sizes = node.attributes.get("qkv_hidden_sizes")
        dims = find_dims(node, 1)
        if sizes is not None or dims is None or len(dims) != 2 or not isinstance(dims[1], int):
            return None
        return dims[1] / 3 / heads
    dims = find_dims(node, 0)
    if dims is None or not isinstance(dims[-1], int):
        return None
    is_packed = len(node.inputs) < 3 or node.input(1) is None or node.input(2) is None
    if len(dims) == 4 and node.domain != _RUNTIME:
        return dims[-1]
    return None if is_packed or len(dims) != 3 else dims[-1] / heads


# written out


def _read_written_out(softmax: Node, nodes: tuple[Node, ...]) -> _Attention:
    scale: float | None = 1.0
    is_half, masks = False, []
    value, product = softmax.input(0), None
    for _ in range(_MOST_FOLLOWED):
        node = None if value is None else value.producer
        if node is None or node not in nodes:
            break
        if node.operator.has("multiplies"):
            product = node
            break
        if _masks(node.operator):
            ways = [one for one in node.inputs if _leads_to_product(one, nodes)]
            masks += [one for one in node.inputs if one not in ways]
            value = ways[0] if len(ways) == 1 else None
        elif node.operator.has(*_SCALING):
            value, scale, half = _unscale(node, scale)
            is_half = is_half or half
        else:
            value = node.input(0) if node.operator.has(*HANDING_TRAITS) else None
    alpha = read_numeric_attribute(product, "alpha") if product is not None else None
    scale = scale if scale is None or alpha is None else scale * alpha
    for operand in product.inputs if product is not None else ():
        scale, half = _scale_operand(operand, nodes, scale)
        is_half = is_half or half
    masked = [number for mask in masks if (number := _find_masked(mask)) is not None]
    return _Attention(
        _find_heads(nodes),
        scale if product is not None else None,
        _is_causal(masks) if product is not None else None,
        False if not any(node.operator.has(*_ROTATING) for node in nodes) else None,
        masked[0] if len(masked) == 1 else None,
        is_half,
    )


def _masks(operator: Operator) -> bool:
    return operator.has("adds") or operator.form == "Where"


def _leads_to_product(value: Value | None, nodes: tuple[Node, ...]) -> bool:
    for _ in range(_MOST_FOLLOWED):
        node = None if value is None else value.producer
        if node is None or node not in nodes:
            return False
        if node.operator.has("multiplies"):
            return True
        operands = [one for one in node.inputs if one is not None and read_one_float(one) is None]
        is_on_way = node.operator.has(*_SCALING, *HANDING_TRAITS) or _masks(node.operator)
        if not is_on_way or not operands:
            return False
        value = operands[0]
    return False


def _unscale(node: Node, scale: float | None) -> tuple[Value | None, float | None, bool]:
    """Return what is scaled by a number, the scale with that, and whether it is in 16 bits."""
    is_product = node.operator.has("multiplies_elements")
    for place in (1, 0) if is_product else (1,):
        number = read_one_float(node.inputs[place]) if len(node.inputs) == 2 else None
        if number is not None and number[0]:
            factor = number[0] if is_product else 1 / number[0]
            return node.inputs[1 - place], None if scale is None else scale * factor, number[1]
    return node.input(0), None, False


def _scale_operand(
    value: Value | None, nodes: tuple[Node, ...], scale: float | None
) -> tuple[float | None, bool]:
    """Return a scale with those of queries or keys before they are multiplied."""
    is_half = False
    for _ in range(_MOST_FOLLOWED):
        node = None if value is None else value.producer
        if node is None or node not in nodes:
            break
        if node.operator.has(*_SCALING):
            value, scale, half = _unscale(node, scale)
            is_half = is_half or half
        elif node.operator.has(*HANDING_TRAITS):
            value = node.input(0)
        elif node.operator.has("adds", "multiplies"):
            break
        else:
            return None, is_half  # what else is done may scale as well
    return scale, is_half


def _find_heads(nodes: tuple[Node, ...]) -> int | None:
    """Return how many heads rows are divided into, by the shapes that are stored for it."""
    found: set[object] = set()
    for node in nodes:
        shape = node.input(1) if node.operator.form == "Reshape" else None
        sizes = None if shape is None else read_short_operand(shape)
        if isinstance(sizes, tuple) and len(sizes) == 4:
            found.add(sizes[2])
    heads = found.pop() if len(found) == 1 else None
    return heads if isinstance(heads, int) and heads > 0 else None


def _is_causal(masks: list[Value | None]) -> bool | None:
    """Return whether masks hide what is behind: not where none can; None where one may."""
    pending, seen = [*masks], set[Value]()
    while pending:
        value = pending.pop()
        if value is None or value in seen:
            continue
        seen.add(value)
        node = value.producer
        if len(seen) > _MOST_FOLLOWED:
            return None
        if node is not None and (
            node.operator.has(*_MAY_BE_CAUSAL) or node.operator.form == "Where"
        ):
            return None
        if node is not None:
            pending += node.inputs
        elif value.initializer is not None and value.initializer.size > 1:
            if len(value.initializer.dims) > 1:  # a table
                return None
        elif value.initializer is None and _count_rows(value) != 1:
            return None
    return False


def _count_rows(value: Value) -> object:
    """Return how many rows a mask has that is given: one is the same for all queries."""
    shape = getattr(value.type, "shape", None)
    if shape is None:
        return None
    return 1 if len(shape) <= 2 else shape[-2].value


def _find_masked(value: Value | None) -> float | None:
    """Return what a mask of 0 and 1 is multiplied by on its way; None where that is not known."""
    through = (*HANDING_TRAITS, "repeats")
    node = find_giver(value, "multiplies_elements", through=through, most=_MOST_FOLLOWED)
    found = map(read_one_float, node.inputs if node is not None else ())
    numbers = [number for number in found if number is not None]
    return numbers[0][0] if len(numbers) == 1 else None
