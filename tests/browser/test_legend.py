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
    options = ViewOptions.parse({"expand": "none", "wrap": False})
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
