"""Sines and cosines of places that follow from sizes alone are positions."""

from __future__ import annotations

import onnx.parser
import pytest

from netloupe.explorer.patterns import recognise
from netloupe.explorer.readers.load import load

_TEXT = """<ir_version: 10, opset_import: ["": 21]>
g (float[1, 8, 6] x) => (float[1, 8, 6] y)
<int64 zero = {0}, int64 one = {1}, int64[2] dims = {4, 6}, int64[1] axis = {1},
 float[2] steps = {1, 0.1}>
{
  [size] sizes = Shape (x)
  [count] length = Gather (sizes, one)
  [range] counted = Range (zero, length, one)
  [cast] places = Cast <to = 1> (counted)
  [column] column = Unsqueeze (places, axis)
  [angle] angles = Mul (column, steps)
  [sin] s = Sin (angles)
  [cos] c = Cos (angles)
  [join] waves = Concat <axis = 1> (s, c)
  w = ConstantOfShape (dims)
  [mix] p = MatMul (waves, w)
  y = Add (x, p)
}"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("", "", "Sinusoidal positions 4 → 6"),
        ("[cos] c = Cos", "[cos] c = Sin", ""),
        ("[cos] c = Cos", "[cos] c = Tanh", ""),
        ("column = Unsqueeze (places, axis)", "column = ReduceMax (x)", "not places"),
    ],
)
def test_waves_of_places_are_positions(old: str, new: str, told: str) -> None:
    text = _TEXT.replace(old, new, 1) if old else _TEXT
    graph = load(onnx.parser.parse_model(text).SerializeToString()).graph
    found = recognise([node for node in graph.nodes if node.name])
    if told == "not places":
        assert found is None or found.name != "Sinusoidal positions"
    else:
        assert (found.text if found is not None else "") == told
