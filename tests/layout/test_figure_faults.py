"""What no designer lets stand is found, and nothing of it in what is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from netloupe.explorer.layout import Composer, LayoutEngine, SceneBox, SceneEdge
from netloupe.explorer.layout.scene import Flat, Zoom
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.picture import Picture, make_picture
from netloupe.explorer.view import ViewOptions
from netloupe.proto import onnx_pb2
from tests.figure_faults import find_figure_faults


@pytest.fixture(scope="module")
def picture() -> Iterator[Picture]:
    """Yield two open groups of three nodes each, a value of the first going around."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.input.add(name="x")
    for name, operator, inputs in (
        ("first/one", "Relu", ["x"]),
        ("first/middle", "Exp", ["first/one"]),
        ("first/last", "Add", ["first/middle", "first/one"]),
        ("second/exp", "Exp", ["first/last"]),
        ("second/neg", "Neg", ["second/exp"]),
    ):
        proto.graph.node.add(op_type=operator, name=name, input=inputs, output=[name])
    proto.graph.output.add(name="second/neg")
    engine = LayoutEngine()
    options = ViewOptions.parse({"expand": "all", "grouping": "names"})
    try:
        yield make_picture(
            load(proto.SerializeToString()), options, composer=Composer(engine), deadline=600
        )
    finally:
        engine.stop()


def change(
    picture: Picture, box: SceneBox | None = None, edge: SceneEdge | None = None
) -> list[str]:
    """Return what is found where the last box, or the last edge, is another one."""
    scene = picture.scene
    boxes = scene.boxes if box is None else (*scene.boxes[:-1], box)
    edges = scene.edges if edge is None else (*scene.edges[:-1], edge)
    changed = replace(scene, root=None, by_hand=Flat(boxes, edges, scene.ports))
    return find_figure_faults(replace(picture, scene=changed))


def test_nothing_is_wrong_with_what_is_drawn(picture: Picture) -> None:
    assert find_figure_faults(picture) == []


def test_boxes_over_titles_and_texts_over_boxes_are_found(picture: Picture) -> None:
    boxes, edges = picture.scene.boxes, picture.scene.edges
    frame = next(box for box in boxes if box.item.is_open)
    over = boxes[-1]._replace(x=frame.x + 2, y=frame.y + 2)
    assert any("over the title of main/first/" in line for line in change(picture, over))
    x, y = boxes[-1].x + boxes[-1].width / 2, boxes[-1].y + boxes[-1].height / 2
    told = edges[-1]._replace(label="64", label_x=x, label_y=y)
    assert [line for line in change(picture, edge=told) if "lies over" in line] == [
        f"the text '64' lies over {boxes[-1].item.key}"
    ]


def test_lines_through_texts_are_found(picture: Picture) -> None:
    edges = picture.scene.edges
    x, y = edges[0].points[:2]
    told = edges[-1]._replace(label="64 × 64", label_x=x, label_y=y + 8)
    found = change(picture, edge=told)
    assert f"a line of {edges[0].path} runs through the text '64 × 64'" in found


@pytest.mark.parametrize("is_open", [False, True])
def test_loose_ends_are_found(picture: Picture, is_open: bool) -> None:
    scene = picture.scene
    edge = next(
        each
        for each in scene.edges
        if each.target >= 0 and scene.boxes[each.target].item.is_open is is_open
        if scene.boxes[each.target].width != scene.boxes[each.target].height
    )
    x, y = edge.points[-2:]
    moved = edge._replace(points=(*edge.points[:-2], x, y - 9))
    edges = tuple(moved if each is edge else each for each in scene.edges)
    changed = replace(scene, root=None, by_hand=Flat(scene.boxes, edges, scene.ports))
    (found,) = find_figure_faults(replace(picture, scene=changed))
    assert ("without a port" if is_open else "in the air, 9 from") in found


def test_a_zoom_over_another_box_is_found(picture: Picture) -> None:
    first, last = picture.scene.boxes[-2:]
    x = first.x + first.width
    zoom = Zoom(0.0, first.y, last.y + last.height, 0.0, x + 99, first.y, last.y + 99, 1)
    scene = replace(picture.scene, zooms=(zoom,))
    found = find_figure_faults(replace(picture, scene=scene))
    assert f"a zoom lies over {last.item.key}" in found
