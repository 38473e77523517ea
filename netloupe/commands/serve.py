"""The desktop window: the notebook explorer served on loopback, with a token.

The server is a process of its own, :mod:`netloupe.commands.voila_server`; this is what starts it,
opens the browser and ends it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from netloupe.explorer.errors import OutputError

_START_SECONDS = 60.0
_STOP_SECONDS = 20.0
_LAST_PORT = 65_535


def serve_model(
    model: Path, *, init: Path | None = None, port: int = 0, browser: bool = True
) -> int:
    """Serve the explorer of one model until interrupted; return the exit status.

    The server listens on 127.0.0.1 only and answers nobody without the token in the address.
    It ends with this process, however that ends.

    Parameters
    ----------
    model
        The model file.
    init
        The init net of a Caffe2 net.
    port
        The port; a free one where 0.
    browser
        Whether to open the address in the user's browser.

    Raises
    ------
    OutputError
        Where Voilà is not installed, the port cannot be had, or the server does not start or
        ends by itself.
    SystemExit
        With 128 and the number of the signal, where SIGTERM or SIGHUP ends it.
    """
    if importlib.util.find_spec("voila") is None:
        raise OutputError(
            f"{model}: `netloupe open` needs Voilà. Install it with `pip install 'netloupe[app]'`."
        )
    _check_port(model, port)
    token = secrets.token_urlsafe(24)
    paths = [str(path.resolve()) for path in (model, init) if path is not None]
    with _signals_raise(), _running_server() as server:
        answer = server.start(model, {"paths": paths, "port": port, "token": token})
        address = f"http://127.0.0.1:{answer['port']}/?token={token}"
        print(f"{model.name}: {address}\n{_say_how_to_stop()}", flush=True)
        if browser:
            import webbrowser

            # whose command line every user can read: the token is in the file, which they cannot
            webbrowser.open(Path(answer["page"]).as_uri())
        with contextlib.suppress(KeyboardInterrupt):
            server.process.wait()
            raise OutputError(f"{model}: the server has ended{server.describe_end()}. Try again.")
    return 0


def _check_port(model: Path, port: int) -> None:
    """Refuse a port on which another program answers, or on which none may.

    Raises
    ------
    OutputError
        Where the port cannot be had.
    """
    if not 0 <= port <= _LAST_PORT:
        raise OutputError(
            f"{model}: --port {port} is no port. Give a number from 1 to {_LAST_PORT}, or leave it "
            "out for a free one."
        )
    with socket.socket() as probe:
        if os.name == "posix":  # as the server does: what has ended a minute ago is not in the way
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise OutputError(
                f"{model}: port {port} cannot be had ({error.strerror}). Choose another with "
                "--port, or leave it out for a free one."
            ) from error


class _Server:
    """The server's process and what it says.

    It reads its settings from the standard input and ends where that ends, which the system
    closes with this process. On the standard output it says that it answers: nothing else than
    our own process can, so that the token is given to nobody who merely has the port.
    """

    def __init__(self, log: IO[bytes]) -> None:
        self._log = log
        self.folder = ""
        own_group: dict[str, Any] = (
            {"start_new_session": True}  # Ctrl+C in the terminal is for this process to handle
            if os.name == "posix"
            else {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        )
        self.process = subprocess.Popen(
            [sys.executable, "-m", "netloupe.commands.voila_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            **own_group,
        )
        self._orders = cast("IO[bytes]", self.process.stdin)
        self._answers = cast("IO[bytes]", self.process.stdout)

    def start(self, model: Path, settings: dict[str, Any]) -> dict[str, Any]:
        """Give the server its settings and wait until it answers; return port and page.

        Raises
        ------
        OutputError
            Where it ends instead, or takes too long.
        """
        with contextlib.suppress(BrokenPipeError):
            self._orders.write(json.dumps(settings).encode() + b"\n")
            self._orders.flush()
        line = self._read_line()
        if line is None:
            raise OutputError(
                f"{model}: Voilà did not start within {_START_SECONDS:.0f} s. Try again."
            )
        if not line:
            self.process.wait()
            raise OutputError(
                f"{model}: Voilà did not start{self.describe_end()}. Is port {settings['port']} "
                "in use? Choose another with --port."
            )
        answer: dict[str, Any] = json.loads(line)
        self.folder = str(answer["folder"])
        return answer

    def stop(self) -> None:
        """Ask the server to end, so that it ends its kernels, and insist where it does not."""
        with contextlib.suppress(OSError):
            self._orders.close()
        try:
            self.process.wait(timeout=_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._answers.close()
        if self.folder:  # which is left where the server was killed
            shutil.rmtree(self.folder, ignore_errors=True)

    def describe_end(self) -> str:
        """Return with what status the server ended, and the last that it said."""
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        said = f": {lines[-1].strip()}" if lines else ""
        return f" (status {self.process.returncode}{said})"

    def _read_line(self) -> bytes | None:
        """Return what the server says first, b"" where it ends; None where it takes too long."""
        stream, said = self._answers, list[bytes]()
        thread = threading.Thread(target=lambda: said.append(stream.readline()), daemon=True)
        thread.start()
        thread.join(_START_SECONDS)
        return said[0] if said else None


@contextlib.contextmanager
def _running_server() -> Iterator[_Server]:
    """Start the server's process, and end it in the end."""
    with tempfile.TemporaryFile() as log:
        server = _Server(log)
        try:
            yield server
        finally:
            server.stop()


@contextlib.contextmanager
def _signals_raise() -> Iterator[None]:
    """Let signals that would end this process at once end the block instead.

    What is ignored, as SIGHUP is under nohup, stays ignored.
    """

    def end(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    before = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say_how_to_stop() -> str:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background
        return f"Stop it with `kill {os.getpid()}`."
    return "Press Ctrl+C to stop."
