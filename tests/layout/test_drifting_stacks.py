"""Stacks of open layers whose stream leaves them aside of where it enters do not drift."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from onnx import TensorProto, helper

from netloupe.explorer.layout import Composer, LayoutEngine
from netloupe.explorer.layout.level import Child, Level, Wire
from netloupe.explorer.layout.place import Budget, Placer
from netloupe.explorer.layout.placement import Places
from netloupe.explorer.model import Model
from netloupe.explorer.options import Direction
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.asked_view import make_view
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.view import ViewOptions
from tests.scene_check import find_geometry_faults

#: what an open layer of these levels is: its size along and across, and its ports
WIDTH, HEIGHT, ENTERS, LEAVES, MASK = 200.0, 90.0, 20.0, 170.0, 90.0


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def make_stack(count: int, direction: Direction, *, has_stubs: bool = False) -> Level:
    """Return layers one behind another, each with a stub of a mask beside it where wanted."""
    size = (WIDTH, HEIGHT) if direction == "TB" else (HEIGHT, WIDTH)
    children = [Child(*size, (ENTERS, MASK)[: 1 + has_stubs], (LEAVES,)) for _ in range(count)]
    wires = [Wire(number, number + 1, 0, 0) for number in range(count - 1)]
    if has_stubs:
        children += [Child(40.0, 17.0) for _ in range(count)]
        wires += [Wire(count + n, n, None, 1, is_main=False) for n in range(count)]
    return Level(direction, children, 1, 1, [*wires, *_list_ends(count)])


def _list_ends(count: int) -> list[Wire]:
    return [Wire(-1, 0, None, 0), Wire(count - 1, -1, 0, None)]


def place(level: Level, engine: LayoutEngine) -> Places:
    assembly = Placer().place(level, Budget(time.monotonic() + 60.0, engine))
    return assembly.without_drift(level).join(level)


@pytest.mark.parametrize("direction", ["TB", "LR"])
def test_layers_of_a_long_stack_stand_below_one_another(
    direction: Direction, engine: LayoutEngine
) -> None:
    level = make_stack(20, direction)
    places = place(level, engine)
    across, along = (0, 1) if direction == "TB" else (1, 0)
    assert places.boxes[:, across] == pytest.approx(places.boxes[0, across])
    assert all(two - one >= HEIGHT for one, two in pairwise(places.boxes[:, along]))
    assert (places.width, places.height)[across] < WIDTH + 1
    for number, curve in enumerate(places.edges.tuples()[:19]):
        start, end = curve[:2], curve[-2:]
        one, two = places.boxes[number], places.boxes[number + 1]
        assert start[across] == pytest.approx(one[across] - WIDTH / 2 + LEAVES)
        assert start[along] == pytest.approx(one[along] + HEIGHT / 2)
        assert end[across] == pytest.approx(two[across] - WIDTH / 2 + ENTERS)
        assert end[along] == pytest.approx(two[along] - HEIGHT / 2)
        # between the two it runs in the gap, and in neither of them
        inner = [curve[i + along] for i in range(0, len(curve), 2)]
        assert min(inner) >= start[along] - 0.01
        assert max(inner) <= end[along] + 0.01


def test_between_few_layers_the_stream_runs_straight(engine: LayoutEngine) -> None:
    places = place(make_stack(3, "TB"), engine)
    for curve in places.edges.tuples():
        assert {*curve[0::2]} == {curve[0]}


@pytest.mark.parametrize("direction", ["TB", "LR"])
def test_a_stub_stands_before_the_layer_that_takes_it(
    direction: Direction, engine: LayoutEngine
) -> None:
    count = 12
    level = make_stack(count, direction, has_stubs=True)
    places = place(level, engine)
    across, along = (0, 1) if direction == "TB" else (1, 0)
    for layer in range(1, count):
        stub, box = places.boxes[count + layer], places.boxes[layer]
        size = level.children[count + layer][:2][along]
        assert stub[along] + size / 2 < box[along] - HEIGHT / 2
        assert stub[along] - size / 2 > places.boxes[layer - 1][along] + HEIGHT / 2
        assert stub[across] == pytest.approx(box[across] - WIDTH / 2 + MASK)


def test_streams_that_turn_do_so_in_lanes_of_their_own(engine: LayoutEngine) -> None:
    layer = Child(WIDTH, HEIGHT, (10.0, 40.0), (150.0, 180.0))
    wires = [Wire(n, n + 1, port, port) for n in range(9) for port in (0, 1)]
    places = place(Level("TB", [layer] * 10, 1, 1, [*wires, *_list_ends(10)]), engine)
    assert places.boxes[:, 0] == pytest.approx(places.boxes[0, 0])
    curves = places.edges.tuples()[: len(wires)]
    for left, right in zip(curves[0::2], curves[1::2], strict=True):
        runs = [
            next(y for y, after in pairwise(curve[1::2]) if y == after and y > curve[1] + 1)
            for curve in (left, right)
        ]
        assert runs[0] < runs[1]  # the other way round they would cross


def test_what_runs_from_port_to_port_beside_a_stack_is_no_box(engine: LayoutEngine) -> None:
    level = make_stack(20, "TB")
    level.input_count = level.output_count = 2
    level.wires.append(Wire(-2, -2))
    places = place(level, engine)
    assert len(places.boxes) == 20
    assert places.edges.drawn_count == len(level.wires)


def make_decoder(layers: int) -> Model:
    """Return layers of named groups, whose gates stand side by side, and a mask for all."""
    nodes = []

    def add(scope: str, op_type: str, *inputs: str) -> str:
        name = f"/model/{scope}/{op_type}_{len(nodes)}"
        nodes.append(helper.make_node(op_type, list(inputs), [name], name=name))
        return name

    stream, mask = "x", add("mask", "Relu", "m")
    for layer in range(layers):
        scope = f"layers.{layer}"
        hidden = add(f"{scope}/attn", "Add", add(f"{scope}/ln", "Abs", stream), mask)
        for _ in range(4):
            hidden = add(f"{scope}/mlp", "Exp", hidden)
            hidden = add(f"{scope}/mlp", "Mul", hidden, add(f"{scope}/mlp/gate", "Tanh", hidden))
        stream = add(scope, "Add", stream, hidden)
    nodes.append(helper.make_node("Identity", [stream], ["y"], name="/model/head/Identity"))
    x, m, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xmy")
    graph = helper.make_graph(nodes, "decoder", [x, m], [y])
    return load(helper.make_model(graph).SerializeToString())


OPEN = ViewOptions(expand="all", grouping="names", wrap=False)


def test_an_open_stack_is_as_wide_as_a_few_of_its_layers(engine: LayoutEngine) -> None:
    sizes = {}
    for layers in (2, 24):
        view, _ = make_view(make_decoder(layers), OPEN)
        scene = Composer(engine).compose(view, Labels(), deadline=60)
        assert find_geometry_faults(scene, view) == []
        sizes[layers] = scene.width, scene.height
    assert sizes[24][0] < 1.5 * sizes[2][0]


def test_an_open_stack_is_cut_into_columns() -> None:
    model = make_decoder(24)
    one = make_picture(model, OPEN).scene
    for wrap in (True, "auto"):
        scene = make_picture(model, replace(OPEN, wrap=wrap)).scene
        assert scene.height < one.height / 2
