"""Blocks that only tell places are no parts of a network."""

from __future__ import annotations

import numpy as np
import pytest

from .networks import Network

_BINS = 16


def _expect(*, picks: bool = True, is_given: bool = False) -> str:
    """Return what is said of probabilities that are picked by the number that is expected."""
    net = Network()
    x = net.take("image", (1, 3, 16, 16))
    for taken in (3, 8, 8):
        x = net.add("Relu", net.conv(x, taken, 8))
    shares = net.add("Softmax", net.conv(x, 8, _BINS), axis=1)
    numbers = net.store(np.arange(_BINS, dtype=np.float32).reshape(1, _BINS, 1, 1))
    expected = net.add("ReduceSum", net.add("Mul", shares, numbers), net.numbers(1), keepdims=1)
    if not picks:
        return net.finish(expected, shape=(1, 1, 16, 16)).architecture.sentence
    place = net.add("Cast", expected, to=7)
    picked = net.add("GatherElements", shares, place, axis=1)
    outputs = [picked, expected] if is_given else [picked]
    return net.finish(*outputs, shape=(1, 1, 16, 16)).architecture.sentence


def test_a_number_by_which_others_pick_alone_is_no_part() -> None:
    assert "expected value" in _expect(picks=False)
    assert "expected value" not in _expect()
    assert "expected value" in _expect(is_given=True)


@pytest.mark.parametrize("is_stored", [True, False])
def test_samples_of_a_stored_grid_are_places(is_stored: bool) -> None:
    net = Network()
    x, at = net.take("image", (1, 3, 16, 16)), net.take("coord", (1, 1, 40, 2))
    for taken in (3, 8, 8):
        x = net.add("Relu", net.conv(x, taken, 8))
    grid = net.weight(1, 2, 16, 16) if is_stored else net.conv(x, 8, 2)
    both = [net.add("GridSample", one, at) for one in (x, grid)]
    y = net.conv(net.add("Relu", net.conv(net.add("Concat", *both, axis=1), 10, 8, 1)), 8, 3, 1)
    sentence = net.finish(y, shape=(1, 3, 1, 40)).architecture.sentence
    assert sentence.count("grid sampling") == (1 if is_stored else 2), sentence
