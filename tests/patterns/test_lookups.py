"""What is looked up in products of two maps is no warping, wherever the products stand."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import recognise
from tests.onnx_text import load_text

_MOVED = """
    scaled = Mul (flow, half)
    moved = Add (scaled, places)
    grid = Transpose <perm = [0, 2, 3, 1]> (moved)
    y = GridSample (map, grid)
"""


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("product = MatMul (one, two)  map = AveragePool <kernel_shape = [1, 1]> (product)", True),
        ("product = MatMul (one, two)  map = Mul (product, half)", True),
        ("product = MatMul (one, w)  map = Mul (product, half)", False),
        ("sum = Add (one, two)  map = Mul (sum, half)", False),
    ],
)
def test_products_before_a_loop_are_looked_up(before: str, told: bool) -> None:
    """The group of what moves places does not hold what made the map."""
    graph = load_text(f"""
        g (float[1, 1, 2, 2] one, float[1, 1, 2, 2] two, float[1, 2, 2, 2] flow)
          => (float[1, 1, 2, 2] y)
        <float[1, 2, 2, 2] places = {{-1, 1, -1, 1, -1, -1, 1, 1}}, float half = {{0.5}},
         float[2, 2] w = {{1, 2, 3, 4}}>
        {{ {before} {_MOVED} }}
    """).graph
    found = recognise(graph.nodes[-4:])
    assert found is not None
    assert found.name == ("Correlation lookup" if told else "Warping")


@pytest.mark.parametrize("counts", ["CumSum (given, axis)", "Mul (ids, given)"])
def test_positions_that_are_counted_are_part_of_the_embedding(counts: str) -> None:
    graph = load_text(f"""
        g (int64[1, 4] ids) => (float[1, 4, 2] y)
        <int64 pad = {{1}}, int64 axis = {{1}}, float[3, 2] words = {{1, 2, 3, 4, 5, 6}},
         float[4, 2] places = {{1, 2, 3, 4, 5, 6, 7, 8}}>
        {{
          same = Equal (ids, pad)  other = Not (same)  given = Cast <to = 7> (other)
          running = {counts}
          at = Add (running, pad)
          e = Gather (words, ids)  p = Gather (places, at)
          y = Add (e, p)
        }}
    """).graph
    found = recognise(graph.nodes)
    is_counted = counts.startswith("CumSum")
    assert (found.name if found is not None else "") == (
        "Token + position embedding" if is_counted else ""
    )
