"""Where a picture may be cut into columns: between boxes, where one stream at most passes.

What the author of a model would call its trunk narrows to one value at many places: between two
blocks, two layers, two operators of a chain. There, and only there, a picture may go on in
another column, at whatever level of open groups the place is. Where branches run beside each
other it is not cut: nobody could follow them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netloupe.explorer.arrays import sort_distinct
from netloupe.explorer.view import Item

from .placement import Curve, Curves, Floats, Integers
from .scene import SceneBox, SceneEdge

#: least room between boxes for a cut
_LEAST_GAP = 8.0
#: a stream is cut at its very beginning where the box that it leaves is so near above
_NEAR = 3.0
#: the lower border of an open group takes so much
_WALL = 3.0


class Cut(NamedTuple):
    """A place where a picture may go on in another column.

    Parameters
    ----------
    y
        Its height.
    stream
        Number of the stream that passes, as :attr:`Drawn.streams` has it; -1 for none.
    depth
        Number of open groups that are cut.
    """

    y: float
    stream: int
    depth: int


@dataclass(eq=False)
class Drawn:
    """A picture whose values flow downwards, as arrays.

    Parameters
    ----------
    bands
        Height of each open group's title above what is inside, in the order of the boxes.
    """

    boxes: list[SceneBox]
    edges: list[SceneEdge]
    bands: Floats

    @cached_property
    def areas(self) -> Floats:
        """Shape (boxes, 4): left, top, right, bottom."""
        areas = np.array([box[1:5] for box in self.boxes], np.float64).reshape(-1, 4)
        areas[:, 2:] += areas[:, :2]
        return areas

    @cached_property
    def parents(self) -> Integers:
        """The enclosing box of each; -1 for none."""
        return np.array([box.parent for box in self.boxes], np.int64)

    @cached_property
    def is_open(self) -> NDArray[np.bool_]:
        """Whether each box is an open group."""
        return np.array([box.item.is_open for box in self.boxes], np.bool_)

    @cached_property
    def curves(self) -> Curves:
        """The ways of the edges."""
        return Curves.of([edge.points for edge in self.edges])

    @cached_property
    def ends(self) -> Integers:
        """Shape (edges, 2): the boxes at the ends of each edge."""
        return np.array([edge[2:4] for edge in self.edges], np.int64).reshape(-1, 2)

    @cached_property
    def holders(self) -> Integers:
        """The open box inside of which each edge runs; -1 for the picture itself."""
        sources, targets = self.ends.T
        parents = np.append(self.parents, -1)  # so that -1 has -1 around it
        comes_in = (sources >= 0) & (parents[targets] == sources)
        goes_out = (targets >= 0) & (parents[sources] == targets)
        around = parents[np.maximum(sources, targets)]
        found: Integers = np.where(comes_in, sources, np.where(goes_out, targets, around))
        return found

    @cached_property
    def border_ends(self) -> dict[int, list[tuple[float, float]]]:
        """Where edges end at the border of each open group, from outside and from inside."""
        found: dict[int, list[tuple[float, float]]] = {}
        is_open = self.is_open.tolist()
        for edge in self.edges:
            for box, (x, y) in ((edge.source, edge.points[:2]), (edge.target, edge.points[-2:])):
                if box >= 0 and is_open[box]:
                    found.setdefault(box, []).append((x, y))
        return found

    @cached_property
    def streams(self) -> Integers:
        """The stream of each edge: what leaves one place for the sake of one value."""
        numbers: dict[tuple[str, Curve], int] = {}
        return np.array(
            [numbers.setdefault((edge.path, edge.points[:2]), len(numbers)) for edge in self.edges],
            np.int64,
        )

    @cached_property
    def heights(self) -> Floats:
        """Shape (edges, 2): where each edge begins and where it ends."""
        points, starts = self.curves.points[:, 1], self.curves.starts
        return np.stack([points[starts[:-1]], points[starts[1:] - 1]], axis=1)

    @cached_property
    def spans(self) -> tuple[Floats, Floats]:
        """The least and the greatest height of each edge."""
        begin = self.curves.starts[:-1]
        heights = self.curves.points[:, 1]
        return np.minimum.reduceat(heights, begin), np.maximum.reduceat(heights, begin)

    def list_cuts(self) -> list[Cut]:
        """Return all places where it may be cut, from above."""
        upper, lower = self._find_gaps()
        if not len(upper):
            return []
        middles = (upper + lower) / 2
        depths, is_chain = self._count_frames(middles)
        if not self.edges:
            allowed = is_chain & (depths == 0)
            return [Cut(y, -1, 0) for y in middles[allowed].tolist()]
        streams, counts = self._find_streams(middles)
        lows, highs = self.spans
        crossing = _count_covers(lows, highs, middles)
        _, firsts = np.unique(self.streams, return_index=True)
        starts = self.heights[firsts, 0]
        is_one = counts == 1
        passing = np.where(is_one, streams, 0)
        begin = starts[passing]
        is_near = begin >= upper - _NEAR
        is_clear = is_one & (begin < middles) & (is_near | (crossing == 1))
        is_clear &= self._find_flows(len(firsts))[passing]
        allowed = is_chain & (is_clear | ((counts == 0) & (depths == 0)))
        y = np.where(is_one, np.where(is_near, begin, upper + 1), middles)
        numbers = np.where(is_one, streams, -1)
        found = zip(
            y[allowed].tolist(), numbers[allowed].tolist(), depths[allowed].tolist(), strict=True
        )
        return [Cut(*each) for each in found]

    def keep_whole(self, cuts: list[Cut], is_one: Callable[[Item], bool]) -> list[Cut]:
        """Return those of some cuts that run through no open group of a kind."""
        frames = [
            (top, bottom)
            for box, (top, bottom) in zip(self.boxes, self.areas[:, 1::2].tolist(), strict=True)
            if box.item.is_open and is_one(box.item)
        ]
        if not frames or not cuts:
            return cuts
        tops, bottoms = np.array(frames).T
        covered = _count_covers(tops, bottoms, np.array([cut.y for cut in cuts]))
        return [cut for cut, count in zip(cuts, covered.tolist(), strict=True) if not count]

    def _find_flows(self, count: int) -> NDArray[np.bool_]:
        """Return of each stream whether it goes from box to box, and not only to a border.

        Between a group's border and its first or last box there is nothing that would be worth
        a column.
        """
        sources, targets = self.ends.T
        found = np.zeros(count, np.bool_)
        found[self.streams[(self.holders != sources) & (self.holders != targets)]] = True
        return found

    def _find_gaps(self) -> tuple[Floats, Floats]:
        """Return upper and lower ends of the heights at which no box and no title is."""
        closed, opened = self.areas[~self.is_open], self.areas[self.is_open]
        tops = np.concatenate([closed[:, 1], opened[:, 1], opened[:, 3] - _WALL])
        bottoms = np.concatenate([closed[:, 3], opened[:, 1] + self.bands, opened[:, 3]])
        order = np.argsort(tops, kind="stable")
        tops, bottoms = tops[order], np.maximum.accumulate(bottoms[order])
        is_gap = tops[1:] > bottoms[:-1] + _LEAST_GAP
        return bottoms[:-1][is_gap], tops[1:][is_gap]

    def _count_frames(self, heights: Floats) -> tuple[Integers, NDArray[np.bool_]]:
        """Return how many open groups are at each height, and whether all are in one another."""
        depths = np.array([box.depth for box in self.boxes], np.int64)[self.is_open]
        frames = self.areas[self.is_open]
        total = np.zeros(len(heights), np.int64)
        is_chain = np.ones(len(heights), np.bool_)
        for depth in sort_distinct(depths).tolist():
            chosen = frames[depths == depth]
            found = _count_covers(chosen[:, 1], chosen[:, 3], heights)
            total += found
            is_chain &= found <= 1
        return total, is_chain

    def _find_streams(self, heights: Floats) -> tuple[Integers, Integers]:
        """Return the one stream at each height (anything where it is not one), and how many."""
        lows, highs = self.spans
        count = int(self.streams.max()) + 1
        upper, lower = np.full(count, np.inf), np.full(count, -np.inf)
        np.minimum.at(upper, self.streams, lows)
        np.maximum.at(lower, self.streams, highs)
        begun, ended = np.argsort(upper, kind="stable"), np.argsort(lower, kind="stable")
        sums = [np.concatenate([[0], np.cumsum(order)]) for order in (begun, ended)]
        places = (
            np.searchsorted(upper[begun], heights, "right"),
            np.searchsorted(lower[ended], heights, "right"),
        )
        # where one has begun and not ended, it is what the sums of numbers differ by
        return sums[0][places[0]] - sums[1][places[1]], places[0] - places[1]


def _count_covers(lows: Floats, highs: Floats, heights: Floats) -> Integers:
    """Return how many spans there are at each height."""
    begun: Integers = np.searchsorted(np.sort(lows), heights, "right")
    return begun - np.searchsorted(np.sort(highs), heights, "right")
