"""Over SSH: the command that brings a port of this machine to the user's own."""

from __future__ import annotations

import getpass
import os
import shlex
import sys

_SSH_PORT = "22"


def has_display() -> bool:
    """Return whether a window can be shown on this machine, as far as that is known."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def write_tunnel_command(port: int) -> str:
    """Return the command that brings a port to the machine that the user came from.

    Returns
    -------
    str
        "" where the user has not come by SSH, or has a display with it.
    """
    words = os.environ.get("SSH_CONNECTION", "").split()
    if len(words) != 4 or has_display():
        return ""
    _, _, host, ssh_port = words
    try:
        user = f"{getpass.getuser()}@"
    except (KeyError, OSError):  # an account without a name
        user = ""
    at = [] if ssh_port == _SSH_PORT else ["-p", ssh_port]
    return shlex.join(["ssh", "-N", "-L", f"{port}:127.0.0.1:{port}", *at, f"{user}{host}"])
