"""What is read from a memory by likeness, and tokens of which a random part is kept."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_axes, read_int
from .weight_sizes import read_type_dims

_MOST_STEPS = 4
#: what scales or hides scores before they are shares
_BEFORE_SHARES = ("Add", "Div", "Mul", "Where")


def find_memories(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find softmax(Σ m·u) and the sum of values by these shares, the products summed up each.

    S. Sukhbaatar and others, End-To-End Memory Networks, 2015, equations 1 and 2.
    """
    operations = blocks.operations
    for softmax, kind in enumerate(operations.kinds):
        owner = blocks.owner[softmax]
        if kind != "Softmax" or (owner is not None and owner.kind != "activation"):
            continue
        scored = _read_products(blocks, softmax)
        product = operations.only_user(softmax)
        total = operations.only_user(product) if product is not None else None
        if scored is None or product is None or total is None:
            continue
        if not _is_product(blocks, product) or operations.kinds[total] != "ReduceSum":
            continue
        axes = [read_axes(operations.nodes[number]) for number in (max(scored), total)]
        if blocks.owner[total] is not None or any(a is None or len(a) != 1 for a in axes):
            continue
        summed = axes[1][0] if axes[1] is not None else 0
        shared = read_int(operations.nodes[softmax], "axis")
        # features stood last where products were summed up over them, and may stand there again
        if shared is not None and 0 <= summed != shared >= 0:
            continue
        numbers = frozenset({softmax, product, total, *scored})
        yield FoundBlock("attention", "Memory attention", numbers, total)


def _is_product(blocks: FoundBlocks, number: int) -> bool:
    taken = blocks.operations.operands[number]
    return (
        blocks.operations.kinds[number] == "Mul"
        and len(taken) == len({*taken}) > 1
        and blocks.owner[number] is None
    )


def _read_products(blocks: FoundBlocks, softmax: int) -> set[int] | None:
    """Return the operations of scores that are sums of products of two computed values."""
    operations = blocks.operations
    numbers: set[int] = set()
    number = operations.giver(operations.operands[softmax][0])
    for _ in range(_MOST_STEPS):
        if number is None or blocks.owner[number] is not None:
            return None
        if operations.only_user(number) is None:
            return None
        numbers.add(number)
        if operations.kinds[number] == "ReduceSum":
            product = operations.giver(operations.operands[number][0])
            if product is None or not _is_product(blocks, product):
                return None
            is_alone = operations.only_user(product) == number
            return {*numbers, product} if is_alone else None
        if operations.kinds[number] not in _BEFORE_SHARES:
            return None
        givers = operations.givers(number)
        number = givers[0] if len(givers) == 1 else None
    return None


def find_maskings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find tokens that are kept at random: the first places of an order that noise is sorted to.

    K. He and others, Masked Autoencoders Are Scalable Vision Learners, 2022, section 3.
    """
    operations = blocks.operations
    for sort, kind in enumerate(operations.kinds):
        taken = operations.operands[sort]
        if kind != "TopK" or not taken or not _is_noise(operations, taken[0]):
            continue
        dims = read_type_dims(taken[0])
        count = operations.scalar(sort)
        if not dims or count is None or int(count) not in dims:
            continue  # not all are sorted
        for user in operations.users[sort]:
            if user < 0 or not operations.nodes[user].operator.has("picks", "slices"):
                continue
            lookups = [u for u in operations.users[user] if u >= 0]
            is_lookup = len(lookups) == 1 and operations.nodes[lookups[0]].operator.has("gathers")
            if not is_lookup or blocks.owner[lookups[0]] is not None:
                continue
            kept = read_type_dims(operations.nodes[user].output(0))
            facts = (f"keeps {kept[-1]} of {int(count)}",) if kept and kept[-1] else ()
            numbers = frozenset({sort, user, lookups[0]})
            yield FoundBlock("token masking", "Random masking", numbers, lookups[0], facts)
            break


def _is_noise(operations: Operations, value: Value) -> bool:
    """Return whether a value is drawn, or fed to the model for nothing but an order."""
    if value.producer is not None:
        return value.producer.operator.has("random")
    return value.is_input and len(value.users) == 1
