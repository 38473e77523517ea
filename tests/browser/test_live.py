"""The explorer that a server on loopback answers, in Chromium."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import netloupe
from netloupe.explorer.view import ViewOptions
from netloupe.live.server import LiveServer
from tests.browser.servers import ROOT
from tests.browser.shown_page import API, CANVAS, ShownPage
from tests.corpus import corpus_file

pytestmark = pytest.mark.browser

DEMO = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"
STACK = "main/blocks/0-3/"


class Window(ShownPage):
    """A page of a running server."""

    def __init__(self, page: Any, server: LiveServer, stop: Callable[[], None]) -> None:
        self.server = server
        self.stop = stop
        page.set_default_timeout(60_000)
        super().__init__(page, server.address)

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
    stops: list[Callable[[], None]] = []

    def start(file: Path = DEMO, **view: Any) -> Window:
        options = ViewOptions.parse({"wrap": False, **view})
        loop = asyncio.new_event_loop()
        begun = threading.Event()
        servers: list[LiveServer] = []

        async def work() -> None:
            servers.append(LiveServer(netloupe.load(file), options, "right"))
            servers[0].start()
            begun.set()

        def turn() -> None:
            asyncio.set_event_loop(loop)
            loop.create_task(work())  # noqa: RUF006 - it is run to its end
            loop.run_forever()

        thread = threading.Thread(target=turn)
        thread.start()
        assert begun.wait(60)

        def stop() -> None:
            if thread.is_alive():
                loop.call_soon_threadsafe(servers[0].stop)
                loop.call_soon_threadsafe(loop.stop)
                thread.join()

        stops.append(stop)
        return Window(page, servers[0], stop)

    yield start
    for stop in stops:
        stop()


def test_groups_open_and_what_is_selected_is_described(serve: Callable[..., Window]) -> None:
    window = serve()
    window.inspect("digits_cnn.onnx")
    before = set(window.paths())
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
