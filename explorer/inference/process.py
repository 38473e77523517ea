"""Talks to the inference worker: starts it, waits for its answer, and ends it.

onnx can take minutes, fill the memory and crash on odd models. In a process of its own it can be
ended, and whoever waits survives whatever happens. It is kept for the next model, since to import
onnx takes much longer than to ask it about a small one.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal

from netloupe.explorer.progress import step
from netloupe.explorer.workers import POLL_SECONDS, close_worker, kill_worker, start_worker

_WORKER = Path(__file__).with_name("worker.py")
_HEAD_BYTES = 5
#: a letter, and what follows
_Frame = tuple[bytes, bytes]
#: the letters of frames after which none comes
_LAST = (b"D", b"E", b"X")
#: what the worker may use beside what the skeleton is worth, and for each byte of that
_MEMORY_BYTES = 2**30
_MEMORY_FACTOR = 64
#: a worker is kept after skeletons of so many bytes at most, and for so many of them
_MOST_KEPT_BYTES = 2**20
_MOST_ASKED = 1000


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

    Whoever watches may end it about every 50 ms; then, and by Ctrl+C, the process is ended. One
    that has answered is kept for the next question, for which onnx is there then.

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
    worker = _take_idle()
    order = {
        "task": task,
        "most_bytes": _MEMORY_BYTES + _MEMORY_FACTOR * len(skeleton),
        "most_seconds": int(timeout) + 1,
        "length": len(skeleton),
    }
    atexit.register(worker.kill)  # threads end without a word when the interpreter does
    try:
        said = worker.ask(json.dumps(order).encode() + b"\n" + skeleton, deadline)
    except BaseException:
        worker.end()
        raise
    finally:
        atexit.unregister(worker.kill)
    answer = _read_answer(said)
    answer.is_late = worker.is_late
    # what is large may have left the memory full
    if (
        said
        and said[-1][0] in _LAST
        and len(skeleton) <= _MOST_KEPT_BYTES
        and worker.asked < _MOST_ASKED
    ):
        _keep_idle(worker)
    else:
        worker.end()
    return answer


class _Worker:
    """One process, and a thread that reads what it says."""

    def __init__(self, script: Path) -> None:
        self.script = script
        self.asked = 0
        #: whether time was up before it was done
        self.is_late = False
        self._frames: queue.SimpleQueue[_Frame | None] = queue.SimpleQueue()
        self._process = start_worker(
            script, environment={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        )
        self._reader = threading.Thread(
            target=_read_frames, args=(self._process, self._frames), daemon=True
        )
        self._reader.start()

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def ask(self, question: bytes, deadline: float) -> list[_Frame]:
        """Return what it says until it is done, it ends, or time is up."""
        self.asked += 1
        # it may be ended before it has read all
        threading.Thread(target=_write, args=(self._process.stdin, question), daemon=True).start()
        said: list[_Frame] = []
        while not self.is_late:
            step("inferring shapes")
            left = deadline - time.monotonic()
            with contextlib.suppress(queue.Empty):
                frame = self._frames.get(timeout=max(0.0, min(left, POLL_SECONDS)))
                if frame is None:
                    return said
                said.append(frame)
                if frame[0] in _LAST:
                    return said
                continue
            self.is_late = left <= 0
        self.kill()
        while frame := self._frames.get():  # what it said before
            said.append(frame)
        return said

    def kill(self) -> None:
        """Let the process end, whatever it does."""
        if not self.has_ended:
            kill_worker(self._process)

    def end(self) -> None:
        """End the process, and close what belongs to it."""
        self.kill()
        self._reader.join()  # its pipe has no other end now
        close_worker(self._process)

    def forget(self) -> None:
        """Let go of what belongs to the process that this one was forked from."""
        self._process.returncode = 0


def _write(stdin: IO[bytes], question: bytes) -> None:
    with contextlib.suppress(OSError, ValueError):  # the worker was ended
        stdin.write(question)
        stdin.flush()


def _read_frames(
    process: subprocess.Popen[bytes], frames: queue.SimpleQueue[_Frame | None]
) -> None:
    """Hand on the frames that are whole, and None when the worker has ended, be it at any byte."""
    stream = process.stdout
    assert stream is not None  # noqa: S101 - the worker is started with pipes
    while len(head := stream.read(_HEAD_BYTES)) == _HEAD_BYTES:
        length = int.from_bytes(head[1:], "big")
        content = stream.read(length)
        if len(content) < length:
            break
        frames.put((head[:1], content))
    frames.put(None)


#: one at most: who asks twice at a time starts a second one, which ends with its answer
_idle: list[_Worker] = []
_idling = threading.Lock()


def _take_idle() -> _Worker:
    """Return the worker that nobody asks, or a new one."""
    with _idling:
        worker = _idle.pop() if _idle else None
    if worker is not None:
        if worker.script == _WORKER and not worker.has_ended:
            return worker
        worker.end()
    return _Worker(_WORKER)


def _keep_idle(worker: _Worker) -> None:
    with _idling:
        if not _idle:
            _idle.append(worker)
            return
    worker.end()


@atexit.register
def end_idle() -> None:
    """End the worker that is kept for the next question."""
    with _idling:
        workers = [*_idle]
        _idle.clear()
    for worker in workers:
        worker.end()


def _forget_idle() -> None:
    """In a forked child: leave the worker to the parent, whose threads read what it says."""
    global _idling
    _idling = threading.Lock()
    for worker in _idle:
        worker.forget()
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_idle)


def _read_answer(frames: list[_Frame]) -> Answer:
    answer = Answer()
    for kind, content in frames:
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
