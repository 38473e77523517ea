"""The explorer that a server on loopback answers, in Chromium."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import netloupe
from netloupe.explorer.view import ViewOptions
from netloupe.live.server import LiveServer
from tests.browser.live_servers import live_servers
from tests.browser.servers import ROOT
from tests.browser.shown_page import API, CANVAS, ShownPage, wait_for_timers
from tests.corpus import corpus_file

pytestmark = pytest.mark.browser

DEMO = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"
STACK = "main/blocks/0-3/"


class Window(ShownPage):
    """A page of a running server."""

    def __init__(
        self, page: Any, server: LiveServer, stop: Callable[[], None], fragment: str = ""
    ) -> None:
        self.server = server
        self.stop = stop
        super().__init__(page, server.address + fragment)

    def deselect(self) -> None:
        """Click where nothing is."""
        box = self.page.locator(CANVAS).bounding_box()
        self.page.mouse.click(box["x"] + 12, box["y"] + box["height"] - 60)

    def expect(self, path: str) -> None:
        """Wait until a box is drawn."""
        self.page.wait_for_function(f"(path) => {API}.paths().includes(path)", arg=path)
        self.settle()

    def inspect(self, text: str) -> None:
        """Wait until the inspector says something."""
        self.page.wait_for_selector(f".nl-inspector >> text={text}")


@pytest.fixture
def serve(page: Any) -> Iterator[Callable[..., Window]]:
    with live_servers() as run:

        def start(file: Path = DEMO, **view: Any) -> Window:
            options = ViewOptions.parse({"wrap": False, **view})
            running = run(lambda: LiveServer(netloupe.load(file), options, "right"))
            return Window(page, running.server, running.stop)

        yield start


def test_groups_open_and_what_is_selected_is_described(serve: Callable[..., Window]) -> None:
    window = serve()
    window.inspect("digits_cnn.onnx")
    window.click("main/head/", times=2)
    window.expect("main/head/classify/")
    before = window.paths()
    window.click("main/head/classify/", times=2)
    window.page.wait_for_function(f"(count) => {API}.paths().length > count", arg=len(before))
    window.click("main/stem/")
    window.inspect("Sequential")
    window.page.locator(".nl-inspector-link", has_text="stem.1.conv.weight").click()
    window.page.wait_for_selector(".nl-inspector .nl-histogram")
    window.inspect("main/%stem.1.conv.weight")
    window.deselect()
    window.inspect("digits_cnn.onnx")


def test_it_can_all_that_a_notebook_can(serve: Callable[..., Window]) -> None:
    window = serve()
    page = window.page
    first = window.paths()
    page.locator(f'{CANVAS} button[title="Close all groups"]').click()
    page.wait_for_function(f"(count) => {API}.paths().length < count", arg=len(first))
    page.focus(CANVAS)
    page.keyboard.press("Control+z")
    page.wait_for_function(f"(count) => {API}.paths().length === count", arg=len(first))
    window.click(STACK)
    page.keyboard.press("/")
    page.keyboard.type("excite")
    # not the first hit of what was typed before
    page.locator('.nl-hit[title="main/blocks/0/excite/"]').click()
    window.expect("main/blocks/0/excite/")
    window.inspect("main/blocks/0/excite/")
    height = page.evaluate(f"{API}.bounds({API}.paths()[0]).y")
    page.locator(f'{CANVAS} button[title="Run downwards or to the right"]').click()
    page.wait_for_function(f"(y) => {API}.bounds({API}.paths()[0]).y !== y", arg=height)


def test_where_the_program_ends_it_is_said_and_the_picture_stays(
    serve: Callable[..., Window],
) -> None:
    window = serve()
    shown = window.paths()
    window.stop()
    window.page.wait_for_selector(f"{CANVAS} .nl-strip >> text=has ended")
    assert window.paths() == shown
    window.click(shown[0])
    window.inspect("has ended")


def test_a_file_that_has_changed_is_read_again(
    serve: Callable[..., Window], tmp_path: Path
) -> None:
    file = tmp_path / "model.onnx"
    shutil.copy(DEMO, file)
    window = serve(file)
    window.inspect("51 nodes")
    shutil.copy(DEMO.with_name("digits_refine.onnx"), file)
    window.click(window.paths()[0])
    window.page.locator(f"{CANVAS} .nl-strip button", has_text="eload").click()
    window.page.wait_for_function(f"(path) => !{API}.paths().includes(path)", arg=STACK)
    window.deselect()
    window.inspect("ONNX model, ")
    assert "51 nodes" not in window.page.inner_text(".nl-inspector")


def test_names_of_a_model_run_nothing(serve: Callable[..., Window]) -> None:
    window = serve(corpus_file("hostile/evil_names.onnx"))
    for path in window.paths()[:8]:
        window.click(path)
        window.settle()
    assert (
        window.page.evaluate("Object.keys(window).filter((key) => /pwn|evil|xss/i.test(key))") == []
    )
    assert window.page.locator("img, iframe, object, embed").count() == 0


def test_it_asks_nobody_else(serve: Callable[..., Window], page: Any) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    window = serve(theme="dark")
    window.inspect("digits_cnn.onnx")
    assert page.get_attribute("html", "data-theme") == "dark"
    own = f"127.0.0.1:{window.server.port}/"
    assert asked
    assert all(own in address for address in asked)


def wait_for_address(window: Window, *texts: str) -> str:
    """Wait until the address of the page has some texts in it; return what is behind the ``#``."""
    window.page.wait_for_function(
        "(texts) => texts.every((text) => location.hash.includes(text))", arg=list(texts)
    )
    found: str = window.page.evaluate("location.hash")
    return found


def test_an_address_brings_back_what_was_seen(serve: Callable[..., Window]) -> None:
    window = serve()
    page = window.page
    assert page.evaluate("location.hash") == ""
    window.click("main/head/", times=2)
    window.expect("main/head/classify/")
    window.click("main/head/classify/", times=2)
    window.expect("main/node_linear")
    height = page.evaluate(f"{API}.bounds('main/node_linear').y")
    page.locator(f'{CANVAS} button[title="Run downwards or to the right"]').click()
    page.wait_for_function(f"(y) => {API}.bounds('main/node_linear').y !== y", arg=height)
    wait_for_address(window, "direction=LR")
    window.click("main/node_linear")
    wait_for_address(window, "open=", "select=main%2Fnode_linear", "at=")
    wait_for_timers(page, 400)
    address = wait_for_address(window, "direction=LR")
    assert "right" not in address
    selected = page.get_attribute(CANVAS, "data-selected")
    paths = window.paths()
    bounds = page.evaluate(f"{API}.locate({API}.paths()[0])")
    page.reload()
    page.wait_for_selector(f'{CANVAS}[data-ready="true"]')
    page.wait_for_selector(f'{CANVAS}[data-selected="{selected}"]')
    window.settle()
    assert window.paths() == paths
    # the place is kept in whole pixels of the picture
    assert page.evaluate(f"{API}.locate({API}.paths()[0])") == pytest.approx(bounds, abs=2)
    assert page.evaluate("location.hash") == address
    # a link that only names an element leads to it
    mark = address.split("of=")[1][:8]
    page.evaluate(f"location.hash = 'v=1&of={mark}&select=main%2Fblocks%2F0%2Fexcite%2F'")
    window.expect("main/blocks/0/excite/")
    page.wait_for_selector(f'{CANVAS}[data-selected="main/blocks/0/excite/"]')
    window.inspect("main/blocks/0/excite/")


#: what stands behind the ``#``, and what is said of it; of the page's own model where MARK is
REFUSED = {
    "v=1&of=00000000&open=": "another file",
    "nonsense": "not one of this page's addresses",
    "v=1&of=MARK&open=" + "9" * 70_000: "too long",
    "v=1&of=MARK&open=9%3Amain": "what it says to be open is damaged",
    "v=1&of=MARK&open=0%3Anothing%2F&select=nowhere": "nothing of what it names",
    "v=1&of=MARK&open=&focus=nowhere&hops=2": "nowhere",
    "v=1&of=MARK&open=&focus=main&hops=0": "neighbourhood is damaged",
    "v=1&of=MARK&open=&graph=nowhere": "nowhere",
    "v=1&of=MARK&open=&at=1,2,x": "place of its window is damaged",
    "v=1&of=MARK&open=&direction=UP": "direction",
    "v=1&of=MARK&open=&details=little": "details",
}


def test_an_address_that_does_not_fit_is_refused_and_the_picture_stays(
    serve: Callable[..., Window],
) -> None:
    window = serve()
    page = window.page
    shown = window.paths()
    mark = window.server.models[0].mark
    for fragment, why in REFUSED.items():
        page.evaluate("(hash) => { location.hash = hash; }", fragment.replace("MARK", mark))
        said = page.locator(f"{CANVAS} .nl-strip .nl-error >> text={why}")
        said.wait_for()
        assert "The address of this page does not fit it" in said.inner_text()
        assert window.paths() == shown
    # the same where the page is opened with it; and another window knows nothing of it
    page.goto("about:blank")
    again = Window(page, window.server, window.stop, f"#v=1&of={mark}&open=&focus=nowhere&hops=2")
    page.wait_for_selector(f"{CANVAS} .nl-strip .nl-error >> text=nowhere")
    assert again.paths() == shown
    again.click(shown[0])
    wait_for_address(again, "select=")
