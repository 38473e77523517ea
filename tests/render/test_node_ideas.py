"""What single nodes are called that do more than their operators say."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper, parser

from netloupe.explorer.model import Model
from netloupe.explorer.patterns import recognise
from netloupe.explorer.patterns.pattern_examples import EXAMPLES
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.render.node_ideas import find_node_idea
from netloupe.explorer.view import View
from tests.onnx_text import load_text


def find_idea(model: Model) -> str:
    """Return what the node with the name n is called besides its operator; "" for nothing."""
    idea = find_node_idea(next(node for node in model.graph.nodes if node.name == "n"))
    return "" if idea is None else idea.name


def say(model: Model, name: str = "n") -> list[str]:
    """Return what stands on the node of a name, and its category behind that."""
    face = FaceBook("facts").face(View(model).items[f"main/{name}"])
    return [*(run.text for run in face.texts), face.category]


ATTENDED = """
<ir_version: 10, opset_import: ["": 21]>
g (float[2, {stream}] x) => (y)
<int64[1] stored = {{0}}> {{
  h = Tanh (x)
  [n] tokens = Add (h, table)
  normal = Softsign (tokens)
  keys = Transpose <perm: ints = {perm}> (normal)
  scores = MatMul (normal, keys)
  weights = Softmax (scores)
  mixed = MatMul (weights, normal)
  y = Add (mixed, tokens)
}}
"""


def attend(table: np.ndarray, stream: str = "60, 32", text: str = ATTENDED) -> Model:
    perm = "[0, 2, 1]" if stream.count(",") == 1 else "[0, 1, 3, 2]"
    proto = parser.parse_model(text.format(stream=stream, perm=perm))
    proto.graph.initializer.append(numpy_helper.from_array(table.astype(np.float32), "table"))
    return load(proto.SerializeToString())


def make_table(*dims: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=dims)


def make_waves(places: int, features: int, *, apart: bool) -> np.ndarray:
    angles = np.arange(places)[:, None] / 10_000 ** (np.arange(features // 2) * 2 / features)
    waves = [np.sin(angles), np.cos(angles)]
    if apart:
        return np.concatenate(waves, axis=1)
    return np.stack(waves, axis=-1).reshape(places, features)


@pytest.mark.parametrize(
    ("table", "stream", "said"),
    [
        (make_table(1, 60, 32), "60, 32", "60 × 32"),
        (make_table(60, 32), "60, 32", "60 × 32"),
        (make_table(2, 60, 32), "60, 32", "60 × 32"),
        (make_table(1, 7, 7, 32), "7, 7, 32", "7 × 7 × 32"),
        (make_waves(60, 32, apart=True), "60, 32", "60 × 32 · sinusoidal"),
        (make_waves(60, 32, apart=False), "60, 32", "60 × 32 · sinusoidal"),
    ],
)
def test_a_stored_table_of_places_and_features_is_positions(
    table: np.ndarray, stream: str, said: str
) -> None:
    assert say(attend(table, stream)) == ["+ positions", said, "lookup"]


@pytest.mark.parametrize(
    "behind",
    [
        """q = MatMul (tokens, w) k = Transpose <perm: ints = [0, 2, 1]> (q) a = MatMul (q, k)
        b = Sigmoid (a) y = MatMul (b, q)""",
        "f = DFT (tokens, , one) y = Abs (f)",
    ],
)
def test_positions_are_added_before_what_mixes_tokens_without_a_softmax(behind: str) -> None:
    text = f"""
    <ir_version: 10, opset_import: ["": 21]>
    g (float[2, 60, 32] x) => (y) <int64 one = {{{{1}}}}, int64[2] dims = {{{{32, 32}}}}> {{{{
      w = ConstantOfShape (dims)
      h = Tanh (x)
      [n] tokens = Add (h, table)
      {behind}
    }}}}
    """
    assert find_idea(attend(make_table(60, 32), "60, 32", text)) == "+ positions"


@pytest.mark.parametrize(
    ("table", "stream"),
    [
        (make_table(32), "60, 32"),  # a bias
        (make_table(1, 1, 32), "60, 32"),  # the same at all places
        (make_table(4, 16), "60, 4, 16"),  # a bias of each head
        (make_table(60, 4), "60, 4"),  # coordinates
    ],
)
def test_what_is_not_of_places_and_features_is_none(table: np.ndarray, stream: str) -> None:
    assert not find_idea(attend(table, stream))


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("h = Tanh (x)", "y = Softmax (tokens)"),  # scores and what hides some of them
        ("h = Tanh (x)", "y = Relu (tokens)"),  # no attention at all
        ("h = Mul (x, table2)", "a = MatMul (tokens, turned) y = Softmax (a)"),  # a norm
        # what attention gives is added to its queries
        ("p = Softmax (z) h = MatMul (p, x)", "a = MatMul (tokens, turned) y = Softmax (a)"),
    ],
)
def test_stored_numbers_that_are_added_otherwise_are_none(before: str, behind: str) -> None:
    text = f"""
    <ir_version: 10, opset_import: ["": 21]>
    g (float[2, 60, 32] x, float[2, 60, 60] z) => (y) {{{{
      {before}
      [n] tokens = Add (h, table)
      {behind}
    }}}}
    """
    proto = parser.parse_model(text.format())
    for name, dims in (("table", (60, 32)), ("table2", (60, 32)), ("turned", (32, 60))):
        table = make_table(*dims).astype(np.float32)
        proto.graph.initializer.append(numpy_helper.from_array(table, name))
    assert not find_idea(load(proto.SerializeToString()))


MODULATED = """
<ir_version: 10, opset_import: ["": 21]>
g (float[2, 6, 32] step, float[2, 60, 32] x) => (y) {{
  h = Tanh (step)
  [n] rows = Add (h, table)
  {apart}
  shifted = Add (x, one)  scaled = Mul (shifted, two)
  keys = Transpose <perm: ints = {perm}> (scaled)
  scores = MatMul (scaled, keys)
  weights = Softmax (scores)
  y = MatMul (weights, scaled)
}}
"""


@pytest.mark.parametrize(
    "apart",
    [
        "one, two, three, four, five, six = Split <axis = 1, num_outputs = 6> (rows)",
        """a = Constant <value = int64[1] {{0}}> ()  b = Constant <value = int64[1] {{1}}> ()
        one = Gather <axis = 1> (rows, a)  two = Gather <axis = 1> (rows, b)""",
    ],
)
def test_a_table_of_scales_and_shifts_is_no_positions(apart: str) -> None:
    text = MODULATED.replace("{apart}", apart)
    assert not find_idea(attend(make_table(1, 6, 32), "60, 32", text))


SCALED = """
g (float[1, 40, 7, 7] x) => (y) <float[1, 40, 1, 1] scale = {{{numbers}}}> {{
  h = Tanh (x)
  [n] scaled = Mul (h, scale)
  {end}
}}
"""


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("y = Add (scaled, x)", ["Layer scale", "40", "plain"]),
        ("d = Dropout (scaled) y = Add (x, d)", ["Layer scale", "40", "plain"]),
    ],
)
def test_a_factor_for_each_channel_before_a_residual_sum_is_a_layer_scale(
    end: str, said: list[str]
) -> None:
    numbers = ", ".join(["0.1"] * 40)
    assert say(load_text(SCALED.format(numbers=numbers, end=end))) == said


@pytest.mark.parametrize("end", ["y = Relu (scaled)", "y = Add (scaled, scale)"])
def test_other_factors_are_no_layer_scale(end: str) -> None:
    numbers = ", ".join(["0.1"] * 40)
    assert not find_idea(load_text(SCALED.format(numbers=numbers, end=end)))


def sum_branches(sums: str, number: str, operation: str = "Div") -> Model:
    return load_text(f"""
    g (float[1, 8] x, float[1, 8] z) => (y) <float c = {{{number}}}> {{
      a0 = Tanh (x)  b0 = Sigmoid (x)  d0 = Relu (x)
      {sums}
      [n] y = {operation} (s, c)
    }}
    """)


THREE = "a = Add (a0, x) b = Add (b0, z) d = Add (d0, x) t = Add (a, b) s = Add (t, d)"


@pytest.mark.parametrize(
    ("sums", "number", "operation", "said"),
    [
        ("t = Add (a0, b0) s = Add (t, d0)", "3", "Div", "Mean of 3"),
        ("s = Sum (a0, b0, d0)", "3", "Div", "Mean of 3"),
        ("s = Add (a0, b0)", "0.5", "Mul", "Mean of 2"),
        (THREE, "3", "Div", "Mean of 3"),
        (THREE, "2", "Div", ""),
        ("s = Add (a0, b0)", "3", "Div", ""),
        ("s = Add (a0, a0)", "2", "Div", ""),
    ],
)
def test_a_sum_divided_by_the_number_of_its_branches_is_their_mean(
    sums: str, number: str, operation: str, said: str
) -> None:
    assert find_idea(sum_branches(sums, number, operation)) == said


@pytest.mark.parametrize(
    ("shift", "is_shifted"),
    [("Sub (h, c)", True), ("Sub (c, h)", False), ("Add (h, c)", False)],
)
def test_softplus_less_its_value_at_zero_is_a_shifted_softplus(
    shift: str, is_shifted: bool
) -> None:
    model = load_text(f"""
    g (float[2, 8] x) => (y) <float c = {{0.693147}}> {{ h = Softplus (x) y = {shift} }}
    """)
    found = recognise(model.graph.nodes)
    assert (found is not None and found.name == "shifted softplus") == is_shifted


TRACKED = """
<ir_version: 10, opset_import: ["": 21]>
g (float[1, 3, 31, 31] template, float[1, 3, 63, 63] search) => (y)
<int64[4] dims = {8, 3, 3, 3}, int64[4] kernel = {8, 1, 29, 29}> {
  w = ConstantOfShape (dims)
  z = Conv (template, w)
  x = Conv (search, w)
  k = Reshape (z, kernel)
  [n] y = Conv <group = 8, kernel_shape = [29, 29]> (x, k)
}
"""


def test_features_of_another_picture_as_kernel_are_a_correlation() -> None:
    tracked = load_text(TRACKED)
    assert find_idea(tracked) == "Cross-correlation"
    assert "cross-correlation (29×29)" in tracked.architecture.sentence
    # the kernel is made of features, but its places are none of theirs
    made = TRACKED.replace("{8, 1, 29, 29}", "{29, 8, 29, 1}")
    other = load_text(made.replace("group = 8, kernel_shape = [29, 29]", "kernel_shape = [29, 1]"))
    assert find_idea(other) == ""
    assert "cross-correlation" not in other.architecture.sentence
    mixed = load_text(EXAMPLES["computed-kernel"][0])
    assert [find_node_idea(node) for node in mixed.graph.nodes if node.op_type == "Conv"] == [
        None,
        None,
    ]


DECIMATED = """
g (float[1, 8, 64, 64] x) => (float[?, ?, ?, ?] y)
<int64[1] zero = {0}, int64[1] end = {9223372036854775807}, int64[1] two = {2}, int64[1] one = {1},
 int64[1] places = {-1}, int64[1] rows = {2}, int64[2] zeros = {0, 0}, int64[1] most = {32},
 int64[2] ends = {9223372036854775807, 9223372036854775807}, int64[2] twos = {2, 2},
 int64[2] both = {2, 3}> {
  h = Tanh (x)
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[n] y = Slice (h, zero, end, places, two)", ["Decimation", "/2", "resample"]),
        ("[n] y = Slice (h, one, end, places, two)", ["Decimation", "/2", "resample"]),
        ("[n] y = Slice (h, zeros, ends, both, twos)", ["Decimation", "/2", "resample"]),
        # a skip takes all
        (
            "[n] d = Slice (h, zero, end, places, two) e = Tanh (d) y = MatMul (h, e)",
            ["Decimation", "/2", "resample"],
        ),
    ],
)
def test_what_keeps_every_second_place_decimates(text: str, expected: list[str]) -> None:
    assert say(load_text(DECIMATED + text + "}")) == expected


@pytest.mark.parametrize(
    "text",
    [
        # the others are taken as well: pairs of features, pixels put into channels
        (
            "[n] a = Slice (h, zero, end, places, two) b = Slice (h, one, end, places, two) "
            "y = Concat <axis = 1> (a, b)"
        ),
        # channels, the first half of places, and all of them
        "[n] y = Slice (h, zero, end, one, two)",
        "[n] y = Slice (h, zero, most, places, one)",
        "[n] y = Slice (h, zero, most, places, two)",
        "[n] y = Slice (h, zero, end, places, one)",
    ],
)
def test_what_drops_other_places_does_not_decimate(text: str) -> None:
    assert find_idea(load_text(DECIMATED + text + "}")) == ""
