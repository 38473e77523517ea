"""Overlays in Chromium: chosen in the legend, painted on the canvas, in notebooks and in files."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from matplotlib.image import imread

import netloupe
from netloupe.explorer.render.theme import load_theme

from .servers import ROOT
from .stand import CANVAS, Stand

pytestmark = pytest.mark.browser

CNN = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"
LEGEND, SELECT = ".nl-legend", ".nl-legend .nl-select"


@pytest.fixture
def stand(page: Any) -> Iterator[Stand]:
    page.set_viewport_size({"width": 1300, "height": 920})
    explorer = netloupe.explore(CNN, height=900, expand="none")
    yield Stand(page, explorer)
    explorer.close()


def count_pixels(page: Any, colour: str) -> int:
    """Return how many pixels of the canvas have a colour."""
    wanted = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    shot = page.locator(CANVAS).screenshot()
    pixels: Any = imread(io.BytesIO(shot), format="png")[:, :, :3]
    return int((abs(pixels - wanted).max(axis=2) < 0.01).sum())


def test_color_by_colours_the_canvas_and_its_legend_says_how(stand: Stand) -> None:
    fill = load_theme("light").tones["scale-6"].fill
    assert count_pixels(stand.page, fill) == 0
    assert stand.page.locator(LEGEND).is_hidden()
    stand.explorer.color_by("macs", "parameters")
    stand.settle()
    assert count_pixels(stand.page, fill) > 300
    legend = stand.page.locator(LEGEND)
    legend.wait_for()
    assert legend.locator("option").all_inner_texts() == ["None", "MACs", "parameters"]
    assert "share of the whole" in legend.inner_text()
    assert not legend.locator(".nl-legend-signs").evaluate("signs => signs.open")


def test_another_column_is_chosen_with_the_keyboard_and_none(stand: Stand) -> None:
    stand.explorer.color_by("macs", "parameters")
    stand.settle()
    select = stand.page.locator(SELECT)
    select.focus()
    stand.page.keyboard.press("ArrowDown")
    stand.settle()
    stand.page.locator(".nl-legend-words").filter(has_text="parameters;").wait_for()
    assert stand.explorer.overlay.name == "parameters"
    select.select_option("None")
    stand.settle()
    stand.page.locator(".nl-legend-words").first.wait_for(state="detached")
    assert stand.explorer.overlay is None
    assert count_pixels(stand.page, load_theme("light").tones["scale-6"].fill) < 100


def test_what_is_opened_is_coloured_too(stand: Stand) -> None:
    group = next(path for path in stand.call("paths") if path.endswith("/"))
    stand.explorer.color_by("parameters")
    stand.settle()
    before = dict(stand.explorer.canvas.coloured)
    stand.explorer.open(group)
    stand.settle()
    inside = stand.explorer.canvas.coloured.keys() - before.keys()
    assert any(path.startswith(group) for path in inside)


def test_a_file_offers_its_overlays_without_anything_behind_it(page: Any, tmp_path: Path) -> None:
    model = netloupe.load(CNN)
    numbers = {node.path: float(node.index) for node in model.graph.nodes[:40]}
    file = tmp_path / "m.html"
    model.to_html(file, color_by=["parameters", netloupe.overlay(model, numbers, name="mine")])
    page.set_viewport_size({"width": 1500, "height": 900})
    errors: list[Any] = []
    page.on("pageerror", lambda error: errors.append(error))
    page.route("http*://**", lambda route: route.abort())
    page.goto(file.as_uri())
    page.locator("[data-ready=true]").wait_for()
    tones = load_theme("light").tones
    assert page.locator(f"{SELECT} option").all_inner_texts() == ["None", "parameters", "mine"]
    page.locator(".nl-legend-words").filter(has_text="parameters;").wait_for()
    assert count_pixels(page, tones["scale-6"].fill) > 300
    page.locator(SELECT).select_option("mine")
    page.locator(".nl-legend-words").filter(has_text="mine; groups: largest inside").wait_for()
    hatched = count_pixels(page, tones["missing"].fill)  # boxes without a number
    page.locator(SELECT).select_option("None")
    page.locator(".nl-legend-words").first.wait_for(state="detached")
    assert count_pixels(page, tones["missing"].fill) < hatched / 4
    assert errors == []


def test_where_there_is_little_room_the_legend_is_folded(page: Any, tmp_path: Path) -> None:
    file = tmp_path / "m.html"
    netloupe.load(CNN).to_html(file, color_by="parameters")
    page.set_viewport_size({"width": 500, "height": 800})
    page.goto(file.as_uri())
    page.locator("[data-ready=true]").wait_for()
    page.locator(LEGEND).wait_for()
    assert page.locator(SELECT).is_hidden()
    assert page.locator(LEGEND).bounding_box()["height"] < 40
    page.get_by_role("button", name="Unfold the legend").click()
    page.locator(SELECT).wait_for()
