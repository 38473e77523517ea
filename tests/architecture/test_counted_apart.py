"""Blocks that lists hold several at a time, or in lists of several names, are told so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from netloupe.explorer.architecture.agreed_blocks import AgreedBlocks
from netloupe.explorer.architecture.clause import Clause
from netloupe.explorer.architecture.layers import find_stacks
from netloupe.explorer.architecture.located_pieces import LocatedPieces
from netloupe.explorer.architecture.outline import Outline
from netloupe.explorer.architecture.pieces import Piece, list_pieces
from netloupe.explorer.architecture.weighted_layers import WeightedLayers
from tests.architecture.test_modules import Named


def _agree(net: Named, x: str, kind: str = "residual") -> list[str]:
    """Return what is said of blocks of a kind where lists are compared with their number."""
    model = net.finish(x)
    nodes = [*model.graph.nodes]
    outline = Outline(model.graph, nodes)
    stacks = find_stacks(outline) if kind == "transformer" else []
    pieces = [piece for piece in list_pieces(outline, stacks) if piece.kind == kind]
    located = LocatedPieces(outline, pieces, WeightedLayers(model, nodes))

    def tell(scope: Sequence[Piece]) -> list[Clause]:
        return [Clause(f"{len(scope)} left", tuple(scope))]

    row = Clause(f"{len(pieces)} {kind} blocks", tuple(pieces), is_plain=True)
    return [one.write() for one in AgreedBlocks(located, tell).agree([row])]


def _add(net: Named, x: str, size: int, other: str = "") -> str:
    """Add a residual block of two modules; with another operand to its sum it is none."""
    first = len(net.nodes)
    y = net.add("Relu", net.conv(x, 8, 8, size))
    net.within(first, "a")
    second = len(net.nodes)
    y = net.conv(y, 8, 8, size)
    net.within(second, "b")
    return net.add("Add", other or x, y)


def _list(net: Named, x: str, name: str, count: int, sizes: Sequence[int] = (3,)) -> str:
    for number in range(count):
        start = len(net.nodes)
        for size in sizes:
            x = _add(net, x, size)
        net.within(start, f"{name}.{number}")
    return x


def test_members_of_two_blocks_say_what_they_are_made_of() -> None:
    net = Named()
    x = _list(net, net.take("x", (1, 8, 8, 8)), "layers", 6, (3, 5))
    assert _agree(net, x) == ["6 blocks of 2 residual blocks"]


def test_blocks_of_lists_of_two_names_are_not_told_as_one_stack() -> None:
    """One of them is not known as such; the list has it."""
    net = Named()
    x = _list(net, net.take("x", (1, 8, 8, 8)), "images", 4)
    x = _list(net, x, "words", 3)
    start = len(net.nodes)
    x = _add(net, x, 3, net.take("y", (8, 8)))
    net.within(start, "words.3")
    assert _agree(net, x) == ["4 + 4 residual blocks"]


@pytest.mark.parametrize(("stored", "whole"), [(True, True), (True, False), (False, True)])
def test_a_first_layer_of_stored_queries_is_one_of_its_stack(stored: bool, whole: bool) -> None:
    """What it computes of them depends on no input; it may have no attention of its own."""
    net = Named()
    memory = net.linear(net.take("x", (1, 9, 6)), 6, 8)
    queries = net.store(np.arange(40, dtype=np.float32).reshape(1, 5, 8))
    y = queries if stored else net.linear(net.take("y", (1, 5, 6)), 6, 8)
    for number in range(5):
        start = len(net.nodes)
        if number or whole:
            y = net.add("Add", y, net.attend(net.norm(y, 8), net.norm(y, 8)))
            net.within(start, "own")
        for name in ("cross", "mlp"):
            first = len(net.nodes)
            normed = net.norm(y, 8)
            inner = net.feed(normed, inner=8) if name == "mlp" else net.attend(normed, memory)
            y = net.add("Add", y, inner)
            net.within(first, name)
        net.within(start, f"layers.{number}")
    told = _agree(net, net.linear(net.add("Tanh", y), 8, 4), "transformer")
    assert told == ["5 transformer blocks"]
