"""Networks are named after the one operation that makes them, where that is in the graph."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto

from .networks import Network

_NODES = 12
_NEIGHBOURS = 4


class Special(Network):
    """Operations after which networks are named."""

    def part(self, x: str, start: int, end: int) -> str:
        bounds = [self.numbers(start), self.numbers(end), self.numbers(1)]
        return self.add("Slice", x, *bounds)

    def convolve(self, x: str, taken: int, given: int, size: int = 3, step: int = 1) -> str:
        how = {"kernel_shape": [size], "pads": [size // 2] * 2, "strides": [step]}
        return self.add("Conv", x, self.weight(given, taken, size), **how)

    def couple(self, x: str, *, undoes: bool, is_beside: bool = True) -> str:
        """Add one flow whose network is of gated units, too large to be one block with it."""
        kept, moved = self.part(x, 0, 4), self.part(x, 4, 8)
        y = self.convolve(kept, 4, 16, 1)
        for _ in range(9):
            inner = self.convolve(y, 16, 32)
            gate = self.add("Sigmoid", self.part(inner, 16, 32))
            unit = self.add("Mul", self.add("Tanh", self.part(inner, 0, 16)), gate)
            y = self.add("Add", y, self.convolve(unit, 16, 16, 1))
        made = self.convolve(y, 16, 8, 1)
        scale, shift = self.add("Exp", self.part(made, 4, 8)), self.part(made, 0, 4)
        if undoes:
            moved = self.add("Div", self.add("Sub", moved, shift), scale)
        else:
            moved = self.add("Add", self.add("Mul", moved, scale), shift)
        other = kept if is_beside else self.convolve(self.add("Relu", moved), 4, 4, 1)
        return self.convolve(self.add("Concat", other, moved, axis=1), 8, 8, 1)

    def send(self, nodes: str, edges: str, *, has_layer: bool = True, sums: bool = True) -> str:
        """Add a round of messages of the nearest nodes, which are summed at each node."""
        near = self.add("Gather", nodes, edges, axis=0)
        spread = [self.numbers(1), self.numbers(_NODES, _NEIGHBOURS, 8)]
        own = self.add("Expand", self.add("Unsqueeze", nodes, spread[0]), spread[1])
        pair = self.add("Concat", own, near, axis=-1)
        sent = self.feed(pair, 16, 8) if has_layer else pair
        over = self.numbers(1)
        total = self.add("ReduceSum" if sums else "ReduceMax", sent, over, keepdims=0)
        mixed = self.linear(total, 16, 8)
        return self.norm(self.add("Add", nodes, mixed), 8)

    def tell(self, *outputs: str) -> str:
        return self.finish(*outputs).architecture.sentence


def _flow(count: int, **how: bool) -> str:
    net = Special()
    x = net.take("noise", (1, 8, 32))
    for _ in range(count):
        x = net.couple(x, **how)
    return net.tell(x)


@pytest.mark.parametrize("undoes", [True, False])
def test_couplings_with_large_networks_are_a_normalizing_flow(undoes: bool) -> None:
    told = _flow(4, undoes=undoes)
    assert told.startswith("Normalizing flow: 4 ")
    assert "affine coupling" in told


def test_one_coupling_is_no_flow() -> None:
    assert not _flow(1, undoes=True).startswith("Normalizing flow")


def test_what_is_scaled_beside_nothing_that_stays_is_no_coupling() -> None:
    told = _flow(4, undoes=True, is_beside=False)
    assert "flow" not in told
    assert "coupling" not in told


def _pass(rounds: int, *, is_stored: bool = False, **how: bool) -> str:
    net = Special()
    nodes = net.linear(net.take("nodes", (_NODES, 6)), 6, 8)
    if is_stored:
        edges = net.store(np.zeros((_NODES, _NEIGHBOURS), np.int64))
    else:
        edges = net.take("near", (_NODES, _NEIGHBOURS), TensorProto.INT64)
    for _ in range(rounds):
        nodes = net.send(nodes, edges, **how)
    return net.tell(net.linear(nodes, 8, 3))


def test_sums_of_what_neighbours_send_are_message_passing() -> None:
    assert _pass(3).startswith("Message-passing network: ")


@pytest.mark.parametrize(
    "told",
    [_pass(1), _pass(3, is_stored=True), _pass(3, has_layer=False), _pass(3, sums=False)],
    ids=["one round", "stored places", "no layer", "largest"],
)
def test_other_sums_of_picked_rows_are_none(told: str) -> None:
    assert "essage" not in told


def _quantize(step: int, back: int, given: int = 1) -> str:
    net = Special()
    x = net.add("Elu", net.convolve(net.take("wave", (1, 1, 64)), 1, 8, step=step))
    x = net.add("Transpose", net.convolve(x, 8, 8), perm=[0, 2, 1])
    twice = net.add("Mul", net.add("MatMul", x, net.weight(8, 32)), net.store(np.float32(2)))
    nearest = net.add("ArgMin", net.add("Sub", net.weight(32), twice), axis=-1, keepdims=0)
    x = net.add("Transpose", net.add("Gather", net.weight(32, 8), nearest), perm=[0, 2, 1])
    x = net.add("Elu", net.convolve(x, 8, 8))
    if back > 1:
        how = {"kernel_shape": [back], "strides": [back]}
        x = net.add("Elu", net.add("ConvTranspose", x, net.weight(8, 8, back), **how))
    return net.tell(net.convolve(x, 8, given))


def test_codes_between_fewer_places_and_more_are_an_autoencoder() -> None:
    assert _quantize(2, 2).startswith("Autoencoder with vector quantizer: ")


@pytest.mark.parametrize(("step", "back", "given"), [(1, 1, 1), (2, 1, 1), (1, 2, 1), (2, 2, 5)])
def test_codes_of_what_is_not_given_back_are_none(step: int, back: int, given: int) -> None:
    told = _quantize(step, back, given)
    assert "vector quantizer" in told
    assert not told.startswith("Autoencoder")


def _classify(*, pools: bool = True, looks_up: bool = True) -> str:
    net = Special()
    if looks_up:
        words = net.add("Gather", net.weight(90, 16), net.take("ids", (2, 20), TensorProto.INT64))
    else:
        words = net.take("frames", (2, 20, 16))
    x = net.add("Transpose", words, perm=[0, 2, 1])
    ends = []
    for size in (3, 4, 5):
        kernel = net.weight(12, 16, size)
        y = net.add("Relu", net.add("Conv", x, kernel, kernel_shape=[size]))
        over = net.numbers(2)
        ends.append(net.add("ReduceMax" if pools else "ReduceMean", y, over, keepdims=0))
    return net.tell(net.linear(net.add("Concat", *ends, axis=1), 36, 5))


def test_words_that_are_convolved_and_pooled_over_time_are_classified() -> None:
    assert _classify().startswith("Convolutional text classifier: ")
    assert "classifier" not in _classify(pools=False)
    assert "classifier" not in _classify(looks_up=False)


def _weigh(*, of_input: bool = True, stacked: bool = True) -> str:
    net = Special()
    x = net.take("features", (2, 24))
    at = net.numbers(1)
    experts = [net.feed(x, 24, 16 + 8 * n) for n in range(3)]
    rows = [net.add("Unsqueeze", one, at) for one in experts]
    stack = net.add("Concat", *rows, axis=1)
    if not stacked:
        stack = net.add("Reshape", net.linear(x, 24, 72), net.numbers(-1, 3, 24))
    gate = net.linear(x, 24, 3)
    if not of_input:
        gate = net.add("Squeeze", net.linear(stack, 24, 1), net.numbers(2))
    shares = net.add("Softmax", gate, axis=-1)
    total = net.add("Einsum", stack, shares, equation="ned,ne->nd")
    return net.tell(net.linear(total, 24, 2))


def test_a_gate_over_experts_is_no_attention() -> None:
    assert _weigh().startswith("Network with mixture of experts: ")


def test_shares_of_what_they_weigh_are_attention() -> None:
    assert "experts" not in _weigh(of_input=False)
    assert _weigh(of_input=False).startswith("Attention network: ")


def test_parts_of_one_layer_are_no_experts() -> None:
    assert "experts" not in _weigh(stacked=False)


def _filter(*, is_back: bool = True, weighs: bool = True, mixes: bool = True) -> str:
    """Z. Li and others, Fourier Neural Operator, 2021, figure 2."""
    net = Special()
    x = net.conv(net.take("field", (1, 3, 16, 16)), 3, 8, 1)
    at = net.numbers(-1)
    for _ in range(4):
        y = net.add("DFT", net.add("Unsqueeze", x, at), "", net.numbers(2))
        if weighs and mixes:
            y = net.add("Einsum", y, net.weight(8, 8, 16, 16), equation="bixyz,ioxy->boxyz")
        elif weighs:
            y = net.add("Mul", y, net.weight(1, 8, 16, 16, 1))
        y = net.add("DFT", y, "", net.numbers(2), inverse=int(is_back))
        y = net.add("Squeeze", net.add("Slice", y, *map(net.numbers, (0, 1, -1))), at)
        y = net.conv(net.add("Gelu", net.conv(y, 8, 8, 1)), 8, 8, 1)
        x = net.add("Gelu", net.add("Add", y, net.conv(x, 8, 8, 1)))
    x = net.add("Gelu", net.conv(x, 8, 32, 1))
    return net.tell(net.conv(x, 32, 1, 1))


def test_weights_of_frequencies_beside_a_shortcut_are_a_fourier_layer() -> None:
    told = _filter()
    assert told.startswith("Fourier neural operator: ")
    assert "4 Fourier layers of 8 channels" in told


@pytest.mark.parametrize("how", [{"is_back": False}, {"weighs": False}, {"mixes": False}])
def test_other_transforms_are_no_operator(how: dict[str, bool]) -> None:
    told = _filter(**how)
    assert "operator" not in told
    assert "Fourier layer" not in told


def _generate(*, makes_weights: bool = True) -> str:
    """D. Ha and others, HyperNetworks, 2017, section 3."""
    net = Special()
    x, state = net.take("x", (2, 1, 5)), net.take("state", (2, 12))
    made = net.add("Abs", net.linear(state, 12, 5 * 16))
    matrix = net.add("Reshape", made, net.numbers(-1, 5, 16))
    shift = net.add("Reshape", net.linear(state, 12, 16), net.numbers(-1, 1, 16))
    y = net.add("MatMul", x, matrix if makes_weights else net.weight(5, 16))
    y = net.add("Elu", net.add("Add", y, shift))
    return net.tell(net.linear(y, 16, 1))


def test_a_layer_whose_weights_a_network_makes_is_a_hypernetwork() -> None:
    assert _generate().startswith("Network with hypernetwork: ")
    assert "hyper" not in _generate(makes_weights=False)
