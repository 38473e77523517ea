"""A page that is seen before all of it has been read, and one that ends too early."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import netloupe
from tests.browser.shown_page import API, CANVAS, ShownPage
from tests.corpus import corpus_file

pytestmark = pytest.mark.browser

#: what nothing that is seen at first needs
LATER = 'data-block="search"'


class SlowServer(ThreadingHTTPServer):
    """Sends the beginning of a page, and the rest when it is told to."""

    def __init__(self, page: bytes) -> None:
        cut = page.index(LATER.encode())
        go_on = self.go_on = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(page[:cut])
                self.wfile.flush()
                go_on.wait(60)
                self.wfile.write(page[cut:])

            def log_message(self, format: str, *args: Any) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)


@pytest.fixture(params=["TB", "LR"])
def slow(request: Any) -> Iterator[SlowServer]:
    model = netloupe.load(corpus_file("exported/condloop.dynamo.onnx"))
    server = SlowServer(model.to_html(direction=request.param).encode())
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.go_on.set()
    server.shutdown()
    thread.join()
    server.server_close()


def test_it_is_seen_while_the_rest_is_read(page: Any, slow: SlowServer) -> None:
    page.goto(f"http://127.0.0.1:{slow.server_port}/", wait_until="commit")
    page.wait_for_selector(f'{CANVAS}[data-ready="true"]')
    assert page.evaluate("document.readyState") == "loading"
    place = page.evaluate(f"{API}.locate({API}.paths()[0])")
    page.mouse.click(place["x"], place["y"])
    page.wait_for_function(f"() => {API}.stats().lit !== null")
    assert page.locator(".nl-inspector").inner_text() == ""
    slow.go_on.set()
    page.wait_for_selector(".nl-inspector >> text=/./")
    page.wait_for_load_state()
    assert page.locator(f"{CANVAS} .nl-strip").inner_text() == ""


@pytest.mark.parametrize("place", [LATER, "<noscript>"])
def test_where_the_end_is_missing_the_picture_stays(page: Any, tmp_path: Path, place: str) -> None:
    file = tmp_path / "page.html"
    whole = netloupe.load(corpus_file("exported/condloop.dynamo.onnx")).to_html()
    file.write_text(whole[: whole.index(place)], "utf-8")
    shown = ShownPage(page, file.as_uri())
    strip = page.locator(f"{CANVAS} .nl-strip")
    strip.locator("text=/This file was cut short: a part of what it tells is missing/").wait_for()
    assert shown.paths()


def test_nothing_but_the_picture_is_read_before_it_is_seen(page: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(netloupe.load(corpus_file("exported/condloop.dynamo.onnx")).to_html())
    page.add_init_script(
        """
        window.unpacked = [];
        const Stream = DecompressionStream;
        window.DecompressionStream = class extends Stream {
          constructor(...given) {
            super(...given);
            const canvas = document.querySelector('[data-netloupe="canvas"]');
            window.unpacked.push(canvas?.dataset.ready === "true");
          }
        };
        """
    )
    page.goto(path.as_uri())
    page.wait_for_selector(f'{CANVAS}[data-ready="true"]')
    page.wait_for_function(
        "document.querySelector('.nl-inspector-part').textContent.includes('condloop')"
    )
    unpacked = page.evaluate("window.unpacked")
    assert unpacked.count(False) == 1  # the levels
    assert unpacked.count(True) >= 2  # descriptions: where they are, and those of the model
