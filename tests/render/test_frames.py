"""Titles of open groups: in lines, the name at the left and the number at the right."""

from __future__ import annotations

import re

import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest

from netloupe.explorer.grouping import build_group_tree
from netloupe.explorer.layout import SceneBox
from netloupe.explorer.model import Graph
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.face import Face
from netloupe.explorer.render.faces import make_face
from netloupe.explorer.render.frames import Heading, lay_heading, measure_title, write_heading
from netloupe.explorer.render.marks import TextMark, mark_frame
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.render.sizes import HEADER, TEXT_STYLES
from netloupe.explorer.render.text import measure_text
from netloupe.explorer.render.theme import load_theme
from netloupe.explorer.view import Instance, Item, View, ViewOptions
from tests.corpus import corpus_file, light_file
from tests.unrolled import make_recurrent

LINES = [15.6, 30.6, 45.6, 60.6]


def lay(*heading: object) -> Face:
    return lay_heading(Heading(*heading), "group")  # type: ignore[arg-type] # as given


def lines(face: Face, anchor: str) -> list[str]:
    """Return what stands at one side of a frame, line by line."""
    runs = {run.y: run.text for run in face.texts if run.anchor == anchor}
    return [runs.get(y, "") for y in LINES if y <= max(runs, default=0.0)]


def test_a_repeat_has_its_name_at_the_left_and_its_number_at_the_right() -> None:
    face = lay("layers.0 … 11", "Transformer block", "×12", "shows layers.0")
    assert lines(face, "start") == ["layers.0 … 11", "Transformer block"]
    assert lines(face, "end") == ["×12", "shows layers.0"]
    # read in turn it is a sentence
    assert [run.text for run in face.texts] == [
        *("layers.0 … 11", "×12", "Transformer block", "shows layers.0")
    ]
    assert {run.style for run in face.texts if run.y == LINES[0]} == {"title"}
    assert {run.style for run in face.texts if run.y == LINES[1]} == {"title-muted"}
    assert face.height == face.header == HEADER + 15.0
    assert face.title == ""


def test_its_parts_do_not_touch() -> None:
    face = lay("layers.0 … 11", "Transformer block", "×12", "shows layers.0", ("the first has 9",))
    title = measure_title(face)
    assert title.left + title.right == face.width
    for run in face.texts:
        width = measure_text(run.text, *TEXT_STYLES[run.style])
        if run.anchor == "start":
            assert run.x + width <= title.left - 10.0
        else:
            assert run.x - width >= title.left + 10.0
    assert max(run.y for run in face.texts) < title.height


@pytest.mark.parametrize(
    ("heading", "left", "right"),
    [
        (
            ("neck", "Linear · LayerNorm · Conv · LN"),
            ["neck", "Linear · LayerNorm · Conv · LN"],
            [],
        ),
        (("Conv · ReLU", "", "×4", "shows 1 of 4"), ["Conv · ReLU"], ["×4", "shows 1 of 4"]),
        (
            ("layers.0 … 3", "", "×4", "shows layers.1", ("the first has 558 nodes",)),
            ["layers.0 … 3", "the first has 558 nodes"],
            ["×4", "shows layers.1"],
        ),
        (
            ("layers.0 … 3", "Block", "×4", "all shown", ("1 input", "1 output", "x" * 20)),
            ["layers.0 … 3", "Block", "1 input, 1 output", "x" * 20],
            ["×4", "all shown"],
        ),
    ],
)
def test_what_is_said_stands_in_as_few_lines_as_make_it_narrow(
    heading: tuple[object, ...], left: list[str], right: list[str]
) -> None:
    face = lay(*heading)
    assert lines(face, "start") == left
    assert lines(face, "end") == right
    assert face.height == HEADER + 15.0 * (max(len(left), len(right)) - 1)


def test_a_short_title_is_one_line() -> None:
    face = lay("mlp", "MLP")
    assert [(run.text, run.y) for run in face.texts] == [("mlp", LINES[0]), ("MLP", LINES[0])]
    assert face.height == face.header == HEADER
    assert lay("mlp").height == HEADER


def test_what_has_no_room_is_shortened_and_told_whole_as_the_title() -> None:
    name = "module_" * 20
    face = lay(name, "Block", "×12", "shows layers.0", ("the first has 9 nodes",))
    assert face.width < 470
    assert "…" in face.texts[0].text
    assert face.title == f"{name} ×12 · Block · shows layers.0 · the first has 9 nodes"


def find_frames(name: str) -> list[Face]:
    """Return the frames of the repeats that are open in the first view of a model."""
    path = light_file(name) if name.startswith("light") else corpus_file(name)
    picture = make_picture(load(path), ViewOptions.parse({}), deadline=600)
    boxes = [box for box in picture.scene.boxes if box.item.is_open and box.item.repeat]
    return [picture.labels.faces.face(box.item) for box in boxes]


def test_stacks_of_real_models() -> None:
    (bert,) = find_frames("exported/bert.legacy.onnx")
    assert lines(bert, "start") == ["encoder / layer.0 … 11", "Transformer block"]
    assert lines(bert, "end") == ["×12", "shows layer.0"]
    (sam,) = find_frames("exported/sam_encoder.legacy.onnx")
    assert lines(sam, "start") == ["layers.0–2 … 9–11"]


def test_a_name_of_a_repetition_that_is_too_long_gives_way_to_its_number() -> None:
    for frame in find_frames("light_vgg19.onnx"):
        assert re.fullmatch(r"shows (the first|the last|\d of 4)", lines(frame, "end")[1])


def test_the_number_stands_at_the_right_border_of_a_frame_of_any_width() -> None:
    face = lay("layers.0 … 11", "Transformer block", "×12", "shows layers.0")
    item = make_item()
    for width in (face.width, face.width + 300.0):
        box = SceneBox(item, 0.0, 0.0, width, 200.0, -1, 0)
        marks = mark_frame(face, box, load_theme("light"))
        ends = {mark.text: mark for mark in marks if isinstance(mark, TextMark)}
        assert ends["×12"].anchor == ends["shows layers.0"].anchor == "end"
        assert ends["×12"].x == ends["shows layers.0"].x == pytest.approx(width - 14.0)
        assert ends["layers.0 … 11"].x == 14.0


def make_item() -> Item:
    graph: Graph = load(light_file("light_vgg19.onnx")).graph
    group = next(iter(build_group_tree(graph).groups.values()))
    return Item("group", group.path, group, Instance(graph, "main", None), None)


def test_a_closed_loop_is_no_stack_of_cards() -> None:
    loops = [item for item in View(make_recurrent()).root.children if item.repeat is not None]
    face = make_face(loops[0])
    assert face.stack == 0
    assert {"↻ ×5", "shared weights"} <= {run.text for run in face.texts}
    stacks = [i for i in View(make_recurrent(shared=False)).root.children if i.repeat is not None]
    face = make_face(stacks[0])
    assert face.stack == 2
    assert {"×5"} <= {run.text for run in face.texts}


def _find_quiet(inner: str) -> str:
    """Return what is said of a frame around an inverted residual and a node behind it."""
    weights = {"a": (32, 8, 1, 1), "b": (32, 1, 3, 3), "c": (8, 32, 1, 1)}
    proto = onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["": 21]>
        net (float[1, 8, 6, 6] x) => (float[1, 8, 6, 6] y) {{
          [{inner}__exp] h = Conv (x, a)  [{inner}__act] i = Relu (h)
          [{inner}__deep] j = Conv <group = 32, pads = [1, 1, 1, 1]> (i, b)
          [{inner}__again] k = Relu (j)  [{inner}__project] l = Conv (k, c)
          [block__chosen] m = Dropout (l)  [block__end] n = ReduceSum <keepdims = 1> (m)
          [head__one] o = Sin (n)  [head__two] y = Cos (o)
        }}""")
    for name, dims in weights.items():
        tensor = onnx.numpy_helper.from_array(np.ones(dims, np.float32), name)
        proto.graph.initializer.append(tensor)
    for node in proto.graph.node:
        node.name = "/" + node.name.replace("__", "/")
    return write_heading(View(load(proto)).open("main/block/")).quiet


def test_a_frame_says_what_its_closed_box_did_where_no_box_in_it_does() -> None:
    assert _find_quiet("block") == "Inverted residual"
    assert _find_quiet("block__inner") == ""
