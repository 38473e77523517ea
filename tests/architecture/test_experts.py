"""Mixtures of experts as exporters write them that follow one example, expert for expert."""

from __future__ import annotations

import numpy as np
import pytest

from netloupe.explorer.architecture import Architecture
from tests.architecture.networks import Network


def route(net: Network, x: str, count: int, largest: str) -> tuple[str, str]:
    """Add a router; return the weights of the experts that are chosen, and which they are."""
    scores = net.add("MatMul", x, net.weight(8, count))
    if largest == "biased":  # by raw scores and a bias, weighed without it
        chosen = f"t{len(net.nodes)}"
        net.add("TopK", net.add("Add", scores, net.weight(count)), net.numbers(2), axis=-1)
        net.nodes[-1].output[:] = [f"{chosen}v", chosen]
        picked = net.add("GatherElements", scores, chosen, axis=-1)
        return net.add("Sigmoid", picked), chosen
    weights = net.add("Softmax", scores, axis=-1)
    if largest == "one":
        best = net.add("ArgMax", weights, axis=-1, keepdims=1)
        return net.add("GatherElements", weights, best, axis=-1), best
    name = f"t{len(net.nodes)}"
    net.add("TopK", weights, net.numbers(2), axis=-1)
    net.nodes[-1].output[:] = [f"{name}v", name]
    return f"{name}v", name


def mix(net: Network, x: str, count: int, largest: str, shared: bool) -> str:
    """Add experts whose matrices are slices of tables, each with the tokens that chose it."""
    weights, chosen = route(net, x, count, largest)
    up, down = net.weight(count, 24, 8), net.weight(count, 8, 12)
    total = net.add("Mul", x, net.store(np.float32(0)))
    classes = net.add("OneHot", chosen, net.store(np.array(count, np.int64)), net.numbers(0, 1))
    taken = net.add("NonZero", net.add("ReduceSum", classes, net.numbers(0, 1), keepdims=0))
    taken = net.add("Reshape", taken, net.numbers(-1))
    for expert in range(count):
        number = net.add("Gather", taken, net.store(np.array(expert, np.int64)), axis=0)
        hits = net.add("NonZero", net.add("Equal", chosen, number))
        rows = net.add("Gather", hits, net.store(np.array(0, np.int64)), axis=0)
        tokens = net.add("Gather", x, rows, axis=0)
        first = net.add("Transpose", net.add("Gather", up, number, axis=0), perm=[1, 0])
        second = net.add("Transpose", net.add("Gather", down, number, axis=0), perm=[1, 0])
        both = net.add("MatMul", tokens, first)
        gate = net.add("Slice", both, *map(net.numbers, (0, 12, 1)))
        open_ = net.add("Slice", both, *map(net.numbers, (12, 24, 1)))
        gate = net.add("Mul", gate, net.add("Sigmoid", gate))
        out = net.add("MatMul", net.add("Mul", gate, open_), second)
        places = net.add("Unsqueeze", rows, net.numbers(1))
        scale = net.add("GatherND", weights, net.add("Transpose", hits, perm=[1, 0]))
        out = net.add("Mul", out, net.add("Unsqueeze", scale, net.numbers(1)))
        total = net.add("ScatterND", total, places, out, reduction="add")
    return net.add("Add", total, net.feed(x)) if shared else total


def decoder(count: int, largest: str = "two", shared: bool = False, dense: int = 0) -> Architecture:
    net = Network()
    x = net.embed()
    for number in range(4):
        normed = net.norm(x, 8)
        x = net.add("Add", x, net.attend(normed, normed, mask=net.triangle("ids")))
        normed = net.norm(x, 8)
        if number < dense:
            x = net.add("Add", x, net.feed(normed))
            continue
        flat = net.add("Reshape", normed, net.numbers(-1, 8))
        mixed = mix(net, flat, count, largest, shared)
        back = net.add("Reshape", mixed, net.add("Shape", x))
        x = net.add("Add", x, back)
    return net.finish(net.linear(net.norm(x, 8), 8, 100)).architecture


@pytest.mark.parametrize(
    ("largest", "shared", "said"),
    [
        ("two", False, "3 experts, 2 per token, SwiGLU 8 → 12"),
        ("two", True, "3 experts and 1 shared, 2 per token, SwiGLU 8 → 12"),
        ("biased", False, "3 experts, 2 per token, SwiGLU 8 → 12"),
        ("one", False, "3 experts, 1 per token, SwiGLU 8 → 12"),
    ],
)
def test_experts_that_were_written_one_by_one_are_a_mixture(
    largest: str, shared: bool, said: str
) -> None:
    told = decoder(3, largest, shared)
    assert told.family == "decoder-only transformer, mixture of experts"
    assert told.summary.startswith(
        "Decoder-only transformer, mixture of experts: 4 blocks (pre-norm LayerNorm; "
        f"self-attention 2 heads × 4, causal; {said}), vocabulary 100."
    )
    assert told.facts["experts"] == 3


def test_dense_layers_before_them_are_told_apart() -> None:
    told = decoder(5, dense=1)
    assert (
        "; 1 with MLP 8 → 32, GELU and 3 with 5 experts, 2 per token, SwiGLU 8 → 12" in told.summary
    )
