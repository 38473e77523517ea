"""A value of length 1 times √d and a scale is its RMSNorm; without either it is not."""

from __future__ import annotations

import numpy as np
import pytest

from netloupe.explorer.patterns import recognise
from tests.architecture.networks import Network

_WIDTH = 12


def _tell(*factors: str, axis: int = -1, part: float | None = None) -> str:
    """Return what a value divided by its length is, times some factors in their order.

    The length may be multiplied by a number before.
    """
    net = Network()
    shape = (1, 5, _WIDTH) if axis == -1 else (1, _WIDTH, 4, 4)
    x = net.take("x", shape)
    length = net.add("ReduceL2", x, net.numbers(axis), keepdims=1)
    if part is not None:
        length = net.add("Mul", length, net.store(np.float32(part)))
    length = net.add("Clip", length, net.store(np.float32(1e-12)))
    given = net.add("Div", x, length)
    for name in factors:
        if name == "scale":
            factor = net.weight(*((_WIDTH,) if axis == -1 else (_WIDTH, 1, 1)))
        elif name == "root":
            factor = net.store(np.float32(_WIDTH**0.5))
        elif name == "computed root":
            width = net.store(np.float32(_WIDTH))
            factor = net.add("Pow", width, net.store(np.float32(0.5)))
        else:
            factor = net.store(np.float32(8))
        given = net.add("Mul", given, factor)
    found = recognise(net.finish(given).graph.nodes)
    return found.text if found is not None else ""


@pytest.mark.parametrize("axis", [-1, 1])
@pytest.mark.parametrize("root", ["root", "computed root"])
def test_a_length_times_root_and_scale_is_the_root_mean_square(root: str, axis: int) -> None:
    assert _tell(root, "scale", axis=axis) == "RMSNorm"
    assert _tell("scale", root, axis=axis) == "RMSNorm"


@pytest.mark.parametrize(
    "factors", [(), ("root",), ("scale",), ("eight", "scale"), ("scale", "eight"), ("root", "root")]
)
def test_a_length_times_anything_else_is_none(factors: tuple[str, ...]) -> None:
    assert "RMSNorm" not in _tell(*factors)


def test_the_root_may_divide_the_length() -> None:
    assert _tell("scale", part=_WIDTH**-0.5) == "RMSNorm"
    assert _tell("root", "scale", part=_WIDTH**-0.5) != "RMSNorm"
    assert _tell("scale", part=0.5) != "RMSNorm"
    assert "L2 normalize" not in _tell(part=0.5)
