"""``[tool.netloupe] operators``: operators of a project, for every command that opens models."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx import numpy_helper, parser

from netloupe import register_operators
from netloupe.commands.cli import main
from netloupe.widgets.page_process import run_render_process
from tests.operators.registered import only_shipped, write_toml

GRAPH = """<ir_version: 8, opset_import: ["": 17, "com.example": 1]>
g (float[b, 6] x) => (float[b, 5] z) { z = com.example.Linear (x, w) }"""
LINEAR = {
    "operands": "data weight",
    "results": "data",
    "family": "linear",
    "weight": "linear linear_transposed",
    "dims": "B K, N K -> B N",
    "macs": "B*N*K",
}
MACS = "30 · b MACs"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    model = parser.parse_model(GRAPH)
    model.graph.initializer.append(numpy_helper.from_array(np.ones((5, 6), np.float32), "w"))
    below = tmp_path / "models"
    below.mkdir()
    (below / "a.onnx").write_bytes(model.SerializeToString())
    (below / "b.onnx").write_bytes(model.SerializeToString())
    (tmp_path / "ops.toml").write_text(write_toml({"com.example": {"Linear": LINEAR}}))
    set_operators(tmp_path, '"ops.toml"')
    monkeypatch.chdir(below)  # the file's name is relative to that of pyproject.toml
    with only_shipped():
        yield tmp_path


def set_operators(folder: Path, value: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.netloupe]\noperators = {value}\n")


@pytest.mark.parametrize("value", ['"ops.toml"', '["ops.toml"]'])
def test_info_counts_them(folder: Path, capsys: pytest.CaptureFixture[str], value: str) -> None:
    set_operators(folder, value)
    assert main(["info", "a.onnx"]) == 0
    out, err = capsys.readouterr()
    assert MACS in out
    assert err == ""


def test_without_the_setting_nothing_is_known_of_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    set_operators(folder, "[]")
    assert main(["info", "a.onnx"]) == 0
    assert MACS not in capsys.readouterr().out


def test_processes_beside_know_them_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "a.onnx", "b.onnx", "--jobs", "2"]) == 0
    assert capsys.readouterr().out.count(MACS) == 2


def test_check_takes_them_for_known(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "a.onnx", "--json", "--fail-on", "warning"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["id"], finding["severity"]) == ("NL-P04", "note")
    set_operators(folder, "[]")
    with only_shipped():
        assert main(["check", "a.onnx", "--fail-on", "warning"]) == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["inspect", "a.onnx", "main/#0:Linear"], "weight"),
        (["diff", "a.onnx", "b.onnx"], ""),
        (["text", "a.onnx"], ""),
        (["audit", "a.onnx"], ""),
        (["render", "a.onnx", "-o", "-", "--format", "svg"], ">weight<"),
        (["report", "a.onnx", "-o", "report.md"], ""),
        (["notes", "a.onnx"], ""),
    ],
)
def test_every_command_goes_on_where_entries_are_wrong(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    wrong = {"Linear": LINEAR, "Wrong": {"family": "lineer"}, "Worse": {"macs": "N**2"}}
    (folder / "ops.toml").write_text(write_toml({"com.example": wrong}))
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert told in out
    lines = [line for line in err.splitlines() if "warning" in line]
    assert len(lines) == 2
    assert lines[0].startswith(f"netloupe: warning: {folder / 'ops.toml'}: com.example::Wrong: ")


def test_check_refuses_settings_that_are_wrong(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "ops.toml").write_text(write_toml({"com.example": {"A": {"family": "lineer"}}}))
    assert main(["check", "a.onnx"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"netloupe: error: {folder / 'ops.toml'}: com.example::A: family is ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.netloupe]\noperators = 3\n", "operators of [tool.netloupe] is not a list of texts"),
        ('[tool.netloupe]\noperators = [3, "a"]\n', "is not a list of texts or a text"),
        ('[tool.netloupe]\noperators = "gone.toml"\n', "gone.toml: cannot be read: No such file"),
        ('[tool.netloupe]\noperators = "models"\n', "models: cannot be read: it is no file"),
        ("[tool", "cannot be read"),
    ],
)
def test_broken_settings_are_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    (folder / "pyproject.toml").write_text(text)
    for command, status, kind in (("info", 0, "warning"), ("check", 2, "error")):
        assert main([command, "a.onnx"]) == status
        err = capsys.readouterr().err
        assert message in err
        assert err.startswith(f"netloupe: {kind}: ")
        assert err.count("\n") == 1


def test_settings_of_checks_are_no_matter_of_others(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in ("[tool.netloupe]\nselct = []\n", "[tool]\nnetloupe = 3\n", "[project]\n"):
        (folder / "pyproject.toml").write_text(text)
        assert main(["info", "a.onnx"]) == 0
        assert capsys.readouterr().err == ""


def test_what_opens_no_model_reads_no_settings(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "pyproject.toml").write_text("[tool")
    assert main(["completion", "bash"]) == 0
    assert main(["check", "--explain", "NL-G02"]) == 0
    assert capsys.readouterr().err == ""


def test_a_file_of_operators_is_not_written_over(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["render", "a.onnx", "-o", "../ops.toml", "--format", "svg"]
    assert main(words) == 2
    assert "ops.toml" in capsys.readouterr().err
    assert "com.example" in (folder / "ops.toml").read_text()


def test_a_variable_names_further_files(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "pyproject.toml").unlink()
    files = [folder / "gone.toml", folder / "ops.toml"]
    monkeypatch.setenv("NETLOUPE_OPERATORS", os.pathsep.join(map(str, files)))
    assert main(["info", "a.onnx"]) == 0
    out, err = capsys.readouterr()
    assert MACS in out
    assert f"{files[0]}: cannot be read" in err


def test_a_process_that_writes_a_page_knows_what_is_registered(folder: Path) -> None:
    (folder / "pyproject.toml").unlink()
    words = [str(folder / "models" / "a.onnx"), "-o", "-", "--format", "svg"]
    before = run_render_process(words, 60)
    register_operators(folder / "ops.toml")
    after = run_render_process(words, 60)
    assert before is not None
    assert after is not None
    assert b">weight<" not in before
    assert b">weight<" in after
