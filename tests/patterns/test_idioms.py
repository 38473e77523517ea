"""Idioms that exporters write out, each as several of them do, and what is none of them."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper, parser

from netloupe.explorer.grouping import build_group_tree
from netloupe.explorer.model import Graph
from netloupe.explorer.patterns import recognise
from netloupe.explorer.patterns.added_tokens import name_added_tokens
from netloupe.explorer.patterns.edge_inputs import name_node_sum
from netloupe.explorer.patterns.idle_nodes import is_idle
from netloupe.explorer.patterns.pairwise import is_symmetrized, joins_pairs
from netloupe.explorer.patterns.picked_tokens import read_picked_token
from netloupe.explorer.readers.load import load
from tests.onnx_text import load_text


def tell(signature: str, body: str, stored: str = "") -> str:
    """Return what the nodes of a graph are told to be together; "" for nothing known."""
    graph = load_text(
        f"g ({signature} <{stored}> {{ {body} }}" if stored else f"g ({signature} {{ {body} }}"
    ).graph
    found = recognise(graph.nodes)
    return found.text if found is not None else ""


_CAP = "float[2, 3] x) => (float[2, 3] y)"


@pytest.mark.parametrize(
    ("body", "stored"),
    [
        ("d = Div (x, c)  t = Tanh (d)  y = Mul (t, c)", "float c = {30}"),
        ("d = Mul (x, s)  t = Tanh (d)  y = Mul (c, t)", "float c = {50}, float s = {0.02}"),
        # in half precision
        (
            "h = Cast <to = 10> (x)  d = Div (h, c)  t = Tanh (d)  y = Mul (t, c)",
            "float16 c = {15}",
        ),
    ],
)
def test_a_soft_cap(body: str, stored: str) -> None:
    assert tell(_CAP, body, stored).startswith("Soft cap, ")


@pytest.mark.parametrize(
    "body",
    [
        # another factor behind, no quotient, the other way around
        "d = Div (x, c)  t = Tanh (d)  y = Mul (t, e)",
        "d = Sub (x, c)  t = Tanh (d)  y = Mul (t, c)",
        "d = Div (c, x)  t = Tanh (d)  y = Mul (t, c)",
        "d = Div (x, c)  t = Sigmoid (d)  y = Mul (t, c)",
    ],
)
def test_what_is_no_soft_cap(body: str) -> None:
    assert "Soft cap" not in tell(_CAP, body, "float c = {30}, float e = {31}")


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("s = Mul (x, x)  n = ReduceSum (s, last)  y = Sqrt (n)", "L2 norm"),
        ("s = Pow (x, two)  n = ReduceSum (s, last)  y = Pow (n, half)", "L2 norm"),
        ("n = ReduceSumSquare (x, last)  e = Add (n, least)  y = Sqrt (e)", "L2 norm"),
        ("a = Mul (x, x)  b = Mul (z, z)  n = Add (a, b)  y = Sqrt (n)", "Magnitude"),
        ("a = Pow (x, two)  b = Pow (z, two)  n = Add (a, b)  y = Sqrt (n)", "Magnitude"),
        # no squares, another root, another sum
        ("s = Mul (x, z)  n = ReduceSum (s, last)  y = Sqrt (n)", ""),
        ("s = Mul (x, x)  n = ReduceMean (s, last)  y = Sqrt (n)", ""),
        ("a = Mul (x, x)  b = Mul (z, z)  n = Sub (a, b)  y = Sqrt (n)", ""),
        # of what is left once the mean is subtracted, also of integers
        (
            (
                "m = ReduceMean (x, last)  d = Sub (x, m)  s = Mul (d, d)  "
                "n = ReduceSum (s, last)  y = Sqrt (n)"
            ),
            "",
        ),
        (
            (
                "m0 = ReduceMean (x, last)  m = Round (m0)  d = Sub (x, m)  h = Div (d, two)  "
                "f = Floor (h)  s = Pow (f, two)  n = ReduceSum (s, last)  y = Sqrt (n)"
            ),
            "",
        ),
    ],
)
def test_lengths(body: str, name: str) -> None:
    stored = "float two = {2}, float half = {0.5}, float least = {1e-6}, int64[1] last = {-1}"
    told = tell("float[2, 3] x, float[2, 3] z) => (float[2, n] y)", body, stored)
    assert told == name or (not name and not told.startswith(("L2", "Magnitude")))


def _slices(starts: list[int], length: int, axis: int = 2, *, insert: bool = True) -> str:
    lines = []
    for number, start in enumerate(starts):
        lines.append(f"a{number} = Constant <value = int64[1] {{{start}}}> ()")
        lines.append(f"b{number} = Constant <value = int64[1] {{{start + length}}}> ()")
        lines.append(f"s{number} = Slice (x, a{number}, b{number}, axis)")
        if insert:
            lines.append(f"u{number} = Unsqueeze (s{number}, new)")
    taken = ", ".join(f"{'u' if insert else 's'}{number}" for number in range(len(starts)))
    return f"{' '.join(lines)} y = Concat <axis = {axis}> ({taken})"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (_slices([0, 10, 20, 30], 20), "Chunks, 4 of 20, hop 10"),
        (_slices([0, 5, 10], 10, insert=False), "Chunks, 3 of 10, hop 5"),
        (_slices([0, 10, 20, 30, 40], 10), "Chunks, 5 of 10"),
        # unequal distances
        (_slices([0, 10, 25, 30], 20), ""),
        (_slices([0, 10], 20), ""),
    ],
)
def test_chunks(body: str, told: str) -> None:
    stored = "int64[1] axis = {2}, int64[1] new = {2}"
    found = tell("float[1, 8, 50] x) => (float[n, m, o, p] y)", body, stored)
    assert found == told or (not told and "Chunks" not in found)


def _ends(lookup: str) -> str:
    return f"a = {lookup} (x, i)  b = {lookup} (x, j)  y = Concat <axis = -1> (a, b, e)"


_GRAPH = (
    "float[9, 4] x, float[9, 4] z, float[20, 3] e, int64[20] i, int64[20] j) => (float[20, n] y)"
)


def test_the_two_ends_of_edges() -> None:
    assert tell(_GRAPH, _ends("Gather")) == "Source, target, edge"
    rows = _GRAPH.replace("int64[20]", "int64[20, 1]")
    assert tell(rows, _ends("GatherND")) == "Source, target, edge"
    assert tell(_GRAPH, _ends("Gather").replace(", e)", ")")) == "Source, target"
    # one end only, and rows of different values
    assert "target" not in tell(_GRAPH, _ends("Gather").replace("b = Gather (x, j)", "b = Abs (e)"))
    assert "target" not in tell(_GRAPH, _ends("Gather").replace("(x, j)", "(z, j)"))


def test_sums_to_nodes() -> None:
    body = """
      s = Shape (x)  zeros = ConstantOfShape (s)
      i = Gather <axis = 0> (index, zero)  j = Gather <axis = 0> (index, one)
      sent = Gather (x, i)  m = Relu (sent)  c = Unsqueeze (j, last)
      y = ScatterND <reduction = "add"> (zeros, c, m)
    """
    stored = "int64 zero = {0}, int64 one = {1}, int64[1] last = {1}"
    head = "float[9, 4] x, int64[2, 20] index, int64[20] k) => (float[9, 4] y)"
    graph = load_text(f"g ({head} <{stored}> {{ {body} }}").graph
    assert name_node_sum(graph.nodes[-1]) == "Sum to nodes"
    largest = load_text(f"g ({head} <{stored}> {{ {body.replace('add', 'max')} }}").graph
    assert name_node_sum(largest.nodes[-1]) == "Maximum to nodes"
    for old, new in (
        ("Unsqueeze (j", "Unsqueeze (k"),
        ("(zeros, c", "(x, c"),
        ('<reduction = "add">', ""),
    ):
        other = load_text(f"g ({head} <{stored}> {{ {body.replace(old, new)} }}").graph
        assert name_node_sum(other.nodes[-1]) == ""


def test_a_value_and_its_transpose() -> None:
    def add(body: str) -> Graph:
        return load_text(f"g (float[1, 4, 5, 5] x) => (float[1, 4, 5, 5] y) {{ {body} }}").graph

    turned = "t = Transpose <perm = [0, 1, 3, 2]> (x)  y = Add (x, t)"
    assert is_symmetrized(add(turned).nodes[-1])
    assert is_symmetrized(add(turned.replace("(x, t)", "(t, x)")).nodes[-1])
    for old, new in (("[0, 1, 3, 2]", "[0, 3, 1, 2]"), ("Transpose <perm = [0, 1, 3, 2]>", "Abs")):
        assert not is_symmetrized(add(turned.replace(old, new)).nodes[-1])


def test_outer_concatenations() -> None:
    def join(body: str) -> Graph:
        return load_text(
            f"""g (float[1, 4, 5] x, float[1, 4, 5] z) => (float[1, 8, 5, 5] y)
            <int64[1] two = {{2}}, int64[1] three = {{3}}, int64[4] size = {{1, 4, 5, 5}},
             int64[4] r = {{1, 1, 1, 5}}, int64[4] c = {{1, 1, 5, 1}}> {{ {body} }}"""
        ).graph

    expanded = """a = Unsqueeze (x, two)  b = Unsqueeze (x, three)
        d = Expand (a, size)  e = Expand (b, size)  y = Concat <axis = 1> (d, e)"""
    assert joins_pairs(join(expanded).nodes[-1])
    tiled = expanded.replace("Expand (a, size)", "Tile (a, c)").replace(
        "Expand (b, size)", "Tile (b, r)"
    )
    assert joins_pairs(join(tiled).nodes[-1])
    assert not joins_pairs(join(expanded.replace("(x, three)", "(x, two)")).nodes[-1])
    assert not joins_pairs(join(expanded.replace("(x, three)", "(z, three)")).nodes[-1])


_SEQUENCE = """g (float[1, 7, 4] x, float[7, 1, 4] s) => (float[n, m] y)
    <int64 zero = {0}, int64 minus = {-1}, int64 three = {3}, int64[1] a = {0}, int64[1] b = {1},
     int64[1] axis = {1}, float[4] w = {1, 2, 3, 4}, float[1, 12, 4] k = {...},
     int64[3] p = {0, 2, 1}>"""


def _pick(body: str, before: str) -> str:
    weights = ", ".join(["0.1"] * 48)
    text = _SEQUENCE.replace("...", weights)
    return read_picked_token(load_text(f"{text} {{ {before} {body} }}").graph.nodes[-1])


_ATTENDED = """n = LayerNormalization (x, w)  t = Transpose <perm = [0, 2, 1]> (n)
    q = MatMul (n, t)  o = Softmax (q)  m = MatMul (o, n)"""


def test_one_place_of_a_sequence() -> None:
    assert _pick("y = Gather <axis = 1> (m, zero)", _ATTENDED) == "first token"
    assert _pick("y = Slice (m, a, b, axis)", _ATTENDED) == "first token"
    assert _pick("y = Gather <axis = 1> (m, minus)", _ATTENDED) == "last token"
    gru = """h, l = GRU <hidden_size = 4> (s, k, k)  c = Squeeze (h, axis)
        m = Transpose <perm = [1, 0, 2]> (c)"""
    assert _pick("y = Gather <axis = 1> (m, minus)", gru) == "last step"
    # of features, from the middle, of what no sequence is
    assert _pick("y = Gather <axis = 2> (m, zero)", _ATTENDED) == ""
    assert _pick("y = Gather <axis = 1> (m, three)", _ATTENDED) == ""
    assert _pick("y = Gather <axis = 1> (m, zero)", "m = Relu (x)") == ""


def _add_tokens(values: str, attend: str) -> str:
    graph = load_text(
        f"""g (float[1, 5, 8] x) => (float[1, 7, 8] y) {{
          two = Constant <value = float[1, 2, 8] {{{values}}}> ()
          all = Concat <axis = 1> (two, x)
          y = {attend}
        }}"""
    ).graph
    return name_added_tokens(graph.nodes[1])


def test_learned_tokens_are_told_and_rows_of_zeros_are_none() -> None:
    attend = "Attention <q_num_heads = 2, kv_num_heads = 2> (all, all, all)"
    learned = ", ".join(str(number / 10) for number in range(16))
    assert _add_tokens(learned, attend) == "+ 2 learned tokens"
    one = ", ".join([str(number / 10) for number in range(8)] * 2)
    assert _add_tokens(one, attend) == "+ learned token ×2"
    assert _add_tokens(", ".join(["0"] * 16), attend) == ""
    assert _add_tokens(learned, "Relu (all)") == ""


@pytest.mark.parametrize(
    ("node", "is_so"),
    [
        ("y = Pad (x, none)", True),
        ("y = Pad (x, some)", False),
        ("y = Slice (x, start, end, axis)", True),
        ("y = Slice (x, start, four, axis)", True),
        ("y = Slice (x, one, end, axis)", False),
        ("y = Slice (x, start, end, axis, two)", False),
        ("y = Concat <axis = 1> (x)", False),  # of a layer that takes all before it
    ],
)
def test_nodes_that_change_nothing(node: str, is_so: bool) -> None:
    graph = load_text(f"""
        g (float[3, 4] x) => (float[n, m] y)
        <int64[4] none = {{0, 0, 0, 0}}, int64[4] some = {{0, 0, 0, 1}}, int64[1] start = {{0}},
         int64[1] one = {{1}}, int64[1] two = {{2}}, int64[1] four = {{4}},
         int64[1] end = {{9223372036854775807}}, int64[1] axis = {{1}}> {{ {node} }}
    """).graph
    assert is_idle(graph.nodes[0]) is is_so


@pytest.mark.parametrize("packed", ["r", "r, r"])
def test_what_packs_one_value_changes_nothing(packed: str) -> None:
    graph = load_text(f"""
        g (float[2, 3, 4] x) => (float[n, m, k] y) <int64[3] rows = {{1, 6, 4}}> {{
          r = Reshape (x, rows) y = Concat <axis = 1> ({packed}) }}
    """).graph
    assert is_idle(graph.nodes[1]) is (packed == "r")


def test_a_layer_says_of_which_token_it_is() -> None:
    weights = ", ".join(["0.1"] * 16)
    before = "".join(f"r{n + 1} = Relu (r{n or ''})  " for n in range(13))
    graph = load_text(f"""
        g (float[1, 7, 4] r) => (float[1, 4] y)
        <int64 zero = {{0}}, float[4] w = {{1, 2, 3, 4}}, float[4, 4] k = {{{weights}}}> {{
          {before.replace("Relu (r)", "Relu (r)")}
          q = LayerNormalization (r13, w)
          m = Attention <q_num_heads = 2, kv_num_heads = 2> (q, q, q)
          p = Gather <axis = 1> (m, zero)
          h = MatMul (p, k)
          s = Tanh (h)
          y = Neg (s)
        }}
    """).graph
    pick, layer = graph.nodes[-4], graph.nodes[-3]
    found = recognise([pick, layer])
    assert found is not None
    assert found.text == "Linear 4 → 4, of the first token"
    found = recognise([pick, layer, graph.nodes[-2]])
    assert found is not None
    assert found.facts[-1] == "of the first token"
    # both stand in one box, as nothing else takes the token
    home = build_group_tree(graph).group_of(pick)
    assert home is not None
    assert layer in home.children


_MASKED = """float[2, 9, 4] x, bool[2, 9] m, float[2, 9, 1] f, float[2, 9, 1] the_mask,
    float[2, 9] w, float[2, 9, 4] z) => (float[n, o] y)"""


@pytest.mark.parametrize(
    ("body", "told"),
    [
        # older and newer exporter, of a set and of a sentence
        ("c = Cast <to = 1> (m)  u = Unsqueeze (c, two)  p = Mul (x, u)", "Masked sum"),
        ("u = Unsqueeze (m, two)  c = Cast <to = 1> (u)  p = Mul (c, x)", "Masked sum"),
        ("p = Mul (x, f)", "Weighted sum"),
        ("p = Mul (x, the_mask)", "Masked sum"),
        ("u = Unsqueeze (w, two)  p = Mul (u, x)", "Weighted sum"),
        ("p = Mul (x, z)", ""),
        ("a = Abs (f)  p = Mul (x, a)", ""),
    ],
)
def test_sums_of_what_a_mask_counts(body: str, told: str) -> None:
    stored = "int64[1] one = {1}, int64[1] two = {2}, float some = {1e-9}"
    found = tell(_MASKED, f"{body}  y = ReduceSum (p, one)", stored)
    assert found == told or (not told and "sum" not in found)


@pytest.mark.parametrize(
    ("mask", "count", "told"),
    [
        ("c = Cast <to = 1> (m)  u = Unsqueeze (c, two)", "u", "Masked mean"),
        ("c = Cast <to = 1> (m)  u = Unsqueeze (c, two)", "f", "Masked sum"),
    ],
)
def test_means_of_what_a_mask_counts(mask: str, count: str, told: str) -> None:
    stored = "int64[1] one = {1}, int64[1] two = {2}, float some = {1e-9}"
    body = f"{mask} p = Mul (x, u) t = ReduceSum (p, one) n = ReduceSum ({count}, one)"
    graph = load_text(f"g ({_MASKED} <{stored}> {{ {body} k = Max (n, some)  y = Div (t, k) }}")
    found = recognise(graph.graph.nodes)
    assert ("" if found is None else found.name) == ("Masked mean" if told == "Masked mean" else "")


def test_parts_that_are_scaled() -> None:
    def scale(join: str) -> str:
        body = f"""a, b, c, d = Split <axis = 1, num_outputs = 4> (x)  l = Mul (a, w)
            t = Mul (b, h)  r = Mul (c, w)  u = Mul (d, h)  y = Concat <axis = 1> ({join})"""
        head = "float[9, 4] x, float[9, 1] z) => (float[n, m] y)"
        return tell(head, body, "float w = {2.5}, float h = {2}")

    assert scale("l, t, r, u") == "Scaling, each of 4 parts"
    assert "Scaling" not in scale("l, t, r, z")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("h = MatMul (x, k)  y = Mul (h, eight)", "Linear 4 → 4, × 8"),
        ("h = MatMul (x, k)  r = Reshape (h, size)  y = Div (r, eight)", "Linear 4 → 4, ÷ 8"),
        ("h = MatMul (x, k)  y = Mul (h, z)", ""),
        ("h = MatMul (x, k)  y = Div (eight, h)", ""),
    ],
)
def test_a_layer_says_by_what_it_is_scaled(body: str, told: str) -> None:
    weights = ", ".join(["0.1"] * 16)
    stored = f"float eight = {{8}}, float[4, 4] k = {{{weights}}}, int64[2] size = {{6, 2}}"
    found = tell("float[3, 4] x, float[3, 4] z) => (float[n, m] y)", body, stored)
    assert found == told or (not told and "8" not in found)


@pytest.mark.parametrize(
    ("variance", "root"),
    [
        ("q = Mul (d, d)  v = ReduceMean (q, axis)", "Sqrt (e)"),
        ("q = Pow (d, two)  v = ReduceMean (q, axis)", "Pow (e, half)"),
        # what is centred is centred again
        (
            "n = ReduceMean (d, axis)  c = Sub (d, n)  q = Mul (c, c)  v = ReduceMean (q, axis)",
            "Sqrt (e)",
        ),
    ],
)
def test_a_series_that_is_made_alike_and_given_back(variance: str, root: str) -> None:
    text = f"""g (float[2, 48, 7] x) => (float[2, 48, 7] y)
        <int64[1] axis = {{1}}, float two = {{2}}, float half = {{0.5}}, float least = {{1e-5}},
         float[7, 7] w = {{{", ".join(["0.1"] * 49)}}}> {{
          m = ReduceMean (x, axis)  d = Sub (x, m)  {variance}  e = Add (v, least)  s = {root}
          z = Div (d, s)  h = MatMul (z, w)  r = Relu (h)  k = MatMul (r, w)
          b = Mul (k, s)  y = Add (b, m)
        }}"""
    tree = build_group_tree(load_text(text).graph)
    (made,) = [g for g in tree.root.inner_groups() if g.label == "Standardization"]
    assert made.recognised is not None
    assert made.recognised.facts == ("reversed at the end",)
    # the way back is no part of it
    assert made.nodes_alone()[-1].op_type == "Div"
    other = build_group_tree(load_text(text.replace("Sub (x, m)", "Sub (m, x)")).graph)
    assert "Standardization" not in {group.label for group in other.root.inner_groups()}
    # only kept, or with another one added: nothing is reversed
    for way, results in (
        ("", "y, float[n, m, o] m, float[n, m, o] s"),
        ("b = Mul (k, s)  y = Add (b, two)", "y, float[n, m, o] m"),
    ):
        told = text.replace("b = Mul (k, s)  y = Add (b, m)", way or "y = Relu (k)")
        told = told.replace("(float[2, 48, 7] y)", f"(float[2, 48, 7] {results})")
        (kept,) = [
            group
            for group in build_group_tree(load_text(told).graph).root.inner_groups()
            if group.label == "Standardization"
        ]
        assert kept.recognised is not None
        assert kept.recognised.facts == ()


@pytest.mark.parametrize(
    ("name", "told"), [("cls_token", "+ 1 token of zeros"), ("vit.cls_token", "+ 1 learned token")]
)
def test_a_token_of_a_module_is_learned_though_it_begins_with_zeros(name: str, told: str) -> None:
    model = parser.parse_model(
        """<ir_version: 10, opset_import: ["": 23]>
        g (float[1, 5, 8] x) => (float[1, 6, 8] y) {
          all = Concat <axis = 1> (token, x)
          y = Attention <q_num_heads = 2, kv_num_heads = 2> (all, all, all)
        }"""
    )
    model.graph.node[0].input[0] = name
    zeros = numpy_helper.from_array(np.zeros((1, 1, 8), np.float32), name)
    model.graph.initializer.append(zeros)
    assert name_added_tokens(load(model).graph.nodes[0]) == told


@pytest.mark.parametrize(("exponent", "is_pooling"), [(2.0, False), (3.0, True)])
def test_a_root_mean_square_is_no_generalized_mean(exponent: float, *, is_pooling: bool) -> None:
    body = "p = Pow (x, high)  m = ReduceMean (p, last)  y = Pow (m, low)"
    stored = f"float high = {{{exponent}}}, float low = {{{1 / exponent}}}, int64[1] last = {{-1}}"
    told = tell("float[2, 3] x, float[2, 3] z) => (float[2, n] y)", body, stored)
    assert told.startswith("Generalized-mean pooling") is is_pooling
