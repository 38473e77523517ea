"""What is printed where a terminal has ASCII alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import onnx
import pytest

from netloupe.commands.plain_signs import PLAIN

_ROOT = Path(__file__).resolve().parents[2]
_PRINTED = ("explorer/describe", "explorer/architecture", "explorer/checks", "explorer/audit")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("24 → 24 · batch² ≥ 3 × 2", b"24 -> 24 * batch^2 >= 3 x 2"),
        ("h.0 … h.11", b"h.0 ... h.11"),
        ("ä, 層 and \N{SNOWMAN}", rb"\xe4, \u5c64 and \u2603"),
    ],
)
def test_signs_are_spelled_and_names_escaped(text: str, written: bytes) -> None:
    assert text.encode("ascii", PLAIN) == written


def test_what_a_character_set_has_is_written_as_it_is() -> None:
    assert "3 × 3 → ä".encode("latin-1", PLAIN) == "3 × 3 -> ä".encode("latin-1")


def test_each_sign_of_our_texts_can_be_spelled() -> None:
    files = [*(_ROOT / "netloupe" / "commands").glob("*.py"), _ROOT / "explorer" / "notation.py"]
    for folder in _PRINTED:
        files += (_ROOT / folder).rglob("*.py")
    signs = {sign for file in files for sign in re.findall(r"[^\x00-\x7f]", file.read_text())}
    assert "→" in signs
    unknown = [sign for sign in signs if "\\" in sign.encode("ascii", PLAIN).decode()]
    assert unknown == []


@pytest.fixture
def model(tmp_path: Path) -> Path:
    node = onnx.helper.make_node("MatMul", ["x", "w"], ["y"], name="層")
    value = onnx.helper.make_tensor_value_info
    x, y = (value(name, onnx.TensorProto.FLOAT, ["n", 4]) for name in "xy")
    w = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [4, 4], [0.5] * 16)
    graph = onnx.helper.make_graph([node], "g", [x], [y], [w])
    onnx.save(onnx.helper.make_model(graph), tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


def make_command(model: Path, **said: str) -> tuple[list[str], dict[str, str]]:
    """Return a command that prints signs, and an environment that says no locale but this."""
    names = ("LC_ALL", "LC_CTYPE", "LANG", "PYTHONIOENCODING", "PYTHONUTF8")
    kept = {name: text for name, text in os.environ.items() if name not in names}
    command = [sys.executable, "-m", "netloupe", "info", str(model)]
    return command, {**kept, "PYTHONPATH": str(_ROOT), **said}


def test_a_command_in_a_terminal_of_ascii(model: Path) -> None:
    command, environment = make_command(model, PYTHONIOENCODING="ascii")
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "16 * n MACs" in done.stdout
    assert "\\u2" not in done.stdout


def run_in_terminal(command: list[str], environment: dict[str, str]) -> bytes:
    """Return what a command writes to a terminal."""
    ours, theirs = os.openpty()
    written = b""
    with subprocess.Popen(command, env=environment, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        with suppress(OSError):  # what a terminal says where nobody writes to it any more
            while piece := os.read(ours, 2**16):
                written += piece
        process.wait(120)
    os.close(ours)
    return written


@pytest.mark.parametrize(
    ("said", "is_ascii"),
    [
        ({"LANG": "C"}, True),
        ({"LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}, True),
        ({"LC_ALL": "C.UTF-8", "LANG": "C"}, False),
        ({"LANG": "C.UTF-8"}, False),
        ({"LANG": "C", "PYTHONUTF8": "1"}, False),
        ({}, False),
    ],
    ids=str,
)
def test_the_locale_says_what_a_terminal_has(
    model: Path, said: dict[str, str], is_ascii: bool
) -> None:
    command, environment = make_command(model, **said)
    written = run_in_terminal(command, environment)
    assert (b"16 * n MACs" if is_ascii else "16 · n MACs".encode()) in written
    done = subprocess.run(command, env=environment, capture_output=True)
    assert "16 · n MACs".encode() in done.stdout  # another program gets UTF-8
