"""What is found out about a model beside its picture: its description, types and a review.

What this needs takes a while to import, which nobody waits for: it is loaded once the first picture
is on its way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from netloupe.explorer.describe import Description
from netloupe.explorer.model import Model
from netloupe.explorer.session import Session
from netloupe.explorer.session.inferring import Inferring
from netloupe.explorer.session.overview import Overview
from netloupe.explorer.session.review_messages import ReviewMessage
from netloupe.explorer.session.reviewing import Reviewing

from .client import LiveClient


class Hears(Protocol):
    """Takes what is found out; called from threads."""

    def renew(self) -> None:
        """Say that more is known of what is described."""

    def tell_review(self, message: ReviewMessage) -> None:
        """Say what more is known of what there is to review."""

    def show_marks(self) -> None:
        """Show the marks that the review has set."""


class Beside:
    """What is found out about the model of a session.

    Parameters
    ----------
    session
        The session.
    client
        Where failures are written.
    lock
        Held by whoever changes what is shown.
    hears
        Takes what is found out.
    """

    def __init__(
        self, session: Session, client: LiveClient, lock: threading.RLock, hears: Hears
    ) -> None:
        self._session = session
        self._log = client.log
        self._lock = lock
        self._hears = hears
        self.told = _Told(hears.renew)
        self.reviewing = Reviewing(session, hears.tell_review, hears.show_marks, self._log)
        self._follow_model()

    def _follow_model(self) -> None:
        model = self._session.views.model
        self._overview = Overview(model, self.told, lambda: True)
        self._overview.show()
        self._inferring = Inferring(model, self._inferred, self._log)

    def start(self) -> None:
        """Find out what is not known at once."""
        self._overview.read()
        self._inferring.start()
        self.reviewing.start(self._inferring.wait)

    def renew(self) -> None:
        """Find it out of another reading of the model."""
        self._close_model()
        self._follow_model()
        self.start()
        self.reviewing.renew(self._inferring.wait)

    def close(self) -> None:
        """End what is under way."""
        self.reviewing.close()
        self._close_model()

    def _close_model(self) -> None:
        self._inferring.close()
        self._overview.close()

    def _inferred(self, model: Model) -> None:
        """Say what more is known of types; called from a thread."""
        with self._lock:
            if model is self._session.views.model:
                self._overview.renew()
                self._hears.renew()


class _Told:
    """What is said of the model, as far as it is known."""

    def __init__(self, renew: Callable[[], None]) -> None:
        self.lock = threading.RLock()
        self._renew = renew
        self.of_model: Description | None = None

    def show(self, description: Description) -> None:
        """Take what is said of the model."""
        if description != self.of_model:
            self.of_model = description
            self._renew()

    def renew(self, description: Description) -> None:
        """Take what more is known of the model."""
        self.show(description)
