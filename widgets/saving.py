"""The explorer that a saved notebook keeps beside the picture, and when it is written.

While somebody works in a notebook, it is written once, soon after the first picture, in a process
of its own that gives way to all others. What executes a notebook has done with an output when its
cell ends: there the cell waits for it.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal, get_args

from netloupe.explorer.errors import NetloupeError, OutputError, ViewError
from netloupe.explorer.model import Model
from netloupe.explorer.options import ThemeName
from netloupe.explorer.options.command import write_options
from netloupe.explorer.progress import Cancelled, step, watched
from netloupe.explorer.render.paint import NO_PAINTS, Paints
from netloupe.explorer.review import Review, paint_places
from netloupe.explorer.session import Session
from netloupe.explorer.session.background import Background
from netloupe.explorer.session.command import options_now
from netloupe.explorer.session.reviewing import Reviewing
from netloupe.explorer.standalone.content import PageContent
from netloupe.explorer.standalone.document import encode
from netloupe.explorer.standalone.frame import FirstSight, frame_page
from netloupe.explorer.standalone.page import STILL_OPTIONS, make_page, write_open_groups
from netloupe.explorer.standalone.review_block import write_review
from netloupe.explorer.view import ViewOptions

from .cell_runner import find_cell_runner
from .page_process import run_render_process

#: what a saved notebook keeps: the explorer in a page with the picture, or the picture alone
Saved = Literal["explorer", "picture"]

#: where ``explore`` is not told
_VARIABLE = "NETLOUPE_SAVED"
#: of models of more nodes the page takes too long, and more than a notebook should hold
MOST_NODES = 5_000
#: bytes of the page; in a frame it takes some more, and the pictures beside it too
_PAGE_BYTES = 800_000
#: and of what its Review tab lists
_REVIEW_BYTES = 60_000
#: seconds after the first picture; by then cells that follow have begun
_SOON = 4.0
_POLL_SECONDS = 0.1
#: seconds for the page, in which nobody waits for it, and in which a cell does
_TIMEOUT, _CELL_TIMEOUT = 300.0, 60.0
#: so often what is shown may have changed meanwhile
_TRIALS = 3
_TOO_LARGE = (
    " The model is too large for the explorer to be kept here: "
    "<code>model.to_html(&quot;page.html&quot;)</code> writes it as a page."
)
#: notebooks with several explorers write one page after the other
_TURN = threading.Lock()


def choose_saved(given: str | None) -> Saved:
    """Return what a saved notebook keeps of an explorer: as given, or as the environment says.

    Raises
    ------
    ViewError
        Where that is no such thing.
    """
    name = "saved" if given else _VARIABLE
    wanted = given or os.environ.get(_VARIABLE) or "explorer"
    for saved in get_args(Saved):
        if wanted == saved:
            return saved  # type: ignore[no-any-return] # get_args has no types
    raise ViewError(f"{name} is {wanted!r}. Choose {' or '.join(get_args(Saved))}.")


class SavedPage:
    """Writes the page of an explorer, where a notebook keeps it.

    Parameters
    ----------
    saved
        Whether it is wanted.
    session
        What is shown.
    reviewing
        What there is to review in it.
    lock
        Held while that is looked at.
    read_theme
        Returns the colours in which it is shown.
    read_selected
        Returns the paths of what is selected.
    height
        Of the canvas in pixels.
    on_written
        Called from a thread once there is a page.
    log
        Gets what nobody expects.

    Attributes
    ----------
    note
        Why there is none, where the reader can do something about it, as HTML.
    is_awaited
        Whether the cell waits for it.
    """

    def __init__(
        self,
        saved: Saved,
        session: Session,
        reviewing: Reviewing,
        lock: threading.RLock,
        read_theme: Callable[[], ThemeName],
        read_selected: Callable[[], Sequence[str]],
        height: int,
        on_written: Callable[[], object],
        log: logging.Logger,
    ) -> None:
        self._session = session
        self._reviewing = reviewing
        #: what the Review tab of the frame lists that was made last
        self._listed: Review | None = None
        self._lock = lock
        self._read_theme = read_theme
        self._read_selected = read_selected
        self._height = height
        self._on_written = on_written
        self._log = log
        #: with the model and the options that it was written of
        self._page: tuple[Model, ViewOptions, bytes] | None = None
        self.note = ""
        self._is_started = False
        self._working = Background(self._work, lambda _share: None)
        runner = find_cell_runner() if saved == "explorer" else "none"
        is_kept = runner in ("executor", "notebook")
        if is_kept and session.views.model.node_count > MOST_NODES:
            self.note = _TOO_LARGE
            is_kept = False
        self.is_awaited = is_kept and runner == "executor"
        self._is_coming = is_kept and runner == "notebook"

    def make_frame(self) -> str:
        """Return the page as HTML with what is open now; "" for none. The caller holds the lock."""
        session = self._session
        model, options = session.views.model, self._read_options()
        if self.is_awaited and not self._has_page(model, options):
            self._write_here(model, options)
        if self._page is None or not self._has_page(model, options):
            return ""
        opened = write_open_groups(session.views.current.root)
        review, marks = self._write_review()
        paints, selected = session.lower_paints, self._read_selected()
        shown = FirstSight(opened, selected, paints, session.overlay, marks, review)
        # its folder is nobody's business who is given the notebook
        title = f"Explorer of {Path(model.source).name or model.source}"
        return frame_page(self._page[2], title, self._height, shown)

    def _write_review(self) -> tuple[bytes | None, Paints]:
        """Return the block of what there is to review, and the marks that are seen at first."""
        reviewing, model = self._reviewing, self._session.views.model
        if self.is_awaited and reviewing.findings is None:
            with suppress(Cancelled, NetloupeError, MemoryError):  # the tab says what is missing
                reviewing.find()
        self._listed = review = reviewing.review
        if reviewing.findings is None and not review:
            return None, NO_PAINTS
        count = len(review)
        while True:
            places = reviewing.find_places(review)
            block = write_review(model, review, places)
            excess = len(encode(block)) / _REVIEW_BYTES
            if excess <= 1 or not review:
                seen = paint_places(places, dict(enumerate(review)))
                return block, seen if reviewing.has_marks else NO_PAINTS
            review = _shorten(self._listed, min(len(review) - 1, int(len(review) / excess)), count)

    def follow_review(self) -> None:
        """Keep what there is to review as it is known now, where an output can still change."""
        if self.is_awaited or self._page is None or self._page[0] is not self._session.views.model:
            return
        if self._listed is not self._reviewing.review:
            self._on_written()

    def _has_page(self, model: Model, options: ViewOptions) -> bool:
        return self._page is not None and self._page[0] is model and self._page[1] == options

    def _write_here(self, model: Model, options: ViewOptions) -> None:
        """Write it while the cell waits."""
        deadline = time.monotonic() + _CELL_TIMEOUT

        def check(_what: str, _share: float | None) -> None:
            if time.monotonic() > deadline:
                raise Cancelled

        session = self._session
        try:
            with watched(check):
                page, _ = make_page(
                    model,
                    replace(options, wrap="auto"),  # a page has no columns
                    session.lower_paints,
                    session.views.current,
                    PageContent(size_limit=_PAGE_BYTES),
                    overlays=session.overlays,
                )
        except (Cancelled, OutputError):
            self.note = _TOO_LARGE
        except Exception:  # the picture is there all the same
            self._log.exception("the explorer of the saved notebook could not be written")
        else:
            self._page = model, options, page
            return
        self.is_awaited = False

    def start(self) -> None:
        """Let it be written in a while, once; called when the browser has its first picture."""
        if self._is_coming and not self._is_started:
            self._is_started = True
            self._working.start()

    def renew(self) -> None:
        """Write it anew where it was written: the model was read again."""
        if self._is_started:
            self._working.cancel()
            self._working = Background(self._work, lambda _share: None)
            self._working.start()

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is written any more; return whether that is so."""
        return not self._is_started or self._working.wait(seconds)

    def close(self) -> None:
        """Give it up, and end the process that writes it."""
        self._working.cancel()

    def _work(self) -> None:
        try:
            _pause(_SOON)
            while not _TURN.acquire(timeout=_POLL_SECONDS):
                step()
            try:
                self._write_apart()
            finally:
                _TURN.release()
        except Cancelled:
            raise
        except Exception:
            self._log.exception("the explorer of the saved notebook could not be written")

    def _write_apart(self) -> None:
        """Write it in a process of its own, which reads the model itself."""
        for _ in range(_TRIALS):
            with self._lock:
                model = self._session.views.model
                options = self._read_options()
            own = [str(file) for file in model.files.own] if model.files is not None else []
            if not own:  # nothing that another process could read
                return
            # an init net that was found beside the model is found again
            is_given = len(own) > 1 and "init net file" not in model.metadata
            words = [own[0], *(["--init", own[1]] if is_given else [])]
            words += ["-o", "-", "--format", "html", "--size-limit", str(_PAGE_BYTES)]
            page = run_render_process(words + _write_words(options), _TIMEOUT)
            if page is None:
                return
            with self._lock:
                if self._session.views.model is model and self._read_options() == options:
                    self._page = model, options, page
                    break
        else:
            return
        self._on_written()

    def _read_options(self) -> ViewOptions:
        return replace(options_now(self._session), theme=self._read_theme())


def _shorten(review: Review, most: int, count: int) -> Review:
    """Return a review with its first items alone, which says how many it had."""
    told = f"a saved notebook lists the first {most:,} of {count:,} items"
    return replace(review, items=review.items[:most], unchecked=((told, ""), *review.unchecked))


def _pause(seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        step()
        time.sleep(_POLL_SECONDS)


def _write_words(options: ViewOptions) -> list[str]:
    """Return the words for options of a page; what is open in it is put into it later."""
    values: dict[str, Any] = {**asdict(options), "expand": "none"}
    for name in STILL_OPTIONS:
        del values[name]
    del values["theme"]
    # told in any case: without it a page is light or dark as the system is
    return [*write_options(values), "--theme", options.theme]
