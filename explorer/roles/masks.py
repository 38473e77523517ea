"""Masks and biases of the scores of an attention, and what is certain of them."""

from __future__ import annotations

from math import prod

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Node, Tensor, TensorType, Value, constant_tensor

from .input_independence import is_input_independent
from .origins import find_origin
from .position_indices import COUNTING_OPERATORS, comes_from_range_or_cumsum, is_shifted_range
from .preparation_pieces import PreparationNodes, PreparationUse, Purpose, list_places
from .unlearned import LAYOUT

_COMPARISONS = frozenset({"Greater", "GreaterOrEqual", "Less", "LessOrEqual"})
#: a mask is made with one of these
_CHOOSING = _COMPARISONS | {"And", "Equal", "Not", "Or", "Trilu", "Where"}
#: what may stand between a mask and the Softmax over the scores
_SCORING = frozenset(
    {"Add", "And", "Cast", "Clip", "Concat", "DequantizeLinear", "Div", "Expand", "IsNaN", "Max"}
    | {"Min", "Mul", "QLinearAdd", "QuantizeLinear", "Reshape", "Slice", "Sub", "Unsqueeze"}
    | {"Where"}
)
_SOFTMAX = frozenset({"QLinearSoftmax", "Softmax"})
#: by domain and fused operator, the inputs that are masks or biases of the scores
_MASKS = {
    ("", "Attention"): {3},
    ("com.microsoft", "Attention"): {3, 5},
    ("com.microsoft", "EmbedLayerNormalization"): {7},
    ("com.microsoft", "GroupQueryAttention"): {10},
    ("com.microsoft", "MultiHeadAttention"): {4, 5},
    ("com.microsoft", "QAttention"): {5},
}
_MOST_STEPS = 16
_MOST_LOOKED = 40
_MOST_USES = 200


def find_mask(piece: PreparationNodes) -> Purpose | None:
    """Return whether a piece makes a mask, or ALiBi, for the scores of an attention."""
    if not piece.uses or not all(_masks_scores(use) for use in piece.uses[:_MOST_USES]):
        return None
    has_slopes = any(map(_multiplies_by_slopes, piece.nodes))
    # 1 - mask, times a large negative number
    is_inverted = {"Mul", "Sub"} <= piece.kinds and not piece.kinds & COUNTING_OPERATORS
    if not piece.kinds & _CHOOSING and not is_inverted:
        return Purpose("ALiBi") if has_slopes else None
    return Purpose("attention mask", (*list_mask_facts(piece), *["ALiBi"] * has_slopes))


def _multiplies_by_slopes(node: Node) -> bool:
    """Return whether a node multiplies positions by several constants, one for each head."""
    if node.op_type != "Mul" or len(node.inputs) != 2:
        return False
    for slopes, positions in (node.inputs, node.inputs[::-1]):
        if slopes is None or positions is None or not is_input_independent(slopes):
            continue
        origin = find_origin(slopes)
        dims = origin.dims if origin is not None else None
        if dims is not None and None not in dims and prod(filter(None, dims)) > 1:
            return not is_input_independent(positions) and comes_from_range_or_cumsum(positions)
    return False


def _masks_scores(use: PreparationUse) -> bool:
    """Return whether a use adds a value to the scores of an attention, or chooses among them."""
    masks = _MASKS.get((use.user.domain, use.user.op_type))
    if masks is not None:
        return list_places(use) <= masks
    pending = [use.user]
    seen: set[Node] = set()
    while pending and len(seen) < _MOST_LOOKED:
        node = pending.pop()
        if node.op_type in _SOFTMAX:
            return True
        if node in seen or node.op_type not in _SCORING:
            continue
        seen.add(node)
        pending += [user for value in node.outputs if value is not None for user in value.users]
    return False


def list_mask_facts(piece: PreparationNodes) -> tuple[str, ...]:
    """Return what is certain of a mask: ``causal``, ``window 128``, ``padding``."""
    offsets = [
        offset
        for node in piece.nodes
        if node.op_type in _COMPARISONS and (offset := _read_band(node)) is not None
    ]
    facts = []
    if "Trilu" in piece.kinds or any(abs(offset) <= 1 for offset in offsets):
        facts.append("causal")
    facts += [f"window {abs(offset):,}" for offset in offsets if abs(offset) > 1][:1]
    if any(_tells_padding(piece, value) for value in piece.list_inputs()):
        facts.append("padding")
    return tuple(facts)


def _read_band(node: Node) -> int | None:
    """Return by how much positions may differ where a node compares them; None for all else."""
    if len(node.inputs) != 2:
        return None
    first, second = (_read_offset(value) for value in node.inputs)
    if first is None or second is None or node.input(0) is node.input(1):
        return None
    return first - second


def _read_offset(value: Value | None) -> int | None:
    """Return what is added to positions that Range counts; None where these are none.

    What is known only when the model runs, such as the length of a cache, shifts the whole.
    """
    offset = 0
    for _ in range(_MOST_STEPS):
        node = value.producer if value is not None else None
        if node is None:
            return None
        if node.op_type == "Range":
            return offset
        if node.op_type in ("Add", "Sub") and len(node.inputs) == 2:
            ranges = [v for v in node.inputs if is_shifted_range(v)]
            if len(ranges) != 1 or (node.op_type == "Sub" and ranges[0] is not node.input(0)):
                return None
            other = node.input(1) if ranges[0] is node.input(0) else node.input(0)
            if other is not None and is_input_independent(other):
                added = _read_scalar(other)
                if added is None:
                    return None
                offset += added if node.op_type == "Add" else -added
            value = ranges[0]
        elif node.op_type in LAYOUT - {"Concat"}:
            value = node.input(0)
        else:
            return None
    return None


def _read_scalar(value: Value) -> int | None:
    tensor = constant_tensor(value)
    if not isinstance(tensor, Tensor) or tensor.size != 1 or not tensor.dtype.is_integer:
        return None
    try:
        return int(tensor.numpy().ravel()[0])
    except NetloupeError:
        return None


def _tells_padding(piece: PreparationNodes, value: Value) -> bool:
    """Return whether the elements of an input of two axes tell which places are left out.

    Positions that are given from outside and compared with counted ones do not.
    """
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    if shape is None or len(shape) != 2:
        return False
    given = {use.value for use in piece.uses}
    pending = [value]
    seen: set[Value] = set()
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        if current in given:
            return True
        for user in current.users:
            if user not in piece.inside or user.operator.has("reads_shape"):
                continue
            if user.op_type in _COMPARISONS and any(map(is_shifted_range, user.inputs)):
                continue
            pending += [result for result in user.outputs if result is not None]
    return False
