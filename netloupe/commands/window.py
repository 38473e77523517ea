"""A window of its own: that of pywebview, or an installed browser's of the Chromium kind.

Such a browser gets a profile of its own, which is removed afterwards: with the user's the window
would belong to the browser that runs already, and nobody would know when it is closed; and no
extension of the user sees the model.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from netloupe.explorer.errors import OutputError

from .running import FAILED
from .streams import say
from .tunnel import has_display

#: names of commands, and places on macOS and Windows
_COMMANDS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "microsoft-edge-stable",
    "brave-browser",
)
_MAC_APPLICATIONS = ("Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser")
_WINDOWS_PLACES = (
    r"Google\Chrome\Application\chrome.exe",
    r"Microsoft\Edge\Application\msedge.exe",
    r"Chromium\Application\chrome.exe",
)
_WINDOWS_FOLDERS = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")
_SECONDS_TO_END = 5.0

#: returns the command line that shows a page in a window, for its address and a folder to work in
WindowCommand = Callable[[str, Path], list[str]]


def choose_window() -> WindowCommand:
    """Return what opens a window.

    Raises
    ------
    OutputError
        Where there is nothing that could.
    """
    if not has_display():
        raise OutputError(
            "--window: there is no display here. Leave --window out and open the address in a "
            "browser."
        )
    if find_spec("webview") is not None:
        return _command_of_webview
    browser = find_chromium_browser()
    if browser is None:
        raise OutputError(
            "--window needs Chromium, Chrome, Edge or Brave, or pywebview "
            "(pip install pywebview). Without --window your browser shows the page."
        )
    return lambda address, folder: [
        browser,
        f"--app={address}",
        f"--user-data-dir={folder}",
        "--no-first-run",
        "--no-default-browser-check",
        "--window-size=1500,1000",
    ]


def find_chromium_browser() -> str | None:
    """Return the command of an installed browser that knows windows without bars."""
    for name in _COMMANDS:
        found = shutil.which(name)
        if found is not None:
            return found
    places = [
        Path("/Applications") / f"{name}.app" / "Contents" / "MacOS" / name
        for name in (_MAC_APPLICATIONS if sys.platform == "darwin" else ())
    ]
    if sys.platform == "win32":
        folders = [os.environ.get(name, "") for name in _WINDOWS_FOLDERS]
        places += [
            Path(folder) / place for folder in folders if folder for place in _WINDOWS_PLACES
        ]
    return next((str(place) for place in places if place.is_file()), None)


def _command_of_webview(address: str, _folder: Path) -> list[str]:
    return [sys.executable, str(Path(__file__).with_name("webview_window.py")), address]


@contextlib.contextmanager
def opened_window(command: WindowCommand, page: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Show a page in a window while the block runs.

    Raises
    ------
    OutputError
        Where it cannot be started.
    """
    folder = Path(tempfile.mkdtemp(prefix="netloupe-"))
    try:
        try:
            process = subprocess.Popen(  # noqa: S603 - a program that the user has installed
                command(page.as_uri(), folder),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise OutputError(f"the window cannot be opened ({error.strerror}).") from error
        try:
            yield process
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_SECONDS_TO_END)
            if process.poll() is None:
                process.kill()
                process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_window(window: subprocess.Popen[bytes] | None, was_seen: bool) -> int:
    """Return the exit status once a window is closed; say so where it was never there."""
    if window is None or was_seen:
        return 0
    say(
        "error",
        f"the window ended with status {window.returncode} before it showed anything. "
        "Without --window your browser shows the page.",
    )
    return FAILED
