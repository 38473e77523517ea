"""What an explorer does before its first frame, and what waits for that."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import ipywidgets
import pytest

import netloupe
from netloupe.explorer.layout import Window
from netloupe.explorer.session import checking, overview, reviewing
from netloupe.widgets import Explorer, explorer, shared_code
from netloupe.widgets.canvas import Canvas
from netloupe.widgets.shared_code import Code, find_code
from tests.layered import make_layers
from tests.recorder import Recorder
from tests.wire_reader import SceneReader

PATIENCE = 60.0

Explore = Callable[..., Explorer]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The states of the widgets that are opened, as the browser gets them."""
    states: list[dict[str, Any]] = []
    real = ipywidgets.Widget.open

    def note(widget: ipywidgets.Widget) -> None:
        if widget.comm is None:
            states.append(widget.get_state())
        real(widget)

    monkeypatch.setattr(ipywidgets.Widget, "open", note)
    return states


@pytest.fixture
def explore(monkeypatch: pytest.MonkeyPatch) -> Iterator[Explore]:
    """Explores as in a notebook with somebody at it, or where else a test says."""
    made: list[Explorer] = []

    def explore(around: str = "notebook", **view: Any) -> Explorer:
        monkeypatch.setattr(explorer, "find_cell_runner", lambda: around)
        made.append(netloupe.explore(make_layers(), **view))
        return made[-1]

    yield explore
    for one in made:
        one.close()


def count_scripts(states: list[dict[str, Any]]) -> int:
    """Return how many characters of scripts and style sheets there are in some states."""
    keys = ("_esm", "_css", "code", "style")
    found = [state.get(key) for state in states for key in keys]
    return sum(len(text) for text in found if isinstance(text, str))


def test_later_explorers_bring_no_script(
    explore: Explore, opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_code, "_CODES", {})
    for number in range(3):
        opened.clear()
        Recorder(explore()).begin()
        if number == 0:
            assert count_scripts(opened) > 200_000
        else:
            assert opened
            assert count_scripts(opened) < 8_000
            assert not any("code" in state for state in opened)


def test_widgets_refer_to_what_holds_their_code() -> None:
    first, second = Canvas(), Canvas()
    references = {widget.get_state()["_code"] for widget in (first, second)}
    assert references == {f"IPY_MODEL_{find_code('canvas.js').model_id}"}
    assert first._code_name == second._code_name
    # somebody closes every widget of the kernel
    find_code("canvas.js").close()
    third = Canvas()
    assert third._code is find_code("canvas.js")
    assert third._code.comm is not None
    assert third._code_name == first._code_name


def test_other_code_has_another_name() -> None:
    names = {Code(file).name for file in ("canvas.js", "review_panel.js", "description_text.js")}
    assert len(names) == 3
    assert Code("canvas.js").name in names


def test_a_page_that_does_not_find_the_code_is_given_it() -> None:
    canvas = Canvas()
    sent: list[Any] = []
    canvas.send = lambda content, buffers=None: sent.append(content)
    canvas._handle_custom_msg({"code": True}, [])
    assert [message["code"]["code"] for message in sent] == [find_code("canvas.js").code]


@pytest.mark.parametrize("around", ["notebook", "dashboard"])
def test_the_first_scene_travels_with_the_display(explore: Explore, around: str) -> None:
    explored = explore(around)
    shown = explored._requests.scene.result(timeout=PATIENCE)
    state = explored.canvas.get_state()["first"]  # what a page gets that comes now
    assert state["message"]["type"] == "scene"
    assert state["message"]["fit"] is True
    reader = SceneReader()
    reader.read(state["message"]["header"], state["buffers"])
    assert {box.item.path for box in shown.boxes if box.item.path} <= reader.paths()


@pytest.mark.parametrize("around", ["executor", "none"])
def test_no_scene_is_kept_where_no_kernel_will_be_there(explore: Explore, around: str) -> None:
    explored = explore(around)
    explored._requests.scene.result(timeout=PATIENCE)
    assert explored.canvas.first == {}


def test_what_python_shows_before_anybody_looks_is_the_first_scene(explore: Explore) -> None:
    explored = explore(expand="none")
    node = explored.model.graph.nodes[3].path
    explored.select(node)
    offered = explored.canvas.first
    reader = SceneReader()
    reader.read(offered["message"]["header"], offered["buffers"])
    assert node in reader.paths()
    assert offered["message"]["select"] == node


def test_once_it_is_painted_who_comes_asks_for_what_is_shown_then(explore: Explore) -> None:
    explored = explore()
    explored._requests.receive({"id": "1", "type": "painted"}, [])
    explored._requests.pool.submit(lambda: None).result(timeout=PATIENCE)
    assert explored.canvas.first == {}
    explored.open(next(item for item in explored._views.current.root.children if item.openable).key)
    assert explored.canvas.first == {}


def test_a_scene_that_could_not_be_made_is_asked_for(
    explore: Explore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise netloupe.LayoutError("there is no layout")

    monkeypatch.setattr(explorer.Session, "compose", fail)
    explored = explore()
    assert explored._requests.scene.exception(timeout=PATIENCE) is not None
    explored._requests.pool.submit(lambda: None).result(timeout=PATIENCE)
    assert explored.canvas.first == {}


def test_the_next_explorer_is_laid_out_for_the_window_of_the_last(
    explore: Explore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explorer, "_SEEN", {})
    for _ in range(2):
        explored = explore()
        recorder = Recorder(explored)
        explored._requests.receive({"id": "1", "type": "painted", "window": [3000, 2500]}, [])
        explored._requests.pool.submit(lambda: None).result(timeout=PATIENCE)
    assert [sent["type"] for sent in recorder.sent if sent["type"] == "scene"] == []
    assert explored._views.first.window == Window(3000, 2500)


def test_nothing_is_checked_or_described_before_the_first_frame(
    explore: Explore, opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[tuple[str, Any]] = []  # also by explorers of other tests that are still at work
    own: list[Any] = []
    done = threading.Event()
    check, describe = checking.check_in_parts, overview.describe_model

    def note_check(job: checking.CheckJob, *given: Any) -> Any:
        begun.append(("rules", job.model))
        found = check(job, *given)
        if job.model in own:
            done.set()
        return found

    def note_description(model: Any) -> Any:
        begun.append(("overview", model))
        return describe(model)

    monkeypatch.setattr(reviewing, "check_in_parts", note_check)
    for name in ("describe_model", "describe_contents", "describe_outline"):
        monkeypatch.setattr(overview, name, note_description)
    explored = explore()
    own.append(explored.model)
    recorder = Recorder(explored)
    explored._requests.scene.result(timeout=PATIENCE)
    recorder.ask(type="scene")  # even of a page that has found no scene
    names = [state.get("_anywidget_id", "").rpartition(".")[2] for state in opened]
    assert [name for name in names if name] == ["Canvas"]
    assert not [what for what, model in begun if model is explored.model]
    explored._requests.receive({"id": "1", "type": "painted"}, [])
    assert done.wait(PATIENCE)
    assert explored._details.overview.wait(PATIENCE)
    assert {what for what, model in begun if model is explored.model} == {"rules", "overview"}
    names = [state.get("_anywidget_id", "").rpartition(".")[2] for state in opened]
    assert {"ReviewPanel", "DescriptionText"} <= {*names}
