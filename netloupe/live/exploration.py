"""What one page explores: a session, what is selected in it, and what is said of that."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.layout import WINDOW, Window
from netloupe.explorer.model import Model
from netloupe.explorer.options import Direction
from netloupe.explorer.progress import Cancelled
from netloupe.explorer.render.paint import encode_paints
from netloupe.explorer.session import Requests, Session
from netloupe.explorer.session.files import say_changes
from netloupe.explorer.session.lookup import has_element, list_selected
from netloupe.explorer.session.requests import write_paths
from netloupe.explorer.view import ViewOptions

from .client import LiveClient, Send

if TYPE_CHECKING:
    from netloupe.explorer.overlays import Overlay
    from netloupe.explorer.render.picture import Picture
    from netloupe.explorer.session.review_messages import ReviewMessage

    from .beside import Beside

#: seconds that descriptions wait for the first picture to be painted, once it is laid out
_PICTURE_SECONDS = 1.0
#: of more that the model does not have only these are named
_MOST_GONE = 5


class Exploration:
    """One page's exploration of a model; others of the same model know nothing of it.

    Parameters
    ----------
    model
        The model.
    options
        What is shown first, and how.
    send
        Takes a frame to the page; called from any thread.
    overlays
        What boxes can be coloured by; they are coloured by the first.
    window
        In which it is seen, where the page has told that already: what is open is then chosen once.
    """

    def __init__(
        self,
        model: Model,
        options: ViewOptions,
        send: Send,
        overlays: Sequence[Overlay] = (),
        window: Window | None = None,
    ) -> None:
        self._session = session = Session(model, options, window or WINDOW)
        session.set_overlays(overlays)
        self._views = session.views
        self._client = LiveClient(
            send,
            breadcrumb=self._views.breadcrumb(),
            focus=options.focus,
            hops=options.hops if options.focus else 0,
            grouping=options.grouping,
            wrap=options.wrap is not False,
            details=options.details,
            share=options.share,
            direction=options.direction,
        )
        self._show_paints()
        #: what waits for the first picture, and then goes on at once
        self._later = ThreadPoolExecutor(max_workers=1, thread_name_prefix="netloupe-later")
        self._grouping = self._views.current.grouping
        #: what the address of the page is to keep, as the page was told
        self._told: tuple[object, ...] | None = None
        self._known: Beside | None = None
        self._finding = threading.Lock()
        self._is_seen = threading.Event()
        self._requests = Requests(
            session,
            self._client,
            self._list_selected,
            self._client.select,
            self._settle,
            self._read_again,
            self._look_at_files,
            self._begun,
            self._write_page,
        )
        self._later.submit(self._wait_for_picture)

    def close(self) -> None:
        """End what is under way; nothing is sent any more."""
        if self._known is not None:
            self._known.close()
        self._later.shutdown(wait=False, cancel_futures=True)
        self._requests.close()

    def receive(self, frame: Mapping[str, Any]) -> None:
        """Take a frame of the page, whose JSON is read; it is answered later.

        What is no frame, or of which a field is none, is answered by an error message.
        """
        match frame:
            case {"request": dict(request)}:
                self._requests.receive(request, [])  # type: ignore[arg-type] # looked at later
            case {"traits": dict(traits)}:
                self._set(traits)
            case {"follow": str(path)}:
                self._requests.pool.submit(self._follow, path)
            case {"link": dict(fields), "id": int(number)}:
                self._requests.pool.submit(self._follow_page_link, fields, number)
            case {"review": dict(asked)}:
                self._later.submit(lambda: self._requests.pool.submit(self._receive_review, asked))
            case {"describe": str() | [str(), *_], "id": int()} | {"weight": int(), "id": int()}:
                self._later.submit(lambda: self._beside.inspecting.receive(frame))
            case _:
                self._client.send_error(None, "The page has asked for what is not known here.")

    # what the page sets

    def _set(self, traits: Mapping[str, Any]) -> None:
        match traits:
            case {"selection": str(path), "selected_paths": [*paths]}:
                known = [each for each in paths if isinstance(each, str)]
                self._client.traits.update(selection=path, selected_paths=known)
                self._look_at_files()
            case {"selection": str(path)}:
                self._client.traits.update(selection=path)
                self._look_at_files()
        direction = traits.get("direction")
        if direction in get_args(Direction) and direction != self._client.traits["direction"]:
            self._client.traits["direction"] = direction
            self._requests.pool.submit(self._turn, direction)

    def _turn(self, direction: Any) -> None:
        with self._refusing(), self._requests.wanted():
            self._session.set_direction(direction)
            self._requests.push(fit=True)

    def _follow(self, path: str) -> None:
        """Show and select what a link leads to; what no picture shows is only described."""
        from netloupe.explorer.session.reveal import reveal

        try:
            with self._requests.wanted():
                target = reveal(self._views, path)
                self._requests.push(select=target, center=target)
        except (Cancelled, NetloupeError):
            target = path
        self._client.select((target,))

    # the address of the page

    def _follow_page_link(self, fields: Mapping[str, Any], number: int) -> None:
        """Show what an address says; where that does not fit, all stays as it is."""
        from netloupe.explorer.session.page_link import follow_page_link, read_page_link

        answer: dict[str, Any] = {"id": number}
        try:
            with self._requests.wanted():
                selected, gone = follow_page_link(self._session, read_page_link(fields))
                if gone:
                    said = "The address of this page names what the model does not have"
                    self._views.notices.append(f"{said}: {_list(gone)}.")
                if self._requests.is_shown:
                    self._requests.push(select=write_paths(selected))
                else:
                    self._requests.replace_first()
                self._client.set_traits({"direction": self._views.options.direction})
                self._client.select(selected)
        except (Cancelled, NetloupeError) as error:
            answer["error"] = str(error).removeprefix(f"{self._views.model.source}: ")
        except Exception as error:
            self._client.log.exception("an address could not be followed")
            answer["error"] = f"internal error: {error}"
        self._client.send({"answer": answer})

    def _send_page_link(self) -> None:
        """Tell the page what its address has to keep, where that is something else."""
        from netloupe.explorer.session.page_link import write_page_link

        session, options = self._session, self._views.options
        state = session.history.moment, session.wrap, options.details, options.share
        if self._told is None or any(a is not b for a, b in zip(state, self._told, strict=True)):
            self._told = state
            self._client.send({"seen": write_page_link(session)})

    # the review

    def _receive_review(self, asked: Mapping[str, Any]) -> None:
        with self._refusing():
            path = self._beside.reviewing.receive(asked)
            if path is not None:
                self._follow(path)

    def _tell_review(self, message: ReviewMessage) -> None:
        self._client.send({"review": message})

    def _show_marks(self) -> None:
        self._client.set_traits({"marks": encode_paints(self._session.marks)})

    def _write_page(self, picture: Picture) -> tuple[bytes, list[str]]:
        """Write what is shown, and what is known of a review, as a page."""
        from netloupe.explorer.standalone.page import write_page

        known = self._beside.reviewing
        picture = replace(picture, paints=self._session.paints)
        review = known.review if len(known.review) else None
        return write_page(picture, review, marks_shown=known.has_marks)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Tell the page of errors inside."""
        try:
            yield
        except (Cancelled, NetloupeError) as error:
            self._client.send_error(None, str(error))
        except Exception as error:
            self._client.log.exception("what a page has set failed")
            self._client.send_error(None, f"internal error: {error}")

    # what is selected

    def _list_selected(self) -> tuple[str, ...]:
        traits = self._client.traits
        return list_selected(traits["selection"], traits["selected_paths"])

    def _settle(self) -> None:
        """Deselect what is gone with the view, and describe what stays as it now is."""
        selected = self._list_selected()
        kept = [path for path in selected if self._is_there(path)]
        if len(kept) < len(selected):
            self._client.select(kept)
        if self._known is not None:
            self._known.reviewing.follow_view()
        grouping, self._grouping = self._grouping, self._views.current.grouping
        if grouping != self._grouping:
            self._show_paints()
            self._tell_more()
        self._send_page_link()

    def _show_paints(self) -> None:
        """Paint what differs where the model was made of two; counts of groups go by grouping."""
        self._client.set_traits({"paints": encode_paints(self._session.lower_paints)})

    def _is_there(self, path: str) -> bool:
        return has_element(self._views.model, self._views.current, path)

    # the model

    @property
    def _beside(self) -> Beside:
        with self._finding:
            if self._known is None:
                from .beside import Beside

                self._known = Beside(
                    self._session, self._client, self._requests, self._tell_review, self._show_marks
                )
            return self._known

    def _tell_more(self) -> None:
        if self._known is not None:
            self._known.inspecting.tell_more()

    def _wait_for_picture(self) -> None:
        """Let the first picture be painted before anything is described."""
        self._requests.scene.exception()
        self._is_seen.wait(_PICTURE_SECONDS)

    def _begun(self) -> None:
        """Find what more can be known of the model, now that its picture is seen."""
        self._beside.start()
        self._is_seen.set()

    def show_again(self, model: Model) -> None:
        """Show another reading of the model; what was seen and no longer exists is said.

        What is open, selected and seen stays, as far as it still exists.
        """
        self._requests.pool.submit(self._show_again, model)

    def tell_changed(self, text: str) -> None:
        """Say what became of the files, on a line that stays until they are read again."""
        self._client.changed = text

    def _show_again(self, model: Model) -> None:
        with self._refusing(), self._requests.wanted():
            seen = {*self._list_selected(), *self._list_open()}
            self._show_model(model)
            self._views.notices.append(_say_renewed(self._views.model, self._find_gone(seen)))
            self._requests.push()

    def _list_open(self) -> list[str]:
        """Return the paths of what is open, and of the graph that is shown."""
        view = self._views.current
        opened = [item.path for item in view.items.values() if item.is_open and item.path]
        return [view.graph.path, *opened]

    def _find_gone(self, paths: Iterable[str]) -> list[str]:
        return sorted(path for path in paths if path and not self._is_there(path))

    def _read_again(self) -> None:
        """Show the model as its files now are; the caller holds the lock and shows the scene."""
        from netloupe.explorer.compare import reload_model

        self._show_model(reload_model(self._views.model))

    def _show_model(self, model: Model) -> None:
        self._session.reload(model)
        self._show_paints()
        self._beside.renew()
        self._look_at_files()
        self._tell_more()

    def _look_at_files(self) -> None:
        """Say where the files are no longer as they were read."""
        self._client.changed = say_changes(self._views.model)


def _say_renewed(model: Model, gone: Sequence[str]) -> str:
    """Return that a model was read again, and what of what was seen is no longer in it."""
    name = Path(model.source).name or model.source
    said = f"{name} has changed and was read again."
    if not gone:
        return said
    return f"{said} No longer there: {_list(gone)}."


def _list(gone: Sequence[str]) -> str:
    more = f" and {len(gone) - _MOST_GONE:,} more" if len(gone) > _MOST_GONE else ""
    return f"{', '.join(gone[:_MOST_GONE])}{more}"
