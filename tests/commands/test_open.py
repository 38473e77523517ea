"""The server of ``netloupe open``: it lives as long as the command, and the token is a secret."""

from __future__ import annotations

import argparse
import asyncio
import http.server
import json
import os
import re
import resource
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

import netloupe
from netloupe.commands import serve
from netloupe.commands.arguments import ADDERS, make_parser
from netloupe.explorer.errors import OutputError
from netloupe.live.intake import Intake
from netloupe.live.served import ServedModel
from tests.browser.servers import ROOT, make_environment
from tests.processes import started

DEMO = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"
SECONDS = 120.0


class Window:
    """A running ``netloupe open``, and all processes that came of it."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self.process = process
        self.folder = folder
        assert process.stdout is not None
        line = process.stdout.readline()
        self.advice = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", line)
        assert found, line
        self.address, self.port, self.token = found[0], int(found[1]), found[2]
        self.processes = psutil.Process(process.pid).children(recursive=True)

    def ask(self) -> str:
        """Ask for the page; note the processes that are there then."""
        with urllib.request.urlopen(self.address, timeout=SECONDS) as answer:
            page = answer.read().decode()
        self.processes = psutil.Process(self.process.pid).children(recursive=True)
        return page

    def is_gone(self) -> bool:
        """Wait until nothing of it is left; return whether that is so."""
        _, alive = psutil.wait_procs(self.processes, timeout=SECONDS)
        return not alive and wait_for(lambda: not list(self.folder.glob("netloupe-*")))

    def answers(self) -> bool:
        """Return whether anything answers at its port."""
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=5).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True


def wait_for(is_so: Callable[[], bool]) -> bool:
    """Wait until something is so; return whether it is."""
    end = time.monotonic() + SECONDS
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@contextmanager
def open_window(folder: Path, *more: str, **variables: str) -> Iterator[Window]:
    """Run ``netloupe open`` with its temporary files in a folder."""
    (folder / "temporary").mkdir()
    environment = make_environment(folder) | {"TMPDIR": str(folder / "temporary")} | variables
    command = [sys.executable, "-m", "netloupe", "open", str(DEMO), *more]
    with started(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        window = Window(process, folder / "temporary")
        try:
            yield window
        finally:
            for each in window.processes:
                if each.is_running():
                    each.kill()


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (signal.SIGINT, 0),
        (signal.SIGTERM, 128 + signal.SIGTERM),
        (signal.SIGHUP, 128 + signal.SIGHUP),
        (signal.SIGKILL, -signal.SIGKILL),
    ],
)
def test_however_the_command_ends_server_and_token_go_with_it(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    with open_window(tmp_path, "--no-browser") as window:
        assert DEMO.name in window.ask()
        assert window.answers()
        window.process.send_signal(number)
        assert window.process.wait(SECONDS) == status
        assert window.is_gone()
        assert not window.answers()


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits other processes")
def test_who_has_the_token_is_answered_however_many_strangers_wait(tmp_path: Path) -> None:
    with open_window(tmp_path, "--no-browser") as window, ExitStack() as strangers:
        resource.prlimit(window.process.pid, resource.RLIMIT_NOFILE, (128, 128))
        for _ in range(300):
            address = ("127.0.0.1", window.port)
            strangers.enter_context(socket.create_connection(address, timeout=SECONDS))
        assert DEMO.name in window.ask()


def test_nobody_else_can_read_the_token(tmp_path: Path) -> None:
    """Neither in a command line, the browser's least of all, nor in a file."""
    given, browser = tmp_path / "given", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {given}.part; mv {given}.part {given}\n')
    browser.chmod(0o700)
    with open_window(tmp_path, BROWSER=f"{browser} %s") as window:
        window.ask()
        assert wait_for(given.exists)
        address = given.read_text().strip()
        assert address.startswith("file://")
        assert window.token not in address
        page = Path(address.removeprefix("file://"))
        assert f"{window.address}" in page.read_text()
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        everyone = [psutil.Process(window.process.pid), *window.processes]
        for each in everyone:
            assert window.token not in " ".join(each.cmdline())
        for path in window.folder.rglob("*"):
            if path.is_file() and window.token in path.read_text(errors="replace"):
                assert path == page
        for folder in window.folder.glob("netloupe-*"):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        window.process.send_signal(signal.SIGINT)
        assert window.process.wait(SECONDS) == 0


@pytest.mark.browser
def test_a_browser_is_led_to_the_explorer_by_the_page(tmp_path: Path, page: Any) -> None:
    given, browser = tmp_path / "given", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {given}.part; mv {given}.part {given}\n')
    browser.chmod(0o700)
    with open_window(tmp_path, BROWSER=f"{browser} %s") as window:
        assert wait_for(given.exists)
        page.goto(given.read_text().strip())
        page.wait_for_url(f"http://127.0.0.1:{window.port}/*")
        page.wait_for_selector('[data-netloupe="canvas"][data-ready="true"]', timeout=120_000)


class Stranger(http.server.ThreadingHTTPServer):
    """Another program's server, which answers everything and notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(handler) -> None:  # noqa: N805
                self.asked.append(handler.requestline)
                handler.send_response(200)
                handler.end_headers()

            def log_message(handler, *_given: object) -> None:  # noqa: N805
                pass

        super().__init__(("127.0.0.1", 0), Handler)


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    server = Stranger()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_port_where_another_answers_is_refused(
    stranger: Stranger, capsys: pytest.CaptureFixture[str]
) -> None:
    models = [ServedModel.of(netloupe.load(DEMO))]
    serving = serve.Serving(models, Intake(never_made), stranger.server_port)
    with pytest.raises(OutputError, match=f"port {stranger.server_port} cannot be had"):
        serve.serve_models(serving)
    assert capsys.readouterr().out == ""
    assert stranger.asked == []


def never_made(path: Path, name: str, *, is_sent: bool) -> ServedModel:
    """Make no model."""
    raise AssertionError(path, name, is_sent)


@pytest.mark.parametrize("port", [99_999, 65_536, -1])
def test_what_is_no_port_is_refused(port: int) -> None:
    command = [sys.executable, "-m", "netloupe", "open", str(DEMO), "--port", str(port)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=SECONDS)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--port {port} is no port" in done.stderr
    assert "65535" in done.stderr


def test_in_the_background_it_says_what_stops_it(tmp_path: Path) -> None:
    """A shell lets what it starts with & ignore Ctrl+C."""
    wrapper = tmp_path / "background"
    wrapper.mkdir()
    code = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    code += "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    (tmp_path / "temporary").mkdir()
    environment = make_environment(tmp_path) | {"TMPDIR": str(tmp_path / "temporary")}
    command = [sys.executable, "-c", code, "-m", "netloupe", "open", str(DEMO), "--no-browser"]
    with started(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        window = Window(process, tmp_path / "temporary")
        assert window.advice == f"Stop it with `kill {process.pid}`.\n"
        process.send_signal(signal.SIGINT)
        window.ask()
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(SECONDS) == 128 + signal.SIGTERM
        assert window.is_gone()


DAMAGED = b"\x08\x07" + b"\xff" * 64


def test_a_model_that_cannot_be_read_ends_the_command(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.onnx"
    damaged.write_bytes(DAMAGED)
    command = [sys.executable, "-m", "netloupe", "open", str(damaged), "--no-browser"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=SECONDS)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"netloupe: error: {damaged}" in done.stderr


def test_a_page_that_comes_late_still_hears_why(tmp_path: Path) -> None:
    damaged, browser = tmp_path / "damaged.onnx", tmp_path / "browser"
    damaged.write_bytes(DAMAGED)
    browser.write_text("#!/bin/sh\n")
    browser.chmod(0o700)
    environment = make_environment(tmp_path) | {"BROWSER": f"{browser} %s"}
    command = [sys.executable, "-m", "netloupe", "open", str(damaged)]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with started(command, env=environment, **pipes) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found
        assert process.stderr is not None
        assert "damaged.onnx" in process.stderr.readline()
        address = found[0].replace("http:", "ws:").replace("/?", "/socket?")

        async def hear() -> dict[str, Any]:
            socket = await websocket_connect(
                HTTPRequest(address, headers={"Origin": found[0].partition("/?")[0]})
            )
            while True:
                frame = await socket.read_message()
                assert isinstance(frame, str)
                content: dict[str, Any] = json.loads(frame)
                if "failed" in content:
                    socket.close()
                    assert await socket.read_message() is None
                    return content

        # in a thread of its own: browser tests leave a loop running in this one
        with ThreadPoolExecutor(1) as pool:
            told = pool.submit(lambda: asyncio.run(hear())).result(SECONDS)
        assert "damaged.onnx" in told["failed"]
        assert process.wait(SECONDS) == 2


def test_what_lays_out_starts_ahead_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    from netloupe.explorer.layout.engine import LayoutEngine

    loaded: list[bool] = []
    for name in [name for name in sys.modules if name.startswith("netloupe.live.server")]:
        monkeypatch.delitem(sys.modules, name)

    def start(engine: LayoutEngine) -> None:
        loaded.append("netloupe.live.server" in sys.modules)
        raise KeyboardInterrupt  # nothing is served

    monkeypatch.setattr(LayoutEngine, "start", start)
    serving = serve.Serving(
        [ServedModel("model", lambda: pytest.fail("is read"))],
        Intake(never_made),
        browser=False,
    )
    assert serve.serve_models(serving) == 0
    assert loaded == [False]


@pytest.mark.parametrize("command", [*ADDERS])
def test_a_parser_of_one_command_has_its_options_alone(command: str) -> None:
    whole, alone = (_list_options(make_parser(only)) for only in ("", command))
    assert alone == {command: whole[command]}


def _list_options(parser: argparse.ArgumentParser) -> dict[str, list[str]]:
    (commands,) = (
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    )
    return {
        name: [text for action in each._actions for text in action.option_strings]
        for name, each in commands.choices.items()
    }
