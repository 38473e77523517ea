"""Inputs without a telling name are told by what a graph does with them first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from onnx import TensorProto

from .test_topology import Joined

_WIDTH = 8


class _Conditioned(Joined):
    """A stack of blocks that something enters."""

    def waves(self, name: str = "t12") -> str:
        """Take a number for each example, and its sines and cosines."""
        step = self.add("Unsqueeze", self.take(name, (1,)), self.numbers(1))
        angle = self.add("Mul", step, self.weight(1, _WIDTH // 2))
        return self.add("Concat", self.add("Sin", angle), self.add("Cos", angle), axis=-1)

    def places(self) -> str:
        """Take coordinates of several places of each example, and their sines, summed up."""
        angle = self.add("MatMul", self.take("t12", (1, 5, 2)), self.weight(2, _WIDTH))
        return self.add("ReduceSum", self.add("Sin", angle), self.numbers(1), keepdims=0)

    def row(self, *shape: int, table: np.ndarray | None = None) -> str:
        """Take numbers by which rows of a table are picked."""
        rows = self.weight(10, _WIDTH) if table is None else self.store(table)
        found = self.add("Gather", rows, self.take("t12", (1, *shape), TensorProto.INT64))
        return self.add("ReduceMean", found, self.numbers(1), keepdims=0) if shape else found

    def picture(self, channels: int = 3) -> str:
        x = self.conv(self.take("t12", (1, channels, 16, 16)), channels, _WIDTH)
        for _ in range(2):
            x = self.conv(self.add("LeakyRelu", x), _WIDTH, _WIDTH, strides=[2, 2])
        x = self.add("Tanh", x)
        return self.add("Reshape", self.conv(x, _WIDTH, 2), self.numbers(1, -1))

    def stack(self, condition: str, width: int = _WIDTH) -> str:
        x = self.take("noise", (1, _WIDTH, 8, 8))
        y = self.linear(self.add("Relu", self.linear(condition, width, 24)), 24, _WIDTH)
        for _ in range(5):
            x = self.residual(x, y)
        return self.tell(self.conv(x, _WIDTH, 3))


def _make_waves(count: int) -> np.ndarray:
    angles = np.arange(count)[:, None] / 10.0 ** np.arange(_WIDTH // 2)
    return np.concatenate([np.sin(angles), np.cos(angles)], 1).astype(np.float32)


@pytest.mark.parametrize(
    ("take", "said"),
    [
        (lambda net: net.waves(), "timestep (MLP"),
        (lambda net: net.row(table=_make_waves(50)), "timestep (embedding of 50"),
        (lambda net: net.row(), "class (embedding of 10"),
        (lambda net: net.row(6), "tokens (MLP"),
        (lambda net: net.picture(), "an image ("),
        (lambda net: net.take("t12", (1, _WIDTH)), "a vector of 8 (MLP"),
        (lambda net: net.waves("noise_level"), "noise level (MLP"),
    ],
    ids=["sines", "stored sines", "class", "tokens", "image", "vector", "name"],
)
def test_inputs_are_told_by_what_they_go_through(
    take: Callable[[_Conditioned], str], said: str
) -> None:
    net = _Conditioned()
    told = net.stack(take(net), 32 if "image" in said else _WIDTH)
    assert f" conditioned on {said}" in told
    assert "input" not in told


@pytest.mark.parametrize(("is_map", "width"), [(True, 32), (False, _WIDTH)])
def test_what_may_be_several_things_is_told_by_what_it_comes_through(
    is_map: bool, width: int
) -> None:
    net = _Conditioned()
    told = net.stack(net.picture(6) if is_map else net.places(), width)
    assert " conditioned on what comes through " in told
    assert "timestep" not in told
    assert "an image" not in told
