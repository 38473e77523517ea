"""How likely rounded values are: what a distribution has between half a step below and above."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations

#: cumulative distributions, by what exporters write them with
_CUMULATIVE = {"Erf": "Gaussian", "Erfc": "Gaussian", "Sigmoid": "logistic"}
_BOTH = 2
_STEP, _NEARLY = 1.0, 1e-6
_MOST = 64


@dataclass(slots=True)
class _Arms:
    """Two arms that compute the same of two values."""

    pairs: set[tuple[int, int]] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    steps: list[float] = field(default_factory=list)
    #: what is rounded
    start: Value | None = None


def find_entropy_models(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find c(x + 1/2) - c(x - 1/2), c a cumulative distribution: how likely a rounded value is.

    J. Balle and others, Variational Image Compression with a Scale Hyperprior, 2018, equation 8 of
    Gaussian ones, and appendix 6.1 of learned ones, which layers are the distribution of.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "Sub" or len(taken) != _BOTH or blocks.owner[end] is not None:
            continue
        if not any(_gives_share(operations, value) for value in taken):
            continue
        arms = _compare(operations, taken[0], taken[1])
        if arms is None or not arms.steps or any(abs(s - _STEP) > _NEARLY for s in arms.steps):
            continue
        names = {_CUMULATIVE[kind] for kind in arms.kinds if kind in _CUMULATIVE}
        if len(names) != 1:
            continue
        name = names.pop()
        if arms.kinds & {"Gemm", "MatMul", "Conv"}:
            name = "factorized" if name == "logistic" else ""
        numbers = {end, *(number for pair in arms.pairs for number in pair)}
        length = operations.given_by(arms.start, "Abs") if arms.start is not None else None
        if length is not None and numbers.issuperset(operations.users[length]):
            numbers.add(length)  # of what is alike on both sides
        if name and operations.is_closed(numbers, end):
            yield FoundBlock("entropy model", "Entropy model", frozenset(numbers), end, (name,))


def _gives_share(operations: Operations, value: Value) -> bool:
    """Return whether a value is a cumulative distribution, or such times and plus a number."""
    for _ in range(3):
        number = operations.giver(value)
        if number is None:
            return False
        if operations.kinds[number] in _CUMULATIVE:
            return True
        if operations.kinds[number] not in ("Add", "Mul", "Sub", "Div"):
            return False
        value = operations.operands[number][0]
    return False


def _compare(operations: Operations, first: Value, second: Value) -> _Arms | None:
    """Return what two values are alike in, back to where both begin; None where they differ."""
    arms = _Arms()
    pending = [(first, second)]
    while pending:
        one, other = pending.pop()
        if one is other:
            continue
        pair = operations.giver(one), operations.giver(other)
        if pair[0] is None or pair[1] is None or len(arms.pairs) > _MOST:
            return None
        pair = pair[0], pair[1]
        if pair in arms.pairs:
            continue
        taken = [operations.operands[number] for number in pair]
        if operations.kinds[pair[0]] != operations.kinds[pair[1]] and not _shifts(operations, pair):
            return None
        arms.pairs.add(pair)
        arms.kinds.add(operations.kinds[pair[0]])
        step = _read_step(operations, pair)
        if step is not None:
            arms.steps.append(step)
            arms.start = taken[0][0]
            continue
        if len(taken[0]) != len(taken[1]) or not _share_stored(operations, pair):
            return None
        pending += zip(*taken, strict=True)
    return arms


def _shifts(operations: Operations, pair: tuple[int, int]) -> bool:
    return all(operations.kinds[number] in ("Add", "Sub") for number in pair)


def _share_stored(operations: Operations, pair: tuple[int, int]) -> bool:
    """Return whether two operations take the same constants, or equal numbers."""
    stored = [operations.fixed(number) for number in pair]
    if stored[0] == stored[1]:
        return True
    numbers = [operations.scalar(number) for number in pair]
    return numbers[0] is not None and numbers[0] == numbers[1]


def _read_step(operations: Operations, pair: tuple[int, int]) -> float | None:
    """Return how far apart two values are that are one, with different numbers added.

    None where they are no such.
    """
    if not _shifts(operations, pair):
        return None
    taken = [operations.operands[number] for number in pair]
    if [len(values) for values in taken] != [1, 1] or taken[0][0] is not taken[1][0]:
        return None
    numbers = [_read_shift(operations, number) for number in pair]
    if numbers[0] is None or numbers[1] is None:
        return None
    return abs(numbers[0] - numbers[1])


def _read_shift(operations: Operations, number: int) -> float | None:
    """Return what is added to a value, or to its negative."""
    shift = operations.scalar(number)
    is_last = operations.is_fixed(operations.nodes[number].input(1))
    is_taken = operations.kinds[number] == "Sub" and is_last
    return -shift if shift is not None and is_taken else shift
