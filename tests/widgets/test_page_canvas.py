"""Canvas and inspector in one widget, without a browser: what the inspector asks and is told."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import netloupe
from netloupe.widgets import Explorer
from netloupe.widgets.page_canvas import PageCanvas, PageInspector
from tests.browser.servers import ROOT

MODELS = ROOT / "demo_notebooks" / "models"
STEM = "main/stem/"


class Asked:
    """An explorer in marimo, as the inspector in its canvas sees it."""

    def __init__(self, file: Path) -> None:
        self.explorer: Explorer = netloupe.explore(file)
        self.sent: list[tuple[dict[str, Any], list[bytes]]] = []
        assert isinstance(self.explorer.canvas, PageCanvas)
        self.canvas = self.explorer.canvas
        self.canvas.send = lambda content, buffers=(): self.sent.append((content, [*buffers]))

    def say(self, **content: Any) -> None:
        self.canvas._receive(self.canvas, content, [])

    def ask(self, number: int, **question: Any) -> tuple[dict[str, Any], list[bytes]]:
        self.say(**question, id=number)
        return self.find(lambda content: content.get("answer", {}).get("id") == number)

    def find(self, wanted: Any) -> tuple[dict[str, Any], list[bytes]]:
        """Wait for a message."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            for content, buffers in [*self.sent]:
                if wanted(content):
                    return content.get("answer", content), buffers
            time.sleep(0.01)
        raise AssertionError(self.sent)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Asked]:
    monkeypatch.setitem(sys.modules, "marimo", SimpleNamespace(running_in_notebook=lambda: True))
    file = tmp_path / "model.onnx"
    shutil.copy(MODELS / "digits_cnn.onnx", file)
    asked = Asked(file)
    yield asked
    asked.explorer.close()


def test_it_is_what_marimo_shows(asked: Asked) -> None:
    assert asked.explorer._display_() is asked.canvas
    assert asked.explorer.children == (asked.canvas,)


def test_the_usual_widgets_are_shown_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for marimo in (None, SimpleNamespace(running_in_notebook=lambda: False)):
        monkeypatch.setitem(sys.modules, "marimo", marimo)
        explorer = netloupe.explore(MODELS / "digits_cnn.onnx")
        assert len(explorer.children) == 2
        assert not isinstance(explorer.canvas, PageCanvas)
        explorer.close()


def test_questions_are_answered(asked: Asked) -> None:
    assert "51 nodes" in asked.ask(1, describe="")[0]["html"]
    assert "stem" in asked.ask(2, describe=STEM)[0]["html"]
    assert "2" in asked.ask(3, describe=[STEM, "main/head/"])[0]["html"]
    assert "main/none" in asked.ask(4, describe="main/none")[0]["error"]
    html = asked.ask(5, describe="main/%stem.0.conv.weight")[0]["html"]
    assert 'data-weight="0"' in html
    answer, buffers = asked.ask(6, weight=0)
    assert answer == {"id": 6}
    assert len(buffers[0]) > 0
    assert "no weight 9" in asked.ask(7, weight=9)[0]["error"]


def test_what_is_no_question_is_not_answered(asked: Asked) -> None:
    sent = len(asked.sent)
    for content in ({}, {"describe": 3, "id": 1}, {"weight": "0", "id": 1}, {"follow": 7}):
        asked.say(**content)
    assert not any("answer" in content for content, _ in asked.sent[sent:])


def test_a_link_is_followed(asked: Asked) -> None:
    asked.say(follow=STEM)
    assert asked.explorer.selection == STEM
    # what no picture shows is only described
    asked.say(follow="main/%stem.0.conv.weight")
    assert asked.canvas.selection == "main/%stem.0.conv.weight"


def test_the_review_comes_and_goes_the_same_way(asked: Asked) -> None:
    asked.say(review={"ask": "review"})
    message, _ = asked.find(lambda content: content.get("review", {}).get("type") == "review")
    assert message["review"]["type"] == "review"


def test_where_more_is_known_the_inspector_asks_again(asked: Asked, tmp_path: Path) -> None:
    assert "51 nodes" in asked.ask(1, describe="")[0]["html"]
    shutil.copy(MODELS / "digits_refine.onnx", tmp_path / "model.onnx")
    asked.sent.clear()
    asked.explorer.reload()
    asked.find(lambda content: content.get("renew") is True)
    assert "51 nodes" not in asked.ask(2, describe="")[0]["html"]
    inspector = asked.explorer.inspector
    assert isinstance(inspector, PageInspector)
    asked.sent.clear()
    inspector.inform(())
    asked.find(lambda content: content.get("renew") is True)


def test_errors_are_shown_on_the_canvas(asked: Asked) -> None:
    inspector = asked.explorer.inspector
    assert isinstance(inspector, PageInspector)
    inspector.show_error("cannot be drawn")
    message, _ = asked.find(lambda content: content.get("type") == "error")
    assert message["message"] == "cannot be drawn"
