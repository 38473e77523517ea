"""The words of ``netloupe desktop``."""

from __future__ import annotations

import argparse
from typing import Any

_DESKTOP_EXAMPLES = """examples:
  netloupe desktop
  netloupe desktop --remove

On Windows and macOS: docs/open.md says how."""


def add_desktop(commands: Any) -> None:
    """Add the command, its options and its help to the commands of a parser."""
    desktop: argparse.ArgumentParser = commands.add_parser(
        "desktop",
        help="let a double click on a model file open it, on Linux",
        description="Let desktops on Linux (freedesktop.org) open model files with netloupe, in a "
        "window of its own where a browser for that is installed. Files are written below "
        "$XDG_DATA_HOME or ~/.local/share, for this user alone.",
        epilog=_DESKTOP_EXAMPLES,
    )
    desktop.add_argument("--remove", action="store_true", help="take it back")
    desktop.set_defaults(run=_run, models=[], init=None, registers_operators=False)


def _run(parsed: argparse.Namespace) -> int:
    from .desktop import run_desktop

    return run_desktop(parsed)
