"""Commands that must fail."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from netloupe.commands.cli import main


def fail(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """Run a command that must fail; return its only line."""
    try:
        status = main([str(argument) for argument in arguments])
    except SystemExit as ended:  # argparse's way to end
        status = ended.code  # type: ignore[assignment]
    printed = capsys.readouterr()
    assert status == 2
    # `netloupe open` says where the page is before the model is read
    said = r"(.+: http://127\.0\.0\.1:\d+/\S+\n.+\n)?" if arguments[0] == "open" else ""
    assert re.fullmatch(said, printed.out)
    assert printed.err.startswith("netloupe: error: ")
    assert printed.err.count("\n") == 1
    assert "Traceback" not in printed.err
    return printed.err
