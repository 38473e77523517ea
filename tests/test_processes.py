"""Commands that tests start, where the tests themselves run in the background."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.processes import started

SECONDS = 60.0
COMMAND = [sys.executable, "-c", "import time; print('here', flush=True); time.sleep(600)"]


@pytest.fixture
def background() -> Iterator[None]:
    """Ignore Ctrl+C, as a shell lets what it starts with & do."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_command_hears_control_c(background: None) -> None:
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with started(COMMAND, **quiet) as process:
        assert process.stdout.readline() == b"here\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == -signal.SIGINT


def test_a_command_is_not_left_behind_by_a_test_that_fails(background: None) -> None:
    with pytest.raises(AssertionError), started(COMMAND, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b""
    assert process.returncode == -signal.SIGKILL
