"""The runner of the tests: what fails is run once more alone, and said."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_RUNNER = Path(__file__).resolve().parent.parent / "tools" / "run_tests.py"
#: each process would load all plugins that are installed, of which only this one is needed
_ENVIRONMENT = os.environ | {
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTEST_PLUGINS": "xdist.plugin",
}


def _run(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_given.py").write_text(source)
    command = [sys.executable, str(_RUNNER), "-q", "-n", "2", "-p", "no:cacheprovider", "."]
    return subprocess.run(
        command, cwd=folder, env=_ENVIRONMENT, capture_output=True, text=True, check=False
    )


def test_what_passes_alone_is_named_and_does_not_fail(tmp_path: Path) -> None:
    source = """
from pathlib import Path
def test_steady(): pass
def test_first_time_fails():
    seen = Path("seen")
    if not seen.exists():
        seen.touch()
        raise AssertionError("busy")
"""
    result = _run(tmp_path, source)
    assert result.returncode == 0, result.stdout
    told = result.stdout.partition("Passed only when run alone")[2]
    assert "test_given.py::test_first_time_fails" in told
    assert "test_steady" not in told


def test_what_fails_twice_fails(tmp_path: Path) -> None:
    result = _run(tmp_path, "def test_wrong(): assert 1 == 2\ndef test_right(): pass\n")
    assert result.returncode == 1
    assert "Passed only when run alone" not in result.stdout
    assert "once more and alone (1)" in result.stdout


def test_fixtures_that_fail_at_the_end_count(tmp_path: Path) -> None:
    source = """
import pytest
@pytest.fixture
def held():
    yield
    raise AssertionError("not given back")
def test_it(held): pass
"""
    assert _run(tmp_path, source).returncode == 1


def test_many_failures_are_not_run_again(tmp_path: Path) -> None:
    source = """
import pytest
@pytest.mark.parametrize("number", range(9))
def test_wrong(number): assert False
"""
    result = _run(tmp_path, source)
    assert result.returncode == 1
    assert "9 tests failed; not run again" in result.stdout


def test_what_cannot_be_collected_fails_at_once(tmp_path: Path) -> None:
    result = _run(tmp_path, "import nothing_of_that_name\n")
    assert result.returncode != 0
    assert "once more" not in result.stdout


def test_modules_beside_the_runner_are_not_found_by_tests(tmp_path: Path) -> None:
    source = """
import sys
from pathlib import Path
def test_paths():
    assert not [path for path in sys.path if Path(path, "run_tests.py").exists()]
"""
    assert _run(tmp_path, source).returncode == 0
