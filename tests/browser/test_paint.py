"""Paint on the canvas, in Chromium."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pytest
from matplotlib.image import imread

import netloupe
from netloupe.explorer.render.theme import load_theme

from .servers import ROOT
from .stand import CANVAS, Stand

pytestmark = pytest.mark.browser

CNN = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"


@pytest.fixture
def stand(page: Any) -> Iterator[Stand]:
    explorer = netloupe.explore(CNN, height=900, expand="none")
    yield Stand(page, explorer)
    explorer.close()


def count_pixels(stand: Stand, colour: str) -> int:
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
