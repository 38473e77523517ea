"""How alike series are when one is moved, by products of their Fourier transforms."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .picked_parts import read_parts, read_pick
from .readings import read_int
from .walks import keep_own

_MOST_BETWEEN = 40
_MOST_BEHIND = 120
#: what a product of complex numbers is written with
_COMPLEX = ("Add", "Mul", "Neg", "Sub")
_TAKING = ("gathers", "joins", "picks")
_BEHIND = ("Add", "Div", "Mul", "ReduceMean", "Softmax", "TopK")


def find_spectral_products(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the inverse transform of a product of two transforms, one of them turned about.

    It tells how alike two series are for each delay (Wiener and Khinchin). Where the delays that
    are the largest are taken, and values moved by them are added up by shares, this is
    auto-correlation in attention's place (H. Wu and others, Autoformer, 2021, equations 5 and 6).
    """
    operations = blocks.operations
    for inverse, kind in enumerate(operations.kinds):
        if kind != "DFT" or not read_int(operations.nodes[inverse], "inverse"):
            continue
        numbers: set[int] = set()
        forward: set[int] = set()
        pending = [*operations.givers(inverse)]
        while pending and len(numbers) < _MOST_BETWEEN:
            number = pending.pop()
            if number in numbers or number in forward:
                continue
            if operations.kinds[number] == "DFT":
                forward.add(number)
                continue
            node = operations.nodes[number]
            is_part = operations.kinds[number] in _COMPLEX or node.operator.has(*_TAKING)
            if not is_part or blocks.owner[number] is not None:
                break
            numbers.add(number)
            pending += operations.givers(number)
        if pending or len(forward) != 2 or not _is_turned(operations, numbers):
            continue
        if operations.operands[min(forward)][0] is operations.operands[max(forward)][0]:
            continue
        core = keep_own(operations, numbers | forward, inverse)
        found = _walk_behind(blocks, inverse)
        if found is None:
            yield FoundBlock("correlation", "Correlation", frozenset(core), inverse, ("by FFT",))
            continue
        behind, end, count = found
        facts = (f"{count} delays",) if count else ()
        core |= behind
        for value in {v for n in core for v in operations.operands[n]}:
            layer = blocks.ending(operations.giver(value), "linear")
            if layer is not None and core.issuperset(operations.users[layer.end]):
                core |= layer.numbers
        out = blocks.holding(operations.only_user(end), "linear")
        if out is not None and operations.only_user(end) == min(out.numbers):
            core, end = core | out.numbers, out.end
        yield FoundBlock("attention", "Auto-correlation", frozenset(core), end, facts)


def _is_turned(operations: Operations, numbers: set[int]) -> bool:
    """Return whether one factor is conjugate, so that r · r' + i · i' is the real part."""
    for number in numbers:
        if operations.kinds[number] == "Neg":  # before the product
            pending, seen = [number], {number}
            while pending:
                users = {u for u in operations.users[pending.pop()] if u in numbers} - seen
                if any(operations.kinds[user] == "Mul" for user in users):
                    return True
                seen |= users
                pending += users
        if operations.kinds[number] != "Add":
            continue
        products = [operations.given_by(v, "Mul") for v in operations.operands[number]]
        parts = [
            [_read_part(operations, v) for v in operations.operands[product]]
            for product in products
            if product is not None
        ]
        if len(parts) == len(("real", "imaginary")) and all(
            len({*pair}) == 1 and None not in pair for pair in parts
        ):
            return parts[0] != parts[1]
    return False


def _read_part(operations: Operations, value: Value) -> object:
    """Return which place a value is of what it is taken from; None where that is not known."""
    node = value.producer
    if node is None or operations.giver(value) is None:
        return None
    one = read_pick(node)
    found = read_parts(node) if one is None else (one,)
    return found[0].start if found else None


def _walk_behind(blocks: FoundBlocks, start: int) -> tuple[set[int], int, int] | None:
    """Return what takes the largest delays and sums up values by them, its end, and how many."""
    operations = blocks.operations
    found = {start}
    for number in range(start + 1, min(len(operations), start + _MOST_BEHIND)):
        owner, node = blocks.owner[number], operations.nodes[number]
        is_free = owner is None or (owner.kind == "activation" and len(owner.numbers) == 1)
        is_fit = operations.kinds[number] in _BEHIND or node.operator.has("gathers", "picks")
        if is_free and is_fit and found & {*operations.givers(number)}:
            found.add(number)
    kinds = {operations.kinds[number] for number in found}
    is_moved = any(operations.nodes[number].operator.has("gathers") for number in found)
    ends = [n for n in found if not found.issuperset(operations.users[n])]
    if not {"Softmax", "TopK"} <= kinds or not is_moved or len(ends) != 1:
        return None
    chosen = next(n for n in sorted(found) if operations.kinds[n] == "TopK")
    count = operations.scalar(chosen)
    moved = {g for n in found for g in operations.givers(n)} - found
    moved = {g for g in moved if operations.nodes[g].operator.has("repeats", "joins")}
    own = {g for g in moved if blocks.owner[g] is None and found.issuperset(operations.users[g])}
    return found | own, ends[0], int(count or 0)
