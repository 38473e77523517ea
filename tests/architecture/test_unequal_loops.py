"""Networks of a loop that go round less often are told by themselves; statistics are no input."""

from __future__ import annotations

import re

import numpy as np
import pytest

from .networks import Network
from .test_modules import Named


class _Planner(Named):
    """Writes networks that are called again with the weights that they had before."""

    def __init__(self) -> None:
        super().__init__()
        self._kernels: dict[str, str] = {}
        self._calls: dict[str, int] = {}

    def call(self, name: str, x: str, blocks: int) -> str:
        start, count = len(self.nodes), self._calls.get(name, 0)
        self._calls[name] = count + 1
        for block in range(blocks):
            y = self.add("Relu", self._convolve(x, f"{name}.{block}.0"))
            x = self.add("Relu", self.add("Add", x, self._convolve(y, f"{name}.{block}.1")))
        x = self.add("Relu", self._convolve(x, f"{name}.last"))
        self.within(start, name if not count else f"{name}_{count}")
        return x

    def _convolve(self, x: str, key: str) -> str:
        if key not in self._kernels:
            self._kernels[key] = self.weight(8, 8, 3, 3)
        return self.add("Conv", x, self._kernels[key], kernel_shape=[3, 3], pads=[1] * 4)


def _plan(steps: int, blocks: int) -> str:
    """Return the sentence of a plan of some steps, of which the first changes no state."""
    net = _Planner()
    state = net.call("representation_network", net.take("x", (1, 8, 16, 16)), 3)
    results = []
    moves = net.take("moves", (1, steps, 16, 16))
    for step in range(steps):
        if step:
            move = net.add("Gather", moves, net.store(np.array([step])), axis=1)
            state = net.add("Mul", state, net.add("Div", move, net.store(np.float32(6))))
            state = net.call("dynamics_network", state, blocks)
        axes = net.numbers(2, 3)
        least = net.add("ReduceMin", state, axes)
        span = net.add("Sub", net.add("ReduceMax", state, axes), least)
        state = net.add("Div", net.add("Sub", state, least), span)
        results.append(net.call("prediction_network", state, 4))
    given = net.add("Concat", *results, axis=0)
    for number, node in enumerate(net.nodes):
        node.name = node.name or f"/{node.op_type}_{number}"
    return net.finish(given).architecture.sentence


@pytest.mark.parametrize("steps", [4, 5, 7])
def test_each_network_of_a_loop_is_told_with_its_own_steps(steps: int) -> None:
    sentence = _plan(steps, 2)
    prediction, dynamics = (
        re.search(rf"{name} network \(([^()]*)\) (in|used) (\d+)", sentence)
        for name in ("prediction", "dynamics")
    )
    assert prediction is not None, sentence
    assert dynamics is not None, sentence
    assert "4 residual blocks" in prediction[1]
    assert "2 residual blocks" in dynamics[1]
    assert (int(prediction[3]), int(dynamics[3])) == (steps, steps - 1)


def _forecast(way: str) -> str:
    """Return the sentence of layers whose result is added to what comes in, or to its mean."""
    net = Network()
    x = net.take("x", (1, 64, 8))
    mean = net.add("ReduceMean", x, net.numbers(1))
    centred = net.add("Sub", x, mean)
    square = net.add("ReduceMean", net.add("Mul", centred, centred), net.numbers(1))
    deviation = net.add("Sqrt", square)
    y = net.add("Div", centred, deviation)
    for _ in range(3):
        y = net.block(y)
    y = net.linear(y, 8, 8)
    if way == "mean":
        y = net.add("Add", net.add("Mul", y, deviation), mean)
    elif way == "input":
        y = net.add("Add", y, x)
    return net.finish(y).architecture.sentence


def test_a_mean_that_is_put_back_is_no_sum_with_the_input() -> None:
    assert "added to" in _forecast("input")
    assert "added to" not in _forecast("mean")
