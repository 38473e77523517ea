"""What nodes say whose limits and sizes are computed: parts, splits, resizing, single numbers."""

from __future__ import annotations

import pytest

from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.view import View
from tests.onnx_text import load_text


def say(text: str, name: str = "n") -> list[str]:
    """Return what stands on the node of a name."""
    view = View(load_text(text))
    face = FaceBook("facts").face(view.items[f"main/{name}"])
    return [run.text for run in face.texts]


#: how torch's exporter through traces writes `x.chunk(3, 1)[1]`
CHUNK = """
g (float[{batch}, 36] x) => (y) {{
  s = Shape (x)
  one = Constant <value_int: int = 1> ()
  axes = Constant <value_ints: ints = [1]> ()
  d = Gather <axis: int = 0> (s, axes)
  two = Constant <value_ints: ints = [2]> ()
  more = Add (d, two)
  three = Constant <value_ints: ints = [3]> ()
  size = Div (more, three)
  first = Constant <value_ints: ints = [1]> ()
  last = Constant <value_ints: ints = [2]> ()
  starts = Mul (size, first)
  ends = Mul (size, last)
  [n] y = Slice (x, starts, ends, axes)
}}
"""


@pytest.mark.parametrize("batch", ["2", "batch"])
def test_limits_that_follow_from_shapes_are_said_in_numbers(batch: str) -> None:
    assert say(CHUNK.format(batch=batch)) == ["Slice", "12 … 23 of 36"]


def slice_with(starts: str, ends: str, axes: str) -> str:
    return f"""
    g (float[2, 36, T] x) => (y)
    <int64[1] s = {{{starts}}}, int64[1] e = {{{ends}}}, int64[1] a = {{{axes}}}>
    {{ [n] y = Slice (x, s, e, a) }}
    """


@pytest.mark.parametrize(
    ("starts", "ends", "axes", "said"),
    [
        ("0", "8", "1", "first 8 of 36"),
        ("8", "9223372036854775807", "1", "last 28 of 36"),
        ("8", "36", "1", "last 28 of 36"),
        ("-4", "9223372036854775807", "1", "last 4 of 36"),
        ("0", "-1", "-2", "first 35 of 36"),
        ("-1", "9223372036854775807", "2", "last of T"),
        ("-5", "9223372036854775807", "2", "last 5 of T"),
        ("3", "4", "1", "4th of 36"),
        ("3", "8", "2", "3 … 7 of T"),
        ("0", "3", "2", "first 3 of T"),
        ("2", "9223372036854775807", "2", "all but the first 2 of T"),
        ("2", "-3", "2", "all but the first 2 and the last 3 of T"),
        ("0", "-1", "2", "all but the last of T"),
    ],
)
def test_a_slice_says_its_axis_and_part_in_one_row(
    starts: str, ends: str, axes: str, said: str
) -> None:
    assert say(slice_with(starts, ends, axes)) == ["Slice", said]


def test_equal_parts_of_several_axes_are_said_once() -> None:
    text = """
    g (float[1, 8, 32, 32] x) => (y)
    <int64[2] s = {0, 0}, int64[2] e = {16, 16}, int64[2] a = {2, 3}>
    { [n] y = Slice (x, s, e, a) }
    """
    assert say(text) == ["Slice", "first 16 of 32 on 2 axes"]


def test_limits_of_which_nothing_is_known_are_left_out() -> None:
    text = """
    g (float[2, 36] x, int64[1] s, int64[1] e) => (y)
    <int64[1] a = {1}>
    { [n] y = Slice (x, s, e, a) }
    """
    assert say(text) == ["Slice", "axis 1"]


@pytest.mark.parametrize(
    ("start", "end", "said"),
    [
        ("0", "8", ["axis 1", "first 8"]),
        ("0", "-1", ["axis 1", "all but the last 1"]),
        ("2", "9223372036854775807", ["axis 1", "all but the first 2"]),
        ("-3", "9223372036854775807", ["axis 1", "last 3"]),
        ("2", "8", ["axis 1", "2 to 8"]),
    ],
)
def test_parts_of_axes_of_unknown_sizes_are_said_in_words(
    start: str, end: str, said: list[str]
) -> None:
    text = f"""
    g (x) => (y)
    <int64[1] s = {{{start}}}, int64[1] e = {{{end}}}, int64[1] a = {{1}}>
    {{ [n] y = Slice (x, s, e, a) }}
    """
    assert say(text) == ["Slice", " · ".join(said)]


def test_a_part_up_to_an_end_that_is_not_known_is_left_out() -> None:
    text = """
    g (x, int64[1] e) => (y)
    <int64[1] s = {0}, int64[1] a = {1}>
    { [n] y = Slice (x, s, e, a) }
    """
    assert say(text) == ["Slice", "axis 1"]


@pytest.mark.parametrize(
    ("attributes", "operand", "count", "said"),
    [
        ("axis: int = 1, num_outputs: int = 3", "", 3, "36 → 3 × 12"),
        ("axis: int = -1", ", sizes", 2, "36 → 8 + 28"),
    ],
)
def test_a_split_says_its_parts(attributes: str, operand: str, count: int, said: str) -> None:
    results = ", ".join("abc"[:count])
    text = f"""
    g (float[2, 36] x) => ({results})
    <int64[2] sizes = {{8, 28}}>
    {{ [n] {results} = Split <{attributes}> (x{operand}) }}
    """
    assert say(text) == ["Split", said]


RESIZED = """
g (float[1, 8, {size}] x, float[1, 3, {other}] image) => (y)
<float[4] scales = {{1, 1, 2, 2}}>
{{
  zero = Constant <value_ints: ints = [0]> ()
  two = Constant <value_ints: ints = [2]> ()
  four = Constant <value_ints: ints = [4]> ()
  s = Shape (x)
  before = Slice (s, zero, two)
  t = Shape (image)
  behind = Slice (t, two, four)
  sizes = Concat <axis: int = 0> (before, behind)
  [n] y = Resize <mode: string = "linear"> (x, , {operands})
}}
"""


@pytest.mark.parametrize(
    ("size", "other", "operands", "said"),
    [
        ("16, 16", "128, 96", ", sizes", "to 128 × 96 · linear"),
        ("16, 16", "H, W", ", sizes", "to H × W · linear"),
        ("16, 16", "?, ?", ", sizes", "to the size of image · linear"),
        ("16, 16", "H, W", "scales", "×2 · linear"),
    ],
)
def test_a_resize_says_its_factor_or_size(size: str, other: str, operands: str, said: str) -> None:
    text = RESIZED.format(size=size, other=other, operands=operands)
    assert say(text) == ["Resize", said]


def test_what_reduces_says_its_axes() -> None:
    text = """
    g (float[1, 8, 7, 7] x) => (y)
    <int64[2] axes = {-1, -2}>
    { [n] y = ReduceMean <keepdims: int = 0> (x, axes) }
    """
    assert say(text) == ["ReduceMean", "over all 7 × 7 places"]


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        ("Mul (x, c)", "× 3"),
        ("Add (c, x)", "+ 3"),
        ("Sub (c, x)", "3 − x"),
        ("Sub (x, c)", "− 3"),
        ("Div (x, c)", "÷ 3"),
        ("Div (c, x)", "3 ÷ x"),
        ("Add (x, n3)", "− 3"),
        ("Mul (x, n3)", "× −3"),
        ("Pow (x, c)", "x³"),
        ("Pow (x, n3)", "x^−3"),
    ],
)
def test_what_computes_with_one_number_says_how(operation: str, said: str) -> None:
    text = f"""
    g (float[2, 8] x) => (y) <float c = {{3}}, float n3 = {{-3}}> {{ [n] y = {operation} }}
    """
    assert say(text) == [operation[:3], said]


@pytest.mark.parametrize(
    ("index", "said"),
    [("0", "first of 197"), ("-1", "last of 197"), ("-3", "195th of 197"), ("1", "second of 197")],
)
def test_what_takes_a_single_place_says_which(index: str, said: str) -> None:
    text = f"""
    g (float[2, 197, 48] x) => (y) <int64 i = {{{index}}}> {{
      [n] y = Gather <axis: int = 1> (x, i)
    }}
    """
    assert say(text) == ["Gather", said]


_COMPOSED = """
    g (float[2, 3, 16] x) => (y) <float[16] stored = {{{numbers}}}, float two = {{2}}>
    {{ e = Exp ({operand})  [n] y = {op_type} ({taken}) }}
"""


@pytest.mark.parametrize(
    ("op_type", "taken", "said"),
    [
        ("Sub", "x, e", "− 16 values"),
        ("Sub", "e, x", "16 values − x"),
        ("Mul", "x, e", "× scale of 16"),
        ("Add", "e, x", "+ bias of 16"),
    ],
)
def test_numbers_that_are_computed_of_stored_ones_are_said_as_these(
    op_type: str, taken: str, said: str
) -> None:
    numbers = ", ".join(str(number) for number in range(16))
    given = {"numbers": numbers, "op_type": op_type, "taken": taken}
    assert said in say(_COMPOSED.format(operand="stored", **given))
    assert said not in say(_COMPOSED.format(operand="x", **given))
    assert said not in say(_COMPOSED.format(operand="two", **given))
