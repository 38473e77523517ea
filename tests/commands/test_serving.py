"""What ``netloupe open`` makes of its options: several models, two, windows, tunnels."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import onnx.parser
import pytest

from netloupe.commands import cli, serve, tunnel, window
from netloupe.explorer.errors import OutputError
from tests.browser.servers import ROOT, make_environment
from tests.commands.failing import fail
from tests.processes import started

DEMO = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"
OLD = """<ir_version: 8, opset_import: ["": 18]>
g (float[N, 2] x) => (float[N, 2] y) { [add] a = Add (x, x) [relu] y = Relu (a) }"""
SECONDS = 60.0


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[serve.Serving]:
    """What would be served."""
    found: list[serve.Serving] = []

    def note(serving: serve.Serving) -> int:
        found.append(serving)
        return 0

    monkeypatch.setattr(serve, "serve_models", note)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return found


def write(path: Path, text: str) -> Path:
    """Write a model."""
    path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    return path


def test_two_models_are_compared(tmp_path: Path, served: list[serve.Serving]) -> None:
    old = write(tmp_path / "old.onnx", OLD)
    new = write(tmp_path / "new.onnx", OLD.replace("Relu", "Tanh"))
    assert cli.main(["open", str(new), "--against", str(old)]) == 0
    [model] = served[0].models
    assert model.name == "new.onnx against old.onnx"
    shown = model._read().model
    assert shown.comparison is not None
    assert shown.comparison.left.source == str(old)
    assert not served[0].intake.takes_paths


def test_several_models_and_none(tmp_path: Path, served: list[serve.Serving]) -> None:
    files = [write(tmp_path / name, OLD) for name in ("a.onnx", "b.onnx")]
    assert cli.main(["open", *map(str, files), "--watch", "--no-browser"]) == 0
    assert [model.name for model in served[0].models] == ["a.onnx", "b.onnx"]
    assert len(served[0].watched) == 2
    assert served[0].name == "2 models"
    for model in served[0].models:
        model._read()
    assert cli.main(["open"]) == 0
    assert not served[1].models
    assert served[1].intake.takes_paths
    recent = served[1].intake.recent
    assert recent is not None
    assert recent.read() == [str(files[1]), str(files[0])]
    sent = served[1].intake._make(files[0], "sent.onnx", is_sent=True)
    sent._read()
    assert str(files[0]) == recent.read()[1]
    assert cli.main(["open", "--no-recent"]) == 0
    assert served[2].intake.recent is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["a", "b", "--against", "c"], "--against goes with one model, not with 2"),
        (["--against", "c"], "--against goes with one model, not with 0"),
        (["a", "b", "--init", "c"], "--init goes with one model"),
        (["a", "--init", "c", "--against", "d"], "do not go together"),
        (["--watch"], "--watch needs the name of a file"),
        (["-", "--watch"], "--watch needs the name of a file"),
        (["a", "--window", "--no-browser"], "do not go together"),
        (["a", "b", "gone.onnx"], "there is no such file"),
        (["a", "--against", "gone.onnx"], "there is no such file"),
    ],
)
def test_what_does_not_go_together_is_said(
    words: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b", "c", "d"):
        write(tmp_path / name, OLD)
    assert told in fail(capsys, "open", *words)


# tunnels


@pytest.mark.parametrize(
    ("connection", "command"),
    [
        ("10.0.0.2 55000 10.0.0.1 22", "ssh -N -L 8899:127.0.0.1:8899 ann@10.0.0.1"),
        ("10.0.0.2 55000 fe80::1 2222", "ssh -N -L 8899:127.0.0.1:8899 -p 2222 ann@fe80::1"),
        ("", ""),
        ("nonsense", ""),
    ],
)
def test_over_ssh_the_command_of_the_tunnel_is_told(
    connection: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("getpass.getuser", lambda: "ann")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SSH_CONNECTION", connection)
    assert tunnel.write_tunnel_command(8899) == command
    monkeypatch.setenv("DISPLAY", ":0")
    assert tunnel.write_tunnel_command(8899) == ""


def test_it_is_printed_and_no_browser_is_opened(tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\ntouch {tmp_path}/opened\n")
    browser.chmod(0o700)
    environment = make_environment(tmp_path) | {
        "SSH_CONNECTION": "10.0.0.2 55000 10.0.0.1 22",
        "BROWSER": f"{browser} %s",
        "DISPLAY": "",
        "WAYLAND_DISPLAY": "",
    }
    command = [sys.executable, "-m", "netloupe", "open", str(DEMO)]
    with started(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        assert "ssh -N -L" in lines[2]
        address = lines[0].split()[-1]
        urllib.request.urlopen(address, timeout=SECONDS).close()
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 0
    assert not (tmp_path / "opened").exists()


# windows


def write_browser(folder: Path, script: str) -> None:
    """Write a browser of that name which is found first."""
    folder.mkdir()
    path = folder / "chromium"
    path.write_text(f"#!{sys.executable}\n{script}")
    path.chmod(0o700)


SEEING = """
import re, sys, time, urllib.request
page = next(word for word in sys.argv if word.startswith("--app=")).removeprefix("--app=")
assert any(word.startswith("--user-data-dir=") for word in sys.argv)
with open(page.removeprefix("file://")) as file:
    address = re.search(r"http://[^\\"]+", file.read())[0]
urllib.request.urlopen(address).close()
"""


@pytest.mark.parametrize(
    ("script", "status", "told"),
    [
        (SEEING, 0, ""),
        ("import sys; sys.exit(3)", 2, "the window ended with status 3 before it showed anything"),
        (SEEING + "time.sleep(600)", None, ""),
    ],
)
def test_the_command_ends_with_its_window(
    tmp_path: Path, script: str, status: int | None, told: str
) -> None:
    write_browser(tmp_path / "bin", script)
    (tmp_path / "temporary").mkdir()
    environment = make_environment(tmp_path) | {
        "DISPLAY": ":0",
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "TMPDIR": str(tmp_path / "temporary"),
    }
    command = [sys.executable, "-m", "netloupe", "open", str(DEMO), "--window"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(command, text=True, env=environment, **pipes) as process:
        if status is None:  # Ctrl+C closes the window
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(2)
            process.send_signal(signal.SIGINT)
            status = 0
        _, errors = process.communicate(timeout=SECONDS)
        assert process.returncode == status
        assert told in errors
    assert not [*(tmp_path / "temporary").iterdir()]


def test_without_anything_that_could_show_a_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window, "find_spec", lambda _name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DISPLAY", ":0")
    with pytest.raises(OutputError, match=r"needs Chromium.*pip install pywebview"):
        window.choose_window()
    monkeypatch.setattr(window, "find_spec", lambda _name: object())
    command = window.choose_window()("file:///page", tmp_path)
    assert command[-1] == "file:///page"
    assert Path(command[1]).is_file()
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(OutputError, match="no display"):
        window.choose_window()


def test_the_window_of_pywebview(tmp_path: Path) -> None:
    """Pywebview itself is not asked here: what it is told is looked at."""
    (tmp_path / "webview.py").write_text(
        "def create_window(title, url, **size): print(title, url)\n"
        "def start(**how): print('started', how)\n"
    )
    command = window._command_of_webview("file:///page", tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=SECONDS)
    assert done.stdout == "netloupe file:///page\nstarted {'private_mode': True}\n"
