"""Layers over graphs, memories, retention, random masking, masked couplings: and what is none."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import find_graph_context, recognise
from netloupe.explorer.patterns.pattern_examples import EXAMPLES

from .example_models import list_block, read_example


def _tell(text: str) -> str:
    graph = read_example(text)
    told = recognise(list_block(graph), find_graph_context(graph))
    return told.text if told is not None else ""


def _change(name: str, old: str, new: str) -> str:
    text, _ = EXAMPLES[name]
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        # as many rows as columns make a graph
        ("graph-convolution", "float[50, 50] adjacency", "float[50, 40] adjacency"),
        # what is multiplied from the right is no graph
        ("graph-convolution", "MatMul (adjacency, projected)", "MatMul (projected, adjacency)"),
        # both scores are of the features that are summed up
        ("graph-attention", "to = MatMul (h, b)", "to = MatMul (x, w2)"),
        # without a graph all attend to all
        ("graph-attention", "Greater (adjacency, zero)", "Greater (sums, zero)"),
        # the points that differ are those that were looked up
        ("edge-features", "apart = Sub (found, own)", "apart = Sub (found, found)"),
        # a few of the places that noise is sorted to are not an order
        ("random-masking", "all = {64}", "all = {60}"),
        # a mask chooses, and a scale does not
        ("masked-coupling", "mask = {1, 0}", "mask = {0.5, 0.25}"),
        # learned factors of shares are in no order; and shares are summed up along their own axis
        ("expected-value", "{-2, -1, 0, 1, 2}", "{-2, 1, 0, 1, 2}"),
        ("expected-value", "last = {2}", "last = {1}"),
        # an advantage for each action is of as many numbers as the value
        ("dueling-heads", "int64[2] one = {64, 1}", "int64[2] one = {64, 4}"),
        # scores are of two values
        ("memory-attention", "Mul (memory, query)", "Mul (memory, memory)"),
    ],
)
def test_what_only_looks_like_one(name: str, old: str, new: str) -> None:
    _, told = EXAMPLES[name]
    changed = _change(name, old, new)
    if "w2" in new:
        changed = changed.replace("{16, 8},", "{16, 8}, int64[2] thin = {16, 1},", 1)
        changed = changed.replace("w = Constant", "w2 = ConstantOfShape (thin)  w = Constant", 1)
    assert _tell(changed) != told


def test_a_mask_that_does_not_fall_is_no_retention() -> None:
    text = _change("retention", "{1, 0, 0, 0.5, 1, 0, 0.25, 0.5, 1}", "{1, 0, 0, 1, 1, 0, 1, 1, 1}")
    assert _tell(text) == "Linear attention, masked"


def test_each_head_of_a_retention_has_a_decay() -> None:
    text = _change("retention", "float[3, 3] decay", "float[1, 1, 3, 3] decay")
    assert _tell(text) == "Retention, causal"


_SWITCH = """
    switch (float[16, 8] x) => (float[16, 8] y)
    <int64[2] router = {8, 2}, int64[2] up = {8, 32}, int64[2] down = {32, 8}, int64 none = {0},
     int64 one = {1}>
    {
      r = ConstantOfShape (router)
      u1 = ConstantOfShape (up)  d1 = ConstantOfShape (down)
      u2 = ConstantOfShape (up)  d2 = ConstantOfShape (down)
      logits = MatMul (x, r)  shares = Softmax (logits)
      chosen = ArgMax <axis = -1> (shares)
      is1 = Equal (chosen, none)  m1 = Cast <to = 1> (is1)
      is2 = Equal (chosen, one)  m2 = Cast <to = 1> (is2)
      h1 = MatMul (x, u1)  a1 = Relu (h1)  o1 = MatMul (a1, d1)  w1 = Mul (o1, m1)
      h2 = MatMul (x, u2)  a2 = Relu (h2)  o2 = MatMul (a2, d2)  w2 = Mul (o2, m2)
      y = Add (w1, w2)
    }
"""


def test_the_largest_share_alone_may_choose_an_expert() -> None:
    text = f'<ir_version: 12, opset_import: ["": 24]>{_SWITCH}'
    assert _tell(text) == "Mixture of experts, 2 experts, top 1, MLP 8 → 32 → 8"


def test_values_and_advantages_may_be_distributions() -> None:
    text = _change("dueling-heads", "int64[2] one = {64, 1}", "int64[2] one = {64, 3}")
    assert _tell(text) == EXAMPLES["dueling-heads"][1]
