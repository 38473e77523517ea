"""``netloupe report``: what it writes, and its exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from netloupe.commands.cli import main
from tests.notes.networks import make_chain, save_chain


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    save_chain(tmp_path / "new.onnx")
    save_chain(tmp_path / "old.onnx", make_chain(left_out=1))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file(folder: Path) -> None:
    assert main(["report", "new.onnx", "--against", "old.onnx", "-o", "r.html"]) == 0
    page = (folder / "r.html").read_text("utf-8")
    assert "compared with old.onnx" in page
    assert main(["report", "new.onnx", "--bind", "N=2", "--target", "ort-1.17", "-o", "r.md"]) == 0
    assert (folder / "r.md").read_text("utf-8").startswith("# Review of new.onnx")


def test_the_standard_output(folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["report", "new.onnx", "-o", "-", "--format", "md"]) == 0
    assert capsysbinary.readouterr().out.startswith(b"# Review of new.onnx")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["new.onnx", "-o", "-"], "needs a format"),
        (["new.onnx", "-o", "r.pdf"], "HTML or Markdown"),
        (["new.onnx", "-o", "no/r.html"], "does not exist"),
        (["gone.onnx", "-o", "r.html"], "there is no such file"),
        (["new.onnx", "--against", "gone.onnx", "-o", "r.html"], "there is no such file"),
        (["new.onnx", "--target", "ort-99", "-o", "r.html"], "is not known"),
        (["new.onnx", "--bind", "M=2", "-o", "r.html"], "M"),
    ],
)
def test_mistakes_are_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["report", *words]) == 2
    err = capsys.readouterr().err
    assert err.startswith("netloupe: error: ")
    assert message in err
    assert err.count("\n") == 1
    assert not (folder / "r.html").exists()
