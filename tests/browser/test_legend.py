"""The legend over the canvas: from the menu, closed again, always of what is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

import netloupe
from netloupe.explorer.layout import Composer
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.legend import list_legend
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.view import ViewOptions
from tests.corpus import light_file

from .stand import Stand

pytestmark = pytest.mark.browser


@pytest.fixture
def stand(page: Any) -> Iterator[Stand]:
    page.set_viewport_size({"width": 1000, "height": 660})
    explorer = netloupe.explore(light_file("light_squeezenet.onnx"), height=640, expand="none")
    yield Stand(page, explorer)
    explorer.close()


def choose(stand: Stand, label: str) -> None:
    """Choose an entry of the menu."""
    stand.page.get_by_role("button", name="More").click()
    stand.page.locator(".nl-menu-entry").filter(has_text=label).click()
    stand.settle()


def toggle(stand: Stand) -> None:
    choose(stand, "Legend")


def rows(stand: Stand) -> list[str]:
    return [row.inner_text() for row in stand.page.locator(".nl-legend-row").all()]


def test_the_legend_tells_the_share_that_the_menu_chooses(stand: Stand) -> None:
    toggle(stand)
    assert "share of the model's parameters" in rows(stand)
    choose(stand, "Bars: stored bytes")
    row = stand.page.locator(".nl-legend-row")
    row.filter(has_text="stored bytes").wait_for()
    assert "share of the model's parameters" not in rows(stand)
    choose(stand, "No bars")
    row.filter(has_text="share of").wait_for(state="detached")


def test_the_legend_says_what_that_of_a_picture_says(stand: Stand) -> None:
    legend = stand.page.locator(".nl-legend")
    assert legend.is_hidden()
    toggle(stand)
    options = ViewOptions.parse(
        # what a canvas has beside a picture: bars, and what opens groups
        {"expand": "none", "wrap": False, "share": "parameters", "controls": True}
    )
    picture = make_picture(load(light_file("light_squeezenet.onnx")), options, composer=Composer())
    said = [entry.text for entry in list_legend(picture.scene, picture.labels.draw)]
    assert rows(stand) == said
    assert len(said) > 4
    samples = stand.page.locator(".nl-legend-sample")
    assert samples.count() == len(said)
    for sample in samples.all():  # the browser can draw it
        assert sample.evaluate("each => each.complete && each.naturalWidth") == 34
    inner, outer = legend.bounding_box(), stand.page.locator(".nl-room").bounding_box()
    assert inner is not None
    assert outer is not None
    assert outer["x"] <= inner["x"]
    assert inner["y"] + inner["height"] <= outer["y"] + outer["height"]


def test_the_legend_follows_the_picture_and_the_theme(stand: Stand) -> None:
    toggle(stand)
    before, light = rows(stand), stand.page.locator(".nl-legend-sample").first
    assert "open group" not in before
    source = light.get_attribute("src")
    choose(stand, "Open all groups")
    assert "open group" in rows(stand)
    choose(stand, "Dark")
    stand.page.wait_for_function(
        """source => document.querySelector("[data-netloupe=canvas]").shadowRoot
             .querySelector(".nl-legend-sample").src !== source""",
        arg=source,
    )


def test_the_legend_is_put_away_by_its_button_the_menu_and_escape(stand: Stand) -> None:
    legend = stand.page.locator(".nl-legend")
    toggle(stand)
    stand.page.get_by_role("button", name="Close the legend").click()
    assert legend.is_hidden()
    assert stand.page.evaluate("document.activeElement.dataset.netloupe") == "canvas"
    toggle(stand)
    stand.page.keyboard.press("Escape")
    assert legend.is_hidden()
    toggle(stand)
    assert re.search("Legend", legend.inner_text())
    toggle(stand)
    assert legend.is_hidden()


BOXES = """() => {
  const { netloupe } = document.querySelector("[data-netloupe=canvas]");
  return netloupe.paths().map((path) => netloupe.bounds(path));
}"""


def place_of(stand: Stand) -> dict[str, float]:
    found: dict[str, float] | None = stand.page.locator(".nl-legend").bounding_box()
    assert found is not None
    return found


def measure_covered(stand: Stand, place: dict[str, float] | None = None) -> float:
    """Return how much of boxes is under the legend, or would be where it stood elsewhere."""
    at = place or place_of(stand)
    covered = 0.0
    for box in stand.page.evaluate(BOXES):
        across, down = (
            min(at[key] + at[size], box[key] + box[size]) - max(at[key], box[key])
            for key, size in (("x", "width"), ("y", "height"))
        )
        covered += max(across, 0) * max(down, 0)
    return covered


@pytest.fixture
def coloured(page: Any) -> Iterator[Stand]:
    """An explorer that was coloured before it is shown, as a cell does."""
    page.set_viewport_size({"width": 1000, "height": 660})
    explorer = netloupe.explore(light_file("light_squeezenet.onnx"), height=640, expand="none")
    nodes = explorer.model.graph.nodes
    explorer.color_by({nodes[0].path: 2.0, "fused away": 1.9}, name="latency", unit="ms")
    yield Stand(page, explorer)
    explorer.close()


def test_colours_that_were_there_first_have_a_legend(coloured: Stand) -> None:
    """It says what could not be placed, and covers no box where a corner is free."""
    coloured.page.locator(".nl-legend-row", has_text="not placed").wait_for()
    said = " ".join(rows(coloured))
    assert "1 not placed" in said
    assert "1 of 2 entries placed" in said
    assert measure_covered(coloured) == 0


def test_it_stands_well_also_where_the_window_gets_another_size(coloured: Stand) -> None:
    page = coloured.page
    page.locator(".nl-legend-row", has_text="not placed").wait_for()
    room = page.locator(".nl-room").bounding_box()
    page.mouse.move(room["x"] + room["width"] - 60, room["y"] + 200)
    page.mouse.down()  # boxes come to lie below it
    page.mouse.move(room["x"] + room["width"] - 60 - 0.36 * room["width"], room["y"] + 200, steps=4)
    page.mouse.up()
    coloured.settle()
    for width in (940, 900):
        page.set_viewport_size({"width": width, "height": 660})
        coloured.settle()
        room, own = page.locator(".nl-room").bounding_box(), place_of(coloured)
        corners = [
            {**own, "x": room["x"] + x, "y": room["y"] + y}
            for x in (10, room["width"] - own["width"] - 10)
            for y in (10, room["height"] - own["height"] - 10)
        ]
        least = min(measure_covered(coloured, corner) for corner in corners)
        assert measure_covered(coloured) <= 1.05 * least + 1, width


def test_in_a_narrow_place_it_is_folded(page: Any) -> None:
    page.set_viewport_size({"width": 560, "height": 660})
    explorer = netloupe.explore(light_file("light_squeezenet.onnx"), height=640, expand="none")
    explorer.color_by("macs")
    stand = Stand(page, explorer)
    legend = page.locator(".nl-legend")
    legend.wait_for()
    assert page.locator(".nl-legend-body").is_hidden()
    page.get_by_role("button", name="Unfold the legend").click()
    assert page.locator(".nl-legend-body").is_visible()
    assert place_of(stand)["height"] > 100
    explorer.close()


@pytest.mark.parametrize("width", [560, 1000])
def test_what_is_coloured_later_says_what_was_not_placed(page: Any, width: int) -> None:
    """However much room a notebook gives the picture."""
    page.set_viewport_size({"width": width, "height": 660})
    explorer = netloupe.explore(light_file("light_squeezenet.onnx"), height=640, expand="none")
    stand = Stand(page, explorer)
    node = explorer.model.graph.nodes[0].path
    explorer.color_by({node: 2.0, "fused away": 1.9}, name="latency", unit="ms")
    stand.settle()
    page.locator(".nl-legend").wait_for()
    unfold = page.get_by_role("button", name="Unfold the legend")
    if unfold.is_visible():
        unfold.click()
    said = " ".join(rows(stand))
    assert "1 not placed" in said
    assert "1 of 2 entries placed" in said
    explorer.close()


def test_the_legend_is_moved_by_hand_and_by_keys(coloured: Stand) -> None:
    page = coloured.page
    page.locator(".nl-legend-row", has_text="not placed").wait_for()
    before = place_of(coloured)
    page.mouse.move(before["x"] + 80, before["y"] + 14)
    page.mouse.down()
    page.mouse.move(before["x"] + 380, before["y"] - 146, steps=4)
    page.mouse.up()
    dragged = place_of(coloured)
    assert dragged["x"] == pytest.approx(before["x"] + 300, abs=1)
    assert dragged["y"] != before["y"]
    grip = page.get_by_role("button", name=re.compile("Move the legend"))
    grip.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    moved = place_of(coloured)
    assert moved["x"] == pytest.approx(dragged["x"] - 20, abs=1)
    for _ in range(60):  # never out of the picture
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowUp")
    room = page.locator(".nl-room").bounding_box()
    assert place_of(coloured)["x"] == pytest.approx(room["x"] + 10, abs=1)
    assert place_of(coloured)["y"] == pytest.approx(room["y"] + 10, abs=1)

    # folded it keeps its place, and what is under it can be reached
    page.get_by_role("button", name="Fold the legend").click()
    folded = place_of(coloured)
    assert folded["height"] < 40
    assert folded["x"] == pytest.approx(room["x"] + 10, abs=1)
    page.keyboard.press("Enter")
    assert place_of(coloured)["height"] > 100

    for _ in range(60):
        grip.press("ArrowRight")
    page.set_viewport_size({"width": 700, "height": 660})
    coloured.settle()
    room = page.locator(".nl-room").bounding_box()
    assert place_of(coloured)["x"] + place_of(coloured)["width"] <= room["x"] + room["width"]
