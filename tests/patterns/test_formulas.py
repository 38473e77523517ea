"""A written formula is what is computed: read again, it gives what onnx's evaluator gives."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

import numpy as np
import onnx.parser
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator

from netloupe.explorer.patterns import find_graph_context
from netloupe.explorer.patterns.formulas import write_formula
from netloupe.explorer.patterns.operations import OUTSIDE, Operations
from netloupe.explorer.readers.load import load

from .formula_reader import Array, FormulaReader

_STORED = {"half": 0.5, "one": 1.0, "two": 2.0, "least": -1.5, "few": 1e-5}
_STORED |= {"root": 2**0.5, "pi": np.pi}
#: operators of the graphs, with what they take: ``r`` for a result, ``s`` for a stored number
_UNARY = ("Abs", "Cos", "Exp", "Neg", "Relu", "Sigmoid", "Sin", "Tanh", "Reciprocal", "Sqrt")
_BINARY = ("Add", "Sub", "Mul", "Div", "Max", "Min")
_REDUCING = ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceL2", "ReduceSumSquare", "ReduceL1")


def write(body: str, dims: str = "2, 3, 5", results: str = "y", given: str = "") -> str:
    """Return the formula of all nodes of a graph of values ``a``, ``b`` and ``c`` of some sizes."""
    return _write(_make(body, dims, results, given))


def _make(body: str, dims: str, results: str = "y", given: str = "") -> onnx.ModelProto:
    stored = ", ".join(f"float {name} = {{{number}}}" for name, number in _STORED.items())
    stored += ", int64[1] last = {-1}, int64[1] middle = {1}, int64[1] first = {0}"
    stored += ", float[5] row = {0, 1, 2, 3, 4}"
    others = f", {given}" if given else ""
    return onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["": 21]>
        g (float[{dims}] a, float[{dims}] b, float[{dims}] c{others}) => (float[?] {results})
        <{stored}> {{ {body} }}
    """)


def _write(model: onnx.ModelProto) -> str:
    graph = load(model).graph
    operations = Operations(graph.nodes, find_graph_context(graph))
    ends = [n for n, users in enumerate(operations.users) if OUTSIDE in users]
    return write_formula(operations, ends[0], 8) if len(ends) == 1 else ""


#: the variance over views (Y. Yao and others, MVSNet, 2018, equation 2)
_VARIANCE = """
    s = Mul (a, a)  m = ReduceMean (s, last)  n = ReduceMean (a, last)  p = Pow (n, two)
    y = Sub (m, p)
"""
#: the scale of an affine coupling (R. Prenger and others, WaveGlow, 2019, equation 3)
_COUPLING = "d = Sub (a, b)  n = Neg (c)  e = Exp (n)  y = Mul (d, e)"
_SQUASH = """
    n = ReduceL2 (a, last)  p = Mul (a, n)  s = Pow (n, two)  t = Add (one, s)  y = Div (p, t)
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (_VARIANCE, "mean(x²) − mean(x)²"),
        (_COUPLING, "(x − y) · exp(−z)"),
        (_SQUASH, "x · ‖x‖ / (1 + ‖x‖²)"),
        ("s = Mul (a, a)  t = ReduceSum (s, last)  r = Sqrt (t)  y = Div (a, r)", "x / √(Σx²)"),
        ("d = Sub (a, row)  s = Pow (d, two)  n = Neg (s)  y = Exp (n)", "exp(−(x − c)²)"),
        ("m = ReduceMean (a, last)  d = Sub (a, m)  y = Mul (d, half)", "0.5 · (x − mean(x))"),
        ("t = Add (b, few)  y = Div (a, t)", "x / (y + ε)"),
        ("n = Neg (a)  m = Mul (n, b)  y = Add (c, m)", "x − y · z"),
        ("k = Greater (a, half)  y = Where (k, a, b)", "x if x > 0.5 else y"),
        ("m = Max (a, b)  y = Pow (m, half)", "√max(x, y)"),
        ("s = Sqrt (a)  y = Pow (s, two)", "(√x)²"),
        ("s = Pow (a, two)  y = Sqrt (s)", "√(x²)"),
        ("s = Sub (b, c)  y = Sub (a, s)", "x − (y − z)"),
        ("s = Div (b, c)  y = Div (a, s)", "x / (y / z)"),
        ("p = Mul (a, pi)  s = Sin (p)  y = Div (s, root)", "sin(π · x) / √2"),
        ("l = Clip (a, few)  r = Sqrt (l)  y = Div (one, r)", "1 / √max(x, ε)"),
    ],
)
def test_formulas_are_written_as_people_write_them(body: str, said: str) -> None:
    assert write(body) == said


@pytest.mark.parametrize(
    "body",
    [
        # along two axes
        "m = ReduceMean (a, last)  n = ReduceMean (a, middle)  y = Sub (m, n)",
        # the sums of rows stand beside columns
        "m = ReduceSum <keepdims = 0> (a, last)  y = Sub (a, m)",
        "t = Transpose <perm = [0, 2, 1]> (a)  n = Neg (a)  y = Add (t, n)",
        # each with each
        "p = Unsqueeze (a, last)  q = Unsqueeze (a, first)  s = Sub (p, q)  y = Abs (s)",
        # whole numbers
        "i = Cast <to = 7> (a)  n = Neg (i)  y = Cast <to = 1> (n)",
        # more values than there are letters
        "p = Add (a, b)  q = Mul (p, c)  y = Sub (q, d)",
        # a function without a sign
        "p = CumSum (a, axis)  y = Exp (p)",
    ],
)
def test_what_is_not_as_simple_is_not_written(body: str) -> None:
    given = "float[3, 3, 3] d, int64 axis"
    assert write(body, "3, 3, 3", given=given) == ""


def test_a_reduction_that_drops_its_axis_may_stand_beside_what_has_none() -> None:
    body = "m = ReduceSum <keepdims = 0> (a, first)  y = Sub (a, m)"
    assert write(body, "3, 3, 3") == "x − Σx"
    kept = "m = ReduceSum <keepdims = 0> (a, last)  n = Unsqueeze (m, last)  y = Sub (a, n)"
    assert write(kept, "4, 3, 5") == "x − Σx"
    assert write(kept.replace("(m, last)", "(m, middle)"), "3, 3, 3") == ""


@st.composite
def bodies(draw: st.DrawFn) -> tuple[str, tuple[int, ...]]:
    """Return nodes that compute ``y`` of three values and stored numbers, and reduced axes."""
    values, lines = ["a", "b", "c"], []
    axis, place = draw(st.sampled_from([("last", (-1,)), ("middle", (1,)), ("first", (0,))]))
    count = draw(st.integers(2, 6))
    for number in range(count):
        name = "y" if number == count - 1 else f"v{number}"
        recent = st.sampled_from([*values, *values[3:], *values[-1:] * 4])
        kind = draw(st.sampled_from(["unary", "binary", "binary", "stored", "power", "reduce"]))
        one, other = draw(recent), draw(recent)
        if kind == "unary":
            line = f"{draw(st.sampled_from(_UNARY))} ({one})"
        elif kind == "binary":
            line = f"{draw(st.sampled_from(_BINARY))} ({one}, {other})"
        elif kind == "power":
            line = f"Pow ({one}, {draw(st.sampled_from(['two', 'half', 'least']))})"
        elif kind == "stored":
            pair = [one, draw(st.sampled_from([*_STORED, "row"]))]
            pair = pair if draw(st.booleans()) else pair[::-1]
            line = f"{draw(st.sampled_from(_BINARY[:4]))} ({', '.join(pair)})"
        else:
            keep = draw(st.sampled_from(["", "<keepdims = 0>"]))
            line = f"{draw(st.sampled_from(_REDUCING))} {keep} ({one}, {axis})"
        lines.append(f"{name} = {line}")
        values.append(name)
    return "  ".join(lines), place


def _run(model: onnx.ModelProto, values: Mapping[str, Array]) -> Array | None:
    taken = {name: values[name].astype(np.float32) for name in "abc"}
    try:
        (found,) = ReferenceEvaluator(model).run(None, taken)
    except (ValueError, RuntimeError, IndexError):
        return None  # sizes that do not fit
    return np.asarray(found, np.float64)


def _is_close(computed: Array, other: Array | None) -> bool:
    if other is None or other.size != computed.size:
        return False
    return np.allclose(other.reshape(computed.shape), computed, rtol=2e-3, atol=1e-4)


@settings(max_examples=300)
@given(bodies(), st.sampled_from(["2, 3, 5", "5, 5, 5"]))
def test_a_formula_is_what_is_computed(drawn: tuple[str, tuple[int, ...]], dims: str) -> None:
    body, axes = drawn
    model = _make(body, dims)
    text = _write(model)
    assume(text)
    random = np.random.default_rng(0)
    shape = tuple(map(int, dims.split(", ")))
    values = {name: random.uniform(0.3, 1.7, shape) for name in "abc"}
    with np.errstate(all="ignore"):
        computed = _run(model, values)
        assume(computed is not None and np.isfinite(computed).all())
        assert computed is not None
        beside = _run(model, {name: value * (1 + 2e-6) for name, value in values.items()})
        assume(_is_close(computed, beside))  # what rounding moves far tells nothing
        known = {"c": np.arange(5.0), "ε": np.array(_STORED["few"]), "π": np.array(np.pi)}
        read = [
            FormulaReader(text, known | dict(zip("xyz", order, strict=True)), axes).evaluate()
            for order in permutations(values.values())
        ]
    assert any(_is_close(computed, one) for one in read), (text, body)


def test_a_letter_that_is_the_name_of_another_input_is_not_used() -> None:
    """As of a curve x + A · (x² - x) over an image that is called x."""
    text = """
        curve (float[1, 3, 4, 4] x, float[1, 3, 4, 4] a) => (float[1, 3, 4, 4] out) {{
          squares = Mul (x, x)  more = Sub (squares, x)  out = Mul ({0}) }}
    """
    told = {}
    for order in ("a, more", "more, a"):
        graph = load(
            onnx.parser.parse_model('<ir_version: 10, opset_import: ["": 21]>' + text.format(order))
        ).graph
        operations = Operations(graph.nodes, find_graph_context(graph))
        told[order] = write_formula(operations, len(graph.nodes) - 1, 8)
    assert told == {"a, more": "a · (b² − b)", "more, a": "(x² − x) · y"}
