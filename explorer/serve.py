"""The desktop window: the notebook explorer served by Voilà on loopback, with a token."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from netloupe.explorer.errors import OutputError

_START_SECONDS = 60.0

#: Voilà's page asks a content network for icons: the browser is told to reach nothing but us
_CONTENT_POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; "
    "connect-src 'self' ws://127.0.0.1:*; frame-ancestors 'none'"
)


def serve_model(
    model: Path, *, init: Path | None = None, port: int = 0, browser: bool = True
) -> int:
    """Serve the explorer of one model until interrupted; return the exit status.

    The server listens on 127.0.0.1 only and answers nobody without the token in the address.

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
        Where Voilà is not installed, the port is taken, or the server does not start.
    """
    if importlib.util.find_spec("voila") is None:
        raise OutputError(
            f"{model}: `netloupe open` needs Voilà. Install it with `pip install 'netloupe[app]'`."
        )
    port = port or _find_port()
    token = secrets.token_urlsafe(24)
    with tempfile.TemporaryDirectory(prefix="netloupe-") as folder:
        notebook = Path(folder) / "netloupe.ipynb"
        content = _make_notebook(model.resolve(), init.resolve() if init is not None else None)
        notebook.write_text(json.dumps(content), encoding="utf-8")
        process = _start_voila(notebook, port, token)
        address = f"http://127.0.0.1:{port}/?token={token}"
        try:
            _wait_until_ready(process, model, port)
            print(f"{model.name}: {address}\nPress Ctrl+C to stop.", flush=True)
            if browser:
                import webbrowser

                webbrowser.open(address)
            return process.wait()
        except KeyboardInterrupt:
            return 0
        finally:
            _stop(process)


def _make_notebook(model: Path, init: Path | None) -> dict[str, object]:
    given = repr(str(model)) if init is None else repr((str(model), str(init)))
    source = f"import netloupe\nnetloupe.explore({given}, height=0)"
    return {
        "cells": [
            {
                "cell_type": "code",
                "execution_count": None,
                "id": "explore",
                "metadata": {},
                "outputs": [],
                "source": source,
            }
        ],
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "title": model.name,
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _start_voila(notebook: Path, port: int, token: str) -> subprocess.Popen[bytes]:
    """Start Voilà with its settings in a file: a command line is there for every user to read."""
    settings = {
        "Voila": {
            "ip": "127.0.0.1",
            "port": port,
            "port_retries": 0,
            "token": token,
            "open_browser": False,
            "log_level": 50,
            "tornado_settings": {
                "headers": {"Content-Security-Policy": _CONTENT_POLICY},
                "websocket_ping_interval": 30_000,
                "websocket_ping_timeout": 30_000,
            },
        }
    }
    notebook.with_name("voila.json").write_text(json.dumps(settings), encoding="utf-8")
    return subprocess.Popen(  # noqa: S603 - our own arguments
        [sys.executable, "-m", "voila", str(notebook)],
        cwd=notebook.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _wait_until_ready(process: subprocess.Popen[bytes], model: Path, port: int) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise OutputError(
                f"{model}: Voilà ended with status {process.returncode}. "
                f"Is port {port} in use? Choose another with --port."
            )
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/voila/static/x", timeout=1).close()
        except urllib.error.HTTPError:
            return  # it answers
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise OutputError(f"{model}: Voilà did not start within {_START_SECONDS:.0f} s. Try again.")


def _find_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask the server to end, so that it ends its kernels, and insist where it does not."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT if os.name == "posix" else signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
        if process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=5)
    if process.poll() is None:
        process.kill()
        process.wait()
