"""Values put back to the places of a max pool, however an exporter writes it."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import find_ingredients
from tests.onnx_text import load_text

_SCATTERED = """
  zeros = ConstantOfShape (all)  index = Reshape ({places}, flat)  values = Reshape (low, flat)
  back = ScatterElements <axis = 2> (zeros, index, values)  y = Reshape (back, map)"""
_WRITTEN = {
    "a scatter": _SCATTERED.format(places="where"),
    "a scatter behind a cast": "cast = Cast <to = 7> (where)" + _SCATTERED.format(places="cast"),
    "an operator": "y = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (low, where)",
    "rows and columns": """
  zeros = ConstantOfShape (grid)  row = Div (where, side)  column = Mod (where, side)
  r = Unsqueeze (row, last)  c = Unsqueeze (column, last)  index = Concat <axis = -1> (r, c)
  values = Reshape (low, four)  back = ScatterND (zeros, index, values)  y = Reshape (back, map)""",
}


def _name(body: str) -> set[str]:
    graph = load_text(
        f"""g (float[1, 1, 8, 8] x, int64[1, 1, 4, 4] given) => (float[1, 1, 8, 8] z)
        <int64[3] flat = {{1, 1, 16}}, int64[3] all = {{1, 1, 64}}, int64[4] map = {{1, 1, 8, 8}},
         int64[2] grid = {{8, 8}}, int64 side = {{8}}, int64[1] last = {{-1}},
         int64[4] four = {{1, 1, 4, 4}}>
        {{
          most, where = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)
          low = Tanh (most)
          {body}
          z = Relu (y)
        }}"""
    ).graph
    return {one.name for one in find_ingredients(graph.nodes)}


@pytest.mark.parametrize("body", [*_WRITTEN.values()], ids=[*_WRITTEN])
def test_values_at_the_places_of_a_pool_are_unpooled(body: str) -> None:
    assert "Max unpooling" in _name(body)


@pytest.mark.parametrize("body", [*_WRITTEN.values()], ids=[*_WRITTEN])
def test_places_that_are_given_are_of_no_pool(body: str) -> None:
    assert "Max unpooling" not in _name(body.replace("where", "given"))


def test_the_largest_themselves_are_no_places() -> None:
    body = "cast = Cast <to = 7> (most)" + _SCATTERED.format(places="cast")
    assert "Max unpooling" not in _name(body)
