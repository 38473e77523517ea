"""Counts of ideas are of all of them, or of those that are said to be others."""

from __future__ import annotations

import pytest

from netloupe.explorer.architecture.clause import Clause
from netloupe.explorer.architecture.located_pieces import LocatedPieces
from netloupe.explorer.architecture.outline import Outline, OutlinePart
from netloupe.explorer.architecture.pieces import Piece, list_pieces
from netloupe.explorer.architecture.verified_counts import confirm_counts
from netloupe.explorer.architecture.weighted_layers import WeightedLayers
from netloupe.explorer.patterns import FoundBlock
from tests.architecture.networks import Network

_BLOCKS = "6 residual blocks"


def _block(name: str, *parts: FoundBlock) -> FoundBlock:
    return FoundBlock("unit", name, frozenset({0}), 0, parts=parts)


def _piece(kind: str, name: str, *parts: FoundBlock) -> Piece:
    return Piece(kind, name, [OutlinePart(kind, frozenset({0}), 0, name, parts=parts)])


def _tell(text: str, held: str, *, told: str = _BLOCKS, kind: str = "unit") -> str:
    """Return what is said of three ghost modules beside blocks that each hold two ideas."""
    net = Network()
    model = net.finish(net.add("Relu", net.take("x", (1, 4))))
    outline = Outline(model.graph, [*model.graph.nodes])
    inner = [_block("Branch", _block(held)), _block(held)]
    blocks = [_piece("residual", "Residual block", *inner) for _ in range(6)]
    loose = [_piece(kind, "Ghost module") for _ in range(3)]
    located = LocatedPieces(outline, [], WeightedLayers(model, [*model.graph.nodes]))
    clauses = [Clause(told, tuple(blocks)), Clause(text, tuple(loose), is_plain=True)]
    return confirm_counts(located, clauses)[1].write()


def test_what_no_other_clause_says_is_counted_with_what_stands_apart() -> None:
    assert _tell("3 ghost modules", "Ghost module") == "15 ghost modules"


def test_what_another_clause_says_makes_the_rest_others() -> None:
    told = f"{_BLOCKS} with ghost modules"
    assert _tell("3 ghost modules", "Ghost module", told=told) == "3 other ghost modules"


@pytest.mark.parametrize(
    ("text", "held", "kind"),
    [
        ("3 ghost modules", "Gate", "unit"),
        ("3 ghost modules", "Ghost module", "mlp"),
        ("ghost modules", "Ghost module", "unit"),
        ("3 ghost modules of 8 channels", "Ghost module", "unit"),
    ],
)
def test_other_counts_are_left(text: str, held: str, kind: str) -> None:
    assert _tell(text, held, kind=kind) == text


@pytest.mark.parametrize(("told", "is_all"), [(3, True), (2, False)])
def test_pointwise_convolutions_are_counted_in_the_file(told: int, is_all: bool) -> None:
    net = Network()
    x = net.take("x", (1, 4, 8, 8))
    for size in (1, 3, 1, 1):
        x = net.conv(net.add("Sin", x), 4, 4, size)
    model = net.finish(x)
    nodes = [*model.graph.nodes]
    outline = Outline(model.graph, nodes)
    pieces = [piece for piece in list_pieces(outline, []) if max(piece.part.kernel) == 1][:told]
    located = LocatedPieces(outline, pieces, WeightedLayers(model, nodes))
    clause = Clause(f"{told} pointwise convolutions", tuple(pieces), is_plain=True)
    (confirmed,) = confirm_counts(located, [clause])
    assert confirmed.write() == ("3 pointwise convolutions" if is_all else "pointwise convolutions")


@pytest.mark.parametrize(("uses", "told"), [((2, 2), " used twice"), ((2, 1), "")])
def test_what_some_of_a_module_are_used_is_not_said_of_all(
    uses: tuple[int, int], told: str
) -> None:
    net = Network()
    model = net.finish(net.add("Relu", net.take("x", (1, 4))))
    nodes = [*model.graph.nodes]
    located = LocatedPieces(Outline(model.graph, nodes), [], WeightedLayers(model, nodes))
    tables = tuple(_piece("embedding", "Embedding") for _ in uses)
    for piece, often in zip(tables, uses, strict=True):
        piece.uses = often
    inside = Clause("embeddings", tables, uses=2)
    (confirmed,) = confirm_counts(located, [Clause("", tables, "layout", parts=(inside,))])
    assert confirmed.write() == f"layout (embeddings{told})"
