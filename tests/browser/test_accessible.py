"""Pages for those who do not see them, or use no pointer: judged by axe-core, light and dark."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import netloupe
from netloupe.live.intake import Intake
from netloupe.live.served import ReadyModel, ServedModel
from netloupe.live.server import LiveServer

from .live_servers import live_servers
from .servers import ROOT
from .shown_page import CANVAS

pytestmark = pytest.mark.browser

_AXE = ROOT / "widgets" / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
_MODELS = ROOT / "demo_notebooks" / "models"
_DIGITS = _MODELS / "digits_cnn.onnx"
_QUANTIZED = _MODELS / "digits_cnn.qdq.onnx"
_READY = f'{CANVAS}[data-ready="true"]'
#: what is wrong: the rule, what it wants, and where
_JUDGE = """async () => {
  const { violations } = await axe.run(document, { iframes: false });
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target }) => `${id}: ${help}: ${JSON.stringify(target)}`));
}"""
#: what has a name, and what it is: also inside of shadow roots
_HEADINGS = """() => [...document.querySelectorAll("h1, h2, h3, [role=heading]")]
  .map((one) => `${one.getAttribute("aria-level") ?? one.tagName.slice(1)} ${one.textContent}`)"""


@pytest.fixture(scope="module")
def axe() -> str:
    if not _AXE.exists():
        assert "CI" not in os.environ, "npm ci has not been run in widgets/frontend"
        pytest.skip("axe-core is not here: run npm ci in widgets/frontend")
    return _AXE.read_text("utf-8")


@pytest.fixture
def judge(page: Any, axe: str) -> Callable[[], list[str]]:
    """Returns what is wrong with the page in both themes, frames and all."""

    def judge_page() -> list[str]:
        found: list[str] = []
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            if page.locator(CANVAS).count():
                page.wait_for_selector(f'{CANVAS}[data-theme="{scheme}"]')
            for frame in page.frames:
                if not frame.evaluate("() => 'axe' in window"):
                    frame.evaluate(axe)
                found += [f"{scheme}: {told}" for told in frame.evaluate(_JUDGE)]
        return found

    return judge_page


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    def make(path: Path, name: str, *, is_sent: bool = False) -> ServedModel:
        return ServedModel(name, lambda: ReadyModel(netloupe.load(path)), files=[path])

    models = [make(_DIGITS, _DIGITS.name), make(tmp_path / "gone.onnx", "gone.onnx")]
    intake = Intake(make, takes_paths=True)
    with live_servers() as run:
        yield run(lambda: LiveServer(models, None, "right", intake=intake)).server.address


def test_the_judge_finds_what_is_wrong(page: Any, judge: Callable[[], list[str]]) -> None:
    page.set_content("<html lang=en><title>t</title><main><h1>h</h1><img src=''></main></html>")
    assert [told.split(":")[1] for told in judge()] == [" image-alt", " image-alt"]


def test_pages_of_a_program(page: Any, judge: Callable[[], list[str]], address: str) -> None:
    page.goto(address)
    assert judge() == []
    page.goto(f"{address}&model=1")
    page.wait_for_selector("a.nl-page-link")
    assert judge() == []
    # from the error one comes back to the page on which a model is chosen, and from there on
    page.click("a.nl-page-link")
    page.wait_for_selector("h2 >> text=Drop a model file here")
    page.goto(f"{address}&model=0")
    page.wait_for_selector(_READY)
    page.wait_for_selector(".nl-inspector-title")
    assert judge() == []
    page.get_by_role("link", name="Open another model").click()
    page.wait_for_selector("h2 >> text=Drop a model file here")


def test_the_explorer_in_a_file(page: Any, judge: Callable[[], list[str]], tmp_path: Path) -> None:
    model = netloupe.load(_QUANTIZED)
    model.to_html(tmp_path / "page.html", review=netloupe.check(model), color_by="macs")
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_selector(_READY)
    assert page.get_by_role("main").count() == 1
    assert page.get_by_role("region", name="Inspector and review").count() == 1
    headings = page.evaluate(_HEADINGS)
    assert [told for told in headings if told.startswith("1 ")] == [f"1 {_QUANTIZED.name}"]
    assert {told[0] for told in headings} == {"1", "2", "3"}
    page.keyboard.press("/")
    page.keyboard.type("weight")
    page.wait_for_selector(f"{CANVAS} [role=option]")
    assert judge() == []
    page.keyboard.press("Escape")
    path = next(tensor.path for tensor in model.graph.initializers if tensor.size > 100)
    page.goto(f"{page.url.split('#')[0]}")
    page.wait_for_selector(_READY)
    page.evaluate(
        "(path) => document.dispatchEvent(new CustomEvent('netloupe:show', { detail: path }))", path
    )
    picture = page.locator(".nl-histogram-picture")
    picture.wait_for()
    assert " most between " in picture.get_attribute("aria-label")
    assert judge() == []
    page.get_by_role("tab", name="Review").click()
    page.wait_for_selector('[data-netloupe="review"] .nl-review-head')
    assert judge() == []


def test_a_report(page: Any, judge: Callable[[], list[str]], tmp_path: Path) -> None:
    original = netloupe.load(_DIGITS)
    netloupe.report(
        netloupe.load(_QUANTIZED),
        tmp_path / "report.html",
        against=original,
        float_twin=original,
        color_by=["macs"],
        bind={"batch": 1},
    )
    page.goto((tmp_path / "report.html").as_uri())
    page.wait_for_selector(_READY)
    assert judge() == []


def test_two_panes(page: Any, judge: Callable[[], list[str]], tmp_path: Path) -> None:
    old, new = netloupe.load(_DIGITS), netloupe.load(_QUANTIZED)
    netloupe.diff(old, new).to_panes(tmp_path / "panes.html", weights="none")
    page.goto((tmp_path / "panes.html").as_uri())
    page.wait_for_selector("body[data-ready]")
    assert len(page.frames) == 3
    assert judge() == []
