"""Lists of pairs of whole numbers: edges of a graph, or rows of two tables."""

from __future__ import annotations

import pytest

from netloupe.explorer.roles import find_roles
from tests.onnx_text import load_text


def _tell(table: str) -> set[str]:
    """Return what is told of what a network cuts out of pairs to look up both ends in a table."""
    square, rows = (", ".join(["1"] * count) for count in (16, 20))
    ends = "".join(
        f"""
        {end} = Gather <axis = 1> (pairs, {place})  {end}_sum = Add ({end}, five)
        {end}_below = Less ({end}, first)  {end}_at = Where ({end}_below, {end}_sum, {end})
        """
        for end, place in (("a", "first"), ("b", "second"))
    )
    graph = load_text(f"""
        g (int64[6, 2] pairs, float[5, 4] x) => (float[6, 4] y)
        <int64 first = {{0}}, int64 second = {{1}}, int64 five = {{5}},
         float[4, 4] w = {{{square}}}, float[5, 4] one = {{{rows}}}>
        {{
          {ends}  h = MatMul (x, w)
          p = Gather ({table}, a_at)  q = Gather ({table}, b_at)
          s = Mul (p, q)  m = MatMul (s, w)  y = Relu (m)
        }}
    """).graph
    pieces = find_roles(graph).pieces
    return {piece.purpose.name if piece.purpose is not None else "" for piece in pieces}


@pytest.mark.parametrize(("table", "is_edge"), [("h", True), ("one", False)])
def test_pairs_that_pick_computed_rows_are_edges(table: str, is_edge: bool) -> None:
    assert _tell(table) == {"ends of edges" if is_edge else ""}
