"""Roles: what nodes are for, by the flow of data alone."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from netloupe.explorer.model import Graph
from netloupe.explorer.readers.load import load
from netloupe.explorer.roles import Role, find_roles, find_weight
from tests.corpus import LIGHT_MODELS, corpus_file, light_file
from tests.onnx_text import load_text

_NINE = "{1,2,3,4,5,6,7,8,9}"


def roles_by_output(graph: Graph) -> dict[str, Role]:
    roles = find_roles(graph)
    return {node.outputs[0].name: roles.of(node) for node in graph.nodes if node.outputs[0]}


def pieces(graph: Graph) -> list[list[str]]:
    """Return the operators of each piece of preparation."""
    return [[graph.nodes[index].op_type for index in p.nodes] for p in find_roles(graph).pieces]


def of_role(graph: Graph, role: Role) -> list[str]:
    return [name for name, found in roles_by_output(graph).items() if found == role]


MASKED = f"""
g (int64[b, s] mask, float[b, s, 3] x) => (float[b, s, 3] y)
<float[3, 3] w = {_NINE}, int64 zero = {{0}}, int64 one = {{1}}, int64[1] axis = {{1}},
 float[1] low = {{-1}}>
{{
    embedded = MatMul (x, w)
    sizes = Shape (embedded)
    length = Gather (sizes, one)
    places = Range (zero, length, one)
    rows = Unsqueeze (places, axis)
    lower = LessOrEqual (places, rows)
    given = Cast <to = 9> (mask)
    wide = Unsqueeze (given, axis)
    allowed = And (lower, wide)
    bias0 = Where (allowed, low, low)
    scores0 = Add (embedded, bias0)
    h = Softmax (scores0)
    h2 = MatMul (h, w)
    bias1 = Where (allowed, low, low)
    scores1 = Add (h2, bias1)
    h3 = Softmax (scores1)
    y = MatMul (h3, w)
}}"""


def test_a_mask_is_preparation_though_it_reads_a_shape_behind_a_weight() -> None:
    graph = load_text(MASKED).graph
    found = roles_by_output(graph)
    assert found["embedded"] == found["scores0"] == found["h3"] == "body"
    assert found["sizes"] == found["length"] == "shape"
    assert pieces(graph) == [
        ["Range", "Unsqueeze", "LessOrEqual", "Cast", "Unsqueeze", "And"],
    ]
    # what each layer has of its own joins it
    loose = {graph.nodes[index].outputs[0] for index in find_roles(graph).loose}
    assert {value.name for value in loose if value is not None} == {"bias0", "bias1"}
    assert found["bias0"] == found["lower"] == "preparation"


def test_shapes_for_a_reshape_of_the_body_are_no_preparation() -> None:
    graph = load_text(f"""
        g (float[b, s, 3] x) => (float[c, d] y)
        <float[3, 3] w = {_NINE}, int64[1] first = {{0}}, int64[1] rest = {{-1}}>
        {{
            z = MatMul (x, w)
            sizes = Shape (z)
            batch = Gather (sizes, first)
            target = Concat <axis = 0> (batch, rest)
            r = Reshape (z, target)
            y = MatMul (r, w)
        }}
    """).graph
    assert of_role(graph, "preparation") == []
    assert of_role(graph, "shape") == ["sizes", "batch", "target"]
    assert of_role(graph, "arrangement") == ["r"]


def test_a_graph_without_weights_is_all_body() -> None:
    graph = load_text("""
        g (float[n] x, float[n] z) => (float[n] y) {
            a = Add (x, z)  b = Sin (a)  c = Cos (a)  d = Mul (b, c)  e = Identity (d)
            y = Softmax (e)
        }
    """).graph
    assert Counter(roles_by_output(graph).values()) == {"body": 5, "arrangement": 1}
    assert find_roles(graph).pieces == ()


def test_preparation_of_more_nodes_than_all_others_is_none() -> None:
    steps = " ".join(f"a{i + 1} = Sin (a{i})" for i in range(70))
    text = f"""g (float[n, 3] x) => (float[n, 3] y) <float[3, 3] w = {_NINE}>
        {{ a0 = Cos (x) {steps} y = MatMul (a70, w) }}"""
    assert of_role(load_text(text).graph, "preparation") == []


def test_few_nodes_before_a_weight_join_it_and_more_are_a_piece() -> None:
    def prepare(count: int) -> Graph:
        steps = " ".join(f"a{i + 1} = Sin (a{i})" for i in range(count))
        return load_text(f"""g (float[n, 3] a0) => (float[n, 3] y) <float[3, 3] w = {_NINE}>
            {{ {steps} y = MatMul (a{count}, w) }}""").graph

    assert (pieces(prepare(2)), len(find_roles(prepare(2)).loose)) == ([], 2)
    assert (pieces(prepare(3)), len(find_roles(prepare(3)).loose)) == ([["Sin"] * 3], 0)


@pytest.mark.parametrize("centred", [False, True])
def test_a_normalization_before_the_first_weight_is_no_preparation(centred: bool) -> None:
    centre = "mean = ReduceMean (x)  a = Sub (x, mean)" if centred else "a = Identity (x)"
    graph = load_text(f"""
        g (float[n, 3] x) => (float[n, 3] y)
        <float[3, 3] w = {_NINE}, float[3] scale = {{1, 2, 3}}, float[1] epsilon = {{0}}>
        {{
            {centre}
            square = Mul (a, a)
            variance = ReduceMean (square)
            sum = Add (variance, epsilon)
            root = Sqrt (sum)
            unit = Div (a, root)
            scaled = Mul (unit, scale)
            y = MatMul (scaled, w)
        }}
    """).graph
    assert find_roles(graph).pieces == ()
    assert roles_by_output(graph)["unit"] == "body"


def test_operands_that_are_prepared_apart_are_no_piece_together() -> None:
    graph = load_text(f"""
        g (float[n, 3] x, float[3] b, float[3] c) => (float[n, 3] y) <float[3, 3] w = {_NINE}>
        {{
            p = Neg (x)
            q = Sin (b)
            r = Cos (q)
            s = Abs (c)
            h = Concat <axis = 0> (r, s)
            y = local.layer (p, h, w)
        }}
        <opset_import: ["": 21], domain: "local">
        layer (data, bias, weight) => (result) {{
            product = MatMul (data, weight)
            result = Add (product, bias)
        }}
    """).graph
    assert pieces(graph) == [["Sin", "Cos", "Abs", "Concat"]]


def test_a_weight_that_is_computed_belongs_to_the_node_that_has_it() -> None:
    graph = load_text(f"""
        g (float[n, 3] x) => (float[n, 3] y) <float[3, 3] v = {_NINE}, float[1] scale = {{2}}>
        {{
            square = Mul (v, v)
            sum = ReduceSum (square)
            root = Sqrt (sum)
            unit = Div (v, root)
            w = Mul (unit, scale)
            y = MatMul (x, w)
        }}
    """).graph
    assert set(roles_by_output(graph).values()) == {"body"}


ROTARY = """
g (int64[b, s] positions, float[b, s, {size}] x) => (float[b, s, {size}] y, float[b, s, {size}] z)
<float[1, {size}, 1] frequencies = {{{numbers}}}, float[{size}, {size}] w = {{{square}}},
 int64[1] axis = {{1}}>
{{
    q = MatMul (x, w)
    row = Unsqueeze (positions, axis)
    numbers = Cast <to = 1> (row)
    angles = MatMul (frequencies, numbers)
    turned = Transpose <perm = [0, 2, 1]> (angles)
    cos = Cos (turned)
    sin = {second} (turned)
    a = Mul (q, cos)
    b = Mul (q, sin)
    y = MatMul (a, w)
    z = MatMul (b, w)
}}"""


def fill(text: str, **texts: str) -> Graph:
    numbers = ",".join("1" * 2)
    square = ",".join("1" * 4)
    return load_text(text.format(size=2, numbers=numbers, square=square, **texts)).graph


def test_angles_of_rotary_positions_are_prepared() -> None:
    graph = fill(ROTARY, second="Sin")
    assert find_weight(graph.nodes[3]) is not None  # it looks like a weight
    found = roles_by_output(graph)
    assert found["angles"] == found["cos"] == found["sin"] == "preparation"
    assert found["a"] == "body"


def test_a_linear_layer_of_one_feature_is_no_table_of_angles() -> None:
    found = roles_by_output(fill(ROTARY, second="Tanh"))
    assert found["angles"] == found["cos"] == "body"


CACHES = f"""
g (int64[s] positions, float[s, 3] x) => (float[s, 3] y)
<float[3, 3] w = {_NINE}, float[3, 3] c = {_NINE}, float[3, 3] t = {_NINE}, float[1] half = {{0.5}}>
{{
    q = MatMul (x, w)
    one = Gather (c, positions)
    other = Gather (t, positions)
    a = FIRST (q, one)
    b = SECOND (a, other)
    y = MatMul (b, w)
}}"""


@pytest.mark.parametrize(
    ("first", "second", "role"),
    [("Mul", "Mul", "preparation"), ("Add", "Add", "body"), ("Mul", "Add", "body")],
)
def test_tables_of_factors_are_rotary_and_tables_of_terms_are_embeddings(
    first: str, second: str, role: Role
) -> None:
    found = roles_by_output(
        load_text(CACHES.replace("FIRST", first).replace("SECOND", second)).graph
    )
    assert (found["one"], found["other"]) == (role, role)


RELATIVE = f"""
g (int64[b, s] ids, float[b, s, 3] x) => (float[b, s, 3] y)
<float[3, 3] w = {_NINE}, float[3, 3] table = {_NINE}, int64 zero = {{0}}, int64 one = {{1}},
 int64[1] axis = {{1}}>
{{
    h = MatMul (x, w)
    sizes = Shape (ids)
    length = Gather (sizes, one)
    places = Range (zero, length, one)
    rows = Unsqueeze (places, axis)
    chosen = CHOOSE
    bias = Gather (table, chosen)
    scores = Add (h, bias)
    p = Softmax (scores)
    y = MatMul (p, w)
}}"""


@pytest.mark.parametrize(
    ("choose", "role"),
    [
        ("Sub (places, rows)", "preparation"),
        ("Mul (rows, rows)", "body"),
        ("Sub (ids, ids)", "body"),
    ],
)
def test_a_table_chosen_from_by_distances_is_a_relative_bias(choose: str, role: Role) -> None:
    found = roles_by_output(load_text(RELATIVE.replace("CHOOSE", choose)).graph)
    assert found["bias"] == role


def test_calls_and_bodies_that_hold_a_weight_are_body() -> None:
    model = load_text(f"""
        g (bool c, float[3, 3] x) => (float[3, 3] y) <float[3, 3] w = {_NINE}>
        {{
            a = local.product (x, x)
            b = local.product (a, w)
            d = Sin (a)
            e = If (c) <
                then_branch = left () => (float[3, 3] l) {{ l = MatMul (d, w) }},
                else_branch = right () => (float[3, 3] r) {{ r = Cos (d) }}
            >
            f = If (c) <
                then_branch = up () => (float[3, 3] u) {{ u = Sin (x) }},
                else_branch = down () => (float[3, 3] v) {{ v = Cos (x) }}
            >
            h = Add (b, e)
            y = Add (h, f)
        }}
        <opset_import: ["": 21], domain: "local">
        product (left, right) => (result) {{ result = MatMul (left, right) }}
    """)
    found = roles_by_output(model.graph)
    assert (found["a"], found["b"]) == ("preparation", "body")
    assert (found["e"], found["f"]) == ("body", "preparation")


def test_a_call_in_a_body_may_take_a_weight_from_around_it() -> None:
    model = load_text(f"""
        g (bool c, float[3, 3] x) => (float[3, 3] y) <float[3, 3] v = {_NINE}>
        {{
            a = Sin (x)
            b = Cos (a)
            w = Neg (v)
            y = If (c) <
                then_branch = left () => (float[3, 3] l) {{ l = local.product (b, w) }},
                else_branch = right () => (float[3, 3] r) {{ r = local.product (b, a) }}
            >
        }}
        <opset_import: ["": 21], domain: "local">
        product (left, right) => (result) {{ result = MatMul (left, right) }}
    """)
    assert roles_by_output(model.graph)["y"] == "body"
    left, right = (graph for graph in model.graphs if graph.kind == "subgraph")
    assert of_role(left, "body") == ["l"]
    assert find_roles(left).codes.tolist() == find_roles(right).codes.tolist() == [0]


def test_what_follows_the_last_weight_is_postprocessing_but_its_layer_is_not() -> None:
    graph = load_text(f"""
        g (float[n, 3] x) => (float[n, k] values, int64[n, k] places)
        <float[3, 3] w = {_NINE}, float[3] bias = {{1, 2, 3}}, int64[1] count = {{2}}>
        {{
            a = MatMul (x, w)
            b = Add (a, bias)
            c = Relu (b)
            d = MatMul (c, w)
            e = Add (d, bias)
            f = Tanh (e)
            p = Softmax (f)
            q = Sub (p, bias)
            values, places = TopK (q, count)
        }}
    """).graph
    assert of_role(graph, "postprocessing") == ["p", "q", "values"]
    assert of_role(graph, "body") == ["a", "b", "c", "d", "e", "f"]


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_shares_of_what_was_shared_are_no_postprocessing(rounds: int) -> None:
    """Scores become shares once; what turns sums of shares into shares again is a routing."""
    lines = ["v = MatMul (x, w)"]
    value = "v"
    for number in range(rounds):
        shares, weighted, sent = f"c{number}", f"s{number}", f"t{number}"
        lines += [f"{shares} = Softmax ({value})", f"{weighted} = Mul ({shares}, v)"]
        lines += [f"{sent} = Exp ({weighted})"]
        value = sent
    body = "\n".join(lines)
    graph = load_text(f"""
        g (float[n, 3] x) => (float[n, 3] {value}) <float[3, 3] w = {_NINE}>
        {{
            {body}
        }}
    """).graph
    assert bool(of_role(graph, "postprocessing")) is (rounds == 1)


@pytest.mark.parametrize(("first", "is_body"), [("b", True), ("a", False)])
def test_a_sum_of_what_different_layers_give_is_no_postprocessing(
    first: str, is_body: bool
) -> None:
    graph = load_text(f"""
        g (float[n, 3] x) => (float[n, 3] z) <float[3, 3] w = {_NINE}>
        {{
            a = MatMul (x, w)
            b = MatMul (x, w)
            c = Exp ({first})
            d = Add (a, c)
            y = Softmax (d)
            z = Sqrt (y)
        }}
    """).graph
    assert of_role(graph, "postprocessing") == (["y", "z"] if is_body else ["c", "d", "y", "z"])


def test_a_product_of_two_results_is_body_and_not_postprocessing() -> None:
    graph = load_text(f"""
        g (float[n, 3] x) => (float[n, n] y) <float[3, 3] w = {_NINE}>
        {{
            a = MatMul (x, w)
            norm = ReduceL2 (a)
            unit = Div (a, norm)
            turned = Transpose (unit)
            similar = MatMul (unit, turned)
            y = Softmax (similar)
        }}
    """).graph
    assert of_role(graph, "postprocessing") == ["y"]


@pytest.mark.parametrize(
    ("name", "sizes", "prepared"),
    [
        # as the networks were written: mask and token types; mask and positions; T5's buckets
        ("quantized/bert.dynamic.onnx", [3, 26], 30),
        ("exported/gpt2.legacy.onnx", [2, 26], 41),
        ("exported/t5.legacy.onnx", [15, 15], 30),
        ("exported/unet.dynamo.onnx", [7], 7),
        ("exported/densenet.legacy.onnx", [], 0),
    ],
)
def test_preparation_of_exports(name: str, sizes: list[int], prepared: int) -> None:
    graph = load(corpus_file(name)).graph
    roles = find_roles(graph)
    assert sorted(len(piece.nodes) for piece in roles.pieces) == sizes
    assert [*map(roles.of, graph.nodes)].count("preparation") == prepared


@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_the_light_models_have_nothing_to_prepare(name: str) -> None:
    graph = load(light_file(name)).graph
    assert of_role(graph, "preparation") == []
    assert len(of_role(graph, "postprocessing")) <= 1  # Softmax


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Draw a graph of Add, MatMul with a weight, Shape and Neg."""
    values = ["x"]
    nodes = []
    for number in range(draw(st.integers(1, 25))):
        kind = draw(st.sampled_from(["Add", "Add", "Neg", "MatMul", "Shape"]))
        taken = [draw(st.sampled_from(values)) for _ in range(2 if kind == "Add" else 1)]
        taken += ["w"] if kind == "MatMul" else []
        nodes.append(helper.make_node(kind, taken, [f"v{number}"]))
        values.append(f"v{number}")
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("x", "v0")]
    weight = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    return load(
        helper.make_model(helper.make_graph(nodes, "g", info[:1], info[1:], [weight]))
    ).graph


@given(graphs())
def test_preparation_is_what_no_weight_gives_to_and_is_closed_under_producers(graph: Graph) -> None:
    roles = find_roles(graph)
    behind: set[int] = set()
    for node in graph.nodes:
        given_by = [v.producer.index for v in node.inputs if v is not None and v.producer]
        if node.op_type == "MatMul" or (node.op_type != "Shape" and behind & {*given_by}):
            behind.add(node.index)
        if roles.of(node) == "preparation":
            assert node.index not in behind
            if node.op_type != "Shape":
                producers = {roles.of(graph.nodes[index]) for index in given_by}
                assert producers <= {"preparation", "shape"}
    inside = [index for piece in roles.pieces for index in piece.nodes]
    assert len(inside) == len({*inside})
    assert not roles.loose & {*inside}
    assert {*inside, *roles.loose} == {
        node.index for node in graph.nodes if roles.of(node) == "preparation"
    }


def test_long_chains_and_values_of_many_uses_are_looked_at_once() -> None:
    count = 100_000
    nodes = [helper.make_node("Neg", ["x"], ["n0"])]
    nodes += [helper.make_node("Neg", [f"n{i}"], [f"n{i + 1}"]) for i in range(count)]
    nodes += [helper.make_node("MatMul", [f"n{count}", "w"], [f"m{i}"]) for i in range(2 * count)]
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("x", "m0")]
    weight = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    graph = helper.make_graph(nodes, "g", info[:1], info[1:], [weight])
    (piece,) = find_roles(load(helper.make_model(graph)).graph).pieces
    assert len(piece.nodes) == count + 1


def test_a_graph_without_nodes_has_no_roles() -> None:
    graph = load_text("g (float[n] x) => (float[n] x) {}").graph
    assert find_roles(graph).pieces == ()
