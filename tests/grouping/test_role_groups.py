"""Preparation and postprocessing as groups: where they stand, what they are called."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.readers.load import load
from netloupe.explorer.roles import find_roles
from netloupe.explorer.search.search import search_model
from tests.corpus import corpus_file
from tests.onnx_text import load_text

from .test_spilled_ideas import build
from .test_tree import check_tree

_NINE = "{1,2,3,4,5,6,7,8,9}"


def groups_of(tree: GroupTree, kind: str) -> list[Group]:
    found = {id(group): group for group in tree.groups.values() if group.kind == kind}
    return sorted(found.values(), key=lambda group: group.low)


#: what is hidden and has no other name
_NAMELESS = ("constants", "shape arithmetic")


def list_prepared(tree: GroupTree) -> list[Group]:
    """Return the preparation, also what is hidden as it takes no input."""
    hidden = [group for group in groups_of(tree, "shape") if group.label not in _NAMELESS]
    return sorted([*groups_of(tree, "preparation"), *hidden], key=lambda group: group.low)


def titles(tree: GroupTree) -> list[tuple[str, tuple[str, ...]]]:
    return [(group.label, group.facts) for group in list_prepared(tree)]


def attend(mask: str, *, fact: str = "allowed", score: str = "Add (h, bias)") -> GroupTree:
    """Return the tree of a graph whose scores are masked as some nodes say."""
    graph = load_text(f"""
        g (int64[b, s] given, int64[b, s] ids, float[b, s, 3] x) => (float[b, s, 3] y)
        <float[3, 3] w = {_NINE}, int64 zero = {{0}}, int64 one = {{1}}, int64 four = {{4}},
         int64[1] axis = {{1}}, float low = {{-1}}, float[3] slopes = {{1, 2, 3}}>
        {{
            sizes = Shape (ids)
            length = Gather (sizes, one)
            places = Range (zero, length, one)
            rows = Unsqueeze (places, axis)
            {mask}
            bias = Where ({fact}, low, low)
            h = MatMul (x, w)
            scores = {score}
            p = Softmax (scores)
            y = MatMul (p, w)
        }}
    """).graph
    tree = build_group_tree(graph)
    check_tree(tree)
    return tree


@pytest.mark.parametrize(
    ("mask", "facts"),
    [
        ("allowed = LessOrEqual (places, rows)", ("causal",)),
        ("next = Add (rows, one)  allowed = Less (places, next)", ("causal",)),
        ("t = Trilu (rows)  allowed = Cast <to = 9> (t)", ("causal",)),
        ("d = Unsqueeze (given, axis)  allowed = Cast <to = 9> (d)", ("padding",)),
        (
            "a = LessOrEqual (places, rows)  b = Cast <to = 9> (given)  allowed = And (a, b)",
            ("causal", "padding"),
        ),
        (
            "first = Sub (rows, four)  a = Greater (places, first)  b = Not (a)  allowed = Not (b)",
            ("window 4",),
        ),
        # compared with a number, as masks that hide nothing are
        ("a = GreaterOrEqual (rows, zero)  b = Not (a)  allowed = Not (b)", ()),
        # one slope for each head
        ("m = Mul (rows, four)  a = Mul (m, slopes)  allowed = Cast <to = 9> (a)", ("ALiBi",)),
        # which part a place belongs to, counted of where parts begin
        (
            "c = CumSum (given, one)  e = Equal (c, rows)  b = Not (e)  allowed = Not (b)",
            (),
        ),
        # positions that are given from outside: where they lie is not in the file
        ("a = LessOrEqual (places, given)  b = Not (a)  allowed = Not (b)", ()),
    ],
)
def test_an_attention_mask_says_what_is_certain(mask: str, facts: tuple[str, ...]) -> None:
    assert titles(attend(mask)) == [("attention mask", facts)]


@pytest.mark.parametrize(
    ("index", "name"),
    [
        ("c = Unsqueeze (given, axis)  d = Unsqueeze (given, two)  index = Sub (c, d)", "relative"),
        ("index = Add (given, ids)", "attention"),
        ("c = Unsqueeze (given, axis)  d = Unsqueeze (ids, two)  index = Sub (c, d)", "attention"),
        ("", "mask"),
    ],
)
def test_what_is_looked_up_in_a_table_is_a_bias_and_no_mask(index: str, name: str) -> None:
    table = "rows = Gather <axis = 1> (table, index)  m = ReduceSum <keepdims = 0> (rows, zeros)"
    graph = load_text(f"""
        g (int64[b, s] given, int64[b, s] ids, float[b, s, 3] x) => (float[b, s, 3] y)
        <float[3, 3] w = {_NINE}, float[2, 4] table = {{1, 2, 3, 4, 5, 6, 7, 8}},
         int64[1] axis = {{1}}, int64[1] two = {{2}}, int64[1] zeros = {{0}}, float low = {{-1}}>
        {{
            {index} {table if index else "n = Unsqueeze (given, axis)  m = Cast <to = 1> (n)"}
            t = Cast <to = 9> (ids)
            known = Unsqueeze (t, axis)
            bias = Where (known, m, low)
            h = MatMul (x, w)
            scores = Add (h, bias)
            p = Softmax (scores)
            y = MatMul (p, w)
        }}
    """).graph
    names = {"relative": "relative position bias", "attention": "attention bias"}
    assert titles(build_group_tree(graph)) == [(names.get(name, "attention mask"), ("padding",))]


@pytest.mark.parametrize("score", ["Mul (h, bias)", "Sub (h, bias)"])
def test_a_mask_may_multiply_and_be_subtracted(score: str) -> None:
    tree = attend("allowed = LessOrEqual (places, rows)", score=score)
    assert titles(tree) == [("attention mask", ("causal",))]


@pytest.mark.parametrize(
    ("score", "names"),
    [
        ("Div (h, far)", ["preparation of Div"]),
        ("Mul (h, far)", ["preparation of Mul"]),
    ],
)
def test_distances_that_scores_are_divided_by_are_no_mask(score: str, names: list[str]) -> None:
    graph = load_text(f"""
        g (int64[b, s] hops, float[b, s, 3] x) => (float[b, s, 3] y)
        <float[3, 3] w = {_NINE}, float one = {{1}}, int64[1] axis = {{1}}>
        {{
            a = Unsqueeze (hops, axis)
            b = Cast <to = 1> (a)
            near = Less (b, one)
            far = Where (near, one, b)
            h = MatMul (x, w)
            scores = {score}
            p = Softmax (scores)
            y = MatMul (p, w)
        }}
    """).graph
    assert [label for label, _ in titles(build_group_tree(graph))] == names


@pytest.mark.parametrize(("factor", "names"), [("slopes", ["ALiBi"]), ("four", ["position ids"])])
def test_positions_times_a_slope_for_each_head_are_no_mask(factor: str, names: list[str]) -> None:
    graph = load_text(f"""
        g (int64[b, s] ids, float[b, s, 3] x) => (float[b, s, 3] y)
        <float[3, 3] w = {_NINE}, int64 zero = {{0}}, int64 one = {{1}}, int64 four = {{4}},
         int64[1] axis = {{1}}, float[3] slopes = {{1, 2, 3}}>
        {{
            sizes = Shape (ids)
            length = Gather (sizes, one)
            places = Range (zero, length, one)
            rows = Unsqueeze (places, axis)
            bias = Mul (rows, {factor})
            h = MatMul (x, w)
            scores = Add (h, bias)
            p = Softmax (scores)
            y = MatMul (p, w)
        }}
    """).graph
    assert [label for label, _ in titles(build_group_tree(graph))] == names


def test_what_is_not_added_to_scores_is_no_attention_mask() -> None:
    graph = load_text(f"""
        g (int64[b, s] given, float[b, s, 3] x) => (float[b, s, 3] y)
        <float[3, 3] w = {_NINE}, float low = {{-1}}, int64[1] axis = {{1}}>
        {{
            a = Unsqueeze (given, axis)
            allowed = Cast <to = 9> (a)
            bias = Where (allowed, low, low)
            h = MatMul (x, w)
            scores = Add (h, bias)
            p = Relu (scores)
            y = MatMul (p, w)
        }}
    """).graph
    assert titles(build_group_tree(graph)) == [("preparation of Add", ())]


def prepare(text: str, use: str, inputs: str = "float[b, 3, 8, 8] x") -> list[str]:
    tree = build_prepared(text, use, inputs)
    features = [group for group in groups_of(tree, "block") if group.label.startswith("features")]
    return [group.label for group in (*list_prepared(tree), *features)]


def build_prepared(text: str, use: str, inputs: str = "float[b, 3, 8, 8] x") -> GroupTree:
    graph = load_text(f"""
        g ({inputs}) => (float[n, m] y)
        <float[3, 3] w = {_NINE}, float[3] mean = {{1, 2, 3}}, float[1, 3, 1, 1] k = {{1, 2, 3}},
         int64 zero = {{0}}, int64 one = {{1}}, int64[1] axis = {{1}}, int64[1] hidden = {{3}},
         float[1, 12, 3] wx = {{{",".join("1" * 36)}}}>
        {{
            {text}
            {use}
        }}
    """).graph
    tree = build_group_tree(graph)
    check_tree(tree)
    return tree


_PIXELS = "a = Cast <to = 1> (x)  c = Sub (a, mean)  p = Div (c, mean)"


@pytest.mark.parametrize(
    ("text", "use", "name"),
    [
        (_PIXELS, "y = Conv (p, k)", "pixel normalization"),
        (_PIXELS, "y = MatMul (p, w)", "features of x"),
        (_PIXELS.replace("Cast <to = 1>", "Sin"), "y = Conv (p, k)", "features of x"),
        (_PIXELS.replace("(a, mean)", "(a, a)"), "y = Conv (p, k)", "features of x"),
    ],
)
def test_pixels_are_normalized_by_constants_before_a_convolution(
    text: str, use: str, name: str
) -> None:
    assert prepare(text, use) == [name]


def test_what_only_puts_inputs_beside_each_other_is_no_preparation() -> None:
    inputs = "float[b, 3, 8, 8] x, float[b, 3, 8, 8] z"
    joined = "s = Transpose (x)  t = Transpose (z)  p = Concat <axis = 1> (s, t)"
    assert prepare(joined, "y = Conv (p, k)", inputs) == []
    ids = inputs.replace("float", "int64")
    assert prepare(joined, "y = Conv (p, k)", ids) == ["preparation of Conv"]


@pytest.mark.parametrize(
    ("ids", "name"),
    [
        ("r = Range (zero, n, one)  ids = Unsqueeze (r, axis)  e = Add (ids, one)", "position ids"),
        ("c = CumSum (given, one)  d = Sub (c, one)  e = Mul (d, given)", "position ids"),
        ("c = Mod (given, one)  d = Sub (c, one)  e = Mul (d, given)", "preparation of Gather"),
    ],
)
def test_positions_are_counted(ids: str, name: str) -> None:
    text = f"s = Shape (given)  n = Gather (s, one)  {ids}"
    assert prepare(text, "y = Gather (w, e)", "int64[b, s] given") == [name]


@pytest.mark.parametrize(
    ("function", "joined", "names"),
    [
        ("Cos", "e = Concat <axis = 1> (c, s)", ["sinusoidal embedding"]),
        ("Tanh", "e = Concat <axis = 1> (c, s)", ["features of x"]),
        ("Cos", "e = Add (c, s)", ["features of x"]),
    ],
)
def test_sine_beside_cosine_of_the_same_angles(
    function: str, joined: str, names: list[str]
) -> None:
    text = f"f = Mul (x, mean)  c = {function} (f)  s = Sin (f)  {joined}"
    assert prepare(text, "y = MatMul (e, w)", "float[b, 1] x") == names


def rotate(second: str = "sin") -> list[str]:
    text = "f = Mul (x, mean)  cos = Cos (f)  sin = Sin (f)"
    use = f"""h = MatMul (x, w)  a = Mul (h, cos)  b = {second}  q = Add (a, b)
              k = MatMul (q, w)  d = Mul (k, cos)  e = Mul (k, sin)  y = Add (d, e)"""
    return prepare(text, use, "float[b, 3] x")


def test_cosine_and_sine_as_factors_are_rotary_and_stand_in_one_box() -> None:
    assert rotate("Mul (h, sin)") == ["rotary cos/sin"]
    assert rotate("Add (h, sin)") == ["features of x"]


def test_what_recurrent_operators_begin_with_is_their_initial_state() -> None:
    text = """s = Shape (x)  n = Slice (s, axis, hidden)  z = ConstantOfShape (n)
              a = Neg (z)  b = Abs (a)"""
    use = "y, last = LSTM <hidden_size = 3> (x, wx, wx, , , b)"
    assert prepare(text, use, "float[t, b, 3] x") == ["initial state"]


def test_a_piece_stands_before_what_it_feeds_and_in_the_innermost_group_around_that() -> None:
    tree = build_group_tree(load(corpus_file("exported/bert.legacy.onnx")).graph)
    mask = tree.groups["main/model/encoder/attention mask/"]
    assert mask.parent is tree.root  # for the encoder holds a stack and no more
    (stack,) = (group for group in mask.parent.inner_groups() if group.kind == "repeat")
    assert len(stack.children) == 12
    children = mask.parent.children
    assert children.index(mask) == children.index(stack) - 1


def test_without_its_bias_the_first_block_of_t5_is_like_the_others() -> None:
    tree = build_group_tree(load(corpus_file("exported/t5.legacy.onnx")).graph)
    found = [group for group in tree.groups.values() if group.kind == "repeat"]
    assert sorted({len(group.children) for group in found if "block" in group.label}) == [8]
    assert titles(tree) == [("relative position bias", ())] * 2


def test_other_groupings_leave_preparation_where_its_names_say() -> None:
    graph = load(corpus_file("exported/gpt2.legacy.onnx")).graph
    for grouping in ("names", "modules", "repeats", "none"):
        tree = build_group_tree(graph, grouping)
        assert groups_of(tree, "preparation") == []
    flat = build_group_tree(graph, "none")
    roles = find_roles(graph)
    assert len(flat.order) == len(graph.nodes) - len(roles.constants)
    assert [node.index for node in flat.order] == sorted(node.index for node in flat.order)


def test_a_part_of_a_graph_has_the_part_of_its_preparation() -> None:
    graph = load(corpus_file("exported/gpt2.legacy.onnx")).graph
    piece = max(find_roles(graph).pieces, key=lambda piece: len(piece.nodes))
    few = frozenset({*piece.nodes[-5:], graph.nodes[-1].index})
    tree = build_group_tree(graph, only=few)
    assert [group.node_count for group in groups_of(tree, "preparation")] == [5]
    assert {node.index for node in tree.order} == few


POST = f"""
g (float[n, 3] x) => (float[n, 3] y)
<float[3, 3] w = {_NINE}, float[3] c = {{1, 2, 3}}, int64[1] two = {{2}}>
{{{{
    h = MatMul (x, w)
    a = {{first}} (h)
    b = Sub (a, c)
    d = Abs (b)
    y = {{last}} (d)
}}}}"""


@pytest.mark.parametrize(
    ("first", "last", "facts"),
    [
        ("Softmax", "ArgMax", [("softmax", "argmax")]),
        ("Sigmoid", "Neg", [("sigmoid",)]),
        ("Sin", "Neg", []),  # nothing tells what for
        ("Relu", "ArgMax", []),  # three nodes: the first is an activation
    ],
)
def test_postprocessing_is_one_group_where_something_tells_what_for(
    first: str, last: str, facts: list[tuple[str, ...]]
) -> None:
    text = POST.replace("{{", "{").replace("}}", "}")
    text = text.replace("{first}", first).replace("{last}", last)
    tree = build_group_tree(load_text(text).graph)
    check_tree(tree)
    assert [group.facts for group in groups_of(tree, "postprocessing")] == facts


def test_each_result_has_its_own_postprocessing_and_a_softmax_stays_with_its_head() -> None:
    def list_facts(second: str) -> list[tuple[str, ...]]:
        heads = " ".join(f"h{n} = MatMul (r, w)  y{n} = Softmax (h{n})" for n in range(4))
        graph = load_text(f"""
            g (float[n, 3] x) => (float[n, 3] y0, y1, y2, y3, float[n, 3] z)
            <float[3, 3] w = {_NINE}, float[3] c = {{1, 2, 3}}> {{
                r = MatMul (x, w)  {heads}
                a = MatMul (r, w)  {second}
            }}
        """).graph
        return [group.facts for group in groups_of(build_group_tree(graph), "postprocessing")]

    assert list_facts("z = Softmax (a)") == []
    decoded = "s = Sigmoid (a)  b = Sub (s, c)  d = Abs (b)  z = Neg (d)"
    assert list_facts(decoded) == [("sigmoid",)]


def test_the_end_of_the_last_layer_stays_in_its_layer() -> None:
    layer = """
        a{n} = MatMul (x{n}, w)
        b{n} = Softmax (a{n})
        c{n} = Sub (b{n}, c)
        d{n} = Abs (c{n})
        x{m} = Add (d{n}, x{n})
    """
    layers = "".join(layer.replace("{n}", str(i)).replace("{m}", str(i + 1)) for i in range(6))
    graph = load_text(f"""
        g (float[n, 3] x0) => (float[n, 3] x6)
        <float[3, 3] w = {_NINE}, float[3] c = {{1, 2, 3}}> {{ {layers} }}
    """).graph
    tree = build_group_tree(graph)
    (stack,) = (group for group in tree.groups.values() if group.kind == "repeat")
    assert len(stack.children) == 6
    assert groups_of(tree, "postprocessing") == []


def test_preparation_is_found_by_its_name() -> None:
    model = load(corpus_file("exported/gpt2.legacy.onnx"))
    hits = search_model(model, "attention mask", find_tree=build_group_tree)
    assert "main/model/transformer/attention mask/" in [hit.path for hit in hits]
    causal = search_model(model, "mask causal", find_tree=build_group_tree)
    mask = next(causal)
    assert (mask.path, mask.kind) == ("main/model/transformer/attention mask/", "group")
    assert mask.detail == "causal, padding · 48 nodes"


def test_very_many_pieces_are_grouped_once() -> None:
    count = 2_000
    lines = []
    for number in range(count):
        # each of another kind, so that they are not layers that are alike
        kinds = [("Sin", "Cos", "Neg", "Abs", "Exp")[number // 5**place % 5] for place in range(5)]
        value = "x"
        for place, kind in enumerate(kinds):
            lines.append(f"v{number}_{place} = {kind} ({value})")
            value = f"v{number}_{place}"
        lines.append(f"h{number} = MatMul ({value}, w)")
        lines += [f"r{number}_{i} = MatMul (h{number}, w)" for i in range(6)]
    body = "\n".join(lines)
    graph: Graph = load_text(f"""
        g (int64[n, 3] x) => (float[n, 3] h0) <float[3, 3] w = {_NINE}> {{ {body} }}
    """).graph
    tree = build_group_tree(graph)
    assert len(groups_of(tree, "preparation")) == count
    assert all(isinstance(child, Group | Node) for child in tree.root.children)
    assert len(tree.root.children) <= 150


def test_an_idea_behind_the_last_weight_is_no_postprocessing() -> None:
    """Products of pairs of features are the model's, though no weight stands behind them."""
    text = """
    pairs (float[1, 4, 8] x) => (float[1, 1] y)
    <int64[2] dims = {8, 8}, int64[1] axis = {1}, float half = {0.5}, float bias = {0.25}>
    {
      [a] w = ConstantOfShape (dims)
      [layer__MatMul] h = MatMul (x, w)
      [Relu] f = Relu (h)
      [ReduceSum] total = ReduceSum (f, axis)  [Mul] square = Mul (total, total)
      [Mul_1] squares = Mul (f, f)  [ReduceSum_1] sums = ReduceSum (squares, axis)
      [Sub] apart = Sub (square, sums)
      [ReduceSum_2] all = ReduceSum <keepdims = 0> (apart, last)
      [Mul_2] pairs = Mul (all, half)
      [Add] biased = Add (pairs, bias)
      [Sigmoid] y = Sigmoid (biased)
    }
    """.replace("half = {0.5},", "half = {0.5}, int64[1] last = {2},")
    groups = build(text).groups.values()
    assert "Factorization machine" in {group.type_name for group in groups}
    assert not any(group.kind == "postprocessing" for group in groups)
