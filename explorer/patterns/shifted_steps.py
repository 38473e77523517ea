"""Steps of a flow whose scale and shift a network gives for the token before each."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value
from netloupe.explorer.model.constant import constant_tensor

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .picked_parts import read_parts
from .readings import read_int, read_ints, read_numbers
from .walks import find_parted, leads_to

_BOTH = 2
_MOST_PADS = 16
#: so many nodes are looked at between a value and what a network makes of it
_MOST_OF_NETWORK = 10_000
#: what adds logarithms of scales up, and turns their sign
_ADDING_UP = ("ReduceMean", "ReduceSum")


def find_shifted_steps(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find (x - b) · exp(-a) or x · exp(a) + b, a and b being of the tokens before each.

    What is added up of a, for the determinant, is a part of the block.
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        if kind != "Exp" or blocks.owner[number] is not None:
            continue
        product = operations.only_user(number)
        if product is None or operations.kinds[product] not in ("Div", "Mul"):
            continue
        found = _read_step(operations, number, product)
        if found is None:
            continue
        numbers, end, value, whole = found
        moving = _find_moving(operations, whole)
        if not moving or any(blocks.owner[n] is not None for n in (*numbers, *moving)):
            continue
        start = operations.operands[moving[-1]][0]
        if not leads_to(operations, value, start, _MOST_OF_NETWORK):
            continue
        numbers |= {n for n in moving if {*numbers, *moving}.issuperset(operations.users[n])}
        name = "Autoregressive flow step"
        yield FoundBlock("coupling", name, frozenset(numbers), end)


def _read_step(
    operations: Operations, exponential: int, product: int
) -> tuple[set[int], int, Value, Value] | None:
    """Return the operations of a step, its end, what it moves, and of what its numbers are parts.

    What cuts these out is a part of it, also where logarithms of scales go on.
    """
    numbers = {exponential, product}
    scale = operations.operands[exponential][0]
    turned = operations.given_by(scale, "Mul", "Neg")
    if turned is not None and len(operations.operands[turned]) == 1:
        numbers.add(turned)
        scale = operations.operands[turned][0]
    others = [v for v in operations.operands[product] if operations.giver(v) != exponential]
    inner = operations.given_by(others[0], "Add", "Sub") if len(others) == 1 else None
    user = operations.only_user(product)
    if inner is not None and len(operations.operands[inner]) == _BOTH:
        total, end, taken = inner, product, operations.operands[inner]
    elif user is not None and operations.kinds[user] in ("Add", "Sub"):
        given = [v for v in operations.operands[user] if operations.giver(v) != product]
        total, end, taken = user, user, [*others, *given]
    else:
        return None
    whole = find_parted(operations, scale)
    shifts = [v for v in taken if whole is not None and find_parted(operations, v) is whole]
    values = [v for v in taken if v not in shifts]
    if len(taken) != _BOTH or len(shifts) != 1 or shifts[0] is scale or whole is None:
        return None
    cutting = {n for v in (scale, shifts[0]) if (n := operations.giver(v)) is not None}
    return numbers | cutting | {total, *_find_sums(operations, scale)}, end, values[0], whole


def _find_sums(operations: Operations, scale: Value) -> set[int]:
    """Return what adds up logarithms of scales, and turns the sign of their sum."""
    found: set[int] = set()
    giver = operations.giver(scale)
    for user in operations.users[giver] if giver is not None else ():
        if user < 0 or operations.kinds[user] not in _ADDING_UP:
            continue
        if operations.operands[user] != [scale]:
            continue
        found.add(user)
        turned = operations.only_user(user)
        if turned is not None and operations.kinds[turned] == "Neg":
            found.add(turned)
    return found


def _find_moving(operations: Operations, value: Value) -> list[int]:
    """Return what takes the last token off a value and puts zeros before the first; else nothing.

    That is a Slice and a Concat, or a Pad by less than nothing.
    """
    number = operations.giver(value)
    if number is None or len(operations.operands[number]) != 1:
        return []
    node = operations.nodes[number]
    if node.operator.has("pads"):
        pads = node.input(1)
        listed = constant_tensor(pads) if pads is not None else None
        sizes = [*read_numbers(listed, _MOST_PADS)] or [*read_ints(node, "pads")]
        rank = len(sizes) // 2
        moves = [axis for axis in range(rank) if sizes[axis] or sizes[axis + rank]]
        is_shift = len(moves) == 1 and sizes[moves[0]] == 1 == -sizes[moves[0] + rank]
        return [number] if is_shift else []
    if not node.operator.has("joins") or len(node.inputs) != _BOTH:
        return []
    cut = operations.giver(operations.operands[number][0])
    if not operations.is_fixed(node.input(0)) or cut is None:
        return []
    parts = (
        read_parts(operations.nodes[cut]) if operations.nodes[cut].operator.has("slices") else ()
    )
    if len(parts) != 1 or parts[0].start not in (0, None) or parts[0].is_to_end:
        return []
    axis = read_int(node, "axis")
    is_along = axis is None or parts[0].axis is None or axis < 0 or axis == parts[0].axis
    return [number, cut] if is_along else []
