"""Worker processes: scripts of ours that run apart, so that they can be ended whatever they do.

What a worker is told and what it answers is the matter of whoever starts it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

#: how often, in seconds, whoever waits for a worker looks whether it shall go on
POLL_SECONDS = 0.05


def start_worker(
    script: Path, *arguments: object, environment: dict[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a script with our own interpreter, in a session of its own, with two pipes.

    What it writes to its error stream is lost.

    Parameters
    ----------
    script
        The file.
    arguments
        What it finds in ``sys.argv``, as text.
    environment
        Variables beside or instead of our own.
    """
    return subprocess.Popen(  # noqa: S603 - our own script with our own interpreter
        [sys.executable, "-X", "utf8", str(script), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, **(environment or {})},
    )


def kill_worker(process: subprocess.Popen[bytes]) -> None:
    """End a worker and the processes that it may have started; one that has ended is no error."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def close_worker(process: subprocess.Popen[bytes]) -> None:
    """Wait until a worker has ended, and close its pipes."""
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
