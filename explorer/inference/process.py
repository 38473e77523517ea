"""Talks to the inference worker: starts it, waits for its answer, and ends it.

onnx can take minutes, fill the memory and crash on odd models. In a process of its own it can be
ended, and whoever waits survives whatever happens.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import subprocess
import threading
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Literal

from netloupe.explorer.progress import step
from netloupe.explorer.workers import POLL_SECONDS, close_worker, kill_worker, start_worker

_WORKER = Path(__file__).with_name("worker.py")
_HEAD_BYTES = 5
#: what the worker may use beside what the skeleton is worth, and for each byte of that
_MEMORY_BYTES = 2**30
_MEMORY_FACTOR = 64


@dataclass(slots=True)
class Answer:
    """What the worker said until it ended.

    Parameters
    ----------
    version
        Of onnx.
    missing
        Why onnx cannot be imported; "" where it can.
    error
        Why nothing was inferred; "" where something was.
    graphs
        A GraphProto for each graph of which more is known.
    notes
        What does not fit: number of the graph, index of the node, and why.
    is_main_done
        Whether the main graph and those inside it were done, which ``graphs`` begin with.
    is_done
        Whether all was done.
    is_late
        Whether the time was over first.
    """

    version: str = ""
    missing: str = ""
    error: str = ""
    graphs: list[bytes] = field(default_factory=list)
    notes: list[tuple[int, int, str]] = field(default_factory=list)
    is_main_done: bool = False
    is_done: bool = False
    is_late: bool = False


def run_worker(
    skeleton: bytes, timeout: float, task: Literal["infer", "judge"] = "infer"
) -> Answer:
    """Let onnx infer types, or judge them, in a process of its own.

    Whoever watches may end it about every 50 ms; then, and by Ctrl+C, the process is ended.

    Parameters
    ----------
    skeleton
        The model without weights.
    timeout
        Seconds after which the process is ended.
    task
        Whether types are inferred, or it is asked where they cannot be.
    """
    deadline = time.monotonic() + timeout
    most_bytes = _MEMORY_BYTES + _MEMORY_FACTOR * len(skeleton)
    process = start_worker(
        _WORKER,
        most_bytes,
        int(timeout) + 1,
        task,
        environment={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    end_with_us = partial(kill_worker, process)
    try:
        atexit.register(end_with_us)  # threads end without a word when the interpreter does
        # communicate() would forget what is not written yet where it is called again
        stdin, process.stdin = process.stdin, None
        assert stdin is not None  # noqa: S101 - the worker is started with pipes
        threading.Thread(target=_write, args=(stdin, skeleton), daemon=True).start()
        while True:
            step("inferring shapes")
            left = deadline - time.monotonic()
            with contextlib.suppress(subprocess.TimeoutExpired):
                said, _ = process.communicate(timeout=max(0.0, min(left, POLL_SECONDS)))
                return _read_answer(said, is_late=False)
            if left <= 0:
                kill_worker(process)
                return _read_answer(process.communicate()[0], is_late=True)
    finally:
        if process.poll() is None:
            kill_worker(process)
        close_worker(process)
        atexit.unregister(end_with_us)


def _write(stdin: IO[bytes], skeleton: bytes) -> None:
    with contextlib.suppress(OSError), stdin:  # the worker was ended
        stdin.write(skeleton)


def _read_answer(said: bytes, *, is_late: bool) -> Answer:
    """Read the frames that are whole; the worker may have ended at any byte."""
    answer = Answer(is_late=is_late)
    position = 0
    while position + _HEAD_BYTES <= len(said):
        kind = said[position : position + 1]
        begin = position + _HEAD_BYTES
        position = begin + int.from_bytes(said[position + 1 : begin], "big")
        if position > len(said):
            break
        content = said[begin:position]
        if kind == b"V":
            answer.version = content.decode(errors="replace")
        elif kind == b"X":
            answer.missing = content.decode(errors="replace")
        elif kind == b"E":
            answer.error = content.decode(errors="replace")
        elif kind == b"G":
            answer.graphs.append(content)
        elif kind == b"N":
            graph, index, text = json.loads(content)
            answer.notes.append((graph, index, text))
        elif kind == b"M":
            answer.is_main_done = True
        elif kind == b"D":
            answer.is_done = True
    return answer
