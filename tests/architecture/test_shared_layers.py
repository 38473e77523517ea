"""Layers that steps share are told beside those that each has of its own."""

from __future__ import annotations

import pytest

from netloupe.explorer.architecture.outline import Outline
from netloupe.explorer.architecture.pieces import Piece
from netloupe.explorer.architecture.shared_layers import add_shared_layers

from .networks import Network

_EACH = "each 2 linear layers and GLU"
_WIDTH = 8


def tell(*, shared: int = 1, is_shared: bool = True, text: str = _EACH, rest: int = 0) -> str:
    """Return what is said of steps of two layers each, between which others stand."""
    net = Network()
    x = net.take("x", (1, _WIDTH))
    others = [net.weight(_WIDTH, _WIDTH) for _ in range(shared)]
    for step in range(3):
        x = net.norm(net.add("MatMul", x, net.weight(_WIDTH, _WIDTH)), _WIDTH)
        for weight in others if step or not rest else others[:-rest]:
            weight = weight if is_shared else net.weight(_WIDTH, _WIDTH)
            x = net.norm(net.add("MatMul", x, weight), _WIDTH)
        x = net.norm(net.add("MatMul", x, net.weight(_WIDTH, _WIDTH)), _WIDTH)
    graph = net.finish(x).graph
    outline = Outline(graph, graph.nodes)
    linear = [part for part in outline.parts if part.kind == "linear"]
    kept, rows = [*linear], []
    for step in range(3):
        count = shared if step or not rest else shared - rest
        ends = [kept[0], kept[count + 1]]
        rows.append([Piece("linear", "", [part]) for part in ends])
        kept = kept[count + 2 :]
    return add_shared_layers(outline, rows, text)


@pytest.mark.parametrize(
    ("shared", "expected"),
    [
        (0, _EACH),
        (1, "each 2 linear layers beside 1 shared and GLU"),
        (2, "each 2 linear layers beside 2 shared and GLU"),
    ],
)
def test_layers_of_others_are_told_beside(shared: int, expected: str) -> None:
    assert tell(shared=shared) == expected


def test_own_layers_that_are_not_told_are_not_shared() -> None:
    assert tell(is_shared=False) == _EACH


def test_steps_that_share_more_and_less_tell_none() -> None:
    assert tell(shared=2, rest=1) == _EACH


def test_nothing_is_told_beside_what_is_not_counted() -> None:
    assert tell(text="each 4 GLUs") == "each 4 GLUs"
    twice = "each linear layer and 2 linear layers"
    assert tell(text=twice) == twice
