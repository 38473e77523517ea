"""Areas that are taken, and which of many others meet them: in arrays, by the cells of grids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from netloupe.explorer.arrays import sort_distinct

from .placement import Floats, Integers, spread_runs

#: side of the cells of the finest grid, in pixels; each coarser one has cells so much larger
_CELL = 120.0
_COARSER = 8
#: where more areas touch a cell there is no room in it, without looking closer
_CROWDED = 400
#: so many pairs of areas are compared at once
_MOST_PAIRS = 400_000
#: larger than the number of rows of cells in any picture
_ROWS = 2**32

Flags = NDArray[np.bool_]


class AreaIndex:
    """Areas of one level, found by the cells that they touch.

    The larger an area, the coarser the grid that it is kept in, so that each touches few cells
    however large the picture is. Everything is done for many areas at once, so that none costs
    more than some arithmetic on numbers that lie side by side.

    Parameters
    ----------
    areas
        Shape (areas, 4): left, top, right, bottom.
    owners
        A number for each, see :meth:`meets`.
    """

    def __init__(self, areas: Floats, owners: Integers) -> None:
        self.areas = areas
        self.owners = owners
        #: for each grid in use the size of its cells, the sorted cells, and the areas in them
        self._grids: list[tuple[float, Integers, Integers]] = []
        extents = np.maximum(areas[:, 2] - areas[:, 0], areas[:, 3] - areas[:, 1])
        size = _CELL
        rest = np.arange(len(areas))
        while len(rest):
            is_coarse = extents[rest] > _COARSER * size
            fine = rest[~is_coarse]
            if len(fine):
                cells, numbers = _list_cells(areas[fine], size)
                order = np.argsort(cells, kind="stable")
                self._grids.append((size, cells[order], fine[numbers[order]]))
            rest = rest[is_coarse]
            size *= _COARSER

    def meets(self, areas: Floats, owners: Integers) -> Flags:
        """Return which areas meet any in the index that has another owner, or are crowded.

        Parameters
        ----------
        areas
            Shape (areas, 4).
        owners
            Of each: what has the same owner is not in its way.
        """
        found = np.zeros(len(areas), np.bool_)
        for size, cells, members in self._grids:
            asked, numbers = _list_cells(areas, size)
            first = np.searchsorted(cells, asked, side="left")
            counts = np.searchsorted(cells, asked, side="right") - first
            crowded = counts > _CROWDED
            found[numbers[crowded]] = True
            counts[crowded] = 0
            totals = np.cumsum(counts)
            begin = 0
            while begin < len(counts):
                done = totals[begin - 1] if begin else 0
                end = max(begin + 1, int(np.searchsorted(totals, done + _MOST_PAIRS, "right")))
                part = slice(begin, end)
                pairs = np.repeat(numbers[part], counts[part])
                others = members[spread_runs(first[part], counts[part])]
                is_met = self.owners[others] != owners[pairs]
                is_met &= _overlap(areas[pairs], self.areas[others])
                found[pairs[is_met]] = True
                begin = end
        return found


def _overlap(first: Floats, second: Floats) -> Flags:
    return (
        (first[:, 0] < second[:, 2])
        & (second[:, 0] < first[:, 2])
        & (first[:, 1] < second[:, 3])
        & (second[:, 1] < first[:, 3])
    )


def _list_cells(areas: Floats, size: float) -> tuple[Integers, Integers]:
    """Return the cells that areas touch, as numbers, and for each the number of the area."""
    low = np.floor(areas[:, :2] / size).astype(np.int64)
    spans = np.floor(areas[:, 2:] / size).astype(np.int64) - low + 1
    counts = spans[:, 0] * spans[:, 1]
    numbers = np.repeat(np.arange(len(areas)), counts)
    places = spread_runs(np.zeros(len(areas), np.int64), counts)
    columns = low[numbers, 0] + places % spans[numbers, 0]
    rows = low[numbers, 1] + places // spans[numbers, 0]
    return columns * _ROWS + rows, numbers


class ProximityFilter:
    """What is near to some areas: quickly found, and never too little.

    Parameters
    ----------
    wanted
        Shape (areas, 4).
    axis
        The axis along which these follow each other: 0 for x, 1 for y.
    """

    def __init__(self, wanted: Floats, axis: int) -> None:
        self.axis = axis
        low = np.floor(wanted[:, axis] / _CELL).astype(np.int64)
        high = np.floor(wanted[:, axis + 2] / _CELL).astype(np.int64)
        #: the bands of cells across the axis that areas are in, in order
        self._bands = sort_distinct(spread_runs(low, high - low + 1))
        #: from where to where they are across it
        self._across = wanted[:, 1 - axis].min(), wanted[:, 3 - axis].max()

    def near(self, areas: Floats) -> Flags:
        """Return which areas may meet any of those that are wanted."""
        first = np.searchsorted(self._bands, np.floor(areas[:, self.axis] / _CELL))
        following = np.append(self._bands, np.iinfo(np.int64).max)[first]
        low, high = self._across
        found: Flags = following <= np.floor(areas[:, self.axis + 2] / _CELL)
        found &= (areas[:, 1 - self.axis] <= high) & (areas[:, 3 - self.axis] >= low)
        return found
