"""The layout engine: talks to the worker process, stops and restarts it.

Graphviz holds the interpreter's lock, can take minutes and can crash on odd graphs. In a
process of its own it can be stopped, and a notebook's kernel survives whatever happens.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import struct
import subprocess
import threading
import time
import weakref
from pathlib import Path
from typing import Any, NamedTuple

from netloupe.explorer.errors import LayoutError
from netloupe.explorer.progress import is_watched, step
from netloupe.explorer.workers import (
    POLL_SECONDS,
    close_worker,
    kill_worker,
    measure_work,
    start_worker,
)

_WORKER = Path(__file__).with_name("worker.py")
#: so many bytes the worker may hold; 20,000 nodes with 24,000 edges take 330 MB
MOST_MEMORY = 900 * 2**20
#: with this status Graphviz ends where it gets no more; see the worker
_GIVEN_UP = 1
#: what to do where there is no Graphviz; the README says the same
INSTALL_GRAPHVIZ = (
    "install Graphviz (apk add graphviz, apt-get install graphviz or brew install graphviz)"
)


class LayoutMemoryError(LayoutError):
    """A layout would have taken too much memory."""

    def __init__(self, most_memory: int = MOST_MEMORY) -> None:
        most = f"{most_memory // 2**20:,} MB"
        super().__init__(f"Graphviz gave up, as it does where it needs more than {most}")


class LayoutTimeoutError(LayoutError):
    """A layout took too long and was stopped."""

    def __init__(self) -> None:
        super().__init__("the layout took too long and was stopped")


class Drawing(NamedTuple):
    """Where Graphviz put the nodes and edges of one graph, in points, y growing downwards.

    ``nodes`` gives centres by node name; ``edges`` gives Bézier points by edge id.
    """

    width: float
    height: float
    nodes: dict[str, tuple[float, float]]
    edges: dict[str, tuple[float, ...]]


#: all that there are: their workers end before the interpreter takes its threads apart
_engines: weakref.WeakSet[LayoutEngine] = weakref.WeakSet()


class LayoutEngine:
    """One worker process, started when first needed and again after it was stopped.

    Parameters
    ----------
    niceness
        How far the worker stands back behind other processes, as for :func:`os.nice`; only
        where there is such a thing.
    most_memory
        So many bytes the worker may hold (Linux).
    """

    def __init__(self, niceness: int = 0, most_memory: int = MOST_MEMORY) -> None:
        self._niceness, self._most_memory = niceness, most_memory
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._number = 0
        _engines.add(self)

    @property
    def process_id(self) -> int | None:
        """The worker's process id; None where none runs."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def start(self) -> None:
        """Start the worker in advance, so that the first layout need not wait for it."""
        with self._lock:
            self._ensure_worker()

    def stop(self) -> None:
        """End the worker, whatever it is doing."""
        process, self._process = self._process, None
        if process is not None:
            kill_worker(process)
            close_worker(process)

    def forget_worker(self) -> None:
        """Leave the worker to the process that this one was forked from.

        The pipes lead to the parent's worker, whose answers a thread of the parent reads, and a
        lock may be held by a thread that is not here.
        """
        if self._process is not None:
            _inherited.append(self._process)
        self._process = None
        self._lock = threading.Lock()
        self._answers = queue.Queue()

    def place(self, dot: str, timeout: float, *, work: float | None = None) -> Drawing:
        """Lay out one graph.

        Whoever watches may end it about every 50 ms, which stops the worker.

        Parameters
        ----------
        dot
            The graph in the DOT language; every edge has an ``id``.
        timeout
            Seconds after which the worker is stopped.
        work
            Seconds of processor time after which it is stopped, too, so that a busy machine makes
            no other pictures; where the system does not tell of that, seconds. None for no end but
            ``timeout``.

        Raises
        ------
        LayoutTimeoutError
            Where time ran out.
        LayoutMemoryError
            Where Graphviz would have taken too much memory.
        LayoutError
            Where Graphviz failed or crashed.
        """
        with self._lock:
            process = self._ensure_worker()
            self._number += 1
            body = json.dumps({"id": self._number, "dot": dot}).encode()
            try:
                assert process.stdin is not None  # noqa: S101 - the worker is started with pipes
                process.stdin.write(struct.pack(">I", len(body)) + body)
                process.stdin.flush()
            except OSError as error:
                self.stop()
                raise LayoutError(f"the layout process ended ({error})") from error
            answer = self._wait(process, self._number, timeout, work)
        if "missing" in answer:
            reason = " ".join(answer["missing"].split())[:200]
            raise LayoutError(
                f"pygraphviz cannot be imported ({reason}) and no dot is on the PATH; "
                f"{INSTALL_GRAPHVIZ}"
            )
        if "error" in answer:
            raise LayoutError(f"Graphviz failed: {answer['error']}")
        return Drawing(
            answer["width"],
            answer["height"],
            {name: (x, y) for name, (x, y) in answer["nodes"].items()},
            {name: tuple(points) for name, points in answer["edges"].items()},
        )

    def _wait(
        self, process: subprocess.Popen[bytes], number: int, timeout: float, work: float | None
    ) -> dict[str, Any]:
        begun = time.monotonic()
        before = None if work is None else measure_work(process)
        #: when that much work can be done at the earliest
        soonest = begun + (timeout if work is None else min(work, timeout))
        while True:
            left = soonest - time.monotonic()
            if left <= 0 and work is not None and before is not None:
                after = measure_work(process)
                to_do = 0.0 if after is None else work - (after - before)
                if to_do > 0:
                    soonest = time.monotonic() + max(to_do, POLL_SECONDS)
                    soonest = min(soonest, begun + timeout)
                    left = soonest - time.monotonic()
            if left <= 0:
                self.stop()
                raise LayoutTimeoutError
            try:
                step()
            except BaseException:
                self.stop()
                raise
            try:
                wait = min(left, POLL_SECONDS) if is_watched() else left
                answer = self._answers.get(timeout=wait)
            except queue.Empty:
                continue
            if answer is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(1.0)
                self.stop()
                if process.returncode == _GIVEN_UP:
                    raise LayoutMemoryError(self._most_memory)
                raise LayoutError("the layout process crashed")
            if answer["id"] == number:
                return answer

    def _ensure_worker(self) -> subprocess.Popen[bytes]:
        process = self._process
        if process is None or process.poll() is not None:
            self.stop()
            process = start_worker(_WORKER, self._niceness, self._most_memory)
            self._process = process
            self._answers = queue.Queue()
            threading.Thread(
                target=_read_answers, args=(process, self._answers), daemon=True
            ).start()
        return process


def _read_answers(
    process: subprocess.Popen[bytes], answers: queue.Queue[dict[str, Any] | None]
) -> None:
    """Hand the worker's answers on; None when it has ended."""
    stream = process.stdout
    assert stream is not None  # noqa: S101 - the worker is started with pipes
    try:
        while len(head := stream.read(4)) == 4:
            answers.put(json.loads(stream.read(struct.unpack(">I", head)[0])))
    except (OSError, ValueError):
        pass  # the stream was closed under us: the worker was stopped
    answers.put(None)


@atexit.register
def _stop_all() -> None:
    for engine in [*_engines]:
        engine.stop()


#: workers of a process that this one was forked from: not to be closed, ended or waited for
_inherited: list[subprocess.Popen[bytes]] = []


def _forget_workers() -> None:
    """In a forked child: let every engine start a worker of its own."""
    for engine in [*_engines]:
        engine.forget_worker()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_workers)


_shared: LayoutEngine | None = None


def shared_engine() -> LayoutEngine:
    """Return the engine that all pictures of this process use."""
    global _shared
    if _shared is None:
        _shared = LayoutEngine()
    return _shared
