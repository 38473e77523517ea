"""Opening and closing: everything keeps its order, and nothing is laid out that need not be."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netloupe.explorer.layout import Composer, LayoutEngine, Scene, SceneBox
from netloupe.explorer.layout.dot import write_level_dot
from netloupe.explorer.layout.layout_stability import PieceHistory, is_sound, keeps_order, stretch
from netloupe.explorer.layout.level import Child, Level, Wire
from netloupe.explorer.layout.placement import Placement
from netloupe.explorer.model import Model
from netloupe.explorer.render.labels import Labels
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
    """Return pairs of siblings that have changed sides, along the flow or beside each other.

    Along the flow only what hangs together is compared: other parts stand beside each other
    and have no common order.
    """
    parts = _find_parts(after)
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
                a, b, c, d = (
                    _extents(box, after.direction)
                    for box in (old[first], old[second], new[first], new[second])
                )
                is_before = a[0][1] <= b[0][0] + 0.5
                is_one = parts[first] == parts[second]
                if is_one and is_before and d[0][1] <= c[0][0] - 0.5:
                    faults.append(f"{first} was before {second}")
                beside = not is_before and not b[0][1] <= a[0][0] + 0.5
                still = not (c[0][1] <= d[0][0] + 0.5 or d[0][1] <= c[0][0] + 0.5)
                if beside and still and a[1][1] <= b[1][0] and d[1][1] <= c[1][0]:
                    faults.append(f"{first} was left of {second}")
    return faults


def _find_parts(scene: Scene) -> dict[str, int]:
    """Return the number of the connected part of its level that each box belongs to."""
    around: dict[int, set[int]] = {index: set() for index in range(len(scene.boxes))}
    borders: dict[int, int] = {}
    for edge in scene.edges:
        source, target = edge.source, edge.target
        if source == target:
            continue
        parents = [scene.boxes[end].parent if end >= 0 else -1 for end in (source, target)]
        if parents[0] == parents[1]:
            around[source].add(target)
            around[target].add(source)
        else:  # what goes to the border hangs together there
            inner = target if source < 0 or parents[1] == source else source
            other = borders.setdefault(scene.boxes[inner].parent, inner)
            around[inner].add(other)
            around[other].add(inner)
    parts: dict[str, int] = {}
    for start in around:
        pending = [start]
        while pending:
            key = scene.boxes[index := pending.pop()].item.key
            if key not in parts:
                parts[key] = start
                pending += around[index]
    return parts


def _extents(box: SceneBox, direction: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return where a box begins and ends along the flow, and across it."""
    x, y = (box.x, box.x + box.width), (box.y, box.y + box.height)
    return (y, x) if direction == "TB" else (x, y)


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
    view.unroll("main/layer0-4/")
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
    (stack,), (changed,) = first.inner.values(), second.inner.values()
    kept = [layer for number, layer in stack.inner.items() if changed.inner.get(number) is layer]
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


PAIR = Level("TB", [Child(90, 64), Child(60, 40)], wires=[], first=0)
BESIDE = Placement(172, 64, [(45, 32), (142, 32)], [], [], [])


def test_what_grows_beside_a_joint_hangs_down_from_its_top() -> None:
    grown = Level("TB", [Child(90, 64), Child(60, 200)], first=0)
    placed = stretch(PAIR, BESIDE, grown)
    assert is_sound(grown, placed)
    assert placed.boxes == [(45, 32), (142, 100)]
    assert placed.width == 172
    assert placed.height >= 200


def test_what_stands_beside_a_box_that_shrinks_stays_inside() -> None:
    layer = Level("TB", [Child(262, 135), Child(94, 44)])
    placed = Placement(272, 227, [(131, 68), (215, 205)], [], [], [])
    shrunk = Level("TB", [Child(90, 64), Child(94, 44)])
    after = stretch(layer, placed, shrunk)
    for child, (x, y) in zip(shrunk.children, after.boxes, strict=True):
        assert x - child.width / 2 >= 0
        assert x + child.width / 2 <= after.width
        assert y + child.height / 2 <= after.height


def test_boxes_that_come_to_overlap_are_not_sound() -> None:
    layer = Level("TB", [Child(50, 50), Child(50, 50)], last=1)
    assert is_sound(layer, Placement(50, 110, [(25, 25), (25, 85)], [], [], []))
    assert not is_sound(layer, Placement(50, 70, [(25, 25), (25, 45)], [], [], []))
    assert not is_sound(layer, Placement(50, 110, [(25, 85), (25, 25)], [], [], []))  # not last


def test_nothing_deeper_stands_beside_a_joint() -> None:
    # the second and third boxes are a cycle: either may come into the first rank
    cycle = [Wire(0, 2), Wire(1, 2), Wire(2, 1)]
    layer = Level("TB", [Child(50, 50), Child(50, 90), Child(50, 50)], wires=cycle, first=0)
    assert "{rank=source;n0}" in write_level_dot(layer)
    low = Level("TB", [Child(50, 50), Child(50, 40), Child(50, 50)], wires=cycle, first=0)
    assert "{rank=min;n0}" in write_level_dot(low)
    chain = Level("TB", layer.children, wires=[Wire(0, 2), Wire(2, 1)], first=0)
    assert "{rank=min;n0}" in write_level_dot(chain)


GRID = Level("TB", [Child(20, 10)] * 4, wires=[Wire(0, 2), Wire(1, 3)])
PLACED = Placement(
    60, 60, [(10, 5), (50, 5), (10, 55), (50, 55)], [], [],
    [(10, 10, 10, 25, 10, 35, 10, 50), (50, 10, 50, 25, 50, 35, 50, 50)],
)  # fmt: skip


def test_stretching_makes_room_and_keeps_all_else() -> None:
    grown = Level("TB", [Child(120, 90), *GRID.children[1:]], wires=GRID.wires)
    placed = stretch(GRID, PLACED, grown)
    assert (placed.width, placed.height) == (160, 140)
    assert placed.boxes == [(60, 45), (150, 45), (60, 135), (150, 135)]
    assert placed.edges[1] == (150, 90, 150, 105, 150, 115, 150, 130)
    assert keeps_order(GRID, PLACED, grown, placed)


def test_another_order_is_not_taken() -> None:
    swapped = Placement(
        160, 140, [(100, 45), (10, 45), (100, 135), (10, 135)], [], [], PLACED.edges
    )
    grown = Level("TB", [Child(120, 90), *GRID.children[1:]], wires=GRID.wires)
    assert not keeps_order(GRID, PLACED, grown, swapped)
    history = PieceHistory(GRID.connections())
    assert history.settle((0, 0), GRID, PLACED) is PLACED
    settled = history.settle((0, 0), grown, swapped)
    assert settled.boxes == stretch(GRID, PLACED, grown).boxes
    assert history.settle((0, 0), GRID, swapped) is PLACED  # closed again
    kept = stretch(GRID, PLACED, grown)
    assert PieceHistory(GRID.connections()).settle((0, 0), grown, kept) is kept


def place_rows(level: Level, xs: list[float], ys: list[float]) -> Placement:
    """Return boxes with these middles, without curves."""
    return Placement(1_000, 1_000, [*zip(xs, ys, strict=True)], [], [], [])


def test_a_box_that_shrinks_keeps_its_room_where_others_would_overlap() -> None:
    # the first box becomes narrower and higher when it is opened; it stands above the gap between
    # two others, which has no room to give
    closed = Level("TB", [Child(240, 20), Child(60, 20), Child(470, 130), Child(690, 790)])
    opened = Level("TB", [Child(190, 160), *closed.children[1:]])
    before = place_rows(closed, [530, 720, 245, 852], [10, 10, 490, 490])
    swapped = place_rows(opened, [800, 600, 245, 852], [80, 80, 560, 560])
    assert not is_sound(opened, stretch(closed, before, opened))
    history = PieceHistory(closed.connections())
    history.settle(0, closed, before)
    settled = history.settle(0, opened, swapped)
    assert is_sound(opened, settled)
    assert keeps_order(closed, before, opened, settled)


def test_what_was_shown_before_does_not_change_sides_when_it_is_opened_again() -> None:
    closed = Level("TB", [Child(50, 20), Child(50, 20)])
    opened = Level("TB", [Child(50, 90), Child(50, 20)])
    left, below = place_rows(opened, [25, 100], [45, 45]), place_rows(closed, [25, 25], [10, 60])
    right = place_rows(closed, [100, 25], [10, 10])
    history = PieceHistory(closed.connections())
    history.settle(0, opened, left)
    history.show(0, closed, below)
    history.show(0, closed, right)
    settled = history.settle(0, opened, left)
    assert keeps_order(closed, right, opened, settled)
    # what is closed goes back to where it was
    history = PieceHistory(closed.connections())
    history.settle(0, closed, right)
    history.show(0, opened, left)
    assert history.settle(0, closed, left) is right


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
            Level("TB", children), Placement(at, at, places, [], [], []), Level("TB", grown)
        )
        centres = np.array(placed.boxes)
        for number in range(len(rows) - 1):
            sizes = [(child.width, child.height)[axis] for child in grown[number : number + 2]]
            apart = centres[number + 1, axis] - centres[number, axis]
            assert apart >= sum(sizes) / 2 + 4.99
