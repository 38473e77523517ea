"""The port of this machine alone that pages are served at."""

from __future__ import annotations

import os
import socket

HOST = "127.0.0.1"


def listen(port: int) -> socket.socket:
    """Return a socket that listens on a port of this machine alone; a free one where it is 0.

    Who connects is answered once a server has taken the socket.

    Raises
    ------
    OSError
        Where the port cannot be had.
    """
    listening = socket.socket()
    try:
        if os.name == "posix":  # what has ended a minute ago is not in the way
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setblocking(False)
        listening.bind((HOST, port))
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening


def write_address(port: int, token: str) -> str:
    """Return where the page is, with the token."""
    return f"http://{HOST}:{port}/?token={token}"
