"""Counts that an author's lists, the weights or the scores of a graph do not agree with."""

from __future__ import annotations

from netloupe.explorer.model import Model
from tests.architecture.networks import Network
from tests.architecture.test_modules import Named


class Authored(Named):
    """A network of modules in modules."""

    def call(self, path: str, x: str, kind: str, *sizes: int, **attributes: int) -> str:
        start = len(self.nodes)
        x = self.conv(x, *sizes, **attributes) if kind == "conv" else self.linear(x, *sizes)
        self.within(start, path)
        return x


def _tell(model: Model) -> str:
    return model.architecture.sentence


def test_blocks_are_as_many_as_their_authors_list_has() -> None:
    net = Authored()
    x = net.conv(net.take("x", (1, 3, 32, 32)), 3, 8)
    for number in range(6):
        start = len(net.nodes)
        y = net.add("Relu", net.call("one", x, "conv", 8, 8))
        y = net.call("two", y, "conv", 8, 8)
        # the pattern does not know the other half: their shortcut is scaled by a convolution
        other = net.add("Mul", x, net.add("Tanh", x)) if number % 2 else x
        x = net.add("Relu", net.add("Add", y, other))
        net.within(start, f"blocks.{number}")
    told = _tell(net.finish(net.conv(x, 8, 3)))
    assert "3 residual blocks" not in told
    assert "6 residual blocks" in told


def test_a_block_of_two_sums_is_one_block() -> None:
    net = Authored()
    x = net.conv(net.take("x", (1, 3, 32, 32)), 3, 8)
    width = 8
    for stage, count in enumerate((2, 3)):
        for number in range(count):
            start = len(net.nodes)
            y = net.call("mixer/deep", x, "conv", width, width, 3, group=width)
            x = net.add("Add", x, net.call("mixer/wide", y, "conv", width, width, 1))
            y = net.add("Relu", net.call("mlp/one", x, "conv", width, 2 * width, 1))
            x = net.add("Add", x, net.call("mlp/two", y, "conv", 2 * width, width, 1))
            net.within(start, f"stages.{stage}/blocks.{number}")
        if not stage:
            start = len(net.nodes)
            x, width = net.conv(x, 8, 16, strides=[2, 2]), 16
            net.within(start, "stages.1/down")
    told = _tell(net.finish(net.conv(x, 16, 3)))
    assert "4, 6 residual" not in told
    assert "10 residual" not in told


def test_a_plain_row_of_layers_has_no_stages() -> None:
    net = Authored()
    x = net.take("x", (1, 16, 8))
    for number in range(8):
        start = len(net.nodes)
        x = net.block(x)
        if number in (1, 4):
            x = net.add("Add", x, net.add("Tanh", net.linear(x, 8, 8)))
        net.within(start, f"layer.{number}")
    told = _tell(net.finish(x))
    assert "8 transformer blocks" in told
    assert "stages" not in told


def test_a_last_layer_that_is_told_as_outputs_is_counted() -> None:
    net = Network()
    x, width = net.take("x", (1, 8)), 8
    for _ in range(4):
        x = net.add("Concat", net.linear(x, width, 4), net.linear(x, width, 6), axis=1)
        x, width = net.add("Cos", x), 10
    told = _tell(net.finish(net.linear(x, 10, 5), shape=(1, 5)))
    assert "9 linear layers, 5 outputs" in told


def test_attention_of_learned_queries_alone_is_counted() -> None:
    net = Authored()
    taken = net.take("x", (1, 4, 8))
    x = net.weight(1, 4, 8)
    for number in range(4):
        start = len(net.nodes)
        begin = len(net.nodes)
        x = net.norm(net.add("Add", x, net.attend(x, x)), 8)
        net.within(begin, "own")
        deep = net.add("Cos", net.linear(taken, 8, 4))
        x = net.norm(net.add("Mul", x, net.linear(deep, 4, 8)), 8)
        net.within(start, f"decoder/layers.{number}")
    x = net.conv(net.add("Unsqueeze", x, net.numbers(0)), 1, 3)
    told = _tell(net.finish(x))
    assert "4 self-attentions" in told
    assert "2 linear layers" not in told


def test_widths_of_layers_are_told_where_they_stay_the_same() -> None:
    net = Network()
    x = net.take("x", (1, 7))
    for taken, given in ((7, 12), (12, 12), (12, 5)):
        x = net.add("Cos", net.linear(x, taken, given))
    assert "7 → 12 → 12 → 5" in _tell(net.finish(x, shape=(1, 5)))


def test_outputs_are_those_of_an_output() -> None:
    net = Network()
    x = net.take("x", (1, 4, 8))
    x = net.add("Cos", net.linear(net.add("Cos", net.linear(x, 8, 16)), 16, 24))
    x = net.add("Reshape", x, net.numbers(1, 4, 6, 4))
    told = _tell(net.finish(x, shape=(1, 4, 6, 4)))
    assert "24 outputs" not in told
