"""The server's process of ``netloupe open``: Voilà, for as long as who started it lives.

Run by :mod:`netloupe.commands.serve`. Its settings are one line of JSON on the standard input: a
command line is there for every user to read. When the standard input ends, whoever started this
has ended, by whatever signal: the kernels are ended, and the folder with the token is removed. On
the standard output it says one line of JSON once it answers: ``port``, the ``page`` to open in a
browser, and the ``folder`` of all its files.
"""

from __future__ import annotations

import html
import json
import os
import shutil
import socket
import tempfile
import threading
from pathlib import Path
from typing import IO, Any

#: so long may Voilà and its kernels take to end; then they are not asked any more
_GRACE_SECONDS = 10.0
#: a free port may be taken by another before we have it: so many others are tried
_PORTS_TRIED = 50

#: Voilà's page asks a content network for icons: the browser is told to reach nothing but us
_CONTENT_POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; "
    "connect-src 'self' ws://127.0.0.1:*; frame-ancestors 'none'"
)


def main() -> None:
    """Serve until the standard input ends."""
    orders, answers = _take_streams()
    settings: dict[str, Any] = json.loads(orders.readline())
    folder = Path(tempfile.mkdtemp(prefix="netloupe-"))  # which nobody else can look into
    launcher = _Launcher(orders, folder)
    try:
        os.chdir(folder)
        notebook = folder / "netloupe.ipynb"
        notebook.write_text(json.dumps(_make_notebook(settings["paths"])), encoding="utf-8")
        app = _make_app(notebook, settings)

        from tornado.ioloop import IOLoop

        def tell() -> None:  # the loop runs only once the port is ours
            page = _write_page(folder, app.port, settings["token"])
            answer = {"port": app.port, "page": str(page), "folder": str(folder)}
            answers.write(json.dumps(answer).encode() + b"\n")
            answers.close()

        loop = IOLoop.current()
        loop.add_callback(tell)
        launcher.watch(lambda: loop.add_callback(loop.stop))
        app.start()
    finally:
        _remove(folder)


class _Launcher:
    """The process that started this one, whose end is the end of the standard input."""

    def __init__(self, orders: IO[bytes], folder: Path) -> None:
        self._orders = orders
        self._folder = folder
        self._stop: Any = None
        self._lock = threading.Lock()
        self._has_ended = False
        threading.Thread(target=self._wait, name="netloupe-launcher", daemon=True).start()

    def watch(self, stop: Any) -> None:
        """Call something, in a thread of its own, when the launcher has ended."""
        with self._lock:
            self._stop = stop
            if self._has_ended:
                stop()

    def _wait(self) -> None:
        while self._orders.read(1):
            pass
        with self._lock:
            self._has_ended = True
            if self._stop is not None:
                self._stop()
        threading.Event().wait(_GRACE_SECONDS)
        _remove(self._folder)
        os._exit(1)


def _take_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Return standard input and output, and leave nothing of them for Voilà and its kernels."""
    streams = os.fdopen(os.dup(0), "rb", buffering=0), os.fdopen(os.dup(1), "wb", buffering=0)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    return streams


def _make_app(notebook: Path, settings: dict[str, Any]) -> Any:
    from traitlets.config import Config
    from voila.app import Voila

    port = int(settings["port"])
    app = Voila.instance()
    app.initialize([str(notebook)])
    # after the user's own files, which may say anything of addresses and tokens
    app.update_config(
        Config(
            {
                "Voila": {
                    "ip": "127.0.0.1",
                    "port": port or _find_port(),
                    "port_retries": 0 if port else _PORTS_TRIED,
                    "token": settings["token"],
                    "open_browser": False,
                    "log_level": 50,
                    "connection_dir_root": str(notebook.parent),
                    "tornado_settings": {
                        "headers": {"Content-Security-Policy": _CONTENT_POLICY},
                        "websocket_ping_interval": 30_000,
                        "websocket_ping_timeout": 30_000,
                    },
                },
                "KernelManager": {"shutdown_wait_time": 2.0},
            }
        )
    )
    return app


def _make_notebook(paths: list[str]) -> dict[str, object]:
    given = repr(paths[0] if len(paths) == 1 else tuple(paths))
    return {
        "cells": [
            {
                "cell_type": "code",
                "execution_count": None,
                "id": "explore",
                "metadata": {},
                "outputs": [],
                "source": f"import netloupe\nnetloupe.explore({given}, height=0)",
            }
        ],
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "title": Path(paths[0]).name,
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _write_page(folder: Path, port: int, token: str) -> Path:
    """Write a page that leads to the server, for its owner's eyes only."""
    address = f"http://127.0.0.1:{port}/?token={token}"
    page = folder / "open.html"
    with os.fdopen(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(
            '<!doctype html><meta charset="utf-8"><title>netloupe</title>'
            '<meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0; url={html.escape(address)}">'
            f'<p><a href="{html.escape(address)}">Open the explorer</a>'
        )
    return page


def _find_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _remove(folder: Path) -> None:
    os.chdir(tempfile.gettempdir())  # Windows removes no folder that a process is in
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
