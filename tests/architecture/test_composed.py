"""Where no family is sure the sentence is composed from the blocks of a graph."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from onnx import TensorProto, helper

from netloupe.explorer.architecture import Architecture
from tests.architecture.networks import Network


def mixer(blocks: int = 3) -> Architecture:
    """Return what is said of MLPs over tokens and over features in turn."""
    net = Network()
    patches = net.conv(net.take("image", (1, 3, 32, 32)), 3, 8, 8, strides=[8, 8])
    net.nodes[-1].ClearField("attribute")
    net.nodes[-1].attribute.extend(
        [helper.make_attribute("kernel_shape", [8, 8]), helper.make_attribute("strides", [8, 8])]
    )
    x = net.add("Reshape", patches, net.numbers(1, 8, 16))
    x = net.add("Transpose", x, perm=[0, 2, 1])
    for _ in range(blocks):
        turned = net.add("Transpose", net.norm(x, 8), perm=[0, 2, 1])
        mixed = net.add("Transpose", net.feed(turned, 16, 24), perm=[0, 2, 1])
        x = net.add("Add", x, mixed)
        x = net.add("Add", x, net.feed(net.norm(x, 8), 8, 40))
    pooled = net.add("ReduceMean", x, net.numbers(1), keepdims=0)
    return net.finish(net.linear(pooled, 8, 10), shape=(1, 10)).architecture


def test_blocks_of_several_things_are_told_with_all_of_them() -> None:
    told = mixer()
    assert told.sentence == (
        "Mixer network: patches of 8 × 8, 3 mixer blocks (tokens 16 → 24 → 16, features "
        "8 → 40 → 8), 10 outputs."
    )
    assert [block.count for block in told.blocks] == [3]
    assert (told.facts["patch"], told.facts["outputs"]) == (8, 10)
    assert told.family == ""


def test_convolutions_mix_features_where_these_are_put_before_tokens() -> None:
    net = Network()
    x = net.linear(net.take("x", (1, 12, 8)), 8, 8)
    for _ in range(3):
        attended = net.linear(net.add("Sin", net.attend(x, x)), 8, 8)
        x = net.norm(net.add("Add", x, attended), 8)
        y = net.add("Transpose", x, perm=[0, 2, 1])
        y = net.add("Gelu", net.add("Conv", y, net.weight(20, 8, 1), net.weight(20)))
        y = net.add("Conv", y, net.weight(8, 20, 1), net.weight(8))
        x = net.norm(net.add("Add", x, net.add("Transpose", y, perm=[0, 2, 1])), 8)
    told = net.finish(x).architecture.sentence
    assert "MLP 8 → 20, GELU" in told
    assert "tokens" not in told


def generator() -> Architecture:
    net = Network()
    x = net.take("noise", (1, 16, 1, 1))
    widths = (16, 32, 16, 8, 3)
    for taken, given in pairwise(widths):
        kernel = net.weight(taken, given, 4, 4)
        x = net.add("ConvTranspose", x, kernel, kernel_shape=[4, 4], strides=[2, 2])
        x = net.add("Tanh" if given == 3 else "Relu", x)
    return net.finish(x).architecture


def test_widths_of_a_chain_are_told_in_order() -> None:
    assert generator().sentence == (
        "Convolutional decoder: 4 transposed 4×4 convolutions 16 → 32 → 16 → 8 → 3 channels, "
        "×16 resolution, 3 channels out."
    )


def wavenet(dilations: tuple[int, ...]) -> Architecture:
    """Return what is said of gated convolutions with two ways out, of which the last has one."""
    net = Network()
    x = net.add("Conv", net.take("wave", (1, 4, 32)), net.weight(8, 4, 1), kernel_shape=[1])
    total = ""
    for number, dilation in enumerate(dilations):
        both = []
        for squash in ("Tanh", "Sigmoid"):
            form = {"kernel_shape": [2], "dilations": [dilation], "pads": [dilation, 0]}
            both.append(net.add(squash, net.add("Conv", x, net.weight(8, 8, 2), **form)))
        gated = net.add("Mul", *both)
        if number < len(dilations) - 1:
            kept = net.add("Conv", gated, net.weight(8, 8, 1), kernel_shape=[1])
            x = net.add("Add", x, kept)
        skip = net.add("Conv", gated, net.weight(16, 8, 1), kernel_shape=[1])
        total = net.add("Add", total, skip) if total else skip
    x = net.add("Conv", net.add("Relu", total), net.weight(16, 16, 1), kernel_shape=[1])
    x = net.add("Conv", net.add("Relu", x), net.weight(4, 16, 1), kernel_shape=[1])
    return net.finish(x).architecture


def test_a_last_block_may_lack_what_nothing_takes() -> None:
    assert wavenet((1, 2, 4, 8, 1, 2, 4, 8)).sentence == (
        "1-D convolutional network: pointwise convolution 4 → 8 channels, 8 blocks of gated "
        "unit of 8 channels (kernel 2, dilation 1 … 8 in 2 cycles) and pointwise convolutions, "
        "2 pointwise convolutions 16 → 4 channels, 4 channels out."
    )


def decoder(steps: int, is_shared: bool) -> Architecture:
    """Return what is said of linear layers and a product, said several times."""
    net = Network()
    x = net.take("x", (1, 8))
    weights = [net.weight(8, 8) for _ in range(2)]
    for _ in range(steps):
        used = weights if is_shared else [net.weight(8, 8) for _ in range(2)]
        left, right = (net.add("MatMul", x, weight) for weight in used)
        x = net.add("Mul", net.add("Sin", left), right)
    return net.finish(x).architecture


def test_what_shares_weights_is_told_once() -> None:
    assert decoder(5, is_shared=True).sentence == ("Network: 2 linear layers of 8 used 5 times.")
    assert decoder(5, is_shared=False).sentence == "Feed-forward network: 10 linear layers of 8."


def test_a_first_step_without_what_multiplies_the_state_is_a_step() -> None:
    net = Network()
    x = net.take("x", (1, 8))
    weights = [net.weight(8, 8) for _ in range(2)]
    for step in range(5):
        left = net.add("Sin", net.add("MatMul", x, weights[0]))
        x = net.add("Mul", left, net.add("MatMul", x, weights[1])) if step else left
    assert net.finish(x).architecture.sentence == ("Network: 2 linear layers of 8 used 5 times.")


def tables(shape: tuple[int | str, ...], features: str = "") -> Architecture:
    """Return what is said of a table that an input picks rows of, perhaps added to features."""
    net = Network()
    x = net.take("x", (1, 12, 8))
    net.take("numbers", shape, TensorProto.INT64)
    y = net.add("Gather", net.weight(40, 8), "numbers")
    if features:
        y = net.add("Add", y, net.linear(x, 8, 8) if features == "linear" else x)
    for _ in range(2):
        y = net.block(y)
    return net.finish(net.linear(y, 8, 5)).architecture


def test_a_table_of_steps_is_no_vocabulary() -> None:
    assert tables(("batch", "sequence")).facts["vocabulary"] == 40
    for told in (
        tables(("batch",)),
        tables(("batch", "sequence"), "linear"),
        tables(("batch", "sequence"), "input"),
    ):
        assert "vocabulary" not in told.sentence
        assert "embedding of 40 × 8" in told.sentence


def test_a_bag_of_categories_is_no_vocabulary() -> None:
    net = Network()
    net.take("who", (2,), TensorProto.INT64)
    net.take("kinds", (2, 5), TensorProto.INT64)
    who = net.add("Gather", net.weight(50, 8), "who")
    kinds = net.add("ReduceMean", net.add("Gather", net.weight(40, 8), "kinds"), axes=[1])
    x = net.add("Concat", who, kinds, axis=1)
    told = net.finish(net.linear(net.add("Relu", net.linear(x, 16, 8)), 8, 5)).architecture
    assert "vocabulary" not in told.sentence
    assert "vocabulary" not in told.facts


def fourier(net: Network, x: str) -> str:
    wave = net.add("Unsqueeze", x, net.numbers(-1))
    for axis in (2, 1):
        wave = net.add("DFT", wave, "", net.store(np.int64(axis)))
    real = net.add("Gather", wave, net.store(np.int64(0)), axis=-1)
    return net.add("Add", x, real)


def test_fourier_mixing_is_named() -> None:
    net = Network()
    x = net.embed()
    for _ in range(4):
        x = net.norm(fourier(net, x), 8)
        x = net.norm(net.add("Add", x, net.feed(x)), 8)
    told = net.finish(net.linear(x, 8, 100)).architecture
    assert told.sentence == (
        "Mixer network: vocabulary 100, 4 mixer blocks (tokens by FFT, features 8 → 32 → 8), "
        "output over the vocabulary."
    )


def autoencoder(noise: Callable[[Network], str], width: int = 4) -> Architecture:
    net = Network()
    hidden = net.add("Relu", net.linear(net.take("x", (1, 32)), 32, 16))
    mean, spread = net.linear(hidden, 16, width), net.linear(hidden, 16, 4)
    scale = net.add("Exp", net.add("Mul", spread, net.store(np.float32(0.5))))
    drawn = net.add("Add", mean, net.add("Mul", noise(net), scale))
    return net.finish(net.linear(drawn, 4, 32)).architecture


def test_reparametrisation_takes_noise() -> None:
    given = autoencoder(lambda net: net.take("noise", (1, 4))).sentence
    drawn = autoencoder(lambda net: net.add("RandomNormal", shape=[1, 4])).sentence
    learned = autoencoder(lambda net: net.linear("x", 32, 4)).sentence
    assert "reparametrisation (mean" in given
    assert "reparametrisation (mean" in drawn
    assert "reparametrisation" not in learned


def encoded(frequencies: int, is_same: bool = True) -> Architecture:
    net = Network()
    places = [net.take("places", (8, 3)), net.take("others", (8, 3))]
    waves = []
    for number in range(frequencies):
        taken = places[0 if is_same else number % 2]
        scaled = net.add("Mul", taken, net.store(np.float32(2**number)))
        waves += [net.add("Sin", scaled), net.add("Cos", scaled)]
    x = net.add("Concat", *waves, axis=-1)
    return net.finish(net.feed(x, 6 * frequencies, 16)).architecture


def test_sines_of_several_multiples_of_a_value_are_a_positional_encoding() -> None:
    assert "positional encoding (4 frequencies)" in encoded(4).sentence
    assert "positional encoding" not in encoded(1).sentence
    assert "positional encoding" not in encoded(4, is_same=False).sentence


def test_tables_of_frequencies_are_not_counted_as_one_each() -> None:
    net = Network()
    level = net.take("level", (1, 1))
    ends = []
    for width in (4, 8, 16):
        angle = net.add("Mul", level, net.weight(1, width))
        waves = net.add("Concat", net.add("Sin", angle), net.add("Cos", angle), axis=-1)
        ends.append(net.linear(waves, 2 * width, 8))
    told = net.finish(net.feed(net.add("Concat", *ends, axis=-1), 24, 32)).architecture.sentence
    assert "positional encoding" in told
    assert "frequenc" not in told


def _paint(*shape: int) -> str:
    net = Network()
    ids = net.take("ids", shape, TensorProto.INT64)
    rows = net.add("Gather", net.weight(50, 8), ids)
    if len(shape) == 2:
        rows = net.add("Reshape", rows, net.numbers(1, 6, 6, 8))
    x = net.add("Transpose", rows, perm=[0, 3, 1, 2])
    for _ in range(3):
        x = net.add("Add", x, net.conv(net.add("Relu", net.conv(x, 8, 8)), 8, 8))
    return net.finish(net.conv(x, 8, 50), shape=(1, 50, 6, 6)).architecture.sentence


def test_values_of_pixels_are_no_vocabulary() -> None:
    assert "vocabulary" not in _paint(1, 6, 6)
    assert "embedding of 50 × 8" in _paint(1, 6, 6)
    assert "vocabulary 50" in _paint(1, 36)


@pytest.mark.parametrize("count", [2, 6])
def test_tables_of_features_are_counted(count: int) -> None:
    net = Network()
    ids = net.take("ids", (4, count), TensorProto.INT64)
    columns = [net.add("Gather", ids, net.store(np.int64(n)), axis=1) for n in range(count)]
    rows = [net.add("Gather", net.weight(50, 8), column) for column in columns]
    deep = net.feed(net.add("Concat", *rows, axis=1), 8 * count, 16)
    told = net.finish(deep).architecture
    assert told.sentence.startswith(f"Feed-forward network: {count} embeddings of 50 × 8, MLP (")


def wave(net: Network, x: str, width: int, size: int, stride: int = 1, turned: int = 0) -> str:
    """Add a convolution along one axis; one that is turned makes more places of it."""
    kernel = net.weight(width, turned, size) if turned else net.weight(width, width, size)
    form = {"kernel_shape": [size], "strides": [stride]}
    if not turned:
        form["pads"] = [size // 2, size // 2]
    return net.add("ConvTranspose" if turned else "Conv", x, kernel, **form)


def vocoder(branches: int) -> Architecture:
    """Return what is said of residual blocks in branches whose first share their activation."""
    net = Network()
    x = wave(net, net.take("mel", (1, 8, 32)), 8, 7)
    for _ in range(3):
        x = wave(net, x, 8, 4, 2, turned=8)
        start = net.add("LeakyRelu", x)
        sums = []
        for size in (3, 5, 7)[:branches]:
            y, squashed = x, start
            for _ in range(2):
                inner = net.add("LeakyRelu", wave(net, squashed, 8, size))
                y = net.add("Add", wave(net, inner, 8, size), y)
                squashed = net.add("LeakyRelu", y)
            sums.append(y)
        x = net.add("Sum", *sums)
    return net.finish(wave(net, x, 8, 7)).architecture


def test_residual_blocks_that_share_an_activation_are_counted() -> None:
    told = vocoder(3)
    assert "3 blocks of transposed convolution of 8 channels (kernel 4) and 6 residual" in (
        told.sentence
    )
    assert told.family == ""


def unet(kind: str, side: bool = False) -> Architecture:
    """Return what is said of a way down and up whose levels are joined."""
    net = Network()
    x = net.conv(net.take("image", (1, 3, 64, 64)), 3, 8)
    levels, sides = [], []
    for _ in range(3):
        levels.append(x := net.add("Relu", net.conv(x, 8, 8)))
        x = net.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net.add("Relu", net.conv(x, 8, 8))
    twice = net.store(np.array([1, 1, 2, 2], np.float32))
    for level in reversed(levels):
        x = net.add("Resize", x, "", twice)
        if kind != "none":
            x = net.add(kind, x, level, **({"axis": 1} if kind == "Concat" else {}))
        x = net.add("Relu", net.conv(x, 16 if kind == "Concat" else 8, 8))
        if side:
            sides.append(net.conv(x, 8, 1))
    return net.finish(net.conv(x, 8, 2, 1), *sides).architecture


def test_levels_down_and_up_are_an_encoder_decoder() -> None:
    told = unet("Add")
    assert told.sentence.startswith("UNet: ")
    assert told.sentence.endswith("3 levels down, 3 up, skips at each level, 2 channels out.")
    assert (told.facts["downs"], told.facts["ups"], told.facts["skips"]) == (3, 3, 3)
    assert "3 levels down, 3 up, skips at each level" in unet("Add", side=True).sentence
    bare = unet("none").sentence
    assert bare.startswith("Convolutional encoder-decoder: ")
    assert bare.endswith("3 levels down, 3 up, 2 channels out.")


def messages(is_graph: bool) -> Architecture:
    """Return what is said of rows that are picked by edges, and added up at nodes, or not."""
    net = Network()
    x = net.take("features", (10, 8))
    source, target = (net.take(name, (20,), TensorProto.INT64) for name in ("source", "target"))
    wide = net.add("Expand", net.add("Unsqueeze", target, net.numbers(1)), net.numbers(20, 8))
    for _ in range(4):
        sent = net.add("Gather", x, source, axis=0) if is_graph else net.take("sent", (20, 8))
        nothing = net.store(np.zeros((10, 8), np.float32))
        summed = net.add("ScatterElements", nothing, wide, sent, axis=0, reduction="add")
        x = net.add("Relu", net.add("Add", net.linear(summed, 8, 8), net.linear(x, 8, 8)))
        if not is_graph:
            break
    return net.finish(x).architecture


def test_messages_along_edges_are_told() -> None:
    assert messages(is_graph=True).sentence == (
        "Message-passing network: 4 blocks of message passing and 2 linear layers of 8."
    )
    assert "message" not in messages(is_graph=False).sentence.lower()


@pytest.mark.parametrize(
    ("reduction", "is_moved", "is_told"),
    [("add", True, True), ("add", False, False), ("none", True, False)],
)
def test_messages_are_summed_elsewhere_than_where_they_come_from(
    reduction: str, is_moved: bool, is_told: bool
) -> None:
    """Experts take tokens, and what they give is written to where these were."""
    net = Network()
    x = net.take("features", (10, 8))
    source, target = (net.take(name, (20,), TensorProto.INT64) for name in ("source", "target"))
    place = net.add("Unsqueeze", target if is_moved else source, net.numbers(1))
    wide = net.add("Expand", place, net.numbers(20, 8))
    sent = net.feed(net.add("Gather", x, source, axis=0))
    nothing = net.store(np.zeros((10, 8), np.float32))
    summed = net.add("ScatterElements", nothing, wide, sent, axis=0, reduction=reduction)
    told = net.finish(net.add("Add", net.linear(summed, 8, 8), x)).architecture.sentence
    assert ("message" in told.lower()) == is_told


@pytest.mark.parametrize(("is_shared", "name"), [(True, "Attention network"), (False, "Network")])
def test_products_outside_of_known_blocks_are_no_feed_forward_network(
    is_shared: bool, name: str
) -> None:
    net = Network()
    x = net.linear(net.take("x", (12, 8)), 8, 8)
    scores = net.add("MatMul", x, net.take("others", (8, 12)))
    shares = net.add("Softmax", scores, axis=-1) if is_shared else net.add("Relu", scores)
    mixed = net.add("MatMul", net.add("Mul", shares, net.take("gate", (12, 12))), x)
    told = net.finish(net.linear(mixed, 8, 3)).architecture.sentence
    assert told.startswith(f"{name}: ")


def test_a_quantizer_takes_the_nearest_row() -> None:
    net = Network()
    x = net.take("x", (6, 8))
    table = net.weight(32, 8)
    product = net.add("MatMul", net.linear(x, 8, 8), net.add("Transpose", table, perm=[1, 0]))
    distances = net.add("Sub", net.weight(32), product)
    nearest = net.add("ArgMin", distances, axis=1, keepdims=0)
    told = net.finish(net.linear(net.add("Gather", table, nearest), 8, 4)).architecture
    assert "vector quantizer (32 codes × 8)" in told.sentence


def interaction(is_own: bool) -> Architecture:
    net = Network()
    x = net.take("x", (1, 32))
    each = [net.add("Unsqueeze", net.linear(x, 32, 8), net.numbers(1)) for _ in range(4)]
    rows = net.add("Concat", *each, axis=1)
    other = rows if is_own else net.add("Sin", rows)
    pairs = net.add("MatMul", rows, net.add("Transpose", other, perm=[0, 2, 1]))
    flat = net.add("Reshape", pairs, net.numbers(1, 16))
    return net.finish(net.feed(flat, 16, 8)).architecture


def test_products_of_all_rows_with_all_are_a_dot_interaction() -> None:
    assert "dot interaction (4 features)" in interaction(is_own=True).sentence
    assert "dot interaction" not in interaction(is_own=False).sentence


def recurrence(blocks: int) -> Architecture:
    """Return what is said of blocks of linear layers of several widths, and no more."""
    net = Network()
    x = net.embed()
    for _ in range(blocks):
        taken = net.norm(x, 8)
        mixed = net.add("Sin", net.add("Mul", net.linear(taken, 8, 8), net.linear(taken, 8, 8)))
        x = net.add("Add", x, net.linear(mixed, 8, 8))
        wide = net.add("Tan", net.linear(net.norm(x, 8), 8, 24))
        x = net.add("Add", x, net.linear(wide, 24, 8))
    return net.finish(net.linear(x, 8, 100)).architecture


def test_blocks_are_seen_by_widths_where_all_their_layers_are_linear() -> None:
    assert recurrence(5).sentence == (
        "Feed-forward network: vocabulary 100, 5 blocks of 5 linear layers, LayerNorm, "
        "output over the vocabulary."
    )


def test_operators_without_weights_are_counted() -> None:
    net = Network()
    x = net.take("x", (1, 8))
    for _ in range(4):
        x = net.add("Sin", net.add("Neg", x))
    told = net.finish(x).architecture
    assert told.sentence == "Graph of 8 operators: 4 Neg, 4 Sin."
    assert (told.costs_sentence, told.is_network) == ("", False)


def test_operators_inside_of_an_if_are_counted_with_it() -> None:
    net = Network()
    x = net.take("x", (1, 8))
    small = helper.make_tensor_value_info("small", TensorProto.FLOAT, (1, 8))
    inner = [
        helper.make_graph(
            [helper.make_node(op_type, [x], ["small"]), helper.make_node("Neg", ["small"], ["n"])],
            op_type,
            [],
            [small],
        )
        for op_type in ("Sin", "Cos")
    ]
    chosen = net.add("Greater", net.add("ReduceSum", x, keepdims=0), net.store(np.float32(0)))
    told = net.finish(
        net.add("If", chosen, then_branch=inner[0], else_branch=inner[1])
    ).architecture
    assert told.sentence == (
        "Graph of 7 operators with control flow (1 If): 2 Neg, 1 ReduceSum, 1 Greater, 2 others."
    )


def branches(is_apart: bool) -> Architecture:
    """Return what is said of a linear layer and an MLP whose results are added."""
    net = Network()
    x = net.take("x", (1, 8))
    y = net.take("y", (1, 8)) if is_apart else net.add("Relu", net.linear(x, 8, 8))
    wide = net.linear(x if is_apart else y, 8, 1)
    hidden = net.add("Relu", net.linear(y, 8, 32))
    return net.finish(
        net.add("Sigmoid", net.add("Add", wide, net.linear(hidden, 32, 1)))
    ).architecture


def test_branches_that_are_added_are_told_where_they_share_nothing() -> None:
    assert branches(is_apart=True).sentence == (
        "Feed-forward network: two streams (linear layer 8 → 1; MLP 8 → 32 → 1, ReLU) added, "
        "1 output."
    )
    assert "branches" not in branches(is_apart=False).sentence


def steered(is_steered: bool) -> Architecture:
    """Return what is said of blocks whose norms a projection of another value scales and shifts."""
    net = Network()
    x, step = net.take("x", (1, 12, 8)), net.take("step", (1, 1, 16))
    for _ in range(3):
        normal = net.norm(x, 8)
        if is_steered:
            name = f"m{len(net.nodes)}_"
            both = net.linear(step, 16, 16)
            parts = [f"{name}{number}" for number in range(2)]
            net.nodes.append(helper.make_node("Split", [both], parts, axis=-1, num_outputs=2))
            scale = net.add("Add", parts[0], net.store(np.float32(1)))
            normal = net.add("Add", net.add("Mul", normal, scale), parts[1])
        x = net.add("Add", x, net.attend(normal, normal))
        x = net.add("Add", x, net.feed(net.norm(x, 8)))
    return net.finish(x).architecture


def test_norms_that_another_value_steers_are_not_taken_for_others() -> None:
    assert "pre-norm LayerNorm" in steered(is_steered=False).sentence
    told = steered(is_steered=True).sentence
    assert "3 blocks of linear layer of 16 and transformer block (" in told
    assert "pre-norm LayerNorm" not in told


def relative(net: Network, x: str) -> str:
    """Add attention with a matrix for each head, and a table of distances beside the keys."""
    query, key, value = (
        net.add("Einsum", x, net.weight(8, 2, 4), equation="bih,hnd->bind") for _ in range(3)
    )
    content = net.add(
        "Einsum", net.add("Add", query, net.weight(2, 4)), key, equation="bind,bjnd->bnij"
    )
    placed = net.add("Einsum", query, net.weight(6, 2, 4), equation="bind,jnd->bnij")
    scores = net.add("Mul", net.add("Add", content, placed), net.store(np.float32(0.5)))
    weighed = net.add(
        "Einsum", net.add("Softmax", scores, axis=-1), value, equation="bnij,bjnd->bind"
    )
    return net.add("Einsum", weighed, net.weight(8, 2, 4), equation="bind,hnd->bih")


def test_attention_with_a_matrix_for_each_head_is_self_attention() -> None:
    net = Network()
    x = net.embed()
    for _ in range(3):
        x = net.norm(net.add("Add", relative(net, x), x), 8)
        x = net.norm(net.add("Add", net.feed(x), x), 8)
    told = net.finish(net.linear(x, 8, 100)).architecture
    assert "self-attention, relative positions" in told.sentence


def table() -> Architecture:
    """Return what is said of numbers and categories that become tokens."""
    net = Network()
    numbers = net.add("Unsqueeze", net.take("numbers", (1, 6)), net.numbers(-1))
    scaled = net.add("Mul", numbers, net.weight(6, 8))
    tokens = [net.add("Add", scaled, net.weight(6, 8))]
    ids = net.take("ids", (1, 2), TensorProto.INT64)
    for column in range(2):
        index = net.add("Gather", ids, net.numbers(column), axis=1)
        tokens.append(net.add("Gather", net.weight(5 + column, 8), index))
    x = net.add("Concat", *tokens, axis=1)
    for _ in range(3):
        x = net.block(x)
    return net.finish(net.linear(x, 8, 1)).architecture


def test_numbers_that_become_tokens_are_a_feature_tokenizer() -> None:
    assert table().sentence.startswith(
        "Transformer: two streams (numbers: feature tokenizer 6 numbers × 8; 2 embeddings) "
        "concatenated, 3 transformer blocks ("
    )


def denoiser(is_steered: bool) -> Architecture:
    """Return what is said of residual blocks with projections, scaled by a step."""
    net = Network()
    x, step = net.take("image", (1, 4, 16, 16)), net.take("step", (1, 1, 1, 16))
    for taken, given in ((4, 8), (8, 16), (16, 32)):
        hidden = net.add("Relu", net.conv(x, taken, given))
        if is_steered:
            scale = net.add("Reshape", net.linear(step, 16, given), net.numbers(1, given, 1, 1))
            shift = net.add("Reshape", net.linear(step, 16, given), net.numbers(1, given, 1, 1))
            hidden = net.add("Add", net.add("Mul", hidden, scale), shift)
        x = net.add("Add", net.conv(hidden, given, given), net.conv(x, taken, given, 1))
    return net.finish(x).architecture


@pytest.mark.parametrize("is_steered", [False, True])
def test_residual_blocks_may_be_steered_by_another_value(is_steered: bool) -> None:
    assert "residual block" in denoiser(is_steered).sentence
    assert "3 " in denoiser(is_steered).sentence
    assert "1×1" not in denoiser(is_steered).sentence


def test_a_block_that_only_attends_to_another_value_is_told_apart() -> None:
    net = Network()
    tokens = net.take("tokens", (1, 12, 8))
    x = net.norm(net.take("latents", (1, 5, 8)), 8)
    x = net.add("Add", x, net.attend(net.norm(x, 8), tokens))
    x = net.add("Add", x, net.feed(net.norm(x, 8)))
    for _ in range(3):
        normal = net.norm(x, 8)
        x = net.add("Add", x, net.attend(normal, normal))
        x = net.add("Add", x, net.feed(net.norm(x, 8)))
    told = net.finish(net.linear(x, 8, 3)).architecture.sentence
    assert "cross-attention block (" in told
    assert ", 3 transformer blocks (" in told


def stages(*, is_named: bool) -> str:
    """Return what is said of stages of a convolution, other ones each time, and linear layers."""
    net = Network()
    x = net.take("x", (1, 8, 32))
    for stage, kernel in enumerate((3, 5, 7, 9, 11, 13, 15, 17)):
        start = len(net.nodes)
        for _ in range(3):
            x = net.linear(x, 32, 32)
        kernels = net.weight(8, 8, kernel)
        x = net.add("Conv", x, kernels, kernel_shape=[kernel], pads=[kernel // 2] * 2)
        for number, node in enumerate(net.nodes[start:] if is_named else []):
            node.name = f"/stages.{stage}/{node.op_type}_{number}"
    return net.finish(x).architecture.sentence


def test_many_different_blocks_are_told_by_the_groups_of_the_picture() -> None:
    told = "8 blocks of 3 linear layers and convolution, 8 channels out."
    assert stages(is_named=True) == f"1-D convolutional network: {told}"
    assert "24 linear layers of 32, 8 convolutions of 8 channels" in stages(is_named=False)


def towers(*, is_named: bool) -> str:
    """Return what is said of two stacks of alike blocks with a layer behind each."""
    net = Network()
    x = net.take("x", (1, 8, 8, 8))
    for name, count in (("encoder", 2), ("decoder", 4)):
        start = len(net.nodes)
        for _ in range(count):
            x = net.add("Relu", net.conv(net.conv(x, 8, 8, 1), 8, 8))
        x = net.conv(x, 8, 8, 5)
        for number, node in enumerate(net.nodes[start:] if is_named else []):
            node.name = f"/{name}/{node.op_type}_{number}"
    return net.finish(x).architecture.sentence


def test_runs_of_blocks_end_where_a_group_does() -> None:
    assert towers(is_named=True) == (
        "Convolutional network: encoder (5 convolutions of 8 channels), "
        "decoder (9 convolutions of 8 channels), 8 channels out."
    )
    told = towers(is_named=False)
    assert "2 blocks of 1×1 convolution of 8 channels and 3×3 convolution of 8 channels" in told
    assert "4 blocks of 1×1 convolution of 8 channels and 3×3 convolution of 8 channels" in told
    assert told.count("5×5 convolution of 8 channels") == 2


def test_convolutions_beside_a_product_of_all_pairs_are_not_all_of_a_network() -> None:
    net = Network()
    x = net.add("Reshape", net.conv(net.take("x", (1, 3, 8, 8)), 3, 8), net.numbers(8, 64))
    pairs = net.add("MatMul", net.add("Transpose", x, perm=[1, 0]), x)
    told = net.finish(pairs).architecture
    assert told.sentence.startswith("Network with convolutions: ")


@pytest.mark.parametrize("is_projected", [True, False])
def test_layers_before_what_learned_queries_attend_to_are_no_part_of_that(
    *, is_projected: bool
) -> None:
    """Keys and values are the same rows (S. Humeau and others, Poly-encoders, 2020, equation 2)."""
    net = Network()
    x = net.take("x", (1, 12, 8))
    for _ in range(2):
        x = net.norm(net.add("Add", x, net.attend(x, x)), 8)
        x = net.norm(net.add("Add", x, net.feed(x)), 8)
    key, value = x, x
    if is_projected:
        key, value = net.linear(x, 8, 8), net.linear(x, 8, 8)
    turned = net.add("Transpose", key, perm=[0, 2, 1])
    scores = net.add("MatMul", net.weight(1, 5, 8), turned)
    codes = net.add("MatMul", net.add("Softmax", scores, axis=-1), value)
    told = net.finish(net.linear(codes, 8, 3)).architecture.sentence
    assert "2 transformer blocks (post-norm LayerNorm; self-attention" in told, told
    assert "cross-attention" in told


@pytest.mark.parametrize("rows", [32, 40])
def test_positions_that_are_counted_are_told_once(rows: int) -> None:
    """A running sum of the mask picks rows; another table is told by itself."""
    net = Network()
    ids = net.take("ids", (1, 12), TensorProto.INT64)
    x = net.add("Gather", net.weight(100, 8), ids)
    places = net.add("CumSum", net.take("mask", (1, 12), TensorProto.INT64), net.numbers(1))
    x = net.add("Add", x, net.add("Gather", net.weight(32, 8), places))
    if rows != 32:
        other = net.take("other", (1, 12), TensorProto.INT64)
        x = net.add("Add", x, net.add("Gather", net.weight(rows, 8), other))
    x = net.linear(net.block(net.block(x)), 8, 8)
    told = net.finish(net.feed(x)).architecture.sentence
    assert "vocabulary 100, positions 32" in told, told
    assert "embedding of 32 × 8" not in told
    assert ("embedding of 40 × 8" in told) == (rows == 40)


@pytest.mark.parametrize("count", [1, 4, 6])
def test_a_skip_around_several_blocks_is_no_block(count: int) -> None:
    net = Network()
    x = net.conv(net.take("image", (1, 3, 16, 16)), 3, 8)
    y = x
    for _ in range(count):
        y = net.add("Add", y, net.conv(net.add("Relu", net.conv(y, 8, 8)), 8, 8))
    y = net.add("Add", x, net.conv(y, 8, 8))
    for _ in range(12):  # so that it is no most of the network
        y = net.linear(net.add("Tanh", y), 16, 16)
    told = net.finish(y).architecture.sentence
    assert (f"{count} residual blocks of 8 channels" in told) == (count > 1), told
