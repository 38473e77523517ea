"""What begins the body before the first weight: statistics of what is fed, and splines of it."""

from __future__ import annotations

import onnx.parser

from netloupe.explorer.readers.load import load
from netloupe.explorer.roles import find_roles

_SERIES = """
    series (float[1, 96, 7] x) => (float[1, 96, 8] y)
    <int64[1] time = {1}, float two = {2}, float count = {96}, int64[2] dims = {7, 8}>
    {
      w = ConstantOfShape (dims)
      sum = ReduceSum (x, time)  mean = Div (sum, count)  apart = Sub (x, mean)
      squares = Pow (apart, two)  total = ReduceSum (squares, time)
      variance = Div (total, count)  deviation = Sqrt (variance)
      z = Div (apart, deviation)  h = MatMul (z, w)  r = Relu (h)
      g = Abs (r)  i = Neg (g)  j = Exp (i)  k = Softplus (j)  l = Tanh (k)  y = Sigmoid (l)
    }
"""


def _list_prepared(text: str) -> list[str]:
    model = load(onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]>{text}'))
    pieces = find_roles(model.graph).pieces
    return [model.graph.nodes[index].op_type for piece in pieces for index in piece.nodes]


def test_mean_and_deviation_of_a_series_are_no_preparation() -> None:
    assert not _list_prepared(_SERIES)


def test_a_root_of_one_sum_is() -> None:
    text = _SERIES.replace("apart = Sub (x, mean)", "apart = Mul (x, x)")
    assert "Sqrt" in _list_prepared(text)
