"""Parts of blocks that are told without a number, as a file has more of them."""

from __future__ import annotations

import numpy as np
import pytest

from netloupe.explorer.architecture.agreed_layers import AgreedLayers
from netloupe.explorer.architecture.clause import Clause
from netloupe.explorer.architecture.common_clauses import tell_kinds
from netloupe.explorer.architecture.located_pieces import LocatedPieces
from netloupe.explorer.architecture.outline import Outline
from netloupe.explorer.architecture.pieces import list_pieces
from netloupe.explorer.architecture.sliced_weights import are_slices
from netloupe.explorer.architecture.weighted_layers import WeightedLayers
from tests.architecture.test_modules import Named


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (2, "each 2 linear layers and 2 self-attentions"),
        (1, "each 2 linear layers and self-attentions"),
    ],
)
def test_attentions_of_blocks_that_hold_more_of_them(told: int, text: str) -> None:
    net = Named()
    x = net.linear(net.take("x", (1, 12, 8)), 8, 8)
    for number in range(3):
        start = len(net.nodes)
        for part in range(2):
            within = len(net.nodes)
            x = net.linear(net.add("Cos", net.attend(x, x)), 8, 8)
            net.within(within, f"part.{part}")
        net.within(start, f"stages.{number}")
    model = net.finish(net.add("Cos", x))
    nodes = [*model.graph.nodes]
    outline = Outline(model.graph, nodes)
    pieces = list_pieces(outline, [])
    located = LocatedPieces(outline, pieces, WeightedLayers(model, nodes))
    members = []
    for number in range(3):
        own = [p for p in pieces if located.paths[id(p)][:2] == ("stages", str(number))]
        attentions = [piece for piece in own if piece.kind == "attention"]
        assert len(attentions) == 2
        members.append(tuple(p for p in own if p not in attentions[told:]))
    scope = tuple(piece for member in members for piece in member)
    inner = Clause("", scope, name="each 2 linear layers and 2 self-attentions")
    row = Clause("", scope, "3 blocks", parts=(inner,), members=tuple(members))
    (agreed,) = AgreedLayers(located).agree([row])
    assert agreed.parts[0].name == text


@pytest.mark.parametrize("is_sliced", [True, False])
def test_layers_whose_weights_are_stored_as_one(*, is_sliced: bool) -> None:
    net = Named()
    x = net.take("x", (1, 12, 8))
    all_weights = net.weight(3, 8, 8)
    for place in range(3):
        weight = net.weight(8, 8)
        if is_sliced:
            weight = net.add("Gather", all_weights, net.store(np.array(place, np.int64)), axis=0)
        x = net.add("Cos", net.add("MatMul", x, weight))
    model = net.finish(x)
    outline = Outline(model.graph, [*model.graph.nodes])
    pieces = [piece for piece in list_pieces(outline, []) if piece.kind == "linear"]
    assert len(pieces) == 3
    assert are_slices(outline, pieces) is is_sliced
    (told,) = tell_kinds(outline, [pieces])
    assert told.text == ("linear layers" if is_sliced else "3 linear layers")
