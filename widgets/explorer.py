"""The explorer: a canvas with an inspector beside it, and the selection between them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import ipywidgets
import traitlets

from netloupe.explorer.describe import describe_model, describe_path
from netloupe.explorer.errors import LayoutError, NetloupeError, ViewError
from netloupe.explorer.layout import DEADLINE, LayoutEngine, Scene, Wrap, shared_engine
from netloupe.explorer.load import load
from netloupe.explorer.model import Model
from netloupe.explorer.picture import ViewOptions, render_picture

from .busy import Busy
from .canvas import Canvas, Message
from .fallback import static_bundle
from .inspector import Inspector
from .session import PATIENCE, Session

#: the cell waits so long for the static picture; when it takes longer it is added later
_STATIC_SECONDS = 3.0
#: a flat picture of more boxes is asked about first
SURE_ABOVE = 5_000
MOST_HOPS = 5


class Explorer(ipywidgets.HBox):  # type: ignore[misc] # ipywidgets has no types
    """Shows a model: click, open, search; read and set the selection from Python.

    Parameters
    ----------
    model
        The model.
    options
        What is shown first.
    height
        Height of the canvas in pixels.

    Attributes
    ----------
    selection
        The path of what is selected, or None. Set it, or observe it::

            explorer.observe(lambda change: print(change.new), "selection")
    """

    selection = traitlets.Unicode(None, allow_none=True)

    def __init__(self, model: Model, options: ViewOptions, height: int = 560) -> None:
        self._session = Session(model, options)
        self._lock = threading.RLock()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="netloupe")
        self._busy = Busy(self._report)
        #: requests on their way, and those of them that are not wanted any more
        self._waiting: list[Any] = []
        self._unwanted: set[Any] = set()
        self._ahead = LayoutEngine(niceness=10)
        self._static_id = uuid4().hex
        theme = options.theme
        self.canvas = Canvas(
            on_request=self._receive,
            theme=theme if theme == "dark" else "auto",
            direction=options.direction,
            height=height,
            title=f"Graph of {Path(model.source).name or model.source}",
            static_id=self._static_id,
            breadcrumb=self._session.breadcrumb(),
            focus=options.focus,
            hops=options.hops if options.focus else 0,
            grouping=options.grouping,
            layout=ipywidgets.Layout(flex="1 1 auto", min_width="0", width="auto"),
        )
        self.inspector = Inspector(on_navigate=self._navigate)
        self.inspector.layout = ipywidgets.Layout(
            display="block",  # as a flex box of fixed height it would squeeze its parts
            flex="0 0 360px",
            width="360px",
            height=f"{height}px" if height else "calc(100vh - 24px)",
            overflow="hidden auto",
            padding="0 0 0 12px",
        )
        super().__init__(
            [self.canvas, self.inspector],
            layout=ipywidgets.Layout(width="100%", align_items="stretch"),
        )
        self.inspector.show(describe_model(model))
        self.canvas.observe(self._canvas_selected, "selection")
        self.canvas.observe(self._turned, "direction")
        self.canvas.observe(self._theme_shown, "shown_theme")
        self.observe(self._selected, "selection")
        #: the first scene, on its way while the cell goes on
        self._scene: Future[Scene] = self._pool.submit(self._compose_first)

    # what Python can do

    @property
    def model(self) -> Model:
        """The model that is shown."""
        return self._session.model

    @property
    def selected(self) -> Any:
        """The element of the model that is selected, or None."""
        return self._session.element(self.selection) if self.selection else None

    def select(self, path: str | None) -> None:
        """Select an element: open what hides it, bring it to the middle and mark it.

        Parameters
        ----------
        path
            A path, or a name that only one element has; None to select nothing.

        Raises
        ------
        NotFoundError
            Where there is no such element.
        """
        if not path:
            self.selection = None
            return
        with self._wanted():
            target = self._session.reveal(path)
            self._push(select=target, center=target)
        self._set_selection(target)

    def open(self, path: str | None = None) -> None:
        """Open a group, a call or control flow, and what hides it.

        Raises
        ------
        ViewError
            Where there is nothing to open.
        """
        if path is None:  # ipywidgets' own open(), which connects to the browser
            super().open()
            return
        with self._wanted():
            target = self._session.reveal(path)
            self._session.view.open(target)
            self._push(center=target)

    def close(self, path: str | None = None) -> None:
        """Close an open group; without a path, close the widget itself.

        Raises
        ------
        ViewError
            Where nothing open is at that path.
        """
        if path is None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._session.cancel()
            self._ahead.stop()
            self.canvas.close()
            super().close()
            return
        with self._wanted():
            self._push(center=self._session.close(path).key)

    def search(self, text: str, *, regex: bool = False) -> list[str]:
        """Return the paths of all nodes, values and graphs that match, as the search box does.

        Raises
        ------
        ViewError
            For an invalid regular expression.
        """
        from netloupe.explorer.search import search_model

        return [hit.path for hit in search_model(self.model, text, regex=regex)]

    def to_svg(self, path: str | Path | None = None, *, wrap: Wrap | None = None) -> str:
        """Draw what is open now as SVG.

        Parameters
        ----------
        path
            Where to write it too.
        wrap
            Whether it is cut into columns, as for :meth:`Model.to_svg`; as on the canvas where
            None.

        Raises
        ------
        ViewError
            Where ``wrap`` is neither True, False, ``auto`` nor a number of columns.
        """
        from netloupe.explorer.output import write_file

        with self._wanted():
            data = render_picture(self._session.picture(self._session.compose_for(wrap)), "svg")
        if path is not None:
            write_file(path, data)
        return data.decode()

    # the selection

    def _canvas_selected(self, change: Any) -> None:
        self._set_selection(change.new or None)

    def _selected(self, change: Any) -> None:
        path = change.new or ""
        if path != self.canvas.selection:
            if path:
                self.select(path)
            else:
                self.canvas.selection = ""
        self._describe(path)

    def _set_selection(self, path: str | None) -> None:
        self.canvas.selection = path or ""
        self.selection = path

    def _navigate(self, path: str) -> None:
        """Follow a link of the inspector; what no picture shows is only described."""
        try:
            self.select(path)
        except NetloupeError:
            self._describe(path)

    def _describe(self, path: str) -> None:
        if not path:
            self.inspector.show(describe_model(self.model))
            return
        try:
            self.inspector.show(describe_path(self.model, path, self._session.view))
        except NetloupeError as error:
            self.inspector.show_error(str(error))

    # what the browser asks for

    def _receive(self, message: Message, _buffers: list[memoryview]) -> None:
        if message.get("type") == "cancel":
            self._cancel(message.get("target"))
            return
        self._waiting.append(message.get("id"))
        self._pool.submit(self._answer, message)

    def _cancel(self, target: Any) -> None:
        """End a request, now or when its turn comes; without a target what is under way."""
        if target is None or target == self._busy.number:
            self._session.cancel()
        elif target in self._waiting:
            self._unwanted.add(target)
            if not self._scene.done():  # it waits for the first picture
                self._session.cancel()

    def _answer(self, message: Message) -> None:
        """Answer one request; runs beside the kernel's own work."""
        number = message.get("id")
        handler = self._handlers.get(str(message.get("type")))
        try:
            if handler is None:
                raise ViewError(f"the request {message.get('type')!r} is unknown.")
            if number in self._unwanted and message.get("type") != "scene":
                raise LayoutError("the layout was cancelled")
            with self._lock, self._busy.during(number), self._session.changing():
                self._session.resume()
                handler(self, number, message)
        except LayoutError as error:
            self.canvas.reply(number, "error", message=str(error), cancelled=True)
        except NetloupeError as error:
            self.canvas.send_error(number, str(error))
        except Exception as error:
            self.canvas.log.exception("a request of the canvas failed")
            self.canvas.send_error(number, f"internal error: {error}")
        finally:
            self._waiting.remove(number)
            self._unwanted.discard(number)
            self._pool_prepare()

    @contextmanager
    def _wanted(self) -> Iterator[None]:
        """Hold the lock; what is prepared in the background gives way."""
        mark = object()
        self._waiting.append(mark)
        try:
            with self._lock, self._busy.during(None), self._session.changing():
                self._session.resume()
                yield
        finally:
            self._waiting.remove(mark)
            self.canvas.send({"type": "idle", "id": None})

    def _report(self, number: Any, message: str, done: int, total: int) -> None:
        if number is None:
            number = next((each for each in self._waiting if isinstance(each, str)), None)
        self.canvas.reply(number, "busy", message=message, done=done, total=total)

    def _pool_prepare(self) -> None:
        with suppress(RuntimeError):  # the explorer was closed meanwhile
            self._pool.submit(self._prepare)

    def _prepare(self) -> None:
        """Lay out likely next pictures while nothing is asked for."""
        if self._waiting:
            return
        try:
            with self._lock:
                self._session.prepare(self._ahead, lambda: not self._waiting)
        except Exception:
            self.canvas.log.exception("preparing layouts failed")

    def _answer_scene(self, number: Any, _message: Message) -> None:
        try:
            scene = self._scene.result()
        except LayoutError:
            # cancelled: what needs no layout to speak of
            self._session.expand("none")
            scene = self._compose()
            self._scene = _finished(scene)
        if self.selection:  # made before the browser was there
            self._reply(number, scene, True, select=self.selection, center=self.selection)
        else:
            self._reply(number, scene, True, fit=True)

    def _answer_toggle(self, number: Any, message: Message) -> None:
        item = self._session.toggle(_path(message))
        self._reply(number, self._compose(), anchor=item.path)

    def _answer_open(self, number: Any, message: Message) -> None:
        item = self._session.view.open(_path(message))
        self._reply(number, self._compose(), anchor=item.path)

    def _answer_close(self, number: Any, message: Message) -> None:
        item = self._session.view.close(_path(message))
        self._reply(number, self._compose(), anchor=item.path)

    def _answer_enter(self, number: Any, message: Message) -> None:
        self._session.enter(_path(message))
        self._reply(number, self._compose(), fit=True)
        self._tell_view()

    def _answer_reveal(self, number: Any, message: Message) -> None:
        target = self._session.reveal(_path(message))
        self._reply(number, self._compose(), select=target, center=target)
        self._tell_view()
        self._set_selection(target)

    def _answer_expand(self, number: Any, message: Message) -> None:
        self._session.expand(str(message.get("mode")))
        self._reply(number, self._compose(PATIENCE), fit=True)

    def _answer_wrap(self, number: Any, message: Message) -> None:
        self._session.set_wrap(message.get("wrap"))
        self._reply(number, self._compose(PATIENCE), fit=True)

    def _answer_group(self, number: Any, message: Message) -> None:
        grouping = str(message.get("grouping"))
        boxes = self._session.count_flat()
        if grouping == "none" and boxes > SURE_ABOVE and not message.get("sure"):
            self.canvas.reply(
                number,
                "confirm",
                message=f"Without groups the picture has {boxes:,} boxes. It may take a while, "
                "and can be cancelled.",
            )
            return
        self._session.group(grouping)
        self._reply(number, self._compose(PATIENCE), fit=True)
        self._tell_view()

    def _answer_focus(self, number: Any, message: Message) -> None:
        path, hops = _path(message), message.get("hops")
        if not isinstance(hops, int) or not 1 <= hops <= MOST_HOPS:
            raise ViewError(f"hops is {hops!r}. Give a number from 1 to {MOST_HOPS}.")
        self._session.focus(path, hops)
        self._reply(number, self._compose(), fit=True)
        self._tell_view()

    def _answer_unfocus(self, number: Any, _message: Message) -> None:
        focused = self._session.focused
        self._session.unfocus()
        target = focused[0] if focused else None
        drawn = target if target and self._session.view.shown(target) else None
        self._reply(number, self._compose(), **({"center": drawn} if drawn else {"fit": True}))
        self._tell_view()

    def _answer_shown(self, number: Any, message: Message) -> None:
        index = message.get("index")
        if not isinstance(index, int):
            raise ViewError("the request names no repetition.")
        item = self._session.view.show_repetition(_path(message), index)
        self._reply(number, self._compose(), anchor=item.path)

    def _answer_unroll(self, number: Any, message: Message) -> None:
        item = self._session.view.unroll(_path(message))
        self._reply(number, self._compose(), anchor=item.path)

    def _answer_fold(self, number: Any, message: Message) -> None:
        item = self._session.view.fold(_path(message))
        self._reply(number, self._compose(), anchor=item.path)

    def _answer_search(self, number: Any, message: Message) -> None:
        text, regex = str(message.get("text", "")), bool(message.get("regex"))
        hits, total = self._session.search(text, regex=regex)
        self.canvas.reply(number, "hits", hits=hits, total=total)

    _handlers: ClassVar[dict[str, Callable[[Explorer, Any, Message], None]]] = {
        "scene": _answer_scene,
        "toggle": _answer_toggle,
        "open": _answer_open,
        "close": _answer_close,
        "enter": _answer_enter,
        "reveal": _answer_reveal,
        "expand": _answer_expand,
        "search": _answer_search,
        "group": _answer_group,
        "focus": _answer_focus,
        "unfocus": _answer_unfocus,
        "shown": _answer_shown,
        "unroll": _answer_unroll,
        "fold": _answer_fold,
        "wrap": _answer_wrap,
    }

    def _turned(self, change: Any) -> None:
        with self._wanted():
            self._session.set_direction(change.new)
            self._push(fit=True)

    def _theme_shown(self, change: Any) -> None:
        if change.new in ("light", "dark"):
            self.inspector.theme = change.new

    # scenes

    def _compose_first(self) -> Scene:
        with self._lock, self._busy.during(None):
            return self._compose()

    def _compose(self, deadline: float = DEADLINE) -> Scene:
        scene = self._session.compose(self._busy.progress, deadline)
        self._scene = _finished(scene)
        return scene

    def _reply(self, number: Any, scene: Scene, whole: bool = False, /, **extra: Any) -> None:
        header, buffers = self._session.encode(scene, whole=whole)
        self.canvas.reply_scene(number, header, buffers, **extra)

    def _push(self, **extra: Any) -> None:
        """Show the current view in the browser."""
        header, buffers = self._session.encode(self._compose())
        self.canvas.push_scene(header, buffers, **extra)
        self._tell_view()

    def _tell_view(self) -> None:
        """Tell the canvas which graph is shown, and how much of it."""
        self.canvas.breadcrumb = self._session.breadcrumb()
        self.canvas.focus, self.canvas.hops = self._session.focused or ("", 0)
        self.canvas.grouping = self._session.options.grouping

    # display

    def _ipython_display_(self) -> None:
        """Show the widget, and below it a picture for viewers without a kernel.

        The browser hides the picture as soon as the canvas is painted. A saved notebook keeps
        both; where no kernel runs, the picture is what is seen.
        """
        from IPython import display as ipython

        show: Callable[..., Any] = ipython.display
        update: Callable[..., Any] = ipython.update_display
        bundle = self._repr_mimebundle_()
        show(bundle[0] if isinstance(bundle, tuple) else bundle, raw=True)
        try:
            scene = self._scene.result(timeout=_STATIC_SECONDS)
        except TimeoutError:
            show(static_bundle("", self._static_id), raw=True, display_id=self._static_id)

            def add_later(future: Future[Scene]) -> None:
                if future.exception() is None:
                    bundle = static_bundle(self._static_svg(future.result()), self._static_id)
                    update(bundle, raw=True, display_id=self._static_id)

            self._scene.add_done_callback(add_later)
            return
        except LayoutError as error:
            self.inspector.show_error(str(error))
            return
        show(static_bundle(self._static_svg(scene), self._static_id), raw=True)

    def _static_svg(self, scene: Scene) -> str:
        with self._lock:
            return render_picture(self._session.picture(scene), "svg").decode()


def _path(message: Message) -> str:
    path = message.get("path")
    if not isinstance(path, str):
        raise ViewError("the request names no path.")
    return path


def _finished(scene: Scene) -> Future[Scene]:
    future: Future[Scene] = Future()
    future.set_result(scene)
    return future


def explore(source: Any, *, height: int = 560, **view: Any) -> Explorer:
    """Explore a model in a notebook: returns at once, shows the picture beside an inspector.

    Parameters
    ----------
    source
        A path, bytes, a file object, an ``onnx.ModelProto`` or a Model.
    height
        Height in pixels; 0 for that of the window.
    **view
        ``graph``, ``expand``, ``focus``, ``hops``, ``direction``, ``theme``, ``grouping``,
        ``wrap``, as for :meth:`Model.to_svg`; the canvas wraps only where ``wrap`` is given.

    Returns
    -------
    Explorer
        Read ``selection``; call ``select``, ``open``, ``close``, ``search``; ``observe``.

    Raises
    ------
    SourceError, ModelFormatError
        Where the source is no model that can be read.
    ViewError, NotFoundError
        For options that do not exist or do not fit.
    """
    options = ViewOptions.parse({"wrap": False, **view})
    shared_engine().start()
    return Explorer(load(source), options, height)
