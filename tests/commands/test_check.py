"""``netloupe check``: what it prints, its exit status, and the settings of a project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netloupe.commands.cli import main
from tests.checks.ruling import parse

_DEAD = "g (float[N] x) => (float[N] y) { a = Abs(x) y = Relu(x) }"
_FINE = "g (float[N] x) => (float[N] y) { y = Relu(x) }"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "dead.onnx").write_bytes(parse(_DEAD)().SerializeToString())
    (tmp_path / "fine.onnx").write_bytes(parse(_FINE)().SerializeToString())
    (tmp_path / "pyproject.toml").write_text("[tool.netloupe]\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "dead.onnx"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("dead.onnx: 1 warning (")
    assert "NL-G01 dead-node" in out
    assert main(["check", "fine.onnx"]) == 0
    assert "nothing found" in capsys.readouterr().out


def test_exit_status(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "dead.onnx", "--fail-on", "warning"]) == 1
    assert main(["check", "dead.onnx", "--fail-on", "error"]) == 0
    assert main(["check", "fine.onnx", "dead.onnx", "--fail-on", "warning"]) == 1
    assert main(["check", "dead.onnx", "gone.onnx", "--fail-on", "warning"]) == 2
    assert main(["check", "dead.onnx", "--fail-on", "warning", "--ignore", "NL-G"]) == 0


@pytest.mark.parametrize("words", [["NL-G", "NL-Q"], ["NL-Q", "NL-G"]])
def test_rules_that_are_named_by_options_given_again_add_up(folder: Path, words: list[str]) -> None:
    command = ["check", "dead.onnx", "--fail-on", "warning"]
    assert main([*command, "--ignore", words[0], "--ignore", words[1]]) == 0
    assert main([*command, "--select", words[0], "--select", words[1]]) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["dead.onnx", "--select", "NL-ZZ"], "no rule is called 'NL-ZZ'"),
        (["dead.onnx", "--target", "ort-99"], "the target 'ort-99' is not known"),
        (["dead.onnx", "--baseline", "gone.json"], "the baseline 'gone.json' cannot be used"),
        (["--explain", "nothing"], "no rule is called 'nothing'"),
        ([], "check needs a model"),
    ],
)
def test_mistakes_are_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["check", *words]) == 2
    err = capsys.readouterr().err
    assert err.startswith("netloupe: error: ")
    assert message in err
    assert err.count("\n") == 1


def test_json_and_json_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "dead.onnx", "--json"])
    assert json.loads(capsys.readouterr().out)["schema"] == 1
    main(["check", "dead.onnx", "fine.onnx", "--json"])
    lines = capsys.readouterr().out.splitlines()
    assert [len(json.loads(line)["findings"]) for line in lines] == [1, 0]


def test_sarif_of_several_is_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "dead.onnx", "fine.onnx", "gone.onnx", "--sarif"]) == 2
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uri"] == "dead.onnx"
    assert not run["invocations"][0]["executionSuccessful"]


def test_a_baseline_made_by_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "dead.onnx", "--json"])
    (folder / "known.json").write_text(capsys.readouterr().out)
    words = ["check", "dead.onnx", "--fail-on", "warning", "--baseline", "known.json"]
    assert main(words) == 0
    assert "1 known from the baseline" in capsys.readouterr().out


def test_rules_are_explained_without_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--explain", "unused-initializer"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("NL-G02 unused-initializer (warning): ")
    assert "Remedy: " in out
    assert main(["check", "--explain", "all"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 60


def test_settings_of_the_project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "pyproject.toml").write_text('[tool.netloupe]\nfail-on = "warning"\n')
    assert main(["check", "dead.onnx"]) == 1
    below = folder / "below"
    below.mkdir()
    (below / "pyproject.toml").write_text("[project]\n")
    monkeypatch.chdir(below)
    assert main(["check", "../dead.onnx"]) == 1
    assert main(["check", "../dead.onnx", "--fail-on", "error"]) == 0
    text = '[tool.netloupe]\nfail-on = "warning"\nignore = ["dead-node"]\n'
    (folder / "pyproject.toml").write_text(text)
    assert main(["check", "../dead.onnx"]) == 0
    assert main(["check", "../dead.onnx", "--ignore", "cycle"]) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.netloupe]\nselct = []\n", "has no setting 'selct'"),
        ('[tool.netloupe]\nselect = "NL-G"\n', "select of [tool.netloupe] is not a list"),
        ('[tool.netloupe]\nfail-on = "note"\n', "fail-on of [tool.netloupe] is 'note'"),
        ("[tool]\nnetloupe = 3\n", "tool.netloupe is no table"),
        ("[tool", "cannot be read"),
    ],
)
def test_broken_settings_are_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    (folder / "pyproject.toml").write_text(text)
    assert main(["check", "dead.onnx"]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert "pyproject.toml" in err
    assert err.count("\n") == 1
