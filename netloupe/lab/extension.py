"""Adds the explorer to a Jupyter server."""

from __future__ import annotations

from typing import Any

from jupyter_server.utils import url_path_join

from .handlers import PageHandler, SocketHandler
from .processes import ModelProcesses
from .settings import NetloupeLab
from .tickets import Tickets


def add_explorer(server_app: Any) -> None:
    """Answer below ``netloupe/`` of a Jupyter server, whatever its base URL is."""
    settings = NetloupeLab(parent=server_app)
    shared = {"settings": settings, "tickets": Tickets()}
    processes = ModelProcesses(settings)
    base = url_path_join(server_app.web_app.settings["base_url"], "netloupe")
    server_app.web_app.add_handlers(
        ".*$",
        [
            (url_path_join(base, "page"), PageHandler, shared),
            (url_path_join(base, "socket"), SocketHandler, {**shared, "processes": processes}),
        ],
    )
