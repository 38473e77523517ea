"""Work for many models, in several processes or in this one: what comes of it, in their order."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import LifoQueue
from threading import Lock
from typing import Any

import netloupe
from netloupe.explorer.operators import list_registered
from netloupe.explorer.progress import step
from netloupe.explorer.workers import close_worker, explain_end, kill_worker, start_worker

from .outcomes import Outcome, do_work, pack_pickle, receive_pickle, send_pickle
from .terminal import TerminalProgress

_SCRIPT = Path(netloupe.__file__).parent / "commands" / "job_worker.py"
#: what is done ahead of the first model that is not ready waits in memory: so much for each process
_AHEAD = 4
#: after so many models a process is ended, and with it what it has not given back of its memory
_MOST_MODELS = 200
#: libraries that divide their work into threads do not when processes do
_ENVIRONMENT = {"PYTHONSAFEPATH": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def do_jobs(
    names: Sequence[str], work: Callable[[str], Any], *, jobs: int = 1
) -> Generator[Outcome, None, None]:
    """Yield what comes of some work for each model, in the order of the names.

    Parameters
    ----------
    names
        The models.
    work
        Takes the name of a model; with several processes it and what it returns are pickled.
    jobs
        How many processes do it; with 1 it is done here.

    Notes
    -----
    A process that dies costs the model that it was at: its outcome says so, and another process
    goes on. When the generator is closed, as after Ctrl+C, all of them are ended.
    """
    if jobs == 1 or len(names) < 2:
        for name in names:
            with TerminalProgress() as progress:
                progress.step("reading")
                outcome = do_work(work, name)
            yield outcome
        return
    pool = _Pool(work, min(jobs, len(names)))
    try:
        yield from pool.run(names)
    finally:
        pool.end()


class _Pool:
    """Some workers, each with a thread that waits for it."""

    def __init__(self, work: Callable[[str], Any], count: int) -> None:
        data = pack_pickle(list_registered()) + pack_pickle(work)
        self._workers = [_Worker(data) for _ in range(count)]
        self._idle: LifoQueue[_Worker] = LifoQueue()
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(count)

    def run(self, names: Sequence[str]) -> Iterator[Outcome]:
        waiting: deque[Future[Outcome]] = deque()
        left = iter(names)
        with TerminalProgress() as progress:
            for number in range(len(names)):
                while len(waiting) < _AHEAD * len(self._workers):
                    name = next(left, None)
                    if name is None:
                        break
                    waiting.append(self._threads.submit(self._ask, name))
                progress.step(f"model {number + 1:,} of {len(names):,}", number / len(names))
                yield waiting.popleft().result()
                step()

    def _ask(self, name: str) -> Outcome:
        worker = self._idle.get()
        try:
            return worker.ask(name)
        finally:
            self._idle.put(worker)

    def end(self) -> None:
        """End all workers, whatever they are at."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.kill()  # the thread that waits for it sees the end of its pipe
        self._threads.shutdown()
        for worker in self._workers:
            worker.close()


class _Worker:
    """A process that is started when it is needed, and again when it has died."""

    def __init__(self, work: bytes) -> None:
        self._work = work
        self._process: subprocess.Popen[bytes] | None = None
        self._done = 0
        self._is_over = False
        self._lock = Lock()

    def ask(self, name: str) -> Outcome:
        """Return what comes of the work for a model."""
        process = self._process or self._start()
        if process.stdin is None or process.stdout is None:
            raise AssertionError("workers are started with pipes")
        try:
            send_pickle(process.stdin, name)
            outcome = receive_pickle(process.stdout)
        except (EOFError, OSError):
            kill_worker(process)
            self.close()
            return Outcome(error=f"{name}: {_explain_end(process.returncode)}")
        self._done += 1
        if self._done >= _MOST_MODELS:
            self.close()
        return Outcome(*outcome)

    def _start(self) -> subprocess.Popen[bytes]:
        places = [str(_SCRIPT.parents[2]), os.environ.get("PYTHONPATH", "")]
        path = os.pathsep.join(filter(None, places))
        with self._lock:
            if self._is_over:
                raise EOFError("all workers are ended")
            process = start_worker(_SCRIPT, environment={"PYTHONPATH": path, **_ENVIRONMENT})
            self._process, self._done = process, 0
        if process.stdin is not None:
            process.stdin.write(self._work)
        return process

    def kill(self) -> None:
        """End the process at once, and start no other."""
        with self._lock:
            self._is_over = True
            if self._process is not None:
                kill_worker(self._process)

    def close(self) -> None:
        """Let the process end when it has nothing more to read."""
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                with contextlib.suppress(OSError):  # of what it does not read any more
                    process.stdin.close()
            close_worker(process)


def _explain_end(status: int) -> str:
    """Return why a process has ended, as far as its status tells, and what to do."""
    why = explain_end(status)
    return f"the process that worked on it {why}. Try the model alone, or with fewer --jobs."
