"""What takes long is named by what was asked, until the work says what it does."""

from __future__ import annotations

import threading

import pytest

from netloupe.explorer.progress import step
from netloupe.explorer.session import busy as module
from netloupe.explorer.session.busy import Busy
from netloupe.explorer.session.requests import Requests


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("search", "Searching"),
        ("open", "Opening"),
        ("close", "Closing"),
        ("picture", "Drawing"),
        ("focus", "Laying out"),
        ("", "Laying out"),
    ],
)
def test_each_request_is_called_what_it_is(
    asked: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(module, "_EVERY_SECONDS", 0.001)
    said: list[str] = []
    first, second = threading.Event(), threading.Event()

    def report(_number: object, what: str, _share: float | None) -> None:
        said.append(what)
        (second if what == "Reading nodes" else first).set()

    with Busy(report).during("1", asked):
        assert first.wait(60)
        step("reading nodes")
        assert second.wait(60)
    assert said[0] == told
    assert said[-1] == "Reading nodes"


def test_what_is_named_can_be_asked() -> None:
    assert set(module._WORDS) <= set(Requests._handlers)
