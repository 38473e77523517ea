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
from dataclasses import dataclass
from itertools import count

import numpy as np

from netloupe.explorer.progress import step
from netloupe.explorer.view import Item, View

from .arrange import arrange_inside, arrange_root
from .assembly import Assembly
from .bounded import BoundedCache
from .engine import LayoutEngine, shared_engine
from .labels import place_labels
from .layer import Layer
from .place import Budget, Placer
from .placement import Floats
from .plan import Measure, plan_item, renew_plan
from .scene import Direction, Inside, Scene, SceneLayer
from .steady import PieceHistory
from .texts import Texts
from .wrap import Wrap, is_extreme, wrap_places

#: seconds for the layout of a whole picture, unless the caller says otherwise
DEADLINE = 6.0
#: seconds for what was deliberately asked for and is shown with progress and a way to end it
PATIENCE = 120.0
#: so many numbers of places inside open items are kept
_MOST_KEPT = 4_000_000
#: layers of so many views are kept
_MOST_VIEWS = 4


class Composer:
    """Lays out views; keeps what it has seen and what it has shown.

    A composer remembers its scenes: what is laid out again keeps the order that it had. A new
    composer gives the same scene for the same view, always.

    Parameters
    ----------
    engine
        The engine; the one shared in this process where None.
    """

    def __init__(self, engine: LayoutEngine | None = None) -> None:
        self._engine = engine
        self._placer = Placer()
        self._insides: BoundedCache[Inside] = BoundedCache(_MOST_KEPT)
        self._shown: BoundedCache[_Shown] = BoundedCache(_MOST_VIEWS)
        self._ids = count(1)

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
        budget = Budget(time.monotonic() + deadline, engine)
        shown = self._shown.get(id(view))
        if shown is None or (shown.view, shown.direction, shown.wrap) != (view, direction, wrap):
            shown = _Shown(view, direction, wrap)
        made = shown.root = self._compose_layers(shown, measure, budget)
        self._shown.put(id(view), shown, 1)
        width, height = made.inside.width, made.inside.height
        return Scene(
            width,
            height,
            direction,
            notices=list(made.notices),
            root=made,
            is_extreme=made.is_wrapped or is_extreme(width, height, direction),
        )

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
            A closed item of a view that was composed before.
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
        budget = Budget(time.monotonic() + deadline, engine)
        around = []
        outer = item.parent
        while outer is not None:
            around.append(outer)
            outer = outer.parent
        layers = [shown.root]
        for outer in reversed(around[:-1]):
            inner = layers[-1].inner.values()
            found = next((layer for layer in inner if layer.item is outer), None)
            if found is None:
                return
            layers.append(found)
        revisions = [each.revision for each in around]
        view.open_item(item)
        try:
            made = {id(item): self._make_layer(shown, item, None, {}, measure, budget)}
            for outer, layer in zip(around, reversed(layers), strict=True):
                made.update((id(each.item), each) for each in layer.inner.values())
                new = self._make_layer(shown, outer, layer, made, measure, budget, is_trial=True)
                made = {id(outer): new}
        finally:
            view.close_item(item)
            for each, revision in zip(around, revisions, strict=True):
                each.revision = revision

    def _compose_layers(
        self,
        shown: _Shown,
        measure: Measure,
        budget: Budget,
    ) -> SceneLayer:
        """Make the layers that are not as they were before; return the root's."""
        made: dict[int, SceneLayer] = {}
        todo: list[tuple[Item, SceneLayer | None]] = []
        root = shown.view.root
        pending = [(root, shown.root)]
        while pending:
            item, before = pending.pop()
            if before is not None and before.revision == item.revision:
                made[id(item)] = before
                continue
            todo.append((item, before))
            inner = before.inner.values() if before is not None else ()
            known = {id(layer.item): layer for layer in inner}
            for child in item.children:
                if child.is_open:
                    pending.append((child, known.get(id(child))))
        for number, (item, before) in enumerate(reversed(todo)):
            step("laying out", number / len(todo))
            made[id(item)] = self._make_layer(shown, item, before, made, measure, budget)
        if todo:
            step("laying out", 1.0)
        return made[id(root)]

    def _make_layer(
        self,
        shown: _Shown,
        item: Item,
        before: SceneLayer | None,
        made: dict[int, SceneLayer],
        measure: Measure,
        budget: Budget,
        *,
        is_trial: bool = False,
    ) -> SceneLayer:
        """Make the layer of an item; what the item looked like is kept unless it is a trial."""
        view = shown.view
        inner = {
            number: made[id(child)] for number, child in enumerate(item.children) if child.is_open
        }
        plan = None
        if before is not None and before.plan is not None:
            plan = renew_plan(before.plan, item, measure, inner)
        is_renewed = plan is not None
        if plan is None:
            plan = plan_item(view, item, measure, shown.direction, inner)
        history = None
        if before is not None and not before.notices and before.inside.layer.children:
            history = before.history or PieceHistory(before.inside.layer.wiring())
            if not is_renewed and history.wiring != plan.layer.wiring():
                history = None  # it is wired in another way
        if is_trial and history is not None:
            history = history.copy()
        already = len(budget.notices)
        frame = Frame(
            None if item is view.root else measure.size(item)[0],
            shown.wrap,
            before is not None and before.inside.wrapped > 1,
        )
        if before is None or history is None:
            inside = self._arrange(plan.layer, frame, budget)
        else:
            inside = self._rearrange(before.inside, plan.layer, frame, budget, history)
        notices = dict.fromkeys(budget.notices[already:])
        for layer in inner.values():
            notices.update(dict.fromkeys(layer.notices))
        return SceneLayer(
            next(self._ids),
            item,
            item.revision,
            inside,
            plan.edges,
            plan.ports,
            plan.texts.strings,
            _find_labels(inside, list(inner), plan.texts),
            inner,
            plan.children,
            plan.borders,
            history,
            tuple(notices),
            plan,
        )

    def _arrange(self, layer: Layer, frame: Frame, budget: Budget) -> Inside:
        """Return the places inside an open item."""
        key = (layer.key(), frame)
        inside = self._insides.get(key)
        if inside is None:
            already = len(budget.notices)
            assembly = self._placer.place(layer, budget)
            inside = _fill(assembly, layer, frame)
            if len(budget.notices) == already:
                self._insides.put(key, inside, inside.weight)
        return inside

    def _rearrange(
        self,
        before: Inside,
        layer: Layer,
        frame: Frame,
        budget: Budget,
        history: PieceHistory,
    ) -> Inside:
        """Return the places inside an open item that was shown before and is wired as it was."""
        assert before.assembly is not None  # noqa: S101 - made by this composer
        assembly = self._placer.replace(before.assembly, before.layer, layer, budget, history)
        return _fill(assembly, layer, frame)


def _fill(assembly: Assembly, layer: Layer, frame: Frame) -> Inside:
    """Put pieces together and give them the border of an open item."""
    joined = assembly.join(layer)
    places, columns = wrap_places(layer, joined, frame.wrap, was_wrapped=frame.was_wrapped)
    if frame.title_width is None:
        inside = arrange_root(layer, places)
    else:
        inside = arrange_inside(layer, places, frame.title_width)
    inside.wrapped = columns
    inside.assembly = assembly
    return inside


@dataclass(frozen=True, slots=True)
class Frame:
    """How the inside of an open item is framed.

    ``title_width`` is None for the root; ``was_wrapped`` tells whether it was in columns when it
    was shown before.
    """

    title_width: float | None
    wrap: Wrap
    was_wrapped: bool


class _Shown:
    """What was last laid out of a view."""

    def __init__(self, view: View, direction: Direction, wrap: Wrap) -> None:
        self.view = view
        self.direction: Direction = direction
        self.wrap = wrap
        self.root: SceneLayer | None = None


def _find_labels(inside: Inside, opened: list[int], texts: Texts) -> Floats:
    """Return where labels stand; those of layers that look alike are placed once."""
    key = (
        tuple(opened),
        texts.wanted.tobytes(),
        texts.widths.tobytes(),
        texts.flows.tobytes(),
    )
    found = inside.labels.get(key)
    if found is None:
        found = place_labels(inside, np.array(opened, np.int64), texts)
        inside.labels[key] = found
    return found
