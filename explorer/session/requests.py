"""What the browser asks of an explorer, and the answers.

The browser's side is ``controls/requests.ts`` in ``widgets/frontend/src``, and ``host/messages.ts``
there for what requests and replies hold. Nothing here knows the inspector; what is selected is read
and set through two functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Unpack

from netloupe.explorer.errors import ViewError
from netloupe.explorer.layout import DEADLINE, PATIENCE, Scene, Window
from netloupe.explorer.options import check_option
from netloupe.explorer.progress import Cancelled
from netloupe.explorer.render.paint import encode_paints

from .breadcrumb import find_caller
from .client import Client
from .history import History
from .lookup import list_boxes_showing, list_hits
from .messages import HistoryState, Paths, Request, SceneFields
from .request_queue import RequestQueue
from .session import Session

if TYPE_CHECKING:
    from netloupe.explorer.render.picture import Picture


class Offer(Protocol):
    """Takes a scene as ``encode_scene`` gives it, and how it is to be shown."""

    def __call__(
        self, header: Mapping[str, Any], buffers: Sequence[bytes], **fields: Unpack[SceneFields]
    ) -> None:
        """Take it."""


#: a flat picture of more boxes is asked about first
SURE_ABOVE = 5_000
MOST_HOPS = 5
#: pixels; a canvas of any other size is hidden, or none of a person's
LEAST_SIDE, MOST_SIDE = 100, 20_000


class Requests:
    """Answers a canvas in the background, and keeps the scene that it shows.

    Parameters
    ----------
    session
        What is shown.
    client
        Where the answers go.
    selected
        Returns the paths of what is selected.
    select
        Called with the paths of what a request selects.
    settle
        Called when something else is shown: what is selected may be gone.
    reload
        Called to read the model anew from its files.
    look
        Called when the user has acted: the files may have changed.
    on_begun
        Called when a browser has painted its first scene. Until then it may not have read the
        state of the widgets, what is opened meanwhile makes it wait two seconds each, and what
        else is computed keeps the picture waiting.
    write_page
        Writes a picture as a page that can be explored; returns its bytes, and notices. Without
        it a page is one that is only looked at.
    offer
        Has a scene ready for whoever comes, so that the first one need not be asked for; None
        where each page asks.

    Attributes
    ----------
    is_shown
        Whether a browser has been given a scene.
    """

    def __init__(
        self,
        session: Session,
        client: Client,
        selected: Callable[[], Sequence[str]],
        select: Callable[[Sequence[str]], None],
        settle: Callable[[], None],
        reload: Callable[[], None],
        look: Callable[[], None],
        on_begun: Callable[[], None],
        write_page: Callable[[Picture], tuple[bytes, list[str]]] | None = None,
        offer: Offer | None = None,
    ) -> None:
        self.session = session
        self.views = session.views
        self.client = client
        self._selected = selected
        self._select = select
        self._settle = settle
        self._reload = reload
        self._on_begun = on_begun
        self._write_page = write_page
        self._offer = offer
        self.is_shown = False
        handlers = {kind: partial(handler, self) for kind, handler in self._handlers.items()}
        self._queue = RequestQueue(
            session, client, handlers, settle, look, lambda: self.scene.done()
        )
        self.lock, self.pool = self._queue.lock, self._queue.pool
        #: whether it is known how large the picture is shown; other browsers do not change it
        self._has_window = False
        #: the first scene, on its way while the cell goes on; later the last one
        self.scene: Future[Scene] = self.pool.submit(self._compose_first)

    def close(self) -> None:
        """End what is under way; nothing is answered any more."""
        self._queue.close()

    def receive(self, message: Request, _buffers: list[memoryview]) -> None:
        """Take a request of the browser; it is answered later."""
        self._queue.receive(message)

    def wanted(self) -> AbstractContextManager[None]:
        """Hold the lock; what is prepared in the background gives way."""
        return self._queue.wanted()

    def looking(self) -> AbstractContextManager[None]:
        """Hold the lock to look at what is shown; what is prepared in the background gives way."""
        return self._queue.looking()

    def _answer_scene(self, number: Any, message: Request) -> None:
        try:
            scene = self.scene.result()
            window = read_canvas_size(message)
            if window is not None and not self._has_window:
                self._has_window = True
                if self.session.choose_for(window):
                    scene = self._compose()
        except Cancelled:
            #  what needs no layout to speak of
            self.views.expand("none")
            scene = self._compose()
            self.scene = _finished(scene)
        self.is_shown = True
        self._reply(number, scene, True, **self._show_first())

    def _show_first(self) -> SceneFields:
        """Return how to show a scene to who has seen none."""
        selected = self._selected()
        if selected:  # before the browser was there
            return {"select": write_paths(selected), "center": selected[0]}
        return {"fit": True}

    def _answer_painted(self, _number: Any, message: Request) -> None:
        self.is_shown = True
        window = read_canvas_size(message)
        try:
            if window is not None and not self._has_window:
                self._has_window = True
                if self.session.choose_for(window):
                    self.push(fit=True)
        finally:
            self._on_begun()

    def _answer_toggle(self, number: Any, message: Request) -> None:
        item = self.views.toggle(_path(message))
        self._reply(number, self._compose(), anchor=item.path)

    def _answer_open(self, number: Any, message: Request) -> None:
        item = self.views.current.open(_path(message))
        self._reply(number, self._compose(), anchor=item.path)

    def _answer_close(self, number: Any, message: Request) -> None:
        item = self.views.current.close(_path(message))
        self._reply(number, self._compose(), anchor=item.path)

    def _answer_enter(self, number: Any, message: Request) -> None:
        inner = self.views.current.graph
        graph = self.views.enter(_path(message))
        # who comes out of a graph sees where it hangs
        holder = find_caller(inner, graph)
        self._reply(number, self._compose(), **self._fit_at([holder.path] if holder else []))
        self._tell_view()

    def _answer_reveal(self, number: Any, message: Request) -> None:
        from .reveal import reveal

        target = reveal(self.views, _path(message))
        self._reply(number, self._compose(), select=target, center=target)
        self._tell_view()
        self._select((target,))

    def _answer_expand(self, number: Any, message: Request) -> None:
        self.views.expand(str(message.get("mode")))
        self._reply(number, self._compose(PATIENCE), fit=True)

    def _answer_wrap(self, number: Any, message: Request) -> None:
        self.session.set_wrap(message.get("wrap"))
        self._reply(number, self._compose(PATIENCE), fit=True)
        self._tell_view()

    def _answer_details(self, number: Any, message: Request) -> None:
        self.session.set_details(message.get("details"))
        self._reply(number, self._compose(PATIENCE), True, fit=True)
        self._tell_view()

    def _answer_share(self, number: Any, message: Request) -> None:
        self.session.set_share(message.get("share"))
        self._reply(number, self._compose(PATIENCE), True)
        self._tell_view()

    def _answer_overlay(self, number: Any, message: Request) -> None:
        self.session.choose_overlay(message.get("overlay"))
        self._reply(number, self.scene.result())

    def _answer_unname(self, number: Any, message: Request) -> None:
        item = self.session.unname(_path(message))
        self._reply(number, self._compose(PATIENCE), True, anchor=item.path)

    def _answer_group(self, number: Any, message: Request) -> None:
        grouping = str(message.get("grouping"))
        boxes = self.views.count_flat()
        if grouping == "none" and boxes > SURE_ABOVE and not message.get("sure"):
            question = (
                f"Without groups the picture has {boxes:,} boxes. It may take a while, "
                "and can be cancelled."
            )
            self.client.reply(number, {"type": "confirm", "message": question})
            return
        self.views.group(grouping)
        self._settle()
        self._reply(number, self._compose(PATIENCE), **self._fit_at(self._selected()))
        self._tell_view()

    def _answer_focus(self, number: Any, message: Request) -> None:
        path, hops = _path(message), message.get("hops")
        if not isinstance(hops, int) or not 1 <= hops <= MOST_HOPS:
            raise ViewError(f"hops is {hops!r}. Give a number from 1 to {MOST_HOPS}.")
        self.views.focus(path, hops)
        self._reply(number, self._compose(), fit=True)
        self._tell_view()

    def _answer_unfocus(self, number: Any, _message: Request) -> None:
        focused = self.views.focused
        self.views.unfocus()
        self._reply(number, self._compose(), **self._fit_at(focused[:1] if focused else ()))
        self._tell_view()

    def _fit_at(self, paths: Sequence[str]) -> SceneFields:
        """Return how to show a picture as when first opened, but where something is in it."""
        view = self.views.current
        for path in paths[:1]:
            item = view.shown(path)
            if item is not None and item is not view.root:
                exact = {item.path, item.repetition_path} | set(item.value_paths())
                return {"fit": True, "center": path if path in exact else item.path}
        return {"fit": True}

    def _answer_undo(self, number: Any, _message: Request) -> None:
        self._travel(number, -1)

    def _answer_redo(self, number: Any, _message: Request) -> None:
        self._travel(number, 1)

    def _travel(self, number: Any, by: int) -> None:
        scene = self.travel(by) or self.scene.result()
        self._reply(number, scene, restore=True)
        self._tell_view()

    def travel(self, by: int) -> Scene | None:
        """Go back (-1) or forth (1) in the history; None where there is nothing to go to."""
        return self._compose(PATIENCE, is_noted=False) if self.session.travel(by) else None

    def _answer_shown(self, number: Any, message: Request) -> None:
        index = message.get("index")
        if not isinstance(index, int):
            raise ViewError("the request names no repetition.")
        path = _path(message)
        before = self.views.current.items.get(path)
        was_shown = before.repetition_path if before is not None else ""
        item = self.views.current.show_repetition(path, index)
        if was_shown and [*self._selected()] == [was_shown]:
            # who looks at one repetition looks at the next one
            target = item.repetition_path or item.path
            self._reply(number, self._compose(), anchor=item.path, select=target)
            self._select((target,))
        else:
            self._reply(number, self._compose(), anchor=item.path)

    def _answer_unroll(self, number: Any, message: Request) -> None:
        anchor = self.views.unroll(_path(message))
        self._reply(number, self._compose(), anchor=anchor)

    def _answer_fold(self, number: Any, message: Request) -> None:
        item = self.views.fold(_path(message), self._selected())
        self._reply(number, self._compose(), anchor=item.path)

    def _answer_reload(self, number: Any, _message: Request) -> None:
        self._reload()
        self._reply(number, self._compose(PATIENCE))
        self._tell_view()

    def _answer_search(self, number: Any, message: Request) -> None:
        text, regex = str(message.get("text", "")), bool(message.get("regex"))
        found = self.views.search(text, regex=regex)
        hits, total = list_hits(found, self.views.current)
        self.client.reply(number, {"type": "hits", "hits": hits, "total": total})

    def _answer_legend(self, number: Any, message: Request) -> None:
        entries = self.session.legend(str(message.get("theme")))
        self.client.reply(number, {"type": "legend", "entries": entries})

    def _answer_picture(self, number: Any, message: Request) -> None:
        from netloupe.explorer.render.picture import render_picture

        from .command import options_now
        from .pictures import crop_picture, draw_still_page, read_part

        format, theme = message.get("format"), message.get("theme")
        shown = self.scene.result()
        part = read_part(message.get("part"), shown)
        if format == "html":
            picture = self.session.picture(shown, theme)
            # a page has no columns
            now = replace(options_now(self.session), theme=picture.options.theme, wrap="auto")
            data, notices = (self._write_page or draw_still_page)(replace(picture, options=now))
        elif format not in ("svg", "png", "pdf"):
            raise ViewError(f"the format {format!r} is unknown. Choose svg, png, pdf or html.")
        else:
            if part is None:
                picture = self.session.draw(None, theme)
            else:
                picture = crop_picture(self.session.picture(shown, theme), part)
            data, notices = render_picture(picture, format), picture.notices
        told = [notice for notice in notices if notice not in shown.notices]
        self.client.reply(number, {"type": "file", "notices": told}, data)

    def _answer_command(self, number: Any, message: Request) -> None:
        from .command import tell_command

        theme = check_option("theme", message.get("theme"))
        self.client.reply(number, tell_command(self.session, theme))

    _handlers: ClassVar[dict[str, Callable[[Requests, Any, Request], None]]] = {
        "scene": _answer_scene,
        "painted": _answer_painted,
        "toggle": _answer_toggle,
        "open": _answer_open,
        "close": _answer_close,
        "enter": _answer_enter,
        "reveal": _answer_reveal,
        "expand": _answer_expand,
        "search": _answer_search,
        "legend": _answer_legend,
        "picture": _answer_picture,
        "command": _answer_command,
        "group": _answer_group,
        "focus": _answer_focus,
        "unfocus": _answer_unfocus,
        "shown": _answer_shown,
        "unroll": _answer_unroll,
        "fold": _answer_fold,
        "wrap": _answer_wrap,
        "details": _answer_details,
        "share": _answer_share,
        "overlay": _answer_overlay,
        "unname": _answer_unname,
        "undo": _answer_undo,
        "redo": _answer_redo,
        "reload": _answer_reload,
    }

    def _compose_first(self) -> Scene:
        with self.lock, self._queue.busy.during(None):
            scene = self._compose()
            self._offer_first(scene)
            return scene

    def _offer_first(self, scene: Scene) -> None:
        """Have the first scene ready for whoever comes."""
        if self._offer is not None and not self.is_shown:
            fields = self._show_first()
            header, buffers = self._encode(scene, True, fields)
            self._offer(header, buffers, **fields)

    def _encode(
        self, scene: Scene, whole: bool, fields: SceneFields
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Return a scene as a message has it, and add what is told with every one."""
        header, buffers = self.session.encode(scene, whole=whole)
        self.tell_overlays()
        fields["history"] = self._tell_history()
        selected = fields.get("select")
        paths = self._selected() if selected is None else read_paths(selected)
        fields["places"] = list_boxes_showing(self.views.current, paths)
        return header, buffers

    def _compose(self, deadline: float = DEADLINE, *, is_noted: bool = True) -> Scene:
        scene = self.session.compose(deadline)
        self.scene = _finished(scene)
        if is_noted:
            self.session.note()
        return scene

    def _reply(
        self,
        number: Any,
        scene: Scene,
        whole: bool = False,
        /,
        **fields: Unpack[SceneFields],
    ) -> None:
        header, buffers = self._encode(scene, whole, fields)
        self.client.reply_scene(number, header, buffers, **fields)

    def push(self, scene: Scene | None = None, **fields: Unpack[SceneFields]) -> None:
        """Show the current view in the browser, laid out already or not."""
        offer = None if self.is_shown else self._offer
        # while it is offered, nobody is known to have what came before
        header, buffers = self._encode(scene or self._compose(), offer is not None, fields)
        self.client.push_scene(header, buffers, **fields)
        self._tell_view()
        if offer is not None:
            offer(header, buffers, **fields)

    def replace_first(self) -> None:
        """Lay out the current view in place of the first one, which no browser has seen yet."""
        self.session.history = History()
        self._compose()
        self._tell_view()

    def _tell_history(self) -> HistoryState:
        """Return which moment a scene shows, and whether one can go back and forth from it."""
        history = self.session.history
        return {"moment": history.number, "undo": history.can_undo, "redo": history.can_redo}

    def tell_overlays(self) -> None:
        """Tell the canvas what boxes can be coloured by, and what they are."""
        self.client.overlays = [overlay.name for overlay in self.session.overlays]
        self.client.overlay = self.session.overlay
        self.client.coloured = encode_paints(self.session.coloured)

    def _tell_view(self) -> None:
        """Tell the canvas which graph is shown, and how much of it."""
        self.client.breadcrumb = self.views.breadcrumb()
        self.client.focus, self.client.hops = self.views.focused or ("", 0)
        self.client.grouping = self.views.options.grouping
        self.client.wrap = self.session.wrap is not False
        self.client.details = self.views.options.details
        self.client.share = self.views.options.canvas_share


def write_paths(paths: Sequence[str]) -> Paths:
    """Return paths as a message names them: one by itself, several as a list."""
    return paths[0] if len(paths) == 1 else list(paths)


def read_paths(paths: Paths) -> list[str]:
    """Return the paths that a message names."""
    return [paths] if isinstance(paths, str) else paths


def _path(message: Request) -> str:
    path = message.get("path")
    if not isinstance(path, str):
        raise ViewError("the request names no path.")
    return path


def _finished(scene: Scene) -> Future[Scene]:
    future: Future[Scene] = Future()
    future.set_result(scene)
    return future


def read_canvas_size(message: Mapping[str, Any]) -> Window | None:
    """Return the size of the canvas; None where it has none that makes sense."""
    size = message.get("window")
    if not isinstance(size, list | tuple) or len(size) != 2:
        return None
    if not all(type(side) in (int, float) and LEAST_SIDE <= side <= MOST_SIDE for side in size):
        return None
    return Window(*map(float, size))
