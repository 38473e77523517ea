"""The review of the model that an explorer shows, from Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloupe.explorer.arguments import explain_methods
from netloupe.explorer.audit import QuantizationAudit
from netloupe.explorer.checks import Findings
from netloupe.explorer.compare import Diff
from netloupe.explorer.readers.load import ModelSource, load
from netloupe.explorer.render.paint import encode_paints
from netloupe.explorer.review import Review, ReviewItem
from netloupe.explorer.session.review_messages import ReviewMessage

if TYPE_CHECKING:
    from netloupe.explorer.session import Session
    from netloupe.explorer.session.reviewing import Reviewing

    from .canvas import Canvas
    from .page_canvas import PageCanvas
    from .review_panel import ReviewPanel
    from .saving import SavedPage


@explain_methods()
class Reviewed:
    """The part of :class:`.explorer.Explorer` that is about findings, differences and notes."""

    if TYPE_CHECKING:  # what it needs of the explorer
        canvas: Canvas
        _session: Session
        _reviewing: Reviewing
        _saved: SavedPage
        _tabs: ReviewPanel | PageCanvas | None

        def _navigate(self, path: str) -> None: ...

    @property
    def findings(self) -> Findings:
        """What rules find in the model; they are applied when it is first asked for.

        Rules that read weights are left out until :meth:`check` is told to apply them.

        Raises
        ------
        NetloupeError
            Where the model cannot be checked.
        Cancelled
            Where the check was stopped in the browser.
        """
        return self._reviewing.find()

    @property
    def diff(self) -> Diff | None:
        """What differs from the model that this one is compared with; None for none."""
        return self._reviewing.diff

    @property
    def audit(self) -> QuantizationAudit | None:
        """How a quantized model is quantized; None before its weights were read, and for others.

        :meth:`check` reads them when told to.
        """
        return self._reviewing.audit

    @property
    def review(self) -> Review:
        """All there is to review, the worst first, as far as it is known: what the tab lists."""
        return self._reviewing.review

    def check(self, *, weights: bool = False, reference: ModelSource | None = None) -> Findings:
        """Apply rules to the model, and list what they find in the review.

        Parameters
        ----------
        weights
            Whether weights are read for the rules that need them, and of a quantized model for
            its :attr:`audit`.
        reference
            The float model that a quantized one was made of, for the audit, as a model or
            anything that :func:`load` takes; weights are read.

        Raises
        ------
        NetloupeError
            Where the model cannot be checked.
        Cancelled
            Where the check was stopped in the browser.
        """
        loaded = None if reference is None else load(reference)
        return self._reviewing.find(reads_weights=weights, reference=loaded)

    def next_item(self) -> ReviewItem | None:
        """Go to the next item of the review and show it; return it, None where there is none."""
        return self._go_to_item(1)

    def previous_item(self) -> ReviewItem | None:
        """Go to the item of the review before this one and show it; return it, None for none."""
        return self._go_to_item(-1)

    def _go_to_item(self, by: int) -> ReviewItem | None:
        item = self._reviewing.step(by)
        if item is not None and item.paths:
            self._navigate(item.paths[0])
        return item

    @property
    def marks_shown(self) -> bool:
        """Whether the items of the review are marked in the picture; can be set."""
        return self._reviewing.has_marks

    @marks_shown.setter
    def marks_shown(self, shown: bool) -> None:
        self._reviewing.show_marks(bool(shown))

    def _receive_review(self, request: object) -> None:
        path = self._reviewing.receive(request)
        if path is not None:
            self._navigate(path)

    def _tell_review(self, message: ReviewMessage) -> None:
        """Tell tabs, and the page of a saved notebook; called perhaps from a thread."""
        if self._tabs is not None:
            self._tabs.tell_review(message)
        if message["type"] == "review" and "_saved" in vars(self):  # else it is being made
            self._saved.follow_review()

    def _show_marks(self) -> None:
        self.canvas.marks = encode_paints(self._session.marks)
