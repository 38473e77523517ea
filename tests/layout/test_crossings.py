"""Edges that strike boxes or titles are found; those that go around them are not."""

from __future__ import annotations

from dataclasses import replace

from netloupe.explorer.layout import Composer, LayoutEngine, Scene
from netloupe.explorer.layout.scene import Flat
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.asked_view import make_view
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.view import ViewOptions
from netloupe.proto import onnx_pb2
from tests.crossings import find_crossings


def compose() -> tuple[Scene, Labels]:
    """Return groups of three nodes; in the first a value goes around the middle one."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.input.add(name="x")
    for name, operator, inputs in (
        ("layer.0/first", "Relu", ["x"]),
        ("layer.0/middle", "Conv", ["layer.0/first"]),
        ("layer.0/last", "Add", ["layer.0/middle", "layer.0/first"]),
        ("layer.1/exp", "Exp", ["layer.0/last"]),
        ("layer.1/neg", "Neg", ["layer.1/exp"]),
        ("layer.1/tanh", "Tanh", ["layer.1/neg"]),
    ):
        proto.graph.node.add(op_type=operator, name=name, input=inputs, output=[name])
    proto.graph.output.add(name="layer.1/tanh")
    model = load(proto.SerializeToString())
    view, _ = make_view(model, ViewOptions.parse({"expand": "all", "grouping": "names"}))
    labels = Labels()
    engine = LayoutEngine()
    try:
        return Composer(engine).compose(view, labels), labels
    finally:
        engine.stop()


def test_an_edge_through_a_box_of_its_level_is_found() -> None:
    scene, labels = compose()
    assert find_crossings(scene, labels) == []
    boxes = {box.item.path.split("/")[-1]: box for box in scene.boxes}
    middle = boxes["middle"]
    straight = []
    for edge in scene.edges:
        if boxes["first"].item is scene.boxes[edge.source].item and edge.points[-1] > (
            middle.y + middle.height
        ):
            x, y = middle.x + middle.width / 2, edge.points[1]
            edge = edge._replace(points=(x, y, x, y, x, edge.points[-1], x, edge.points[-1]))
        straight.append(edge)
    struck = replace(scene, root=None, by_hand=Flat(scene.boxes, tuple(straight), scene.ports))
    assert [line.split(" runs ")[1] for line in find_crossings(struck, labels)] == [
        f"through {middle.item.key}"
    ]


def test_an_edge_through_the_title_of_the_group_around_it_is_found() -> None:
    scene, labels = compose()
    frame = next(box for box in scene.boxes if box.item.is_open)
    index = scene.boxes.index(frame)
    entering = next(
        edge
        for edge in scene.edges
        if edge.source == index and scene.boxes[edge.target].parent == index
    )
    x, y = frame.x + 12, frame.y
    moved = entering._replace(points=(x, y, x, y, *entering.points[-2:], *entering.points[-2:]))
    edges = tuple(moved if edge is entering else edge for edge in scene.edges)
    struck = replace(scene, root=None, by_hand=Flat(scene.boxes, edges, scene.ports))
    assert any(
        line.endswith(f"through the title of {frame.item.key}")
        for line in find_crossings(struck, labels)
    )
