"""Norms that an exporter writes out: means, a variance, and what is done with them.

Scale and shift may be anywhere: (x - m)·γ / √(v + ε) + β, x·(γ / √(v + ε)) + (β - m·γ / √(v + ε)).
So what is found first are the statistics, and then all that only these, the value itself and
weights go into, up to where one value alone is left.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import NamedTuple

from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.constant import constant_tensor

from .details import NormDetails
from .found_blocks import FoundBlock
from .operations import Operations
from .readings import read_ints, read_numbers
from .weight_sizes import read_dims, read_type_dims, read_width

#: a norm that is written out has so many operations at most
_MOST_OPERATIONS = 24
_MOST_STEPS = 12
#: what keeps a variance from 0
_LEAST = ("Add", "Clip", "Max", "Relu")
#: what counts of samples do with a variance, each once, and how much more it is then at most
_COUNTS = ("Mul", "Div")
_MOST_UNBIASED = 2.0
#: what scales, shifts and divides
_AFFINE = frozenset({"Add", "Div", "Mul", "Reciprocal", "Sub"})


class _Mean(NamedTuple):
    """A mean: of what, along which axes, and the operations that it is."""

    of: Value
    axes: tuple[int, ...]
    numbers: frozenset[int]


class _Variance(NamedTuple):
    """A variance, or a mean of squares.

    Parameters
    ----------
    start
        The value that it is of.
    mean
        The mean that is subtracted; None where none is.
    centred
        The differences of both, where it is written so; an exporter may write it again.
    axes
        Along which axes.
    numbers
        Its operations.
    """

    start: Value
    mean: _Mean | None
    centred: frozenset[int]
    axes: tuple[int, ...]
    numbers: frozenset[int]


def find_written_norm(operations: Operations, root: int) -> FoundBlock | None:
    """Return the norm that divides by a root of a variance; None where there is none.

    Parameters
    ----------
    operations
        The operations.
    root
        The root, or its inverse.
    """
    number = _only_giver(operations, root)
    numbers = {root}
    for _ in range(2):
        if number is None or operations.kinds[number] not in _LEAST:
            break
        numbers.add(number)
        number = _only_giver(operations, number)
    variance = _read_counted(operations, number) if number is not None else None
    if variance is None:
        return None
    numbers |= variance.numbers
    statistics = frozenset(numbers)
    end = _close(operations, numbers, variance, root)
    if end is None:
        return None
    inside = numbers - statistics
    weights = [v for n in inside for v in operations.fixed(n) if read_width(v) > 1]
    shifts = any(
        read_width(value) > 1
        for number in inside
        if operations.kinds[number] in ("Add", "Sub")
        for value in operations.fixed(number)
    )
    wanted = [] if weights else ["Mul"]
    wanted += ["Add"] if variance.mean is not None and not shifts else []
    end, width = add_scale(operations, end, numbers, wanted)
    width = width or max(map(read_width, weights), default=0)
    if not operations.is_closed(numbers, end):
        return None
    affine = numbers - statistics
    scales = [v for n in affine for v in operations.fixed(n) if read_width(v) == width]
    name = _name(operations, variance, scales[0] if scales else None)
    details = NormDetails(width=width if width > 1 else None)
    return FoundBlock("norm", name, frozenset(numbers), end, (), details)


def _close(operations: Operations, numbers: set[int], variance: _Variance, root: int) -> int | None:
    """Add what scales, shifts and divides until one value is left; return what gives that.

    None where something else takes statistics, or where nothing is divided by the root.
    """
    statistics = frozenset(numbers)
    #: of these the results have the size of what is normalized
    whole = {*variance.centred}
    for _ in range(_MOST_STEPS):
        ends = [n for n in numbers if not numbers.issuperset(operations.users[n])]
        if len(ends) == 1 and ends[0] in whole and ends[0] not in statistics:
            inside = numbers - statistics
            return ends[0] if _divides(operations, inside, root, variance, whole) else None
        following = {
            user
            for number in ends
            for user in operations.users[number]
            if user >= 0 and _belongs(operations, user, numbers, variance.start)
        } - numbers
        numbers |= following
        if not following or len(numbers) > _MOST_OPERATIONS:
            return None
        for number in sorted(following):
            if any(_is_whole(operations, v, whole, variance) for v in operations.operands[number]):
                whole.add(number)
    return None


def _is_whole(operations: Operations, value: Value, whole: set[int], variance: _Variance) -> bool:
    giver = operations.giver(value)
    return value is variance.start or (giver is not None and giver in whole)


def _belongs(operations: Operations, number: int, numbers: set[int], start: Value) -> bool:
    """Return whether an operation takes statistics, weights and the value itself alone."""
    if operations.kinds[number] not in _AFFINE:
        return False
    return all(
        value is start or operations.giver(value) in numbers
        for value in operations.operands[number]
    )


def _divides(
    operations: Operations,
    inside: set[int],
    root: int,
    variance: _Variance,
    whole: set[int],
) -> bool:
    """Return whether what is normalized is divided by a root, or multiplied by its inverse."""
    kinds = [operations.kinds[number] for number in inside]
    if operations.kinds[root] == "Pow" and operations.scalar(root) == -0.5:
        return "Div" not in kinds and "Reciprocal" not in kinds
    if kinds.count("Div") + kinds.count("Reciprocal") != 1:
        return False
    for number in inside:
        if operations.kinds[number] == "Div":
            divisor = operations.operands[number][-1]
            is_second = operations.source(operations.nodes[number].input(1) or divisor) is divisor
            return is_second and not _is_whole(operations, divisor, whole, variance)
    return True


def _read_counted(operations: Operations, number: int) -> _Variance | None:
    """Return a variance, which numbers may multiply and divide that count samples.

    An unbiased one is the mean of squares times n / (n - 1), as ``torch.std`` has it where nothing
    else is asked for: the factor is a little more than 1, or computed of a shape.
    """
    factors: dict[int, float | None] = {}
    while (variance := _read_variance(operations, number)) is None:
        giver = _only_giver(operations, number)
        is_number = all(read_width(value) <= 1 for value in operations.fixed(number))
        if giver is None or not is_number or operations.kinds[number] not in _COUNTS:
            return None
        if len(factors) == len(_COUNTS):
            return None
        factor = operations.scalar(number)
        is_divided = bool(factor) and operations.kinds[number] == "Div"
        factors[number] = 1 / factor if factor and is_divided else factor
        number = giver
    known = [factor for factor in factors.values() if factor is not None]
    if known and len(known) == len(factors) and not 1 < prod(known) <= _MOST_UNBIASED:
        return None
    return variance._replace(numbers=variance.numbers | factors.keys())


def _read_variance(operations: Operations, number: int) -> _Variance | None:
    taken = operations.operands[number]
    if operations.kinds[number] == "Sub" and len(taken) == 2:
        return _read_difference(operations, number)
    found = _read_mean(operations, number)
    if found is None:
        return None
    numbers, inner = found.numbers, found.of
    square = operations.giver(inner)
    if not any(operations.kinds[n] == "ReduceSumSquare" for n in numbers):
        if square is None or not is_square(operations, square):
            return None
        numbers |= {square}
        inner = operations.operands[square][0]
    difference = operations.given_by(inner, "Sub")
    if difference is not None:
        taken = operations.operands[difference]
        giver = operations.giver(taken[1]) if len(taken) == 2 else None
        mean = _read_mean(operations, giver) if giver is not None else None
        if mean is not None and mean.of is taken[0]:
            means = {*mean.numbers, *_find_means_again(operations, mean)}
            centred = {difference, *_find_differences(operations, mean, means)}
            numbers |= means | centred
            return _Variance(taken[0], mean, frozenset(centred), found.axes, numbers)
    return _Variance(inner, None, frozenset(), found.axes, numbers)


def _find_means_again(operations: Operations, mean: _Mean) -> set[int]:
    """Return the operators that give the same mean again, of which ``x.std`` has its own."""
    if len(mean.numbers) > 1:
        return set()
    return {
        number
        for number, kind in enumerate(operations.kinds)
        if kind == "ReduceMean"
        and operations.operands[number] == [mean.of]
        and _read_axes(operations.nodes[number]) == mean.axes
    }


def _find_differences(operations: Operations, mean: _Mean, means: set[int]) -> set[int]:
    """Return the differences from a mean, which an exporter may write twice."""
    return {
        user
        for number in means
        for user in operations.users[number]
        if user >= 0
        and operations.kinds[user] == "Sub"
        and operations.operands[user][:1] == [mean.of]
    }


def _read_difference(operations: Operations, number: int) -> _Variance | None:
    """Return a variance that is the mean of squares without the square of the mean."""
    first, second = (operations.giver(value) for value in operations.operands[number])
    squares = _read_mean(operations, first) if first is not None else None
    if squares is None or second is None or not is_square(operations, second):
        return None
    square = operations.giver(squares.of)
    giver = operations.giver(operations.operands[second][0])
    mean = _read_mean(operations, giver) if giver is not None else None
    if square is None or mean is None or not is_square(operations, square):
        return None
    start = operations.operands[square][0]
    if mean.of is not start:
        return None
    numbers = squares.numbers | mean.numbers | {number, second, square}
    return _Variance(start, mean, frozenset(), squares.axes, numbers)


def _read_mean(operations: Operations, number: int) -> _Mean | None:
    """Return a mean, as an operator or a sum that is multiplied by a number."""
    numbers = {number}
    wanted: tuple[str, ...] = ("ReduceMean",)
    if operations.kinds[number] in ("Div", "Mul") and len(operations.operands[number]) == 1:
        giver = operations.giver(operations.operands[number][0])
        if giver is None:
            return None
        number, wanted = giver, ("ReduceSum", "ReduceSumSquare")
        numbers.add(number)
    if operations.kinds[number] not in wanted:
        return None
    axes = _read_axes(operations.nodes[number])
    taken = operations.operands[number][0]
    earlier = operations.given_by(taken, "ReduceMean")
    if earlier is not None and operations.only_user(earlier) == number:  # one axis at a time
        numbers.add(earlier)
        axes += _read_axes(operations.nodes[earlier])
        taken = operations.operands[earlier][0]
    return _Mean(taken, axes, frozenset(numbers))


def _read_axes(node: Node) -> tuple[int, ...]:
    """Return along which axes an operator takes elements together, from the last where known."""
    axes: tuple[float, ...] = read_ints(node, "axes")
    data, stored = node.input(0), node.input(1)
    if stored is not None:
        axes = read_numbers(constant_tensor(stored))
    rank = len(read_type_dims(data)) or len(read_type_dims(node.output(0)))
    given = tuple(int(axis) for axis in axes)
    return _count_from_last(given, rank) if rank else given


def _count_from_last(axes: Iterable[int], rank: int) -> tuple[int, ...]:
    return tuple(axis - rank if axis >= 0 else axis for axis in axes)


def _name(operations: Operations, variance: _Variance, scale: Value | None) -> str:
    """Return what a norm is called: by what is taken together, and what has a scale.

    Of channels and places together, with a scale for each channel, it is global (Y. Luo and
    N. Mesgarani, Conv-TasNet, 2019, equation 8); of places alone InstanceNorm (D. Ulyanov and
    others, 2016, equation 2); of channels in groups GroupNorm (Y. Wu and K. He, 2018).
    """
    if variance.mean is None:
        return "RMSNorm"
    dims = read_dims(scale)
    scaled = [place - len(dims) for place, dim in enumerate(dims) if dim > 1]
    axes = variance.axes
    if any(axis >= 0 for axis in axes):  # a scale with axes of 1 has as many as what it scales
        axes = _count_from_last(axes, len(dims)) if len(dims) > 2 else ()
    if not axes or len(scaled) != 1:
        return "LayerNorm"
    if len(axes) > 1:
        if _is_in_groups(operations, variance.mean):
            return "GroupNorm"
        return "Global LayerNorm" if scaled[0] in axes else "InstanceNorm"
    is_apart = scaled[0] not in axes and scaled[0] != -1
    return "InstanceNorm" if is_apart else "LayerNorm"


def _is_in_groups(operations: Operations, mean: _Mean) -> bool:
    """Return whether a mean is of channels that were put into groups."""
    taken = [operations.nodes[number].input(0) for number in mean.numbers]
    return any(node.op_type == "Reshape" for value in taken for node in operations.path(value))


def find_measured(operations: Operations, number: int) -> set[int]:
    """Return what measures the mean and variance that a norm is given of what it takes itself.

    Nothing where these are weights, or come from anything else.
    """
    start, *given = operations.operands[number]
    found: set[int] = set()
    pending = [*given]
    while pending:
        value = pending.pop()
        giver = operations.giver(value)
        if value is start or giver in found:
            continue
        if giver is None or len(found) >= _MOST_STEPS:
            return set()
        found.add(giver)
        pending += operations.operands[giver]
    return found if operations.is_closed({*found, number}, number) else set()


def is_square(operations: Operations, number: int) -> bool:
    """Return whether an operation multiplies a value by itself."""
    kind, taken = operations.kinds[number], operations.operands[number]
    if kind == "Mul":
        return len(taken) == 2 and taken[0] is taken[1]
    return kind == "Sqr" or (kind == "Pow" and operations.scalar(number) in (2.0, None))


def add_scale(
    operations: Operations, end: int, numbers: set[int], wanted: list[str]
) -> tuple[int, int]:
    """Add scale and shift behind a norm; return the last operation, and their width."""
    wanted, width = [*wanted], 0
    while wanted:
        user = operations.only_user(end)
        if user is None or operations.kinds[user] not in wanted:
            break
        constants = operations.fixed(user)
        if len(operations.operands[user]) != 1 or len(constants) != 1:
            break
        found = read_width(constants[0])
        if found == 1:  # a number, not a weight
            break
        width = width or found
        del wanted[: wanted.index(operations.kinds[user]) + 1]
        numbers.add(user)
        end = user
    return end, width


def _only_giver(operations: Operations, number: int) -> int | None:
    operands = operations.operands[number]
    if len(operands) == 1 or (len(operands) == 2 and operands[0] is operands[1]):
        return operations.giver(operands[0])
    return None
