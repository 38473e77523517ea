"""``netloupe desktop``: which program a desktop opens model files with.

Formats: Desktop Entry Specification 1.5, Shared MIME-info Database 0.21, Association between MIME
types and applications 1.0.1 (freedesktop.org).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from netloupe.explorer.errors import OutputError
from netloupe.explorer.files.output import write_file

from .streams import say, write_standard_output
from .window import find_chromium_browser

_ENTRY = Path("applications") / "netloupe.desktop"
_TYPES = Path("mime") / "packages" / "netloupe.xml"
#: what makes a desktop look again, and the folder that each is told
_REFRESHING = (("update-mime-database", "mime"), ("update-desktop-database", "applications"))
_SECONDS = 30.0

_MIME_TYPES = """<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="application/x-onnx">
    <comment>ONNX neural network</comment>
    <glob pattern="*.onnx"/>
    <glob pattern="*.ort" weight="10"/>
  </mime-type>
  <mime-type type="text/x-onnx">
    <comment>ONNX neural network as text</comment>
    <sub-class-of type="text/plain"/>
    <glob pattern="*.onnxtxt"/>
    <glob pattern="*.textproto" weight="10"/>
  </mime-type>
</mime-info>
"""


def run_desktop(parsed: argparse.Namespace) -> int:
    """Write the files, or remove them."""
    if sys.platform in ("win32", "darwin"):
        raise OutputError(
            "netloupe desktop knows the desktops of Linux alone. docs/open.md says how a double "
            "click opens a model on Windows and macOS."
        )
    folder = _find_data_folder()
    changed = _remove(folder) if parsed.remove else _write(folder)
    for path in changed:
        write_standard_output(f"{'removed' if parsed.remove else 'written'}: {path}")
    if not changed:
        say("note", "nothing was there to be removed.")
    for command, part in _REFRESHING:
        _refresh(command, folder / part)
    return 0


def write_desktop_entry(command: list[str], *, has_window: bool) -> str:
    """Return the entry of a desktop.

    Parameters
    ----------
    command
        What runs netloupe.
    has_window
        Whether it opens a window of its own; else it runs in a terminal, where Ctrl+C ends it.
    """
    words = [*command, "open", *(["--window"] if has_window else [])]
    execution = " ".join([*map(_quote, words), "%F"])
    return f"""[Desktop Entry]
Type=Application
Version=1.5
Name=netloupe
GenericName=Neural network viewer
Comment=Explore neural-network graph files
Exec={execution}
Terminal={"false" if has_window else "true"}
Categories=Science;Development;
MimeType=application/x-onnx;text/x-onnx;
StartupNotify=false
"""


def _find_data_folder() -> Path:
    base = os.environ.get("XDG_DATA_HOME", "")
    if Path(base).is_absolute():
        return Path(base)
    try:
        return Path.home() / ".local" / "share"
    except RuntimeError as error:
        raise OutputError("the user has no home folder. Set XDG_DATA_HOME.") from error


def _write(folder: Path) -> list[Path]:
    entry = write_desktop_entry(
        [sys.executable, "-m", "netloupe"], has_window=find_chromium_browser() is not None
    )
    for path, text in ((_ENTRY, entry), (_TYPES, _MIME_TYPES)):
        target = folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{target}: cannot be written ({error.strerror}).") from error
        write_file(target, text.encode())
    return [folder / _ENTRY, folder / _TYPES]


def _remove(folder: Path) -> list[Path]:
    removed = []
    for path in (folder / _ENTRY, folder / _TYPES):
        try:
            path.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise OutputError(f"{path}: cannot be removed ({error.strerror}).") from error
        removed.append(path)
    return removed


def _refresh(command: str, folder: Path) -> None:
    """Let a desktop look again, where it has a program for that; else it does so by itself."""
    found = shutil.which(command)
    if found is not None and folder.is_dir():
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run([found, str(folder)], capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603


def _quote(word: str) -> str:
    """Return a word as ``Exec`` has it: quoted, escaped twice, and without field codes."""
    escaped = "".join(f"\\{letter}" if letter in '"`$\\' else letter for letter in word)
    return f'"{escaped}"'.replace("\\", "\\\\").replace("%", "%%")
