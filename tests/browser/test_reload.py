"""A model that is saved again while it is explored: the strip that says so, and Reload."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import netloupe
from tests.layered import make_layers_proto

from .stand import Stand

pytestmark = pytest.mark.browser


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "model.onnx").write_bytes(make_layers_proto(6).SerializeToString())
    return tmp_path / "model.onnx"


@pytest.fixture
def stand(page: Any, path: Path) -> Iterator[Stand]:
    explorer = netloupe.explore(path, expand="none")
    yield Stand(page, explorer)
    explorer.close()


def test_reload_keeps_selection_window_and_what_is_open(stand: Stand, path: Path) -> None:
    page, explorer = stand.page, stand.explorer
    explorer.open("main/layers.0/attn/")
    stand.settle()
    stand.press("+")
    target = explorer.model.find("Tanh")[0].path
    explorer.select(target)
    stand.settle()
    before = stand.stats["zoom"], stand.call("paths")
    where = stand.locate(target)

    proto = make_layers_proto(6)
    for node in proto.graph.node:
        node.doc_string = "saved again"
    path.write_bytes(proto.SerializeToString())
    strip = page.locator(".nl-offer-line")
    assert strip.count() == 0
    explorer.search("tanh")
    explorer.select(None)  # the user acts
    explorer.select(target)
    stand.settle()
    assert "model.onnx has changed since it was opened" in strip.inner_text()

    strip.get_by_role("button", name="Reload").click()
    stand.settle()
    assert strip.count() == 0
    assert explorer.selected.doc == "saved again"
    assert stand.selected == target
    assert (stand.stats["zoom"], stand.call("paths")) == before
    # the middle of the window stays where it is, half a strip higher or lower
    assert stand.locate(target) == pytest.approx(where, abs=20)


def test_the_offer_goes_away_with_its_cross_and_the_picture_stays(stand: Stand, path: Path) -> None:
    page = stand.page
    path.unlink()
    stand.explorer.select(stand.explorer.model.find("Tanh")[0].path)
    stand.settle()
    strip = page.locator(".nl-offer-line")
    strip.get_by_role("button", name="Reload").click()
    stand.settle()
    assert "no such file" in page.locator(".nl-error").inner_text()
    assert strip.count() == 1
    strip.get_by_role("button", name="Dismiss").click()
    assert strip.count() == 0
    assert stand.call("paths")
