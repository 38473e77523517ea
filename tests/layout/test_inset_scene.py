"""Pictures in two parts: a closed stack, and one of its blocks open beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from onnx import NodeProto

from netloupe.explorer.errors import ViewError
from netloupe.explorer.layout import (
    WINDOW,
    Composer,
    FirstView,
    LayoutEngine,
    Scene,
    SceneBox,
    Window,
    inset_scene,
)
from netloupe.explorer.layout.inset_scene import compose_with_insets, join_insets, open_inset
from netloupe.explorer.layout.scene import Flat, Zoom
from netloupe.explorer.layout.shown_items import list_closed
from netloupe.explorer.model import Model
from netloupe.explorer.options import Direction
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.picture import Picture, make_picture, render_picture
from netloupe.explorer.view import View, ViewOptions
from tests.corpus import corpus_file
from tests.grouping.test_repeats import Builder
from tests.scene_check import find_geometry_faults
from tests.wiring_check import find_lost_edges

STACK = "main/Transformer block/"


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def make_decoder(layers: int = 6) -> Model:
    builder = Builder()
    x = builder.add("Gather", builder.weight(), "x")
    for _ in range(layers):
        x = builder.layer(x)
    return builder.load(builder.linear(builder.norm(x))).model


def draw(model: Model, engine: LayoutEngine, **options: object) -> Picture:
    return make_picture(model, ViewOptions.parse(options), composer=Composer(engine), deadline=600)


def find_stack(scene: Scene, *, is_open: bool) -> SceneBox:
    (box,) = [
        box for box in scene.boxes if box.item.repeat is not None and box.item.is_open is is_open
    ]
    return box


@pytest.mark.parametrize("direction", ["TB", "LR"])
def test_the_stack_is_closed_and_one_of_its_blocks_is_open_beside_it(
    engine: LayoutEngine, direction: Direction
) -> None:
    picture = draw(make_decoder(), engine, direction=direction, fit="2000x2000")
    scene = picture.scene
    closed, frame = find_stack(scene, is_open=False), find_stack(scene, is_open=True)
    assert closed.item.key == frame.item.key
    inside = [box.item.label for box in scene.boxes if box.parent == scene.boxes.index(frame)]
    assert [label for label in inside if label] == ["RMSNorm", "Attention", "RMSNorm", "MLP"]
    assert find_geometry_faults(scene, picture.view, picture.insets) == []
    assert find_lost_edges(picture.insets[0].view) == []
    (zoom,) = scene.zooms
    assert_joins(zoom, closed, frame)
    if direction == "TB":
        assert frame.x > max(box.x + box.width for box in scene.boxes[: scene.boxes.index(frame)])
    else:
        assert frame.y > max(box.y + box.height for box in scene.boxes[: scene.boxes.index(frame)])


def assert_joins(zoom: Zoom, closed: SceneBox, frame: SceneBox) -> None:
    """The two lines begin at the corners of the closed box and end at those of the frame."""
    for line in zoom.lines:
        assert is_corner(line[:2], closed)
        assert is_corner(line[-2:], frame)


def is_corner(place: tuple[float, ...], box: SceneBox) -> bool:
    x, y = place
    return any(abs(x - at) < 0.1 for at in (box.x, box.x + box.width)) and any(
        abs(y - at) < 0.1 for at in (box.y, box.y + box.height)
    )


@pytest.mark.parametrize("layers", [2, 3, 40])
def test_the_stream_goes_on_outside_of_the_frame(engine: LayoutEngine, layers: int) -> None:
    scene = draw(make_decoder(layers), engine, fit="2000x2000").scene
    frame = scene.boxes.index(find_stack(scene, is_open=True))
    outside = [edge for edge in scene.edges if min(edge.source, edge.target) < 0]
    assert [(edge.source, edge.target, edge.arrow) for edge in outside] == [
        (-1, frame, False),
        (frame, -1, True),
    ]
    box = scene.boxes[frame]
    entering, leaving = outside
    assert entering.points[1] < box.y == pytest.approx(entering.points[-1], abs=0.1)
    assert leaving.points[1] == pytest.approx(box.y + box.height, abs=0.1)
    assert leaving.points[-1] < scene.height


def test_no_line_of_a_zoom_passes_a_box(engine: LayoutEngine) -> None:
    """Boxes above and below are broader than the stack: the lines bend beyond them."""
    builder = Builder()
    x = builder.add("Gather", builder.weight(), "x")
    names = ["a_name_that_is_as_long_as_names_of_modules_in_exports_often_are" * 2] * 2
    x = builder.add("Neg", x, name=names[0])
    for _ in range(3):
        x = builder.layer(x)
    x = builder.add("Abs", x, name=names[1] + "_")
    picture = draw(builder.load(x).model, engine, inset=STACK, fit="3000x3000")
    (zoom,) = picture.scene.zooms
    frame = find_stack(picture.scene, is_open=True)
    outer = [
        box
        for box in picture.scene.boxes[: picture.scene.boxes.index(frame)]
        if box.item.repeat is None
    ]
    for line in zoom.lines:
        points = list(zip(line[::2], line[1::2], strict=True))
        for (x0, y0), (x1, y1) in pairwise(points):
            for share in (0.1, 0.3, 0.5, 0.7, 0.9):
                at, down = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
                assert not any(
                    box.x < at < box.x + box.width and box.y < down < box.y + box.height
                    for box in outer
                )


@pytest.mark.parametrize("blocked", [(1,), (-1,), (1, -1)], ids=str)
def test_an_inset_stands_where_no_box_is_beside_the_stack(
    engine: LayoutEngine, blocked: tuple[int, ...]
) -> None:
    view = View(make_decoder())
    inset = open_inset(view, view.items[STACK])
    composer = Composer(engine)
    scene = composer.compose(view, Labels())
    around = composer.compose(inset.view, Labels()).root
    assert around is not None
    level = next(each for each in around.inner.values() if each.item is inset.item)
    stack = find_stack(scene, is_open=False)
    other = next(box for box in scene.boxes if box is not stack)
    boxes = [*scene.boxes]
    for side in blocked:
        x = stack.x + side * (stack.width + 40)
        boxes.append(other._replace(x=x, y=stack.y + 5, width=stack.width))
    by_hand = Flat(tuple(boxes), scene.edges, scene.ports)
    joined = join_insets(replace(scene, root=None, by_hand=by_hand), [(inset.item, level)])
    free = {1, -1} - {*blocked}
    if not free:
        assert joined is None
    else:
        assert joined is not None
        assert {zoom.side for zoom in joined.zooms} == free


def test_without_room_what_is_asked_for_is_open_in_its_place(
    engine: LayoutEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inset_scene, "join_insets", lambda scene, levels, write, name: None)
    picture = draw(make_decoder(), engine, inset=STACK, fit="3000x3000")
    assert picture.scene.zooms == ()
    assert picture.insets == ()
    assert any("at both sides" in notice for notice in picture.notices)
    assert find_stack(picture.scene, is_open=True)
    assert find_geometry_faults(picture.scene, picture.view) == []


def test_towers_that_are_alike_are_open_alike(engine: LayoutEngine) -> None:
    picture = draw(load(corpus_file("exported/clip.legacy.onnx")), engine)
    labels = [item.label for item in picture.view.open_items() if item is not picture.view.root]
    assert sorted(labels) == ["text_model", "vision_model"]
    assert len(picture.scene.zooms) == 1
    closed = [b for b in picture.scene.boxes if b.item.repeat is not None and not b.item.is_open]
    assert [len(box.item.repeat.children) for box in closed if box.item.repeat] == [12, 12]


def make_masked_decoder(layers: int = 6) -> Model:
    builder = Builder()
    x = builder.add("Gather", builder.weight(), "x")
    mask = builder.add("Mul", builder.add("Cast", x, to=1), builder.weight())
    for _ in range(layers):
        x = builder.layer(x, mask)
    return builder.load(builder.linear(builder.norm(x))).model


def test_what_enters_beside_the_main_stream_is_named(engine: LayoutEngine) -> None:
    scene = draw(make_masked_decoder(), engine, inset=STACK, fit="3000x3000").scene
    entering = [edge for edge in scene.edges if edge.source < 0]
    (leaving,) = [edge for edge in scene.edges if edge.target < 0]
    assert len(entering) == 2
    main = min(entering, key=lambda edge: abs(edge.points[0] - leaving.points[0]))
    (side,) = [edge for edge in entering if edge is not main]
    assert main.label == ""
    assert side.label == "attention bias"
    assert side.label_y < side.points[1]


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95, 1.05, 20.0])
def test_names_of_what_enters_stay_in_the_picture(engine: LayoutEngine, share: float) -> None:
    """However wide they are beside the frame; what is wider is not written."""
    view = View(make_masked_decoder())
    inset = open_inset(view, view.items[STACK])
    composer = Composer(engine)
    scene = composer.compose(view, Labels())
    around = composer.compose(inset.view, Labels()).root
    assert around is not None
    level = next(each for each in around.inner.values() if each.item is inset.item)
    width = share * level.inside.width
    joined = join_insets(scene, [(inset.item, level)], lambda text: (text, width))
    assert joined is not None
    named = [edge for edge in joined.edges if edge.label and edge.source < 0]
    assert len(named) == (share < 1)
    for edge in named:
        assert width / 2 <= edge.label_x <= joined.width - width / 2


def join_with_others(
    engine: LayoutEngine, *others: tuple[float, float, float]
) -> tuple[Scene, SceneBox, list[SceneBox], SceneBox]:
    """Put an inset beside a stack and boxes, at right and below of it, of some widths.

    Returns
    -------
    Scene, SceneBox, list of SceneBox, SceneBox
        The picture, the closed stack, the others and the frame of the inset.
    """
    view = View(make_decoder())
    inset = open_inset(view, view.items[STACK])
    composer = Composer(engine)
    scene = composer.compose(view, Labels())
    around = composer.compose(inset.view, Labels()).root
    assert around is not None
    level = next(each for each in around.inner.values() if each.item is inset.item)
    stack = find_stack(scene, is_open=False)._replace(x=300.0, y=300.0)
    other = scene.boxes[0]._replace(height=30.0)
    boxes = [
        other._replace(x=stack.x + right, y=stack.y + down, width=width)
        for right, down, width in others
    ]
    wide = max(box.x + box.width for box in (stack, *boxes)) + 20
    by_hand = Flat((stack, *boxes), (), ())
    small = replace(scene, width=wide, height=640.0, root=None, by_hand=by_hand)
    joined = join_insets(small, [(inset.item, level)])
    assert joined is not None
    closed, *placed = joined.boxes[: len(boxes) + 1]
    return joined, closed, placed, joined.boxes[len(boxes) + 1]


@pytest.mark.parametrize(("right", "side"), [(0, 1), (100, 1), (700, -1)])
def test_the_side_is_that_of_the_smaller_sheet(
    engine: LayoutEngine, right: float, side: int
) -> None:
    """Boxes far out above and below the stack leave no room between them."""
    joined, *_ = join_with_others(engine, (right, -60, 10.0), (right, 80, 10.0))
    assert [zoom.side for zoom in joined.zooms] == [side]


@pytest.mark.parametrize("is_above", [True, False])
def test_an_inset_stands_below_or_above_what_stands_far_out(
    engine: LayoutEngine, is_above: bool
) -> None:
    others = [(-300.0, -200.0, 900.0), (-300.0, 200.0, 200.0)]
    if not is_above:
        others = [(right, -down, width) for right, down, width in others]
    joined, closed, placed, frame = join_with_others(engine, *others)
    far = placed[0]
    assert joined.width < far.x + far.width + 40
    assert frame.x < far.x + far.width
    for box in (closed, *placed):
        assert frame.x > box.x + box.width or not (
            frame.y - 20 < box.y + box.height and box.y < frame.y + frame.height + 20
        )
    (zoom,) = joined.zooms
    assert_joins(zoom, closed, frame)


def test_two_stacks_of_other_kinds_stand_at_both_sides(engine: LayoutEngine) -> None:
    builder = Builder()
    x = builder.add("Gather", builder.weight(), "x")
    for _ in range(5):
        x = builder.layer(x)
    for _ in range(5):
        for op_types in (
            ("Sinh", "Cosh", "Atan"),
            ("Asin", "Acos", "Asinh"),
            ("Acosh", "Atanh", "Tan"),
        ):
            for op_type in op_types:
                x = builder.add(op_type, x)
            x = builder.linear(x)
    picture = draw(builder.load(x).model, engine, fit="3000x3000")
    assert sorted(zoom.side for zoom in picture.scene.zooms) == [-1, 1]
    assert find_geometry_faults(picture.scene, picture.view, picture.insets) == []
    closed = [b for b in picture.scene.boxes if b.item.repeat is not None and not b.item.is_open]
    frames = [b for b in picture.scene.boxes if b.item.repeat is not None and b.item.is_open]
    for zoom, inset in zip(picture.scene.zooms, picture.insets, strict=True):
        (box,) = [b for b in closed if b.item.key == inset.item.key]
        (frame,) = [b for b in frames if b.item.key == inset.item.key]
        assert_joins(zoom, box, frame)


def make_stages(*counts: int, before: int = 1) -> Model:
    """Return stages of blocks, each behind some operators that change the size."""
    builder = Builder()
    x = builder.add("Gather", builder.weight(), "x")
    for stage, count in enumerate(counts):
        for number in range(before):
            kind = ("Conv", "Neg", "Abs", "Exp")[number]
            operands = (x, builder.weight()) if kind == "Conv" else (x,)
            x = builder.add(kind, *operands, name=f"/stages.{stage}/{kind.lower()}/{kind}")
        for block in range(count):
            first = len(builder.nodes)
            x = builder.layer(x)
            for number, node in enumerate(builder.nodes[first:]):
                assert isinstance(node, NodeProto)
                node.name = f"/stages.{stage}/blocks.{block}/n{number}"
    return builder.load(builder.add("Tanh", x, name="/head/Tanh")).model


def test_stages_stay_closed_and_a_block_of_the_largest_is_beside_them(
    engine: LayoutEngine,
) -> None:
    picture = draw(make_stages(2, 2, 5, 2), engine)
    closed = [b.item for b in picture.scene.boxes if b.item.label.startswith("stages.")]
    assert [(item.label, item.is_open) for item in closed] == [
        (f"stages.{stage}", False) for stage in range(4)
    ]
    (inset,) = picture.insets
    assert inset.item.repeat is not None
    assert len(inset.item.repeat.children) == 5
    (zoom,) = picture.scene.zooms
    stage = next(box for box in picture.scene.boxes if box.item.label == "stages.2")
    frame = next(box for box in picture.scene.boxes if box.item.key == inset.item.key)
    assert_joins(zoom, stage, frame)
    assert find_geometry_faults(picture.scene, picture.view, picture.insets) == []
    assert find_lost_edges(inset.view) == []


@pytest.mark.parametrize(("counts", "before"), [((5, 2), 1), ((2, 2, 5, 2), 4)], ids=str)
def test_what_says_more_than_stages_is_open_around_its_stack(
    engine: LayoutEngine, counts: tuple[int, ...], before: int
) -> None:
    """Two groups are no row of stages, and many operators before the blocks no change of size."""
    picture = draw(make_stages(*counts, before=before), engine, fit="3000x3000")
    frames = {box.item.label for box in picture.scene.boxes if box.item.is_open}
    largest = counts.index(5)
    assert f"stages.{largest}" in frames


def test_an_encoder_and_a_decoder_of_the_same_blocks_are_open_alike(engine: LayoutEngine) -> None:
    picture = draw(load(corpus_file("exported/vqvae.legacy.onnx")), engine)
    peers = [item for item in picture.view.root.children if item.label in ("encoder", "decoder")]
    assert len(peers) == 2
    assert len({item.is_open for item in peers}) == 1


def test_circles_are_no_boxes_of_a_figure(engine: LayoutEngine) -> None:
    """With its sums and products a block of this model would be beyond the limit."""
    scene = draw(load(corpus_file("exported/clip.dynamo.onnx")), engine).scene
    closed = [box for box in scene.boxes if not box.item.is_open and box.item.kind != "stub"]
    boxes = [box for box in closed if not Labels().is_round(box.item)]
    assert any(box.item.repeat is not None for box in scene.boxes if box.item.is_open)
    assert len(boxes) <= 26 < len(closed)


def test_a_second_inset_leaves_the_picture_as_large_as_in_a_figure(engine: LayoutEngine) -> None:
    """Encoder and decoder have other blocks: both would have room only at two thirds."""
    picture = draw(load(corpus_file("exported/whisper.legacy.onnx")), engine)
    assert len(picture.insets) == 1
    both = draw(load(corpus_file("exported/wav2vec2.dynamo.onnx")), engine)
    assert len(both.insets) == 2
    assert WINDOW.zoom(both.scene.width, both.scene.height) >= 0.85


def test_an_inset_shows_three_boxes_at_least(engine: LayoutEngine) -> None:
    """The largest stack is of pairs of blocks: the next one, of single blocks, is shown."""
    picture = draw(load(corpus_file("exported/swin.legacy.onnx")), engine)
    (inset,) = picture.insets
    assert inset.item.label == "blocks.0 … blocks.1"
    assert sum(item.kind != "stub" for item in list_closed(inset.item)) >= 3


@pytest.mark.parametrize(
    "options",
    [
        {"inset": "none"},
        {"wrap": 2},
        {"wrap": True},
        {"expand": "all"},
        {"expand": "none"},
        {"fit": "420x900"},
    ],
    ids=str,
)
def test_where_no_inset_is_drawn(engine: LayoutEngine, options: dict[str, object]) -> None:
    assert draw(make_decoder(), engine, **options).scene.zooms == ()


def test_any_group_can_be_asked_for(engine: LayoutEngine) -> None:
    model = make_decoder()
    picture = draw(model, engine, inset="Transformer block", expand="none", fit="2000x2000")
    assert [zoom.side for zoom in picture.scene.zooms] == [1]
    assert not any(item.repeat for item in picture.view.open_items())
    with pytest.raises(ViewError, match="nothing at 'nowhere'"):
        draw(model, engine, inset="nowhere")
    node = next(node for node in model.graph.nodes if node.op_type == "Gather")
    with pytest.raises(ViewError, match="cannot be drawn open beside the picture"):
        draw(model, engine, inset=node.path)


@pytest.mark.parametrize("format", ["svg", "png", "pdf"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_format_draws_it_alike_each_time(
    engine: LayoutEngine, format: str, theme: str
) -> None:
    def render() -> bytes:
        return render_picture(draw(make_decoder(), engine, theme=theme, fit="2000x2000"), format)

    data = render()
    assert data == render()
    if format == "svg":
        assert data.count(b'class="zooms"') == 1


def test_a_view_with_insets_is_composed_as_one_picture(engine: LayoutEngine) -> None:
    view = View(make_decoder())
    inset = open_inset(view, view.items[STACK])
    scene = compose_with_insets(Composer(engine), view, [inset], Labels(), "TB")
    assert len(scene.zooms) == 1
    assert not view.items[STACK].is_open
    alone = Composer(engine).compose(view, Labels())
    assert scene.width > alone.width


def test_the_canvas_opens_the_stack_in_its_place(engine: LayoutEngine) -> None:
    view = View(make_decoder())
    FirstView(Composer(engine), Labels(), Window(2000, 2000)).open(view)
    assert any(item.repeat for item in view.open_items())
