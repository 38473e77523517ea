"""What is printed where a terminal has ASCII alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
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


def test_a_command_in_a_terminal_of_ascii(tmp_path: Path) -> None:
    node = onnx.helper.make_node("MatMul", ["x", "w"], ["y"], name="層")
    value = onnx.helper.make_tensor_value_info
    x, y = (value(name, onnx.TensorProto.FLOAT, ["n", 4]) for name in "xy")
    w = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [4, 4], [0.5] * 16)
    graph = onnx.helper.make_graph([node], "g", [x], [y], [w])
    onnx.save(onnx.helper.make_model(graph), tmp_path / "m.onnx")
    done = subprocess.run(
        [sys.executable, "-m", "netloupe", "info", str(tmp_path / "m.onnx")],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(_ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "16 * n MACs" in done.stdout
    assert "\\u2" not in done.stdout
