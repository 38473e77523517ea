"""``netloupe text``, and what git shows by it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

from netloupe.commands.cli import main
from tests.compare.networks import make_layers

ROOT = Path(__file__).resolve().parents[2]


def test_the_text_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(make_layers(2), tmp_path / "a.onnx")
    assert main(["text", str(tmp_path / "a.onnx")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "model ONNX"
    assert '  node "Softmax"' in lines
    assert str(tmp_path) not in "\n".join(lines)


def test_what_is_no_model_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.onnx").write_text("nothing of the kind")
    assert main(["text", str(tmp_path / "a.onnx")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_git_shows_what_changed_in_a_model(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "GIT_CONFIG_GLOBAL": str(tmp_path / "no such settings"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments],
            cwd=tmp_path,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    git("init", "-q")
    git("config", "user.name", "somebody")
    git("config", "user.email", "somebody@example.org")
    git("config", "diff.onnx.textconv", f"{sys.executable} -m netloupe text")
    (tmp_path / ".gitattributes").write_text("*.onnx diff=onnx\n")
    model = make_layers(2)
    onnx.save(model, tmp_path / "model.onnx")
    git("add", ".")
    git("commit", "-qm", "first")
    model.graph.node[3].op_type = "Sigmoid"
    nodes = [*model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.save(model, tmp_path / "model.onnx")
    changed = [line for line in git("diff").splitlines() if line[:1] in "+-"]
    assert [line for line in changed if line[:3] not in ("+++", "---")] == [
        '-  node "Tanh"',
        '+  node "Sigmoid"',
    ]
