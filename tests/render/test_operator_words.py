"""What nodes do in words, where their settings are lists or numbers that an exporter wrote."""

from __future__ import annotations

from math import prod

import pytest

from netloupe.explorer.costs.value_facts import find_value_facts
from tests.onnx_text import load_text
from tests.render.test_size_words import say


def pad(pads: str, how: str = "", dims: str = "1, 4, 8, 8") -> str:
    count = pads.count(",") + 1
    return f"""
    g (float[{dims}] x) => (y) <int64[{count}] p = {{{pads}}}>
    {{ [n] y = Pad {how} (x, p) }}
    """


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (
            pad("0, 0, 3, 3, 0, 0, 3, 3", '<mode: string = "reflect">'),
            ["Reflection pad", "3 on each side"],
        ),
        (pad("0, 0, 1, 1, 0, 0, 1, 1"), ["Zero pad", "1 on each side"]),
        (pad("0, 0, 2, 0, 0, 0", dims="1, 4, 8"), ["Zero pad", "2 before"]),
        (pad("0, 0, 2, 0, 0, 1", dims="1, 4, 8"), ["Zero pad", "2 before and 1 behind"]),
        (
            pad("0, 0, 1, 2, 0, 0, 1, 2", '<mode: string = "edge">'),
            ["Replication pad", "1, 2 on each side"],
        ),
        (
            pad("0, 0, 1, 2, 0, 0, 1, 2", '<mode: string = "wrap">'),
            ["Circular pad", "1, 2 on each side"],
        ),
        (pad("0, 0, 0, 0, 0, 0, 0, 0"), ["Pad", "nothing"]),
        (pad("0, 0, -1, 0, 0, 0", dims="1, 4, 8"), ["Pad", "zeros"]),  # it cuts
    ],
)
def test_paddings_are_told_with_what_and_how_much(model: str, said: list[str]) -> None:
    assert say(model) == said


def test_padding_with_another_number_is_none_with_zeros() -> None:
    model = """
    g (float[1, 4, 8] x) => (y) <int64[6] p = {0, 0, 1, 0, 0, 1}, float low = {-5}>
    { [n] y = Pad (x, p, low) }
    """
    assert say(model)[0] == "Pad"


#: as torch's older exporter writes paddings: pairs of each axis from the last one on, turned
_COMPUTED = """
    g (float[1, 4, 8, 8] x) => (y)
    <int64[{count}] given = {{{given}}}, int64[1] more = {{{more}}}, int64[2] pairs = {{-1, 2}},
     int64[1] start = {{-1}}, int64[1] end = {{-9223372036854775807}}, int64[1] axis = {{0}},
     int64[1] step = {{{step}}}, int64[1] all = {{-1}}> {{
      zeros = ConstantOfShape <value = int64[1] {{0}}> (more)
      listed = Concat <axis = 0> (given, zeros)
      matrix = Reshape (listed, pairs)
      turned = Slice (matrix, start, end, axis, step)
      sides = Transpose <perm = [1, 0]> (turned)
      row = Reshape (sides, all)
      p = Cast <to = 7> (row)
      [n] y = Pad <mode = "reflect"> (x, p)
    }}
"""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("3, 3, 3, 3", ["Reflection pad", "3 on each side"]),
        ("1, 2, 3, 4", ["Reflection pad", "3 before and 4 behind, 1 before and 2 behind"]),
    ],
)
def test_computed_paddings_are_read(given: str, said: list[str]) -> None:
    model = _COMPUTED.format(given=given, count=4, more=4, step=-1)
    assert say(model) == said
    width, height = (8 + sum(map(int, given.split(", ")[at : at + 2])) for at in (0, 2))
    result = load_text(model).graph.nodes[-1].output(0)
    assert result is not None
    dims = find_value_facts(result.graph.model).find_dims(result)
    assert dims == (1, 4, height, width)


def test_paddings_of_rows_that_are_not_known_are_not_read() -> None:
    model = _COMPUTED.format(given="3, 3, 3, 3", count=4, more=4, step=-1)
    model = model.replace("x) => (y)", "x, int64[4] others) => (y)").replace("(given,", "(others,")
    assert say(model) == ["Pad", "reflect"]


@pytest.mark.parametrize(
    ("operands", "said"),
    [("(x, low, high)", "−2 … 20"), ("(x, low)", "≥ −2"), ("(x, , high)", "≤ 20")],
)
def test_limits_are_told_as_an_interval(operands: str, said: str) -> None:
    model = f"""
    g (float[1, 8] x) => (y) <float low = {{-2.0}}, float high = {{20.0}}>
    {{ [n] y = Clip {operands} }}
    """
    assert say(model) == ["Clip", said]


#: tokens × features, mixed by attention
ATTENTION = """
g (float[1, 6, 8] x) => (y) <int64 i = {{{index}}}>
{{
  t = Transpose <perm: ints = [0, 2, 1]> (x)
  s = MatMul (x, t)
  p = Softmax (s)
  c = MatMul (p, x)
  z = Add (x, c)
  [n] y = Gather <axis: int = {axis}> (z, i)
}}
"""


@pytest.mark.parametrize(
    ("index", "axis", "said"),
    [
        (0, 1, "first token"),
        (1, 1, "second token"),
        (-1, 1, "last token"),
        (5, 1, "last token"),
        (3, 1, "4th of 6"),
        (0, 2, "first of 8"),  # a feature
    ],
)
def test_one_place_behind_attention_is_a_token(index: int, axis: int, said: str) -> None:
    assert say(ATTENTION.format(index=index, axis=axis)) == [said]


@pytest.mark.parametrize(
    ("index", "axis", "said"),
    [(-1, 2, "last step"), (0, 2, "first step"), (-1, 1, "last of 4")],
)
def test_one_place_behind_a_convolution_over_a_sequence_is_a_step(
    index: int, axis: int, said: str
) -> None:
    model = f"""
    g (float[1, 4, 9] x, float[4, 4, 1] w) => (y) <int64 i = {{{index}}}>
    {{ c = Conv (x, w)  z = Relu (c)  [n] y = Gather <axis: int = {axis}> (z, i) }}
    """
    assert say(model) == [said]


def test_one_place_of_something_else_is_told_by_its_number() -> None:
    model = "g (float[1, 6, 8] x) => (y) <int64 i = {0}> { [n] y = Gather <axis: int = 1> (x, i) }"
    assert say(model) == ["Gather", "first of 6"]


def test_a_new_shape_is_told_without_the_batch() -> None:
    model = """
    g (float[2, 10] x) => (y) <int64[3] s = {-1, 5, 2}> { [n] y = Reshape (x, s) }
    """
    assert say(model) == ["Reshape", "to 5 × 2"]


@pytest.mark.parametrize(
    ("equation", "said"),
    [
        ("bi,ni->bn", "product over 4"),
        ("nij,njk->nik", "batched product over 4"),
        ("bi,bi->bi", "element by element"),
        ("bi,i->bi", "element by element"),
        ("i,j->ij", "outer product"),
        ("bik,bjk->bijk", "batched outer product"),
    ],
)
def test_an_equation_is_told_by_what_it_sums_over(equation: str, said: str) -> None:
    first, second = equation.partition("->")[0].split(",")
    sizes = {"b": 2, "n": 3, "i": 4, "j": 4, "k": 5}
    dims = [", ".join(str(sizes[axis]) for axis in term) for term in (first, second)]
    model = f"""
    g (float[{dims[0]}] a, float[{dims[1]}] b) => (y)
    {{ [n] y = Einsum <equation: string = "{equation}"> (a, b) }}
    """
    assert say(model) == ["Einsum", said]


@pytest.mark.parametrize(
    ("equation", "said"),
    [
        ("bni,kij,bmj->bknm", True),
        ("bi,ij,bj->b", True),
        ("bi,ij,bi->bj", False),
        ("bi,bij,bj->bi", False),
    ],
)
def test_a_matrix_between_two_vectors_is_told(equation: str, said: bool) -> None:
    sizes = {"b": 2, "n": 3, "m": 6, "i": 4, "j": 5, "k": 7}
    terms = equation.partition("->")[0].split(",")
    one, between, other = (", ".join(str(sizes[axis]) for axis in term) for term in terms)
    count = prod(sizes[axis] for axis in terms[1])
    numbers = ", ".join(["0.5"] * count)
    model = f"""
    g (float[{one}] a, float[{other}] b) => (y) <float[{between}] w = {{{numbers}}}>
    {{ [n] y = Einsum <equation: string = "{equation}"> (a, w, b) }}
    """
    assert ("bilinear product over 4 × 5" in say(model)) is said


@pytest.mark.parametrize(
    ("operator", "stored", "said"),
    [
        ("Add (x, c)", "float[4] c = {1, 2, 3, 4}", "+ bias of 4"),
        ("Mul (x, c)", "float[4] c = {1, 2, 3, 4}", "× scale of 4"),
        ("Mul (x, c)", "float[4] c = {1, 0, 1, 0}", "× mask of 4"),
        ("Add (x, c)", "float[4] c = {1, 0, 1, 0}", "+ bias of 4"),
        ("Sub (c, x)", "float[4] c = {1, 2, 3, 4}", "4 values − x"),
        ("Div (x, c)", "float[2, 4] c = {1, 2, 3, 4, 5, 6, 7, 8}", "÷ 2 × 4 values"),
        ("Add (x, c)", "float[2, 1] c = {1, 2}", "+ 2 values"),  # channels, or steps
        ("Add (y, c)", "float[2, 1, 1] c = {1, 2}", "+ bias of 2"),
    ],
)
def test_stored_numbers_are_told_by_what_they_are_for(
    operator: str, stored: str, said: str
) -> None:
    model = f"g (float[3, 2, 4] x, float[3, 2, 4, 4] y) => (z) <{stored}> {{ [n] z = {operator} }}"
    assert say(model)[1:] == [said]


@pytest.mark.parametrize(
    ("user", "said"),
    [
        ("y = Gather (table, z)", "+ offsets of 4"),
        ("y = Gather (z, places)", "+ bias of 4"),
        ("y = Cast <to = 1> (z)", "+ bias of 4"),
    ],
)
def test_where_tables_begin_that_ids_pick_rows_of_is_no_bias(user: str, said: str) -> None:
    model = f"""
    g (int64[3, 4] x, float[90, 2] table) => (y)
    <int64[4] c = {{0, 10, 30, 60}}, int64[1] places = {{1}}>
    {{ [n] z = Add (x, c)  [m] {user} }}
    """
    assert say(model)[1:] == [said]


def test_a_part_that_is_all_is_told_as_all() -> None:
    model = """
    g (float[2, 3] x) => (y) <int64[2] s = {0, 0}, int64[2] e = {2147483647, 3}>
    { [n] y = Slice (x, s, e) }
    """
    assert say(model) == ["Slice", "all"]


def test_limits_and_paddings_that_nobody_knows_are_not_told() -> None:
    model = """
    g (float[1, 8] x, float low, int64[4] p) => (y, z)
    { [n] y = Clip (x, low)  [m] z = Pad (x, p) }
    """
    assert load_text(model)
    assert say(model) == ["Clip"]
    assert say(model, "m") == ["Pad", "zeros"]
