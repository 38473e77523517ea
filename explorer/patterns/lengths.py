"""How long vectors and how large complex numbers are, as programs write it out."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .written_norms import is_square

#: what is added below a root to keep it from 0 is smaller
_LEAST = 0.01
_BOTH = 2
#: what integers go through that stand for numbers (S. Kim and others, I-BERT, 2021, section 3.6)
_ROUNDING = frozenset({"Ceil", "Div", "Floor", "Mul", "Round"})
_MOST_STEPS = 3


def find_lengths(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find √(Σ x²) along axes, how long vectors are, and √(x² + y²), how large complex numbers are.

    G. Golub and C. Van Loan, Matrix Computations, 2013, section 2.2: the 2-norm. What is added
    below the root only keeps it from 0. Of what is left once the mean is subtracted it is a
    deviation.
    """
    operations = blocks.operations
    for root, kind in enumerate(operations.kinds):
        if kind != "Sqrt" and not (kind == "Pow" and operations.scalar(root) == 0.5):
            continue
        numbers = {root}
        number = _find_only_giver(operations, root)
        if number is not None and _only_limits(operations, number):
            numbers.add(number)
            number = _find_only_giver(operations, number)
        found = _find_squares(operations, number) if number is not None else None
        if number is None or found is None:
            continue
        name, squares = found
        numbers |= {number, *squares}
        spectrum = _find_spectrum(blocks, squares) if name == "Magnitude" else None
        if spectrum is not None:
            whole, told = numbers | spectrum.numbers, spectrum.name
            if operations.is_closed({*whole}, root):
                facts = spectrum.facts
                yield FoundBlock("transform", f"{told} magnitude", frozenset(whole), root, facts)
                continue
        if any(_is_centred(operations, v) for one in squares for v in operations.operands[one]):
            continue
        is_free = all(blocks.owner[one] is None for one in numbers)
        if is_free and operations.is_closed(numbers, root):
            yield FoundBlock("length", name, frozenset(numbers), root)


def _find_squares(operations: Operations, total: int) -> tuple[str, list[int]] | None:
    """Return what a root of a sum of squares is called, and what squares; None for other sums."""
    kind, squares = operations.kinds[total], operations.givers(total)
    if kind == "ReduceSumSquare":
        return "L2 norm", []
    wanted = {"ReduceSum": 1, "Add": _BOTH}.get(kind, 0)
    if not wanted or len(squares) != wanted or len(operations.operands[total]) != wanted:
        return None
    if not all(is_square(operations, one) for one in squares):
        return None
    return ("L2 norm" if wanted == 1 else "Magnitude"), squares


def _is_centred(operations: Operations, value: Value) -> bool:
    """Return whether a mean was subtracted from a value, which may be rounded and scaled."""
    number = operations.giver(value)
    for _ in range(_MOST_STEPS):
        if number is None or operations.kinds[number] not in _ROUNDING:
            break
        number = _find_only_giver(operations, number)
    if number is None or operations.kinds[number] != "Sub":
        return False
    taken = operations.operands[number]
    mean = operations.giver(taken[1]) if len(taken) == _BOTH else None
    if mean is not None and operations.kinds[mean] in _ROUNDING:
        mean = _find_only_giver(operations, mean)
    is_mean = mean is not None and operations.kinds[mean] == "ReduceMean"
    return is_mean and mean is not None and operations.operands[mean][:1] == taken[:1]


def _find_spectrum(blocks: FoundBlocks, squares: list[int]) -> FoundBlock | None:
    """Return the transforms that give the real and imaginary parts that are squared, as one."""
    operations = blocks.operations
    parts: dict[int, FoundBlock] = {}
    numbers: set[int] = set()
    for square in squares:
        giver = operations.giver(operations.operands[square][0])
        if giver is not None and operations.nodes[giver].operator.has("slices", "splits"):
            numbers.add(giver)
            giver = operations.giver(operations.operands[giver][0])
        found = blocks.ending(giver, "transform")
        if found is None:
            return None
        parts[found.end] = found
    one = next(iter(parts.values()))
    taken = {operations.operands[min(part.numbers)][0] for part in parts.values()}
    if len(taken) != 1 or not one.name.endswith("FT"):
        return None
    numbers = numbers.union(*(part.numbers for part in parts.values()))
    return FoundBlock("transform", one.name, frozenset(numbers), one.end, one.facts)


def _only_limits(operations: Operations, number: int) -> bool:
    """Return whether a small number is added to one value, or the least is set."""
    if len(operations.operands[number]) != 1:
        return False
    if operations.kinds[number] == "Add":
        added = operations.scalar(number)
        return added is not None and 0 < added < _LEAST
    return operations.kinds[number] in ("Clip", "Max")


def _find_only_giver(operations: Operations, number: int) -> int | None:
    taken = operations.operands[number]
    return operations.giver(taken[0]) if len(taken) == 1 else None
