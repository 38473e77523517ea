"""Completion in fish, where it is installed; tests/commands/test_streams.py has that in bash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_MODEL = Path(__file__).resolve().parents[2] / "demo_notebooks" / "models" / "digits_cnn.onnx"
_LINES = ("netloupe ren", "netloupe check --fail", f"netloupe inspect {_MODEL} blocks.1.first.")


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes_commands_options_and_names(tmp_path: Path) -> None:
    command = tmp_path / "netloupe"
    command.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m netloupe \"$@\"\n")
    command.chmod(0o755)
    asked = "; echo ---; ".join(f"complete -C '{line}'" for line in _LINES)
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"netloupe completion fish | source; {asked}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={
            **os.environ,
            "HOME": str(tmp_path),
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "PYTHONPATH": ":".join(filter(None, sys.path)),
        },
        check=True,
    )
    commands, options, names = done.stdout.split("---\n")
    assert commands.startswith("render\t")
    assert options.startswith("--fail-on\t")
    assert names.split() == [f"blocks.1.first.conv.{what}" for what in ("bias", "weight")]
