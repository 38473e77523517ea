"""A U: arms down and up with rows at one height, skips across, and nothing in the way."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from netloupe.explorer.layout import Composer, LayoutEngine, Scene, SceneBox, SceneEdge
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.view import View
from tests.layout.test_geometry import sample_curve


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


class Network:
    """Operators that are added one after the other, named as torch names them."""

    def __init__(self, *dims: int | str) -> None:
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []
        self.rank = len(dims)
        self.widths = {"x": int(dims[1])}
        self.inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)]

    def add(self, kind: str, name: str, *inputs: str, **attributes: Any) -> str:
        result = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [result], name=f"/{name}", **attributes))
        self.widths[result] = sum(self.widths.get(value, 0) for value in inputs)
        if kind != "Concat":
            self.widths[result] = self.widths.get(inputs[0], 0)
        return result

    def weigh(self, dims: tuple[int, ...]) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.zeros(dims, np.float32), name))
        return name

    def convolve(self, name: str, value: str, width: int, stride: int = 1) -> str:
        spread = self.rank - 2
        weight = self.weigh((width, self.widths[value], *[3] * spread))
        pads = [1] * (2 * spread)
        result = self.add("Conv", name, value, weight, strides=[stride] * spread, pads=pads)
        self.widths[result] = width
        return result

    def grow(self, name: str, value: str, width: int) -> str:
        spread = self.rank - 2
        weight = self.weigh((self.widths[value], width, *[2] * spread))
        result = self.add("ConvTranspose", name, value, weight, strides=[2] * spread)
        self.widths[result] = width
        return result

    def finish(self, *values: str) -> Model:
        outputs = [helper.make_tensor_value_info(v, TensorProto.FLOAT, None) for v in values]
        graph = helper.make_graph(self.nodes, "g", self.inputs, outputs, self.weights)
        opsets = [helper.make_opsetid("", 18)]
        return load(helper.make_model(graph, opset_imports=opsets).SerializeToString())


def make_unet(
    *dims: int | str,
    depth: int = 3,
    skips: int = 1,
    gate: bool = False,
    aux: bool = False,
    residual: bool = False,
    steered: bool = False,
    first_skip: int = 0,
    sides: bool = False,
    inner_skip: bool = False,
) -> Model:
    """Return an encoder and a decoder; blocks differ, so that none of them are folded.

    Skips begin at a level; with ``sides`` a map of each level of the decoder is resized and put
    beside the last one, with ``inner_skip`` what goes around the middle is joined with it.
    """
    net = Network(*dims)
    value = net.convolve("stem/conv", "x", 8)
    steer = ""
    if steered:  # by a value that every block takes
        net.inputs.append(helper.make_tensor_value_info("step", TensorProto.FLOAT, [1] * len(dims)))
        steer = net.add("Softplus", "step/act", net.add("Sin", "step/wave", "step"))
    kept: list[list[str]] = []
    for level in range(depth):
        found = []
        for number in range(max(skips, 1)):
            for step in range(level + 1):
                value = net.convolve(f"enc{level}/c{number}_{step}", value, 8 << level)
                value = net.add("Relu", f"enc{level}/a{number}_{step}", value)
            value = net.add("Mul", f"enc{level}/steer", value, steer) if steer else value
            found.append(value)
        kept.append(found)
        value = net.convolve(f"down{level}/conv", value, 8 << level, 2)
        value = net.add("Sigmoid" if level % 2 else "Tanh", f"down{level}/act", value)
    value = net.convolve("middle/conv", value, 16 << depth)
    value = net.add("Elu", "middle/act", value)
    if residual:
        inner = net.convolve("inner/conv", value, 16 << depth)
        value = net.add("Add", "sum", value, net.add("Selu", "inner/act", inner))
    if inner_skip:
        inner = net.convolve("inner/conv", value, 16 << depth)
        value = net.add("Concat", "join", value, net.add("Selu", "inner/act", inner), axis=1)
    extra = []
    maps = []
    for level in reversed(range(depth)):
        value = net.grow(f"dec{level}/up", value, 8 << level)
        for number, skip in enumerate(reversed(kept[level] if level >= first_skip else [])):
            if gate:
                skip = net.convolve(f"gate{level}/conv", skip, 8 << level)
                skip = net.add("Sigmoid", f"gate{level}/act", skip)
            value = net.add("Concat", f"dec{level}/join{number}", value, skip, axis=1)
            for step in range(level + 1):
                value = net.convolve(f"dec{level}/c{number}_{step}", value, 8 << level)
                value = net.add("Relu", f"dec{level}/a{number}_{step}", value)
            value = net.add("Mul", f"dec{level}/steer", value, steer) if steer else value
        if first_skip > level:
            value = net.add("Elu", f"dec{level}/act", value)
        if aux and level == 1:
            extra.append(net.convolve("aux/conv", value, 2))
        if sides:
            one = net.convolve(f"side{level}/conv", value, 1)
            for step in range(level):
                one = net.grow(f"side{level}/up{step}", one, 1)
            maps.append(one)
    if sides:
        value = net.add("Concat", "fuse", *maps, axis=1)
    return net.finish(net.convolve("out/conv", value, 2), *extra)


def compose(model: Model, engine: LayoutEngine, *opened: str) -> Scene:
    view = View(model, grouping="names")
    for key in opened:
        view.open(key)
    return Composer(engine).compose(view, Labels())


def named(scene: Scene) -> dict[str, SceneBox]:
    return {box.item.key.removeprefix("main/").split("/")[0]: box for box in scene.boxes}


def find_edge(scene: Scene, source: str, target: str) -> SceneEdge:
    boxes = named(scene)
    ends = scene.boxes.index(boxes[source]), scene.boxes.index(boxes[target])
    return next(edge for edge in scene.edges if (edge.source, edge.target) == ends)


def check_edges(scene: Scene) -> None:
    """Check that no edge runs through a closed box, and that each ends at the sides of its two."""
    for edge in scene.edges:
        places = sample_curve(edge.points, 40)
        for number, box in enumerate(scene.boxes):
            if box.item.is_open:
                continue
            rim = 5 if box.width == box.height else 1  # of circles edges come to any place
            inside = [
                (x, y)
                for x, y in places
                if rim < x - box.x < box.width - rim and rim < y - box.y < box.height - rim
            ]
            assert not inside, (edge.path, box.item.key, number)
        for end, (x, y) in ((edge.source, places[0]), (edge.target, places[-1])):
            box = scene.boxes[end]
            away = (
                min(max(abs(x - side), 0.0) for side in (box.x, box.x + box.width)),
                min(abs(y - side) for side in (box.y, box.y + box.height)),
            )
            assert min(away) < (5 if box.width == box.height else 1), (edge.path, box.item.key)


@pytest.mark.parametrize("depth", [2, 3, 4, 5])
@pytest.mark.parametrize("dims", [(1, 3, 64, 64), ("batch", 3, "H", "W"), (1, 2, 4096)])
def test_rows_are_level_and_skips_are_straight(
    engine: LayoutEngine, depth: int, dims: tuple[int | str, ...]
) -> None:
    scene = compose(make_unet(*dims, depth=depth), engine)
    boxes = named(scene)
    middles = {name: box.y + box.height / 2 for name, box in boxes.items()}
    for level in range(depth):
        edge = find_edge(scene, f"enc{level}", f"dec{level}")
        assert edge.points[1] == pytest.approx(edge.points[-1], abs=0.1)  # a level line
        assert edge.points[0] < edge.points[-2]
        assert edge.label == f"{8 << level} channels"
        left, right = boxes[f"enc{level}"], boxes[f"dec{level}"]
        assert left.y < middles[f"dec{level}"] < left.y + left.height
        assert left.x + left.width + 100 < right.x
    downwards = [middles[f"enc{level}"] for level in range(depth)]
    assert downwards == sorted(downwards)
    assert all(later - earlier > 40 for earlier, later in pairwise(downwards))
    assert middles["middle"] > middles[f"enc{depth - 1}"]
    starts = [boxes[f"enc{level}"].x + boxes[f"enc{level}"].width / 2 for level in range(depth)]
    assert [round(b - a) for a, b in pairwise(starts)] == [44] * (depth - 1)
    output = next(box for box in scene.boxes if box.item.kind == "output")
    assert output.y < middles["dec0"]  # values flow upwards at the right
    assert find_edge(scene, "dec1", "dec0").points[1] > find_edge(scene, "dec1", "dec0").points[-1]
    check_edges(scene)


def test_several_skips_of_a_level_are_counted_with_their_channels(engine: LayoutEngine) -> None:
    scene = compose(make_unet(1, 3, 64, 64, depth=3, skips=3), engine)
    assert find_edge(scene, "enc1", "dec1").label == "3 skips: 16, 16, 16"
    check_edges(scene)


def test_arms_tell_their_size_once_for_each_row(engine: LayoutEngine) -> None:
    scene = compose(make_unet(1, 3, 64, 64, depth=3), engine)
    said = {
        (scene.boxes[edge.source].item.label, edge.label)
        for edge in scene.edges
        if " × " in edge.label
    }
    assert said == {
        ("stem", "64 × 64 × 8"),
        ("enc1", "32 × 32 × 16"),  # behind enc0 nothing has changed
        ("enc2", "16 × 16 × 32"),
        ("middle", "8 × 8 × 128"),
        ("dec2", "16 × 16 × 32"),
        ("dec1", "32 × 32 × 16"),
        ("dec0", "64 × 64 × 8"),
    }


def test_what_stands_on_a_skip_is_drawn_on_it(engine: LayoutEngine) -> None:
    scene = compose(make_unet(1, 3, 64, 64, depth=3, gate=True), engine)
    boxes = named(scene)
    for level in range(3):
        gate, right = boxes[f"gate{level}"], boxes[f"dec{level}"]
        left = boxes[f"enc{level}"]
        assert left.x + left.width < gate.x
        assert gate.x + gate.width < right.x
        assert gate.y + gate.height / 2 == pytest.approx(right.y + right.height / 2, abs=0.5)
    check_edges(scene)


def test_what_every_block_takes_by_name_stands_beside_the_u(engine: LayoutEngine) -> None:
    scene = compose(make_unet(1, 3, 64, 64, depth=4, steered=True), engine)
    stubs = [box for box in scene.boxes if box.item.kind == "stub"]
    assert len(stubs) > 8
    boxes = named(scene)
    for level in range(4):
        left, right = boxes[f"enc{level}"], boxes[f"dec{level}"]
        assert left.x + left.width < right.x
        assert left.y + left.height / 2 == pytest.approx(right.y + right.height / 2, abs=0.5)
    assert boxes["step"].y < boxes["enc3"].y
    check_edges(scene)


def test_what_goes_around_a_box_between_the_arms_runs_below_it(engine: LayoutEngine) -> None:
    scene = compose(make_unet(1, 3, 64, 64, depth=3, residual=True), engine)
    boxes = named(scene)
    low = max(boxes[name].y + boxes[name].height for name in ("middle", "inner", "sum"))
    edge = find_edge(scene, "middle", "sum")
    assert max(edge.points[1::2]) > low
    assert min(edge.points[0::2]) >= boxes["middle"].x
    assert max(edge.points[0::2]) <= boxes["sum"].x + boxes["sum"].width
    check_edges(scene)


def test_skips_that_pass_many_boxes_are_drawn_too(engine: LayoutEngine) -> None:
    scene = compose(make_unet(1, 3, 512, 512, depth=8), engine)
    assert not any(box.item.kind == "stub" for box in scene.boxes)
    for level in range(8):
        edge = find_edge(scene, f"enc{level}", f"dec{level}")
        assert edge.points[1] == pytest.approx(edge.points[-1], abs=0.1)
    check_edges(scene)


def test_rows_above_the_skips_have_both_arms(engine: LayoutEngine) -> None:
    scene = compose(make_unet(1, 3, 64, 64, depth=4, first_skip=2), engine)
    boxes = named(scene)
    for level in (0, 1):
        left, right = boxes[f"enc{level}"], boxes[f"dec{level}"]
        assert left.x + left.width < right.x
        assert left.y + left.height / 2 == pytest.approx(right.y + right.height / 2, abs=0.5)
    starts = [boxes[f"enc{level}"].x + boxes[f"enc{level}"].width / 2 for level in range(4)]
    assert [round(b - a) for a, b in pairwise(starts)] == [44] * 3
    check_edges(scene)


def test_a_skip_may_go_around_the_middle(engine: LayoutEngine) -> None:
    scene = compose(make_unet(1, 3, 64, 64, depth=3, first_skip=2, inner_skip=True), engine)
    boxes = named(scene)
    left, right = boxes["middle"], boxes["join"]
    assert left.x < boxes["inner"].x < right.x
    assert left.y + left.height < boxes["inner"].y
    edge = find_edge(scene, "middle", "join")
    assert edge.points[1] == pytest.approx(edge.points[-1], abs=0.1)
    assert edge.label == "128 channels"
    check_edges(scene)


@pytest.mark.parametrize("opened", ["", "main/side1/", "main/dec1/"])
def test_maps_of_levels_stand_beside_the_arm_and_go_up_to_where_they_are_joined(
    engine: LayoutEngine, opened: str
) -> None:
    scene = compose(make_unet(1, 3, 64, 64, depth=4, sides=True), engine, *filter(None, [opened]))
    boxes = named(scene)
    ends = []
    for level in (1, 2, 3):
        side, right = boxes[f"side{level}"], boxes[f"dec{level}"]
        assert side.x > right.x + right.width
        if not opened:
            edge = find_edge(scene, f"side{level}", "fuse")
            ends.append((max(edge.points[0::2]), edge.points[-1]))
    # what begins lower runs further out, and ends higher
    assert ends == sorted(ends, key=lambda end: end[0])
    assert [y for _, y in ends] == sorted((y for _, y in ends), reverse=True)
    if not opened:
        check_edges(scene)


def test_another_output_stands_beside_the_arm(engine: LayoutEngine) -> None:
    scene = compose(make_unet(1, 3, 64, 64, depth=3, aux=True), engine)
    boxes = named(scene)
    assert boxes["aux"].x > boxes["dec1"].x + boxes["dec1"].width
    check_edges(scene)


@pytest.mark.parametrize("opened", ["enc1", "dec1", "middle"])
def test_an_open_group_is_reached_around(engine: LayoutEngine, opened: str) -> None:
    model = make_unet(1, 3, 64, 64, depth=3)
    view = View(model, grouping="names")
    composer = Composer(engine)
    before = composer.compose(view, Labels())
    view.open(f"main/{opened}/")
    scene = composer.compose(view, Labels())
    check_edges(scene)
    frame = next(box for box in scene.boxes if box.item.key == f"main/{opened}/")
    outside = [
        edge
        for edge in scene.edges
        if all(end < 0 or scene.boxes[end].parent == frame.parent for end in edge[2:4])
    ]
    for edge in outside:  # values come to an open group above, and leave it below
        if scene.boxes[edge.target] is frame:
            assert edge.points[-1] == pytest.approx(frame.y, abs=0.1)
        if scene.boxes[edge.source] is frame:
            assert edge.points[1] == pytest.approx(frame.y + frame.height, abs=0.1)
    again = named(scene)
    assert again["enc0"].x < again["enc2"].x < again["dec2"].x < again["dec0"].x
    view.close(f"main/{opened}/")
    after = composer.compose(view, Labels())
    assert [box[1:5] for box in after.boxes] == [box[1:5] for box in before.boxes]


def test_the_same_u_is_drawn_each_time(engine: LayoutEngine) -> None:
    model = make_unet(1, 3, 64, 64, depth=4)
    one, other = compose(model, engine), compose(model, engine)
    assert [edge.points for edge in one.edges] == [edge.points for edge in other.edges]


def test_no_u_without_skips_nor_for_skips_that_cross(engine: LayoutEngine) -> None:
    def is_u(model: Model) -> bool:
        composer = Composer(engine)
        view = View(model, grouping="names")
        composer.compose(view, Labels())
        composed = composer.recall(view)
        return composed is not None and composed.arranged.assembly.is_exact

    assert is_u(make_unet(1, 3, 64, 64, depth=3))
    net = Network(1, 3, 64, 64)  # an autoencoder
    value = "x"
    for level in range(4):
        value = net.convolve(f"enc{level}/conv", value, 8 << level, 2)
        value = net.add(("Relu", "Tanh", "Elu", "Selu")[level], f"enc{level}/act", value)
    for level in reversed(range(4)):
        value = net.grow(f"dec{level}/up", value, 8 << level)
        value = net.add(("Relu", "Tanh", "Elu", "Selu")[level], f"dec{level}/act", value)
    assert not is_u(net.finish(value))
    net = Network(1, 3, 64, 64)  # what leaves first comes back first
    value, kept = "x", []
    for level in range(4):
        value = net.convolve(f"enc{level}/conv", value, 8)
        value = net.add(("Relu", "Tanh", "Elu", "Selu")[level], f"enc{level}/act", value)
        kept.append(value)
        value = net.add("MaxPool", f"pool{level}/p", value, kernel_shape=[2, 2], strides=[2, 2])
    for level in range(4):
        value = net.grow(f"dec{level}/up", value, 8)
        skip = net.add("GlobalAveragePool", f"mean{level}/pool", kept[level])
        value = net.add("Mul", f"dec{level}/scale", value, skip)
    assert not is_u(net.finish(value))


def make_mirror(*, back: int = 4, classifier: bool = False) -> Model:
    """Return an encoder and a decoder without skips, too long for one column.

    The decoder raises the resolution ``back`` times.
    """
    net = Network(1, 3, 64, 64)
    value, acts = "x", ("Relu", "Tanh", "Elu", "Selu")
    for level in range(4):
        for step in range(level + 2):
            value = net.convolve(f"enc{level}/c{step}", value, 8 << level)
            value = net.add(acts[level], f"enc{level}/a{step}", value)
        value = net.add("MaxPool", f"pool{level}/p", value, kernel_shape=[2, 2], strides=[2, 2])
    for level in reversed(range(4 - back, 4)):
        value = net.grow(f"up{level}/up", value, 8 << level)
        for step in range(level + 2):
            value = net.convolve(f"dec{level}/c{step}", value, 8 << level)
            value = net.add(acts[level], f"dec{level}/a{step}", value)
    if classifier:
        value = net.add("Sigmoid", "out/act", net.convolve("out/conv", value, 2))
    return net.finish(value)


@pytest.mark.parametrize("classifier", [False, True])
def test_levels_that_mirror_each_other_stand_at_one_height_without_skips(
    engine: LayoutEngine, classifier: bool
) -> None:
    scene = compose(make_mirror(classifier=classifier), engine)
    boxes = named(scene)
    for level in range(4):
        assert boxes[f"enc{level}"].y == pytest.approx(boxes[f"dec{level}"].y, abs=0.5)
        assert boxes[f"enc{level}"].x < boxes[f"dec{level}"].x
        assert boxes[f"pool{level}"].y == pytest.approx(boxes[f"up{level}"].y, abs=0.5)
    check_edges(scene)


def test_levels_that_do_not_mirror_each_other_are_one_stream(engine: LayoutEngine) -> None:
    scene = compose(make_mirror(back=2), engine)
    boxes = named(scene)
    assert boxes["dec3"].y != pytest.approx(boxes["enc3"].y, abs=0.5)


def test_what_rises_on_its_own_way_is_no_skip(engine: LayoutEngine) -> None:
    """A mask decoder scales maps up beside a product with which they meet at the end."""
    net = Network(1, 3, 16, 16)
    first = net.add("Elu", "body/act", net.convolve("body/conv", "x", 8))
    up = net.add("Relu", "up1/act", net.grow("up1/conv", first, 8))
    up = net.add("Tanh", "up2/act", net.grow("up2/conv", up, 8))
    small = net.convolve("tokens/conv", first, 8, 2)
    kept = net.add("Selu", "tokens/act", small)
    value = net.add("Softplus", "low/act", net.convolve("low/conv", kept, 8, 2))
    value = net.grow("wide/conv", value, 8)
    value = net.add("Concat", "join", value, kept, axis=1)
    for number in range(3):
        value = net.add("Sigmoid", f"g{number}/act", net.grow(f"g{number}/conv", value, 8))
    model = net.finish(net.add("Mul", "last", value, up))
    view, composer = View(model, grouping="names"), Composer(engine)
    composer.compose(view, Labels())
    composed = composer.recall(view)
    assert composed is not None
    assert composed.plan.level.u is None


def test_a_skip_around_the_end_runs_beside_all_boxes_that_it_passes(engine: LayoutEngine) -> None:
    net = Network(1, 3, 64, 64)
    value, kept = net.convolve("intro/conv", "x", 8), []
    for level in range(3):
        value = net.add(("Relu", "Tanh", "Elu")[level], f"enc{level}/act", value)
        value = net.convolve(f"enc{level}/conv", value, 8 << level)
        kept.append(value)
        value = net.convolve(f"down{level}/conv", value, 16 << level, 2)
    for level in reversed(range(3)):
        value = net.grow(f"up{level}/conv", value, 8 << level)
        value = net.add("Add", f"sum{level}", value, kept[level])
        value = net.convolve(f"dec{level}/conv_of_a_long_name", value, 8 << level)
        value = net.add("Selu", f"dec{level}/act", value)
    value = net.convolve("an_ending_of_a_long_name", value, 3)
    scene = compose(net.finish(net.add("Add", "whole", value, "x")), engine)
    check_edges(scene)
