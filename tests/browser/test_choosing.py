"""The pages of ``netloupe open`` around an explorer: choosing a model, waiting, and what fails."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import netloupe
from netloupe.explorer.errors import ModelFormatError
from netloupe.explorer.progress import step
from netloupe.live.intake import Intake
from netloupe.live.recent import RecentFiles
from netloupe.live.served import ReadyModel, ServedModel
from netloupe.live.server import LiveServer
from tests.browser.live_servers import live_servers
from tests.browser.servers import ROOT
from tests.browser.shown_page import CANVAS

pytestmark = pytest.mark.browser

DEMO = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"
READY = f'{CANVAS}[data-ready="true"]'
DROP = """([name, bytes, kind]) => {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(bytes)], name));
  for (const each of kind) {
    dispatchEvent(new DragEvent(each, { dataTransfer: data, bubbles: true, cancelable: true }));
  }
}"""


def make(path: Path, name: str, *, is_sent: bool = False) -> ServedModel:
    """Make a model to be shown of a path."""
    return ServedModel(name, lambda: ReadyModel(netloupe.load(path)))


@pytest.fixture
def serve(page: Any) -> Iterator[Callable[..., str]]:
    with live_servers() as run:

        def start(models: list[ServedModel], intake: Intake | None = None) -> str:
            return run(lambda: LiveServer(models, None, "right", intake=intake)).server.address

        yield start


def drop(page: Any, name: str, data: bytes, *kinds: str) -> None:
    """Drop a file on the page."""
    page.evaluate(DROP, [name, list(data), kinds or ("dragenter", "dragover", "drop")])


def test_a_model_is_chosen_dropped_and_found_again(
    page: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    recent = RecentFiles(tmp_path / "recent.json")
    recent.add(DEMO)
    address = serve([], Intake(make, takes_paths=True, recent=recent))
    page.goto(address)
    # what is no file is said, and the page stays
    page.fill("#nl-path", "/nowhere/<b>.onnx")
    page.click(".nl-path button")
    page.wait_for_selector(".nl-problem >> text='/nowhere/<b>.onnx' is no file")
    page.click(f".nl-recent >> text={DEMO.name}")
    page.wait_for_selector(READY)
    assert "model=0" in page.url
    # a file that is dropped on an explorer takes its place; what is none is said on its page
    drop(page, "held.onnx", b"x", "dragenter")
    page.wait_for_selector("text=Drop the model file to open it")
    drop(page, "held.onnx", b"x", "dragleave")
    page.wait_for_selector("text=Drop the model file to open it", state="hidden")
    shown = page.evaluate(f"() => document.querySelector('{CANVAS}').netloupe.paths()")
    drop(page, "empty.onnx", b"")
    page.wait_for_selector("text=empty.onnx: The file is empty.")
    assert page.evaluate(f"() => document.querySelector('{CANVAS}').netloupe.paths()") == shown
    drop(page, "dropped.onnx", DEMO.read_bytes())
    page.wait_for_url("**/?*model=1")
    page.wait_for_selector(READY)
    assert page.title() == "dropped.onnx"
    page.goto(address)
    assert page.locator("[data-model]").all_inner_texts() == [DEMO.name, "dropped.onnx"]
    drop(page, "no.onnx", b"\x08\x07" + b"\xff" * 64)
    page.wait_for_selector(".nl-page-error >> text=no.onnx")
    page.goto(address)
    page.wait_for_selector(".nl-state >> text=cannot be read")
    page.click(".nl-forget")
    page.wait_for_selector(".nl-recent", state="detached")
    assert recent.read() == []


def test_while_a_model_is_read_its_name_and_the_step_are_seen(
    page: Any, serve: Callable[..., str]
) -> None:
    go_on = threading.Event()

    def read() -> ReadyModel:
        while not go_on.wait(0.2):
            step("reading nodes", 0.25)
        return ReadyModel(netloupe.load(DEMO))

    page.goto(serve([ServedModel("<slow>.onnx", read)]))
    page.wait_for_selector(".nl-progress >> text=Opening <slow>.onnx: reading nodes … 25 %")
    assert page.locator(".nl-progress .nl-cancel").is_hidden()
    assert page.title() == "<slow>.onnx"
    go_on.set()
    page.wait_for_selector(READY)
    page.wait_for_selector(".nl-progress", state="hidden")


def test_why_a_model_cannot_be_shown_stands_on_its_page(
    page: Any, serve: Callable[..., str]
) -> None:
    def read() -> ReadyModel:
        raise ModelFormatError("<b>bad</b>.onnx: is no model.")

    page.goto(serve([ServedModel("bad.onnx", read)]))
    page.wait_for_selector(".nl-page-error >> text=<b>bad</b>.onnx: is no model.")


def test_what_is_too_long_to_ask_is_said_and_the_picture_stays(
    page: Any, serve: Callable[..., str]
) -> None:
    page.add_init_script(
        "const Real = WebSocket; window.WebSocket = class extends Real"
        " { constructor(...given) { super(...given); window.socket = this; } };"
    )
    page.goto(serve([make(DEMO, DEMO.name)]) + "#%E0%A4%A&select=nothing&" + "x" * 5_000)
    page.wait_for_selector(READY)
    shown = page.evaluate(f"() => document.querySelector('{CANVAS}').netloupe.paths()")
    page.evaluate("() => window.socket.send('x')")
    page.wait_for_selector(f"{CANVAS} .nl-strip >> text=not known here")
    page.evaluate("() => window.socket.send('x'.repeat(9 << 20))")
    page.wait_for_selector(f"{CANVAS} .nl-strip >> text=is too long")
    assert page.evaluate(f"() => document.querySelector('{CANVAS}').netloupe.paths()") == shown
