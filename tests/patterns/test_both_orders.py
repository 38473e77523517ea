"""A sequence beside itself in reverse is one that is read both ways."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns.both_orders import joins_both_orders
from tests.onnx_text import load_text

_TEXT = """
<ir_version: 10, opset_import: ["": 21]>
agraph (float[2, 20, 8] x, float[2, 20, 8] z) => (float[a, b, 8] y)
<int64[1] last = {-1}, int64[1] end = {-9223372036854775807}, int64[1] axis = {1},
 int64[1] step = {-1}>
{
  back = Slice (x, last, end, axis, step)
  y = Concat <axis = 0> (x, back)
}
"""


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", True),
        ("(x, back)", "(back, x)", True),
        ("(x, back)", "(z, back)", False),
        ("(x, back)", "(x, back, x)", False),
        ("<axis = 0>", "<axis = 1>", False),
        ("step = {-1}", "step = {-2}", False),
        ("last = {-1}", "last = {-3}", False),
    ],
)
def test_only_the_whole_sequence_in_reverse_counts(before: str, after: str, expected: bool) -> None:
    graph = load_text(_TEXT.replace(before, after)).graph
    joins = [node for node in graph.nodes if node.op_type == "Concat"]
    assert [joins_both_orders(node) for node in joins] == [expected]
