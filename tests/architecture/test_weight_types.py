"""As what numbers weights are stored, said once where it is so of all layers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from netloupe.explorer.architecture.weight_types import tell_weight_types

from .networks import Network

_WIDTH = 8


def _dequantize(net: Network, element: type[np.integer], *dims: int) -> str:
    scale = net.store(np.float32(0.5))
    return net.add("DequantizeLinear", net.store(np.ones(dims, element)), scale)


def _tell(layers: Sequence[type[np.generic]], table: type[np.generic] | None = None) -> str:
    """Return what is said of linear layers stored so, over a table that is stored so."""
    net = Network()
    if table is None:
        x = net.take("x", (1, 4, _WIDTH))
    elif issubclass(table, np.integer):
        net.take("ids", (1, 4), 7)
        x = net.add("Gather", _dequantize(net, table, 100, _WIDTH), "ids")
    else:
        x = net.embed()
    for element in layers:
        if issubclass(element, np.integer):
            weight = _dequantize(net, element, _WIDTH, _WIDTH)
        else:
            weight = net.weight(_WIDTH, _WIDTH)
        x = net.norm(net.add("Relu", net.add("MatMul", x, weight)), _WIDTH)
    return tell_weight_types(net.finish(x))


@pytest.mark.parametrize(
    ("layers", "table", "expected"),
    [
        ([np.int8] * 3, None, "int8 weights"),
        ([np.int8] * 3, np.int8, "int8 weights"),
        ([np.int8] * 3, np.uint8, "int8 and uint8 weights"),
        ([np.int8, np.uint8], None, "int8 and uint8 weights"),
        ([np.int8] * 3, np.float32, "int8 weights in all layers"),
        ([np.int8] * 19 + [np.float32], None, "int8 weights in all layers but one"),
        ([np.int8] * 180 + [np.float32] * 19, None, "int8 weights in nearly all layers"),
        ([np.int8] * 3 + [np.float32], None, ""),
        ([np.int8] * 2 + [np.int16] * 2, None, ""),
        ([np.float32] * 3, np.int8, ""),
        ([np.float32] * 3, None, ""),
    ],
)
def test_types_are_those_of_all_layers_or_nearly_all(
    layers: Sequence[type[np.generic]], table: type[np.generic] | None, expected: str
) -> None:
    assert _tell(layers, table) == expected


def test_quantized_activations_are_no_quantized_weights() -> None:
    net = Network()
    scale = net.store(np.float32(0.5))
    x = net.add("QuantizeLinear", net.take("x", (1, _WIDTH)), scale, net.store(np.int8(0)))
    x = net.add("DequantizeLinear", x, scale)
    assert not tell_weight_types(net.finish(net.linear(x, _WIDTH, _WIDTH)))


def test_an_operator_on_integers_has_them_too() -> None:
    net = Network()
    scale, zero = net.store(np.float32(0.5)), net.store(np.int8(0))
    x = net.add("QuantizeLinear", net.take("x", (1, _WIDTH)), scale, zero)
    weight = net.store(np.ones((_WIDTH, _WIDTH), np.int8))
    x = net.add("QLinearMatMul", x, scale, zero, weight, scale, zero, scale, zero)
    assert tell_weight_types(net.finish(net.add("DequantizeLinear", x, scale))) == "int8 weights"
