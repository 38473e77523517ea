"""A session: what is open and was open in one model, and the answers to what a canvas asks.

Requests and the user's actions go in; scenes, hits, notices and the state of the view come out,
to whatever :class:`Client` shows them: a widget, a server, a page that is written. Nothing here
knows widgets, or where the canvas is.
"""

from .client import Client
from .requests import Requests
from .session import Session
from .views import Views

__all__ = ["Client", "Requests", "Session", "Views"]
