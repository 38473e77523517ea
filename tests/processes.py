"""Commands that tests start: they hear Ctrl+C wherever the tests run, and none is left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

_LISTENED_TO = ("SIGINT", "SIGTERM", "SIGHUP")


@contextlib.contextmanager
def started(command: list[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Run a command while the block lasts; what of it is still running then is killed.

    What is started in the background ignores SIGINT, and what it starts inherits that: the
    command gets the signals back as a terminal gives them. ``options`` as for ``Popen``.
    """
    if os.name == "posix":
        options["preexec_fn"] = hear_signals
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def hear_signals() -> None:
    """Handle signals as what a terminal starts does; to be called in the new process."""
    for name in _LISTENED_TO:
        signal.signal(getattr(signal, name), signal.SIG_DFL)
