"""A gated linear unit has a linear half; where that is activated it is another gated unit."""

from __future__ import annotations

import pytest
from onnx import NodeProto, helper

from netloupe.explorer.architecture.architecture import describe_architecture
from tests.architecture.networks import Network


def _tell(activation: str) -> str:
    net = Network()
    value = net.linear(net.take("x", (2, 12, 16)), 16, 32)
    net.nodes.append(_split(value))
    content = net.add(activation, "right") if activation else "right"
    value = net.add("Mul", net.add("Sigmoid", "left"), content)
    for _ in range(2):
        value = net.add("Relu", net.linear(value, 16, 16))
    return describe_architecture(net.finish(value)).sentence or ""


def _split(value: str) -> NodeProto:
    return helper.make_node("Split", [value], ["left", "right"], axis=-1, num_outputs=2)


@pytest.mark.parametrize(
    ("activation", "told"), [("", "GLU"), ("Tanh", "gated unit"), ("Softplus", "gated unit")]
)
def test_a_gated_unit_is_a_glu_where_a_half_is_linear(activation: str, told: str) -> None:
    assert told in _tell(activation)
    assert ("GLU" in _tell(activation)) is (told == "GLU")
