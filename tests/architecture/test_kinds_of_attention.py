"""What tells the blocks of a network from ordinary ones is said of them."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto

from netloupe.explorer.patterns import recognise
from tests.onnx_text import load_text

from .networks import Network

_WIDTH, _SIDE = 8, 4


class _Patches(Network):
    """Patches of an image, and blocks that attend to all or to windows of them."""

    def cut(self, count: int = 64, **attributes: int) -> str:
        image = self.take("image", (1, 3, 32, 32))
        kernel = self.weight(_WIDTH, 3, 4, 4)
        x = self.add("Conv", image, kernel, kernel_shape=[4, 4], strides=[4, 4])
        x = self.add("Reshape", x, self.numbers(1, _WIDTH, count))
        return self.add("Transpose", x, perm=[0, 2, 1])

    def attend_in_windows(self, x: str) -> str:
        windows = self.numbers(1, 2, _SIDE, 2, _SIDE, _WIDTH)
        x = self.add("Transpose", self.add("Reshape", x, windows), perm=[0, 1, 3, 2, 4, 5])
        x = self.add("Reshape", x, self.numbers(4, _SIDE * _SIDE, _WIDTH))
        x = self.add("Reshape", self.attend(x, x), self.numbers(1, 2, 2, _SIDE, _SIDE, _WIDTH))
        x = self.add("Transpose", x, perm=[0, 1, 3, 2, 4, 5])
        return self.add("Reshape", x, self.numbers(1, 64, _WIDTH))

    def block_of(self, x: str, *, is_windowed: bool) -> str:
        normed = self.norm(x, _WIDTH)
        mixed = self.attend_in_windows(normed) if is_windowed else self.attend(normed, normed)
        x = self.add("Add", x, mixed)
        return self.add("Add", x, self.feed(self.norm(x, _WIDTH)))

    def classify(self, x: str) -> str:
        x = self.add("ReduceMean", self.norm(x, _WIDTH), self.numbers(1), keepdims=0)
        return self.finish(self.linear(x, _WIDTH, 10)).architecture.sentence


def _tell(*windowed: bool) -> str:
    net = _Patches()
    x = net.cut()
    for one in windowed:
        x = net.block_of(x, is_windowed=one)
    return net.classify(x)


def test_windows_of_all_blocks_are_told_with_their_size() -> None:
    assert "4 × 4 window attention 2 heads × 4;" in _tell(True, True)


def test_windows_of_some_blocks_are_told_beside_the_others() -> None:
    told = _tell(True, True, False)
    said = "2 with 4 × 4 window attention 2 heads × 4 and 1 with self-attention 2 heads × 4;"
    assert said in told
    assert "in turn 1 with 4 × 4 window attention" in _tell(True, False, True, False)


def test_attention_to_all_places_is_no_window() -> None:
    assert "window" not in _tell(False, False)


def _tell_heads(factor: float, places: tuple[int, int], *, is_shared: bool = False) -> str:
    net = _Patches()
    x = net.cut()
    tokens = net.weight(1, 2, _WIDTH)
    x = net.add("Add", net.add("Concat", tokens, x, axis=1), net.weight(1, 66, _WIDTH))
    for _ in range(3):
        x = net.block_of(x, is_windowed=False)
    x = net.norm(x, _WIDTH)
    index = [net.store(np.array(place, np.int64)) for place in places]
    taken = [net.add("Gather", x, one, axis=1) for one in index]
    if is_shared:
        taken[1] = taken[0]
    total = net.add("Add", *(net.linear(one, _WIDTH, 10) for one in taken))
    mean = net.add("Mul", total, net.store(np.float32(factor)))
    return net.finish(mean).architecture.sentence


def test_heads_of_two_tokens_are_told_where_their_mean_is_given() -> None:
    """H. Touvron and others, DeiT, 2021, section 4."""
    told = _tell_heads(0.5, (0, 1))
    assert "mean of two heads, of a class and a distillation token, 10 outputs" in told


@pytest.mark.parametrize(("factor", "is_shared"), [(0.3, False), (0.5, True)])
def test_other_sums_of_two_heads_are_none(factor: float, is_shared: bool) -> None:
    assert "distillation" not in _tell_heads(factor, (0, 1), is_shared=is_shared)


def _tell_boxes(sides: int, dtype: int = TensorProto.INT64) -> str:
    net = Network()
    x = net.embed()
    net.take("boxes", ("batch", "sequence", sides), dtype)
    for side in range(2):
        index = net.store(np.array(side, np.int64))
        place = net.add("Gather", "boxes", index, axis=2)
        if dtype != TensorProto.INT64:
            place = net.add("Cast", place, to=TensorProto.INT64)
        x = net.add("Add", x, net.add("Gather", net.weight(50, 8), place))
    for _ in range(3):
        x = net.block(x)
    return net.finish(net.linear(net.norm(x, 8), 8, 100)).architecture.sentence


def test_tables_of_the_sides_of_boxes_are_told() -> None:
    """Y. Xu and others, LayoutLM, 2020, section 2.2."""
    assert "positions of boxes (2 embeddings)" in _tell_boxes(4)


def test_tables_of_other_numbers_are_none_of_boxes() -> None:
    assert "boxes (" not in _tell_boxes(3)


def _pass_messages(net: Network, x: str, first: str, share: float) -> str:
    source, target = (
        net.add("Squeeze", net.add("Gather", "edges", net.numbers(n), axis=0), net.numbers(0))
        for n in (0, 1)
    )
    sent = net.add("Gather", x, source)
    at = net.add("Unsqueeze", target, net.numbers(1))
    at = net.add("Expand", at, net.add("Shape", sent))
    nothing = net.store(np.zeros((9, 6), np.float32))
    got = net.add("ScatterElements", nothing, at, sent, axis=0, reduction="add")
    kept = net.add("Mul", got, net.store(np.float32(1 - share)))
    return net.add("Add", kept, net.add("Mul", first, net.store(np.float32(0.1))))


@pytest.mark.parametrize(("share", "is_told"), [(0.1, True), (0.4, False)])
def test_messages_that_go_back_to_the_first_values_are_told(share: float, is_told: bool) -> None:
    """J. Gasteiger and others, Predict then Propagate, 2019, equation 5."""
    net = Network()
    nodes = net.take("nodes", (9, 16))
    net.take("edges", (2, 20), TensorProto.INT64)
    first = net.linear(net.add("Relu", net.linear(nodes, 16, 8)), 8, 6)
    x = first
    for _ in range(3):
        x = _pass_messages(net, x, first, share)
    told = net.finish(x).architecture.sentence
    assert "3 message passing" in told
    assert ("each with 0.1 of the first values" in told) == is_told


def test_parts_on_an_axis_of_their_own_are_added_up_by_shares() -> None:
    """H. Zhang and others, ResNeSt, 2020, section 3.1."""
    text = """g (float[1, 16, 4, 4] x) => (float[1, 8, 4, 4] y)
    <int64[5] apart = {1, 2, 8, 4, 4}, int64[1] one = {1}, int64[4] down = {4, 8, 1, 1},
     int64[4] up = {16, 4, 1, 1}, int64[4] shared = {1, 1, 2, 8}, int64[5] back = {1, 2, 8, 1, 1}>
    {
      w1 = ConstantOfShape (down)  w2 = ConstantOfShape (up)
      parts = Reshape (x, apart)  sum = ReduceSum <keepdims = 0> (parts, one)
      mean = GlobalAveragePool (sum)  a = Conv (mean, w1)  b = Relu (a)  c = Conv (b, w2)
      d = Reshape (c, shared)  e = Transpose <perm = [0, 2, 1, 3]> (d)
      shares = Softmax <axis = 1> (e)  f = Reshape (shares, back)
      weighted = Mul (parts, f)  y = ReduceSum <keepdims = 0> (weighted, one)
    }"""
    found = recognise(load_text(text).graph.nodes)
    assert found is not None
    assert (found.name, found.facts) == ("Split attention", ("2 branches",))
    for old, new in (
        ("Softmax <axis = 1>", "Softmax <axis = 3>"),  # shares of channels
        (
            "sum = ReduceSum <keepdims = 0> (parts, one)",
            "sum = ReduceMax <keepdims = 0> (parts, one)",
        ),
    ):
        other = recognise(load_text(text.replace(old, new)).graph.nodes)
        assert other is None or other.name != "Split attention"


def _pool_block(net: Network, x: str, width: int, inner: int) -> str:
    scales = net.weight(width), net.weight(width)
    normed = net.add("InstanceNormalization", x, *scales)
    pooled = net.add("AveragePool", normed, kernel_shape=[3, 3], pads=[1] * 4, strides=[1, 1])
    x = net.add("Add", x, net.add("Sub", pooled, normed))
    hidden = net.add("InstanceNormalization", x, *scales)
    hidden = net.add("Gelu", net.conv(hidden, width, inner, 1))
    return net.add("Add", x, net.conv(hidden, inner, width, 1))


@pytest.mark.parametrize("widths", [(8, 16), (8,)])
def test_what_mixes_tokens_in_the_place_of_attention_is_told_once(widths: tuple[int, ...]) -> None:
    """W. Yu and others, MetaFormer Is Actually What You Need for Vision, 2022, figure 2."""
    net = Network()
    x, taken = net.take("image", (1, 3, 32, 32)), 3
    for width in widths:
        x = net.conv(x, taken, width, 3, strides=[2, 2])
        for _ in range(3):
            x = _pool_block(net, x, width, 4 * width)
        taken = width
    flat = net.add("Flatten", net.add("GlobalAveragePool", x))
    told = net.finish(net.linear(flat, taken, 10)).architecture.sentence
    assert "mixer blocks" in told
    assert told.count("tokens by pooling") == 1


_LAMBDA = """g (float[1, 8, 4, 4] x) => (float[1, 16, 8] y)
<int64[4] square = {8, 8, 1, 1}, int64[3] flat = {1, 8, 16}, int64[4] near = {8, 1, SIZES}>
{
  wq = ConstantOfShape (square)  wk = ConstantOfShape (square)  wv = ConstantOfShape (square)
  we = ConstantOfShape (near)
  q0 = Conv (x, wq)  q1 = Reshape (q0, flat)  q = Transpose <perm = [0, 2, 1]> (q1)
  k0 = Conv (x, wk)  k1 = Reshape (k0, flat)  k = Softmax <axis = -1> (k1)
  v0 = Conv (x, wv)  v1 = Reshape (v0, flat)  v = Transpose <perm = [0, 2, 1]> (v1)
  context = MatMul (k, v)  content = MatMul (q, context)
  e0 = Conv <group = 8, pads = [PADS]> (v0, we)  e1 = Reshape (e0, flat)
  e = Transpose <perm = [0, 2, 1]> (e1)  placed = Mul (q, e)
  y = Add (content, placed)
}"""


@pytest.mark.parametrize(
    ("sizes", "pads", "facts"),
    [("3, 3", "1, 1, 1, 1", ("relative positions",)), ("1, 1", "0, 0, 0, 0", ())],
)
def test_values_that_are_convolved_tell_relative_positions(
    sizes: str, pads: str, facts: tuple[str, ...]
) -> None:
    """W. Xu and others, CoaT, 2021, equation 7."""
    text = _LAMBDA.replace("SIZES", sizes).replace("PADS", pads)
    found = recognise(load_text(text).graph.nodes)
    assert found is not None
    assert (found.name, found.facts) == ("Linear attention", facts)
