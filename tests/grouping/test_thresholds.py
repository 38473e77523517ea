"""A comparison of features with stored thresholds computes, and stands in the figure."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping.thresholds import compares_with_thresholds
from netloupe.explorer.render.operator_words import tell_settings
from tests.onnx_text import load_text


@pytest.mark.parametrize("together", ["ReduceMean", "ReduceSum"])
@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("c = Greater (x, many)", ("than 4 thresholds",)),
        ("s = Reshape (many, size)  c = LessOrEqual (s, x)", ("than 2 × 2 thresholds",)),
        ("c = Greater (x, one)", ()),
        ("c = Greater (x, z)", ()),
        ("i = Cast <to = 7> (x)  c = Greater (i, ids)", ()),
        ("c = Equal (x, many)", ()),
    ],
)
def test_features_are_compared_with_thresholds(
    body: str, told: tuple[str, ...], together: str
) -> None:
    told = told if together == "ReduceMean" else ()
    graph = load_text(
        f"""g (float[3, 2, 4] x, float[3, 2, 4] z) => (float[n, m, o] y)
        <float[4] many = {{1, 2, 3, 4}}, float one = {{1}}, int64[4] ids = {{1, 2, 3, 4}},
         int64[3] size = {{2, 2, 1}}, int64[1] axis = {{1}}> {{
          {body}  f = Cast <to = 1> (c)  y = {together} (f, axis)
        }}"""
    ).graph
    node = next(node for node in graph.nodes if node.operator.has("compares"))
    assert compares_with_thresholds(node) is bool(told)
    assert tell_settings(node) == told
