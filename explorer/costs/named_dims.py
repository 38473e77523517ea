"""Results and MACs of operators of which an entry names the dims and gives a formula."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from netloupe.explorer.model import DataType
from netloupe.explorer.operators import (
    LEADING,
    AxisNames,
    Formula,
    NamedDims,
    Operation,
    Operator,
)

from .facts import Dim, Dims, Fact, Use, find_size
from .polynomial import Amount, divide_down, multiply_all

#: operands whose element type the result has, the likelier first
_DATA = ("data", "factor", "query", "rows", "state", "value")
_OTHER_TYPE = ("casts", "dequantizes", "quantizes")


class _ContradictionError(ValueError):
    """Two operands give different sizes for one name, or one has other axes than are named."""


class Sizes:
    """What the names of dims stand for at a use.

    Parameters
    ----------
    named
        What axes are called.
    """

    def __init__(self, named: NamedDims) -> None:
        self._named = named
        self.by_name: dict[str, Amount] = {}
        self.leading: Dims | None = None

    def read(self, use: Use, stated: Sequence[Fact]) -> bool:
        """Take sizes from operands, and others from what the file says of results.

        Returns whether operands agree. The file is not believed against them.
        """
        try:
            for place, names in enumerate(self._named.operands):
                self._bind(names, use.dims(place))
        except _ContradictionError:
            return False
        found = dict(self.by_name), self.leading
        for names, fact in zip(self._named.results, stated, strict=False):
            try:
                self._bind(names, fact.dims)
                found = dict(self.by_name), self.leading
            except _ContradictionError:
                self.by_name, self.leading = dict(found[0]), found[1]
        return True

    def _bind(self, names: AxisNames, dims: Dims | None) -> None:
        if names is None or dims is None:
            return
        own = names[1:] if names[0] == LEADING else names
        count = len(dims) - len(own)
        if count < 0 or (count and names[0] != LEADING):
            raise _ContradictionError
        if names[0] == LEADING:
            self.leading = _stretch(self.leading, dims[:count])
        for name, dim in zip(own, dims[count:], strict=True):
            known = name if isinstance(name, int) else self.by_name.get(name)
            joined = _join(known, dim)
            if isinstance(name, str) and joined is not None:
                self.by_name[name] = joined

    def find_dims(self, names: AxisNames) -> Dims | None:
        """Return the dimensions of a result; None where not even their number is known."""
        if names is None:
            return None
        before: Dims = ()
        if names[0] == LEADING:
            if self.leading is None:
                return None
            before, names = self.leading, names[1:]
        return *before, *(n if isinstance(n, int) else self.by_name.get(n) for n in names)

    def compute(self, formula: Formula) -> Amount | None:
        """Return what a formula gives; None where a size is not known.

        Raises
        ------
        TooLargeError
            Where that is beyond all sense.
        """
        if isinstance(formula, int):
            return formula
        if isinstance(formula, str):
            return find_size(self.leading) if formula == LEADING else self.by_name.get(formula)
        left, right = self.compute(formula.left), self.compute(formula.right)
        if left is None or right is None:
            return None
        return _apply(formula, left, right)


def _apply(operation: Operation, left: Amount, right: Amount) -> Amount | None:
    if operation.sign == "*":
        return multiply_all((left, right))
    if operation.sign == "//":
        return divide_down(left, right) if isinstance(right, int) and right > 0 else None
    return left + right if operation.sign == "+" else left - right


def _join(one: Dim, other: Dim) -> Dim:
    """Return a dimension that is known twice; of a number and a symbol the number."""
    if one is None or other is None or one == other:
        return other if one is None else one
    if isinstance(one - other, int):
        raise _ContradictionError
    return one if isinstance(one, int) else other if isinstance(other, int) else one


def _stretch(one: Dims | None, other: Dims) -> Dims:
    """Return leading axes that two operands have, of which an axis of size 1 is stretched."""
    if one is None:
        return other
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    before = len(longer) - len(shorter)
    stretched: list[Dim] = [*longer[:before]]
    for left, right in zip(longer[before:], shorter, strict=True):
        if left == 1 or right == 1:
            stretched.append(right if left == 1 else left)
        else:
            stretched.append(_join(left, right))
    return tuple(stretched)


Told: TypeAlias = "tuple[list[Fact | None], Amount | None]"


def count_by_formula(operator: Operator, use: Use, stated: Sequence[Fact]) -> Told:
    """Return facts of results, and MACs as the entry of an operator gives them.

    Parameters
    ----------
    operator
        Has dims, or MACs.
    use
        What is known of operands.
    stated
        What the file says of results; empty where that was not looked for.
    """
    named = operator.dims or NamedDims((), ())
    sizes = Sizes(named)
    if not sizes.read(use, stated):
        return [], None
    facts: list[Fact | None] = [
        Fact(sizes.find_dims(names), _find_type(operator, use, stated, place))
        for place, names in enumerate(named.results)
    ]
    macs = None if operator.macs is None else sizes.compute(operator.macs)
    return facts, None if isinstance(macs, int) and macs < 0 else macs


def _find_type(operator: Operator, use: Use, stated: Sequence[Fact], place: int) -> DataType | None:
    """Return the element type that a result has where the file does not say it.

    What the file says comes first, so there is none until it was asked.
    """
    if place >= len(stated) or stated[place].dtype is not None:
        return None
    operands = operator.operands
    zero_point = operands.find("result.zero_point")
    if zero_point is not None and place == 0:
        return use.operand(zero_point).dtype
    if operator.has(*_OTHER_TYPE) or operator.results.kind_at(place) not in ("", *_DATA):
        return None
    places = operands.list_of(*_DATA) or ((0,) if not operands.names else ())
    return use.operand(places[0]).dtype if places else None
