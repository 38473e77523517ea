"""Tickets: who was given a page may open its socket, once.

A cookie alone does not open one. Behind a JupyterHub pages of other users have the same origin,
and a browser sends the cookie with what they ask, too.
"""

from __future__ import annotations

import secrets
import time

#: seconds in which a page opens its socket
_LIFE = 300.0
_MOST = 1_000


class Tickets:
    """Tickets that were handed out and not taken back."""

    def __init__(self) -> None:
        #: for which model each is, and until when; the oldest first
        self._issued: dict[str, tuple[str, float]] = {}

    def issue(self, path: str) -> str:
        """Return a new ticket for a page of a model."""
        while len(self._issued) >= _MOST:
            del self._issued[next(iter(self._issued))]
        ticket = secrets.token_urlsafe(24)
        self._issued[ticket] = (path, time.monotonic() + _LIFE)
        return ticket

    def redeem(self, ticket: str, path: str) -> bool:
        """Take a ticket back; return whether it was one for that."""
        of, end = self._issued.pop(ticket, (None, 0.0))
        return of == path and time.monotonic() < end
