"""Real numbers that are stored and are no weights, by their uses; and those that are, in spite."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper

from netloupe.explorer.model import Model

from .test_totals import fill, make_model


def node(op_type: str, inputs: str, outputs: str, **attributes: object) -> NodeProto:
    return helper.make_node(op_type, inputs.split(), outputs.split(), **attributes)


def count(model: Model) -> tuple[int, int]:
    return model.totals.parameters, model.totals.attention_biases


PROJECT = [node("MatMul", "x wq", "q"), node("MatMul", "x wk", "k"), node("MatMul", "x wv", "v")]
WEIGHTS = [fill("wq", 8, 8), fill("wk", 8, 8), fill("wv", 8, 8)]
ATTEND = [node("Softmax", "s", "p"), node("MatMul", "p v", "y")]


def test_what_is_added_to_scores_is_told_apart() -> None:
    """A mask, and a table for all pairs that gets an axis first."""
    score = [
        node("MatMul", "q k", "a"),
        node("Mul", "a scale", "b"),
        node("Add", "mask b", "c"),
        node("Unsqueeze", "table axes", "t"),
        node("Add", "c t", "s"),
    ]
    stored = [fill("scale"), fill("mask", 1, 1, 5, 5), fill("table", 2, 5, 5)]
    axes = fill("axes", 1, dtype=np.int64)
    model = make_model([*PROJECT, *score, *ATTEND], [*WEIGHTS, *stored, axes])
    assert count(model) == (3 * 64, 25 + 50)


def test_summands_before_other_softmaxes_are_weights() -> None:
    """The bias of a classifier, of a router, and numbers for each head."""
    linear = [node("MatMul", "x w", "a"), node("Add", "a b", "s"), node("Softmax", "s", "y")]
    assert count(make_model(linear, [fill("w", 8, 3), fill("b", 3)])) == (27, 0)
    heads = [node("MatMul", "q k", "a"), node("Add", "a heads", "s")]
    model = make_model([*PROJECT, *heads, *ATTEND], [*WEIGHTS, fill("heads", 2, 1, 1)])
    assert count(model) == (3 * 64 + 2, 0)


def test_a_table_for_all_pairs_may_be_multiplied_with_queries() -> None:
    score = [
        node("MatMul", "q k", "a"),
        node("Einsum", "q pairs", "r", equation="bhc,hkc->bhk"),
        node("Add", "a r", "s"),
    ]
    model = make_model([*PROJECT, *score, *ATTEND], [*WEIGHTS, fill("pairs", 5, 5, 8)])
    assert count(model) == (3 * 64, 5 * 5 * 8)


def test_a_mask_that_something_else_uses_as_a_weight_is_one() -> None:
    score = [node("MatMul", "q k", "a"), node("Add", "mask a", "s")]
    taken = [node("Softmax", "s", "p"), node("MatMul", "p v", "o"), node("MatMul", "o mask", "y")]
    model = make_model([*PROJECT, *score, *taken], [*WEIGHTS, fill("mask", 8, 8)])
    assert count(model) == (4 * 64, 0)


def test_frequencies_of_positions_are_no_weights() -> None:
    turned = [node("Cos", "a", "c"), node("Sin", "a", "s"), node("Concat", "c s", "f", axis=-1)]
    end = [node("MatMul", "f w", "y")]
    stored = [fill("w", 8, 8), fill("frequencies", 1, 4)]
    for op_type in ("Mul", "MatMul"):
        angles = [node(op_type, "x frequencies", "a")]
        assert count(make_model([*angles, *turned, *end], stored)) == (64, 0)


def test_what_sums_over_coordinates_or_has_a_sine_alone_is_a_weight() -> None:
    turned = [node("Cos", "a", "c"), node("Sin", "a", "s"), node("Concat", "c s", "y", axis=-1)]
    assert count(make_model([node("MatMul", "x w", "a"), *turned], [fill("w", 2, 4)])) == (8, 0)
    siren = [node("Mul", "x w", "a"), node("Sin", "a", "y")]
    assert count(make_model(siren, [fill("w", 1, 4)])) == (4, 0)


def test_tables_of_cosines_and_sines_are_no_weights_and_other_tables_are() -> None:
    turn = [
        node("Gather", "cosines x", "c"),
        node("Gather", "sines x", "s"),
        node("Mul", "q c", "a"),
        node("Mul", "q s", "b"),
        node("Add", "a b", "y"),
    ]
    stored = [fill("cosines", 9, 8), fill("sines", 9, 8), fill("words", 20, 8)]
    model = make_model([node("Gather", "words x", "q"), *turn], stored)
    assert count(model) == (160, 0)


@pytest.mark.parametrize(
    ("nodes", "parameters"),
    [
        ([node("LSTM", "x", "y", hidden_size=2)], 64),
        ([node("Resize", "x roi scales", "y")], 0),
        ([node("Less", "x limits", "m"), node("Where", "m x x", "y")], 0),
    ],
)
def test_operands_that_no_weight_is(nodes: list[NodeProto], parameters: int) -> None:
    if nodes[0].op_type == "LSTM":
        nodes[0].input.extend(["w", "r", "b", "", "h", "c"])
        stored = [fill("w", 1, 8, 2), fill("r", 1, 8, 4), fill("b", 1, 16)]
        stored += [fill("h", 1, 3, 2), fill("c", 1, 3, 2)]
    else:
        stored = [fill("roi", 8), fill("scales", 4), fill("limits", 5)]
        stored = [tensor for tensor in stored if tensor.name in nodes[0].input]
    assert count(make_model(nodes, stored)) == (parameters, 0)


def test_group_normalization_written_as_two_has_the_parameters_of_one() -> None:
    nodes = [
        node("InstanceNormalization", "x ones zeros", "n"),
        node("Reshape", "n shape", "r"),
        node("Mul", "r scale", "m"),
        node("Add", "m bias", "y"),
    ]
    stored = [fill("ones", 2), fill("zeros", 2), fill("scale", 6, 1), fill("bias", 6, 1)]
    assert count(make_model(nodes, [*stored, fill("shape", 3, dtype=np.int64)])) == (12, 0)
    assert count(make_model([node("InstanceNormalization", "x ones zeros", "y")], stored[:2])) == (
        4,
        0,
    )


def test_pixels_are_normalized_with_numbers_that_are_no_weights() -> None:
    nodes = [
        node("Sub", "x mean", "a"),
        node("Div", "a deviation", "b"),
        node("Conv", "b w", "y"),
    ]
    stored = [fill("mean", 3, 1, 1), fill("deviation", 3, 1, 1), fill("w", 4, 3, 3, 3)]
    assert count(make_model(nodes, stored)) == (108, 0)
    centers = [
        node("MatMul", "x w", "a"),
        node("Sub", "a centers", "b"),
        node("MatMul", "b w", "y"),
    ]
    assert count(make_model(centers, [fill("w", 8, 8), fill("centers", 5, 8)])) == (104, 0)


def test_behind_the_last_weights_only_what_follows_them_is_one() -> None:
    """A bias, its scale, and a normalization written out are; grid and strides are not."""
    nodes = [
        node("MatMul", "x w", "a"),
        node("Add", "a bias", "b"),
        node("Mul", "b scale", "c"),
        node("ReduceMean", "c", "mean"),
        node("Div", "c mean", "d"),
        node("Mul", "d gain", "e"),
        node("Sigmoid", "e", "f"),
        node("Add", "f grid", "g"),
        node("Mul", "g strides", "y"),
    ]
    stored = [fill("w", 4, 6), fill("bias", 6), fill("scale", 6), fill("gain", 6)]
    model = make_model(nodes, [*stored, fill("grid", 9, 6), fill("strides", 9, 1)])
    assert count(model) == (24 + 18, 0)


def test_without_operators_that_have_weights_nothing_is_behind_them() -> None:
    assert count(make_model([node("Mul", "x w", "y")], [fill("w", 4, 4)])) == (16, 0)


def test_single_numbers_are_weights_by_use_or_name_only() -> None:
    def hold(op_type: str, name: str, *dims: int) -> int:
        nodes = [node("MatMul", "x w", "a"), node(op_type, f"a {name}", "y")]
        return make_model(nodes, [fill("w", 2, 2), fill(name, *dims)]).totals.parameters - 4

    assert hold("Mul", "val_12") == 0
    assert hold("Pow", "/gelu/Constant_output_0", 1) == 0
    assert hold("Mul", "layers.0.alpha", 1) == 1
    assert hold("PRelu", "val_12", 1) == 1
    learned = [node("Exp", "t", "e"), node("MatMul", "x w", "a"), node("Mul", "a e", "y")]
    assert make_model(learned, [fill("w", 2, 2), fill("t")]).totals.parameters == 5


def test_an_initial_state_of_zeros_is_no_weight_of_a_product() -> None:
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["h"]),
        node("MatMul", "h w", "a"),
        node("Add", "a x", "y"),
    ]
    shape = helper.make_tensor("shape", TensorProto.INT64, [2], [3, 5])
    assert count(make_model(nodes, [shape, fill("w", 5, 7)])) == (35, 0)


def test_what_a_scatter_writes_into_is_no_weight() -> None:
    nodes = [node("ScatterND", "places i x", "a"), node("MatMul", "a w", "y")]
    stored = [fill("places", 4, 5), fill("i", 4, 1, dtype=np.int64), fill("w", 5, 7)]
    assert count(make_model(nodes, stored)) == (35, 0)


@pytest.mark.parametrize(("number", "parameters"), [(0.0, 9), (0.5, 25)])
def test_zeros_that_are_convolved_are_no_weights(number: float, parameters: int) -> None:
    nodes = [
        node("Conv", "state w", "a"),
        node("Add", "a x", "b"),
        node("Add", "state b", "c"),
        node("Conv", "c w", "y"),
    ]
    state = helper.make_tensor("state", TensorProto.FLOAT, [1, 1, 4, 4], [number] * 16)
    assert count(make_model(nodes, [state, fill("w", 1, 1, 3, 3)])) == (parameters, 0)


def test_noise_on_weights_is_no_weight() -> None:
    """Mean and deviation are learned; the deviation may have other uses."""
    nodes = [
        node("Mul", "deviation noise", "a"),
        node("Add", "mean a", "w"),
        node("MatMul", "x w", "b"),
        node("Mul", "b c", "y"),
    ]
    stored = [*(fill(name, 5, 7) for name in ("mean", "deviation", "noise")), fill("c", 7)]
    assert count(make_model(nodes, stored)) == (70 + 7, 0)
    positive = [node("Softplus", "rho", "deviation"), *nodes]
    stored[1] = fill("rho", 5, 7)
    assert count(make_model(positive, stored)) == (70 + 7, 0)


def test_a_mask_on_weights_is_no_weight() -> None:
    nodes = [node("Mul", "switch w", "a"), node("MatMul", "x a", "y")]
    numbers = [float(place % 2) for place in range(35)]
    switch = helper.make_tensor("switch", TensorProto.FLOAT, [5, 7], numbers)
    assert count(make_model(nodes, [switch, fill("w", 5, 7)])) == (35, 0)
    assert count(make_model(nodes, [fill("switch", 5, 7), fill("w", 5, 7)])) == (70, 0)


def test_weights_that_were_merged_before_training_count_each() -> None:
    """As torch's older exporter writes scales of normalizations, which begin as ones."""
    norm = [
        node("Identity", "n.1.weight", "n.2.weight"),
        node("Identity", "n.1.running_mean", "n.1.bias"),
        node("Identity", "n.1.running_mean", "n.2.running_mean"),
        node("BatchNormalization", "x n.1.weight n.1.bias n.1.running_mean var", "a"),
        node("BatchNormalization", "a n.2.weight n.1.bias n.2.running_mean var", "y"),
    ]
    stored = [fill("n.1.weight", 7), fill("n.1.running_mean", 7), fill("var", 7)]
    assert make_model(norm, stored).totals.parameters == 3 * 7
