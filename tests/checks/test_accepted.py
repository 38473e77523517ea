"""Findings that notes accept: marked, passed over by --fail-on, and told in SARIF."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netloupe.commands.cli import main
from netloupe.explorer.checks import Finding, check
from netloupe.explorer.describe.findings import format_findings
from netloupe.explorer.describe.sarif import encode_sarif
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from tests.checks.ruling import parse

_DEAD = "g (float[N] x) => (float[N] y) { a = Abs(x) y = Relu(x) }"
_MORE = "g (float[N] x) => (float[N] y) { a = Abs(x) b = Abs(x) y = Relu(x) }"
_OTHER = "g (float[N] x) => (float[N] y) { n = Neg(x) a = Exp(x) y = Relu(n) }"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.netloupe]\n")
    return tmp_path / "dead.onnx"


def save(file: Path, text: str) -> Model:
    file.write_bytes(parse(text)().SerializeToString())
    return load(file)


def find_dead(model: Model, *, with_notes: bool = True) -> Finding:
    (found,) = check(model, select=["NL-G01"], with_notes=with_notes)
    return found


def test_a_note_accepts_a_finding(file: Path) -> None:
    model = save(file, _DEAD)
    finding = find_dead(model)
    assert not finding.is_accepted
    note = model.notes.accept(finding, "kept for\nthe debugger", author="ann", tags=["ok"])
    assert note.accepts is not None
    assert note.accepts.rule == "NL-G01"
    accepted = find_dead(load(file))
    assert (accepted.suppressed, accepted.is_accepted, accepted.accepted_by) == (True, True, "ann")
    assert accepted.justification == "kept for\nthe debugger"
    assert not check(model, select=["NL-G01"]).reaches("note")
    assert not find_dead(model, with_notes=False).suppressed
    model.notes.remove(note)
    assert not find_dead(model).suppressed


def test_it_needs_a_justification(file: Path) -> None:
    model = save(file, _DEAD)
    for text in ("", " \n"):
        with pytest.raises(ValueError, match="needs a justification"):
            model.notes.accept(find_dead(model), text)


def test_it_is_accepted_no_more_at_more_places(file: Path) -> None:
    model = save(file, _DEAD)
    model.notes.accept(find_dead(model), "well so")
    found = check(save(file, _MORE), select=["NL-G01"])
    assert [each.suppressed for each in found] == [False]
    assert "it was at 1 and is at 2 places now" in found.notices[0]


def test_nor_at_another_place(file: Path) -> None:
    """``#0:Abs`` was accepted; ``#1:Exp`` has the same finding and was not looked at."""
    model = save(file, _DEAD)
    model.notes.accept(find_dead(model), "well so")
    other = save(file, _OTHER)
    assert not find_dead(other).suppressed


def test_broken_notes_accept_nothing_and_are_told(file: Path) -> None:
    model = save(file, _DEAD)
    model.notes.accept(find_dead(model), "well so")
    sidecar = model.notes.file
    assert sidecar is not None
    sidecar.unlink()
    sidecar.mkdir()
    found = check(load(file), select=["NL-G01"])
    assert [each.suppressed for each in found] == [False]
    assert found.notices[0].startswith("No finding counts as accepted: ")
    assert str(sidecar) in found.notices[0]


def test_text_and_sarif(file: Path) -> None:
    model = save(file, _DEAD)
    model.notes.accept(find_dead(model), "kept for\x1b[31m the debugger", author="ann")
    found = check(model, select=["NL-G01"])
    text = format_findings(found)
    assert "1 accepted by notes (1 rule)" in text
    assert "accepted by notes\n  warning NL-G01 dead-node: main/#0:Abs\n    ann: kept for" in text
    assert "\x1b" not in text
    (run,) = encode_sarif([found], "1")["runs"]
    (suppression,) = run["results"][0]["suppressions"]
    assert suppression["kind"] == "external"
    assert suppression["status"] == "accepted"
    assert suppression["justification"].startswith("kept for")
    assert suppression["justification"].endswith("(ann)")
    assert run["invocations"][0]["executionSuccessful"]


def test_what_is_odd_about_notes_is_in_sarif(file: Path) -> None:
    model = save(file, _DEAD)
    model.notes.accept(find_dead(model), "well so")
    found = check(save(file, _MORE), select=["NL-G01"])
    (run,) = encode_sarif([found], "1")["runs"]
    (told,) = run["invocations"][0]["toolExecutionNotifications"]
    assert told["level"] == "note"
    assert "not accepted any more" in told["message"]["text"]


def test_on_the_command_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(file, _DEAD)
    words = ["check", file.name, "--fail-on", "warning"]
    assert main(words) == 1
    assert main(["notes", file.name, "accept", "NL-G01", "well so", "--author", "ann"]) == 0
    capsys.readouterr()
    assert main(words) == 0
    assert main([*words, "--no-notes"]) == 1
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (finding,) = (each for each in told["findings"] if each["id"] == "NL-G01")
    assert (finding["justification"], finding["accepted_by"]) == ("well so", "ann")
