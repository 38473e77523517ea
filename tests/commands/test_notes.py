"""``netloupe notes``: what it prints, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netloupe.commands.cli import main
from tests.notes.networks import make_chain, save_chain


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    save_chain(tmp_path / "m.onnx")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> int:
    return main(["notes", *words])


def test_list_add_edit_remove(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("m.onnx") == 0
    assert capsys.readouterr().out == "m.onnx: 0 notes\n"
    words = ("add", "main/layer.1/Relu", "layer.2/Add", "dead\x1b[31m?", "--tag", "a")
    assert run("m.onnx", *words, "--author", "ann") == 0
    out = capsys.readouterr().out
    note_id = out.split()[0]
    assert "ann  #a\n  main/layer.1/Relu\n  main/layer.2/Add\n    dead" in out
    assert "\x1b" not in out
    assert run("m.onnx", "edit", note_id, "--text", "alive", "--on", "main/layer.3/Relu") == 0
    assert run("--json", "m.onnx") == 0
    (note,) = json.loads(capsys.readouterr().out.partition("{")[2].join(["{", ""]))["notes"]
    assert note["text"] == "alive"
    assert [each["path"] for each in note["elements"]] == ["main/layer.3/Relu"]
    assert run("m.onnx", "remove", note_id) == 0
    assert capsys.readouterr().out == f"removed {note['id']}\n"
    assert run("m.onnx") == 0
    assert capsys.readouterr().out == "m.onnx: 0 notes\n"


def test_json_behind_the_action(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("m.onnx", "add", "main/layer.1/Relu", "x", "--json") == 0
    assert json.loads(capsys.readouterr().out)["text"] == "x"


def test_another_file_and_the_standard_input(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("m.onnx", "--file", "elsewhere.jsonl", "add", "main/layer.1/Relu", "x") == 0
    assert not Path("m.onnx.notes.jsonl").exists()
    assert "x" in Path("elsewhere.jsonl").read_text()
    assert run("m.onnx", "merge", "elsewhere.jsonl") == 0
    assert "1 new event; 1 note now" in capsys.readouterr().out


def test_uncertain_notes_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("m.onnx", "add", "main/layer.1/MatMul", "here") == 0
    assert run("m.onnx", "add", "main/layer.2/MatMul", "there") == 0
    save_chain(folder / "m.onnx", make_chain(names="a/{0}/{1}", left_out=1))
    capsys.readouterr()
    assert run("m.onnx") == 0
    out = capsys.readouterr().out
    assert "main/layer.1/MatMul  uncertain (several are like it): perhaps main/a/" in out
    assert "main/a/2/MatMul  moved: was main/layer.2/MatMul (its weights are there)" in out


def test_carry(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("m.onnx", "add", "main/layer.1/MatMul", "here") == 0
    save_chain(folder / "new.onnx", make_chain(names="a/{0}/{1}"))
    capsys.readouterr()
    assert run("new.onnx", "carry", "m.onnx") == 0
    assert "1 note taken over; 0 of all 1 need a look" in capsys.readouterr().out


def test_foreign_lines_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.onnx.notes.jsonl").write_text("<<<<<<< ours\n")
    assert run("m.onnx") == 0
    assert "line 1: left as it is, no JSON" in capsys.readouterr().out.replace("\n  ", " ")
    assert run("m.onnx", "add", "main/layer.1/MatMul", "here") == 0
    assert "netloupe: note: " in capsys.readouterr().err
    assert Path("m.onnx.notes.jsonl").read_text().startswith("<<<<<<< ours\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["m.onnx", "add", "main/nothing", "x"], "there is no"),
        (["m.onnx", "add", "main/layer.1/Relu", " "], "text is empty"),
        (["m.onnx", "remove", "ffff"], "no note with the id 'ffff'"),
        (["m.onnx", "merge", "gone"], "there is no such file"),
        (["m.onnx", "carry", "gone.onnx"], "there is no such file"),
        (["m.onnx", "accept", "NL-G01", "x"], "NL-G01 finds nothing to be accepted"),
        (["m.onnx", "accept", "NL-ZZ", "x"], "no rule is called"),
        (["m.onnx", "--file", "no/such/folder", "add", "main/x", "x"], "does not exist"),
        (["gone.onnx"], "there is no such file"),
    ],
)
def test_mistakes_are_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert run(*words) == 2
    err = capsys.readouterr().err
    assert err.startswith("netloupe: error: ")
    assert message in err
    assert err.count("\n") == 1
