"""Networks of transformer blocks are called by which stack attends to which, and by patches."""

from __future__ import annotations

import pytest

from .networks import Network


def translate(*, attends: bool, images: bool = False, behind: bool = True) -> str:
    """Return what is said of features that attend to others, with a convolution behind."""
    net = Network()
    if images:
        maps = net.add("Relu", net.conv(net.take("image", (1, 3, 8, 8)), 3, 8))
        x = net.add("Transpose", net.add("Reshape", maps, net.numbers(0, 8, -1)), perm=[0, 2, 1])
    else:
        x = net.linear(net.take("sounds", (1, 12, 20)), 20, 8)
    for _ in range(2):
        x = net.block(x)
    y = net.linear(net.take("frames", (1, 10, 6)), 6, 8)
    for _ in range(3):
        y = net.block(y, context=x if attends else None)
    if not attends:
        y = net.add("Concat", y, x, axis=1)
    y = net.add("Transpose", net.linear(y, 8, 8), perm=[0, 2, 1])
    if behind:
        y = net.add("Conv", y, net.weight(6, 8, 5), kernel_shape=[5], pads=[2, 2])
    return net.finish(y).architecture.sentence


def test_a_stack_that_attends_to_another_decodes_it_whatever_stands_before_and_behind() -> None:
    assert translate(attends=True).startswith("Encoder-decoder transformer: ")
    for told in (translate(attends=False), translate(attends=True, images=True)):
        assert not told.startswith("Encoder-decoder")


def predict(*, layers: int, crossing: int) -> str:
    """Return what is said of a decoder each layer of which attends to itself in two streams."""
    net = Network()
    x = net.linear(net.take("sounds", (1, 12, 20)), 20, 8)
    for _ in range(2):
        x = net.block(x)
    y = net.linear(net.take("frames", (1, 10, 6)), 6, 8)
    for layer in range(layers):
        for stream in range(2):
            normed = net.norm(y, 8)
            y = net.add("Add", y, net.attend(normed, normed))
            y = net.add("Add", y, net.add("Neg", y)) if not stream else y
        if layer < crossing:
            y = net.add("Add", y, net.attend(net.norm(y, 8), x))
        y = net.add("Add", y, net.feed(net.norm(y, 8)))
    gate = net.add("Sigmoid", net.linear(y, 8, 8))
    return net.finish(net.add("Mul", y, gate)).architecture.sentence


def test_a_decoder_whose_layers_attend_to_themselves_twice_is_one() -> None:
    assert predict(layers=3, crossing=3).startswith("Encoder-decoder transformer: ")
    assert not predict(layers=3, crossing=0).startswith("Encoder-decoder")
    assert not predict(layers=4, crossing=1).startswith("Encoder-decoder")


@pytest.mark.parametrize(
    ("queries", "is_decoder"), [("input", True), ("stored", False), ("token", False)]
)
def test_only_a_sequence_of_its_own_that_attends_to_another_decodes_it(
    queries: str, is_decoder: bool
) -> None:
    net = Network()
    x = net.linear(net.take("sounds", (1, 12, 20)), 20, 8)
    for _ in range(2):
        x = net.block(x)
    if queries == "input":
        y = net.linear(net.take("frames", (1, 4, 6)), 6, 8)
    else:
        y = net.weight(1, 4 if queries == "stored" else 1, 8)
    for _ in range(2):
        normed = net.norm(y, 8)
        keys = net.add("Concat", normed, x, axis=1) if queries == "token" else x
        y = net.add("Add", y, net.attend(normed, keys))
        y = net.add("Add", y, net.feed(net.norm(y, 8)))
    y = net.add("Transpose", net.linear(y, 8, 8), perm=[0, 2, 1])
    y = net.add("Conv", y, net.weight(6, 8, 1), kernel_shape=[1])
    told = net.finish(y).architecture.sentence
    assert told.startswith("Encoder-decoder transformer") == is_decoder
    assert ("2 class-attention blocks" in told) == (queries == "token")


def patch(*, stride: int, size: int = 2) -> str:
    """Return what is said of patches with more channels than colours, and two attentions."""
    net = Network()
    x = net.take("latent", (1, 16, 4 * size, 4 * size))
    kernel = net.weight(8, 16, size, size)
    x = net.add("Conv", x, kernel, kernel_shape=[size] * 2, strides=[stride] * 2)
    x = net.add("Transpose", net.add("Reshape", x, net.numbers(0, 8, -1)), perm=[0, 2, 1])
    for _ in range(2):
        normed = net.norm(x, 8)
        x = net.add("Add", x, net.attend(normed, normed))
        x = net.add("Add", x, net.add("Neg", x))
        x = net.add("Add", x, net.feed(net.norm(x, 8)))
    return net.finish(net.linear(x, 8, 64)).architecture.sentence


def test_patches_are_no_convolutions_beside_attention() -> None:
    assert patch(stride=2).startswith("Transformer: patches of 2 × 2, ")
    assert patch(stride=1).startswith("Network of convolutions and attention: ")


def test_patches_may_share_less_than_half_of_their_places() -> None:
    told = "Transformer: overlapping patches of 16 × 16, 10 apart, "
    assert patch(stride=10, size=16).startswith(told)
    for stride, size in ((8, 16), (2, 3), (20, 16)):
        assert patch(stride=stride, size=size).startswith("Network of convolutions and attention")


def test_two_streams_that_attend_to_each_other_are_no_encoder_and_decoder() -> None:
    net = Network()
    x, y = (net.linear(net.take(name, (1, 9, 6)), 6, 8) for name in ("left", "right"))
    for _ in range(3):
        for attends in (False, True):
            taken = (y, x) if attends else (x, y)
            pairs = zip((x, y), taken, strict=True)
            x, y = (net.add("Add", own, net.attend(own, other)) for own, other in pairs)
    joined = net.add("MatMul", x, net.add("Transpose", y, perm=[0, 2, 1]))
    assert "ncoder-decoder" not in net.finish(joined).architecture.sentence
