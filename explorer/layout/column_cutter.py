"""Where a picture is cut into columns: as evenly as can be, rather between groups than inside."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from .column_scene import CONTINUED, FOOT, Columns, Titles, turn_box, turn_edge
from .cuts import Cut, Drawn
from .scene import Scene

#: a group that is cut costs as much as a column that is a fifth too long
_CUT_COST = 1.0
#: so many cuts are chosen among
_MOST_CUTS = 400


class ColumnCutter:
    """Cuts one picture into columns.

    Parameters
    ----------
    scene
        A picture in one column.
    titles
        Gives the room of titles.
    after_inputs
        Whether it is cut only below all of the model's inputs: what has another input further
        down is no chain but a second tower or a decoder, which columns would tear apart.
    in_groups
        Whether open groups are cut too, and not only between them.
    in_repetitions
        Whether even the one repetition is cut that stands for all of a stack.
    """

    def __init__(
        self,
        scene: Scene,
        titles: Titles,
        *,
        after_inputs: bool = False,
        in_groups: bool = True,
        in_repetitions: bool = True,
    ) -> None:
        self._scene = scene
        self._titles = titles
        self._after_inputs = after_inputs
        self._in_groups = in_groups
        self._in_repetitions = in_repetitions
        self._known: dict[int, Columns] = {}

    @cached_property
    def _drawn(self) -> Drawn:
        scene = self._scene
        opened = [box.item for box in scene.boxes if box.item.is_open]
        if scene.direction == "TB":
            bands = [self._titles.title(item).band for item in opened]
            return Drawn(list(scene.boxes), list(scene.edges), np.array(bands))
        boxes, edges = [*map(turn_box, scene.boxes)], [*map(turn_edge, scene.edges)]
        return Drawn(boxes, edges, np.full(len(opened), FOOT))

    @cached_property
    def _cuts(self) -> list[Cut]:
        drawn = self._drawn
        cuts = [cut for cut in drawn.list_cuts() if self._in_groups or not cut.depth]
        if not self._in_repetitions:
            cuts = drawn.keep_whole(cuts, lambda item: item.repetition is not None)
        if not self._after_inputs:
            return cuts
        inputs = [
            number
            for number, box in enumerate(drawn.boxes)
            if box.depth == 0 and box.item.kind == "input"
        ]
        below = max(drawn.areas[inputs, 3].tolist(), default=0.0)
        return [cut for cut in cuts if cut.y >= below]

    @property
    def most(self) -> int:
        """The largest number of columns that there can be."""
        return len(self._cuts) + 1

    @property
    def height(self) -> float:
        """Length of the picture along the flow."""
        scene = self._scene
        return scene.height if scene.direction == "TB" else scene.width

    def columns(self, count: int) -> Columns:
        """Return the picture in so many columns, or in as many as there can be."""
        count = max(1, min(count, self.most))
        found = self._known.get(count)
        if found is None:
            chosen = choose_cuts(self._cuts, self.height, count)
            found = self._known[count] = Columns(self._scene, self._drawn, chosen, self._titles)
        return found


def choose_cuts(cuts: Sequence[Cut], height: float, count: int) -> list[Cut]:
    """Return the cuts that make so many columns as even as can be.

    Columns may differ somewhat in length where they then begin between groups, not inside: each
    group that is cut costs as much as a little unevenness. The cheapest are found by dynamic
    programming over the cuts.
    """
    cuts = _thin_out(cuts, height, max(_MOST_CUTS, 2 * count))
    count = min(count, len(cuts) + 1)
    depths = np.array([0, *(cut.depth for cut in cuts), 0])
    heights = np.array([0.0, *(cut.y for cut in cuts), height])
    lengths = heights[None, :] - heights[:, None] + CONTINUED * depths[:, None]
    costs = (lengths * count / height) ** 4 + _CUT_COST * depths[None, :]
    costs[np.tril_indices(len(heights))] = np.inf
    best = np.where(np.arange(len(heights)) == 0, 0.0, np.inf)
    before = []
    for _ in range(count):
        totals = best[:, None] + costs
        before.append(np.argmin(totals, axis=0))
        best = totals.min(axis=0)
    chosen, place = [], len(heights) - 1
    for column in reversed(before):
        place = int(column[place])
        if place:
            chosen.append(cuts[place - 1])
    return chosen[::-1]


def _thin_out(cuts: Sequence[Cut], height: float, most: int) -> Sequence[Cut]:
    """Return so many cuts at most, spread over the height, of those near each other the outer."""
    if len(cuts) <= most:
        return cuts
    kept: dict[int, Cut] = {}
    for cut in cuts:
        place = int(cut.y / height * most)
        if place not in kept or cut.depth < kept[place].depth:
            kept[place] = cut
    return [*kept.values()]
