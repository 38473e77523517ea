"""Layers beside blocks that hold more such layers are told as others."""

from __future__ import annotations

import pytest

from netloupe.explorer.architecture.clause import Clause
from netloupe.explorer.architecture.outline import Outline
from netloupe.explorer.architecture.pieces import list_pieces
from netloupe.explorer.architecture.remainders import tell_others
from tests.architecture.networks import Network


def _tell(blocks: int, layers: int, text: str = "", name: str = "") -> list[str]:
    net = Network()
    x = net.conv(net.take("x", (1, 3, 32, 32)), 3, 8)
    for _ in range(layers - 1):
        x = net.add("Cos", net.conv(x, 8, 8))
    for _ in range(blocks):
        y = net.conv(net.add("Relu", net.conv(x, 8, 8)), 8, 8)
        x = net.add("Relu", net.add("Add", x, y))
    model = net.finish(x)
    outline = Outline(model.graph, [*model.graph.nodes])
    pieces = list_pieces(outline, [])
    left = [piece for piece in pieces if piece.kind == "conv"]
    held = [piece for piece in pieces if piece.kind == "residual"]
    assert (len(held), len(left)) == (blocks, layers)
    first = Clause(text or f"{layers} convolutions", tuple(left), name, is_plain=True)
    second = Clause(f"{blocks} residual blocks", tuple(held), is_plain=True)
    last = Clause("head", ())
    return [one.write() for one in tell_others(outline, [first, second, last])]


def test_layers_that_are_left_are_others_and_stand_behind() -> None:
    assert _tell(3, 5) == ["3 residual blocks", "5 other convolutions", "head"]


@pytest.mark.parametrize(
    ("blocks", "layers", "text", "name"),
    [
        (2, 4, "", ""),  # as many are in the blocks as are left
        (3, 3, "", ""),
        (3, 5, "five 3×3 convolutions 3 → 8 channels", ""),
        (3, 5, "", "stem"),
    ],
)
def test_few_layers_and_those_of_which_more_is_said_stay(
    blocks: int, layers: int, text: str, name: str
) -> None:
    told = _tell(blocks, layers, text, name)
    assert told[1:] == [f"{blocks} residual blocks", "head"]
    assert "other" not in told[0]
