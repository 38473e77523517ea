"""What the inspector of a page shows while it waits for what is said of an element."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save_model

import netloupe
from netloupe.explorer.describe import Description
from netloupe.explorer.standalone import inspecting
from netloupe.explorer.standalone.page import make_page
from netloupe.explorer.view import ViewOptions
from netloupe.live.server import LiveServer
from tests.browser.live_servers import live_servers
from tests.browser.shown_page import ShownPage

pytestmark = pytest.mark.browser

SECONDS = 60.0
WEIGHT = ".nl-inspector-weight"
AWAITED = f"{WEIGHT} .nl-inspector-awaited"
HISTOGRAM = ".nl-inspector .nl-histogram"
#: notes what stands where a histogram belongs, each time that this changes
WATCH = """() => {
  window.seen = [];
  const look = () => {
    const title = document.querySelector(".nl-inspector-title")?.textContent ?? "";
    const weight = document.querySelector(".nl-inspector-weight");
    const shown = weight?.querySelector(".nl-inspector-awaited") ? "awaited"
      : weight?.querySelector(".nl-histogram") ? "histogram" : "nothing";
    if (weight && window.seen.at(-1) !== `${title} ${shown}`) window.seen.push(`${title} ${shown}`);
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
}"""


class Gate:
    """Holds the thread that reads a weight until it is let through."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_open = threading.Event()
        self.asked = threading.Semaphore(0)
        write = inspecting.write_weight

        def hold(*given: Any) -> bytes:
            self.asked.release()
            assert self.is_open.wait(SECONDS)
            return write(*given)

        monkeypatch.setattr(inspecting, "write_weight", hold)


def write_model(path: Path) -> Path:
    random = np.random.default_rng(4)
    arrays = {name: random.normal(size=(8, 8)).astype(np.float32) for name in ("one", "two")}
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8]) for name in "xy")
    nodes = [
        helper.make_node("MatMul", ["x", "one"], ["h"], "first"),
        helper.make_node("MatMul", ["h", "two"], ["y"], "second"),
    ]
    tensors = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "g", [x], [y], tensors)
    save_model(helper.make_model(graph), str(path))
    return path


def select(shown: ShownPage, node: str, weight: str) -> None:
    """Select a weight by the link to it in the description of its node."""
    shown.click(f"main/{node}")
    shown.page.locator(".nl-inspector-link", has_text=weight).click()
    shown.page.locator(".nl-inspector-kind", has_text="value").wait_for()


@pytest.fixture
def serve(page: Any, tmp_path: Path) -> Iterator[Callable[[], ShownPage]]:
    with live_servers() as run:

        def start() -> ShownPage:
            model = netloupe.load(write_model(tmp_path / "model.onnx"))
            running = run(lambda: LiveServer(model, ViewOptions.parse({}), "right"))
            return ShownPage(page, running.server.address)

        yield start


def test_a_live_page_says_that_a_weight_is_read(
    page: Any, serve: Callable[[], ShownPage], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = serve()
    gate = Gate(monkeypatch)
    for node, name in (("first", "one"), ("second", "two")):
        gate.is_open.clear()
        select(shown, node, name)
        page.locator(".nl-inspector-title", has_text=name).wait_for()
        page.locator(AWAITED, has_text="Reading its elements …").wait_for()
        assert page.locator(HISTOGRAM).count() == 0
        room = page.locator(AWAITED).bounding_box()
        gate.is_open.set()
        page.locator(HISTOGRAM).wait_for()
        assert page.locator(AWAITED).count() == 0
        picture = page.locator(HISTOGRAM).bounding_box()
        assert abs(picture["height"] - room["height"]) < 40  # what is below stays near its place


def test_what_is_still_shown_of_another_element_is_dimmed(
    page: Any, serve: Callable[[], ShownPage], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = serve()
    select(shown, "first", "one")
    page.locator(HISTOGRAM).wait_for()
    let = threading.Event()
    describe = inspecting.describe_selected

    def hold(*given: Any) -> Any:
        assert let.wait(SECONDS)
        return describe(*given)

    monkeypatch.setattr(inspecting, "describe_selected", hold)
    shown.click("main/second")
    page.locator(".nl-inspector-part.nl-inspector-stale[aria-busy=true]").wait_for()
    let.set()
    page.locator(".nl-inspector-header", has_text="MatMul").wait_for()
    assert page.locator(".nl-inspector-stale").count() == 0
    assert page.locator(".nl-inspector-part[aria-busy=false]").count() == 1


def test_a_weight_is_read_on_where_more_is_known_of_it(
    page: Any, serve: Callable[[], ShownPage], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The question again gives up the reading: it begins anew, and does not end in an error."""
    told: list[inspecting.Inspecting] = []
    show = inspecting.Inspecting.show

    def note(self: inspecting.Inspecting, description: Description) -> None:
        told.append(self)
        show(self, description)

    monkeypatch.setattr(inspecting.Inspecting, "show", note)
    shown = serve()
    gate = Gate(monkeypatch)
    select(shown, "first", "one")
    assert gate.asked.acquire(timeout=SECONDS)
    told[0].tell_more()
    end = time.monotonic() + SECONDS
    while told[0]._wanted_weight is not None:  # the page has not yet asked again
        assert time.monotonic() < end
        time.sleep(0.01)
    gate.is_open.set()
    page.locator(HISTOGRAM).wait_for()
    assert page.locator(".nl-inspector-error").count() == 0
    assert gate.asked.acquire(timeout=SECONDS)  # it was read once more

    # what was read stays, and is not read again
    page.locator(HISTOGRAM).evaluate("(element) => { element.dataset.kept = 'yes'; }")
    monkeypatch.setattr(inspecting, "describe_selected", _Growing(inspecting.describe_selected))
    told[0].tell_more()
    page.locator(".nl-inspector", has_text="known by now").wait_for()
    assert page.locator(f"{HISTOGRAM}[data-kept=yes]").count() == 1
    assert not gate.asked.acquire(blocking=False)


class _Growing:
    """Describes as before, and says one thing more."""

    def __init__(self, describe: Callable[..., Description]) -> None:
        self._describe = describe

    def __call__(self, *given: Any) -> Description:
        described = self._describe(*given)
        return replace(described, subtitle=f"{described.subtitle} known by now")


def test_a_page_in_a_file_keeps_room_for_a_histogram(page: Any, tmp_path: Path) -> None:
    model = netloupe.load(write_model(tmp_path / "model.onnx"))
    file = tmp_path / "page.html"
    file.write_bytes(make_page(model, ViewOptions.parse({}))[0])
    shown = ShownPage(page, file.as_uri())
    page.evaluate(WATCH)
    for node, name in (("first", "one"), ("second", "two")):
        select(shown, node, name)
        page.locator(HISTOGRAM).wait_for()
    assert page.evaluate("window.seen") == [
        *("one awaited", "one histogram", "two awaited", "two histogram"),
    ]
