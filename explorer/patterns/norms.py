"""Normalizations, as operators and as they are written out."""

from __future__ import annotations

import math
from collections.abc import Iterator

from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count

from .details import NormDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_int, read_scalar
from .weight_sizes import read_dims, read_width
from .written_norms import add_scale, find_measured, find_written_norm, is_square

#: operators that normalize, and what the field calls that
NORMS = {
    "BatchNormalization": "BatchNorm",
    "GroupNorm": "GroupNorm",
    "GroupNormalization": "GroupNorm",
    "InstanceNormalization": "InstanceNorm",
    "LayerNormalization": "LayerNorm",
    "LRN": "Local response norm",
    "LpNormalization": "L2 normalize",
    "MeanVarianceNormalization": "InstanceNorm",
    "RMSNormalization": "RMSNorm",
    "SkipLayerNormalization": "Residual sum + LayerNorm",
    "SkipSimplifiedLayerNormalization": "Residual sum + RMSNorm",
}
#: a normalized value is multiplied by a scale and by a root
_MOST_FACTORS = 2
_HALF = 0.5
_ROUNDING = 1e-4


def find_norms(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find normalizations.

    Written out, x / √(mean(x²) + ε) is RMSNorm (B. Zhang and R. Sennrich, Root Mean Square Layer
    Normalization, 2019, equation 4), and the same over x - mean(x) LayerNorm (J. Ba and others,
    2016, equation 3); both with scale, the latter with shift. InstanceNormalization over
    channels that are put into groups is GroupNorm (Y. Wu and K. He, 2018, figure 3), which has no
    operator before opset 18. x / max(‖x‖₂, ε) is L2 normalization, and RMSNorm where √d and a scale
    of the d features multiply it, or ‖x‖₂ is divided by √d.
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        if kind in NORMS:
            yield _read_operator(operations, number)
        elif kind == "Sqrt" or (kind == "Pow" and operations.scalar(number) in (0.5, -0.5)):
            found = find_written_norm(operations, number)
            if found is not None:
                yield found
        elif kind == "Mul":
            found = _find_affine(operations, number)
            if found is not None:
                yield found
        elif kind in ("ReduceL2", "ReduceSum", "ReduceSumSquare"):
            found = _find_l2(operations, number)
            if found is not None:
                yield found


def _read_operator(operations: Operations, number: int) -> FoundBlock:
    node = operations.nodes[number]
    name = NORMS[operations.kinds[number]]
    if node.op_type == "LpNormalization" and read_int(node, "p") == 1:
        name = "L1 normalize"
    numbers, end = {number}, number
    weights = [value for value in operations.fixed(number) if read_width(value) > 1]
    width = read_width(weights[0]) if weights else 0
    groups = read_int(node, "num_groups") or read_int(node, "groups") or read_int(node, "group")
    first = node.input(0)
    if operations.kinds[number] == "InstanceNormalization":
        if "Reshape" in {arranging.op_type for arranging in operations.path(first)}:
            name, groups = "GroupNorm", width
            end, width = add_scale(operations, number, numbers, ["Mul", "Add"])
    elif operations.kinds[number] == "BatchNormalization":  # Caffe scales and shifts apart
        measured = find_measured(operations, number)
        if measured and "Reshape" in {one.op_type for one in operations.path(first)}:
            numbers |= measured  # each row is a channel, with its own mean
            name = "LayerNorm"
        end, scaled = add_scale(operations, number, numbers, ["Mul", "Add"])
        width, groups = width or scaled, None
    elif not name.startswith("GroupNorm"):
        groups = None
    facts = [write_count(groups, "group")] if groups else []
    details = NormDetails(groups=groups or None, width=width if width > 1 else None)
    return FoundBlock("norm", name, frozenset(numbers), end, tuple(facts), details)


def _find_affine(operations: Operations, number: int) -> FoundBlock | None:
    """Find a scale and a shift of channels: a BatchNorm whose statistics are fixed."""
    shift = operations.only_user(number)
    if shift is None or operations.kinds[shift] != "Add":
        return None
    for each in (number, shift):
        constants = operations.fixed(each)
        dims = read_dims(constants[0]) if len(constants) == 1 else ()
        if len(operations.operands[each]) != 1 or len(dims) < 3 or max(dims) == 1:
            return None
        if {*dims[-2:]} != {1}:
            return None
    return FoundBlock("norm", "Affine", frozenset({number, shift}), shift)


def _find_l2(operations: Operations, number: int) -> FoundBlock | None:
    """Find a division of a value by its Euclidean norm, which nothing else takes."""
    start = operations.operands[number]
    numbers = {number}
    user = operations.only_user(number)
    if operations.kinds[number] == "ReduceSum":
        square = _only_giver(operations, number)
        if square is None or not is_square(operations, square):
            return None
        start = operations.operands[square][:1]
        numbers.add(square)
    if operations.kinds[number] != "ReduceL2":
        user = _pass_least(operations, user, numbers)
        if user is None or not _is_root(operations, user):
            return None
        numbers.add(user)
        user = operations.only_user(user)
    root = 1.0
    if user is not None and operations.kinds[user] == "Mul":  # ‖x‖ · 1 / √d
        root = operations.scalar(user) or 0.0
        numbers.add(user)
        user = operations.only_user(user)
    user = _pass_least(operations, user, numbers)
    if user is None or operations.kinds[user] != "Div" or root <= 0:
        return None
    taken = operations.operands[user]
    if len(taken) != 2 or taken[0] is not start[0] or operations.giver(taken[1]) not in numbers:
        return None
    numbers.add(user)
    if not operations.is_closed(numbers, user):
        return None
    scaled = _find_root_mean_square(operations, user, 1 / root)
    if scaled is not None:
        factors, width = scaled
        numbers.update(factors)
        details = NormDetails(width=width)
        return FoundBlock("norm", "RMSNorm", frozenset(numbers), factors[-1], (), details)
    return FoundBlock("norm", "L2 normalize", frozenset(numbers), user) if root == 1 else None


def _find_root_mean_square(
    operations: Operations, division: int, root: float
) -> tuple[list[int], int] | None:
    """Return what multiplies a value of some length by √d and a scale of d features, and d.

    That is RMSNorm, for ‖x‖₂ is √d times the root mean square; what divides may have the root, too.
    """
    factors: list[int] = []
    width = 0
    user = operations.only_user(division)
    while user is not None and operations.kinds[user] == "Mul" and len(factors) < _MOST_FACTORS:
        stored = operations.fixed(user)
        if len(operations.operands[user]) != 1 or len(stored) != 1:
            break
        number = _read_number(stored[0])
        size = read_width(stored[0])
        if number is not None:
            root *= number
        elif size > 1 and not width:
            width = size
        else:
            break
        factors.append(user)
        user = operations.only_user(user)
    is_root = width > 0 and abs(root * root - width) < _ROUNDING * width
    return (factors, width) if is_root else None


def _read_number(value: Value) -> float | None:
    """Return the number that a constant is, or the root that a program takes of one."""
    known = read_scalar(value)
    node = value.producer
    if known is not None or node is None or node.operator.form not in ("Pow", "Sqrt"):
        return known
    base = read_scalar(node.input(0))
    power = read_scalar(node.input(1)) if node.operator.form == "Pow" else _HALF
    return math.sqrt(base) if base is not None and base > 0 and power == _HALF else None


def _is_root(operations: Operations, number: int) -> bool:
    kind = operations.kinds[number]
    return kind == "Sqrt" or (kind == "Pow" and operations.scalar(number) == 0.5)


def _pass_least(operations: Operations, user: int | None, numbers: set[int]) -> int | None:
    """Go on behind what keeps a norm from 0; it is added."""
    if user is not None and operations.kinds[user] in ("Add", "Clip", "Max"):
        if len(operations.operands[user]) != 1:
            return None
        numbers.add(user)
        return operations.only_user(user)
    return user


def _only_giver(operations: Operations, number: int) -> int | None:
    operands = operations.operands[number]
    if len(operands) == 1 or (len(operands) == 2 and operands[0] is operands[1]):
        return operations.giver(operands[0])
    return None
