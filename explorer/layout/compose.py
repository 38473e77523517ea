"""Composition: every open item is laid out alone, and the results are put into one another.

The children of an open item are boxes of known size: closed items as large as their faces,
open ones as large as their own layout has made them. Values that cross a border do so at a
port, which the outer layout knows the place of. The cost therefore depends on what is open,
items of equal sizes and wiring are laid out once, and opening a group costs its own layout
and, of the items around it, that of the piece where it stands. What is planned, placed and
written of all other pieces is taken over and moved, by a few operations on whole arrays.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

import numpy as np

from netloupe.explorer.model.collector import collector_paused
from netloupe.explorer.options import Direction, Wrap
from netloupe.explorer.progress import step
from netloupe.explorer.view import Item, View

from .arrange import arrange_inside, arrange_root, make_room_for_sizes
from .assembly import Assembly, join_pieces
from .back_edge import LoopRoom, lay_back_edge, plan_back_edge
from .bounded import BoundedCache
from .composed import Arranged, Composed, Shown
from .engine import LayoutEngine, shared_engine
from .labels import place_labels
from .layout_stability import PieceHistory
from .level import Level
from .patience import Patience
from .place import Budget, Placer
from .placement import Floats
from .plan import Measure, Placed, plan_item, renew_plan
from .scene import Scene, SceneLevel
from .texts import Texts
from .titles import Title, is_better_mirrored
from .wrap import is_extreme, wrap_places

#: seconds for the layout of a whole picture, unless the caller says otherwise
DEADLINE = 6.0
#: seconds for what was deliberately asked for and is shown with progress and a way to end it
PATIENCE = 120.0
#: so many numbers of places inside open items are kept
_MOST_KEPT = 4_000_000
#: what is open in so many views is kept
_MOST_VIEWS = 4

_NO_LINES: Floats = np.zeros((0, 2))


class Composer:
    """Lays out views; keeps what it has seen and what it has shown.

    A composer remembers its scenes: what is laid out again keeps the order that it had. A new
    composer gives the same scene for the same view, always.

    Parameters
    ----------
    engine
        The engine; the one shared in this process where None.
    ids
        Numbers for the levels of its scenes; a count from 1 where None. Composers whose scenes
        one canvas is shown, one after the other, share them: it knows levels by their numbers.
    patience
        That of the page which the pictures are for; without it a layout may take all the time
        until the deadline.
    placer
        Keeps the placements that were seen; one of its own where None.
    """

    def __init__(
        self,
        engine: LayoutEngine | None = None,
        ids: Iterator[int] | None = None,
        patience: Patience | None = None,
        placer: Placer | None = None,
    ) -> None:
        self._engine = engine
        self.patience = patience
        self.placer = placer or Placer()
        self._insides: BoundedCache[Arranged] = BoundedCache(_MOST_KEPT)
        self._shown: BoundedCache[Shown] = BoundedCache(_MOST_VIEWS)
        self._ids = count(1) if ids is None else ids

    def compose(
        self,
        view: View,
        measure: Measure,
        direction: Direction = "TB",
        *,
        wrap: Wrap = False,
        deadline: float = DEADLINE,
    ) -> Scene:
        """Lay out everything that is open in a view.

        Parameters
        ----------
        view
            What is shown.
        measure
            Gives the sizes of boxes.
        direction
            ``TB``: values flow downwards; ``LR``: to the right.
        wrap
            Whether what is extremely long is cut into columns (rows for LR) that are read like
            a page; a number says into how many.
        deadline
            Seconds; parts that are not ready by then get a simpler layout and the scene a
            notice.

        Notes
        -----
        Whoever watches (:mod:`netloupe.explorer.progress`) is told the share of the open items
        that have their layout. What ends it leaves the composer as it was.
        """
        engine = self._engine or shared_engine()
        budget = Budget(time.monotonic() + deadline, engine, self.patience)
        shown = self._shown.get(id(view))
        if shown is None or (shown.view, shown.direction, shown.wrap) != (view, direction, wrap):
            shown = Shown(view, direction, wrap)
        with collector_paused():  # there may be a million of what is looked at
            shown.root = self._compose_items(shown, measure, budget)
        self._shown.put(id(view), shown, 1)
        root = shown.root.level
        width, height = root.inside.width, root.inside.height
        return Scene(
            width,
            height,
            direction,
            root.notices,
            root,
            root.is_wrapped or is_extreme(width, height, direction),
        )

    def recall(self, view: View) -> Composed | None:
        """Return what is remembered of the root of a view, as it was last composed."""
        shown = self._shown.get(id(view))
        return shown.root if shown is not None and shown.view is view else None

    def forget(self, view: View) -> None:
        """Forget how a view was shown: it is composed next as if it were new."""
        self._shown.drop(id(view))

    def prepare(
        self,
        view: View,
        item: Item,
        measure: Measure,
        engine: LayoutEngine,
        *,
        deadline: float,
    ) -> None:
        """Lay out what opening an item would show, so that it is at hand when it is opened.

        The view is afterwards as it was before, and nothing of this counts as shown.

        Parameters
        ----------
        view, item
            A closed item of a view; nothing is done where the view is not as it was composed.
        measure
            Gives the sizes of boxes.
        engine
            Does the work, so that the one for pictures can be asked at once.
        deadline
            As for :meth:`compose`.
        """
        shown = self._shown.get(id(view))
        if shown is None or shown.root is None or item.is_open or not item.openable:
            return
        if shown.root.revision != view.root.revision:
            return
        budget = Budget(time.monotonic() + deadline, engine)
        around = []
        outer = item.parent
        while outer is not None:
            around.append(outer)
            outer = outer.parent
        known = [shown.root]
        for outer in reversed(around[:-1]):
            inner = known[-1].inner.values()
            found = next((each for each in inner if each.level.item is outer), None)
            if found is None:
                return
            known.append(found)
        revisions = [each.revision for each in around]
        view.open_item(item)
        try:
            made = {id(item): self._compose_item(shown, item, None, {}, measure, budget)}
            for outer, before in zip(around, reversed(known), strict=True):
                made.update((id(each.level.item), each) for each in before.inner.values())
                new = self._compose_item(shown, outer, before, made, measure, budget, is_trial=True)
                made = {id(outer): new}
        finally:
            view.close_item(item)
            for each, revision in zip(around, revisions, strict=True):
                each.revision = revision

    def _compose_items(self, shown: Shown, measure: Measure, budget: Budget) -> Composed:
        """Lay out the open items that are not as they were before; return the root."""
        made: dict[int, Composed] = {}
        todo: list[tuple[Item, Composed | None]] = []
        root = shown.view.root
        pending = [(root, shown.root)]
        while pending:
            item, before = pending.pop()
            if before is not None and before.revision == item.revision:
                made[id(item)] = before
                continue
            todo.append((item, before))
            inner = before.inner.values() if before is not None else ()
            known = {id(each.level.item): each for each in inner}
            for child in item.children:
                if child.is_open:
                    pending.append((child, known.get(id(child))))
        for number, (item, before) in enumerate(reversed(todo)):
            step("laying out", number / len(todo))
            made[id(item)] = self._compose_item(shown, item, before, made, measure, budget)
        if todo:
            step("laying out", 1.0)
        return made[id(root)]

    def _compose_item(
        self,
        shown: Shown,
        item: Item,
        before: Composed | None,
        made: dict[int, Composed],
        measure: Measure,
        budget: Budget,
        *,
        is_trial: bool = False,
    ) -> Composed:
        """Lay out an open item; what it looked like is kept unless it is a trial."""
        view = shown.view
        inner = {
            number: made[id(child)] for number, child in enumerate(item.children) if child.is_open
        }
        placed = {
            number: Placed(each.arranged.framed, each.plan.borders)
            for number, each in inner.items()
        }
        plan = None
        if before is not None:
            plan = renew_plan(before.plan, item, measure, placed)
        is_renewed = plan is not None
        if plan is None:
            plan = plan_item(view, item, measure, shown.direction, placed)
        history = None
        if before is not None and not before.level.notices and before.arranged.level.children:
            history = before.history or PieceHistory(before.arranged.level.connections())
            if not is_renewed and history.connections != plan.level.connections():
                history = None  # it is wired in another way
        if is_trial and history is not None:
            history = history.copy()
        already = len(budget.notices)
        back = plan_back_edge(item, plan, measure)
        frame = Frame(
            None if item is view.root else measure.title(item),
            shown.wrap,
            before is not None and before.arranged.inside.columns > 1,
            back.room if back is not None else None,
        )
        known = before.arranged if before is not None else None
        arranged = self._arrange_again(known, plan.level, frame, budget, history)
        if plan.level.lanes is not None and not arranged.assembly.is_exact:
            # what is no lanes tells its sizes along one stream
            plan = plan_item(view, item, measure, shown.direction, placed, with_lanes=False)
            arranged = self._arrange_again(known, plan.level, frame, budget, history)
        notices = dict.fromkeys(budget.notices[already:])
        for each in inner.values():
            notices.update(dict.fromkeys(each.level.notices))
        edges, texts = plan.edges, plan.texts.strings
        labels = _find_labels(arranged, list(inner), plan.texts)
        if back is not None and arranged.framed is not arranged.inside:
            edges, texts = [*edges, *back.edges], [*texts, *back.texts]
            labels = np.concatenate([labels, arranged.lines])
        level = SceneLevel(
            next(self._ids),
            item,
            arranged.framed,
            edges,
            plan.ports,
            texts,
            labels,
            {number: each.level for number, each in inner.items()},
            plan.children,
            plan.revisions,
            tuple(notices),
        )
        return Composed(level, item.revision, plan, arranged, history, inner)

    def _arrange_again(
        self,
        before: Arranged | None,
        level: Level,
        frame: Frame,
        budget: Budget,
        history: PieceHistory | None,
    ) -> Arranged:
        """Return the places inside an open item; as far as may be as they were before."""
        if before is None or history is None:
            return self._arrange(level, frame, budget)
        if before.assembly.is_exact and not level.has_shape:
            return self._arrange(level, frame, budget)
        return self._rearrange(before, level, frame, budget, history)

    def _arrange(self, level: Level, frame: Frame, budget: Budget) -> Arranged:
        """Return the places inside an open item."""
        key = (level.key(), frame)
        arranged = self._insides.get(key)
        if arranged is None:
            already = len(budget.notices)
            assembly = self.placer.place(level, budget)
            title = frame.title
            is_mirrored = (
                title is not None
                and not assembly.is_exact
                and is_better_mirrored(level, join_pieces(assembly, level), title)
            )
            if is_mirrored:
                assembly = self.placer.place(level.mirrored(), budget)
            arranged = _put_together(assembly, level, frame, is_mirrored=is_mirrored)
            if len(budget.notices) == already:
                self._insides.put(key, arranged, arranged.inside.weight)
        return arranged

    def _rearrange(
        self,
        before: Arranged,
        level: Level,
        frame: Frame,
        budget: Budget,
        history: PieceHistory,
    ) -> Arranged:
        """Return the places inside an open item that was shown before and is wired as it was."""
        old, new = before.level, level
        if before.is_mirrored:
            old, new = old.mirrored(), new.mirrored()
        assembly = self.placer.replace(before.assembly, old, new, budget, history)
        return _put_together(assembly, level, frame, is_mirrored=before.is_mirrored)


def _put_together(
    assembly: Assembly, level: Level, frame: Frame, *, is_mirrored: bool = False
) -> Arranged:
    """Put pieces together and give them the border of an open item."""
    places, columns = wrap_places(
        level,
        make_room_for_sizes(level, join_pieces(assembly, level, is_mirrored=is_mirrored)),
        frame.wrap,
        was_wrapped=frame.was_wrapped,
        is_outermost=frame.title is None,
    )
    if frame.title is None:
        inside = arrange_root(level, places, columns)
    else:
        inside = arrange_inside(level, places, frame.title, columns)
    framed, lines = inside, _NO_LINES
    if frame.loop is not None and columns == 1:
        framed, lines = lay_back_edge(inside, frame.loop, level.direction)
    return Arranged(inside, level, assembly, framed, lines, is_mirrored)


class Frame(NamedTuple):
    """How the inside of an open item is framed.

    ``title`` is None for the root; ``was_wrapped`` tells whether it was in columns when it
    was shown before; ``loop`` is what the back edge of a loop depends on.
    """

    title: Title | None
    wrap: Wrap
    was_wrapped: bool
    loop: LoopRoom | None = None


def _find_labels(arranged: Arranged, opened: list[int], texts: Texts) -> Floats:
    """Return where labels stand; those of levels that look alike are placed once."""
    key = (
        tuple(opened),
        texts.wanted.tobytes(),
        texts.widths.tobytes(),
        texts.flows.tobytes(),
    )
    found = arranged.labels.get(key)
    if found is None:
        numbers = np.array(opened, np.int64)
        found = place_labels(arranged.inside, arranged.level.direction, numbers, texts)
        found.flags.writeable = False
        arranged.labels[key] = found
    return found
