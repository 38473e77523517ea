"""Sentences that tell the blocks of a stack, in stages, by what each of them holds."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

from netloupe.explorer.architecture.module_names import drop_common_start, tell_class
from netloupe.explorer.readers.load import load
from tests.architecture.test_modules import Named, residual
from tests.benchmarks.first_view_sentences import find_untold_stacks


def mix(net: Named, x: str, width: int) -> str:
    """Return what a block gives that has linear layers and a depthwise convolution, and no name."""
    y = net.add("Transpose", net.linear(net.norm(x, width), width, width), perm=[0, 3, 1, 2])
    y = net.add("Conv", y, net.weight(width, 1, 7, 7), group=width, pads=[3] * 4)
    y = net.add("Transpose", net.add("Sin", y), perm=[0, 2, 3, 1])
    return net.add("Add", x, net.linear(net.add("Sin", y), width, width))


def test_stages_of_blocks_without_a_kind_are_told_by_what_they_hold() -> None:
    net = Named()
    x = net.take("x", (1, 16, 16, 8))
    width = 8
    for stage, count in enumerate((2, 2, 6, 2)):
        start = len(net.nodes)
        if stage:
            x = net.linear(x, width, 2 * width)
            width *= 2
            net.within(start, "downsample")
        for block in range(count):
            first = len(net.nodes)
            x = mix(net, x, width)
            net.within(first, f"blocks.{block}")
        net.within(start, f"stages.{stage}")
    model = net.finish(x)
    told = model.architecture.sentence
    assert not find_untold_stacks(model, told)
    assert find_untold_stacks(model, "Convolutional network: 15 convolutions, 24 linear layers.")
    assert "stages of 2, 2, 6, 2 blocks, 8 → 16 → 32 → 64 channels" in told
    assert "(each 2 linear layers and 7×7 depthwise convolution)" in told


@pytest.mark.parametrize("layers", [3, 7])
@pytest.mark.parametrize("parts", ["attend convolve feed", "attend attend feed"])
def test_a_list_of_the_parts_of_a_block_is_no_stage(parts: str, layers: int) -> None:
    """As attention, what convolves places, and an MLP, each with its sum and norm."""
    net = Named()
    x = net.take("x", (1, 12, 8))
    for number in range(layers):
        for part, kind in enumerate(parts.split()):
            start = len(net.nodes)
            normed = net.norm(x, 8)
            if kind == "attend":
                y = net.attend(normed, normed)
            elif kind == "convolve":
                y = net.add("Transpose", normed, perm=[0, 2, 1])
                for _ in range(2):
                    kernel = net.weight(8, 1, 3)
                    y = net.add("Gelu", net.add("Conv", y, kernel, group=8, pads=[1, 1]))
                y = net.add("Transpose", y, perm=[0, 2, 1])
            else:
                y = net.linear(net.add("Relu", net.linear(normed, 8, 32)), 32, 8)
            net.within(start, f"layers.{number}.{part}")
            x = net.add("Add", x, y)
    told = net.finish(x).architecture.sentence
    assert f"{layers} blocks" in told or f"{layers} transformer blocks" in told
    assert "stages" not in told


def test_blocks_that_alternate_are_told_with_what_all_have() -> None:
    """A picture folds two layers of four, of which the last attends: these are eight layers."""
    net = Named()
    x = net.take("x", (1, 12, 8))
    for number in range(8):
        start = len(net.nodes)
        normed = net.norm(x, 8)
        if number % 4 == 3:
            x = net.add("Add", x, net.attend(normed, normed))
        else:
            gate = net.add("Sigmoid", net.linear(normed, 8, 8))
            y = net.add("Sin", net.linear(normed, 8, 8))
            x = net.add("Add", x, net.linear(net.add("Mul", gate, y), 8, 8))
        inner = net.add("Relu", net.linear(net.norm(x, 8), 8, 32))
        x = net.add("Add", x, net.linear(inner, 32, 8))
        net.within(start, f"layers.{number}")
    told = net.finish(x).architecture.sentence
    assert "8 blocks" in told
    assert "2 with self-attention of 2 heads × 4" in told or "2 of self-attention" in told


def test_a_stage_of_unlike_blocks_counts_as_many_blocks_as_it_has() -> None:
    """The picture folds stages of equal blocks, and draws the other one as a group of two."""
    net = Named()
    x = net.take("x", (1, 8, 8, 8))
    for stage, kinds in enumerate(("cc", "cc", "ca", "aa")):
        for number, kind in enumerate(kinds):
            start = len(net.nodes)
            if kind == "c":
                x = residual(net, x, 8)
            else:
                narrow = net.add("Relu", net.conv(x, 8, 8))
                flat = net.add("Reshape", narrow, net.numbers(1, 64, 8))
                flat = net.attend(flat, flat)
                flat = net.add("Reshape", flat, net.numbers(1, 8, 8, 8))
                x = net.add("Relu", net.add("Add", x, net.conv(flat, 8, 8)))
            net.within(start, f"stages/stages.{stage}/stages.{stage}.{number}")
    told = net.finish(x).architecture.sentence
    assert "4 stages of 2 blocks" in told
    assert " 1 of" not in told


@pytest.mark.parametrize(
    ("type_names", "said"),
    [
        (["XyzResBlock", "XyzAttnBlock"], ["residual block", "attention block"]),
        (["GatedConvBlock"], ["gated conv block"]),
        (["OneBlock", "TwoBlock"], ["", ""]),
    ],
)
def test_classes_are_told_without_the_name_of_the_network(
    type_names: list[str], said: list[str]
) -> None:
    kept = drop_common_start(type_names) if len(type_names) > 1 else type_names
    assert [tell_class(name) for name in kept] == said


def test_an_ensemble_is_told_as_blocks_side_by_side() -> None:
    """And a way of widths has as many arrows as there are layers."""
    net = Named()
    x = net.take("x", (4, 16))
    found = []
    for number in range(5):
        start = len(net.nodes)
        y = x
        for layer, (taken, given) in enumerate(((16, 32), (32, 32), (32, 8))):
            first = len(net.nodes)
            y = net.add("Sin", net.norm(net.linear(y, taken, given), given))
            net.within(first, f"{layer}")
        net.within(start, f"q.{number}")
        found.append(y)
    total = found[0]
    for one in found[1:]:
        total = net.add("Max", total, one)
    told = net.finish(total).architecture.sentence
    assert "5 blocks of 3 linear layers 16 → 32 → 32 → 8 side by side" in told


def test_what_a_layer_gives_of_each_patch_is_no_output() -> None:
    net = Named()
    x = net.take("x", (1, 64, 8))
    for number in range(4):
        start = len(net.nodes)
        x = net.block(x)
        net.within(start, f"layers.{number}")
    x = net.linear(x, 8, 80)
    x = net.add("Reshape", x, net.numbers(1, 8, 8, 4, 4, 5))
    x = net.add("Transpose", x, perm=[0, 5, 1, 3, 2, 4])
    x = net.add("Reshape", x, net.numbers(1, 5, 32, 32))
    told = net.finish(x, shape=(1, 5, 32, 32)).architecture.sentence
    assert "80 outputs" not in told


def test_calls_of_functions_are_told_by_what_their_bodies_hold() -> None:
    """A body knows no weights: they are what each call gives it."""
    layer = helper.make_function(
        "local",
        "Xyz",
        ["x", *(f"w{number}" for number in range(4))],
        ["y"],
        [
            helper.make_node("MatMul", ["x", "w0"], ["q"]),
            helper.make_node("MatMul", ["x", "w1"], ["k"]),
            helper.make_node("MatMul", ["x", "w2"], ["v"]),
            helper.make_node("Transpose", ["k"], ["t"], perm=[0, 2, 1]),
            helper.make_node("MatMul", ["q", "t"], ["scores"]),
            helper.make_node("Softmax", ["scores"], ["shares"]),
            helper.make_node("MatMul", ["shares", "v"], ["mixed"]),
            helper.make_node("MatMul", ["mixed", "w3"], ["z"]),
            helper.make_node("Add", ["x", "z"], ["y"]),
        ],
        [helper.make_opsetid("", 21)],
    )
    net = Named()
    x = net.linear(net.take("x", (1, 12, 6)), 6, 8)
    for number in range(4):
        weights = [net.weight(8, 8) for _ in range(4)]
        x = net.add("Xyz", x, *weights, domain="local")
        net.nodes[-1].name = f"layers.{number}"
    x = net.linear(x, 8, 3)
    given = [helper.make_tensor_value_info(x, TensorProto.FLOAT, None)]
    graph = helper.make_graph(net.nodes, "g", net.inputs, given, net.weights)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    model = helper.make_model(graph, functions=[layer], opset_imports=opsets)
    told = load(model.SerializeToString()).architecture.sentence
    assert told.startswith("Attention network: ")
    assert "4 blocks of attention and 4 linear layers" in told


@pytest.mark.parametrize("in_turn", [False, True])
def test_branches_of_a_block_are_none_of_a_stage(in_turn: bool) -> None:
    """As of H. Park and others, SINet, 2020, figure 3: those of one block stand side by side."""
    net = Named()
    x = net.take("x", (1, 16, 16, 8))
    for stage, count in enumerate((3, 4)):
        outer = len(net.nodes)
        for block in range(count):
            start = len(net.nodes)
            if block:
                x = mix(net, x, 8)
            else:
                given: list[str] = []
                for branch in range(2):
                    inner = len(net.nodes)
                    given.append(mix(net, given[-1] if in_turn and given else x, 8))
                    net.within(inner, f"branches.{branch}")
                x = given[-1] if in_turn else net.add("Mul", *given)
            net.within(start, f"blocks.{block}")
        net.within(outer, f"stages.{stage}")
    told = net.finish(x).architecture.sentence
    assert ("stages of 3, 4 blocks" in told) == (not in_turn)
