"""Processes that each have a model open, as long as a page shows it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import subprocess
import threading
from pathlib import Path

import netloupe
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.workers import close_worker, explain_end, kill_worker, start_worker

from .settings import NetloupeLab

_SCRIPT = Path(__file__).with_name("model_server.py")
#: a line of an answer is an address or an error message
_LONGEST_ANSWER = 1 << 20
#: seconds in which a process ends by itself once it is told to
_GRACE = 8.0


class ModelProcessError(NetloupeError):
    """A model is not shown, or not any more: it cannot be read, or its process has ended."""


class ModelProcess:
    """A process that has a model open, and a server for its pages on loopback.

    Parameters
    ----------
    folder
        The root folder of the Jupyter server.
    path
        The model, from there.

    Attributes
    ----------
    token
        What its server wants to be told.
    pages
        How many pages show the model.
    """

    def __init__(self, folder: Path, path: Path) -> None:
        self.folder, self.path = folder, path
        self.token = secrets.token_urlsafe(24)
        self.pages = 0
        self._loop = asyncio.get_running_loop()
        self._port: asyncio.Future[int] = self._loop.create_future()
        self._port.add_done_callback(lambda port: port.exception())  # perhaps nobody asks
        self._ended = asyncio.Event()
        self._status = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._is_unwanted = False
        self._lock = threading.Lock()
        threading.Thread(target=self._run, name="netloupe-model", daemon=True).start()

    @property
    def has_ended(self) -> bool:
        """Whether it shows nothing any more, or never will."""
        failed = self._port.done() and self._port.exception() is not None
        return failed or self._is_unwanted or self._ended.is_set()

    async def find_port(self) -> int:
        """Return the port of its server, once the model is read.

        Raises
        ------
        ModelProcessError
            Where the model cannot be read, or the process ends meanwhile.
        """
        return await asyncio.shield(self._port)

    async def explain_end(self, patience: float) -> str:
        """Return why it does not answer any more; it may take some seconds until that is known."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), patience)
            return self._explain_status()
        return f"The process that reads {self.path.name} does not answer. Press Reload."

    def end(self) -> None:
        """Let it end, and end it where it does not."""
        with self._lock:
            self._is_unwanted = True
            process = self._process
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
            self._loop.call_later(_GRACE, _kill, process)

    def _run(self) -> None:
        """Start the process, and hand on what it answers; in a thread of its own."""
        places = [str(Path(netloupe.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        environment = {
            "PYTHONPATH": os.pathsep.join(filter(None, places)),
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }
        try:
            with self._lock:
                if self._is_unwanted:
                    return
                self._process = process = start_worker(_SCRIPT, environment=environment)
        except OSError as error:
            text = f"{self.path.name}: no process can be started to read it ({error.strerror})."
            self._tell(self._take_answer, json.dumps({"error": text}).encode())
            return
        if process.stdin is None or process.stdout is None:
            raise AssertionError("workers are started with pipes")
        asked = json.dumps(
            {"folder": str(self.folder), "path": str(self.path), "token": self.token}
        )
        with contextlib.suppress(OSError, ValueError):  # it has ended, or shall end
            process.stdin.write(asked.encode() + b"\n")
            process.stdin.flush()
        with contextlib.suppress(OSError, ValueError):
            self._tell(self._take_answer, process.stdout.readline(_LONGEST_ANSWER))
        process.wait()
        self._tell(self._take_end, process.returncode)
        kill_worker(process)  # what it may have started
        close_worker(process)

    def _tell(self, take: object, *what: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(take, *what)  # type: ignore[arg-type]

    def _take_answer(self, line: bytes) -> None:
        try:
            answer = json.loads(line)
        except ValueError:
            return  # it has ended, which is told next
        if "port" in answer:
            self._port.set_result(int(answer["port"]))
        else:
            self._port.set_exception(ModelProcessError(str(answer.get("error"))))

    def _take_end(self, status: int) -> None:
        self._status = status
        self._ended.set()
        if not self._port.done():
            self._port.set_exception(ModelProcessError(self._explain_status()))

    def _explain_status(self) -> str:
        why = explain_end(self._status)
        return f"The process that reads {self.path.name} {why}. Press Reload to open it again."


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        kill_worker(process)


class ModelProcesses:
    """The processes of a Jupyter server, one for each model that is open.

    A file that was written anew is another model.

    Parameters
    ----------
    settings
        How many there may be, and how long they stay.
    """

    def __init__(self, settings: NetloupeLab) -> None:
        self._settings = settings
        self._processes: dict[tuple[object, ...], ModelProcess] = {}

    def __len__(self) -> int:
        self._forget()
        return len(self._processes)

    def take(self, folder: Path, path: Path) -> ModelProcess:
        """Return the process that has a model open, for one page more.

        Parameters
        ----------
        folder
            The root folder of the Jupyter server.
        path
            The model, from there.

        Raises
        ------
        ModelProcessError
            Where too many models are open.
        OSError
            Where the file is gone.
        """
        status = (folder / path).stat()
        key = (path, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        self._forget()
        process = self._processes.get(key)
        if process is None:
            self._make_room()
            process = self._processes[key] = ModelProcess(folder, path)
        process.pages += 1
        return process

    def give_back(self, process: ModelProcess) -> None:
        """Take note that a page has gone."""
        process.pages -= 1
        if process.pages == 0:
            loop = asyncio.get_running_loop()
            loop.call_later(self._settings.idle_seconds, self._end_idle, process)

    def _end_idle(self, process: ModelProcess) -> None:
        # a page that came and went meanwhile has made a call of its own
        if process.pages == 0 and not process.has_ended:
            process.end()
            self._forget()

    def _make_room(self) -> None:
        """Let go of a model that no page shows, where there are too many."""
        most = self._settings.max_models
        if len(self._processes) < most:
            return
        unseen = [each for each in self._processes.values() if each.pages == 0]
        if not unseen:
            raise ModelProcessError(
                f"{most} models are open, and no more are at once (NetloupeLab.max_models). "
                "Close one, and press Reload."
            )
        unseen[0].end()
        self._forget()

    def _forget(self) -> None:
        """Leave out processes that have ended."""
        ended = [key for key, process in self._processes.items() if process.has_ended]
        for key in ended:
            del self._processes[key]
