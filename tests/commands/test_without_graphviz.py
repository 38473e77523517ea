"""Without Graphviz: what is said is what the README says, and what needs no layout is all there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from netloupe.commands.cli import main

_ROOT = Path(__file__).resolve().parents[2]
_MODELS = _ROOT / "demo_notebooks" / "models"
_OLD, _NEW = (str(_MODELS / name) for name in ("digits_cnn.onnx", "digits_cnn.qdq.onnx"))
_INSTALLED = re.compile(r"(apk add|apt-get install|brew install)((?: [a-z][a-z-]*)+)")


@pytest.fixture
def without_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel that cannot be imported, as on another libc, and a PATH without ``dot``."""
    (tmp_path / "pygraphviz.py").write_text("raise ImportError('libgvc.so.7: not found')")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(_ROOT)]))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "pygraphviz", None)


def read_installs(text: str) -> dict[str, set[str]]:
    """Return by command of a package manager what it is to install."""
    commands = _INSTALLED.findall(" ".join(text.split()).replace(" or ", " | "))
    return {installer: set(packages.split()) for installer, packages in commands}


def draw(file: Path) -> str:
    """Draw a picture in a process of its own; return what is said."""
    command = [sys.executable, "-m", "netloupe", "render", _OLD, "-o", str(file)]
    command += ["--expand", "all"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "<svg" in file.read_text()
    return done.stderr


@pytest.mark.usefixtures("without_graphviz")
def test_what_to_install_is_what_the_readme_says(tmp_path: Path) -> None:
    said = draw(tmp_path / "picture.svg")
    assert "pygraphviz cannot be imported (libgvc.so.7: not found)" in said
    assert said.count("simpler layout") == said.count("\n") == 1
    told = read_installs(said)
    _, _, readme = (_ROOT / "README.md").read_text().partition("where `pygraphviz` has a wheel")
    written = read_installs(readme.partition("\n\n")[0])
    assert told.keys() == written.keys()
    assert len(told) == 3
    for installer, packages in told.items():
        assert packages <= written[installer]
        assert "graphviz" in packages  # the command `dot`, which headers do not come with


@pytest.mark.parametrize("command", [["info", _OLD], ["check", _NEW], ["diff", _OLD, _NEW]])
def test_nothing_else_is_lost(
    command: list[str], request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    before = main(command), capsys.readouterr()
    request.getfixturevalue("without_graphviz")
    after = main(command), capsys.readouterr()
    assert before[1].out
    assert after == before
