"""What a terminal shows while a command works, and how Ctrl-C ends it."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from netloupe.commands import terminal
from netloupe.commands.terminal import TerminalProgress
from tests.processes import started


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model whose groups all differ.

    Its full picture takes seconds, many times :data:`terminal.QUIET_SECONDS`.
    """
    nodes, stream = [], "x"
    for layer in range(30):
        for step in range(40 + layer):
            name = f"/layer{layer}_of_many/{'abc'[step % 3]}/Relu_{step}"
            nodes.append(helper.make_node("Relu", [stream], [name], name=name))
            if step > 3:
                nodes.append(helper.make_node("Add", [name, stream], [name + "+"], name=name + "+"))
                name += "+"
            stream = name
    nodes.append(helper.make_node("Identity", [stream], ["y"]))
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [value("x", TensorProto.FLOAT, [2])], [value("y", TensorProto.FLOAT, [2])]
    )
    path = tmp_path_factory.mktemp("large") / "large.onnx"
    onnx.save(helper.make_model(graph), path)
    return path


class Terminal:
    """A command with a pseudo-terminal as its standard error."""

    def __init__(self, *arguments: object, **more: str) -> None:
        self._ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "netloupe", *map(str, arguments)]
        environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"} | more
        self._running = started(command, stderr=theirs, stdout=subprocess.PIPE, env=environment)
        self.process = self._running.__enter__()
        os.close(theirs)
        self.text = ""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *error: Any) -> None:
        self._running.__exit__(*error)
        os.close(self._ours)

    def read(self, wanted: str = "") -> bool:
        """Read until some text has come, or else until the command has ended."""
        end = time.monotonic() + 300
        while time.monotonic() < end:
            if not select.select([self._ours], [], [], 1.0)[0]:
                continue
            try:
                piece = os.read(self._ours, 4096)
            except OSError:  # Linux says so that the other end is closed
                break
            if not piece:
                break
            self.text += piece.decode("utf-8", "replace")
            if wanted and wanted in self.text:
                return True
        return False

    def end(self) -> int:
        self.read()
        self.process.communicate(timeout=300)
        status: int = self.process.returncode
        return status


def test_a_long_command_tells_how_far_it_is(large: Path, tmp_path: Path) -> None:
    output = tmp_path / "large.svg"
    with Terminal("render", large, "-o", output, "--expand", "all") as command:
        assert command.end() == 0, command.text
    assert "laying out" in command.text
    assert "%" in command.text
    assert "Ctrl-C" in command.text
    assert output.exists()


@pytest.mark.parametrize(("ending", "step"), [("svg", "laying out"), ("html", "laying out groups")])
def test_control_c_ends_a_command_and_leaves_nothing(
    ending: str, step: str, large: Path, tmp_path: Path
) -> None:
    output = tmp_path / f"large.{ending}"
    with Terminal("render", large, "-o", output, "--expand", "all") as command:
        assert command.read(step), command.text
        command.process.send_signal(signal.SIGINT)
        assert command.end() == 130
    assert "Traceback" not in command.text
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_gets_no_progress(large: Path, tmp_path: Path) -> None:
    arguments = ["render", str(large), "-o", str(tmp_path / "o.svg"), "--expand", "all"]
    command = [sys.executable, "-m", "netloupe", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_notebook_gets_no_progress(large: Path, tmp_path: Path) -> None:
    output = tmp_path / "large.svg"
    arguments = ("render", large, "-o", output, "--expand", "all")
    with Terminal(*arguments, JPY_PARENT_PID="1") as command:
        assert command.end() == 0
    assert command.text == ""


def test_nothing_is_shown_of_what_is_quick(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with TerminalProgress() as progress:
        progress.step("reading")
        progress.step("laying out", 0.5)
    time.sleep(terminal.QUIET_SECONDS + 0.2)
    assert capsys.readouterr().err == ""
