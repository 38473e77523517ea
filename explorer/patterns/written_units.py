"""Functions of features that exporters write out, and modules that make features of fewer."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Node, Value

from .convolutions import read_convolution
from .details import NormDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_axes, read_int
from .weight_sizes import read_type_dims, read_width

_BOTH = 2
_SQUARE = 2.0
_PARTING = ("picks", "splits", "slices", "gathers")


def find_snakes(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find x + sin²(a · x) / a, a stored for each channel.

    L. Ziyin and others, Neural Networks Fail to Learn Periodic Functions and How to Fix It, 2020,
    equation 3; as the activation of vocoders in S. Lee and others, BigVGAN, 2023, section 3.1.
    """
    operations = blocks.operations
    for sine, kind in enumerate(operations.kinds):
        if kind != "Sin" or len(operations.operands[sine]) != 1:
            continue
        angle = operations.given_by(operations.operands[sine][0], "Mul")
        if angle is None or operations.only_user(angle) != sine:
            continue
        if len(operations.operands[angle]) != 1:
            continue
        start = operations.operands[angle][0]
        numbers = {angle, sine}
        user = operations.only_user(sine)
        if user is None or not _is_square(operations, user):
            continue
        numbers.add(user)
        user = operations.only_user(user)
        if user is not None and operations.kinds[user] in ("Div", "Mul"):
            if len(operations.operands[user]) != 1:
                continue
            numbers.add(user)
            user = operations.only_user(user)
        if user is None or operations.kinds[user] != "Add" or blocks.owner[user] is not None:
            continue
        if start in operations.operands[user] and len(operations.operands[user]) == _BOTH:
            yield FoundBlock("activation", "Snake", frozenset({*numbers, user}), user)


def _is_square(operations: Operations, number: int) -> bool:
    taken = operations.operands[number]
    if operations.kinds[number] == "Pow":
        return operations.scalar(number) == _SQUARE
    return operations.kinds[number] == "Mul" and len(taken) == _BOTH and taken[0] is taken[1]


def find_response_norms(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find features times their lengths over all places, divided by the mean of these lengths.

    S. Woo and others, ConvNeXt V2, 2023, equations 1 to 3, with scale, shift and the sum with what
    it takes.
    """
    operations = blocks.operations
    for length, kind in enumerate(operations.kinds):
        if kind != "ReduceL2" or len(operations.operands[length]) != 1:
            continue
        start = operations.operands[length][0]
        division = next((u for u in operations.users[length] if _divides(operations, u)), None)
        if division is None:
            continue
        numbers = {length, division}
        value = operations.operands[division][1]
        for _ in range(_BOTH):
            number = operations.giver(value)
            if number is None or operations.kinds[number] not in ("Add", "ReduceMean"):
                break
            numbers.add(number)
            value = operations.operands[number][0]
        if operations.giver(value) != length or operations.operands[division][0] is not value:
            continue
        product = operations.only_user(division)
        if product is None or operations.kinds[product] != "Mul":
            continue
        if start not in operations.operands[product] or not operations.is_closed(numbers, division):
            continue
        numbers.add(product)
        end, width = _add_affine(operations, product, numbers)
        total = operations.only_user(end)
        is_sum = total is not None and operations.kinds[total] == "Add"
        if total is not None and is_sum and start in operations.operands[total]:
            numbers.add(total)
            end = total
        details = NormDetails(width=width if width > 1 else None)
        if read_axes(operations.nodes[length]) is not None:
            yield FoundBlock(
                "norm", "Global response norm", frozenset(numbers), end, details=details
            )


def _divides(operations: Operations, number: int) -> bool:
    is_quotient = number >= 0 and operations.kinds[number] == "Div"
    return is_quotient and len(operations.operands[number]) == _BOTH


def _add_affine(operations: Operations, end: int, numbers: set[int]) -> tuple[int, int]:
    """Take in a stored scale and shift behind an operation; return the last one, and the width."""
    width = 0
    for kind in ("Mul", "Add"):
        user = operations.only_user(end)
        if user is None or operations.kinds[user] != kind:
            break
        fixed = operations.fixed(user)
        if len(operations.operands[user]) != 1 or len(fixed) != 1:
            break
        width = read_width(fixed[0]) or width
        numbers.add(user)
        end = user
    return end, width


def find_ghosts(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find what a convolution gives beside what a depthwise one makes of it.

    K. Han and others, GhostNet: More Features from Cheap Operations, 2020, figure 1b.
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        taken = operations.operands[join]
        if not node.operator.has("joins") or len(taken) != _BOTH or blocks.owner[join]:
            continue
        first, cheap = (blocks.ending(operations.giver(value), "conv") for value in taken)
        if first is None or cheap is None or first is cheap:
            continue
        deep = (
            min(n for n in cheap.numbers if operations.kinds[n] == "Conv")
            if any(operations.kinds[n] == "Conv" for n in cheap.numbers)
            else None
        )
        if deep is None or operations.operands[deep][:1] != [taken[0]]:
            continue
        before, behind = first.details.in_out, cheap.details.in_out
        if not read_convolution(operations, deep).is_depthwise or before is None:
            continue
        numbers = frozenset({join, *first.numbers, *cheap.numbers})
        if not operations.is_closed({*numbers}, join) or behind is None:
            continue
        facts = (f"{before[0]:,} → {before[1] + behind[1]:,}",)
        yield FoundBlock("unit", "Ghost module", numbers, join, facts, parts=(first, cheap))


def find_partial_convolutions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a convolution of some channels that is put beside the others as they are.

    J. Chen and others, Run, Don't Walk: Chasing Higher FLOPS for Faster Neural Networks, 2023,
    section 3.2.
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        taken = operations.operands[join]
        if not node.operator.has("joins") or len(taken) != _BOTH or blocks.owner[join]:
            continue
        for value, rest in (taken, taken[::-1]):
            layer = blocks.ending(operations.giver(value), "conv")
            if layer is None or layer.parts or len(layer.numbers) != 1:
                continue
            part = operations.operands[layer.end][0]
            whole = _find_parted(operations, part)
            if whole is None or whole is not _find_parted(operations, rest) or part is rest:
                continue
            details = read_convolution(operations, layer.end)
            if max(details.kernel, default=1) == 1 or not details.in_features or details.stride:
                continue
            if not _joins_channels(node, operations.nodes[layer.end], details.out_features):
                continue
            splits = {n for v in (part, rest) if (n := operations.giver(v)) is not None}
            numbers = {join, layer.end, *splits}
            if operations.is_closed(numbers, join):
                facts = ("×".join(map(str, details.kernel)), f"{details.in_features:,} channels")
                yield FoundBlock(
                    "unit", "Partial convolution", frozenset(numbers), join, facts, parts=(layer,)
                )
                break


def _joins_channels(join: Node, convolution: Node, width: int | None) -> bool:
    """Return whether values are put together along the axis of a convolution's channels.

    Else they are places: a class token is put beside the others that were convolved (Y. Li and
    others, MViTv2, 2022, section 4.1).
    """
    axis = read_int(join, "axis")
    given = convolution.output(0)
    if axis is None:
        return False
    if given in join.inputs:
        return axis == 1 or axis == 1 - len(read_type_dims(given))
    dims = {read_type_dims(value) for value in join.inputs}
    rank = len(read_type_dims(given))
    if not rank or any(len(one) != rank for one in dims):
        return False
    return axis in (1, -1, rank - 1) and any(one[axis] == width for one in dims)


def _find_parted(operations: Operations, value: Value) -> Value | None:
    """Return the value of which another one is a part of the channels."""
    number = operations.giver(value)
    if number is None or not operations.nodes[number].operator.has(*_PARTING):
        return None
    return operations.operands[number][0] if operations.operands[number] else None
