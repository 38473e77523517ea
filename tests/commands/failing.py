"""Commands that must fail."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from netloupe.commands.cli import main


def fail(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """Run a command that must fail; return its only line."""
    words = [str(argument) for argument in arguments]
    if words[:1] == ["open"]:
        status, out, errors = run_open(words)
        # it says where the page is before the model is read
        assert re.fullmatch(r"(.+: http://127\.0\.0\.1:\d+/\S+\n.+\n)?", out)
    else:
        try:
            status = main(words)
        except SystemExit as ended:  # argparse's way to end
            status = ended.code  # type: ignore[assignment]
        printed = capsys.readouterr()
        errors = printed.err
        assert printed.out == ""
    assert status == 2
    assert errors.startswith("netloupe: error: ")
    assert errors.count("\n") == 1
    assert "Traceback" not in errors
    return errors


def run_open(words: list[str]) -> tuple[int, str, str]:
    """Run a command in a process of its own: browser tests may run an event loop in this one."""
    command = [sys.executable, "-m", "netloupe", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr
