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

    What it writes to its error stream is lost. It gives way as we do.

    Parameters
    ----------
    script
        The file.
    arguments
        What it finds in ``sys.argv``, as text.
    environment
        Variables beside or instead of our own.
    """
    process = subprocess.Popen(  # noqa: S603 - our own script with our own interpreter
        [sys.executable, "-X", "utf8", str(script), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, **(environment or {})},
    )
    if os.name == "posix":
        niceness = os.getpriority(os.PRIO_PROCESS, 0)
        if niceness > 0:
            give_way(process, niceness)
    return process


def give_way(process: subprocess.Popen[bytes], niceness: int) -> None:
    """Let all others go before a worker, as far as the system knows such a thing.

    Notes
    -----
    Linux divides the processor between sessions first, where it groups them (sched_autogroup): how
    nice a process is counts only inside its own, and the session itself has to be nice.
    """
    with contextlib.suppress(AttributeError, OSError):
        os.setpriority(os.PRIO_PROCESS, process.pid, niceness)
    with contextlib.suppress(OSError):
        Path(f"/proc/{process.pid}/autogroup").write_text(str(niceness), "ascii")


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


def measure_work(process: subprocess.Popen[bytes]) -> float | None:
    """Return the processor time that a worker, and what it runs, has taken so far.

    Returns
    -------
    float or None
        Seconds; None where the system does not tell.

    Notes
    -----
    Linux alone tells it of other processes without a library (proc(5): ``utime`` to ``cstime`` of
    ``/proc/pid/stat``, and ``/proc/pid/task/tid/children``).
    """
    total, pending = 0, [str(process.pid)]
    try:
        while pending:
            place = Path("/proc", pending.pop())
            fields = place.joinpath("stat").read_text("ascii", "replace").rpartition(")")[2].split()
            total += sum(map(int, fields[11:15]))
            for thread in place.joinpath("task").iterdir():
                pending += thread.joinpath("children").read_text("ascii").split()
        return total / os.sysconf("SC_CLK_TCK")
    except (AttributeError, OSError, ValueError):
        return None


def explain_end(status: int) -> str:
    """Return how a process has ended, as far as its status tells: ``was killed``, for example."""
    if os.name == "posix" and status == -signal.SIGKILL:
        return "was killed, perhaps because memory ran out"
    if status < 0:
        return f"was ended by signal {-status}"
    return f"has ended with status {status}" if status else "has ended"
