"""Many inputs in one box, in the explorer: selected together, listed when opened."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import netloupe
from netloupe.explorer.view.item import MOST_SELECTED
from tests.hostile_models import graph_inputs
from tests.widgets.test_explorer import Recorder

BOX = "main/%x0 … %x499"
VALUES = tuple(f"main/%x{number}" for number in range(500))


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    explorer = netloupe.explore(graph_inputs(500))
    recorder = Recorder(explorer)
    recorder.ask(type="scene")
    yield recorder
    explorer.close()


def test_the_box_is_sent_with_all_its_values(recorder: Recorder) -> None:
    assert BOX in recorder.paths
    assert set(VALUES) < recorder.paths


def test_opening_lists_them_and_closing_hides_them(recorder: Recorder) -> None:
    assert recorder.ask(type="toggle", path=BOX)["type"] == "scene"
    view = recorder.explorer._views.current
    assert [child.key for child in view.items[BOX].children] == list(VALUES)
    assert recorder.ask(type="toggle", path=BOX)["type"] == "scene"
    assert not recorder.is_open(BOX)


def test_selecting_the_box_selects_its_values(recorder: Recorder) -> None:
    explorer = recorder.explorer
    explorer.select(BOX)
    assert explorer.selected_paths == VALUES
    assert {element.name for element in explorer.selected_elements} == {
        f"x{number}" for number in range(500)
    }


def test_it_is_opened_by_any_of_its_values(recorder: Recorder) -> None:
    explorer = recorder.explorer
    explorer.open("x7")
    assert recorder.is_open(BOX)
    explorer.close(BOX)
    assert not recorder.is_open(BOX)


def test_very_many_are_selected_by_the_box_alone() -> None:
    count = MOST_SELECTED + 1
    explorer = netloupe.explore(graph_inputs(count))
    recorder = Recorder(explorer)
    recorder.ask(type="scene")
    box = f"main/%x0 … %x{count - 1}"
    assert "main/%x7" not in recorder.paths
    explorer.select(box)
    assert explorer.selected_paths == (box,)
    assert explorer.selected.name == "x0"
    answer = recorder.ask(type="reveal", path="main/%x7")
    assert answer["type"] != "error"
    explorer.close()
