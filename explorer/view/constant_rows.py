"""The constants of a node that has very many: rows that are made when they are looked at."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import overload

from .item import ConstantRow

#: so many are made at once
_FEW = 64


class ConstantRows(Sequence[ConstantRow]):
    """Rows of some operands of a node.

    Parameters
    ----------
    places
        Which inputs of the node they are.
    make
        Makes the row of an input.
    """

    def __init__(self, places: Iterable[int], make: Callable[[int], ConstantRow]) -> None:
        self._places = array("q", places)
        self._make = make

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, number: int) -> ConstantRow: ...

    @overload
    def __getitem__(self, number: slice) -> tuple[ConstantRow, ...]: ...

    def __getitem__(self, number: int | slice) -> ConstantRow | tuple[ConstantRow, ...]:
        if isinstance(number, slice):
            return tuple(map(self._make, self._places[number]))
        return self._make(self._places[number])


def make_rows(places: Iterable[int], make: Callable[[int], ConstantRow]) -> Sequence[ConstantRow]:
    """Return the rows of some operands, made now where they are few."""
    rows = ConstantRows(places, make)
    return rows if len(rows) > _FEW else rows[:]
