"""Sentences that keep what a network is built of: blocks that differ, stages, outputs, decoders."""

from __future__ import annotations

from itertools import pairwise

import onnx
import pytest
from onnx import TensorProto

from netloupe.explorer.architecture.given_names import write_names
from netloupe.explorer.architecture.module_names import tell_noun
from tests.architecture.networks import Network
from tests.architecture.test_modules import Named, residual


def feed_gated(net: Network, x: str) -> str:
    gate = net.add("MatMul", x, net.weight(8, 32))
    gate = net.add("Mul", gate, net.add("Sigmoid", gate))
    return net.add(
        "MatMul", net.add("Mul", gate, net.add("MatMul", x, net.weight(8, 32))), net.weight(32, 8)
    )


def recur(net: Network, x: str) -> str:
    form = net.weight(1, 32, 8), net.weight(1, 32, 8)
    return net.add("Squeeze", net.add("LSTM", x, *form, hidden_size=8), net.numbers(1))


def stack_blocks(attending: set[int], count: int) -> str:
    """Return the sentence of blocks of which some attend, and others recur."""
    net = Named()
    x = net.take("x", (12, 1, 8))
    for number in range(count):
        start = len(net.nodes)
        normed = net.norm(x, 8)
        mixed = net.attend(normed, normed) if number in attending else recur(net, normed)
        net.within(start, "mixer")
        x = net.add("Add", x, mixed)
        x = net.add("Add", x, feed_gated(net, net.norm(x, 8)))
        net.within(start, f"layers.{number}")
    return net.finish(x).architecture.sentence


def test_blocks_that_differ_are_told_by_what_they_hold() -> None:
    told = stack_blocks({1, 3}, 6)
    some = "4 of LSTM layer of width 8, 2 of self-attention of 2 heads × 4"
    assert f"6 blocks ({some}, each with SwiGLU 8 → 32, SiLU)" in told


def test_stages_are_not_counted_as_blocks() -> None:
    net = Named()
    x = net.take("x", (12, 1, 8))
    for number, count in enumerate((1, 1, 3, 1, 3)):
        start = len(net.nodes)
        for _ in range(count):
            x = net.add("Add", x, recur(net, net.norm(x, 8)))
            x = net.add("Add", x, feed_gated(net, net.norm(x, 8)))
        net.within(start, f"layers.{number}")
    assert "5 blocks" not in net.finish(x).architecture.sentence


def test_merging_between_stages_does_not_part_them() -> None:
    net = Named()
    x = net.take("x", (1, 64, 8))
    for stage, count in enumerate((2, 2, 4)):
        if stage:
            start = len(net.nodes)
            x = net.add("Reshape", x, net.numbers(1, -1, 32))
            x = net.linear(net.norm(x, 32), 32, 8)
            net.within(start, f"features.{2 * stage - 1}")
        start = len(net.nodes)
        for _ in range(count):
            x = net.block(x)
        net.within(start, f"features.{2 * stage}")
    told = net.finish(x).architecture.sentence
    assert "stages of 2, 2, 4 transformer blocks" in told
    assert told.count("transformer block") == 1


def test_attention_of_the_first_token_is_told_as_class_attention() -> None:
    net = Network()
    x = net.take("x", (1, 16, 8))
    for _ in range(3):
        x = net.block(x)
    token = net.add("Slice", x, *map(net.numbers, (0, 1, 1)))
    for _ in range(2):
        normed = net.norm(net.add("Concat", token, x, axis=1), 8)
        asking = net.add("Slice", normed, *map(net.numbers, (0, 1, 1)))
        token = net.add("Add", token, net.attend(asking, normed))
        token = net.add("Add", token, net.feed(net.norm(token, 8)))
    told = net.finish(token).architecture.sentence
    assert "3 transformer blocks" in told
    assert "2 class-attention blocks" in told


@pytest.mark.parametrize(
    ("names", "text", "told"),
    [
        (["depth"], "", "gives depth"),
        (["start", "end"], "2 outputs of 1 and 1 features", None),
        (["score"], "3 maps out (1 and 2 channels)", "3 maps out (1 and 2 channels)"),
        ([], "10 outputs", "10 outputs"),
    ],
)
def test_names_stand_behind_what_is_known(names: list[str], text: str, told: str | None) -> None:
    assert write_names(names, text) == (told or f"{text} ({', '.join(names)})")


@pytest.mark.parametrize(
    ("name", "said"), [("depth", True), ("conv_12", False), ("out", False), ("logits", False)]
)
def test_outputs_are_named_where_their_author_chose_a_word(name: str, *, said: bool) -> None:
    net = Network()
    x = net.take("x", (1, 3, 32, 32))
    x = net.conv(x, 3, 8)
    x = residual(net, x, 8)
    x = net.conv(x, 8, 1)
    net.nodes[-1].output[0] = name
    net.nodes[-1].name = "node_conv_12"
    assert (f"({name})" in net.finish(name).architecture.sentence) == said


def test_outputs_named_after_their_operator_are_not_named() -> None:
    net = Network()
    x = net.conv(net.take("x", (1, 3, 32, 32)), 3, 8)
    x = net.conv(residual(net, x, 8), 8, 1)
    net.nodes[-1].output[0] = "convolution"
    net.nodes[-1].name = "node_convolution"
    assert "(convolution)" not in net.finish("convolution").architecture.sentence


def test_states_that_are_carried_on_are_no_names_of_a_task() -> None:
    net = Network()
    x = net.conv(net.take("x", (1, 3, 32, 32)), 3, 8)
    x = residual(net, x, 8)
    cache = net.add("Identity", x)
    net.nodes[-1].output[0] = cache = "conv_cache"
    x = net.conv(x, 8, 1)
    net.nodes[-1].output[0] = x = "mask"
    assert "mask" not in net.finish(x, cache).architecture.sentence


def perceive(net: Network, x: str, *widths: int) -> str:
    for taken, given in pairwise(widths):
        x = net.linear(x, taken, given)
        x = x if given == widths[-1] else net.add("Relu", x)
    return x


def test_modules_side_by_side_are_told_by_their_name() -> None:
    net = Named()
    x = net.take("x", (4, 8))
    given = []
    for number in range(4):
        start = len(net.nodes)
        given.append(perceive(net, x, 8, 32, 16))
        net.within(start, f"experts.{number}")
    told = net.finish(net.add("Concat", *given, axis=1)).architecture.sentence
    assert "4 experts (MLP 8 → 32 → 16, ReLU)" in told


def test_modules_behind_one_another_are_no_row_of_equals() -> None:
    net = Named()
    x = net.take("x", (4, 8))
    for number in range(4):
        start = len(net.nodes)
        x = net.add("Add", x, perceive(net, net.norm(x, 8), 8, 32, 8))
        net.within(start, f"experts.{number}")
    assert "4 experts" not in net.finish(x).architecture.sentence


@pytest.mark.parametrize(
    ("normalizes", "said"), [(True, "cosine similarity"), (False, "dot products")]
)
def test_towers_that_meet_in_a_product_are_told_so(*, normalizes: bool, said: str) -> None:
    net = Named()
    towers = []
    for name in ("user", "item"):
        start = len(net.nodes)
        rows = net.take(name, (4,), TensorProto.INT64)
        y = perceive(net, net.add("Gather", net.weight(100, 8), rows), 8, 32, 16)
        y = net.add("LpNormalization", y, p=2) if normalizes else y
        net.within(start, f"{name}_tower")
        towers.append(y)
    turned = net.add("Transpose", towers[1], perm=[1, 0])
    told = net.finish(net.add("MatMul", towers[0], turned)).architecture.sentence
    assert f"{said} of 2 branches" in told
    assert "vocabulary" not in told  # users are no words


def test_a_sum_around_lower_levels_is_an_hourglass() -> None:
    net = Named()
    x = net.conv(net.take("x", (1, 3, 32, 32)), 3, 8)
    for number in range(3):
        start = len(net.nodes)
        y = net.conv(x, 8, 16, strides=[2, 2])
        y = net.add("Relu", net.conv(net.add("Relu", y), 16, 16))
        kernel = net.weight(16, 8, 2, 2)
        y = net.add("ConvTranspose", y, kernel, kernel_shape=[2, 2], strides=[2, 2])
        x = net.add("Add", x, y)
        net.within(start, f"stacks.{number}")
    x = net.conv(x, 8, 4, 1)
    assert "3 hourglasses" in net.finish(x).architecture.sentence


@pytest.mark.parametrize("activation", ["Sigmoid", "Tanh"])
def test_what_only_weighs_is_no_lower_level(activation: str) -> None:
    """A gate made of a smaller map (Y. Tang and others, GhostNetV2, 2022, section 3.2)."""
    net = Named()
    x = net.conv(net.take("x", (1, 3, 32, 32)), 3, 8)
    for number in range(3):
        start = len(net.nodes)
        y = net.add("Relu", net.conv(x, 8, 8))
        small = net.add("Relu", net.conv(x, 8, 16, strides=[2, 2]))
        kernel = net.weight(16, 8, 2, 2)
        large = net.add("ConvTranspose", small, kernel, kernel_shape=[2, 2], strides=[2, 2])
        y = net.add("Mul", y, net.add(activation, large))
        x = net.add("Add", x, net.conv(y, 8, 8))
        net.within(start, f"stacks.{number}")
    x = net.conv(x, 8, 4, 1)
    assert "hourglass" not in net.finish(x).architecture.sentence


@pytest.mark.parametrize(
    ("type_name", "said"),
    [("Outlooker", "outlooker"), ("Sequential", ""), ("Transformer", ""), ("Mlp", ""), ("DLA", "")],
)
def test_a_class_of_one_noun_names_what_it_is_of(type_name: str, said: str) -> None:
    assert tell_noun(type_name) == said


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ("ab" * 3, "2 blocks run 3 times in turn"),
        ("aaaa", "weights shared by all"),
        ("aab", "3 blocks"),
        ("abba", "weights of 2, used again"),
        ("aabaab", "weights of 2, used again"),
        ("abc", ""),
    ],
)
def test_blocks_that_share_weights_are_told_with_how_many_weights_there_are(
    order: str, told: str
) -> None:
    net = Named()
    ids = net.take("ids", (1, 16), TensorProto.INT64)
    x = net.norm(net.add("Gather", net.weight(20, 8), ids), 8)
    bodies: dict[str, tuple[str, str, list[onnx.NodeProto]]] = {}
    for number, name in enumerate(order):
        if name not in bodies:
            start, begin = len(net.nodes), x
            x = net.block(x)
            bodies[name] = begin, x, net.nodes[start:]
            continue
        begin, end, nodes = bodies[name]
        renamed = {value: f"{value}_{number}" for node in nodes for value in node.output}
        renamed[begin] = x
        for node in nodes:
            called = onnx.NodeProto()
            called.CopyFrom(node)
            called.name = f"{node.name}_{number}"
            called.input[:] = [renamed.get(value, value) for value in node.input]
            called.output[:] = [renamed[value] for value in node.output]
            net.nodes.append(called)
        x = renamed[end]
    sentence = net.finish(x).architecture.sentence
    if told:
        assert told in sentence, sentence
    assert ("weights" in sentence or "in turn" in sentence) == bool(told), sentence
