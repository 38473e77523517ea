"""How likely numbers are: logarithms of the densities of distributions."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Set
from typing import NamedTuple

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import OUTSIDE, Operations
from .readings import read_scalar

#: what each dimension adds to the logarithm: log(2 pi) / 2
_EACH = 0.5 * math.log(2 * math.pi)
_NEARLY = 1e-4
_HALF, _WHOLE = -0.5, -1.0
_MOST_NUMBERS = 24
#: between the sum over dimensions and the end
_MOST_BEHIND = 6
#: besides the square: logarithms of deviations
_MOST_OTHERS = 2
_BOTH = 2
#: what is added up in the end has so many terms at most
_MOST_TERMS = 2_000
_FACTORS = ("Div", "Mul")
#: what stands between logarithms of slopes and their sum: some are put beside zeros
_PLACED = frozenset(
    {"Add", "Concat", "Mul", "Neg", "ScatterElements", "ScatterND", "Slice", "Sub", "Where"}
)
_MOST_PLACED = 40
_MOST_OF_SLOPE = 400
_ADDING = ("Add", "Div", "Mul", "Neg", "Sub")
_SUMMED = (*_ADDING, "Pow", "ReduceSum")


class Density(NamedTuple):
    """The logarithm of a Gaussian density.

    Parameters
    ----------
    numbers
        Its operations.
    value
        Of what it is the density.
    dimensions
        Over how many numbers the constant in it says that the sum is; 0 where it stands inside.
    """

    numbers: frozenset[int]
    value: Value
    dimensions: int


class _Terms:
    """What is added up: constants inside and outside of the sum over dimensions, and the rest."""

    def __init__(self, blocks: FoundBlocks) -> None:
        self._blocks, self._operations = blocks, blocks.operations
        self.numbers: set[int] = set()
        #: squares, with their factors and whether they are divided by a variance
        self.squares: list[tuple[int, float, bool]] = []
        self.inside = self.outside = 0.0
        self.others = 0

    def read(
        self, number: int, factor: float, *, is_inside: bool = False, is_divided: bool = False
    ) -> bool:
        """Add what an operation is the sum of; return whether it is one that such a sum has."""
        operations = self._operations
        is_known = self._blocks.owner[number] is not None or number in self.numbers
        if is_known or len(self.numbers) > _MOST_NUMBERS:
            return False
        self.numbers.add(number)
        node, kind = operations.nodes[number], operations.kinds[number]
        taken = operations.operands[number]
        fixed = operations.scalar(number) if operations.fixed(number) else None
        is_square = kind == "Mul" and len(taken) == _BOTH and len({*taken}) == 1
        if is_square or (kind == "Pow" and fixed == _BOTH):
            self.squares.append((number, factor, is_divided))
            return is_inside
        if kind == "ReduceSum":
            return not is_inside and self._add(taken[0], factor, is_inside=True)
        if kind in ("Add", "Sub") and not is_divided:
            places = enumerate(node.inputs[:_BOTH])
            signed = [(v, -factor if kind == "Sub" and place else factor) for place, v in places]
            return all(v is not None and self._add(v, f, is_inside=is_inside) for v, f in signed)
        if kind == "Neg":
            return self._add(taken[0], -factor, is_inside=is_inside, is_divided=is_divided)
        if kind == "Mul" and fixed is not None:
            return self._add(taken[0], factor * fixed, is_inside=is_inside, is_divided=is_divided)
        if kind != "Div" or operations.is_fixed(node.input(0)):
            return False
        if fixed:
            return self._add(taken[0], factor / fixed, is_inside=is_inside, is_divided=is_divided)
        return self._add(taken[0], factor, is_inside=is_inside, is_divided=True)

    def _add(
        self, value: Value, factor: float, *, is_inside: bool, is_divided: bool = False
    ) -> bool:
        """Add one operand of a sum: a number, what is computed for it alone, or something else."""
        operations = self._operations
        if operations.is_fixed(value):
            number = read_scalar(value)
            if number is None:
                self.others += 1
            elif is_inside:
                self.inside += factor * number
            else:
                self.outside += factor * number
            return True
        giver = operations.giver(operations.source(value))
        is_own = giver is not None and operations.only_user(giver) is not None
        if giver is None or not is_own or operations.kinds[giver] not in _SUMMED:
            self.others += 1
            return not is_divided
        return self.read(giver, factor, is_inside=is_inside, is_divided=is_divided)


def find_gaussian_densities(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find log N(x; m, s²) = -Σ (x - m)² / (2 s²) - Σ log s - d log(2 pi) / 2.

    The constant tells it from other sums of squares (K. Murphy, Probabilistic Machine Learning: An
    Introduction, 2022, equation 3.10, of a covariance that is diagonal). It is what the last value
    of a normalizing flow is judged by (L. Dinh and others, Density Estimation Using Real NVP, 2017,
    equation 2), and actions by what chose them.
    """
    operations = blocks.operations
    for total, kind in enumerate(operations.kinds):
        if kind != "ReduceSum" or blocks.owner[total] is not None:
            continue
        for end in _list_ends(blocks, total)[::-1]:
            found = read_density(blocks, end)
            if found is not None:
                facts = (f"{found.dimensions:,} dimensions",) if found.dimensions > 1 else ()
                yield FoundBlock("density", "Gaussian log-density", found.numbers, end, facts)
                break


def _list_ends(blocks: FoundBlocks, total: int) -> list[int]:
    """Return a sum and what follows it, as long as only stored numbers join."""
    operations = blocks.operations
    ends = [total]
    for _ in range(_MOST_BEHIND):
        user = operations.only_user(ends[-1])
        if user is None or operations.kinds[user] not in _ADDING:
            break
        if len(operations.operands[user]) > 1 or blocks.owner[user] is not None:
            break
        ends.append(user)
    return ends


def read_density(blocks: FoundBlocks, end: int) -> Density | None:
    """Return the Gaussian density whose logarithm an operation gives; None for anything else."""
    operations = blocks.operations
    terms = _Terms(blocks)
    if not terms.read(end, 1.0) or len(terms.squares) != 1 or terms.others > _MOST_OTHERS:
        return None
    square, factor, is_divided = terms.squares[0]
    if not _is_near(factor, _HALF) and not (is_divided and _is_near(factor, _WHOLE)):
        return None
    dimensions = 0
    if not _is_near(terms.inside, -_EACH):
        each = -terms.outside / _EACH
        dimensions = round(each)
        if dimensions < 1 or terms.inside or not _is_near(each / dimensions, 1.0):
            return None
    value = _take_standardized(blocks, terms.numbers, operations.operands[square][0])
    if not operations.is_closed(terms.numbers, end):
        return None
    return Density(frozenset(terms.numbers), value, dimensions)


def _is_near(number: float, wanted: float) -> bool:
    return abs(number - wanted) < _NEARLY


def _take_standardized(blocks: FoundBlocks, numbers: set[int], value: Value) -> Value:
    """Return what is standardized before it is squared: less its mean, over its deviation."""
    operations = blocks.operations
    for kinds in (("Div", "Mul"), ("Sub",)):
        giver = operations.given_by(value, *kinds)
        if giver is None or blocks.owner[giver] is not None:
            continue
        is_inverse = operations.kinds[giver] == "Div"
        if is_inverse and operations.is_fixed(operations.nodes[giver].input(0)):
            continue
        if not numbers.issuperset(operations.users[giver]):
            continue
        numbers.add(giver)
        value = operations.operands[giver][0]
    return value


def sums_log_determinants(operations: Operations, densities: Set[int]) -> bool:
    """Return whether an output is a density's logarithm and those of what scales lead there by.

    log p(x) = log p(z) + Σ log |det dz/dx| (L. Dinh and others, Density Estimation Using Real NVP,
    2017, equation 2): of steps that scale, the latter is the sum of the logarithms of what they
    multiply or divide by, or of what its exponentials are.

    Parameters
    ----------
    densities
        The operations that give logarithms of densities.
    """
    return _sums(operations, densities, _is_of_scale)


def sums_spline_slopes(operations: Operations, densities: Set[int]) -> bool:
    """Return whether an output is a density's logarithm and those of slopes of monotone splines.

    C. Durkan and others, Neural Spline Flows, 2019, section 3.1: the bins of a spline are sums of
    what a softmax gives, and where it is linear nothing is added.

    Parameters
    ----------
    densities
        The operations that give logarithms of densities.
    """
    return _sums(operations, densities, _is_of_spline)


def _sums(
    operations: Operations, densities: Set[int], is_term: Callable[[Operations, int], bool]
) -> bool:
    """Return whether an output is the sum of a density's logarithm and of such terms."""
    for end, users in enumerate(operations.users):
        if OUTSIDE in users or not users:
            terms = _list_terms(operations, end, densities)
            others = terms - densities
            if len(others) < len(terms) and any(is_term(operations, term) for term in others):
                return True
    return False


def _is_of_spline(operations: Operations, total: int) -> bool:
    """Return whether what is summed are logarithms of what is made of bins."""
    for log in _find_before(operations, total, "Log", _MOST_PLACED, through=_PLACED):
        for edges in _find_before(operations, log, "CumSum", _MOST_OF_SLOPE):
            if _find_before(operations, edges, "Softmax", _MOST_PLACED):
                return True
    return False


def _find_before(
    operations: Operations, start: int, kind: str, most: int, *, through: Set[str] = frozenset()
) -> list[int]:
    """Return the operations of a kind that lead to one; through some kinds alone if any is given.

    The nearest ones are looked at first, and no more than so many.
    """
    found: list[int] = []
    seen, pending = {start}, deque([start])
    while pending and len(seen) < most:
        for giver in operations.givers(pending.popleft()):
            if giver in seen:
                continue
            seen.add(giver)
            if operations.kinds[giver] == kind:
                found.append(giver)
            elif not through or operations.kinds[giver] in through:
                pending.append(giver)
    return found


def _list_terms(operations: Operations, end: int, densities: Set[int]) -> set[int]:
    """Return what an operation is the sum of: densities, and what is summed over features."""
    terms: set[int] = set()
    seen, pending = {end}, [end]
    while pending and len(seen) < _MOST_TERMS:
        number = pending.pop()
        if number in densities or operations.kinds[number] == "ReduceSum":
            terms.add(number)
        elif operations.kinds[number] in ("Add", "Neg", "Sub", "Sum"):
            givers = {*operations.givers(number)} - seen
            seen |= givers
            pending += givers
    return terms


def _is_of_scale(operations: Operations, total: int) -> bool:
    """Return whether logarithms of factors are summed, or what they are exponentials of."""
    value = operations.operands[total][0]
    giver = operations.giver(value)
    if giver is not None and operations.kinds[giver] == "Log":
        scale = operations.giver(operations.operands[giver][0])
        return scale is not None and _is_factor(operations, scale)
    users = operations.users[giver] if giver is not None else []
    exponentials = [user for user in users if user >= 0 and operations.kinds[user] == "Exp"]
    return any(_is_factor(operations, exponential) for exponential in exponentials)


def _is_factor(operations: Operations, number: int) -> bool:
    users = operations.users[number]
    return any(user >= 0 and operations.kinds[user] in _FACTORS for user in users)
