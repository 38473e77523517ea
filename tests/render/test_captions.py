"""What only moves values is written on the stream, what computes has a box."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Model
from netloupe.explorer.render.face import Face
from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.render.marks import RectMark, TextMark, mark_face
from netloupe.explorer.render.paint import Paint
from netloupe.explorer.render.theme import load_theme
from netloupe.explorer.view import View
from tests.onnx_text import load_text

#: of an operator and its operands: what is written on the stream
CAPTIONS = {
    "Slice (h, one, four, last)": "last 3 of 4",
    "Slice (h, zero, three, last)": "first 3 of 4",
    "Gather <axis: int = 1> (h, zero)": "first of 4",
    "Transpose <perm: ints = [1, 0]> (h)": "Transpose 2 × 4 → 4 × 2",
    "Mul (h, half)": "× 0.5",
    "Add (h, half)": "+ 0.5",
    "Sub (half, h)": "0.5 − x",
    "Div (h, half)": "÷ 0.5",
}
#: and what stays a box
BOXES = {
    "Add (h, h2)": "two streams",
    "Concat <axis: int = 1> (h, h2)": "two streams",
    "Mul (h, row)": "numbers for each channel",
    "Neg (h)": "computes each element",
    "MatMul (h, square)": "has weights",
    "ReduceSum <keepdims: int = 0> (h)": "sums",
    "RandomNormalLike (h)": "makes noise",
}
TEXT = """
g (float[2, 4] x) => (y)
<float half = {{0.5}}, float[4] row = {{1, 2, 3, 4}}, float[4, 4] square,
 int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] three = {{3}}, int64[1] four = {{4}},
 int64[1] last = {{1}}> {{
  h = {first} (x)
  h2 = {first} (h)
  [n] z = {node}
  y = {first} (z)
}}
"""


def make(node: str, first: str = "Relu") -> Model:
    return load_text(TEXT.format(node=node, first=first))


def draw(model: Model, details: str = "facts") -> Face:
    return FaceBook(details).face(View(model).items["main/n"])  # type: ignore[arg-type]


@pytest.mark.parametrize(("node", "said"), CAPTIONS.items())
def test_what_only_moves_a_value_is_written_on_the_stream(node: str, said: str) -> None:
    face = draw(make(node))
    assert face.outline == "caption"
    assert " ".join(run.text for run in face.texts) == said
    assert max(run.x for run in face.texts) < face.width
    assert node.split()[0] in said or node.split()[0] in face.title


@pytest.mark.parametrize("node", BOXES)
def test_what_computes_has_a_box(node: str) -> None:
    assert draw(make(node)).outline != "caption"


@pytest.mark.parametrize("node", CAPTIONS)
def test_where_nothing_computes_all_are_boxes(node: str) -> None:
    assert draw(make(node, "Floor")).outline == "node"


@pytest.mark.parametrize("node", CAPTIONS)
def test_with_all_details_all_are_boxes(node: str) -> None:
    assert draw(make(node), "all").outline == "node"


def test_several_words_have_a_box_where_one_line_has_no_room() -> None:
    perm = ", ".join(map(str, range(30)))
    dims = ", ".join(["1"] * 30)
    model = load_text(f"""
        g (float[{dims}] x) => (y)
        {{ h = Relu (x)  [n] y = Transpose <perm: ints = [{perm}]> (h) }}
    """)
    face = draw(model)
    assert face.outline == "node" or face.width <= 250


def test_a_caption_has_no_border_but_where_it_is_painted() -> None:
    face, theme = draw(make("Mul (h, half)")), load_theme("light")
    assert all(isinstance(mark, TextMark) for mark in mark_face(face, theme))
    painted = mark_face(face, theme, Paint(tone="added"))
    assert any(isinstance(mark, RectMark) and mark.stroke for mark in painted)


@pytest.mark.parametrize(
    ("second", "said"), [("Flatten (h)", "Cast · Flatten"), ("Softsign (h)", "preparation")]
)
def test_preparation_that_only_moves_a_value_is_told_by_its_operators(
    second: str, said: str
) -> None:
    model = load_text(f"""
        g (int32[4, 8] x, float[8, 3] w) => (y)
        {{ h = Cast <to = 1> (x)  f = {second}  z = MatMul (f, w)  y = Relu (z) }}
    """)
    group = Group("preparation", model.graph, "main/preparation/", "preparation", "", None)
    group.children = [*model.graph.nodes[:2]]
    item = View(model).items["main/#0:Cast"]
    item.element, item.label = group, group.label
    face = FaceBook().face(item)
    assert face.texts[0].text == said
    assert (face.outline == "caption") == (said != "preparation")


@pytest.mark.parametrize(
    ("dims", "numbers", "said"),
    [
        ("2, 1", "0, 0", "+ 0"),  # the same for each example
        ("2, 4", "0, 0, 0, 0, 0, 0, 0, 0", ""),  # one for each channel may have been learned
        ("2, 1", "0, 1", ""),
    ],
)
def test_a_number_that_is_written_for_each_example(dims: str, numbers: str, said: str) -> None:
    model = load_text(f"""
        g (float[2, 4] x) => (y) <float[{dims}] c = {{{numbers}}}>
        {{ h = Relu (x)  [n] z = Add (h, c)  y = Relu (z) }}
    """)
    face = draw(model)
    assert (face.outline == "caption") == bool(said)
    assert not said or face.texts[0].text == said


def test_pieces_that_are_taken_alike_are_counted() -> None:
    model = load_text("""
        g (float[2, 4] x) => (y) <int64[1] a = {0}, int64[1] b = {1}, int64[1] c = {2}>
        { h = Relu (x)  p = Slice (h, a, b, b)  q = Slice (h, b, c, b)  y = Add (p, q) }
    """)
    group = Group("repeat", model.graph, "main/pieces/", "Slice", "", None)
    group.children = [*model.graph.nodes[1:3]]
    group.node_count = 2
    item = View(model).items["main/#1:Slice"]
    item.element, item.label = group, group.label
    face = FaceBook().face(item)
    assert face.outline == "caption"
    assert face.stack == 0
    assert [run.text for run in face.texts] == ["Slice", "×2"]


@pytest.mark.parametrize(
    ("node", "sign"), [("Add", "+"), ("Sub", "−"), ("Mul", "×"), ("Div", ""), ("Max", "")]
)
def test_what_joins_two_streams_place_by_place_is_a_circle_with_its_sign(
    node: str, sign: str
) -> None:
    face = draw(make(f"{node} (h, h2)"))
    assert (face.outline == "junction") == bool(sign)
    assert not sign or [run.text for run in face.texts] == [sign]


@pytest.mark.parametrize(
    ("node", "is_dot"),
    [
        ("Split <num_outputs: int = 1> (h)", True),
        ("Concat <axis: int = 1> (h)", True),
        ("Slice (h, one, four, last)", False),
        ("Sum (h)", False),
    ],
)
def test_what_gives_the_whole_of_one_value_is_a_dot_without_words(node: str, is_dot: bool) -> None:
    face = draw(make(node))
    assert (face.outline == "junction" and face.texts == ()) == is_dot
    if is_dot:
        assert face.title == node.split()[0]
        assert draw(make(node), "all").outline == "node"
