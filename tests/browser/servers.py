"""Real servers on loopback for browser tests: JupyterLab, Notebook 7 and Voilà."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from traitlets.config import Config

ROOT = Path(__file__).resolve().parents[2]
#: modules in place of installed ones that cost much and do nothing for the tests
LEAN = Path(__file__).resolve().parent / "lean"
TOKEN = "netloupe-test"  # loopback, for the length of one test
START_SECONDS = 300.0
#: Kernels listen on files: ports are chosen before a kernel starts, and another process may take
#: one in between; the kernel then ends, and Voilà answers a page without end.
TRANSPORT = "ipc"
#: how many a server may try, where another process takes one before it
PORTS = 3


@dataclass(frozen=True)
class Server:
    """A running server: which application it is, and where it answers."""

    application: str
    #: with the base URL, and without a slash at its end
    address: str
    #: of its process
    process: int = 0

    def page(self, notebook: str) -> str:
        """Return the address of a notebook in this application."""
        paths = {
            "lab": f"lab/tree/{notebook}",
            "notebook": f"notebooks/{notebook}",
            "voila": f"voila/render/{notebook}",
        }
        # without reset JupyterLab shows the notebooks of the last test too
        reset = "&reset" if self.application == "lab" else ""
        return f"{self.address}/{paths[self.application]}?token={TOKEN}{reset}"


@contextmanager
def run_server(
    application: str, folder: Path, root: Path | None = None, base_url: str = "/"
) -> Iterator[Server]:
    """Run an application on a folder of notebooks until the block ends.

    Parameters
    ----------
    application
        ``lab``, ``notebook``, ``voila``, or ``server`` for one without an application.
    folder
        Where it writes its log and finds its settings.
    root
        The folder of notebooks, where that is another one.
    base_url
        Below what it answers, as behind a JupyterHub.
    """
    add_extension(folder)
    process, server = _start(application, folder, root or folder, base_url)
    try:
        yield server
    finally:
        end_server(process)


def _start(
    application: str, folder: Path, root: Path, base_url: str
) -> tuple[subprocess.Popen[bytes], Server]:
    """Start a server and wait until it answers, at another port where one was taken meanwhile."""
    log = folder / f"{application}.log"
    for _ in range(PORTS):
        port = find_port()
        with log.open("wb") as output:
            process = subprocess.Popen(
                _command(application, port, root, base_url),
                cwd=root,
                env=make_environment(folder),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        address = f"http://127.0.0.1:{port}{base_url.rstrip('/')}"
        try:
            answers = _answers(process, address)
        except BaseException:
            end_server(process)
            raise
        if answers:
            return process, Server(application, address, process.pid)
        end_server(process)
        if "in use" not in log.read_text():
            break
    raise RuntimeError(f"the server did not start: {log.read_text()[-2000:]}")


def end_server(process: subprocess.Popen[bytes]) -> None:
    """End a server, whatever it is doing."""
    process.terminate()
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _command(application: str, port: int, folder: Path, base_url: str) -> list[str]:
    common = [f"--port={port}", "--no-browser", f"--KernelManager.transport={TRANSPORT}"]
    if application == "voila":
        return [sys.executable, "-m", "voila", str(folder), *common, f"--token={TOKEN}"]
    server = [
        *common,
        "--allow-root",
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={TOKEN}",
        f"--ServerApp.root_dir={folder}",
        f"--ServerApp.base_url={base_url}",
    ]
    if application == "server":
        return [sys.executable, "-m", "jupyter_server", *server]
    server += [
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    module = {"lab": "jupyterlab", "notebook": "notebook"}[application]
    return [sys.executable, "-m", module, *server]


def make_environment(folder: Path) -> dict[str, str]:
    """Return an environment without the user's settings, in which netloupe can be imported."""
    environment = {key: value for key, value in os.environ.items() if key != "CI"}
    environment["JUPYTER_CONFIG_DIR"] = str(folder / ".config")
    environment["JUPYTER_RUNTIME_DIR"] = _make_runtime_folder().name
    environment["JUPYTER_PATH"] = str(folder / ".share")
    environment["IPYTHONDIR"] = str(folder / ".ipython")
    environment["XDG_STATE_HOME"] = str(folder / ".state")
    environment["PYTHONPATH"] = os.pathsep.join([str(LEAN), str(ROOT)])
    return environment


@cache
def _make_runtime_folder() -> tempfile.TemporaryDirectory[str]:
    """Make the folder of kernels' sockets: short, as a socket's path has 107 bytes at most."""
    return tempfile.TemporaryDirectory(prefix="netloupe-")


def configure_kernel() -> Config:
    """Return the settings of one kernel that a test starts itself."""
    # without the file's name the sockets would be in the folder of whoever asks for them
    file = Path(_make_runtime_folder().name, f"kernel-{uuid.uuid4()}.json")
    return Config({"KernelManager": {"transport": TRANSPORT, "connection_file": str(file)}})


def add_extension(folder: Path) -> None:
    """Put the extensions of JupyterLab and its server where :func:`make_environment` looks."""
    built = ROOT / "widgets" / "labextension"
    places = {
        folder / ".share" / "labextensions" / "netloupe": built,
        folder / ".config" / "jupyter_server_config.d" / "netloupe.json": built
        / "server"
        / "netloupe.json",
    }
    for place, source in places.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists():
            place.symlink_to(source)


def _answers(process: subprocess.Popen[bytes], address: str) -> bool:
    """Return whether a server answers in time; one that ended does not."""
    end = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < end:
        try:
            urllib.request.urlopen(f"{address}/api", timeout=20).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            time.sleep(0.2)
        else:
            return True
    return False


def find_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def write_notebook(path: Path, *cells: str) -> None:
    """Write a notebook of code cells."""
    path.write_text(
        json.dumps(
            {
                "cells": [
                    {
                        "cell_type": "code",
                        "execution_count": None,
                        "id": f"cell{number}",
                        "metadata": {},
                        "outputs": [],
                        "source": source,
                    }
                    for number, source in enumerate(cells)
                ],
                "metadata": {
                    "kernelspec": {
                        "name": "python3",
                        "display_name": "Python 3",
                        "language": "python",
                    }
                },
                "nbformat": 4,
                "nbformat_minor": 5,
            }
        )
    )
