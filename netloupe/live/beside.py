"""What is found out about a model beside its picture: descriptions, types and a review.

What this needs takes a while to import, which nobody waits for: it is loaded once the first picture
is on its way.
"""

from __future__ import annotations

from collections.abc import Callable

from netloupe.explorer.model import Model
from netloupe.explorer.session import Requests, Session
from netloupe.explorer.session.inferring import Inferring
from netloupe.explorer.session.overview import Overview
from netloupe.explorer.session.review_messages import ReviewMessage
from netloupe.explorer.session.reviewing import Reviewing
from netloupe.explorer.standalone.inspecting import Inspecting

from .client import LiveClient


class Beside:
    """What is found out about the model of a session.

    Parameters
    ----------
    session
        The session.
    client
        The page.
    requests
        What changes the views of the session.
    tell_review
        Takes a message about what there is to review; called from threads.
    show_marks
        Called, perhaps from a thread, when the review marks other boxes.
    """

    def __init__(
        self,
        session: Session,
        client: LiveClient,
        requests: Requests,
        tell_review: Callable[[ReviewMessage], None],
        show_marks: Callable[[], None],
    ) -> None:
        self._session = session
        self._log = client.log
        self._requests = requests
        self.inspecting = Inspecting(session.views, requests.looking, client.send, client.log)
        self.reviewing = Reviewing(session, tell_review, show_marks, client.log)
        self._follow_model()

    def _follow_model(self) -> None:
        model = self._session.views.model
        self._overview = Overview(model, self.inspecting, lambda: True)
        self._overview.show()
        self._inferring = Inferring(model, self._inferred, self._log)

    def start(self) -> None:
        """Find out what is not known at once."""
        self._overview.read()
        self._inferring.start()
        self.reviewing.start(self._inferring.wait)

    def renew(self) -> None:
        """Find it out of another reading of the model."""
        self.inspecting.forget()
        self._close_model()
        self._follow_model()
        self.start()
        self.reviewing.renew(self._inferring.wait)

    def close(self) -> None:
        """End what is under way."""
        self.reviewing.close()
        self._close_model()
        self.inspecting.close()

    def _close_model(self) -> None:
        self._inferring.close()
        self._overview.close()

    def _inferred(self, model: Model) -> None:
        """Say what more is known of types; called from a thread."""
        with self._requests.lock:
            if model is self._session.views.model:
                self._overview.renew()
                self.inspecting.tell_more()
