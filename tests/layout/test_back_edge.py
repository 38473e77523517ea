"""The back edge of a loop: outside on the left, from the end of the body to its beginning."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.layout import Composer, LayoutEngine, Scene, SceneEdge
from netloupe.explorer.model import Model
from netloupe.explorer.options import Direction
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.view import View, ViewOptions
from tests.scene_check import find_geometry_faults
from tests.unrolled import make_lstm, make_recurrent, make_refinement, make_skip_stack


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    layout_engine = LayoutEngine()
    yield layout_engine
    layout_engine.stop()


def compose(engine: LayoutEngine, model: Model, direction: Direction = "TB") -> tuple[View, Scene]:
    view = View(model)
    (repeat,) = [item for item in view.root.children if item.repeat is not None]
    view.open(repeat.path)
    return view, Composer(engine).compose(view, Labels(direction=direction), direction)


def list_back(scene: Scene) -> list[SceneEdge]:
    return [edge for edge in scene.edges if edge.kind == "loop"]


@pytest.mark.parametrize("make", [make_lstm, make_recurrent, make_refinement])
@pytest.mark.parametrize("direction", ["TB", "LR"])
def test_a_loop_has_a_back_edge_outside(
    engine: LayoutEngine, make: Callable[[], Model], direction: Direction
) -> None:
    view, scene = compose(engine, make(), direction)
    assert find_geometry_faults(scene, view) == []
    beside, onward = list_back(scene)
    assert (beside.arrow, onward.arrow) == (False, True)
    assert beside.points[-2:] == onward.points[:2]
    (frame,) = [box for box in scene.boxes if box.item.is_open]
    across, along = (0, 1) if direction == "TB" else (1, 0)
    places = (frame.x, frame.y), (frame.x + frame.width, frame.y + frame.height)
    assert places[0][along] < beside.points[along] < places[1][along]
    assert beside.points[-2:][across] < places[0][across]
    assert onward.points[-2:][along] == pytest.approx(places[0][along], abs=0.02)
    repeat = frame.item.repeat
    assert repeat is not None
    steps = len(repeat.children)
    assert onward.label == f"×{steps}, shared weights"
    assert beside.label.startswith("carries ")
    boxes = [box for box in scene.boxes if box.parent < 0 and box is not frame]
    least = min(beside.points[across::2])
    for box in boxes:  # none stands on it
        begin, end = (
            (box.y, box.y + box.height) if direction == "TB" else (box.x, box.x + box.width)
        )
        meets = begin < places[1][along] and end > places[0][along]
        left = (box.x, box.y)[across]
        right = left + (box.width, box.height)[across]
        assert not (meets and left < places[0][across] and right > least)


def test_a_stack_has_none(engine: LayoutEngine) -> None:
    view, scene = compose(engine, make_skip_stack())
    assert list_back(scene) == []
    assert find_geometry_faults(scene, view) == []
    assert {edge.label for edge in scene.edges} - {""} == {"residual stream", "sum of skips"}
    view, scene = compose(engine, make_recurrent(shared=False))
    assert list_back(scene) == []


def test_all_steps_beside_each_other_have_none(engine: LayoutEngine) -> None:
    view, _ = compose(engine, make_recurrent())
    view.unroll(next(item.path for item in view.root.children if item.repeat is not None))
    scene = Composer(engine).compose(view, Labels(), "TB")
    assert list_back(scene) == []
    assert find_geometry_faults(scene, view) == []


def test_a_loop_beside_the_picture_has_its_back_edge_and_room_for_it(engine: LayoutEngine) -> None:
    options = ViewOptions.parse({"inset": "main/cell-cell_3/", "expand": "none"})
    scene = make_picture(make_lstm(), options, composer=Composer(engine)).scene
    (zoom,) = scene.zooms
    beside, onward = list_back(scene)  # and no stream of its own leads in or out of the frame
    (frame,) = [box for box in scene.boxes if box.item.is_open]
    assert min(beside.points[::2]) < frame.x
    assert zoom.far < min(beside.points[::2]) if zoom.side > 0 else zoom.far > frame.x
    assert 0 < onward.label_y < onward.points[1]
    carried = frame.item.carried
    ends = {edge.value for edge in scene.edges if -1 in (edge.source, edge.target)}
    assert ends.isdisjoint({*carried.entering, *carried.leaving})


def test_what_else_is_carried_is_led_to_where_it_begins(engine: LayoutEngine) -> None:
    """A state that begins outside has a port of its own, and each later step takes the last one."""
    view, scene = compose(engine, make_lstm(takes_states=True))
    assert find_geometry_faults(scene, view) == []
    _, *onward = list_back(scene)
    (frame,) = [box for box in scene.boxes if box.item.is_open]
    ends = sorted(edge.points[-2] for edge in onward)
    ports = sorted(
        edge.points[-2]
        for edge in scene.edges
        if edge.kind == "data" and edge.target >= 0 and scene.boxes[edge.target] is frame
    )
    assert len(ends) == 2
    assert all(edge.arrow for edge in onward)
    assert sum(any(abs(end - port) < 20 for end in ends) for port in ports) == 2


def make_loop_node(op_type: str) -> Model:
    """Return a network that adds up in a Loop that only its number of turns ends, or in a Scan."""
    make, info = helper.make_node, helper.make_tensor_value_info
    state = info("h_in", TensorProto.FLOAT, [4]), info("h_out", TensorProto.FLOAT, [4])
    nodes = [make("Tanh", ["h_in"], ["t"]), make("Add", ["t", "row"], ["h_out"])]
    scalar = {name: info(name, TensorProto.BOOL, []) for name in ("cond_in", "cond_out")}
    if op_type == "Loop":
        yes = numpy_helper.from_array(np.array(True), "yes")
        body = helper.make_graph(
            [make("Identity", ["yes"], ["cond_out"]), make("Abs", ["x"], ["row"]), *nodes],
            "turn",
            [info("turn_number", TensorProto.INT64, []), scalar["cond_in"], state[0]],
            [scalar["cond_out"], state[1]],
            [yes],
        )
        node = make("Loop", ["times", "", "h0"], ["h"], body=body)
    else:
        rows = info("row", TensorProto.FLOAT, [4])
        body = helper.make_graph(nodes, "turn", [state[0], rows], [state[1]])
        node = make("Scan", ["h0", "x"], ["h"], body=body, num_scan_inputs=1)
    inputs = [info("x", TensorProto.FLOAT, [4] if op_type == "Loop" else [5, 4])]
    inputs += [info("h0", TensorProto.FLOAT, [4]), info("times", TensorProto.INT64, [])]
    graph = helper.make_graph([node], "g", inputs, [info("h", TensorProto.FLOAT, [4])])
    opsets = [helper.make_opsetid("", 17)]
    return load(helper.make_model(graph, opset_imports=opsets).SerializeToString())


@pytest.mark.parametrize("op_type", ["Loop", "Scan"])
def test_an_open_loop_of_the_file_carries_its_state(engine: LayoutEngine, op_type: str) -> None:
    model = make_loop_node(op_type)
    view = View(model)
    (node,) = [item for item in view.root.children if item.openable]
    view.open(node.path)
    labels = Labels(direction="TB", has_controls=False)
    scene = Composer(engine).compose(view, labels, "TB")
    assert find_geometry_faults(scene, view) == []
    beside, onward = list_back(scene)
    assert beside.label == "carries h"
    assert onward.arrow
    # where it can be closed again it is as a page without a kernel lays it out
    assert not list_back(Composer(engine).compose(view, Labels(direction="TB"), "TB"))
