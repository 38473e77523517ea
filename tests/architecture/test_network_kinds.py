"""The first words of a sentence are those of what mixes in a network: states, attention or both."""

from __future__ import annotations

import onnx
import onnx.compose
import onnx.parser
import pytest

from netloupe.explorer.patterns.pattern_examples import EXAMPLES
from netloupe.explorer.readers.load import load

from .networks import Network

_EXAMPLES = {name: text for name, (text, _) in EXAMPLES.items()}


def join(*names: str) -> onnx.ModelProto:
    """Return the examples of patterns beside one another in one model."""
    joined = onnx.parser.parse_model(_EXAMPLES[names[0]])
    for number, name in enumerate(names[1:]):
        other = onnx.parser.parse_model(_EXAMPLES[name])
        other = onnx.compose.add_prefix(other, f"m{number}_")
        for field in ("node", "initializer", "input", "output"):
            getattr(joined.graph, field).extend(getattr(other.graph, field))
    return joined


@pytest.mark.parametrize(("size", "is_convolved"), [(1, False), (3, True)])
def test_layers_of_each_place_of_a_row_make_no_convolutional_network(
    size: int, *, is_convolved: bool
) -> None:
    net = Network()
    x = net.linear(net.take("x", (1, 12, 20)), 20, 8)
    for _ in range(4):
        kernel = net.weight(12, 12, size)
        y = net.add("Conv", net.norm(x, 8), kernel, kernel_shape=[size], pads=[size // 2] * 2)
        x = net.add("Add", x, y)
        x = net.add("Add", x, net.feed(net.norm(x, 8)))
    told = net.finish(net.linear(x, 8, 10)).architecture.sentence
    assert ("onvolutional network" in told) == is_convolved


@pytest.mark.parametrize(
    ("names", "title"),
    [
        (["state-space-block"] * 3, "State-space model: "),
        (["state-space-block", "state-space-block", "attention"], "Network of state spaces and "),
        (["attention"], "Attention network: "),
    ],
)
def test_what_mixes_names_a_network(names: list[str], title: str) -> None:
    assert load(join(*names)).architecture.sentence.startswith(title)


@pytest.mark.parametrize(("layers", "is_convolved"), [(6, True), (20, False)])
def test_one_convolution_before_very_many_layers_names_no_network(
    layers: int, *, is_convolved: bool
) -> None:
    net = Network()
    kernel = net.weight(8, 4, 3)
    x = net.add("Conv", net.take("x", (1, 4, 20)), kernel, kernel_shape=[3], pads=[1, 1])
    x = net.add("Transpose", x, perm=[0, 2, 1])
    for _ in range(layers // 2):
        x = net.add("Add", x, net.feed(net.norm(x, 8)))
    told = net.finish(net.linear(x, 8, 10)).architecture.sentence
    assert ("onvolutional network" in told) == is_convolved
