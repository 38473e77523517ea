"""Checks that run beside one another: what each says is told, and none is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.processes import started

_LIBRARY = Path(__file__).resolve().parent.parent / "tools" / "beside.sh"
_SECONDS = 120.0

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a script of Bash")


def _script(body: str) -> list[str]:
    return ["bash", "-c", f'set -euo pipefail\nsource "{_LIBRARY}"\n{body}']


def _run(body: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _script(body), capture_output=True, text=True, timeout=_SECONDS, cwd=folder, check=False
    )


def test_they_run_at_once_and_each_is_shown_together(tmp_path: Path) -> None:
    """Each waits for what the other does, so that they end only side by side."""
    wait = "until [ -e {0} ]; do sleep 0.05; done"
    result = _run(
        f"""
first() {{ echo first begins; touch a; {wait.format("b")}; echo first ends; }}
second() {{ echo second begins; {wait.format("a")}; echo second ends; touch b; }}
beside first second
echo after
""",
        tmp_path,
    )
    assert result.returncode == 0, result.stderr
    told = ["first begins", "first ends", "second begins", "second ends", "after"]
    assert result.stdout.splitlines() == told


@pytest.mark.parametrize("wrong", ["first", "second"])
def test_one_that_fails_fails_all_after_the_output_of_each(wrong: str, tmp_path: Path) -> None:
    result = _run(
        f"""
fail_in() {{ if [ "$1" = {wrong} ]; then echo "$1 is wrong"; (exit 3); echo "$1 goes on"; fi; }}
first() {{ fail_in first; echo first is right; }}
second() {{ fail_in second; echo second is right; }}
beside first second
echo after
""",
        tmp_path,
    )
    right = {"first": "second", "second": "first"}[wrong]
    assert result.returncode == 3
    assert sorted(result.stdout.splitlines()) == sorted([f"{wrong} is wrong", f"{right} is right"])
    assert f"{wrong} failed (3)" in result.stderr
    assert right not in result.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_runs_on_after_an_end_from_outside(number: int, tmp_path: Path) -> None:
    """The processes that the functions have started end as well."""
    body = """
first() { sleep 600 & echo $! > one; wait; }
second() { bash -c 'echo $$ > two; sleep 600; true'; }
beside first second
"""
    with started(_script(body), cwd=tmp_path, env=os.environ | {"TMPDIR": str(tmp_path)}) as script:
        names = [tmp_path / "one", tmp_path / "two"]
        _wait_until(lambda: all(name.exists() and name.read_text().strip() for name in names))
        script.send_signal(number)
        assert script.wait(_SECONDS) == 128 + number
    for name in names:
        process = int(name.read_text())
        _wait_until(lambda process=process: not _runs(process))  # type: ignore[misc]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


def _runs(process: int) -> bool:
    """Return whether a process is there; one that nobody has waited for yet has ended too."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def _wait_until(is_so) -> None:  # type: ignore[no-untyped-def]
    end = time.monotonic() + _SECONDS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)
