"""Experts whose matrices are picked from stored tables: by whom, how, and what is beside them."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import recognise

from .test_fused_today import text_of_nodes
from .test_recognise import graph_of

_PICKED = """
    i = Unsqueeze (e, last)  u = GatherND (up, i)  d = GatherND (down, i)
    h = MatMul (x, u)  a, b = Split <axis = -1, num_outputs = 2> (h)  s1 = Sigmoid (a)
    s2 = Mul (a, s1)  s3 = Mul (s2, b)  o = MatMul (s3, d)  o1 = Mul (o, w)
    axes = Constant <value = int64[1] {1}> ()
"""
_CHOICE = """
    two = Constant <value = int64[1] {2}> ()  last = Constant <value = int64[1] {-1}> ()
    ev, e = TopK (SCORES, two)  w = GatherElements <axis = -1> (SCORES, e)
"""
_SLICED = """
    l = MatMul (x, router)  s = Sigmoid (l)  zero = Constant <value = int64[1] {0}> ()
    ten = Constant <value = int64[1] {10}> ()  one = Constant <value = int64[1] {1}> ()
    p = Slice (s, zero, ten, one)  c = Add (p, bias)
"""
_STACKED = """
    g1 = MatMul (x, gates)  g2 = Sigmoid (g1)  g3 = Mul (g1, g2)  v1 = MatMul (x, ups)
    m = Mul (g3, v1)  t1 = MatMul (m, downs)  zeroth = Constant <value = int64[1] {0}> ()
    t = ReduceSum <keepdims = 0> (t1, zeroth)
"""
_TABLES = {"up": (10, 16, 64), "down": (10, 32, 16)}
_SHARED = {"gates": (2, 16, 32), "ups": (2, 16, 32), "downs": (2, 32, 16)}


@pytest.mark.parametrize(
    ("stacked", "told"),
    [
        ("", "Mixture of experts, 10 experts, top 2"),
        (_STACKED, "Mixture of experts, 10 experts, top 2, 2 shared experts"),
    ],
)
def test_a_router_may_score_more_than_the_experts_that_are_in_tables(
    stacked: str, told: str
) -> None:
    """Scores of shared experts are beside those of which some are chosen."""
    end = "y = ReduceSum <keepdims = 0> (o1, axes)"
    if stacked:
        end = f"{end.replace('y =', 'y1 =')}  {stacked}  y = Add (y1, t)"
    text = _SLICED + _CHOICE.replace("SCORES", "c") + _PICKED + end
    weights = {"router": (16, 12), "bias": (10,), **_TABLES, **(_SHARED if stacked else {})}
    assert text_of_nodes(text, **weights) == told


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("gathering", ["GatherND", "Gather"])
def test_experts_are_told_without_the_network_that_routes(gathering: str, *, guarded: bool) -> None:
    """The router may be in another group, and what it chose be replaced where nothing is to do."""
    picked = _PICKED
    if gathering == "Gather":
        picked = picked.replace("GatherND", "Gather").replace("(e, last)", "(e, axes)")
        picked = picked.replace("    i =", "    axes = Constant <value = int64[1] {1}> () i =")
        picked = picked.rpartition("    axes =")[0]
    text = "r1 = MatMul (x, w1)  r2 = Relu (r1)  r3 = MatMul (r2, w2)  r = Softmax (r3)"
    text += _CHOICE.replace("SCORES", "r")
    if guarded:
        text += """
            none = Constant <value = int64 {10}> ()  no = Constant <value = int64 {0}> ()
            is = Equal (e, none)  kept = Where (is, no, e)
        """
        picked = picked.replace("Unsqueeze (e,", "Unsqueeze (kept,")
    text += picked + "y = ReduceSum <keepdims = 0> (o1, axes)"
    weights = {"w1": [16, 16], "w2": [16, 11], "up": [10, 16, 64], "down": [10, 32, 16]}
    graph = graph_of(text, **weights)
    names = [node.op_type for node in graph.nodes]
    found = recognise([*graph.nodes[names.index(gathering) - 1 :]])
    assert found is not None
    assert found.text == "Routed experts, 10 experts, top 2, SwiGLU 16 → 32 → 16"


@pytest.mark.parametrize(
    ("use", "told"),
    [("y = MatMul (x, t)", ""), ("y = Add (x, t)", "Embedding, 10 × 512")],
)
def test_rows_that_are_factors_are_no_embedding(use: str, told: str) -> None:
    text = f"ids = Cast <to = 7> (x)  t = Gather (table, ids)  {use}"
    graph = graph_of(text, table=[10, 16, 32])
    found = recognise([node for node in graph.nodes if node.op_type == "Gather"])
    assert (found.text if found is not None else "") == told


_SORTED = """
    l = MatMul (x, router)  two = Constant <value = int64[1] {2}> ()  s, e = TopK (l, two)
    all = Constant <value = int64[1] {32}> ()  flat = Constant <value = int64[1] {-1}> ()
    e1 = Reshape (e, flat)  o1, order = TopK <largest = 0> (e1, all)
    halves = Constant <value = int64 {2}> ()  rows = Div (order, halves)
    last = Constant <value = int64[1] {1}> ()  r1 = Unsqueeze (rows, last)  x1 = GatherND (x, r1)
    four = Constant <value = int64 {4}> ()  hot = Constant <value = int64[2] {0, 1}> ()
    marks = OneHot (e1, four, hot)  zero = Constant <value = int64[1] {0}> ()
    sizes = ReduceSum <keepdims = 0> (marks, zero)  PARTS = Split (x1, SIZES)
    PRODUCTS  h = Concat <axis = 0> (HIDDEN)  ACTIVATED
    MORE = Split (m, SIZES)  AGAIN  o = Concat <axis = 0> (OUT)
    p = Softmax (s)  p1 = Reshape (p, flat)  o2 = Unsqueeze (order, last)  p2 = GatherND (p1, o2)
    p3 = Unsqueeze (p2, last)  w = Mul (o, p3)  none = Constant <value = int64[2] {16, 16}> ()
    zeros = ConstantOfShape (none)  y = ScatterND <reduction = "add"> (zeros, r1, w)
"""
_SWIGLU = "a, b = Split <axis = -1, num_outputs = 2> (h)  g = Sigmoid (a)  k = Mul (a, g)"


@pytest.mark.parametrize(
    ("activated", "hidden", "sizes", "told"),
    [
        (f"{_SWIGLU}  m = Mul (k, b)", 64, "sizes", "SwiGLU 16 → 32 → 16"),
        ("m = Relu (h)", 32, "sizes", "16 → 32 → 16"),
        ("m = Relu (h)", 32, "eight", ""),  # the same count for each: nothing was routed
    ],
)
def test_each_expert_takes_a_part_of_sorted_rows(
    activated: str, hidden: int, sizes: str, told: str
) -> None:
    text = _SORTED.replace("ACTIVATED", activated).replace("SIZES", sizes)
    for word, names in {
        "PARTS": "q{}",
        "PRODUCTS": "h{0} = MatMul (q{0}, up{0})",
        "HIDDEN": "h{}",
        "MORE": "n{}",
        "AGAIN": "v{0} = MatMul (n{0}, down{0})",
        "OUT": "v{}",
    }.items():
        listed = [names.format(number) for number in range(4)]
        text = text.replace(word, ("  " if "=" in names else ", ").join(listed))
    eight = "eight = Constant <value = int64[4] {8, 8, 8, 8}> ()  "
    ups = {f"up{number}": (16, hidden) for number in range(4)}
    downs = {f"down{number}": (32, 16) for number in range(4)}
    found = text_of_nodes(eight + text, router=(16, 4), **ups, **downs)
    assert found == (f"Mixture of experts, 4 experts, top 2, {told}" if told else "")
