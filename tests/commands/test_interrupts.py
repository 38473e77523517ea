"""Ctrl+C ends a command also where Python loses what it raises."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from netloupe.commands.interrupts import check_interrupt, heed_interrupts, was_interrupted
from netloupe.commands.running import INTERRUPTED, guard, run_each, tell_each
from netloupe.explorer.errors import NetloupeError

_NAMES = ["a", "b", "c"]


@pytest.fixture(autouse=True)
def _heeding() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    heed_interrupts()
    yield
    signal.signal(signal.SIGINT, before)
    heed_interrupts()


def press() -> None:
    """Press Ctrl+C; what that raises comes in this function."""
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1_000):  # until Python has seen the signal
        pass


class Losing:
    """Its end is where the exception comes, of which Python then only writes a line."""

    def __del__(self) -> None:
        press()


def lose() -> None:
    given = Losing()
    del given


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_many_models_end_where_it_was_lost() -> None:
    told: list[str] = []

    def tell(value: str) -> int:
        told.append(value)
        lose()
        return 0

    status = guard(lambda: tell_each(_NAMES, str.upper, tell, lambda name, why: None))
    assert (status, told) == (INTERRUPTED, ["A"])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_one_model_after_the_other_ends_where_it_was_lost() -> None:
    begun: list[str] = []

    def run(name: str) -> int:
        begun.append(name)
        lose()
        return 2

    assert (run_each(_NAMES, run), begun) == (INTERRUPTED, ["a"])


def test_what_goes_wrong_on_its_way_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    def run() -> int:
        try:
            press()
        finally:
            raise NetloupeError("this follows from the interrupt")

    assert guard(run) == INTERRUPTED
    assert capsys.readouterr().err == ""


def test_without_it_errors_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    def run() -> int:
        raise NetloupeError("this is wrong")

    assert guard(run) == 2
    assert "this is wrong" in capsys.readouterr().err
    assert not was_interrupted()
    check_interrupt()


def test_a_signal_that_is_somebody_elses_stays_so() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    heed_interrupts()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
