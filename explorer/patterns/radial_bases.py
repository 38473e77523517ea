"""Numbers told by how near they are to stored places, or by waves: distances between atoms."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.model import Value
from netloupe.explorer.model.constant import constant_tensor
from netloupe.explorer.operators import LAYOUT_TRAITS

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_numbers
from .walks import walk_back
from .weight_sizes import read_dims

_LEAST_FUNCTIONS = 3
_MOST_SCALINGS = 4
_MOST_READ = 512
_MOST_OF_ENVELOPE = 40
_SCALING = ("Mul", "Div", "Neg")
_INVERTING = ("Div", "Reciprocal", "Pow")


def find_gaussians(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find exp(-γ·(x - μ)²) of stored centres μ: how near a number is to each of them.

    K. Schütt and others, SchNet, 2017, section 4 (radial basis functions); Z. Li, Kolmogorov-Arnold
    Networks are Radial Basis Function Networks, 2024, equation 2.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        if kind != "Exp" or blocks.owner[end] is not None:
            continue
        numbers = {end}
        sign = 1
        value = operations.operands[end][0]
        for _ in range(_MOST_SCALINGS):
            giver = operations.given_by(value, *_SCALING)
            taken = operations.operands[giver] if giver is not None else []
            if giver is None or len({*taken}) != 1 or len(taken) > 1:
                break
            sign *= _read_sign(operations, giver)
            numbers.add(giver)
            value = taken[0]
        found = _read_squared(operations, value, numbers)
        if not found or sign > 0:
            continue
        if any(blocks.owner[number] is not None for number in numbers):
            continue
        if all(operations.only_user(number) is not None for number in numbers - {end}):
            facts = (f"{found} centres",)
            yield FoundBlock("basis", "Gaussian basis", frozenset(numbers), end, facts)


def _read_sign(operations: Operations, number: int) -> int:
    """Return the sign of what an operation multiplies by; 0 where that is not known."""
    if operations.kinds[number] == "Neg":
        return -1
    fixed = operations.fixed(number)
    source = find_source(fixed[0], *LAYOUT_TRAITS) if len(fixed) == 1 else None
    numbers = read_numbers(constant_tensor(source), _MOST_READ) if source is not None else ()
    if not numbers or min(numbers) < 0 < max(numbers):
        return 0
    return -1 if min(numbers) < 0 else 1


def _read_squared(operations: Operations, value: Value, numbers: set[int]) -> int:
    """Return how many places the squared distances to stored ones are of, 0 if it is none."""
    square = operations.giver(value)
    if square is None:
        return 0
    taken = operations.operands[square]
    is_square = operations.kinds[square] == "Pow" and operations.scalar(square) == 2.0
    if not is_square and not (operations.kinds[square] == "Mul" and len(taken) == 2):
        return 0
    if len({*taken}) != 1:
        return 0
    numbers.add(square)
    value = taken[0]
    for _ in range(_MOST_SCALINGS):
        giver = operations.giver(value)
        if giver is None:
            return 0
        taken = operations.operands[giver]
        numbers.add(giver)
        if operations.kinds[giver] in _SCALING and len(taken) == 1:
            value = taken[0]
            continue
        fixed = operations.fixed(giver)
        if operations.kinds[giver] not in ("Add", "Sub") or len(taken) != 1 or len(fixed) != 1:
            return 0
        return _count_elements(fixed[0])
    return 0


def _count_elements(value: Value) -> int:
    """Return of how many numbers a stored row is; 0 of what is no row of several."""
    sizes = [size for size in read_dims(value) if size != 1]
    return sizes[0] if len(sizes) == 1 and sizes[0] >= _LEAST_FUNCTIONS else 0


def find_bessel(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find sin(n·π·d / c) / d of several stored frequencies, perhaps with an envelope.

    J. Gasteiger and others, Directional Message Passing for Molecular Graphs, 2020, equation 7.
    """
    operations = blocks.operations
    for wave, kind in enumerate(operations.kinds):
        end = operations.only_user(wave) if kind == "Sin" and not blocks.owner[wave] else None
        product = operations.giver(operations.operands[wave][0]) if end is not None else None
        if end is None or product is None or operations.kinds[end] not in ("Mul", "Div"):
            continue
        if operations.kinds[product] not in _SCALING or len(operations.operands[product]) != 1:
            continue
        numbers, count = {wave, end, product}, 0
        value: Value | None = operations.operands[wave][0]
        for _ in range(_MOST_SCALINGS):  # by frequencies, and by how far off is too far
            giver = operations.given_by(value, *_SCALING) if value is not None else None
            if giver is None or len(operations.operands[giver]) != 1:
                break
            count = max(count, *(_count_elements(one) for one in operations.fixed(giver)), 0)
            if operations.only_user(giver) is not None:
                numbers.add(giver)
            value = operations.operands[giver][0]
        others = [v for v in operations.operands[end] if operations.giver(v) != wave]
        if not count or value is None or len(others) != 1:
            continue
        starts = {value, *operations.operands[product]}
        envelope = walk_back(operations, others[0], starts, _MOST_OF_ENVELOPE)
        if envelope is None:
            continue
        is_inverse = operations.kinds[end] == "Div" or any(
            operations.kinds[number] in _INVERTING for number in envelope
        )
        if not is_inverse or any(blocks.owner[n] is not None for n in numbers | envelope):
            continue
        own = {*numbers, *envelope}
        for number in sorted(own - {end}, reverse=True):
            if not own.issuperset(operations.users[number]):
                own.discard(number)
        facts = (f"{count} waves", *(["envelope"] if len(envelope) > _MOST_SCALINGS else []))
        yield FoundBlock("basis", "Bessel basis", frozenset(own), end, facts)
