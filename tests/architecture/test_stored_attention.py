"""A first layer of a decoder whose self-attention takes no input is a layer like the others."""

from __future__ import annotations

import pytest

from netloupe.explorer.architecture.layers import find_stacks
from netloupe.explorer.architecture.outline import Outline
from netloupe.explorer.architecture.piece_words import name_piece
from netloupe.explorer.architecture.pieces import list_pieces
from tests.architecture.networks import Network


@pytest.mark.parametrize(
    ("attends", "name"), [(True, "transformer block"), (False, "cross-attention block")]
)
def test_stored_queries_that_attend_themselves(*, attends: bool, name: str) -> None:
    net = Network()
    seen = net.linear(net.take("x", (1, 12, 8)), 8, 8)
    queries = net.weight(1, 5, 8)
    if attends:
        queries = net.norm(net.add("Add", queries, net.attend(queries, queries)), 8)
    x = net.norm(net.add("Add", queries, net.attend(queries, seen)), 8)
    x = net.norm(net.add("Add", x, net.feed(x)), 8)
    model = net.finish(net.block(net.block(x, context=seen), context=seen))
    outline = Outline(model.graph, [*model.graph.nodes])
    first, *others = [
        piece for piece in list_pieces(outline, find_stacks(outline)) if piece.layer is not None
    ]
    assert name_piece(outline, [first]) == name
    assert {name_piece(outline, [piece]) for piece in others} == {"transformer block"}
