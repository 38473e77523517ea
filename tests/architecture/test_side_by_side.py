"""Branches that are told once, and names that say what blocks are called anyway."""

from __future__ import annotations

import pytest

from netloupe.explorer.architecture.clause import Clause

from .networks import Network


def listen(*, chained: bool = False, count: int = 3) -> str:
    """Return what is said of branches of three convolutions in modules, each with a head."""
    net = Network()
    maps = start = net.take("sound", (1, 1, 16, 16))
    given = []
    for branch in range(count):
        before = len(net.nodes)
        taken = 8 if chained and branch else 1
        x = maps if chained else start
        for _ in range(3):
            x = net.add("Relu", net.conv(x, taken, 8))
            taken = 8
        maps = x
        flat = net.add("Reshape", net.add("GlobalAveragePool", x), net.numbers(0, -1))
        given.append(net.add("Sigmoid", net.linear(flat, 8, 5 + branch)))
        for place, node in enumerate(net.nodes[before:]):
            node.name = f"/{'abcdef'[branch]}_stack/{'convs' if place < 6 else 'out'}/n{place}"
    return net.finish(*given).architecture.sentence


@pytest.mark.parametrize(
    ("name", "inside", "told"),
    [
        ("11 transformers", "transformer block", "11 transformer blocks"),
        ("3 RNNs", "LSTM layer of width 96", "3 LSTM layers of width 96"),
        ("embedding", "embeddings", "embeddings"),
        ("3 RNNs", "linear layer", "3 RNNs (linear layer)"),
        ("2 heads", "transformer block", "2 heads (transformer block)"),
    ],
)
def test_a_name_that_says_the_kind_again_is_left_out(name: str, inside: str, told: str) -> None:
    assert Clause(inside, (), name).write() == told


def test_equal_branches_are_told_once() -> None:
    text = "three 3×3 convolutions 1 → 8 channels"
    assert f": 3 branches of {text} side by side, " in listen()
    assert listen().count(text) == 1
    assert listen(count=2).count(text) == 2
    assert "branches" not in listen(chained=True)
