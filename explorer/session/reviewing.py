"""The review of the model that an explorer shows: what is known, and finding more of it.

Rules are applied in a thread of its own, which holds no lock of the session while it works.
"""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, cast

from netloupe.explorer.audit import QuantizationAudit
from netloupe.explorer.checks import Findings
from netloupe.explorer.compare import Diff
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Model
from netloupe.explorer.notes import Note
from netloupe.explorer.progress import Cancelled, step
from netloupe.explorer.render.paint import NO_PAINTS
from netloupe.explorer.review import ItemPlaces, Review, ReviewItem, encode_review, make_review
from netloupe.explorer.review.differences import FindShown, find_right

from .background import Background
from .checking import CheckJob, CheckResult, check_in_parts, write_check_problem
from .noting import accept_defects, accept_findings, answer_note, read_notes
from .placing import ReviewPlaces
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
    audit
        Of a quantized model whose weights were read; None for others.
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
        self.audit: QuantizationAudit | None = None
        self._notes: tuple[Note, ...] = ()
        #: why notes cannot be read; "" where they can
        self._notes_problem = ""
        self.review = Review()
        self.current = -1
        self._stage: CheckStage = "unchecked"
        self._share: float | None = None
        self._problem: Exception | None = None
        #: whether items are marked; asked for by the one who opened the tab, or compares. In a
        #: picture of two models what differs is painted anyway
        self._has_marks = diff is not None and self._shown_diff is None
        self._working: Background | None = None
        #: what was under way last: it may still be telling what came of it
        self._last: Background | None = None
        self._places = ReviewPlaces(session)
        self._encoded: dict[str, Any] | None = None
        if self.diff is not None:
            self._collect()

    @property
    def model(self) -> Model:
        """The model that is checked and noted: where two are shown as one, the newer of them."""
        return self._session.views.model if self.diff is None else self.diff.right

    @property
    def _shown_diff(self) -> Diff | None:
        """What differs, where the picture is of both models that are compared; None elsewhere."""
        return self.diff if self._session.views.model.comparison is self.diff else None

    def _collect(self) -> None:
        """Make the list anew of all that is known; the caller holds the lock."""
        find_shown: FindShown = find_right
        if self._shown_diff is not None:
            find_shown = self._shown_diff.merging.find_shown
        made = make_review(self.findings, self.diff, self.audit, self._notes, find_shown)
        odd = [*(() if self.findings is None else self.findings.notices)]
        if self._notes_problem:
            odd.insert(0, self._notes_problem)
        unchecked = (*made.unchecked, *((each, "") for each in odd))
        self.review = dataclasses.replace(made, unchecked=unchecked)
        self.current = -1
        self._encoded = None
        if self._has_marks:
            self._mark()

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
            case {"note": _} | {"remove": _}:
                self._note(dict(cast("dict[str, Any]", request)))
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
                "error": write_check_problem(self._problem),
            }

    # notes

    def _note(self, request: dict[str, Any]) -> None:
        """Write, change or remove a note, and tell what came of it."""
        number = request.get("accept")
        if isinstance(number, int) and 0 <= number < len(self.review):
            request["fingerprint"] = self.review[number].fingerprint
        known = [*(self.findings or ()), *(self.audit.defects if self.audit else ())]
        error = ""
        try:
            if not answer_note(self.model, request, known):
                return
        except NetloupeError as problem:
            error = str(problem)
        self._tell({"type": "noted", "error": error})
        self.renew_notes()

    def renew_notes(self) -> None:
        """List the notes of the model as they are now, and what of findings they accept."""
        model = self.model
        notes, problem = read_notes(model)
        findings, audited = self.findings, self.audit
        if findings is not None:
            findings = accept_findings(model, findings)
        if audited is not None:
            audited = accept_defects(model, audited)
        with self._lock:
            self._notes, self._notes_problem = notes, problem
            self.findings, self.audit = findings, audited
            self._collect()
        self._tell(self._list())

    def select(self, paths: Sequence[str]) -> None:
        """Tell tabs what is selected: what a note would be on."""
        self._tell({"type": "selection", "paths": list(paths)})

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
        reference: Model | None = None,
        wait: Callable[[float], bool] = lambda _seconds: True,
    ) -> None:
        """Apply rules in the background; nothing happens where that is under way.

        Parameters
        ----------
        reads_weights
            Whether weights are read for the rules that need them, and of a quantized model for an
            audit.
        reference
            The float model that a quantized one was made of; None where it is not at hand.
        wait
            As for :meth:`start`.
        """
        with self._lock:
            if self._working is not None:
                return
            model = self.model
            self._stage = "reading" if reads_weights else "checking"
            self._share, self._problem = None, None
            working = Background(
                lambda: self._work(working, wait, CheckJob(model, reads_weights, reference)),
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

    def find(self, *, reads_weights: bool = False, reference: Model | None = None) -> Findings:
        """Return what rules find; they are applied now where they were not yet.

        The parameters are those of :meth:`begin`.

        Raises
        ------
        NetloupeError
            Where the model cannot be checked.
        Cancelled
            Where it was stopped in the browser meanwhile.
        """
        while not self.wait(_POLL_SECONDS):
            pass
        lacks = self.findings is None or (reads_weights and self.review.lacks_weights)
        if lacks or reference is not None:
            self.begin(reads_weights=reads_weights or reference is not None, reference=reference)
            while not self.wait(_POLL_SECONDS):  # so that the kernel can be interrupted
                pass
        with self._lock:
            if self._problem is not None:
                raise self._problem
            if self.findings is None:
                raise Cancelled("the check was stopped")
            return self.findings

    def _work(self, working: Background, wait: Callable[[float], bool], job: CheckJob) -> None:
        problem: Exception | None = None
        found: CheckResult | None = None
        try:
            while not wait(_POLL_SECONDS):
                step()
            with self._lock:
                known, audited = self.findings, self.audit
            found = check_in_parts(job, known, audited)
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
        self, working: Background, found: CheckResult | None, problem: Exception | None
    ) -> None:
        """Take what was found, unless another reading of the model is shown now."""
        with self._lock:
            if self._working is not working:
                return
            if found is not None:
                self.findings, self.audit, self._notes, self._notes_problem = found
                self._collect()
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

    # the model and its groups

    def renew(self, wait: Callable[[float], bool]) -> None:
        """Begin anew where the model was read again; ``wait`` as for :meth:`start`."""
        self.stop()
        was_checked = self.findings is not None or self._stage == "checking"
        with self._lock:
            self.findings, self.audit = None, None
            self.diff = self._session.views.model.comparison
            self._notes, self._notes_problem = (), ""
            self.review = Review()
            self.current, self._encoded = -1, None
            self._stage, self._share, self._problem = "unchecked", None, None
            self._working = None
            self._places.forget()
            if self.diff is not None:
                self._collect()
            self._mark()
        self._tell(self._list())
        self._tell(self._say_progress())
        if was_checked:
            self.begin(wait=wait)

    def follow_view(self) -> None:
        """Mark anew where nodes are grouped in another way."""
        if self._has_marks and self._places.is_grouped_anew:
            with self._lock:
                self._mark()

    # marks

    @property
    def has_marks(self) -> bool:
        """Whether items are marked in the picture."""
        return self._has_marks

    def show_marks(self, shown: bool) -> None:
        """Mark items in the picture, or mark nothing.

        Tabs are told even where that is so already: a list that was on its way when one of them
        asked says what was so before.
        """
        with self._lock:
            if shown != self._has_marks:
                self._has_marks = shown
                self._mark()
        self._tell({"type": "marks", "marks": shown})

    def _mark(self) -> None:
        session = self._session
        session.marks = NO_PAINTS
        if self._has_marks:
            session.marks = self._places.mark(self.review, self._shown_diff)
        self._on_marks()

    def find_places(self, review: Review) -> ItemPlaces:
        """Return where the picture shows what the items of a review of this model are about."""
        with self._lock:
            return self._places.find(review, self._shown_diff)

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


def _tell_nobody(_message: ReviewMessage) -> None:
    """Tell no one: the explorer was closed."""


def _call_nobody() -> None:
    """Show no marks: the explorer was closed."""
