"""The search box in Chromium: what its rows say, and that a hit is seen beside the list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

import netloupe

from .stand import Stand

pytestmark = pytest.mark.browser

LAYERS = 4


def make_model() -> onnx.ModelProto:
    """Return layers whose names are too long for the list."""
    nodes, last = [], "x"
    for layer in range(LAYERS):
        for scope in ("attention/self/query/projection", "attention/output/dense/projection"):
            for op in ("MatMul", "Add", "Tanh"):
                name = f"/a_rather_long_name_of_a_model/encoder/layer.{layer}/{scope}/{op}"
                inputs = [last] if op == "Tanh" else [last, "w"]
                nodes.append(helper.make_node(op, inputs, [name + "_0"], name=name))
                last = name + "_0"
    value = helper.make_tensor_value_info
    return helper.make_model(
        helper.make_graph(
            nodes,
            "deep",
            [value("x", TensorProto.FLOAT, [4, 4])],
            [value(last, TensorProto.FLOAT, [4, 4])],
            [helper.make_tensor("w", TensorProto.FLOAT, [4, 4], [0.5] * 16)],
        )
    )


@pytest.fixture
def stand(page: Any) -> Iterator[Stand]:
    page.set_viewport_size({"width": 1000, "height": 620})
    explorer = netloupe.explore(make_model(), height=600)
    yield Stand(page, explorer)
    explorer.close()


def search(stand: Stand, text: str) -> Any:
    """Type a text, and return the rows that are listed for it."""
    before = len(stand.asked)
    stand.page.locator(".nl-search-text").fill(text)
    stand.wait(lambda: any(message["type"] == "search" for message in stand.asked[before:]))
    stand.settle()
    return stand.page.locator(".nl-hit")


def test_rows_show_the_layer_and_the_kind(stand: Stand) -> None:
    rows = search(stand, "matmul query")
    kinds = [row.locator(".nl-hit-kind").inner_text() for row in rows.all()]
    assert kinds.count("node") == LAYERS
    for layer in range(LAYERS):
        row = rows.nth(kinds.index("node") + layer)
        part = row.get_by_text(f"layer.{layer}", exact=True)
        inner, outer = part.bounding_box(), row.bounding_box()
        assert inner is not None
        assert outer is not None
        assert inner["x"] >= outer["x"]
        assert inner["x"] + inner["width"] <= outer["x"] + outer["width"]
        assert part.evaluate("each => each.scrollWidth <= each.clientWidth")


def test_a_hit_that_is_gone_to_is_seen_beside_the_list(stand: Stand) -> None:
    search(stand, "matmul")
    for _ in range(2 * LAYERS + 1):
        stand.page.locator(".nl-search-text").press("Enter")
        stand.settle()
        panel = stand.page.locator(".nl-search-panel").bounding_box()
        assert panel is not None
        x, y = stand.locate(stand.selected)
        is_right_of = x > panel["x"] + panel["width"]
        assert is_right_of or y > panel["y"] + panel["height"], stand.selected


def test_groups_are_gone_to_from_the_list(stand: Stand) -> None:
    rows = search(stand, "layer.2 attention")
    first = rows.first
    assert first.locator(".nl-hit-kind").inner_text() == "group"
    first.click()
    stand.settle()
    assert "layer.2" in stand.selected
    assert stand.selected.endswith("/")


def test_enter_waits_for_the_hits_of_what_is_typed(stand: Stand) -> None:
    search(stand, "t")
    # before the pause after which a question is sent
    stand.page.locator(".nl-search-text").evaluate(
        """box => {
            box.value = "tanh query layer.1";
            box.dispatchEvent(new Event("input"));
            box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
        }"""
    )
    stand.wait(lambda: bool(stand.selected))
    stand.settle()
    assert "layer.1/attention/self/query/projection/" in stand.selected
