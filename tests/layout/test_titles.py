"""Titles of open items: edges that come in beside them do not run through them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from netloupe.explorer.layout import Composer, LayoutEngine, Scene
from netloupe.explorer.layout.arrange import arrange_inside
from netloupe.explorer.layout.level import Child, Level, Wire
from netloupe.explorer.layout.placement import Curves, Places, sample_pieces
from netloupe.explorer.layout.scene import Inside
from netloupe.explorer.layout.titles import Title, fit_title, is_better_mirrored
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.asked_view import make_view
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.view import View, ViewOptions, expand_view
from netloupe.proto import onnx_pb2
from tests.corpus import shared_model
from tests.crossings import find_crossings
from tests.scene_check import find_geometry_faults

TITLE_HEIGHT = 22.0


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def residual_layers(count: int, name: str) -> Model:
    """Return layers whose inputs also go around what is inside, at its left and its right."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.input.add(name="v0")
    for layer in range(count):
        given = f"v{layer}"
        for part, (operator, inputs) in enumerate(
            [
                ("Relu", [given]),
                ("Neg", [given]),
                ("Mul", [f"t{layer}_0", f"t{layer}_1"]),
                ("Abs", [given]),
                ("Add", [f"t{layer}_2", given]),
                ("Sum", [f"t{layer}_3", f"t{layer}_4", given]),
            ]
        ):
            proto.graph.node.add(
                op_type=operator,
                name=f"{name}.{layer}/n{part}",
                input=inputs,
                output=[f"v{layer + 1}" if part == 5 else f"t{layer}_{part}"],
            )
    proto.graph.output.add(name=f"v{count}")
    return load(proto.SerializeToString())


def find_crossed_titles(scene: Scene, labels: Labels) -> tuple[list[str], int]:
    """Return the titles that are crossed by edges from beside them, and how many could be."""
    crossed, seen = [], 0
    for index, box in enumerate(scene.boxes):
        if not box.item.is_open:
            continue
        title = labels.title(box.item)
        end = box.x + title.left
        for edge in scene.edges:
            is_inside = edge.source == index and (
                edge.target == index or scene.boxes[edge.target].parent == index
            )
            if not is_inside or edge.points[0] < end - 1:
                continue
            seen += 1
            points = sample_pieces(Curves.of([edge.points]).list_controls(), 32)
            low = (points[:, :, 0] < end - 5) & (points[:, :, 1] < box.y + title.height - 1)
            if low.any():
                crossed.append(box.item.key)
    return crossed, seen


@pytest.mark.parametrize("length", [4, 12, 20, 30])
def test_edges_that_come_in_beside_a_title_pass_it(engine: LayoutEngine, length: int) -> None:
    view = View(residual_layers(3, "encoder_layer_of_a_transformer"[:length]))
    expand_view(view, "all")
    labels = Labels()
    scene = Composer(engine).compose(view, labels)
    assert find_geometry_faults(scene, view) == []
    crossed, seen = find_crossed_titles(scene, labels)
    assert seen
    assert crossed == []


@pytest.mark.parametrize("expand", ["all", 2])
@pytest.mark.parametrize(
    "name",
    ["exported/vit.dynamo.onnx", "exported/gpt2.legacy.onnx", "exported/unet.dynamo.onnx"],
)
def test_titles_of_real_models(engine: LayoutEngine, name: str, expand: str | int) -> None:
    view, _ = make_view(shared_model(name), ViewOptions.parse({"expand": expand}))
    labels = Labels()
    scene = Composer(engine).compose(view, labels, deadline=600)
    crossed, seen = find_crossed_titles(scene, labels)
    assert seen
    assert crossed == []


def layer_with_side_inputs(name: str, sides: int) -> Model:
    """Return a group whose second node takes values that nothing else in it does."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    given = [f"side{number}" for number in range(sides)]
    for value in ("x", *given):
        proto.graph.input.add(name=value)
    for number, value in enumerate(given):
        node = proto.graph.node.add(op_type="Neg", name=f"prepare{number}", input=[value])
        node.output.append(f"{value}_ready")
    for operator, inputs, output in (
        ("Relu", ["x"], "a"),
        ("Sum", ["a", *(f"{value}_ready" for value in given)], "b"),
        ("Tanh", ["b"], "c"),
        ("Add", ["c", "x"], "y"),
    ):
        node = proto.graph.node.add(op_type=operator, name=f"{name}/{operator}", input=inputs)
        node.output.append(output)
    proto.graph.output.add(name="y")
    return load(proto.SerializeToString())


@pytest.mark.parametrize("sides", [0, 1, 3, 6])
@pytest.mark.parametrize("length", [6, 20, 44])
def test_what_comes_into_a_group_does_so_beside_its_title(
    engine: LayoutEngine, sides: int, length: int
) -> None:
    view = View(layer_with_side_inputs("decoder_layer_of_a_large_language_model.0"[:length], sides))
    expand_view(view, "all")
    labels = Labels()
    scene = Composer(engine).compose(view, labels)
    assert find_geometry_faults(scene, view) == []
    assert find_crossings(scene, labels) == []


def test_a_group_is_turned_round_where_that_makes_room_for_its_title(engine: LayoutEngine) -> None:
    places = Places(
        300.0,
        200.0,
        np.array([(60.0, 50.0), (200.0, 150.0)]),
        np.array([(20.0, 3.0), (200.0, 3.0)]),
        np.array([(200.0, 197.0)]),
        Curves.of([(200.0, 3.0, 200.0, 40.0, 200.0, 80.0, 200.0, 120.0)]),
    )
    assert not is_better_mirrored(
        Level("TB"), places, Title(40.0, 0.0, 23.0)
    )  # there is room as it is
    long = Title(200.0, 0.0, 23.0)
    assert is_better_mirrored(Level("TB"), places, long)
    assert not is_better_mirrored(Level("LR"), places, long)  # titles stand above what comes in
    mirrored = places.mirrored()
    assert not is_better_mirrored(Level("TB"), mirrored, long)
    assert mirrored.inputs[:, 0].tolist() == [280.0, 100.0]
    assert mirrored.boxes.tolist() == [[240.0, 50.0], [100.0, 150.0]]
    assert mirrored.edges.points[:, 0].tolist() == [100.0] * 4
    assert mirrored.mirrored().edges.points.tolist() == places.edges.points.tolist()
    child = Child(100.0, 40.0, (10.0, 70.0), (50.0,))
    assert child.mirrored() == Child(100.0, 40.0, (90.0, 30.0), (50.0,))


@pytest.mark.parametrize(
    "name",
    [
        "exported/deepseek_v3.legacy.onnx",
        "exported/llama.legacy.onnx",
        "exported/t5.legacy.onnx",
        "quantized/bert.dynamic.onnx",
    ],
)
def test_no_title_of_a_first_view_is_struck(engine: LayoutEngine, name: str) -> None:
    model = shared_model(name)
    picture = make_picture(model, ViewOptions.parse({}), composer=Composer(engine), deadline=600)
    struck = find_crossings(picture.scene, picture.labels)
    assert [line for line in struck if "title" in line] == []


def test_edges_are_led_as_far_down_as_the_title_needs() -> None:
    places = Places(
        200.0,
        120.0,
        np.array([(100.0, 100.0)]),
        np.array([(100.0, 3.0)]),
        np.zeros((0, 2)),
        Curves.of([(100.0, 3.0, 60.0, 6.0, 20.0, 10.0, 100.0, 80.0)]),
    )
    child = Child(40.0, 40.0)
    level = Level("TB", [child], input_count=1, wires=[Wire(-1, 0)])
    title = Title(118.0, 0.0, TITLE_HEIGHT + 1)
    inside = arrange_inside(level, places, title, 1)
    points = sample_pieces(inside.curves.list_controls(), 200).reshape(-1, 2)
    beside = points[points[:, 0] < 118.0 - 3.0]
    assert len(beside)
    assert beside[:, 1].min() > TITLE_HEIGHT - 3.0
    # where the edge runs straight the group is as high as what is inside
    straight = replace(
        places, edges=Curves.of([(100.0, 3.0, 100.0, 30.0, 100.0, 60.0, 100.0, 80.0)])
    )
    assert arrange_inside(level, straight, title, 1).height < inside.height
    # three lines need more room below them, and as much of it at the right as at the left
    higher = arrange_inside(level, places, title._replace(height=53.0), 1)
    assert higher.height > inside.height
    assert lowest_beside(higher, 118.0) > 50.0
    turned = arrange_inside(level, places.mirrored(), Title(0.0, 118.0, 53.0), 1)
    assert turned.height == higher.height
    assert turned.titles.tolist() == [[turned.width - 118.0, 0.0, turned.width, 53.0]]


def test_edges_between_boxes_keep_clear_of_the_title_too() -> None:
    """As that around the first layer of a block, which begins between the parts of a title."""
    level = Level(
        "TB",
        [Child(14.0, 14.0), Child(40.0, 40.0)],
        input_count=1,
        wires=[Wire(-1, 0), Wire(0, 1)],
    )
    places = Places(
        200.0,
        140.0,
        np.array([(160.0, 30.0), (160.0, 110.0)]),
        np.array([(160.0, 3.0)]),
        np.zeros((0, 2)),
        Curves.of(
            [
                (160.0, 3.0, 160.0, 8.0, 160.0, 16.0, 160.0, 23.0),
                (160.0, 37.0, 20.0, 38.0, 20.0, 60.0, 160.0, 90.0),
            ]
        ),
    )
    for title in (Title(118.0, 0.0, 68.0), Title(118.0, 60.0, 68.0)):
        inside = arrange_inside(level, places, title, 1)
        assert lowest_beside(inside, 118.0) > title.height - 3.0
    low = arrange_inside(level, places, Title(118.0, 0.0, 23.0), 1)
    assert low.height < inside.height  # a title of one line is not reached


def lowest_beside(inside: Inside, end: float) -> float:
    """Return how near to the upper border edges come at the left of some place."""
    points = sample_pieces(inside.curves.list_controls(), 200).reshape(-1, 2)
    return float(points[points[:, 0] < end - 3.0, 1].min())


def test_what_comes_in_stands_between_the_parts_of_a_title() -> None:
    places = Places(
        200.0,
        100.0,
        np.array([(100.0, 50.0)]),
        np.array([(100.0, 3.0), (150.0, 3.0)]),
        np.array([(100.0, 97.0)]),
        Curves.of([]),
    )
    # both have room: the inside stands in the middle, as it does without a title
    assert fit_title(places, Title(110.0, 60.0, 38.0)) == (236.0, 18.0)
    # the inside makes room at the left, or the border does at the right
    assert fit_title(places, Title(150.0, 60.0, 38.0)) == (268.0, 50.0)
    assert fit_title(places, Title(110.0, 100.0, 38.0)) == (268.0, 18.0)
    # where nothing comes in both parts stand side by side
    closed = replace(places, inputs=np.zeros((0, 2)))
    assert fit_title(closed, Title(150.0, 100.0, 38.0)) == (250.0, 25.0)


@pytest.mark.parametrize(
    "name",
    [
        "exported/bert.legacy.onnx",
        "exported/mamba.legacy.onnx",
        "exported/mobilenetv3.legacy.onnx",
        "exported/sam_encoder.legacy.onnx",
        "exported/albert.legacy.onnx",
    ],
)
def test_an_open_stack_has_its_blocks_in_the_middle(engine: LayoutEngine, name: str) -> None:
    model = shared_model(name)
    picture = make_picture(model, ViewOptions.parse({}), composer=Composer(engine), deadline=600)
    assert find_crossings(picture.scene, picture.labels) == []
    boxes = picture.scene.boxes
    stacks = [n for n, box in enumerate(boxes) if box.item.is_open and box.item.repeat is not None]
    assert stacks
    for number in stacks:
        frame = boxes[number]
        inside = [box for box in boxes if box.parent == number]
        before = min(box.x for box in inside) - frame.x
        after = frame.x + frame.width - max(box.x + box.width for box in inside)
        assert abs(before - after) / 2 < 0.1 * frame.width
