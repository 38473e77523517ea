"""Bars: which part of a model's parameters, multiplications or bytes a box holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.render import shares
from netloupe.explorer.render.face import Bar
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.marks import LineMark, mark_face
from netloupe.explorer.render.picture import draw_picture, make_picture
from netloupe.explorer.render.shares import Shares
from netloupe.explorer.render.sizes import BAR_THICKNESS, TEXT_STYLES
from netloupe.explorer.render.text import measure_text
from netloupe.explorer.render.theme import load_theme
from netloupe.explorer.render.wire import encode_scene
from netloupe.explorer.view import View, ViewOptions
from tests.corpus import corpus_file


def make_model(*rows: object) -> Model:
    """Return x · (4×60) · (60×2) + x · (4×2): products of 240, 120 and 8 parameters."""
    weights = {"a": (4, 60), "b": (60, 2), "c": (4, 2)}
    nodes = [
        helper.make_node("MatMul", ["x", "a"], ["wide"], "first"),
        helper.make_node("Relu", ["wide"], ["act"], "act"),
        helper.make_node("MatMul", ["act", "b"], ["y"], "second"),
        helper.make_node("MatMul", ["x", "c"], ["beside"], "third"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [*rows, 4])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("y", "beside")],
        [
            numpy_helper.from_array(np.zeros(dims, np.float32), name)
            for name, dims in weights.items()
        ],
    )
    return load(helper.make_model(graph).SerializeToString())


def bars_of(model: Model, share: Any) -> dict[str, Bar | None]:
    labels = Labels(shares=Shares(model, share))
    items = View(model, model.graph, "none").root.children
    return {item.element.name: labels.draw(item).bar for item in items if item.kind == "node"}  # type: ignore[union-attr]


def test_a_bar_is_as_long_as_the_share_and_says_it() -> None:
    model = make_model(5)
    labels = Labels(shares=Shares(model, "parameters"))
    item = View(model, model.graph, "none").items["main/first"]
    face, plain = labels.draw(item), labels.faces.face(item)
    assert face.bar is not None
    assert face.bar.text == "240 parameters · 65 % of the model"
    assert face.bar.width == pytest.approx((face.width - 20) * 240 / 368, abs=0.1)
    # no box is larger for its bar
    assert plain.bar is None
    assert (face.width, face.height, face.texts) == (plain.width, plain.height, plain.texts)


def test_nodes_without_a_weight_have_no_bar() -> None:
    bars = bars_of(make_model(5), "parameters")
    assert bars["act"] is None
    assert bars["second"] is not None
    assert bars["second"].text == "120 parameters · 33 % of the model"


def test_the_option_says_what_is_counted() -> None:
    model = make_model(5)
    stored, macs = bars_of(model, "bytes")["first"], bars_of(model, "macs")["first"]
    assert stored is not None
    assert macs is not None
    assert (stored.share, stored.text) == ("bytes", "960 bytes · 65 % of the model")
    assert (macs.share, macs.text) == ("macs", "1.20 k MACs · 65 % of the model")
    assert set(bars_of(model, "none").values()) == {None}


def test_shares_of_multiplications_need_no_sizes_where_these_cancel() -> None:
    bar = bars_of(make_model("batch"), "macs")["first"]
    assert bar is not None
    assert bar.text == "240 · batch MACs · 65 % of the model"


def test_what_is_not_known_has_no_bar() -> None:
    unknown = load(corpus_file("exported/bert.legacy.onnx"))
    labels = Labels(shares=Shares(unknown, "macs"))  # depends on batch and sequence
    items = View(unknown).root.children
    assert all(labels.draw(item).bar is None for item in items)


def test_a_share_too_small_to_be_seen_is_told_but_not_drawn() -> None:
    model = load(corpus_file("exported/gpt2.legacy.onnx"))
    labels = Labels(shares=Shares(model, "parameters"))
    view = View(model, model.graph, "none")
    face = next(
        labels.draw(item)
        for item in view.items.values()
        if getattr(item.element, "op_type", "") == "LayerNormalization"
    )
    assert face.bar is not None
    assert face.bar.text == "96 parameters · < 1 % of the model"
    assert face.bar.width == 0
    light = load_theme("light")
    assert not any(is_bar(mark) for mark in mark_face(face, light))


def is_bar(mark: object) -> bool:
    return isinstance(mark, LineMark) and mark.stroke_width == BAR_THICKNESS


def test_a_stack_holds_what_all_its_blocks_hold() -> None:
    model = load(corpus_file("exported/gpt2.legacy.onnx"))
    labels = Labels(shares=Shares(model, "parameters"))
    view = View(model)
    stack = next(item for item in view.items.values() if item.repeat is not None)
    bar = labels.draw(stack).bar
    assert bar is not None
    group = model.group(stack.path)
    assert bar.text.startswith(f"{group.parameters / 1000:.0f} k parameters · ")
    assert bar.width > 0


def test_large_models_have_no_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_model(5)
    monkeypatch.setattr(shares, "MOST_NODES", len(model.graph.nodes) - 1)
    monkeypatch.setattr(shares, "count_nodes", None)  # nothing is counted
    assert set(bars_of(model, "parameters").values()) == {None}


def test_nothing_is_counted_for_boxes_that_are_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(corpus_file("exported/gpt2.legacy.onnx"))
    counted: list[int] = []
    count = shares.count_nodes

    def note(model: Model, nodes: Any) -> Any:
        counted.append(len(nodes))
        return count(model, nodes)

    monkeypatch.setattr(shares, "count_nodes", note)
    picture = make_picture(model, ViewOptions.parse({"share": "parameters"}))
    assert counted == []  # the choice of what is open has made many faces
    drawn = [picture.labels.draw(box.item) for box in picture.scene.boxes if not box.item.is_open]
    assert 0 < len(counted) <= len(drawn)
    assert sum(counted) <= len(model.graph.nodes)


def test_all_writers_draw_the_same_bar() -> None:
    model = make_model(5)
    picture = make_picture(model, ViewOptions.parse({"grouping": "none", "share": "parameters"}))
    faces = [picture.labels.draw(box.item) for box in picture.scene.boxes]
    bars = [face.bar for face in faces if face.bar is not None]
    assert len(bars) == 3
    drawn = [mark for face in faces for mark in mark_face(face, load_theme("dark")) if is_bar(mark)]
    assert sorted(mark.width for mark in drawn) == sorted(bar.width for bar in bars)  # type: ignore[union-attr]
    header, _ = encode_scene(picture.scene, picture.labels.draw)
    sent = [face["bar"] for face in header["faces"] if face["bar"]]
    assert sorted(bar[3] for bar in sent) == sorted(bar.width for bar in bars)
    svg = draw_picture(model, "svg", grouping="none", share="parameters").decode()
    assert "main/first\n240 parameters · 65 % of the model</title>" in svg
    assert draw_picture(model, "png") == draw_picture(model, "png", share="none")
    assert draw_picture(model, "png") != draw_picture(model, "png", share="parameters")


def make_blocks(count: int) -> Model:
    """Return blocks of unknown kind, each with 100 parameters, and a product of 300 after them."""
    nodes, weights, last = [], [], "x"
    for number in range(count):
        scope = f"/blocks.{number}"
        weights.append(numpy_helper.from_array(np.full((10, 10), number, np.float32), f"w{number}"))
        for operator, second in (("MatMul", [f"w{number}"]), ("Sin", []), ("Cos", [])):
            output = f"{scope}/{operator}_out"
            name = f"{scope}/{operator}"
            nodes.append(helper.make_node(operator, [last, *second], [output], name))
            last = output
    weights.append(numpy_helper.from_array(np.zeros((10, 30), np.float32), "last"))
    nodes.append(helper.make_node("MatMul", [last, "last"], ["y"], "/head/MatMul"))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 10]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    return load(helper.make_model(graph).SerializeToString())


def row_of_stack(model: Model, share: Any, count: int) -> tuple[str, Bar | None]:
    labels = Labels(shares=Shares(model, share))
    stack = next(item for item in View(model).root.children if item.repeat is not None)
    assert stack.repeat is not None
    assert len(stack.repeat.children) == count
    plain, face = labels.faces.face(stack), labels.draw(stack)
    assert (face.width, face.height) == (plain.width, plain.height)
    return face.texts[-1].text, face.bar


def test_a_closed_stack_of_no_known_kind_says_what_it_is_made_of() -> None:
    text, bar = row_of_stack(make_blocks(5), "parameters", 5)
    assert text == "10 → 10"
    assert bar is not None
    # how many parameters they have is in the tooltip
    assert bar.text == "500 parameters · 62 % of the model"
    assert row_of_stack(make_blocks(5), "none", 5) == ("10 → 10", None)


def test_a_block_with_facts_keeps_them() -> None:
    picture = make_picture(load(corpus_file("exported/gpt2.legacy.onnx")), ViewOptions.parse({}))
    written = {
        run.text
        for box in picture.scene.boxes
        if not box.item.is_open
        for run in picture.labels.draw(box.item).texts
    }
    assert any(text.startswith("48 → 192 → 48") for text in written)
    assert any("heads × 12" in text for text in written)


@pytest.mark.parametrize(
    ("name", "label"), [("sam_encoder.legacy", "layers.4"), ("detr.legacy", "backbone / model")]
)
def test_a_box_is_as_wide_as_its_texts_need(name: str, label: str) -> None:
    picture = make_picture(load(corpus_file(f"exported/{name}.onnx")), ViewOptions.parse({}))
    box = next(box for box in picture.scene.boxes if box.item.label == label)
    face = picture.labels.draw(box.item)
    texts = [run for run in face.texts if run.anchor == "start"]
    ends = [run.x + measure_text(run.text, *TEXT_STYLES[run.style]) for run in texts]
    assert box.width - max(ends) < 45  # with the sign that it can be opened, and the margin
