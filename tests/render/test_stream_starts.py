"""A stored value that begins a stream is told on the box that takes it."""

from __future__ import annotations

import numpy as np
import pytest

from netloupe.explorer.grouping import Group
from netloupe.explorer.render.stream_starts import pick_queries, tell_stored_map
from tests.architecture.networks import Network


def tell(*, data: str = "stored", kernel: str = "computed", rank: int = 4) -> str:
    """Return what is told of a group with a convolution of a map by a kernel."""
    net = Network()
    style = net.take("style", (1, 8, 1, 1))
    x = net.take("x", (1, 8, 4, 6))
    stored = net.store(np.ones((1, 8, 4, 6)[:rank], np.float32))
    if data == "copied":
        stored = net.add("Expand", stored, net.numbers(2, 8, 4, 6))
    elif data == "computed":
        stored = net.add("Relu", x)
    elif data == "numbers":
        stored = net.add("Cast", net.store(np.ones((1, 8, 4, 6), np.int64)), to=1)
    weight = net.weight(5, 8, 3, 3)
    if kernel == "computed":
        weight = net.add("Mul", weight, style)
    model = net.finish(net.add("Relu", net.add("Conv", stored, weight)))
    group = Group("module", model.graph, "main/conv/", "conv")
    group.children, group.node_count = [*model.graph.nodes], len(model.graph.nodes)
    return tell_stored_map(group)


@pytest.mark.parametrize("data", ["stored", "copied"])
def test_a_stored_map_under_a_computed_kernel_begins_a_stream(data: str) -> None:
    assert tell(data=data) == "from a stored map, 4 × 6 × 8"


def test_what_is_computed_or_constant_throughout_does_not() -> None:
    assert not tell(data="computed")
    assert not tell(kernel="stored")


def test_whole_numbers_are_no_map() -> None:
    assert not tell(data="numbers")


def test_learned_queries_are_told_among_other_facts() -> None:
    facts = ("cross-attention", "4 heads × 6", "16 × 32 latents", "latent 32", "MLP 32 → 32")
    assert pick_queries(facts) == ["16 × 32 latents"]
    assert pick_queries(("1 learned query", "9 latents", "2")) == ["1 learned query", "9 latents"]
