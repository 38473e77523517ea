"""Relus that give nothing but zeros, and norms that divide by nothing: how near is too near."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper

from tests.checks.ruling import Made, build, find

_NODE = helper.make_node
_FLOAT = np.float32


def biased(
    bias: float,
    *,
    before: str = "Relu",
    others: float = 0.0,
    op_type: str = "Gemm",
    last: str = "Relu",
) -> Made:
    """A layer of which channel 2 has a bias, between an operator and a Relu.

    Half of the sixteen weights of a channel are 0.1, the other half -0.1.
    """
    biases = np.full(6, others, _FLOAT)
    biases[2] = bias
    arrays = {"w": np.full((16, 6), 0.1, _FLOAT), "b": biases}
    arrays["w"][:8] *= -1
    nodes = [_NODE(before, ["x"], ["a"])]
    if op_type == "Gemm":
        nodes.append(_NODE("Gemm", ["a", "w", "b"], ["c"]))
    else:
        nodes.append(_NODE("MatMul", ["a", "w"], ["m"]))
        nodes.append(_NODE("Add", ["b", "m"], ["c"]))
    nodes.append(_NODE(last, ["c"], ["y"]))
    return build(nodes, arrays, inputs={"x": ("N", 16)})


def scaled(scale: float, bias: float) -> Made:
    """A norm of which channel 1 is multiplied by a number, before a Relu."""
    arrays = {name: np.linspace(0.5, 1, 4).astype(_FLOAT) for name in "sbmv"}
    arrays["s"][1], arrays["b"][1] = scale, bias
    nodes = [
        _NODE("BatchNormalization", ["x", "s", "b", "m", "v"], ["n"]),
        _NODE("Relu", ["n"], ["y"]),
    ]
    return build(nodes, arrays, inputs={"x": ("N", 4, 8)})


@pytest.mark.parametrize(
    ("made", "count"),
    [
        # eight weights of 0.1 times numbers up to 256 reach 204.8; up to 1, 0.8
        (biased(-205.0), 1),
        (biased(-204.0), 0),
        (biased(-0.81, before="Sigmoid"), 1),
        (biased(-0.79, before="Sigmoid"), 0),
        # sixteen times numbers up to 1,024 in magnitude reach 1,638.4
        (biased(-1639.0, before="Identity"), 1),
        (biased(-1638.0, before="Identity"), 0),
        (biased(-205.0, op_type="MatMul"), 1),
        (biased(-205.0, last="LeakyRelu"), 0),
        (biased(-205.0, others=-205.0), 6),
        (biased(0.0, others=1.0), 0),
        (scaled(0.0, -0.5), 1),
        (scaled(0.0, 0.5), 0),
        (scaled(0.1, -0.5), 0),
    ],
)
def test_relus_that_give_nothing(made: Made, count: int) -> None:
    found = find(made, "NL-N12")
    assert [finding.evidence["dead"] for finding in found] == ([count] if count else [])
    severities = [finding.severity for finding in found]
    assert severities == ([] if not count else ["note" if count < 6 else "warning"])


@pytest.mark.parametrize(
    ("variance", "epsilon", "severity"),
    [
        (0.0, 0.0, "error"),
        (0.0, 1e-5, ""),
        (1e-9, 0.0, ""),
        (-1e-3, 1e-2, "warning"),
        (-1e-3, 1e-5, "error"),
    ],
)
def test_variances_by_which_nothing_can_be_divided(
    variance: float, epsilon: float, severity: str
) -> None:
    arrays = {name: np.ones(4, _FLOAT) for name in "sbmv"}
    arrays["v"][2] = variance
    node = _NODE("BatchNormalization", ["x", *"sbmv"], ["y"], epsilon=epsilon)
    found = find(build([node], arrays, inputs={"x": ("N", 4, 8)}), "NL-N07")
    assert [finding.severity for finding in found] == ([severity] if severity else [])
