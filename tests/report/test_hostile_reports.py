"""Whatever opens can be reported on and noted: no traceback, nothing lost.

How long that takes is measured by ``tests/benchmarks/hostile_cases.py``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import netloupe
from netloupe.commands.cli import main
from netloupe.explorer.notes.anchor import AnchorMaker
from netloupe.explorer.notes.clues import ClueIndex
from netloupe.explorer.notes.locate import Locator
from tests.cases import CASES
from tests.corpus import corpus_file


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_report_and_notes(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = corpus_file(name)
    words = ["report", str(file), "--against", str(file), "-o", str(tmp_path / "r.md")]
    status = main(words)
    err = capsys.readouterr().err
    assert status in (0, 2), err
    assert "internal error" not in err
    assert "Traceback" not in err
    try:
        model = netloupe.load(file)
    except netloupe.NetloupeError:
        assert status == 2
        assert err.count("\n") <= 2, err
        return
    assert status == 0, err
    text = (tmp_path / "r.md").read_text("utf-8")
    assert "\x1b" not in text
    model.notes.open(tmp_path / "n.jsonl")
    paths = [path for path, _ in zip(model, range(40), strict=False) if len(path) < 4_000]
    for path in paths[:: max(1, len(paths) // 4)]:
        model.notes.add(path, f"on {path[:200]}")
    again = netloupe.load(file)
    again.notes.open(tmp_path / "n.jsonl")
    assert {note.state for note in again.notes} <= {"exact"}
    assert again.notes.notices == ()
    locator, maker = Locator(ClueIndex(again)), AnchorMaker(ClueIndex(model))
    for path in paths[:4]:  # as if the model had changed elsewhere
        assert locator.locate({**maker.make(path), "structure": "other"}).state != "moved"
