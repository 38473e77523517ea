"""Rows of a code book that are picked by a product with marks belong to the quantizer."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import recognise
from tests.onnx_text import load_text

_FILE = """
    quantize (float[4, 8] x) => (float[4, 8] y)
    <float two = {{2}}, int64[1] axis = {{1}}, int64[2] size = {{4, 1}},
     float[32] squares = {{{squares}}}, float[32, 8] book = {{{book}}},
     float[4, 32] none = {{{zeros}}}>
    {{
      wide = Mul (x, x) own = ReduceSum (wide, axis)
      turned = Transpose <perm = [1, 0]> (book)
      sums = Add (own, squares) products = MatMul (x, turned) double = Mul (products, two)
      distances = Sub (sums, double)
      least = ArgMin <axis = 1, keepdims = 0> (distances) places = Unsqueeze (least, axis)
      ones = ConstantOfShape <value = float[1] {{{mark}}}> (size)
      marks = ScatterElements <axis = 1> (none, places, ones)
      y = MatMul (marks, book)
    }}
"""


@pytest.mark.parametrize(("mark", "is_pick"), [(1, True), (2, False)])
def test_a_product_with_ones_at_the_nearest_codes_looks_them_up(
    mark: int, *, is_pick: bool
) -> None:
    numbers = {"squares": ", ".join(["2"] * 32), "zeros": ", ".join(["0"] * 128)}
    numbers["book"] = ", ".join(f"{place / 256}" for place in range(256))
    found = recognise(load_text(_FILE.format(mark=mark, **numbers)).graph.nodes)
    told = "" if found is None else found.text
    assert (told == "Vector quantizer, 32 codes × 8") is is_pick, told
