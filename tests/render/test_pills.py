"""What paints say of boxes covers no arrow, whatever the box, the arrows and the words are."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from netloupe.explorer.layout import Composer, LayoutEngine
from netloupe.explorer.options import Direction
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.marks import (
    PolygonMark,
    RectMark,
    TextMark,
    mark_edge,
    mark_edge_label,
)
from netloupe.explorer.render.paint import Paint
from netloupe.explorer.render.painted import mark_paint
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.render.pills import Taken, find_taken, place_pill
from netloupe.explorer.render.sizes import PAINT_INSET
from netloupe.explorer.render.theme import load_theme
from netloupe.explorer.view import ViewOptions
from tests.corpus import corpus_file

TEXTS = ("12.3 k MACs · 12 %", "877 k · 88 %; 877 k each", "0.4 ms", "a word without an end")
INTERVALS = st.lists(
    st.tuples(st.floats(-20, 400), st.floats(0, 90)).map(lambda each: (each[0], sum(each))),
    max_size=6,
)


@given(st.sampled_from(TEXTS), st.floats(20, 400), INTERVALS, INTERVALS)
@example("a word without an end", 120.0, [(-5.2, 5.2)], [])  # an arrow at the corner of the box
def test_a_pill_lies_between_what_is_there(
    text: str, right: float, upper: list[tuple[float, float]], lower: list[tuple[float, float]]
) -> None:
    pill = place_pill(text, right, Taken(upper, lower))
    if pill is None:
        assert right < PAINT_INSET + 40 or upper
        return
    assert pill.right <= right + 0.01
    assert pill.right - pill.width >= PAINT_INSET - 1
    assert text.startswith(pill.text.rstrip("…"))
    assert upper or not pill.is_below
    for start, stop in lower if pill.is_below else upper:
        assert stop <= pill.right - pill.width + 0.5 or start >= pill.right - 0.5


def arrow(place: float) -> tuple[float, float]:
    return place - 5.2, place + 5.2


@pytest.mark.parametrize(
    ("right", "upper", "lower", "text", "is_below"),
    [
        (190.0, [], [], "12.3 k MACs · 12 %", False),
        (190.0, [arrow(20)], [], "12.3 k MACs · 12 %", False),  # right of the arrow
        (190.0, [arrow(180)], [], "12.3 k MACs · 12 %", False),  # left of it
        (190.0, [arrow(95)], [], "12.3 k MACs", False),  # the less important part is left out
        (130.0, [arrow(65)], [], "12.3 k MACs · 12 %", True),  # at the lower border is room for all
        (90.0, [arrow(45)], [], "12.3 k MACs", True),
        (190.0, [(60, 150)], [(20, 40)], "12.3 k MACs · 12 %", True),  # right of a label
        (130.0, [(50, 70)], [(90, 110)], "12.3 k MACs", True),
        (60.0, [(10, 60)], [(8, 14)], "12.3…", True),  # whatever has room
        (60.0, [(10, 60)], [(10, 60)], None, True),
    ],
)
def test_where_a_pill_goes(
    right: float,
    upper: list[tuple[float, float]],
    lower: list[tuple[float, float]],
    text: str | None,
    is_below: bool,
) -> None:
    """As in ``widgets/frontend/test/paint/pills.test.ts``."""
    pill = place_pill("12.3 k MACs · 12 %", right, Taken(upper, lower))
    assert (pill and pill.text) == text
    assert pill is None or pill.is_below == is_below


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        *product(("exported/unet.dynamo.onnx", "exported/gpt2.legacy.onnx"), ("TB", "LR")),
        ("exported/detr.dynamo.onnx", "TB"),
    ],
)
def test_no_pill_of_a_model_covers_an_arrow_or_a_label(name: str, direction: Direction) -> None:
    engine = LayoutEngine()
    try:
        options = ViewOptions.parse({"direction": direction})
        picture = make_picture(load(corpus_file(name)), options, composer=Composer(engine))
    finally:
        engine.stop()
    scene, theme = picture.scene, load_theme("light")
    arrows = [
        (
            min(mark.points[::2]),
            min(mark.points[1::2]),
            max(mark.points[::2]),
            max(mark.points[1::2]),
        )
        for edge in scene.edges
        for mark in mark_edge(edge, theme, False, None)
        if isinstance(mark, PolygonMark)
    ]
    assert arrows
    labels = [mark_edge_label(edge, "#ffffff", theme)[0] for edge in scene.edges if edge.label]
    taken = find_taken(scene)
    count = 0
    for box in scene.boxes:
        if box.item.kind == "root":
            continue
        paint = Paint("scale-2", "12.3 k MACs · 12 %")
        laid = mark_paint(
            *(picture.labels.faces.face(box.item), box.width, box.height, paint, theme),
            is_open=box.item.is_open,
            taken=taken[box.x, box.y],
        )
        if not any(isinstance(mark, TextMark) for mark in laid):
            continue
        pill = next(mark for mark in laid if isinstance(mark, RectMark))
        left, top = box.x + pill.x, box.y + pill.y
        for arrow in arrows:
            assert (
                arrow[2] <= left
                or left + pill.width <= arrow[0]
                or arrow[3] <= top
                or top + pill.height <= arrow[1]
            ), box.item.key
        for label in labels:
            assert isinstance(label, RectMark)
            assert (
                label.x + label.width <= left
                or left + pill.width <= label.x
                or label.y + label.height <= top
                or top + pill.height <= label.y
            ), box.item.key
        count += 1
    assert count > 4
