"""Biases of an attention's scores that grow with the distance, each head with a slope."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.patterns import FoundBlock, Operations, find_blocks, find_graph_context
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file
from tests.onnx_text import load_text

FOUR = "0.25, 0.0625, 0.015625, 0.00390625"


def attend(slopes: str, positions: str = "r = CumSum (m, zero)") -> tuple[str, ...]:
    """Return the facts of an attention of 4 heads whose scores get a bias added."""
    count = slopes.count(",") + 1
    graph = load_text(f"""
        g (float[1, 4, 5, 8] q, float[1, 4, 8, 5] k, float[1, 4, 5, 8] v, float[5] m)
            => (float[1, 4, 5, 8] y)
        <float[{count}, 1] s = {{{slopes}}}, int64 zero = {{0}}, float one = {{1}}>
        {{ {positions}  b = Mul (s, r)  u = Unsqueeze (b, zero)
           a = MatMul (q, k)  c = Add (a, u)  p = Softmax (c)  y = MatMul (p, v) }}
    """).graph
    found = find_blocks(Operations(graph.nodes, find_graph_context(graph))).list_outermost()
    (attention,) = [one for one in found if isinstance(one, FoundBlock) and one.kind == "attention"]
    return attention.facts


@pytest.mark.parametrize("slopes", [FOUR, f"{FOUR}, 0.5, 0.125"])
def test_slopes_of_heads_times_positions(slopes: str) -> None:
    assert "ALiBi" in attend(slopes)


@pytest.mark.parametrize(
    ("slopes", "positions"),
    [
        ("0.25, 0.0625, 0.015625, 0.001", "r = CumSum (m, zero)"),  # other slopes
        ("0.5, 0.25, 0.125, 0.0625", "r = CumSum (m, zero)"),
        (FOUR, "r = Tanh (m)"),  # no positions
        (FOUR, "r = Identity (m)"),
    ],
)
def test_other_biases(slopes: str, positions: str) -> None:
    assert "ALiBi" not in attend(slopes, positions)


def test_bloom() -> None:
    tree = build_group_tree(load(corpus_file("exported/bloom.legacy.onnx")).graph)
    found = tree.find("h.3/self_attention")
    assert isinstance(found, Group)
    assert found.recognised is not None
    assert found.recognised.text == "Self-attention, 8 heads × 8, ALiBi, causal"
