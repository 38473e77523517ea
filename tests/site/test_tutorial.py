"""The tutorial prints what it shows, and what other pages have to type is understood."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

from netloupe.commands.arguments import ADDERS, add_command, make_parser
from netloupe.commands.cli import main
from tests.site.sessions import Shown, list_commands, run_python

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


def test_python_of_the_page_on_notebooks_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(_ROOT)
    names: dict[str, Any] = {}
    list(run_python(_ROOT / "docs" / "notebook.md", names))
    try:
        assert names["ex"].selection
        assert "<svg" in names["svg"]
        assert names["ex"].overlay is None
    finally:
        names["ex"].close()


def list_lines() -> Iterator[tuple[str, list[str]]]:
    """Give the commands that pages show without their output, and the words of each."""
    for page in [_ROOT / "README.md", *(_ROOT / "docs").rglob("*.md")]:
        blocks = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)
        for block in (block for language, block in blocks if language in ("", "text")):
            for line in block.replace("\\\n", " ").splitlines():
                if line.startswith("netloupe "):
                    words = shlex.split(line, comments=True)
                    ends = [words.index(end) for end in ("|", ">", ">>", "<") if end in words]
                    yield f"{page.name}: {line}", words[1 : min(ends, default=len(words))]


COMMANDS = dict(list_lines())


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_of_pages_are_understood(line: str) -> None:
    words = add_command(COMMANDS[line], tuple(ADDERS))
    assert make_parser().parse_args(words).run is not None


def test_pages_have_commands() -> None:
    assert len(COMMANDS) > 50


def test_every_key_of_the_canvas_is_told() -> None:
    source = (_ROOT / "widgets/frontend/src/controls/keys.ts").read_text("utf-8")
    table = source[source.index("const KEYS") : source.index("};", source.index("const KEYS"))]
    keys = re.findall(r'^  "?([^\s":]+)"?: \{', table, re.MULTILINE)
    assert len(keys) > 20
    told = (_ROOT / "docs" / "notebook.md").read_text("utf-8")
    shown = " ".join(re.findall(r"^\| ([^|]+) \|", told, re.MULTILINE))
    names = {"Escape": "Esc", "-": "−", "=": "+", "_": "−", "ContextMenu": "right click"}
    arrows = {"ArrowUp": "↑", "ArrowDown": "↓", "ArrowLeft": "←", "ArrowRight": "→"}
    words = set(re.split(r"[\s,`]+", shown))
    for key in keys:
        name = {**names, **arrows}.get(key, key)
        assert name in shown if " " in name else {name, name.upper()} & words, key
