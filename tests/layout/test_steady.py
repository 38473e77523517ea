"""Opening and closing: everything keeps its order, and nothing is laid out that need not be."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netloupe.explorer.layout import Composer, LayoutEngine, Scene
from netloupe.explorer.layout.dot import Child, Layer, Wire
from netloupe.explorer.layout.placement import Placement
from netloupe.explorer.layout.steady import PieceHistory, keeps_order, stretch
from netloupe.explorer.model import Model
from netloupe.explorer.picture import Labels
from netloupe.explorer.view import View, expand_view
from tests.graph_strategies import random_models
from tests.layout.test_geometry import chain_of_layers
from tests.scene_check import find_geometry_faults


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def find_swapped(before: Scene, after: Scene) -> list[str]:
    """Return pairs of siblings that have changed sides."""
    old = {box.item.key: box for box in before.boxes}
    levels: dict[str, list[str]] = {}
    for box in after.boxes:
        if box.item.key in old:
            parent = after.boxes[box.parent].item.key if box.parent >= 0 else ""
            levels.setdefault(parent, []).append(box.item.key)
    new = {box.item.key: box for box in after.boxes}
    faults = []
    for keys in levels.values():
        for first in keys:
            for second in keys:
                a, b, c, d = old[first], old[second], new[first], new[second]
                above = a.y + a.height <= b.y + 0.5
                below = d.y + d.height <= c.y - 0.5
                if above and below:
                    faults.append(f"{first} was above {second}")
                beside = not above and not b.y + b.height <= a.y + 0.5
                still = not (c.y + c.height <= d.y + 0.5 or d.y + d.height <= c.y + 0.5)
                if beside and still and a.x + a.width <= b.x and d.x + d.width <= c.x:
                    faults.append(f"{first} was left of {second}")
    return faults


@settings(max_examples=60, deadline=None)
@given(random_models(), st.data(), st.sampled_from(["TB", "LR"]))
def test_opening_keeps_the_order(
    engine: LayoutEngine, model: Model, data: st.DataObject, direction: str
) -> None:
    view = View(model)
    labels, composer = Labels(), Composer(engine)
    scene = composer.compose(view, labels, direction)  # type: ignore[arg-type]
    for _ in range(6):
        choices = [item for item in view.items.values() if item.openable and item is not view.root]
        if not choices:
            return
        item = data.draw(st.sampled_from(choices))
        opens = not item.is_open
        (view.open_item if opens else view.close_item)(item)
        after = composer.compose(view, labels, direction)  # type: ignore[arg-type]
        assert find_geometry_faults(after, view) == []
        if opens:
            assert find_swapped(scene, after) == []
        scene = after


def test_closing_goes_back_to_what_was_before(engine: LayoutEngine) -> None:
    view = View(chain_of_layers(5))
    composer = Composer(engine)
    before = [(box.x, box.y) for box in composer.compose(view, Labels()).boxes]
    for path in ("main/layer1/", "main/layer3/"):
        view.open(path)
        composer.compose(view, Labels())
    for path in ("main/layer1/", "main/layer3/"):
        view.close(path)
        scene = composer.compose(view, Labels())
    assert [(box.x, box.y) for box in scene.boxes] == before


def test_what_is_not_touched_stays_one_object(engine: LayoutEngine) -> None:
    view = View(chain_of_layers(20))
    expand_view(view, "all")
    composer, labels = Composer(engine), Labels()
    first = composer.compose(view, labels).root
    assert composer.compose(view, labels).root is first
    view.close("main/layer4/")
    second = composer.compose(view, labels).root
    assert first is not None
    assert second is not None
    assert second is not first
    kept = [layer for number, layer in first.inner.items() if second.inner.get(number) is layer]
    assert len(kept) == 19


def test_a_new_composer_knows_no_history(engine: LayoutEngine) -> None:
    view = View(chain_of_layers(5))
    composer = Composer(engine)
    composer.compose(view, Labels())
    view.open("main/layer1/")
    view.open("main/layer2/")
    composer.compose(view, Labels())
    fresh = View(view.model)
    fresh.open("main/layer1/")
    fresh.open("main/layer2/")
    places = [
        [(box.x, box.y) for box in Composer(engine).compose(each, Labels()).boxes]
        for each in (view, fresh)
    ]
    assert places[0] == places[1]


GRID = Layer("TB", [Child(20, 10)] * 4, wires=[Wire(0, 2), Wire(1, 3)])
PLACED = Placement(
    60, 60, [(10, 5), (50, 5), (10, 55), (50, 55)], [], [],
    [(10, 10, 10, 25, 10, 35, 10, 50), (50, 10, 50, 25, 50, 35, 50, 50)],
)  # fmt: skip


def test_stretching_makes_room_and_keeps_all_else() -> None:
    grown = Layer("TB", [Child(120, 90), *GRID.children[1:]], wires=GRID.wires)
    placed = stretch(GRID, PLACED, grown)
    assert (placed.width, placed.height) == (160, 140)
    assert placed.boxes == [(60, 45), (150, 45), (60, 135), (150, 135)]
    assert placed.edges[1] == (150, 90, 150, 105, 150, 115, 150, 130)
    assert keeps_order(GRID, PLACED, grown, placed)


def test_another_order_is_not_taken() -> None:
    swapped = Placement(
        160, 140, [(100, 45), (10, 45), (100, 135), (10, 135)], [], [], PLACED.edges
    )
    grown = Layer("TB", [Child(120, 90), *GRID.children[1:]], wires=GRID.wires)
    assert not keeps_order(GRID, PLACED, grown, swapped)
    history = PieceHistory(GRID.wiring())
    assert history.settle((0, 0), GRID, PLACED) is PLACED
    settled = history.settle((0, 0), grown, swapped)
    assert settled.boxes == stretch(GRID, PLACED, grown).boxes
    assert history.settle((0, 0), GRID, swapped) is PLACED  # closed again
    kept = stretch(GRID, PLACED, grown)
    assert PieceHistory(GRID.wiring()).settle((0, 0), grown, kept) is kept


@given(
    st.lists(
        st.tuples(st.integers(1, 50), st.integers(1, 50), st.integers(0, 80), st.integers(0, 80)),
        min_size=1,
        max_size=12,
    )
)
def test_stretching_never_makes_boxes_overlap(rows: list[tuple[int, int, int, int]]) -> None:
    # a column or a row of boxes, then all grow at once
    for axis in (0, 1):
        children, grown, places = [], [], []
        at = 0.0
        for width, height, more_width, more_height in rows:
            size = width if axis == 0 else height
            children.append(Child(width, height))
            grown.append(Child(width + more_width, height + more_height))
            place = [0.0, 0.0]
            place[axis] = at + size / 2
            places.append((place[0], place[1]))
            at += size + 5
        placed = stretch(
            Layer("TB", children), Placement(at, at, places, [], [], []), Layer("TB", grown)
        )
        centres = np.array(placed.boxes)
        for number in range(len(rows) - 1):
            sizes = [(child.width, child.height)[axis] for child in grown[number : number + 2]]
            apart = centres[number + 1, axis] - centres[number, axis]
            assert apart >= sum(sizes) / 2 + 4.99
