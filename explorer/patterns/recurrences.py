"""States that go along a sequence without a matrix, and values that go along a map."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from netloupe.explorer.model import Value
from netloupe.explorer.roles import find_weight

from .found_blocks import FoundBlock, FoundBlocks
from .operations import PICKING, Operations
from .readings import read_axes
from .walks import keep_own

_LEAST_STEPS = 4
_MOST_PARTS = 6
_MOST_BETWEEN = 4
_LEAST_ITERATIONS = 3


def find_linear_recurrences(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find h = a · h + b, written out for each step, of which a and b do not depend on h.

    J. Bradbury and others, Quasi-Recurrent Neural Networks, 2017, equation 4; T. Lei and others,
    Simple Recurrent Units, 2018, equation 3; L. Feng and others, Were RNNs All We Needed?, 2024,
    section 3; S. De and others, Griffin, 2024, equation 4.
    """
    operations = blocks.operations
    before: dict[int, tuple[int, int, Value]] = {}
    following: dict[int, int] = {}
    for number, kind in enumerate(operations.kinds):
        if kind != "Add" or blocks.owner[number] is not None:
            continue
        for value in operations.operands[number]:
            product = operations.given_by(value, "Mul")
            found = None if product is None else _read_decay(operations, product)
            if product is not None and found is not None:
                state, part, whole = found
                if state not in following:
                    before[number] = (state, part, whole)
                    following[state] = number
                    break
    done: set[int] = set()
    for first in sorted(before):
        if first in done:
            continue
        chain = [first]
        whole = before[first][2]
        while (n := following.get(chain[-1])) is not None and before[n][2] is whole:
            chain.append(n)
        done.update(chain)
        if len(chain) + 1 < _LEAST_STEPS:
            continue
        start = before[first][0]
        numbers, end = _gather(blocks, [start, *chain])
        facts = (f"{len(chain) + 1} steps",)
        yield FoundBlock("recurrence", "Linear recurrence", frozenset(numbers), end, facts)


def _read_decay(operations: Operations, product: int) -> tuple[int, int, Value] | None:
    """Return the sum that gives a state, its product, and what the factors of all steps are of."""
    taken = operations.operands[product]
    if len(taken) != 2:
        return None
    for state, factor in (taken, taken[::-1]):
        total = operations.given_by(state, "Add")
        whole = _read_whole(operations, factor)
        if total is not None and whole is not None:
            return total, product, whole
    return None


def _read_whole(operations: Operations, value: Value) -> Value | None:
    """Return of what a value is one place, or 1 less one place."""
    for _ in range(_MOST_BETWEEN):
        giver = operations.giver(value)
        if giver is None or not operations.operands[giver]:
            return None
        node = operations.nodes[giver]
        if node.operator.has(*PICKING, "splits"):
            return operations.operands[giver][0]
        if operations.kinds[giver] not in ("Sub", "Exp", "Neg", "Sigmoid"):
            return None
        if len(operations.operands[giver]) != 1:
            return None
        value = operations.operands[giver][0]
    return None


def _gather(blocks: FoundBlocks, chain: list[int]) -> tuple[set[int], int]:
    """Return what the steps of a chain consist of, and what gives the result."""
    operations = blocks.operations
    numbers = {*chain}
    for total in chain:
        pending = [*operations.givers(total)]
        for _ in range(_MOST_PARTS * 2):
            if not pending:
                break
            number = pending.pop()
            picks = operations.nodes[number].operator.has(*PICKING)
            is_part = picks or operations.kinds[number] in ("Mul", "Sub")
            if number in numbers or blocks.owner[number] is not None or not is_part:
                continue
            numbers.add(number)
            if not picks:  # what a step picks of is made of all of them at once
                pending += operations.givers(number)
    end = chain[-1]
    joins = {
        user
        for user in operations.users[end]
        if user >= 0 and operations.nodes[user].operator.has("joins")
    }
    join = joins.pop() if len(joins) == 1 else None
    if join is not None and blocks.owner[join] is None:
        taken = {*operations.givers(join)}
        if taken <= {*chain}:
            numbers.add(join)
            end = join
    own = {*numbers, end}
    for number in sorted(own - {*chain, end}, reverse=True):
        if not own.issuperset(operations.users[number]):
            own.discard(number)
    return own, end


def find_value_iterations(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find maxima over channels that one convolution of the maxima before gives, step by step.

    A. Tamar and others, Value Iteration Networks, 2016, section 4: each channel is of an action.
    """
    operations = blocks.operations
    before: dict[int, int | None] = {}
    members: dict[int, set[int]] = {}
    weights: dict[int, Value | None] = {}
    for number, kind in enumerate(operations.kinds):
        if kind != "ReduceMax" or blocks.owner[number] is not None:
            continue
        if read_axes(operations.nodes[number]) not in ((1,), (-3,)):
            continue
        found, giver, weight = _walk_convolved(blocks, number, before.keys())
        if found:
            before[number], members[number], weights[number] = giver, found, weight
    for last in [n for n in before if n not in before.values()]:
        chain = [last]
        while (n := before[chain[-1]]) is not None and weights[n] in (weights[last], None):
            chain.append(n)
        same = {weights[n] for n in chain if before[n] is not None}
        if n is not None and before[n] is None:
            chain.append(n)  # the first may be of what another convolution gives
        if len(chain) < _LEAST_ITERATIONS or len(same) != 1:
            continue
        numbers = {*chain}.union(*(members[n] for n in chain))
        behind, end = _walk_last(blocks, last, weights[last])
        own = keep_own(operations, numbers | behind, end)
        facts = (f"{len(chain)} steps",)
        yield FoundBlock("value iteration", "Value iteration", frozenset(own), end, facts)


def _walk_last(blocks: FoundBlocks, last: int, weight: Value | None) -> tuple[set[int], int]:
    """Return what convolves the last maxima with the same weight, which is what is asked for."""
    operations = blocks.operations
    found, end = {last}, last
    for _ in range(_MOST_BETWEEN):
        user = operations.only_user(end)
        if user is None:
            break
        owner = blocks.owner[user]
        if operations.kinds[user] == "Conv" and (owner is None or owner.kind == "conv"):
            if operations.nodes[user].input(1) is not weight:
                break
            inner = owner.numbers if owner is not None else frozenset({user})
            return found | inner, owner.end if owner is not None else user
        if owner is not None or not operations.nodes[user].operator.has("adds", "joins"):
            break
        found.add(user)
        end = user
    return {last}, last


def _walk_convolved(
    blocks: FoundBlocks, number: int, maxima: Collection[int]
) -> tuple[set[int], int | None, Value | None]:
    """Return what convolves before a maximum, the maximum before, and the weight of that one."""
    operations = blocks.operations
    numbers: set[int] = set()
    weight: Value | None = None
    giver: int | None = None
    pending = [(operations.operands[number][0], False)]
    while pending and len(numbers) < _MOST_PARTS:
        value, is_behind = pending.pop()
        current = operations.giver(value)
        if current is None:
            continue
        if operations.kinds[current] == "ReduceMax":
            giver = current if is_behind and current in maxima else giver
            continue
        node, owner = operations.nodes[current], blocks.owner[current]
        is_conv = operations.kinds[current] == "Conv" and (owner is None or owner.kind == "conv")
        is_joining = node.operator.has("adds", "joins") and owner is None
        if is_conv and not is_behind:
            numbers |= owner.numbers if owner is not None else {current}
            pending += [(v, True) for v in operations.operands[current]]
            found = find_weight(node)
            weight = node.input(1) if found is not None else weight
        elif is_joining:
            numbers.add(current)
            pending += [(v, is_behind) for v in operations.operands[current]]
    return numbers, giver, weight
