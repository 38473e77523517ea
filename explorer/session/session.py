"""What an explorer shows: the views of a model's graphs, and the scene that is current.

No widget is involved here, so that everything can be tested without a browser.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from netloupe.explorer.errors import ViewError
from netloupe.explorer.layout import (
    DEADLINE,
    PATIENCE,
    WINDOW,
    Composer,
    FirstView,
    LayoutEngine,
    Scene,
    Window,
)
from netloupe.explorer.model import Model
from netloupe.explorer.options import Wrap, check_option
from netloupe.explorer.progress import Cancelled, watched
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.paint import NO_PAINTS, Paints, lay_paints
from netloupe.explorer.render.shares import Shares
from netloupe.explorer.render.wire import SceneEncoder
from netloupe.explorer.view import Item, ViewOptions

from .history import History, Moment
from .layout_prefetch import prefetch_layouts
from .messages import LegendEntry
from .views import Views

if TYPE_CHECKING:
    from netloupe.explorer.compare import Diff
    from netloupe.explorer.overlays import Overlay
    from netloupe.explorer.render.picture import Picture


class Session:
    """The views of one model, their history, and the scene that is current.

    Parameters
    ----------
    options
        How the first view is made; direction, theme and grouping hold for the others too.
    window
        In which it is expected to be seen.
    """

    def __init__(self, model: Model, options: ViewOptions, window: Window = WINDOW) -> None:
        self._labels = _make_labels(model, options)
        #: the canvas knows levels by their numbers, whichever composer made them
        self._level_ids = count(1)
        self._composer = Composer(ids=self._level_ids)
        self.views = Views(model, options, FirstView(self._composer, self._labels, window))
        #: what was chosen to be seen first, and how
        self.first = self.views.note()
        self.first_options = options
        #: whether it was said what is open, so that no window changes it
        self.is_open_said = options.expand != "auto"
        self.history = History()
        #: how boxes and edges are painted, by path, and what a review marks, laid over it
        self.paints: Paints = NO_PAINTS
        self.marks: Paints = NO_PAINTS
        #: what differs, as it was painted for a grouping
        self._painted: tuple[tuple[Diff, str], Paints] | None = None
        #: what boxes can be coloured by, and which of it they are, -1 for none
        self.overlays: list[Overlay] = []
        self.overlay = -1
        #: how the overlay paints the boxes of the scene, below all else
        self.coloured: Paints = NO_PAINTS
        self.wrap: Wrap = options.wrap
        self._encoder = SceneEncoder(lambda item: self._labels.draw(item))
        self._is_new_to_browser = True
        self._cancelled = threading.Event()
        self._scene: Scene | None = None

    # the scene

    def compose(self, deadline: float = DEADLINE) -> Scene:
        """Lay out the current view.

        Parameters
        ----------
        deadline
            Seconds after which simpler layouts are taken.

        Raises
        ------
        Cancelled
            Where :meth:`cancel` was called.
        """
        with watched(self._check):
            scene = self._composer.compose(
                self.views.current,
                self._labels,
                self.views.options.direction,
                wrap=self.wrap,
                deadline=deadline,
            )
        notices = self.views.take_notices()
        scene = replace(scene, notices=(*notices, *scene.notices))
        self._scene = scene
        self._colour()
        return scene

    @property
    def chosen_overlay(self) -> Overlay | None:
        """What boxes are coloured by; None for nothing."""
        return self.overlays[self.overlay] if self.overlay >= 0 else None

    def choose_overlay(self, number: Any) -> None:
        """Colour boxes by one of the overlays, or by none.

        Raises
        ------
        ViewError
            For anything but -1 and the number of one.
        """
        if type(number) is not int or not -1 <= number < len(self.overlays):
            raise ViewError(f"there is nothing of the number {number!r} to colour by.")
        self.overlay = number
        self._colour()

    def set_overlays(self, overlays: Sequence[Overlay]) -> None:
        """Offer overlays in place of others, and colour boxes by the first."""
        self.overlays = [*overlays]
        self.choose_overlay(0 if self.overlays else -1)

    def _colour(self) -> None:
        """Colour what is shown: costs that."""
        chosen, scene = self.chosen_overlay, self._scene
        self.coloured = NO_PAINTS
        if chosen is not None and scene is not None:
            from netloupe.explorer.render.legend import walk_items

            self.coloured = chosen.paint(self.views.current, walk_items(scene))

    def draw(self, wrap: Any, theme: Any = None) -> Picture:
        """Lay out the current view for a picture of its own; what is None is as it is.

        Raises
        ------
        ViewError
            For anything but True, False, ``auto`` and a number of columns, or an unknown theme.
        """
        from netloupe.explorer.render.picture import lay_on_sheet

        wrap = self.wrap if wrap is None else check_option("wrap", wrap)
        before, self.wrap = self.wrap, False
        try:
            scene = self.compose(PATIENCE)
        finally:
            self.wrap = before
        picture = self.picture(scene, theme)
        # what is on the canvas was measured in its own font
        options = replace(picture.options, wrap=wrap, font="")
        return lay_on_sheet(replace(picture, options=options), self._composer)

    def encode(self, scene: Scene, *, whole: bool = False) -> tuple[dict[str, Any], list[bytes]]:
        """Return a scene as the canvas gets it: what is new in it, or all of it."""
        whole, self._is_new_to_browser = whole or self._is_new_to_browser, False
        return self._encoder.encode(scene, whole=whole)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Undo what is done inside where it ends by an error, such as a cancelled layout."""
        before = self.wrap, self._labels, self._composer
        history, position = self.history, self.history.position
        try:
            with self.views.changing(), watched(self._check):
                yield
        except Exception:
            self.wrap, self._labels, self._composer = before
            self.history = history
            self.history.position = position
            raise

    def prepare(self, engine: LayoutEngine, is_wanted: Callable[[], bool]) -> None:
        """Lay out what is likely to be opened next, as :func:`prefetch_layouts` does."""
        scene = self._scene
        view = self.views.current
        root = scene.root if scene is not None else None
        if root is not None and root.item is view.root:
            prefetch_layouts(self._composer, view, root, self._labels, engine, is_wanted)

    def picture(self, scene: Scene, theme: Any = None) -> Picture:
        """Return a scene of this session with what is needed to draw it elsewhere.

        Raises
        ------
        ViewError
            For an unknown theme.
        """
        from netloupe.explorer.render.picture import Picture

        views = self.views
        options = views.options
        if theme is not None:
            options = replace(options, theme=check_option("theme", theme))
        return Picture(
            views.model,
            views.current,
            options,
            scene,
            self._labels,
            paints=self.shown_paints,
            colouring=self.chosen_overlay,
        )

    @property
    def own_paints(self) -> Paints:
        """What is painted and marked by path, whatever boxes are coloured by."""
        return lay_paints(self.marks, self.lower_paints)

    @property
    def lower_paints(self) -> Paints:
        """What is painted, laid over what differs where the model was made of two."""
        return lay_paints(self.paints, self._differences)

    @property
    def _differences(self) -> Paints:
        views = self.views
        found = views.model.comparison
        if found is None:
            return NO_PAINTS
        key = found, views.options.grouping
        if self._painted is None or self._painted[0] != key:
            from netloupe.explorer.render.differences import paint_differences

            self._painted = key, paint_differences(*key)
        return self._painted[1]

    @property
    def shown_paints(self) -> Paints:
        """The same over what the overlay colours."""
        return lay_paints(self.own_paints, self.coloured)

    def legend(self, theme: str) -> list[LegendEntry]:
        """Return what the scene on the canvas has to explain, drawn in a theme.

        Raises
        ------
        ViewError
            For an unknown theme.
        """
        if self._scene is None:
            return []
        from netloupe.explorer.render.legend import list_legend
        from netloupe.explorer.render.svg import draw_sample

        chosen = self.chosen_overlay
        own = chosen.list_legend() if chosen is not None else ()
        entries = list_legend(self._scene, self._labels.draw, self.shown_paints, own)
        return [
            {
                "text": entry.text,
                "svg": draw_sample(entry, theme) if entry.kind != "heading" else "",
                "overlay": entry.is_of_overlay,
            }
            for entry in entries
        ]

    def cancel(self) -> None:
        """End the layout that is under way."""
        self._cancelled.set()

    def _check(self, _what: str, _share: float | None) -> None:
        if self._cancelled.is_set():
            raise Cancelled("the layout was cancelled")

    def resume(self) -> None:
        """Let layouts go on again after :meth:`cancel`."""
        self._cancelled.clear()

    def set_wrap(self, wrap: Any) -> None:
        """Cut long pictures into columns, or not.

        Raises
        ------
        ViewError
            For anything but True, False, ``auto`` and a number of columns.
        """
        self.wrap = check_option("wrap", wrap)

    def set_details(self, details: Any) -> None:
        """Let other things stand on the boxes of nodes; what is open stays open.

        Raises
        ------
        ViewError
            For anything but ``facts`` and ``all``.
        """
        views = self.views
        views.options = replace(views.options, details=check_option("details", details))
        self._forget_faces()

    def set_share(self, share: Any) -> None:
        """Let bars on boxes show their share of something else, or none; nothing moves.

        Raises
        ------
        ViewError
            For anything that the option ``share`` does not take.
        """
        views = self.views
        views.options = replace(views.options, share=check_option("share", share))
        self._labels.shares = Shares(views.model, views.options.canvas_share)

    def unname(self, path: str) -> Item:
        """Say no more of a group what it is, and open it; return its item.

        Raises
        ------
        ViewError
            Where nothing is said of it.
        """
        item = self.views.unname(path)
        self._forget_faces()
        return item

    def unname_kind(self, name: str) -> None:
        """Call no group any more what a kind of block is called."""
        self.views.unname_kind(name)
        self._forget_faces()

    def _forget_faces(self, model: Model | None = None) -> None:
        self._labels = _make_labels(model or self.views.model, self.views.options)
        self._composer = Composer(ids=self._level_ids)
        self.views.first = FirstView(self._composer, self._labels, self.views.first.window)

    def set_direction(self, direction: Any) -> None:
        """Change the direction of all views."""
        self.views.options = replace(self.views.options, direction=direction)
        self._forget_faces()

    def choose_for(self, window: Window) -> bool:
        """Choose for the window that is there what is open, in place of the one that was assumed.

        Returns
        -------
        bool
            Whether something else is open now. Nothing changes where somebody has opened or
            closed something already, or where it was said what is open.
        """
        views = self.views
        if window == views.first.window:
            return False
        views.first = FirstView(self._composer, self._labels, window)
        if self.is_open_said or views.note() != self.first:
            return False
        if not views.choose_again():
            return False
        self.history = History()
        return True

    # back and forth

    def note(self) -> None:
        """Add what is shown now to the history."""
        self.history.note(self.views.note())

    def travel(self, by: int) -> bool:
        """Go back (-1) or forth (1) in the history; return whether there was anything to show.

        Raises
        ------
        Cancelled
            Where :meth:`cancel` was called.
        """
        moment = self.history.go(by)
        if moment is None:
            return False
        self.go_to(moment)
        return True

    def go_to(self, moment: Moment) -> None:
        """Show what was shown at a moment, wherever that is kept."""
        before = self.views.options.unnamed
        self.views.go_to(moment)
        if self.views.options.unnamed != before:
            self._forget_faces()

    def reload(self, model: Model) -> None:
        """Show another reading of the model: of its elements what was open, as far as they exist.

        Nothing can be taken back afterwards.

        Raises
        ------
        Cancelled
            Where :meth:`cancel` was called.
        """
        self._forget_faces(model)
        self.views.reload(model)
        self.overlays = [type(one)(model, one.column) for one in self.overlays]
        self.history = History()
        self._is_new_to_browser = True
        self._scene = None


def _make_labels(model: Model, options: ViewOptions) -> Labels:
    return Labels(options.details, options.direction, Shares(model, options.canvas_share))
