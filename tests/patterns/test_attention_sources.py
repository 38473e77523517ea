"""What queries, keys and values come from, and what attention is called by that."""

from __future__ import annotations

import onnx.parser
import pytest

from netloupe.explorer.model import Graph
from netloupe.explorer.patterns import Recognition, recognise
from netloupe.explorer.readers.load import load


def read_graph(made: str, *, keys: str = "x", values: str = "x", queries: str = "s") -> Graph:
    """Return attention of one head, whose queries and the like are of values that are made."""
    weights = "".join(f" w{n} = ConstantOfShape (dims)" for n in "qkv")
    text = f"""<ir_version: 8, opset_import: ["": 18]>
g (float[1, 16, 8] x, float[1, 16, 8] other) => (float[1, N, 8] y) <int64[2] dims = {{8, 8}},
  int64[1] none = {{0}}, int64[1] end = {{16}}, int64[1] axis = {{1}}, int64[1] two = {{2}},
  int64[1] one = {{1}}, int64[1] half = {{8}}, float[8] ones = {{1, 1, 1, 1, 1, 1, 1, 1}},
  int64[4] grid = {{1, 4, 4, 8}}, int64[3] row = {{1, 4, 8}}, int64[4] cut = {{1, 4, 4, 8}},
  int64[3] single = {{1, 1, 8}}> {{
{weights}
 {made}
 q = MatMul ({queries}, wq) k = MatMul ({keys}, wk) v = MatMul ({values}, wv)
 t = Transpose <perm = [0, 2, 1]> (k)
 r = MatMul (q, t) p = Softmax <axis = -1> (r) y = MatMul (p, v)
}}"""
    return load(onnx.parser.parse_model(text).SerializeToString()).graph


def find_attention(graph: Graph) -> Recognition:
    """Return what the nodes of one attention are, without what makes its queries and keys."""
    names = {"q", "k", "v", "t", "r", "p", "y"}
    nodes = [n for n in graph.nodes if n.outputs[0] is not None and n.outputs[0].name in names]
    found = recognise(nodes)
    assert found is not None
    return found


_POOL = """ m = Transpose <perm = [0, 2, 1]> (x)
 n = AveragePool <kernel_shape = [2], strides = [2]> (m) s = Transpose <perm = [0, 2, 1]> (n)"""
_REDUCED = """ g = Reshape (x, grid) m = Transpose <perm = [0, 3, 1, 2]> (g)
 n = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (m)
 l = Transpose <perm = [0, 2, 3, 1]> (n) s = Reshape (l, row)"""
_LARGEST = """ g = Reshape (x, cut) s = ReduceMax <keepdims = 0> (g, axis)"""


@pytest.mark.parametrize(
    ("made", "name", "fact"),
    [
        ("s = Identity (x)", "Self-attention", ""),
        ("s = LayerNormalization (x, ones)", "Self-attention", ""),
        ("s = Mul (x, ones)", "Self-attention", ""),
        ("s = Slice (x, none, end, axis, two)", "Self-attention", "query pooled /2"),
        ("s = Slice (x, none, one, axis, one)", "Class attention", ""),
        (_POOL, "Self-attention", "query pooled /2"),
        (_LARGEST, "Self-attention", "query pooled, 1 of 4 places"),
        ("s = Identity (other)", "Cross-attention", ""),
        ("s = LayerNormalization (other, ones)", "Cross-attention", ""),
        ("s = Add (x, other)", "Cross-attention", ""),  # more than what is compared
    ],
)
def test_queries_that_are_another_form_of_keys_make_self_attention(
    made: str, name: str, fact: str
) -> None:
    found = find_attention(read_graph(made))
    assert (found.name, fact in found.facts or not fact) == (name, True)


def test_keys_and_values_of_fewer_places_are_reduced() -> None:
    found = find_attention(read_graph(_REDUCED, queries="x", keys="s", values="s"))
    assert (found.name, found.facts) == ("Self-attention", ("spatial reduction /2",))


def test_two_parts_of_one_value_attend_to_each_other() -> None:
    parts = "s = Slice (x, none, half, axis, one) u = Slice (x, half, end, axis, one)"
    found = find_attention(read_graph(parts, keys="u", values="u"))
    assert found.name == "Cross-attention"


@pytest.mark.parametrize(
    ("source", "name"), [("other", "Cross-attention"), ("x", "Class attention")]
)
def test_a_token_of_another_stream_that_asks_is_a_cross_attention(source: str, name: str) -> None:
    exchanged = f"""c = Slice ({source}, none, one, axis, one) d = Relu (c)
 e = Slice (x, one, end, axis, one) u = Concat <axis = 1> (d, e)
 l = LayerNormalization (u, ones) s = Slice (l, none, one, axis, one)"""
    found = find_attention(read_graph(exchanged, keys="l", values="l"))
    is_told = "query: first token" in found.facts
    assert (found.name, is_told) == (name, name == "Cross-attention")


_TOKEN = " t0 = Slice (other, none, one, axis, one) s = LayerNormalization (t0, ones)"
_STORED_TOKEN = """ t0 = ConstantOfShape (single) s = LayerNormalization (t0, ones)"""
_MEAN = " s = ReduceMean <keepdims = 1> (x, axis)"


@pytest.mark.parametrize(
    ("token", "joined", "name"),
    [
        (_TOKEN, "s, x", "Class attention"),
        (_STORED_TOKEN, "s, x", "Class attention"),
        (_TOKEN, "x, s", "Cross-attention"),  # behind what was kept of earlier steps
        (_TOKEN, "x, other", "Cross-attention"),
        (_MEAN, "s, x", "Self-attention"),
    ],
    ids=["token", "stored", "last", "apart", "mean"],
)
def test_one_token_that_is_joined_to_what_it_attends_to_is_class_attention(
    token: str, joined: str, name: str
) -> None:
    made = f"{token} u = Concat <axis = 1> ({joined})"
    assert find_attention(read_graph(made, keys="u", values="u")).name == name


def test_queries_and_keys_of_the_same_values_joined_are_joint_attention() -> None:
    joined = """s = Concat <axis = 1> (x, other) u = Concat <axis = 1> (x, other)
 l = LayerNormalization (u, ones)"""
    assert find_attention(read_graph(joined, keys="l", values="l")).name == "Self-attention"


def test_keys_and_values_of_different_values_are_only_attention() -> None:
    assert find_attention(read_graph("s = Identity (x)", keys="other")).name == "Attention"


def test_queries_that_are_computed_of_what_is_compared_make_no_cross_attention() -> None:
    # as those of experts that tokens are sent to
    made = "i = Softmax <axis = 1> (x) s = Mul (i, other)"
    assert find_attention(read_graph(made)).name == "Attention"


_HEADS = """<ir_version: 8, opset_import: ["": 18]>
g (float[1, 16, 8] x) => (float[1, 16, 8] y) <int64[2] dims = {8, 8}, int64[2] two = {2, 2},
  int64[4] heads = {1, 16, 2, 4}, int64[3] whole = {1, 16, 8}> {
 wq = ConstantOfShape (dims) wk = ConstantOfShape (dims) wv = ConstantOfShape (dims)
 wo = ConstantOfShape (dims) wm = ConstantOfShape (two) wn = ConstantOfShape (two)
 q = MatMul (x, wq) k = MatMul (x, wk) v = MatMul (x, wv)
 qh = Reshape (q, heads) kh = Reshape (k, heads) vh = Reshape (v, heads)
 ORDERS
 o = MatMul (z, wo) y = Identity (o)
}"""
_CHANNELS = """qt = Transpose <perm = [0, 2, 3, 1]> (qh) kt = Transpose <perm = [0, 2, 1, 3]> (kh)
 vt = Transpose <perm = [0, 2, 3, 1]> (vh) r = MatMul (qt, kt) p = Softmax <axis = -1> (r)
 c = MatMul (p, vt) ct = Transpose <perm = [0, 3, 1, 2]> (c) z = Reshape (ct, whole)"""
#: of what is divided by its length over all places
_COVARIANCE = _CHANNELS.replace("MatMul (qt, kt)", "MatMul (qn, kn)").replace(
    "r = ", "qn = LpNormalization <axis = -1> (qt) kn = LpNormalization <axis = -2> (kt) r = "
)
_TALKING = """qt = Transpose <perm = [0, 2, 1, 3]> (qh) kt = Transpose <perm = [0, 2, 3, 1]> (kh)
 vt = Transpose <perm = [0, 2, 1, 3]> (vh) r = MatMul (qt, kt)
 rt = Transpose <perm = [0, 2, 3, 1]> (r) rm = MatMul (rt, wm)
 rb = Transpose <perm = [0, 3, 1, 2]> (rm) p = Softmax <axis = -1> (rb)
 pt = Transpose <perm = [0, 2, 3, 1]> (p) pm = MatMul (pt, wn)
 pb = Transpose <perm = [0, 3, 1, 2]> (pm)
 c = MatMul (pb, vt) ct = Transpose <perm = [0, 2, 1, 3]> (c) z = Reshape (ct, whole)"""


@pytest.mark.parametrize(
    ("orders", "name", "facts"),
    [
        (_CHANNELS, "Channel self-attention", ("2 heads × 4",)),
        (_COVARIANCE, "Cross-covariance attention", ("2 heads × 4",)),
        (_TALKING, "Self-attention", ("2 heads × 4", "talking heads")),
    ],
)
def test_channels_and_heads_may_be_what_is_mixed(
    orders: str, name: str, facts: tuple[str, ...]
) -> None:
    text = _HEADS.replace("ORDERS", orders)
    graph = load(onnx.parser.parse_model(text).SerializeToString()).graph
    found = recognise(graph.nodes)
    assert found is not None
    assert (found.name, found.facts) == (name, facts)


@pytest.mark.parametrize(
    ("start", "keys", "name"),
    [
        ("s", "t", "Attention"),  # made of what keys were before, as queries of all windows are
        ("z", "t", "Cross-attention"),
        ("s", "j", "Cross-attention"),  # of others, too, as a resampler has them
    ],
)
def test_queries_of_what_keys_were_before_are_of_no_other_stream(
    start: str, keys: str, name: str
) -> None:
    weights = " ".join(f"w{number} = ConstantOfShape (dims)" for number in range(14))
    steps = f"a0 = Identity ({start}) " + " ".join(
        f"m{n} = MatMul (a{n}, w{n}) a{n + 1} = Relu (m{n})" for n in range(5)
    )
    stream = " ".join(
        f"u{n} = MatMul (t{n}, w{n + 5}) t{n + 1} = Add (t{n}, u{n})" for n in range(5)
    )
    text = f"""<ir_version: 10, opset_import: ["": 23]>
    g (float[1, 16, 8] x, float[1, 16, 8] z) => (float[1, 16, 8] y)
    <int64[2] dims = {{8, 8}}> {{
      {weights}
      s0 = MatMul (x, w13)  s = Softsign (s0)
      {steps}
      t0 = Identity (s)  {stream}  t = Softsign (t5)  j = Concat <axis = 1> (t, z)
      [q] q = MatMul (a5, w10)  [k] k = MatMul ({keys}, w11)  [v] v = MatMul ({keys}, w12)
      [a] y = Attention <q_num_heads = 2, kv_num_heads = 2> (q, k, v)
    }}"""
    graph = load(onnx.parser.parse_model(text).SerializeToString()).graph
    found = recognise([node for node in graph.nodes if node.name])
    assert found is not None
    assert found.name == name
