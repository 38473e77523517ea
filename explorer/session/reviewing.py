"""The review of the model that an explorer shows: what is known, and finding more of it.

Rules are applied in a thread of its own, which holds no lock of the session while it works.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from netloupe.explorer.checks import Findings
from netloupe.explorer.compare import Diff
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.grouping import GroupTree, build_group_tree
from netloupe.explorer.model import Graph, Model
from netloupe.explorer.progress import Cancelled, step
from netloupe.explorer.render.paint import NO_PAINTS, Paints
from netloupe.explorer.review import Review, ReviewItem, encode_review, make_review, mark_items

from .background import Background
from .checking import check_structure, check_weights
from .review_messages import CheckProgressMessage, CheckStage, ReviewListMessage, ReviewMessage
from .session import Session

#: models of more nodes are checked only when somebody asks: their rules take seconds, in which
#: pictures would come late
MOST_NODES_UNASKED = 20_000

_POLL_SECONDS = 0.1


class Reviewing:
    """Knows what there is to review in the model of a session, and applies rules to it.

    Parameters
    ----------
    session
        What is shown; its marks are set here.
    tell
        Called, perhaps from a thread, with a message for each tab that shows the review.
    on_marks
        Called, perhaps from a thread, when other marks are to be shown: ``session.marks``.
    log
        Gets what nobody expects.
    diff
        What differs from another model; None for none.

    Attributes
    ----------
    review
        All that is known so far.
    findings
        What rules have found; None before they were applied.
    diff
        As given.
    current
        The number of the item that is selected in the list; -1 for none.
    """

    def __init__(
        self,
        session: Session,
        tell: Callable[[ReviewMessage], object],
        on_marks: Callable[[], object],
        log: logging.Logger,
        diff: Diff | None = None,
    ) -> None:
        self._session = session
        self._tell = tell
        self._on_marks = on_marks
        self._log = log
        #: held while anything below is read or set, and never while anything takes long
        self._lock = threading.RLock()
        self.findings: Findings | None = None
        self.diff = diff if diff is not None else session.views.model.comparison
        self.review: Review = self._list_items(None)
        self.current = -1
        self._stage: CheckStage = "unchecked"
        self._share: float | None = None
        self._problem: Exception | None = None
        #: whether items are marked; asked for by the one who opened the tab, or compares. In a
        #: picture of two models what differs is painted anyway
        self._has_marks = diff is not None and not self._shows_both
        self._working: Background | None = None
        #: what was under way last: it may still be telling what came of it
        self._last: Background | None = None
        #: groups of graphs that the session does not show, by grouping and path
        self._trees: dict[tuple[str, str], GroupTree] = {}
        self._marked_grouping = ""
        self._encoded: dict[str, Any] | None = None
        if self._has_marks:
            self._mark()

    @property
    def _shows_both(self) -> bool:
        """Whether the picture is of both models that are compared."""
        return self.diff is not None and self._session.views.model.comparison is self.diff

    def _list_items(self, found: Findings | None) -> Review:
        """Return all that is known, with the paths of the model that is shown."""
        if self.diff is None:
            return Review() if found is None else make_review(found)
        if not self._shows_both:
            return make_review(found, self.diff)
        return make_review(found, self.diff, find_shown=self.diff.merging.find_shown)

    # what a tab asks

    def receive(self, request: object) -> str | None:
        """Take a request of a tab; return the path that is to be shown, None for nothing."""
        match request:
            case {"ask": "review"}:
                self._tell(self._list())
                self._tell(self._say_progress())
                if self.current >= 0:
                    self._tell({"type": "go", "item": self.current})
            case {"show": str(path), "item": int(item)}:
                self.current = item
                return path
            case {"check": "rules" | "weights" as what}:
                self.begin(reads_weights=what == "weights")
            case {"stop": True}:
                self.stop()
            case {"marks": bool(marks)}:
                self.show_marks(marks)
        return None

    def _list(self) -> ReviewListMessage:
        with self._lock:
            if self._encoded is None and (self.findings is not None or len(self.review)):
                self._encoded = encode_review(self.review)
            return {"type": "review", "review": self._encoded, "marks": self._has_marks}

    def _say_progress(self) -> CheckProgressMessage:
        with self._lock:
            return {
                "type": "progress",
                "stage": self._stage,
                "share": self._share,
                "error": _write_problem(self._problem),
            }

    # checking

    def start(self, wait: Callable[[float], bool] = lambda _seconds: True) -> None:
        """Apply rules unasked, where that is quick; called when the picture is there.

        Parameters
        ----------
        wait
            Waits so many seconds for what is found out about types meanwhile, and returns whether
            that is over: rules look at types.
        """
        model = self._session.views.model
        if self._stage == "unchecked" and model.node_count <= MOST_NODES_UNASKED:
            self.begin(wait=wait)

    def begin(
        self,
        *,
        reads_weights: bool = False,
        wait: Callable[[float], bool] = lambda _seconds: True,
    ) -> None:
        """Apply rules in the background; nothing happens where that is under way."""
        with self._lock:
            if self._working is not None:
                return
            model = self._session.views.model
            if model.comparison is not None:  # rules are about the newer one
                model = model.comparison.right
            self._stage = "reading" if reads_weights else "checking"
            self._share, self._problem = None, None
            working = Background(
                lambda: self._work(model, working, wait, reads_weights=reads_weights),
                lambda share: self._report(working, share),
            )
            self._working = self._last = working
            working.start()
        self._tell(self._say_progress())

    def stop(self) -> None:
        """End what is under way; what was found before stays."""
        with self._lock:
            working = self._working
        if working is not None:
            working.cancel()

    def close(self) -> None:
        """End what is under way; nothing is told any more."""
        self._tell = _tell_nobody
        self._on_marks = _call_nobody
        self.stop()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until nothing is under way; return whether it is so."""
        with self._lock:
            last = self._last
        return last is None or last.wait(seconds)

    def find(self, *, reads_weights: bool = False) -> Findings:
        """Return what rules find; they are applied now where they were not yet.

        Raises
        ------
        NetloupeError
            Where the model cannot be checked.
        Cancelled
            Where it was stopped in the browser meanwhile.
        """
        while not self.wait(_POLL_SECONDS):
            pass
        if self.findings is None or (reads_weights and self.review.lacks_weights):
            self.begin(reads_weights=reads_weights)
            while not self.wait(_POLL_SECONDS):  # so that the kernel can be interrupted
                pass
        with self._lock:
            if self._problem is not None:
                raise self._problem
            if self.findings is None:
                raise Cancelled("the check was stopped")
            return self.findings

    def _work(
        self,
        model: Model,
        working: Background,
        wait: Callable[[float], bool],
        *,
        reads_weights: bool,
    ) -> None:
        problem: Exception | None = None
        found: Findings | None = None
        try:
            while not wait(_POLL_SECONDS):
                step()
            known = self.findings
            found = check_structure(model) if known is None else known
            if reads_weights:
                found = check_weights(model, found)
        except Cancelled:
            raise
        except (NetloupeError, MemoryError) as error:
            problem = error
        except Exception as error:
            self._log.exception("checking a model failed")
            problem = error
        finally:
            self._finish(working, found, problem)

    def _finish(
        self, working: Background, found: Findings | None, problem: Exception | None
    ) -> None:
        """Take what was found, unless another reading of the model is shown now."""
        with self._lock:
            if self._working is not working:
                return
            if found is not None and found is not self.findings:
                self._take(found)
            self._working = None
            self._share, self._problem = None, problem
            self._stage = "checked" if self.findings is not None else "unchecked"
        self._tell(self._list())
        self._tell(self._say_progress())

    def _report(self, working: Background, share: float) -> None:
        with self._lock:
            if self._working is not working:
                return
            self._share = share
        self._tell(self._say_progress())

    def _take(self, found: Findings) -> None:
        self.findings = found
        self.review = self._list_items(found)
        self.current = -1
        self._encoded = None
        if self._has_marks:
            self._mark()

    # the model and its groups

    def renew(self, wait: Callable[[float], bool]) -> None:
        """Begin anew where the model was read again; ``wait`` as for :meth:`start`."""
        self.stop()
        was_checked = self.findings is not None or self._stage == "checking"
        with self._lock:
            self.findings, self.diff = None, self._session.views.model.comparison
            self.review = self._list_items(None)
            self.current, self._encoded = -1, None
            self._stage, self._share, self._problem = "unchecked", None, None
            self._working = None
            self._trees = {}
            self._mark()
        self._tell(self._list())
        self._tell(self._say_progress())
        if was_checked:
            self.begin(wait=wait)

    def follow_view(self) -> None:
        """Mark anew where nodes are grouped in another way."""
        if self._has_marks and self._marked_grouping != self._session.views.current.grouping:
            with self._lock:
                self._mark()

    # marks

    @property
    def has_marks(self) -> bool:
        """Whether items are marked in the picture."""
        return self._has_marks

    def show_marks(self, shown: bool) -> None:
        """Mark items in the picture, or mark nothing."""
        with self._lock:
            if shown == self._has_marks:
                return
            self._has_marks = shown
            self._mark()

    def _mark(self) -> None:
        session = self._session
        self._marked_grouping = session.views.current.grouping
        marks: Paints = NO_PAINTS
        if self._has_marks:
            review = self.review
            if self._shows_both:  # what differs is painted already
                others = [item for item in review.items if item.kind != "difference"]
                review = replace(review, items=tuple(others))
            marks = mark_items(review, session.views.model, self._find_tree)
        session.marks = marks
        self._on_marks()

    def _find_tree(self, graph: Graph) -> GroupTree:
        """Return the groups of a graph; those of the one that is shown are there already."""
        view = self._session.views.current
        if graph is view.graph and view.only is None:
            return view.borders(graph).tree
        key = view.grouping, graph.path
        if key not in self._trees:
            self._trees[key] = build_group_tree(graph, view.grouping)
        return self._trees[key]

    # going through the list

    def step(self, by: int) -> ReviewItem | None:
        """Go to the next item (1) or the one before (-1); return it, None where there is none.

        It goes on at the other end; whoever calls this shows the item.
        """
        count = len(self.review)
        if not count:
            return None
        if self.current < 0:
            self.current = 0 if by > 0 else count - 1
        else:
            self.current = (self.current + by) % count
        self._tell({"type": "go", "item": self.current})
        return self.review[self.current]


def _write_problem(problem: Exception | None) -> str:
    if problem is None:
        return ""
    if isinstance(problem, MemoryError):
        return "There is not enough memory to check this model."
    return str(problem) if isinstance(problem, NetloupeError) else f"internal error: {problem}"


def _tell_nobody(_message: ReviewMessage) -> None:
    """Tell no one: the explorer was closed."""


def _call_nobody() -> None:
    """Show no marks: the explorer was closed."""
