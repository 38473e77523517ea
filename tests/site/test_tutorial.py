"""The tutorial: commands print what stands under them, and Python gives what is beside it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

from netloupe.commands.cli import main

from .sessions import Shown, list_commands, run_python

_ROOT = Path(__file__).resolve().parents[2]
_PAGE = _ROOT / "docs" / "tutorial.md"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the demo models, to write beside them."""
    for model in (_ROOT / "demo_notebooks" / "models").glob("*.onnx"):
        shutil.copy(model, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands_print_what_is_shown(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = list_commands(_PAGE)
    assert len(shown) >= 8
    for each in shown:
        assert each.words[0] == "netloupe"
        assert main(each.words[1:]) == 0, each.words
        output = capsys.readouterr().out
        assert each.matches(output), f"$ {' '.join(each.words)}\n{output}"
    assert (desk / "report.html").stat().st_size > 100_000
    assert (desk / "digits_cnn.qdq.onnx.notes.jsonl").is_file()


def test_python_gives_what_it_says(desk: Path) -> None:
    names: dict[str, Any] = {}
    found = list(run_python(_PAGE, names))
    assert len(found) >= 8
    for code, given, told in found:
        if told.startswith(("'", "[", "(")) or told[:1].isdigit() or told in ("True", "False"):
            assert repr(given) == told, code
    assert names["axes"].figure is not None
    plt.close("all")
    assert "</html>" in names["report"]


def test_what_is_shown_is_compared() -> None:
    shown = Shown(("netloupe", "info"), ("a", "…", "c"))
    assert shown.matches("a\nb\nb\nc\n")
    assert shown.matches("a\nc\n")
    assert not shown.matches("a\nb\nd\n")
    assert not shown.matches("a\nc\nd\n")
    assert Shown(("netloupe",), ("a", "…")).matches("a\nb")
    assert not Shown(("netloupe",), ()).matches("a\n")
