"""Levels laid out beforehand, for pages that compose pictures without Graphviz.

What an item shows when it is opened is placed once, with everything inside it closed. Whatever
is then opened inside makes its box grow, and what is around it is stretched
(:func:`.layout_stability.stretch`): coordinates grow where the box does, so that nothing comes to
overlap.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np

from netloupe.explorer.options import Direction
from netloupe.explorer.view import Item, View

from .arrange import arrange_inside, arrange_root, make_room_for_sizes
from .assembly import join_pieces
from .composed import Composed
from .engine import LayoutEngine, shared_engine
from .labels import place_labels
from .level import Level
from .patience import Patience
from .place import Budget, Placer
from .placement import Floats, Places
from .plan import Measure, Plan, plan_item
from .scene import Inside
from .texts import Texts
from .titles import Title, is_better_mirrored


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Where everything is inside an open item, before it gets a border.

    Parameters
    ----------
    places
        Where everything is; shared by levels that look alike.
    labels
        Shape (edges, 2): centres of the texts beside edges, in the coordinates of ``places``;
        NaN where there is no room or nothing to say.
    opened
        The numbers of the children that were open.
    """

    level: Level
    places: Places
    labels: Floats
    texts: Texts
    opened: tuple[int, ...] = ()


class Preparer:
    """Lays out what items show when they are opened, with everything inside closed.

    Parameters
    ----------
    measure
        Gives the sizes of boxes.
    direction
        Where values flow to.
    seconds
        After which simpler layouts are taken.
    engine
        The engine; the one shared in this process where None.
    patience
        That of the page; without it a layout may take all the seconds.
    placer
        Keeps the placements that were seen; one of its own where None.
    """

    def __init__(
        self,
        measure: Measure,
        direction: Direction,
        seconds: float,
        engine: LayoutEngine | None = None,
        patience: Patience | None = None,
        placer: Placer | None = None,
    ) -> None:
        self._measure = measure
        self._direction = direction
        self._placer = placer or Placer()
        self._budget = Budget(time.monotonic() + seconds, engine or shared_engine(), patience)
        self._known: dict[Hashable, tuple[Places, Inside]] = {}

    @property
    def notices(self) -> list[str]:
        """What is to be said of the layouts."""
        return list(dict.fromkeys(self._budget.notices))

    def prepare(self, view: View, item: Item) -> tuple[Plan, Prepared]:
        """Lay out an open item of a view, with everything inside it closed."""
        plan = plan_item(view, item, self._measure, self._direction, {})
        title = None if item is view.root else self._measure.title(item)
        places, inside = self._find(plan.level, title)
        if plan.level.lanes is not None and not places.is_exact:
            plan = plan_item(view, item, self._measure, self._direction, {}, with_lanes=False)
            places, inside = self._find(plan.level, title)
        level = plan.level
        labels = place_labels(inside, self._direction, np.zeros(0, np.int64), plan.texts)
        labels = labels - _measure_shift(inside, places)
        return plan, Prepared(level, places, labels, plan.texts)

    def _find(self, level: Level, title: Title | None) -> tuple[Places, Inside]:
        key = (level.key(), title)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._place(level, title)
        return found

    def _place(self, level: Level, title: Title | None) -> tuple[Places, Inside]:
        assembly = self._placer.place(level, self._budget)
        places = join_pieces(assembly, level)
        may_turn = not assembly.is_exact
        if may_turn and title is not None and is_better_mirrored(level, places, title):
            mirrored = self._placer.place(level.mirrored(), self._budget)
            places = join_pieces(mirrored, level, is_mirrored=True)
        places = make_room_for_sizes(level, places)
        if title is None:
            return places, arrange_root(level, places, 1)
        return places, arrange_inside(level, places, title, 1)


def list_prepared(root: Composed) -> Iterator[tuple[Plan, Prepared]]:
    """Yield all open items of a picture as it was composed, in no columns."""
    pending = [root]
    while pending:
        each = pending.pop()
        pending += each.inner.values()
        arranged = each.arranged
        if arranged.inside.columns > 1:
            continue
        joined = join_pieces(arranged.assembly, arranged.level, is_mirrored=arranged.is_mirrored)
        places = make_room_for_sizes(arranged.level, joined)
        told = each.level.places[: len(each.plan.edges)]  # a back edge of a loop is added behind
        labels = told - _measure_shift(arranged.inside, places)
        opened = tuple(sorted(each.inner))
        yield each.plan, Prepared(arranged.level, places, labels, each.plan.texts, opened)


def _measure_shift(inside: Inside, places: Places) -> Floats:
    """Return how far what is inside an item is from where it was placed."""
    if not len(places.boxes):
        return np.zeros(2)
    first = inside.boxes[0]
    shift: Floats = first[:2] + first[2:] / 2 - places.boxes[0]
    return shift
