"""Worker processes: started with pipes, ended with all that they started, closed once."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from netloupe.explorer.workers import close_worker, kill_worker, start_worker

_ECHO = """
import os, sys
print(os.environ.get("NETLOUPE_TEST", ""), *sys.argv[1:], sys.flags.utf8_mode, flush=True)
sys.stderr.write("lost")
sys.stdout.write(sys.stdin.read())
"""
_PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""


def write(folder: Path, text: str) -> Path:
    script = folder / "worker.py"
    script.write_text(text)
    return script


def test_a_worker_has_arguments_environment_and_pipes(tmp_path: Path) -> None:
    process = start_worker(write(tmp_path, _ECHO), 3, "b", environment={"NETLOUPE_TEST": "a"})
    said, errors = process.communicate(b"c", timeout=60)
    close_worker(process)
    assert said.split() == [b"a", b"3", b"b", b"1", b"c"]
    assert errors is None
    assert process.returncode == 0


def test_a_worker_keeps_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETLOUPE_TEST", "ours")
    process = start_worker(write(tmp_path, _ECHO))
    assert process.communicate(b"", timeout=60)[0].split()[0] == b"ours"
    close_worker(process)


@pytest.mark.skipif(os.name != "posix", reason="sessions are of POSIX")
def test_what_a_worker_started_ends_with_it(tmp_path: Path) -> None:
    process = start_worker(write(tmp_path, _PARENT))
    assert process.stdout is not None
    child = int(process.stdout.readline())
    assert os.getpgid(process.pid) != os.getpgid(os.getpid())
    kill_worker(process)
    close_worker(process)
    assert process.returncode < 0
    assert ends(child)


def ends(process_id: int) -> bool:
    """Return whether a process ends within a minute, or is only waited for by nobody."""
    if sys.platform != "linux":
        return True
    deadline = time.monotonic() + 60
    status = Path(f"/proc/{process_id}/stat")
    while time.monotonic() < deadline:
        try:
            state = status.read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_an_ended_worker_can_be_ended_and_closed_again(tmp_path: Path) -> None:
    process = start_worker(write(tmp_path, ""))
    for _ in range(2):
        process.wait(timeout=60)
        kill_worker(process)
        close_worker(process)
    assert process.returncode == 0
    assert process.stdin is not None
    assert process.stdin.closed
