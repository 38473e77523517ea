"""The explorer: a canvas with an inspector beside it, and the selection between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args
from uuid import uuid4

import ipywidgets
import traitlets

from netloupe.explorer.arguments import explain_methods
from netloupe.explorer.compare import reload_model
from netloupe.explorer.describe.compared import name_compared
from netloupe.explorer.errors import LayoutError, NetloupeError, NotFoundError
from netloupe.explorer.layout import WINDOW, Scene, Window
from netloupe.explorer.model import Model
from netloupe.explorer.options import ThemeName
from netloupe.explorer.progress import Cancelled
from netloupe.explorer.render.picture import Picture, render_picture
from netloupe.explorer.session import Requests, Session
from netloupe.explorer.session.files import say_changes
from netloupe.explorer.session.inferring import Inferring
from netloupe.explorer.session.lookup import (
    Selectable,
    look_up_element,
    path_of,
    take_paths,
)
from netloupe.explorer.session.requests import write_paths
from netloupe.explorer.session.reveal import reveal, reveal_all
from netloupe.explorer.session.reviewing import Reviewing
from netloupe.explorer.standalone.page import write_page
from netloupe.explorer.view import ViewOptions

from .canvas import Canvas
from .cell_runner import find_cell_runner, is_in_marimo
from .coloured import Coloured
from .details import Details
from .fallback import PATIENCE_SECONDS, show_with_picture, static_bundle, update_static
from .inspector import Inspector
from .page_canvas import PageCanvas, PageInspector
from .pictured import Pictured
from .review_panel import ReviewPanel
from .reviewed import Reviewed
from .saving import Saved, SavedPage
from .stepping import Stepping

#: of a canvas beside its inspector in a notebook on a laptop, in pixels
_WIDTH = WINDOW.width - 360
#: by the height of a canvas, the window in which an explorer of this process was seen last: the
#: next one is laid out for it before the browser says how large it is
_SEEN: dict[int, Window] = {}


@explain_methods()
class Explorer(Coloured, Stepping, Reviewed, Pictured, ipywidgets.HBox):  # type: ignore[misc]
    """Shows a model: click, open, search; read and set the selection from Python.

    Parameters
    ----------
    model
        The model.
    options
        What is shown first.
    height
        Height of the canvas in pixels.
    saved
        What a saved notebook keeps beside the widget: the explorer in a page, or the picture
        alone.

    Attributes
    ----------
    selection
        The path of what is selected, or None. Set it, or observe it::

            explorer.observe(lambda change: print(change.new), "selection")

        Where several elements are selected together, it is the path of the first.
    selected_paths
        The paths of all that is selected, as a tuple: none, one, those of all values that one
        edge, stub or box stands for, or what was selected together from Python. To be read and
        observed; :meth:`select` sets it.

    Notes
    -----
    The title of an open repeat is that of the repetition that it shows: a click on it selects
    this one, and stepping to the next one selects that. Closed, the box is the repeat itself.
    """

    selection = traitlets.Unicode(None, allow_none=True)
    selected_paths = traitlets.Tuple(read_only=True)

    def __init__(
        self,
        model: Model,
        options: ViewOptions,
        height: int = 560,
        saved: Saved = "explorer",
    ) -> None:
        in_marimo = is_in_marimo()
        #: whether the first scene travels without being asked for: who executes a notebook keeps
        #: what is shown, and no kernel is there when it is seen
        offers = not in_marimo and find_cell_runner() in ("notebook", "dashboard")
        seen = _SEEN.get(height, Window(_WIDTH, float(height or WINDOW.height)))
        self._session = Session(model, options, seen if offers else WINDOW)
        self._views = self._session.views
        self._static_id = uuid4().hex
        self._is_displayed = False
        theme = options.theme
        self.canvas = (PageCanvas if in_marimo else Canvas)(
            _dom_classes=("nl-explorer-canvas",),
            first={"coming": True} if offers else {},
            theme=theme if theme == "dark" else "auto",
            direction=options.direction,
            height=height,
            title=f"Graph of {name_compared(model) or Path(model.source).name or model.source}",
            static_id=self._static_id,
            file_name=Path(model.source).name,
            breadcrumb=self._views.breadcrumb(),
            focus=options.focus,
            hops=options.hops if options.focus else 0,
            grouping=options.grouping,
            wrap=options.wrap is not False,
            details=options.details,
            share=options.share,
        )
        self.inspector: Inspector | PageInspector
        self._details: Details | PageInspector
        #: None until the picture is painted: it asks for what it shows
        self._tabs: ReviewPanel | PageCanvas | None = None
        if isinstance(self.canvas, PageCanvas):
            self.canvas.on_inspect = self._receive_question
            self.inspector = self._details = PageInspector(
                self.canvas, self._views, lambda: self._requests.looking()
            )
            self._tabs = self.canvas
            super().__init__([self.canvas], _dom_classes=("nl-explorer",))
        else:
            self.inspector = Inspector(
                self._navigate, self._look_at_files, make_head=self._make_tabs, is_awaited=True
            )
            self._details = Details(self._views, self.inspector, lambda: not self.selected_paths)
            # where they stand is said by explorer.css, which needs no rule of the page around
            super().__init__([self.canvas, self.inspector], _dom_classes=("nl-explorer",))
        self.canvas.observe(self._canvas_selected, ["selection", "selected_paths"])
        self.canvas.observe(self._turned, "direction")
        self._show_paints()
        self.canvas.observe(self._show_paints, "grouping")
        self.canvas.observe(self._theme_shown, "shown_theme")
        self.observe(self._selection_set, "selection")
        self.observe(self._selected_paths_set, "selected_paths")
        self._requests = Requests(
            self._session,
            self.canvas,
            lambda: self.selected_paths,
            self._set_selection,
            self._settle_selection,
            self._read_again,
            self._look_at_files,
            self._begun,
            self._write_page,
            self.canvas.offer_scene if offers else None,
        )
        if offers:
            self._requests.scene.add_done_callback(self._look_at_first)
        self.canvas.on_request = self._requests.receive
        self._inferring = Inferring(model, self._inferred, self.log)
        self._reviewing = Reviewing(self._session, self._tell_review, self._show_marks, self.log)
        self._saved = SavedPage(
            saved,
            self._session,
            self._reviewing,
            self._requests.lock,
            self._read_theme,
            lambda: self.selected_paths,
            height,
            self._keep_page,
            self.log,
        )

    # what Python can do

    @property
    def model(self) -> Model:
        """The model that is shown."""
        return self._views.model

    @property
    def selected(self) -> Any:
        """The element of the model that is selected, of several the first; None for none."""
        return next(iter(self.selected_elements), None)

    @property
    def selected_elements(self) -> tuple[Any, ...]:
        """All elements that are selected, in the order of ``selected_paths``."""
        found = map(self._find_element, self.selected_paths)
        return tuple(element for element in found if element is not None)

    def select(self, element: Selectable | Iterable[Selectable] | None) -> None:
        """Select an element: open what hides it, bring it to the middle and mark it.

        Where this fails, what is shown and selected stays as it was.

        Parameters
        ----------
        element
            A node, value, group or graph of the model, its path, or a name that only one
            element has; several of them, to select them together (repeats are unrolled where
            they lie in different repetitions); None to select nothing.

        Raises
        ------
        NotFoundError
            Where there is no such element.
        ViewError
            For anything that is neither an element nor a path.
        """
        wanted = take_paths(element)
        if not wanted:
            self._set_selection(())
            return
        with self._requests.wanted():
            targets = reveal_all(self._views, wanted)
            paths = write_paths(targets)
            self._requests.push(select=paths, center=paths)
        self._set_selection(targets)

    def open(self, element: Selectable | None = None) -> None:
        """Open a group, a call or control flow, and what hides it.

        Parameters
        ----------
        element
            What to open, or its path; without one, the widget connects to the browser, as
            every widget does when it is made.

        Raises
        ------
        ViewError
            Where there is nothing to open.
        """
        if element is None:  # ipywidgets' own open(), which connects to the browser
            super().open()
            return
        with self._requests.wanted():
            target = reveal(self._views, path_of(element))
            self._views.current.open(target)
            self._requests.push(center=target)

    def close(self, element: Selectable | None = None) -> None:
        """Close an open group; without one, close the widget itself.

        Parameters
        ----------
        element
            What to close, or its path.

        Raises
        ------
        ViewError
            Where nothing open is at that path.
        """
        if element is None:
            if "_requests" in vars(self):  # else it was interrupted while it was made
                self._inferring.close()
                self._reviewing.close()
                self._saved.close()
                self._details.close()
                self._requests.close()
                self.canvas.close()
                self.inspector.close()
            super().close()
            return
        with self._requests.wanted():
            self._requests.push(center=self._views.close(path_of(element)).key)

    def close_all(self) -> None:
        """Close all groups; in ipywidgets it would close every widget of the kernel."""
        with self._requests.wanted():
            self._views.expand("none")
            self._requests.push(fit=True)

    def reload(self) -> None:
        """Read the model anew from its files, as when they were changed meanwhile.

        What is open, selected and in the window stays, as far as its elements still exist.
        Elements that were taken from :attr:`model` before belong to the earlier reading.

        Raises
        ------
        SourceError, ModelFormatError
            Where the model was not read from a file, or it cannot be read any more; then all
            stays as it is.
        """
        with self._requests.wanted():
            self._read_again()
            self._requests.push()
        self._look_at_files()

    # the selection

    def _canvas_selected(self, _change: Any) -> None:
        self._set_selection(self.canvas.list_selected())

    def _selection_set(self, change: Any) -> None:
        path = change.new or ""
        if path == self.canvas.selection:
            return
        try:
            self.select(path or None)
        except Exception:
            self.selection = self.canvas.selection or None
            raise

    def _set_selection(self, paths: Sequence[str]) -> None:
        self.canvas.select(paths)
        with self.hold_trait_notifications():
            self.set_trait("selected_paths", tuple(paths))
            self.selection = paths[0] if paths else None

    def _find_element(self, path: str) -> Any:
        """Return the group or element at a path; None where it is gone."""
        try:
            return look_up_element(self.model, self._views.current, path)
        except NotFoundError:
            return None

    def _settle_selection(self) -> None:
        """Deselect what is gone with the view, and describe what stays as it now is."""
        is_outdated = self._details.renew()
        self._reviewing.follow_view()
        kept = [path for path in self.selected_paths if self._find_element(path) is not None]
        if len(kept) < len(self.selected_paths):
            self._set_selection(kept)
        elif is_outdated:
            self._describe(kept)

    def _receive_question(self, asked: Mapping[str, Any]) -> None:
        """Take what an inspector asks that is inside the canvas."""
        match asked:
            case {"follow": str(path)}:
                self._navigate(path)
            case {"review": request}:
                self._requests.pool.submit(self._receive_review, request)
            case _ if isinstance(self.inspector, PageInspector):
                self.inspector.receive(asked)

    # the files

    def _read_again(self) -> None:
        """Show the model as its files now are; the caller holds the lock and shows the scene."""
        self._session.reload(reload_model(self.model))
        self._show_paints()
        self._inferring.close()
        self._inferring = Inferring(self.model, self._inferred, self.log)
        self._inferring.start()
        self._reviewing.renew(self._inferring.wait)
        self._saved.renew()

    def _look_at_files(self) -> None:
        """Say where the files are no longer as they were read."""
        self.canvas.changed = say_changes(self.model)

    def _selected_paths_set(self, change: Any) -> None:
        self._describe(change.new)
        self._reviewing.select(change.new)

    def _navigate(self, path: str) -> None:
        """Follow a link of the inspector; what no picture shows is only described."""
        try:
            self.select(path)
        except (Cancelled, NetloupeError):
            self._describe((path,))

    def _describe(self, paths: Sequence[str]) -> None:
        self._look_at_files()
        self._details.describe(paths)

    def _look_at_first(self, made: Future[Scene]) -> None:
        """Let the browser ask for the first scene where it could not be made."""
        if made.cancelled() or made.exception() is not None:
            self.canvas.first = {}

    def _make_tabs(self) -> ReviewPanel:
        self._tabs = ReviewPanel(self._receive_review)
        return self._tabs

    def _begun(self) -> None:
        """Go on where the browser has painted its first picture, and so knows all widgets."""
        self.canvas.first = {}  # whoever comes now asks for what is shown by then
        if self._views.first.window != WINDOW:
            _SEEN[self.canvas.height] = self._views.first.window
        self.inspector.begin()
        self._details.overview.read()
        self._inferring.start()
        self._reviewing.start(self._inferring.wait)
        if self._is_displayed:  # else there is no output of ours that could keep it
            self._saved.start()

    def _inferred(self, model: Model) -> None:
        """Say what more is known of types; called from a thread."""
        with self._requests.lock:
            if model is self.model:
                self._details.inform(self.selected_paths)

    # what the canvas sets

    def _turned(self, change: Any) -> None:
        with self._requests.wanted():
            self._session.set_direction(change.new)
            self._requests.push(fit=True)

    def _theme_shown(self, change: Any) -> None:
        if change.new in get_args(ThemeName):
            self.inspector.theme = change.new

    # display

    def _display_(self) -> Canvas:
        """Return what marimo shows."""
        return self.canvas

    def _ipython_display_(self) -> None:
        self._is_displayed = True
        bundle = self._repr_mimebundle_()
        shown = dict(bundle[0] if isinstance(bundle, tuple) else bundle)
        # who shows no widgets says this above the picture
        shown["text/plain"] = f"Explorer of {Path(self.model.source).name or self.model.source}"
        try:
            show_with_picture(
                shown,
                self._requests.scene,
                self._make_static,
                self._static_id,
                None if self._saved.is_awaited else PATIENCE_SECONDS,
            )
        except (Cancelled, LayoutError) as error:
            self.inspector.show_error(str(error))

    def _make_static(self, scene: Scene) -> dict[str, str]:
        """Return what a viewer without a kernel shows, as output data."""
        with self._requests.lock:
            svg = render_picture(self._session.picture(scene), "svg").decode()
            frame = self._saved.make_frame()
        return static_bundle(svg, self._static_id, frame, self._saved.note)

    def _write_page(self, picture: Picture) -> tuple[bytes, list[str]]:
        """Write what is shown, and what is known of a review, as a page."""
        picture = replace(picture, paints=self._session.paints)
        review = self.review if len(self.review) else None
        return write_page(picture, review, marks_shown=self.marks_shown)

    def _keep_page(self) -> None:
        """Put what was written into the output; called from a thread."""
        update_static(self._make_static(self._requests.scene.result()), self._static_id)

    def _read_theme(self) -> ThemeName:
        """Return the colours in which a browser shows it, else those that were asked for."""
        is_dark = (self.canvas.shown_theme or self.canvas.theme) == "dark"
        return "dark" if is_dark else "light"
