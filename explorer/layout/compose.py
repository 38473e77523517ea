"""Composition: every open item is laid out alone, and the results are put into one another.

The children of an open item are boxes of known size: closed items as large as their faces,
open ones as large as their own layout has made them. Values that cross a border do so at a
port, which the outer layout knows the place of. The cost therefore depends on what is open,
items of equal sizes and wiring are laid out once, and opening a group costs its own layout
and those of the items around it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count

from netloupe.explorer.view import Item, View

from .arrange import arrange_inside, arrange_root
from .bounded import BoundedCache
from .dot import Layer
from .engine import LayoutEngine, shared_engine
from .labels import Text, choose_texts, place_labels
from .place import Budget, Placer
from .plan import Measure, Plan, list_edges, plan_item
from .scene import Direction, Inside, Scene, SceneLayer
from .steady import PieceHistory
from .wrap import Wrap, is_extreme, wrap_placement

#: seconds for the layout of a whole picture, unless the caller says otherwise
DEADLINE = 6.0
#: seconds for what was deliberately asked for and is shown with progress and a way to end it
PATIENCE = 120.0
#: so many numbers of places inside open items are kept
_MOST_KEPT = 4_000_000
#: layers of so many views are kept
_MOST_VIEWS = 4

Progress = Callable[[int, int], None]


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
        cancelled: Callable[[], bool] | None = None,
        progress: Progress | None = None,
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
        cancelled
            Asked now and then; True ends the layout.
        progress
            Told how many of the open items that need a layout have one, and how many they are.

        Raises
        ------
        LayoutError
            Where the layout was cancelled.
        """
        engine = self._engine or shared_engine()
        budget = Budget(time.monotonic() + deadline, engine, cancelled)
        shown = self._shown.get(id(view))
        if shown is None or (shown.view, shown.direction, shown.wrap) != (view, direction, wrap):
            shown = _Shown(view, direction, wrap)
        made = shown.root = self._compose_layers(shown, measure, budget, progress)
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
        cancelled: Callable[[], bool],
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
        deadline, cancelled
            As for :meth:`compose`.

        Raises
        ------
        LayoutError
            Where it was cancelled.
        """
        shown = self._shown.get(id(view))
        if shown is None or shown.root is None or item.is_open or not item.openable:
            return
        budget = Budget(time.monotonic() + deadline, engine, cancelled)
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
                new = self._make_layer(shown, outer, None, made, measure, budget)
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
        progress: Progress | None,
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
            budget.check()
            if progress is not None:
                progress(number, len(todo))
            made[id(item)] = self._make_layer(shown, item, before, made, measure, budget)
        if progress is not None and todo:
            progress(len(todo), len(todo))
        return made[id(root)]

    def _make_layer(
        self,
        shown: _Shown,
        item: Item,
        before: SceneLayer | None,
        made: dict[int, SceneLayer],
        measure: Measure,
        budget: Budget,
    ) -> SceneLayer:
        view = shown.view
        inner = {
            number: made[id(child)] for number, child in enumerate(item.children) if child.is_open
        }
        borders = {number: layer.borders for number, layer in inner.items()}
        plan = plan_item(view, item, measure, shown.direction, inner, borders, budget.check)
        already = len(budget.notices)
        history = self._history(before, plan, budget)
        title_width = None if item is view.root else measure.size(item)[0]
        inside = self._arrange(plan.layer, title_width, shown.wrap, budget, history)
        notices = dict.fromkeys(budget.notices[already:])
        for layer in inner.values():
            notices.update(dict.fromkeys(layer.notices))
        edges = list_edges(plan, borders)
        texts = choose_texts(edges, item.children, measure.label)
        return SceneLayer(
            next(self._ids),
            item,
            item.revision,
            inside,
            edges,
            [] if item is view.root else plan.port_paths(),
            [text for text, _, _ in texts],
            _place_labels(inside, tuple(child.is_open for child in item.children), texts),
            inner,
            list(item.children),
            plan.borders(),
            history,
            tuple(notices),
        )

    def _history(
        self, before: SceneLayer | None, plan: Plan, budget: Budget
    ) -> PieceHistory | None:
        """Return what an item looked like; None where it is new or wired in another way."""
        if before is None or before.notices or not before.inside.layer.children:
            return None
        history = before.history
        if history is None:
            history = PieceHistory(before.inside.layer.wiring())
            self._placer.place(before.inside.layer, budget, history)
        return history if history.wiring == plan.layer.wiring() else None

    def _arrange(
        self,
        layer: Layer,
        title_width: float | None,
        wrap: Wrap,
        budget: Budget,
        history: PieceHistory | None,
    ) -> Inside:
        """Return the places inside an open item; without a width of a title it is the root."""
        key = (layer.key(), title_width, wrap)
        if history is None:
            known = self._insides.get(key)
            if known is not None:
                return known
        already = len(budget.notices)
        placement, columns = wrap_placement(layer, self._placer.place(layer, budget, history), wrap)
        if title_width is None:
            inside = arrange_root(layer, placement)
        else:
            inside = arrange_inside(layer, placement, title_width)
        inside.wrapped = columns
        if history is None and len(budget.notices) == already:
            self._insides.put(key, inside, placement.weight)
        return inside


class _Shown:
    """What was last laid out of a view."""

    def __init__(self, view: View, direction: Direction, wrap: Wrap) -> None:
        self.view = view
        self.direction: Direction = direction
        self.wrap = wrap
        self.root: SceneLayer | None = None


def _place_labels(
    inside: Inside, opened: tuple[bool, ...], texts: tuple[Text, ...]
) -> list[tuple[float, float] | None]:
    if not any(text for text, _, _ in texts):
        return [None] * len(texts)
    found = inside.labels.get((opened, texts))
    if found is None:
        found = inside.labels[opened, texts] = place_labels(inside, opened, texts)
    return found
