"""Tokens that are mixed with the ones before them: a recurrence without attention."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.constant import constant_tensor

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .picked_parts import read_parts
from .readings import read_int, read_ints, read_numbers
from .shifted_channels import TOKEN_SHIFT
from .whole_groups import make_whole_block

_LEAST_SHIFTS = 2
#: of what has so many the gate may be a projection without a sigmoid
_MANY_SHIFTS = 4
#: what mixes the channels of a token that was shifted, without a gate
_PLAIN = frozenset({"token shift", "linear", "activation", "Mul", "Pow"})
#: a shift is a Pad, or a Slice and a Concat
_MOST_MOVING = 3


def find_shifts(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find each token mixed with the one before it, by a learned share.

    B. Peng and others, RWKV: Reinventing RNNs for the Transformer Era, 2023, equation 11; also as
    x + (before - x) · share, the difference of which may be taken for several shares (B. Peng and
    others, RWKV-7 "Goose", 2025, equation 3).
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Add" or len(taken) != 2 or blocks.owner[end] is not None:
            continue
        found = _find_step_to(blocks, end)
        if found:
            yield FoundBlock("token shift", TOKEN_SHIFT, frozenset(found), end)
            continue
        products = [operations.given_by(value, "Mul") for value in taken]
        one, other = products
        if one is None or other is None or one == other:
            continue
        if any(len(operations.operands[each]) != 1 for each in (one, other)):
            continue
        here, there = operations.operands[one][0], operations.operands[other][0]
        moving = _find_shift(operations, there, here) or _find_shift(operations, here, there)
        if moving:
            numbers = {one, other, end}
            for number in moving:
                if numbers.issuperset(operations.users[number]):
                    numbers.add(number)
            yield FoundBlock("token shift", TOKEN_SHIFT, frozenset(numbers), end)


def _find_step_to(blocks: FoundBlocks, end: int) -> set[int]:
    """Return what adds to a token a share of how the one before it differs; nothing if none."""
    operations = blocks.operations
    for here, step in (operations.operands[end], operations.operands[end][::-1]):
        product = operations.given_by(step, "Mul")
        differences = operations.operands[product] if product is not None else []
        for value in differences:
            difference = operations.given_by(value, "Sub")
            taken = operations.operands[difference] if difference is not None else []
            if product is None or difference is None or len(taken) != 2 or taken[1] is not here:
                continue
            numbers = {end, product}
            for number in (difference, *(moving := _find_shift(operations, taken[0], here))):
                if numbers.issuperset(operations.users[number]):
                    numbers.add(number)
            if moving and operations.only_user(product) == end:
                return numbers
    return set()


def _find_shift(operations: Operations, moved: Value, value: Value) -> list[int]:
    """Return what moves a value by places and puts something before it, if that gives another."""
    found: list[int] = []
    for _ in range(_MOST_MOVING):
        giver = operations.giver(moved)
        node = moved.producer
        if giver is None or node is None or not node.operator.has("pads", "joins", "picks"):
            return []
        if node.operator.has("pads") and _pads_features(node):
            return []
        if not node.operator.has("pads") and _rearranges_features(node):
            return []
        found.append(giver)
        taken = operations.operands[giver]
        if not taken:
            return []
        moved = taken[-1]
        if moved is value:
            return found
    return []


def _pads_features(node: Node) -> bool:
    """Return whether a Pad moves something along the last axis, on which features are."""
    tensor = constant_tensor(value) if (value := node.input(1)) is not None else None
    pads = [int(one) for one in read_numbers(tensor)] if tensor is not None else []
    pads = pads or [*read_ints(node, "pads")]
    rank = len(pads) // 2
    return rank > 1 and bool(pads[rank - 1] or pads[-1])


def _rearranges_features(node: Node) -> bool:
    """Return whether a Slice leaves places out, or it or a Concat is along the last axis."""
    dims = find_value_facts(node.graph.model).find_dims(node.output(0))
    last = (-1, len(dims) - 1) if dims is not None else (-1,)
    if node.operator.has("joins"):
        return read_int(node, "axis") in last
    return any(part.step != 1 or part.axis in last for part in read_parts(node))


def find_time_mixes(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the halves of a block that mixes tokens over time, and then channels.

    B. Peng and others, RWKV: Reinventing RNNs for the Transformer Era, 2023, figure 2: keys and
    values with weights that decay, in a sum or a state that goes along the sequence, gated; and
    a squared ReLU. Both are of shifted tokens.
    """
    operations = blocks.operations
    outline = [
        part
        for e in blocks.list_outermost()
        for part in (e.parts if isinstance(e, FoundBlock) and e.kind == "mlp" else (e,))
    ]
    kinds = [e.kind if isinstance(e, FoundBlock) else operations.kinds[e] for e in outline]
    shifts = kinds.count("token shift")
    linears = [e for e in outline if isinstance(e, FoundBlock) and e.kind == "linear"]
    linears.sort(key=lambda one: min(one.numbers))
    first = linears[0].facts if linears else ()
    is_summed = shifts >= _LEAST_SHIFTS and "Exp" in kinds and len(linears) >= _LEAST_SHIFTS
    is_gated = "gate" in kinds or shifts >= _MANY_SHIFTS
    if is_summed and is_gated and not _has_squared(operations):
        yield make_whole_block(blocks, "time mix", "Time mix", first)
        return
    # of RWKV-7 it has one shift, and no gate
    is_plain = shifts == 1 and {*kinds} <= _PLAIN and len(linears) == len(("key", "value"))
    is_gated = shifts >= _LEAST_SHIFTS and kinds.count("gate") == 1 and "Exp" not in kinds
    if (is_plain or is_gated) and linears and _has_squared(operations):
        yield make_whole_block(blocks, "channel mix", "Channel mix", first)


def _has_squared(operations: Operations) -> bool:
    """Return whether a ReLU is squared."""
    for number, kind in enumerate(operations.kinds):
        if kind != "Relu":
            continue
        user = operations.only_user(number)
        if user is None or user < 0:
            continue
        taken = operations.operands[user]
        is_power = operations.kinds[user] == "Pow" and operations.scalar(user) == 2.0
        if is_power or (operations.kinds[user] == "Mul" and taken[0] is taken[-1]):
            return True
    return False
