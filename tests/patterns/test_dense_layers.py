"""Layers of densely connected networks, which join what they give with all before them."""

from __future__ import annotations

import pytest
from onnx import helper

from netloupe.explorer.patterns import recognise

from .test_residuals import Net


class DenseNet(Net):
    def bend(self, x: str, width: int) -> str:
        statistics = [self.store(width) for _ in range(4)]
        return self.add("Relu", self.add("BatchNormalization", x, *statistics))


def _tell(net: Net, y: str) -> tuple[str, tuple[str, ...]]:
    found = recognise(list(net.graph(y).nodes))
    return (found.name, found.facts) if found is not None else ("", ())


@pytest.mark.parametrize("picks", [False, True])
@pytest.mark.parametrize("groups", [1, 2])
def test_a_layer_may_join_at_its_end_and_pick_before(picks: bool, groups: int) -> None:
    net = DenseNet()  # G. Huang and others, CondenseNet, 2018, figures 2 and 3
    x = "x"
    if picks:
        net.weights.append(helper.make_tensor("order", 7, [16], [*range(16)]))
        x = net.add("Gather", "x", "order", axis=1)
    y = net.conv(net.bend(x, 16), 32, 16 // groups, group=groups, relu=False)
    y = net.conv(net.bend(y, 32), 8, 32, 3, pads=[1, 1, 1, 1], relu=False)
    assert _tell(net, net.add("Concat", "x", y, axis=1)) == ("Dense layer", ("16 → +8",))


@pytest.mark.parametrize("lack", ["its operand", "channels", "growth"])
def test_what_joins_something_else_is_no_dense_layer(lack: str) -> None:
    net = DenseNet()
    given = 32 if lack == "growth" else 8
    y = net.conv(net.bend("x", 16), 32, 16, relu=False)
    y = net.conv(net.bend(y, 32), given, 32, 3, pads=[1, 1, 1, 1], relu=False)
    other = net.add("Abs", "x") if lack == "its operand" else "x"
    name, _ = _tell(net, net.add("Concat", other, y, axis=2 if lack == "channels" else 1))
    assert name != "Dense layer"


@pytest.mark.parametrize("lack", ["", "its operand", "channels", "growth", "one branch", "start"])
def test_a_layer_may_join_what_it_takes_with_several_branches(lack: str) -> None:
    net = DenseNet()  # R. Wang and others, Pelee, 2018, figure 1
    given = 24 if lack == "growth" else 4
    short = net.conv(net.conv("x", 16, 16), given, 16, 3, pads=[1, 1, 1, 1])
    start = short if lack == "start" else "x"
    width = 4 if lack == "start" else 16
    long = net.conv(net.conv(start, 16, width), given, 16, 3, pads=[1, 1, 1, 1])
    long = net.conv(long, given, given, 3, pads=[1, 1, 1, 1])
    other = net.add("Abs", "x") if lack == "its operand" else "x"
    joined = [other, short] if lack == "one branch" else [other, short, long]
    y = net.add("Concat", *joined, axis=2 if lack == "channels" else 1)
    found = _tell(net, y if lack != "one branch" else net.add("Add", y, net.add("Sin", long)))
    told = ("Dense layer", ("16 → +8", "2 branches"))
    assert (found == told) == (lack == "")
    assert lack == "" or found[0] != "Dense layer"
