"""What a cell shows while a large model is opened."""

from __future__ import annotations

import re
from typing import Any

import IPython.display
import ipywidgets
import pytest

import netloupe
from netloupe.explorer.progress import step
from netloupe.widgets import opening as module
from netloupe.widgets.opening import Opening
from tests.test_progress import make_model


class Output:
    """What a cell shows: by its id, the HTML of each output, and all that it ever said."""

    def __init__(self) -> None:
        self.shown: dict[str, str] = {}
        self.said: list[str] = []

    def display(self, bundle: dict[str, str], *, raw: bool, display_id: str) -> None:
        assert raw
        assert display_id not in self.shown
        self.update(bundle, raw=raw, display_id=display_id, is_new=True)

    def update(
        self, bundle: dict[str, str], *, raw: bool, display_id: str, is_new: bool = False
    ) -> None:
        assert is_new or display_id in self.shown
        assert set(bundle) == {"text/html", "text/plain"}  # no widget, which would be closed later
        self.shown[display_id] = bundle["text/html"]
        self.said.append(bundle["text/html"])


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch) -> Output:
    """What a cell of a notebook shows, where nothing is too short for a word."""
    output = Output()
    monkeypatch.setattr(IPython.display, "display", output.display)
    monkeypatch.setattr(IPython.display, "update_display", output.update)
    monkeypatch.setattr(module, "_in_notebook", lambda: True)
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(module, "_SECONDS_BETWEEN_CHANGES", 0.0)
    return output


def read_share(html: str) -> float:
    """Return how far a bar is."""
    found = re.search(r'<progress max="1" value="([0-9.]+)"', html)
    assert found, html
    return float(found[1])


def test_the_bar_says_what_is_done_and_is_gone_in_the_end(output: Output) -> None:
    with Opening("a<b>.onnx"):
        step("reading nodes")
        [bar] = output.shown.values()
        assert "a&lt;b&gt;.onnx: reading nodes" in bar
        before = read_share(bar)
        step("grouping nodes")
        step()
        [bar] = output.shown.values()
        assert "grouping nodes" in bar
        assert 0 < before < read_share(bar) < 1
        step("reading nodes")  # of another graph: the bar does not go back
        assert read_share(output.said[-1]) > before
    assert [*output.shown.values()] == ['<div data-netloupe="opened" hidden></div>']


def test_the_bar_is_gone_after_an_interrupt(output: Output) -> None:
    def read() -> None:
        with Opening("m.onnx"):
            step("reading nodes")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read()
    assert "progress" not in "".join(output.shown.values())
    count = len(output.said)
    step("nobody listens any more")
    assert len(output.said) == count


def test_no_widget_is_opened_for_the_bar(output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that comes to the output after the widget is closed says that it is not found."""
    opened: list[Any] = []
    monkeypatch.setattr(ipywidgets.Widget, "open", lambda widget: opened.append(widget))
    with Opening("m.onnx"):
        step("reading nodes")
        step("grouping nodes")
    assert len(output.said) == 3
    assert opened == []


def test_what_is_quick_shows_nothing(output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 60.0)
    with Opening("m.onnx"):
        step("reading nodes")
    assert output.said == []


def test_explore_shows_it(output: Output) -> None:
    explorer = netloupe.explore(make_model())
    assert len(output.shown) == 1
    explorer.close()


def test_outside_of_a_notebook_nothing_is_shown(
    output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(IPython.display, "display", output.display)
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.0)
    with Opening("m.onnx"):
        step("reading nodes")
    assert output.said == []
