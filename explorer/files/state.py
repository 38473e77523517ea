"""Where a program keeps what it remembers for its user, by the rules of each system."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def find_state_folder() -> Path:
    r"""Return the folder of what netloupe remembers; it need not exist.

    ``$XDG_STATE_HOME/netloupe`` or ``~/.local/state/netloupe`` (XDG Base Directory Specification
    0.8), ``~/Library/Application Support/netloupe`` on macOS, ``%LOCALAPPDATA%\\netloupe`` on
    Windows.

    Raises
    ------
    RuntimeError
        Where the user has no home.
    """
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
        return (Path(base) if base else Path.home() / "AppData" / "Local") / "netloupe"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "netloupe"
    base = os.environ.get("XDG_STATE_HOME", "")
    # a relative path is to be ignored, as the specification says
    folder = Path(base) if os.path.isabs(base) else Path.home() / ".local" / "state"  # noqa: PTH117
    return folder / "netloupe"
