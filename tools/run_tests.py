"""Run the tests; what fails is run once more, alone, and what passes only then is told.

A test that fails beside others and passes alone depends on how busy the machine is. Such a test
does not refuse a change, and it is not hidden either: its name stands at the end of the output,
and it is to be mended. Arguments go to pytest.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

#: so many failures are not for reasons of timing, and none of them is run again
MOST_AGAIN = 8


class FailureRecorder:
    """Notes the tests that fail, in whichever process they run."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note a test one of whose steps has failed."""
        if report.failed and report.nodeid not in self.failed:
            self.failed.append(report.nodeid)


def run_tests(arguments: list[str]) -> int:
    """Run pytest, and what has failed once more.

    Parameters
    ----------
    arguments
        Arguments of pytest.

    Returns
    -------
    int
        The exit status: 0 where all tests have passed, if need be alone.
    """
    recorder = FailureRecorder()
    status = int(pytest.main(arguments, plugins=[recorder]))
    failed = recorder.failed
    if status != pytest.ExitCode.TESTS_FAILED or not failed:
        return status
    if len(failed) > MOST_AGAIN:
        print(f"\n{len(failed)} tests failed; not run again, since so many are no chance.")
        return status
    print(f"\n== tests that failed, once more and alone ({len(failed)})", flush=True)
    command = [sys.executable, "-m", "pytest", "-n", "0", *failed]
    again = subprocess.run(command, check=False).returncode
    if again:
        return again
    print("\nPassed only when run alone; each of these is to be mended:")
    print("\n".join(f"  {name}" for name in failed))
    return 0


if __name__ == "__main__":
    sys.path[0] = str(
        Path.cwd()
    )  # as for `python -m pytest`: in this folder there is another `site`
    sys.exit(run_tests(sys.argv[1:]))
