"""Peaks of maps, and frames that are repeated as often as a duration tells."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.dataflow import find_giver
from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_ints
from .unrolled_regulators import find_unrolled_regulators

#: what positions go through before they are compared
_OF_POSITIONS = ("adds", "casts", "reshapes", "broadcasts", "repeats", "subtracts")
_MOST_OF_REGULATOR = 16
_SHIFTING = ("Pad", "Slice", "Concat", "Mul")


def find_peaks(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find where a map is equal to the maximum of the window around each place, and what is there.

    X. Zhou and others, Objects as Points, 2019, section 3: it stands for non-maximum suppression.
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        taken = operations.operands[number]
        if kind != "Equal" or len(taken) != 2 or blocks.owner[number] is not None:
            continue
        for pooled, whole in (taken, taken[::-1]):
            pool = operations.given_by(pooled, "MaxPool")
            if pool is None or operations.operands[pool][:1] != [whole]:
                continue
            node = operations.nodes[pool]
            strides, kernel = read_ints(node, "strides"), read_ints(node, "kernel_shape")
            if any(stride > 1 for stride in strides) or operations.only_user(pool) != number:
                continue
            numbers, end = {pool, number}, number
            user = operations.only_user(number)
            if (
                user is not None
                and operations.kinds[user] in ("Mul", "Where")
                and whole in operations.operands[user]
                and blocks.owner[user] is None
            ):
                numbers.add(user)
                end = user
            facts = ("×".join(map(str, kernel)),) if kernel else ()
            yield FoundBlock("peaks", "Local maxima", frozenset(numbers), end, facts)
            break


def find_regulators(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find which frames belong to which token: running sums of durations, compared with positions.

    What one token ends at less what the one before it ended at (Y. Ren and others, FastSpeech,
    2019, section 3.2; J. Kim and others, Glow-TTS, 2020, section 3.1).
    """
    yield from find_unrolled_regulators(blocks)
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        if kind != "CumSum" or blocks.owner[number] is not None:
            continue
        compared = operations.only_user(number)
        if compared is None or not operations.nodes[compared].operator.has("compares_order"):
            continue
        others = [v for v in operations.nodes[compared].inputs if v is not None]
        if not any(_counts(value) for value in others):
            continue
        numbers = {number, compared}
        counted = [giver for giver in operations.givers(compared) if giver != number]
        numbers |= {n for n in counted if operations.only_user(n) == compared}
        end = compared
        while len(numbers) < _MOST_OF_REGULATOR:
            users = [user for user in operations.users[end] if user >= 0]
            ahead = next((u for u in users if operations.kinds[u] == "Sub"), None)
            if ahead is not None:
                shifted = _walk_shift(operations, ahead, end)
                if shifted is not None:
                    numbers |= {ahead, *shifted}
                    end = ahead
                    break
            if len(users) != 1 or operations.kinds[users[0]] not in _SHIFTING:
                break
            end = users[0]
            numbers.add(end)
        if operations.kinds[end] == "Sub" and all(blocks.owner[n] is None for n in numbers):
            yield FoundBlock("regulator", "Length regulator", frozenset(numbers), end)


def _walk_shift(operations: Operations, difference: int, start: int) -> set[int] | None:
    """Return what shifts a value before it is subtracted from itself; None where nothing does."""
    numbers: set[int] = set()
    for value in operations.operands[difference]:
        number = operations.giver(value)
        while number is not None and number != start:
            if operations.kinds[number] not in _SHIFTING:
                return None
            numbers.add(number)
            givers = operations.givers(number)
            number = givers[0] if len(givers) == 1 else None
        if number is None:
            return None
    return numbers or None


def _counts(value: Value) -> bool:
    return find_giver(value, "counts", through=_OF_POSITIONS) is not None
