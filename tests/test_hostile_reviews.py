"""Whatever a file holds, it can be checked, compared and audited; for reports see their own.

How long that takes is measured by ``tests/benchmarks/hostile_cases.py``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from netloupe.commands.cli import main
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.readers.load import load
from tests.cases import CASES
from tests.corpus import corpus_file


def _say(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main([*arguments])
    told = capsys.readouterr()
    return status, told.out, told.err


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_review_ends_without_a_traceback(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = corpus_file(name)
    part = tmp_path / f"part_{file.name}"
    data = file.read_bytes()
    part.write_bytes(data[: len(data) * 2 // 3])
    other = corpus_file(next(other for other in sorted(CASES) if other != name))
    try:
        load(file)
    except NetloupeError:
        opens = False
    else:
        opens = True
    runs = [("check", str(file), "--json"), ("check", str(part)), ("diff", str(file), str(file))]
    runs += [("diff", str(file), str(second)) for second in (part, other)]
    runs += [("diff", str(other), str(file), "--json"), ("text", str(file))]
    runs += [("audit", str(file)), ("audit", str(file), "--float", str(part), "--json")]
    for arguments in runs:
        status, out, err = _say(capsys, *arguments)
        assert status in (0, 2), (arguments, err)
        assert "internal error" not in err, (arguments, err)
        assert "Traceback" not in out + err
        if status == 2:
            assert err.count("\n") <= 2, err
        elif arguments[0] == "diff" and arguments[1] == arguments[2]:
            # of weights that cannot be read nobody knows it
            unread = "The structure is the same, " in out and "could not be read" in out
            assert "The models are identical." in out or unread, out
        if opens and str(part) not in arguments and str(other) not in arguments:
            assert status == 0, err
