"""Recurrent networks whose decoder attends to an encoder, and layers of one direction."""

from __future__ import annotations

import pytest

from .networks import Network


def recur(net: Network, x: str, taken: int, *, both: bool = False) -> str:
    """Add a layer that takes and gives features at each step, of four in each direction."""
    count = 1 + both
    weights = (net.weight(count, 16, taken), net.weight(count, 16, 4))
    direction = "bidirectional" if both else "forward"
    node = net.add("LSTM", x, *weights, hidden_size=4, direction=direction)
    shape = net.numbers(0, 0, -1)
    return net.add("Reshape", net.add("Transpose", node, perm=[0, 2, 1, 3]), shape)


def translate(*, query: str = "words", bias: bool = True, squashed: str = "Tanh") -> str:
    """Return what is said of scores that are written as elements times a vector, and a sum."""
    net = Network()
    keys = recur(net, net.take("sounds", (9, 1, 8)), 8)
    asked = recur(net, net.take("words", (5, 1, 6)), 6) if query == "words" else keys
    keys = net.add("Transpose", keys, perm=[1, 0, 2])
    asked = net.add("Transpose", asked, perm=[1, 0, 2])
    one = net.add("Unsqueeze", net.add("MatMul", asked, net.weight(4, 4)), net.numbers(2))
    two = net.add("Unsqueeze", net.add("MatMul", keys, net.weight(4, 4)), net.numbers(1))
    total = net.add("Add", one, two)
    if bias:
        total = net.add("Add", total, net.weight(4))
    scores = net.add("Mul", net.add(squashed, total), net.weight(4))
    shares = net.add("Softmax", net.add("ReduceSum", scores, net.numbers(-1), keepdims=0), axis=-1)
    weighed = net.add("Concat", asked, net.add("MatMul", shares, keys), axis=-1)
    return net.finish(net.linear(weighed, 8, 20)).architecture.sentence


@pytest.mark.parametrize("bias", [True, False])
def test_scores_of_sums_are_additive_attention_where_streams_meet(bias: bool) -> None:
    told = translate(bias=bias)
    assert told.startswith("Network of recurrent layers and attention: ")
    assert "additive attention" in told
    assert "added" not in told


def test_of_one_sequence_it_is_additive_self_attention() -> None:
    """G. Zheng and others, OpenTag, 2018, equations 5 and 6."""
    assert "additive self-attention" in translate(query="sounds")


@pytest.mark.parametrize("query", ["words", "sounds"])
def test_other_sums_are_no_additive_attention(query: str) -> None:
    told = translate(query=query, squashed="Relu")
    assert told
    assert "additive" not in told


@pytest.mark.parametrize("both", [True, False])
def test_layers_behind_one_of_both_directions_are_not_told_as_such(both: bool) -> None:
    net = Network()
    x = recur(net, net.add("Gather", net.weight(30, 8), net.take("ids", (5, 1), 7)), 8, both=True)
    for taken in (8, 8 if both else 4, 8 if both else 4):
        x = recur(net, x, taken, both=both)
    x = net.add("Mul", x, net.add("Sigmoid", net.linear(x, 8 if both else 4, 8 if both else 4)))
    told = net.finish(x).architecture.sentence
    assert ("4 bidirectional LSTM layers" in told) is both
    assert ("bidirectional LSTM layer of width 4, 3 LSTM layers" in told) is not both
