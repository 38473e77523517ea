"""What a cell shows while a large model is opened."""

from __future__ import annotations

from typing import Any

import IPython.display
import pytest

import netloupe
from netloupe.explorer.steps import step
from netloupe.widgets import opening as module
from netloupe.widgets.opening import Opening
from tests.test_steps import make_model


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a cell of a notebook shows, where nothing is too short for a word."""
    found: list[Any] = []
    monkeypatch.setattr(IPython.display, "display", found.append)
    monkeypatch.setattr(module, "_in_notebook", lambda: True)
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(module, "_SECONDS_BETWEEN_CHANGES", 0.0)
    return found


def test_the_bar_says_what_is_done_and_is_gone_in_the_end(shown: list[Any]) -> None:
    with Opening("a<b>.onnx"):
        step("reading nodes")
        [box] = shown
        bar, text = box.children
        assert "a&lt;b&gt;.onnx: reading nodes" in text.value
        before = bar.value
        step("grouping nodes")
        step()
        assert "grouping nodes" in text.value
        assert 0 < before < bar.value < 1
        step("reading nodes")  # of another graph: the bar does not go back
        assert bar.value > before
    assert shown == [box]
    assert bar.comm is text.comm is box.comm is None


def test_the_bar_is_gone_after_an_interrupt(shown: list[Any]) -> None:
    def read() -> None:
        with Opening("m.onnx"):
            step("reading nodes")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read()
    assert shown[0].comm is None
    step("nobody listens any more")
    assert len(shown) == 1


def test_what_is_quick_shows_nothing(shown: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 60.0)
    with Opening("m.onnx"):
        step("reading nodes")
    assert shown == []


def test_explore_shows_it(shown: list[Any]) -> None:
    explorer = netloupe.explore(make_model())
    assert len(shown) == 1
    explorer.close()


def test_outside_of_a_notebook_nothing_is_shown(
    shown: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(IPython.display, "display", shown.append)
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.0)
    with Opening("m.onnx"):
        step("reading nodes")
    assert shown == []
