"""How often blocks are called again: steps are counted where each has as much as the others."""

from __future__ import annotations

import numpy as np
import pytest

from .networks import Network


def _read_set(steps: int, *, knows_start: bool) -> str:
    """Return the sentence of an LSTM that reads a set in steps; an exporter copies its weights.

    O. Vinyals and others, Order Matters: Sequence to sequence for sets, 2016, section 4.2. What the
    first step takes is stored.
    """
    net = Network()
    features = net.take("features", (1, 9, 8))
    weights = [net.weight(*shape) for shape in ((1, 32, 16), (1, 32, 8), (1, 64))]
    start = net.store(np.zeros((1, 1, 16), np.float32))
    x = start if knows_start else net.take("query", (1, 1, 16))
    state: list[str] = []
    for step in range(steps):
        taken = weights if not step else [net.add("Identity", one) for one in weights]
        given = net.add("LSTM", x, *taken, *(["", *state] if state else []), hidden_size=8)
        node = net.nodes[-1]
        node.name = f"/s2s{f'_{step}' if step else ''}/LSTM"
        node.output.extend([f"{given}_h", f"{given}_c"])
        state = [f"{given}_h", f"{given}_c"]
        query = net.add("Squeeze", given, net.numbers(1))
        scores = net.add(
            "Softmax", net.add("ReduceSum", net.add("Mul", features, query), net.numbers(2)), axis=1
        )
        read = net.add("ReduceSum", net.add("Mul", features, scores), net.numbers(1))
        x = net.add("Concat", query, read, axis=2)
    return net.finish(net.linear(x, 16, 1)).architecture.sentence


@pytest.mark.parametrize(
    ("steps", "knows_start"), [(2, False), (3, False), (3, True), (4, True), (5, True)]
)
def test_a_first_step_that_takes_what_is_stored_is_counted(
    steps: int, *, knows_start: bool
) -> None:
    sentence = _read_set(steps, knows_start=knows_start)
    times = "twice" if steps == 2 else f"{steps} times"
    assert f"used {times}" in sentence or f"{steps} times with shared weights" in sentence


def _decompose(scales: int, each: int, *, are_in_steps: bool) -> str:
    """Return the sentence of a convolution that is called again, and of trends in it or behind.

    S. Wang and others, TimeMixer, 2024, figure 2: each scale is embedded by the same layer, and
    only then seasons and trends are told apart.
    """
    net = Network()
    kernels = [net.weight(8, 8, 3), net.weight(8, 8, 3)]
    x = net.take("x", (1, 8, 32))

    def convolve(x: str, kernel: str) -> str:
        return net.add("Relu", net.add("Conv", x, kernel, kernel_shape=[3], pads=[1, 1]))

    def take_trends_out(x: str) -> str:
        for _ in range(each):
            pooled = net.add("AveragePool", x, kernel_shape=[5], strides=[1], pads=[2, 2])
            x = net.add("Exp", net.add("Sub", x, pooled))
        return x

    for _ in range(scales):
        x = convolve(x, kernels[0])
        x = take_trends_out(x) if are_in_steps else x
    for _ in range(0 if are_in_steps else scales):
        x = take_trends_out(x)
    for _ in range(scales):
        x = convolve(x, kernels[1])
    return net.finish(x).architecture.sentence


@pytest.mark.parametrize("each", [1, 2])
@pytest.mark.parametrize("scales", [3, 5])
def test_what_has_no_weights_is_in_steps_that_hold_it_each(scales: int, each: int) -> None:
    sentence = _decompose(scales, each, are_in_steps=True)
    told = "series decomposition" if each == 1 else f"{each} series decompositions"
    loop = f"{scales} times with shared weights (convolution of 8 channels (kernel 3), {told}"
    assert loop in sentence
    assert sentence.count("shared weights") == 1
    # one layer is called behind all calls of the other: they are no loop together
    assert f"), convolution of 8 channels (kernel 3) used {scales} times" in sentence
    apart = _decompose(scales, each, are_in_steps=False)
    assert "shared weights" not in apart
    assert apart.count(f"convolution of 8 channels (kernel 3) used {scales} times") == 2
