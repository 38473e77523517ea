"""Edges that go around the main stream do so on one side."""

from __future__ import annotations

import pytest

from netloupe.explorer.layout import Composer
from netloupe.explorer.layout.dot import write_level_dot
from netloupe.explorer.layout.level import Child, Level, Wire
from netloupe.explorer.layout.placement import Placement
from netloupe.explorer.layout.sides import (
    count_sides,
    is_more_one_sided,
    may_go_around,
)
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.asked_view import make_view
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.view import ViewOptions
from tests.corpus import corpus_file

#: a chain of four boxes, of which the first three are used again by the last
CHAIN = Level(
    "TB",
    [Child(40, 20)] * 4,
    wires=[Wire(0, 1), Wire(1, 2), Wire(2, 3), Wire(0, 3), Wire(0, 3), Wire(1, 3)],
)


def place(*asides: float, width: float = 200) -> Placement:
    """Return the chain with its last three edges so far to the right of it."""
    boxes = [(100.0, 10.0 + 40 * number) for number in range(4)]
    straight = [
        (100.0, 20.0 + 40 * n, 100.0, 24.0 + 40 * n, 100.0, 26.0 + 40 * n, 100.0, 30.0 + 40 * n)
        for n in range(3)
    ]
    around = [(100.0, 20.0, 100 + aside, 40.0, 100 + aside, 90.0, 100.0, 120.0) for aside in asides]
    return Placement(width, 140, boxes, [], [], [*straight, *around])


def test_sides_of_edges_that_go_around_are_counted() -> None:
    assert may_go_around(CHAIN)
    assert count_sides(CHAIN, place(60, -60, -50)) == (2, 1)
    assert count_sides(CHAIN, place(60, 50, 5)) == (0, 2)


def test_the_picture_with_fewer_on_the_wrong_side_is_taken() -> None:
    assert is_more_one_sided(CHAIN, place(60, 50, 50), place(60, -60, 50))
    assert not is_more_one_sided(CHAIN, place(60, -60, 50), place(60, -60, -50))
    assert not is_more_one_sided(CHAIN, place(60, 50, 50, width=300), place(60, -60, 50))


def test_few_edges_have_no_side() -> None:
    chain = Level("TB", CHAIN.children, wires=CHAIN.wires[:5])
    assert not may_go_around(chain)


def test_stubs_stay_before_the_boxes_that_are_told_the_other_way_round() -> None:
    level = Level("TB", [Child(10, 10)] * 4, wires=[Wire(0, 1), Wire(2, 3, is_main=False)])
    lines = write_level_dot(level, is_reversed=True).splitlines()
    assert [line[:2] for line in lines if line[:1] == "n" and "->" not in line][1:] == [
        *("n2", "n3", "n1", "n0"),
    ]


@pytest.mark.parametrize(
    "name", ["unet.legacy", "unet.dynamo", "segmentation_unet.legacy", "segmentation_unet.dynamo"]
)
def test_skip_connections_of_a_unet_run_in_lanes_at_one_side(name: str) -> None:
    model = load(corpus_file(f"exported/{name}.onnx"))
    view, _ = make_view(model, ViewOptions())
    composer, labels = Composer(), Labels()
    composer.compose(view, labels)
    root = composer.recall(view)
    assert root is not None
    pieces = zip(root.arranged.assembly.pieces, root.arranged.assembly.placements, strict=True)
    for piece, placement in pieces:
        assert min(count_sides(piece.level, placement)) == 0
