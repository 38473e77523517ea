"""Worker processes: started with pipes, ended with all that they started, closed once."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from netloupe.explorer.workers import (
    close_worker,
    explain_end,
    give_way,
    kill_worker,
    start_worker,
)

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
#: starts itself once more, and says how much that one gives way
_NICE = """
import os, sys
from pathlib import Path
if len(sys.argv) > 1:
    from netloupe.explorer.workers import close_worker, start_worker
    os.setpriority(os.PRIO_PROCESS, 0, int(sys.argv[2]))
    process = start_worker(Path(__file__))
    process.stdout.readline()
    print(os.getpriority(os.PRIO_PROCESS, process.pid))
    group = Path(f"/proc/{process.pid}/autogroup")
    print(group.read_text().split()[-1] if group.exists() else sys.argv[2])
    process.communicate()
    close_worker(process)
else:
    print("here", flush=True)
    sys.stdin.read()
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


def list_niceness() -> list[int]:
    """Return how far a process of ours can give way, more than we do: a little, and most of all."""
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    if ours >= 19:
        pytest.skip("these tests give way as far as there is")
    return [max(ours, 0) + 1, 19]


@pytest.mark.skipif(os.name != "posix", reason="priorities are of POSIX")
def test_a_worker_gives_way(tmp_path: Path) -> None:
    niceness = list_niceness()[0]
    process = start_worker(write(tmp_path, _PARENT))
    give_way(process, niceness)
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == niceness
    group = Path(f"/proc/{process.pid}/autogroup")
    if group.exists():  # Linux counts it first, where it groups processes by sessions
        assert group.read_text().endswith(f"nice {niceness}\n")
    kill_worker(process)
    close_worker(process)


@pytest.mark.skipif(os.name != "posix", reason="priorities are of POSIX")
def test_a_worker_of_who_gives_way_does_so_too(tmp_path: Path) -> None:
    path = os.pathsep.join(filter(None, sys.path))
    script = write(tmp_path, _NICE)
    for niceness in list_niceness():
        process = start_worker(script, "first", niceness, environment={"PYTHONPATH": path})
        said, _ = process.communicate(timeout=300)
        close_worker(process)
        assert said.split() == [b"%d" % niceness] * 2


@pytest.mark.parametrize(
    ("status", "how"), [(0, "has ended"), (3, "with status 3"), (-11, "by signal 11")]
)
def test_the_end_of_a_process_is_explained(status: int, how: str) -> None:
    assert explain_end(status).endswith(how)


@pytest.mark.skipif(os.name != "posix", reason="ends processes by signals")
def test_what_was_killed_may_have_had_too_little_memory() -> None:
    assert "memory" in explain_end(-9)
