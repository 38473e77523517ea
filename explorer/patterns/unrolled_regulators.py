"""Features of tokens that are repeated as often as durations tell, one token after the other."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations

#: of fewer tokens it is no loop that an exporter wrote out
_LEAST_TOKENS = 3
#: so much for each token at most tells how often it is repeated
_MOST_EACH = 8
#: and so many before all of these take the sequence apart
_MOST_BEFORE = 4


def find_unrolled_regulators(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the parts of a sequence, each repeated by what another sequence tells, and joined again.

    So a loop over the tokens is written out (Y. Ren and others, FastSpeech, 2019, section 3.2).
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Concat" or len(taken) < _LEAST_TOKENS or blocks.owner[end] is not None:
            continue
        givers = {operations.giver(value) for value in taken}
        start = givers.pop() if len(givers) == 1 else None
        if start is None or not operations.nodes[start].operator.has("splits"):
            continue
        if len({*taken}) != len(taken) or len(operations.nodes[start].outputs) != len(taken):
            continue
        counts = [_find_repeats(operations, value) for value in operations.nodes[end].inputs]
        if None in counts:
            continue
        found = _follow_counts(blocks, [value for value in counts if value is not None])
        if found is None:
            continue
        numbers = _add_before(operations, {end, start, *found})
        if operations.is_closed(numbers, end):
            facts = (f"of {write_count(len(taken), 'token')}",)
            yield FoundBlock("regulator", "Length regulator", frozenset(numbers), end, facts)


def _find_repeats(operations: Operations, value: Value | None) -> Value | None:
    """Return what tells how often a value was repeated on the way; None where it was not."""
    for node in operations.path(value):
        count = node.input(1) if node.operator.has("broadcasts", "repeats") else None
        if count is not None and not operations.is_fixed(count):
            return count
    return None


def _follow_counts(blocks: FoundBlocks, counts: list[Value]) -> set[int] | None:
    """Return what makes numbers for all tokens, back to what takes these apart; None for others."""
    operations = blocks.operations
    numbers, ends = set[int](), set[int]()
    pending = [*counts]
    while pending:
        number = operations.giver(operations.source(pending.pop()))
        if number is None or len(numbers) > _MOST_EACH * len(counts):
            return None
        if number in numbers or number in ends:
            continue
        if blocks.owner[number] is not None:
            return None
        node = operations.nodes[number]
        if node.operator.has("splits") and len(node.outputs) >= len(counts):
            ends.add(number)
            continue
        numbers.add(number)
        pending += operations.operands[number]
    return numbers | ends if len(ends) == 1 else None


def _add_before(operations: Operations, numbers: set[int]) -> set[int]:
    """Add what takes batches apart before, of one sequence, and gives to these alone."""
    whole = {*numbers}
    for _ in range(_MOST_BEFORE):
        before = {giver for number in whole for giver in operations.givers(number)} - whole
        fitting = {
            number
            for number in before
            if operations.nodes[number].operator.has("splits")
            and whole.issuperset(operations.users[number])
        }
        if not fitting:
            break
        whole |= fitting
    return whole
