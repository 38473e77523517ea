"""``netloupe render`` in a process of its own, which gives way to all others."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import netloupe
from netloupe.explorer.operators import list_registered
from netloupe.explorer.progress import step
from netloupe.explorer.workers import (
    POLL_SECONDS,
    close_worker,
    give_way,
    kill_worker,
    start_worker,
)

_COMMAND = Path(netloupe.__file__).with_name("__main__.py")
#: of a process that gives way
_NICENESS = 15


def run_render_process(words: Sequence[str], timeout: float) -> bytes | None:
    """Return what ``netloupe render`` writes to its standard output; None where it fails.

    Whoever watches may end it about every 50 ms; then the process is ended.

    Parameters
    ----------
    words
        What follows ``render`` on the command line.
    timeout
        Seconds after which the process is ended, and nothing comes of it.
    """
    with _write_operators() as variables:
        return _run(words, timeout, variables)


@contextlib.contextmanager
def _write_operators() -> Iterator[dict[str, str]]:
    """Give the variable that tells the process of operators that are registered here."""
    registered = list_registered()
    if not registered:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="netloupe-") as folder:
        file = Path(folder) / "operators.json"
        file.write_text(json.dumps(registered), "utf-8")
        yield {"NETLOUPE_OPERATORS": str(file)}


def _run(words: Sequence[str], timeout: float, variables: dict[str, str]) -> bytes | None:
    deadline = time.monotonic() + timeout
    # this package, wherever it was imported from
    places = [str(_COMMAND.parents[1]), os.environ.get("PYTHONPATH", "")]
    process = start_worker(
        _COMMAND,
        "render",
        *words,
        environment={
            "PYTHONPATH": os.pathsep.join(filter(None, places)),
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            **variables,
        },
    )
    end_with_us = partial(kill_worker, process)
    try:
        atexit.register(end_with_us)  # threads end without a word when the interpreter does
        give_way(process, _NICENESS)
        while time.monotonic() < deadline:
            step("writing the page")
            with contextlib.suppress(subprocess.TimeoutExpired):
                written, _ = process.communicate(timeout=POLL_SECONDS)
                return written if process.returncode == 0 else None
        return None
    finally:
        if process.poll() is None:
            kill_worker(process)
        close_worker(process)
        atexit.unregister(end_with_us)
