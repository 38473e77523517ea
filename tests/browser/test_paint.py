"""Paint on the canvas, in Chromium."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pytest
from matplotlib.image import imread

import netloupe
from netloupe.explorer.render.theme import load_theme
from tests.onnx_text import load_text

from .servers import ROOT
from .shown_page import ShownPage
from .stand import CANVAS, Stand

pytestmark = pytest.mark.browser

CNN = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"


@pytest.fixture
def stand(page: Any) -> Iterator[Stand]:
    explorer = netloupe.explore(CNN, height=900, expand="none")
    yield Stand(page, explorer)
    explorer.close()


def count_pixels(stand: Stand | ShownPage, colour: str) -> int:
    """Return how many pixels of the canvas have a colour."""
    stand.settle()
    wanted = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    shot = stand.page.locator(CANVAS).screenshot()
    pixels: Any = imread(io.BytesIO(shot), format="png")[:, :, :3]
    return int((abs(pixels - wanted).max(axis=2) < 0.01).sum())


def test_boxes_are_painted_and_washed_off_again(stand: Stand) -> None:
    fill = load_theme("light").tones["scale-4"].fill
    group = next(path for path in stand.call("paths") if path.endswith("/"))
    assert count_pixels(stand, fill) == 0
    shown = len(stand.headers)
    stand.explorer.paint = {group: netloupe.Paint("scale-4", "40 %")}
    assert count_pixels(stand, fill) > 300
    assert len(stand.headers) == shown  # no scene and no face was sent again
    stand.explorer.paint = {}
    assert count_pixels(stand, fill) == 0


def test_what_a_function_has_painted_is_painted_in_each_open_call(page: Any) -> None:
    model = load_text(
        """
        <ir_version: 10, opset_import: ["": 21, "local": 1]>
        agraph (float[2] x) => (float[2] y) {
            [one] a = local.twice(x)
            [two] y = local.twice(a)
        }
        <domain: "local", opset_import: ["": 21]>
        twice (p) => (q) { [relu] q = Relu(p) }
        """
    )
    tone = load_theme("light").tones["scale-4"].fill
    explorer = netloupe.explore(model, height=900, expand="none")
    try:
        stand = Stand(page, explorer)
        explorer.paint = {"functions/local::twice/relu": netloupe.Paint("scale-4")}
        assert count_pixels(stand, tone) == 0
        explorer.open("main/one")
        one = count_pixels(stand, tone)
        assert one > 100
        explorer.open("main/two")
        assert count_pixels(stand, tone) > 1.5 * one
    finally:
        explorer.close()
