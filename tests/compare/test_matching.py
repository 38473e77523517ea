"""What is the same in two models is found, whatever it is called."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from netloupe.explorer.compare import Matching, Pair, diff, match_models
from netloupe.explorer.describe.differences import format_diff
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from tests import hostile_models
from tests.corpus import corpus_file
from tests.onnx_text import load_text

CONVOLUTION = """
    g (float[1, 3, 8, 8] x) => (float[1, 4, 8, 8] y)
    <float[4, 3, 1, 1] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
     float[4] scale = {1, 2, 3, 4}, float[4] shift = {0, 0, 0, 1},
     float[4] mean = {1, 0, 0, 0}, float[4] variance = {2, 2, 2, 1}>
    {
        [conv] a = Conv (x, w)
        [norm] b = BatchNormalization (a, scale, shift, mean, variance)
        [act] y = Relu (b)
    }
"""
FOLDED = """
    g (float[1, 3, 8, 8] input) => (float[1, 4, 8, 8] output)
    <float[4, 3, 1, 1] v = {1, 2, 3, 8, 9, 9, 9, 8, 9, 1, 1, 2}, float[4] bias = {0, 1, 0, 0}>
    {
        [first] c = Conv (input, v, bias)
        [second] output = Relu (c)
    }
"""


def match(left: str, right: str) -> Matching:
    return match_models(load_text(left), load_text(right))


def list_names(pairs: list[Pair]) -> list[tuple[str, str]]:
    return [
        ("+".join(node.name for node in pair.left), "+".join(node.name for node in pair.right))
        for pair in pairs
    ]


def make_layers(
    weights: list[int], *, names: str = "layer", order: list[int] | None = None, width: int = 16
) -> Model:
    """Return a residual network; each layer's weights are random with the seed that is given."""
    nodes, tensors, stream = [], [], "x"
    for place, seed in enumerate(weights):
        rng = np.random.default_rng(seed)
        for part in ("up", "down"):
            values = rng.normal(size=(width, width)).astype(np.float32)
            tensors.append(numpy_helper.from_array(values, f"{names}.{place}.{part}"))
        made = [f"{names}_{place}_{part}" for part in ("a", "b", "c", "d")]
        weight = f"{names}.{place}."
        for op_type, inputs, output in (
            ("MatMul", [stream, f"{weight}up"], made[0]),
            ("Relu", [made[0]], made[1]),
            ("MatMul", [made[1], f"{weight}down"], made[2]),
            ("Add", [stream, made[2]], made[3]),
        ):
            nodes.append(helper.make_node(op_type, inputs, [output], name=f"{output}_node"))
        stream = made[3]
    nodes = [nodes[index] for index in order] if order else nodes
    shape = [1, width]
    graph = helper.make_graph(
        nodes,
        "layers",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(stream, TensorProto.FLOAT, shape)],
        tensors,
    )
    model: ModelProto = helper.make_model(graph)
    return load(model.SerializeToString())


def list_places(matching: Matching) -> list[tuple[int, int]]:
    return [(pair.left[0].index, pair.right[0].index) for pair in matching.pairs]


def test_a_model_is_all_paired_with_itself() -> None:
    model = make_layers([1, 2, 3])
    matching = match_models(model, model)
    assert list_places(matching) == [(index, index) for index in range(12)]
    assert {pair.confidence for pair in matching.pairs} == {1.0}
    assert not matching.list_left_alone()
    assert not matching.list_right_alone()


def test_other_names_do_not_matter() -> None:
    matching = match_models(make_layers([1, 2, 3]), make_layers([1, 2, 3], names="block"))
    assert list_places(matching) == [(index, index) for index in range(12)]


def test_neither_do_order_nor_the_numbers_in_weights() -> None:
    order = [0, 1, 2, 3, 4, 5, 6, 7]
    left = load_text("""
        g (float[8, 8] x) => (float[8, 8] y) <float[8, 8] v, float[8, 8] w>
        { a = MatMul (x, v) b = Relu (a) c = MatMul (x, w) d = Tanh (c) y = Add (b, d) }
    """)
    right = load_text("""
        g (float[8, 8] input) => (float[8, 8] output) <float[8, 8] m, float[8, 8] n>
        { p = MatMul (input, n) q = MatMul (input, m) r = Tanh (p) s = Relu (q)
          output = Add (s, r) }
    """)
    assert list_places(match_models(left, right)) == [(0, 1), (1, 3), (2, 0), (3, 2), (4, 4)]
    retrained = make_layers([11, 12], names="block", order=order)
    assert list_places(match_models(make_layers([1, 2]), retrained)) == [(i, i) for i in order]


@pytest.mark.parametrize("gone", range(5))
def test_a_layer_that_was_left_out_has_no_partner(gone: int) -> None:
    seeds = [1, 2, 3, 4, 5]
    left = make_layers(seeds)
    right = make_layers([seed for seed in seeds if seed != gone + 1], names="block")
    matching = match_models(left, right)
    kept = [index for index in range(20) if index // 4 != gone]
    assert list_places(matching) == [(index, place) for place, index in enumerate(kept)]
    assert {node.index // 4 for node in matching.list_left_alone()} == {gone}


@pytest.mark.parametrize("place", range(4))
def test_a_layer_that_was_inserted_has_no_partner(place: int) -> None:
    seeds = [1, 2, 3]
    right = make_layers([*seeds[:place], 99, *seeds[place:]], names="block")
    matching = match_models(make_layers(seeds), right)
    kept = [index for index in range(16) if index // 4 != place]
    assert list_places(matching) == [*enumerate(kept)]


def test_a_normalization_that_was_folded_is_paired_with_the_convolution() -> None:
    pairs = match(CONVOLUTION, FOLDED).pairs
    assert list_names(pairs) == [("conv+norm", "first"), ("act", "second")]
    backwards = match(FOLDED, CONVOLUTION).pairs
    assert list_names(backwards) == [("first", "conv+norm"), ("second", "act")]


def test_a_product_and_its_bias_are_a_gemm() -> None:
    left = """
        g (float[2, 2] x) => (float[2, 4] y)
        <float[2, 4] w = {1, 2, 3, 4, 5, 6, 7, 8}, float[4] b = {1, 2, 3, 4}>
        { [product] a = MatMul (x, w) [bias] c = Add (b, a) [act] y = Relu (c) }
    """
    right = """
        g (float[2, 2] x) => (float[2, 4] y)
        <float[4, 2] w = {1, 5, 2, 6, 3, 7, 4, 8}, float[4] b = {1, 2, 3, 4}>
        { [gemm] c = Gemm <transB = 1> (x, w, b) [act] y = Relu (c) }
    """
    assert list_names(match(left, right).pairs) == [("product+bias", "gemm"), ("act", "act")]


def test_what_only_passes_on_is_inserted_on_an_edge() -> None:
    left = """
        g (float[2, 2] x) => (float[2, 4] y) <float[2, 4] w = {1, 2, 3, 4, 5, 6, 7, 8}>
        { [product] a = MatMul (x, w) [act] y = Relu (a) }
    """
    right = """
        g (float[2, 2] x) => (float[2, 4] y)
        <int8[2, 4] q = {1, 2, 3, 4, 5, 6, 7, 8}, float s = {0.5}, int8 z = {0}>
        {
            [cast] x16 = Cast <to = 10> (x)
            [x_to_8] x8 = QuantizeLinear (x16, s, z) [x_back] x1 = DequantizeLinear (x8, s, z)
            [weight] w = DequantizeLinear (q, s, z)
            [product_8] a = MatMul (x1, w) [same] b = Identity (a) [act_8] y = Relu (b)
        }
    """
    matching = match(left, right)
    assert list_names(matching.pairs) == [("product", "product_8"), ("act", "act_8")]
    alone = [node.name for node in matching.list_right_alone()]
    assert alone == ["cast", "x_to_8", "x_back", "weight", "same"]


def test_graphs_inside_and_functions_are_compared_where_they_are_used() -> None:
    text = """
        <ir_version: 10, opset_import: ["": 21, "local": 1]>
        g (bool {cond}, float[2] {x}) => (float[2] {y})
        {{
            [before] a = Neg ({x})
            [choice] b = If ({cond}) <
                then_branch = t () => (float[2] p) {{ [one] c = Abs (a) [two] p = Exp (c) }},
                else_branch = e () => (float[2] q) {{ [three] q = Relu (a) }}
            >
            [call] {y} = local.{name} (b)
        }}
        <domain: "local", opset_import: ["": 21]>
        {name} (m) => (n) {{ [inner] k = Sin (m) [end] n = Cos (k) }}
    """
    left = text.format(cond="cond", x="x", y="y", name="wave")
    right = text.format(cond="c", x="v", y="w", name="curve")
    for mark in ("before", "choice", "call", "one", "two", "three", "inner", "end"):
        right = right.replace(f"[{mark}]", f"[new_{mark}]")
    right = right.replace("[new_before] a = Neg (v)", "[more] z = Abs (v) [new_before] a = Neg (z)")
    pairs = match(left, right).pairs
    assert dict(list_names(pairs)) == {
        mark: f"new_{mark}"
        for mark in ("before", "choice", "call", "one", "two", "three", "inner", "end")
    }


def test_nodes_that_wait_for_each_other_end_nothing() -> None:
    text = "g (float[2] x) => (float[2] y) { a = Add (x, b) b = Relu (a) y = Neg (b) }"
    other = text.replace("y = Neg (b)", "c = Abs (b) y = Exp (c)")
    assert [pair.left[0].op_type for pair in match(text, other).pairs] == ["Add", "Relu"]
    assert len(match(text, text).pairs) == 3


def test_another_operator_takes_the_place_of_one() -> None:
    text = """
        g (float[4, 4] x) => (float[4, 4] y) <float[4, 4] v, float[4, 4] w>
        { [up] a = MatMul (x, v) [act] b = Relu (a) [down] c = MatMul (b, w) [sum] y = Add (x, c) }
    """
    pairs = match(text, text.replace("[act] b = Relu", "[other] b = Tanh")).pairs
    replaced = dict(zip(list_names(pairs), pairs, strict=True))
    assert set(replaced) == {("up", "up"), ("act", "other"), ("down", "down"), ("sum", "sum")}
    assert replaced["act", "other"].key == "place"
    # another way through: nothing took its place
    elsewhere = text.replace("[act] b = Relu (a)", "[other] b = Add (a, x)")
    assert ("act", "other") not in list_names(match(text, elsewhere).pairs)


def test_of_two_that_are_alike_none_takes_the_place_of_one() -> None:
    text = """
        g (float[4] x) => (float[4] y) { a = Exp (x) b = Relu (a) c = Neg (a) y = Add (b, c) }
    """
    other = text.replace("Relu", "Tanh").replace("Neg", "Sin")
    assert {pair.left[0].op_type for pair in match(text, other).pairs} == {"Exp", "Add"}


def test_models_without_anything_in_common_have_no_pairs() -> None:
    left = "g (float[2] x) => (float[2] y) { y = Neg (x) }"
    right = "g (float[2] x) => (float[2] y) { a = Abs (x) y = Exp (a) }"
    assert match(left, right).pairs == []


def test_several_graphs_in_one_attribute_are_compared_one_by_one() -> None:
    model = load(hostile_models.graph_attribute(5))
    matching = match_models(model, model)
    assert len(matching.graphs) == 6
    assert not matching.list_left_alone()
    fewer = match_models(model, load(hostile_models.graph_attribute(3)))
    assert len(fewer.graphs) == 4
    assert len(fewer.list_left_alone()) == 2


def test_what_was_put_into_a_block_leaves_its_parts_paired() -> None:
    apart = CONVOLUTION.replace("[norm]", "[new] n = Tanh (a) [norm]").replace(
        "BatchNormalization (a,", "BatchNormalization (n,"
    )
    assert list_names(match(CONVOLUTION, apart).pairs) == [
        ("conv", "conv"),
        ("norm", "norm"),
        ("act", "act"),
    ]


def test_a_layer_that_is_left_out_takes_no_part_of_the_layer_before_with_it() -> None:
    left, right = make_layers([1, 2, 3, 4]), make_layers([1, 2, 4])
    pairs = match_models(left, right).pairs
    partners = {pair.left[0].index: pair.right[0].index for pair in pairs}
    size = len(left.graph.nodes) // 4
    kept = [*range(2 * size), *range(3 * size, 4 * size)]
    assert [partners.get(index) for index in kept] == [*range(3 * size)]


def test_a_sum_of_two_is_an_addition() -> None:
    left = "g (float[4] x) => (float[4] y) { a = Exp (x) b = Neg (x) y = Sum (a, b) }"
    pairs = match(left, left.replace("Sum", "Add")).pairs
    assert ("Sum", "Add") in [(p.left[0].op_type, p.right[0].op_type) for p in pairs]
    assert len(pairs) == 3


def test_two_formats_can_be_compared() -> None:
    """A residual network of Caffe2 and one of ONNX: what is in both is paired, the rest is told."""
    left = load(corpus_file("caffe2/resnet50/predict_net.pbtxt"))
    right = load(corpus_file("exported/resnet50.dynamo.onnx"))
    matching = match_models(left, right)
    assert len(matching.pairs) > 110
    kinds = {(p.left[0].op_type, p.right[0].op_type) for p in matching.pairs}
    assert {("Conv", "Conv"), ("Sum", "Add"), ("Relu", "Relu"), ("MaxPool", "MaxPool")} <= kinds
    alone = {node.op_type for node in matching.list_left_alone()}
    assert {"Softmax", "Accuracy"} <= alone


def chain(count: int, name: str, *, extra: int = -1) -> str:
    """Return a model of equal layers without weights, each node named where ``name`` says so."""
    lines = []
    before = "x"
    for index in range(count):
        for operator in ("Relu", "Exp"):
            result = f"v_{len(lines)}"  # numbers are no telling names
            node = f"[{name.format(index)}_{operator}] " if name else ""
            lines.append(f"{node}{result} = {operator} ({before})")
            before = result
        if index == extra:
            lines.append(f"v_{len(lines)} = Tanh ({before})")
            before = f"v_{len(lines) - 1}"
    lines.append(f"y = Identity ({before})")
    body = " ".join(lines)
    return f"g (float[2] x) => (float[2] y) {{ {body} }}"


def test_names_that_agree_make_pairs_sure_whatever_found_them() -> None:
    models = [load_text(chain(40, "layers{}", extra=extra)) for extra in (-1, 20)]
    pairs = match_models(*models).pairs
    named = [pair for pair in pairs if "layers" in pair.left[0].name]
    assert len(named) == 80
    assert min(pair.confidence for pair in named) >= 0.8  # of the one before what was inserted
    assert sum(pair.confidence == 1.0 for pair in named) >= 79
    assert all(pair.left[0].name == pair.right[0].name for pair in named)


def test_what_rests_on_its_neighbours_alone_is_less_sure_the_further_it_is() -> None:
    models = [load_text(chain(40, "", extra=extra)) for extra in (-1, 20)]
    found = diff(*models)
    pairs = found.matching.pairs
    unsure = [pair for pair in pairs if pair.confidence < 0.5]
    assert unsure
    assert {pair.key for pair in unsure} == {"neighbours"}
    told = format_diff(found).splitlines()[-1]
    assert told == (
        f"{len(unsure)} of {len(pairs)} pairs of nodes rest on their neighbours alone: no name or "
        "weight tells them from others like them."
    )


def test_names_that_disagree_make_no_pair_sure() -> None:
    models = [
        load_text(chain(40, name, extra=extra)) for name, extra in (("old{}", -1), ("new{}", 20))
    ]
    assert any(pair.confidence < 0.5 for pair in match_models(*models).pairs)
