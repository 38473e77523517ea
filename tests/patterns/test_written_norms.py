"""Norms that exporters write out, whatever the order of scale, shift and division."""

from __future__ import annotations

import onnx.parser
import pytest

from netloupe.explorer.patterns import recognise
from netloupe.explorer.readers.load import load

_STATISTICS = """
 m = ReduceMean <axes = {axes}> (x) d = Sub (x, m) q = Mul (d, d)
 v = ReduceMean <axes = {axes}> (q) e = Add (v, eps) s = Sqrt (e)
"""
#: the mean of squares without the square of the mean
_TWO_MEANS = """
 t = ReduceSum (x, a) m = Mul (t, part) q = Mul (x, x) u = ReduceSum (q, a)
 w = Mul (u, part) mm = Mul (m, m) v = Sub (w, mm) e0 = Max (zero, v) e = Add (e0, eps)
 s = Sqrt (e)
"""
#: scale before division; scale and shift of the statistics; both
_ENDS = {
    "scaled first": "h = Mul (g, d) y0 = Div (h, s) y = Add (y0, b)",
    "divided first": "h = Div (d, s) y0 = Mul (h, g) y = Add (y0, b)",
    "as statistics": (
        "r = Reciprocal (s) k = Mul (r, g) n = Mul (m, k) o = Sub (b, n) h = Mul (x, k) "
        "y = Add (h, o)"
    ),
}


def name(body: str, dims: str = "1, 8, 1") -> str:
    """Return what nodes in ONNX's text form are; ``g`` and ``b`` have the dimensions given."""
    ones = f"{{{', '.join(['1'] * 8)}}}"
    text = (
        '<ir_version: 8, opset_import: ["": 13]> g (float[2, 8, 16] x) => (float[2, 8, 16] y) '
        f"<float[{dims}] g = {ones}, float[{dims}] b = {ones}, "
        "float eps = {0.001}, float zero = {0}, "
        f"float part = {{0.125}}, int64[1] a = {{1}}> {{ {body} }}"
    )
    graph = load(onnx.parser.parse_model(text).SerializeToString()).graph
    found = recognise(list(graph.nodes))
    return found.name if found is not None else ""


@pytest.mark.parametrize("end", _ENDS)
@pytest.mark.parametrize("begin", [_STATISTICS.replace("{axes}", "[1]"), _TWO_MEANS])
def test_a_norm_is_found_wherever_its_scale_and_shift_are(begin: str, end: str) -> None:
    difference = "" if "d = Sub" in begin or end == "as statistics" else "d = Sub (x, m) "
    assert name(begin + difference + _ENDS[end]) == "LayerNorm"


@pytest.mark.parametrize(
    ("axes", "expected"),
    [("[1, 2]", "Global LayerNorm"), ("[2]", "InstanceNorm"), ("[-2]", "LayerNorm")],
)
def test_a_norm_is_called_by_what_it_takes_together(axes: str, expected: str) -> None:
    assert name(_STATISTICS.replace("{axes}", axes) + _ENDS["scaled first"]) == expected


@pytest.mark.parametrize(
    "end",
    [
        "h = Mul (d, s) y = Mul (h, g)",  # multiplied by the root
        "h = Div (s, d) y = Mul (h, g)",  # divided the other way
        "h = Div (d, s) k = Mul (h, h) y = Add (k, b)",  # a square of it
    ],
)
def test_what_is_not_divided_by_a_deviation_is_no_norm(end: str) -> None:
    assert "Norm" not in name(_STATISTICS.replace("{axes}", "[1]") + end)


#: x.std(-1), as torch's exporters write it: with its own mean, and n as a shape tells or a number
_UNBIASED = {
    "counted": "v0 = ReduceMean <axes = [1]> (q) v1 = Mul (v0, n) v = Div (v1, less)",
    "one factor": "v0 = ReduceMean <axes = [1]> (q) v = Mul (v0, more)",
    "of a shape": """
 v0 = ReduceMean <axes = [1]> (q) shape = Shape (x) last = Gather (shape, at)
 count = Cast <to = 1> (last) short = Sub (count, one) v1 = Mul (v0, count) v = Div (v1, short)
""",
    "of a sum": "v0 = ReduceSum (q, a) v = Div (v0, less)",
}


def name_unbiased(variance: str) -> str:
    """Return what (x - mean) / (std + ε) is, whose variance is written out."""
    numbers = """
 n = Constant <value = float {8}> () less = Constant <value = float {7}> ()
 more = Constant <value = float {1.1428572}> () one = Constant <value = float {1}> ()
 at = Constant <value = int64[1] {1}> ()
"""
    deviation = "k = ReduceMean <axes = [1]> (x) c = Sub (x, k) q = Mul (c, c)"
    start = "m = ReduceMean <axes = [1]> (x) d = Sub (x, m)"
    root = "s = Sqrt (v) e = Add (s, eps)"
    end = "h = Mul (g, d) y0 = Div (h, e) y = Add (y0, b)"
    return name(f"{numbers} {start} {deviation} {variance} {root} {end}", "8, 1")


@pytest.mark.parametrize("variance", _UNBIASED)
def test_a_norm_may_divide_by_an_unbiased_deviation(variance: str) -> None:
    assert name_unbiased(_UNBIASED[variance]) == "LayerNorm"


@pytest.mark.parametrize(
    "variance",
    [
        "v0 = ReduceMean <axes = [1]> (q) v = Mul (v0, less)",  # no count does that
        "v0 = ReduceMean <axes = [1]> (q) v1 = Mul (v0, less) v = Div (v1, n)",  # less than before
        "v0 = ReduceMean <axes = [1]> (q) v = Mul (v0, g)",  # a weight
    ],
)
def test_what_weighs_a_variance_counts_no_samples(variance: str) -> None:
    assert "Norm" not in name_unbiased(variance)


def test_a_batch_norm_of_rows_with_their_own_statistics_is_a_layer_norm() -> None:
    body = """
 rows = Constant <value = int64[3] {1, 16, 8}> () back = Constant <value = int64[3] {2, 8, 16}> ()
 one = Constant <value = float[16] {1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}> ()
 no = Constant <value = float[16] {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}> ()
 r = Reshape (x, rows) m = ReduceMean <axes = [0, 2], keepdims = 0> (r)
 q = Mul (r, r) w = ReduceMean <axes = [0, 2], keepdims = 0> (q) mm = Mul (m, m) v = Sub (w, mm)
 h = BatchNormalization (r, one, no, m, v) f = Reshape (h, back) y0 = Mul (f, g) y = Add (y0, b)
"""
    assert name(body) == "LayerNorm"
