"""Blocks that send messages along edges are counted, all of them, and what they begin with."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, numpy_helper

from netloupe.explorer.architecture.outline import Outline
from netloupe.explorer.architecture.pieces import list_pieces
from tests.architecture.networks import Network

_NODES, _EDGES, _WIDTH = 10, 20, 8


def _open(net: Network) -> tuple[str, str, str]:
    """Return where edges begin and end, and the ends for each feature."""
    source, target = (net.take(name, (_EDGES,), TensorProto.INT64) for name in ("from", "to"))
    column = net.add("Unsqueeze", target, net.numbers(1))
    return source, target, net.add("Expand", column, net.numbers(_EDGES, _WIDTH))


def _add_up(net: Network, sent: str, wide: str, reduction: str = "add") -> str:
    nothing = net.store(np.zeros((_NODES, _WIDTH), np.float32))
    return net.add("ScatterElements", nothing, wide, sent, axis=0, reduction=reduction)


def _tell_simulator(reduction: str) -> str:
    """Return the sentence of a network whose edges keep features of their own.

    A. Sanchez-Gonzalez and others, Learning to Simulate Complex Physics with Graph Networks, 2020.
    """
    net = Network()
    x, e = net.take("x", (_NODES, _WIDTH)), net.take("e", (_EDGES, _WIDTH))
    source, target, wide = _open(net)
    for _ in range(5):
        ends = [net.add("Gather", x, place, axis=0) for place in (source, target)]
        taken = net.add("Concat", e, *ends, axis=-1)
        hidden = net.add("Relu", net.linear(taken, 3 * _WIDTH, 16))
        e = net.add("Add", e, net.norm(net.linear(hidden, 16, _WIDTH), _WIDTH))
        both = net.add("Concat", x, _add_up(net, e, wide, reduction), axis=-1)
        hidden = net.add("Relu", net.linear(both, 2 * _WIDTH, 16))
        x = net.add("Add", x, net.norm(net.linear(hidden, 16, _WIDTH), _WIDTH))
    return net.finish(net.linear(x, _WIDTH, 3)).architecture.sentence


def test_messages_of_what_is_at_both_ends_are_all_counted() -> None:
    told = _tell_simulator("add")
    assert told.startswith("Message-passing network: 5 graph network blocks, ")


def test_what_writes_over_sends_no_messages() -> None:
    assert "message" not in _tell_simulator("none").lower()


@pytest.mark.parametrize("filled", [0.0, 0.5])
def test_a_state_that_begins_with_zeros_is_no_embedding(filled: float) -> None:
    net = Network()
    source, _, _ = _open(net)
    state = np.full((_NODES, _WIDTH), filled, np.float32)
    v = net.add("Constant", value=numpy_helper.from_array(state))
    table = net.weight(_NODES, _WIDTH)
    looked_up = [net.add("Gather", one, source, axis=0) for one in (v, table)]
    model = net.finish(net.linear(net.add("Mul", *looked_up), _WIDTH, _WIDTH))
    pieces = list_pieces(Outline(model.graph, [*model.graph.nodes]), [])
    kinds = [piece.kind for piece in pieces]
    assert kinds == ["embedding"] * (2 if filled else 1) + ["linear"]
