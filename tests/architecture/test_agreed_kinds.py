"""An idea of which one more may stand beside it is told without its number."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto

from netloupe.explorer.architecture.agreed_kinds import AgreedKinds
from netloupe.explorer.architecture.clause import Clause
from netloupe.explorer.architecture.layers import find_stacks
from netloupe.explorer.architecture.located_pieces import LocatedPieces
from netloupe.explorer.architecture.outline import Outline
from netloupe.explorer.architecture.pieces import Piece, list_pieces
from netloupe.explorer.architecture.weighted_layers import WeightedLayers
from netloupe.explorer.model import Model
from tests.architecture.networks import Network


def _agree(model: Model, held: slice, text: str, kind: str) -> str:
    """Return what is told of MLPs that are said to be of an idea."""
    nodes = [*model.graph.nodes]
    outline = Outline(model.graph, nodes)
    pieces = list_pieces(outline, [])
    for piece in pieces[held]:
        piece.kind = piece.part.kind = piece.part.name = kind
    located = LocatedPieces(outline, pieces, WeightedLayers(model, nodes))
    scope = tuple(pieces[held])
    return AgreedKinds(located).agree([Clause(text, scope, is_plain=True)])[0].write()


@pytest.mark.parametrize(
    ("inner", "is_sure"), [((16, 16), False), ((16, 24), True), ((16,), True), ((), True)]
)
def test_an_mlp_as_wide_inside_may_be_one_more(inner: tuple[int, ...], is_sure: bool) -> None:
    net = Network()
    x = net.take("x", (4, 8))
    for widths in ((16, 16), (16, 16), inner):
        before = 8
        for width in widths:
            x, before = net.add("Relu", net.linear(x, before, width)), width
        x = net.add("Cos", net.linear(x, before, 8))
    told = _agree(net.finish(x), slice(2), "2 twin blocks (2 layers of 16)", "twin block")
    assert told == f"{'2 ' if is_sure else ''}twin blocks (2 layers of 16)"


@pytest.mark.parametrize(("known", "is_sure"), [(1, False), (2, False), (3, True), (5, True)])
def test_what_is_known_in_few_of_its_places_is_not_counted(known: int, is_sure: bool) -> None:
    net = Network()
    x = net.take("x", (10, 8))
    place = net.take("place", (10, 8), TensorProto.INT64)
    for _ in range(5):
        nothing = net.store(np.zeros((10, 8), np.float32))
        x = net.add("ScatterElements", nothing, place, net.add("Cos", x), axis=0, reduction="add")
    model = net.finish(x)
    nodes = [*model.graph.nodes]
    outline = Outline(model.graph, nodes)
    parts = [part for part in outline.parts if part.has("scatters")]
    pieces = [Piece("message passing", "Message passing", [part]) for part in parts[:known]]
    for piece in pieces:
        piece.part.kind, piece.part.name = piece.kind, piece.name
    located = LocatedPieces(outline, pieces, WeightedLayers(model, nodes))
    text = f"{known} message passing"
    (told,) = AgreedKinds(located).agree([Clause(text, tuple(pieces), is_plain=True)])
    assert told.write() == (text if is_sure or known == 1 else "message passing")


def _tell_layers(
    *, has_loose: bool, is_told: bool = False, said: str = "3 transformer blocks"
) -> str:
    """Return what is said of three layers, beside an attention and an MLP with a layer between."""
    net = Network()
    x = net.linear(net.take("x", (1, 9, 6)), 6, 8)
    for _ in range(3):
        x = net.block(x)
    if has_loose:
        x = net.add("Add", x, net.attend(x, x))
        x = net.add("Add", x, net.linear(net.add("Tanh", x), 8, 8))
        x = net.add("Add", x, net.feed(x))
    model = net.finish(net.linear(x, 8, 5))
    nodes = [*model.graph.nodes]
    outline = Outline(model.graph, nodes)
    pieces = list_pieces(outline, find_stacks(outline))
    layers = [piece for piece in pieces if piece.layer is not None]
    assert len(layers) == 3
    clauses = [Clause(said, tuple(layers), is_plain=True)]
    if is_told:
        clauses.append(Clause("attention", tuple(one for one in pieces if one.layer is None)))
    located = LocatedPieces(outline, pieces, WeightedLayers(model, nodes))
    return AgreedKinds(located).agree(clauses)[0].text


def test_layers_are_not_counted_where_loose_parts_may_be_one_more() -> None:
    assert _tell_layers(has_loose=False) == "3 transformer blocks"
    assert _tell_layers(has_loose=True, is_told=True) == "3 transformer blocks"
    assert _tell_layers(has_loose=True) == "transformer blocks"


@pytest.mark.parametrize("said", ["2 + 1 transformer blocks", "stages of 2, 1 transformer blocks"])
def test_no_part_of_a_sum_of_layers_is_left(said: str) -> None:
    assert _tell_layers(has_loose=True, said=said) == "transformer blocks"
