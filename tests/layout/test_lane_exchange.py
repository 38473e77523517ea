"""Resolutions that exchange values: lanes from left to right, beside the picture if in a block."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from netloupe.explorer.grouping import build_group_tree
from netloupe.explorer.layout import LayoutEngine
from netloupe.explorer.layout.lane_opening import find_parallel
from netloupe.explorer.model import Model
from netloupe.explorer.render.picture import Picture, make_picture
from netloupe.explorer.render.ratios import find_ratios
from netloupe.explorer.view import View, ViewOptions
from tests.grouping.test_repeats import repeats
from tests.layout.test_lanes import Pyramid, middle
from tests.layout.test_u_shape import check_edges, compose, find_edge, named


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def exchange(net: Pyramid, values: list[str], name: str = "") -> list[str]:
    """Add a block to each lane, and give each lane the sum of all."""
    lanes = len(values)
    for n, value in enumerate(values):
        values[n] = net.block(f"{name}branch{n}", value, 8 << n, acts=2 + n)
    found = []
    for n in range(lanes):
        total = ""
        for other, value in enumerate(values):
            each = value
            if other > n:
                each = net.convolve(f"{name}fuse{n}{other}/conv", value, 8 << n)
                for step in range(other - n):
                    each = net.double(f"{name}fuse{n}{other}/up{step}", each)
            for step in range(n - other):
                width = 8 << (n if step == n - other - 1 else other)
                each = net.convolve(f"{name}fuse{n}{other}/conv{step}", each, width, 2)
            total = net.add("Add", f"{name}sum{n}_{other}", total, each) if total else each
        found.append(net.add("Relu", f"{name}act{n}", total))
    return found


def make_lanes(
    lanes: int = 2, modules: int = 1, prefix: str = "", *, finals: int | None = None
) -> Model:
    net = Pyramid(1, 3, 128, 128)
    value = net.block("stem", "x", 8, 2)
    values = [value]
    for n in range(1, lanes):
        values.append(net.block(f"begin{n}", values[-1], 8 << n, 2, n))
    for module in range(modules):
        values = exchange(net, values, f"{prefix}{module}/" if prefix else "")
    given = enumerate(values[:finals])
    return net.finish(*(net.convolve(f"final{n}/conv", each, 4) for n, each in given))


@pytest.mark.parametrize("lanes", [2, 3, 4])
def test_lanes_run_level_from_left_to_right(engine: LayoutEngine, lanes: int) -> None:
    scene = compose(make_lanes(lanes), engine)
    boxes = named(scene)
    branches = [boxes[f"branch{n}"] for n in range(lanes)]
    assert all(later.y > one.y + one.height + 30 for one, later in pairwise(branches))
    for n in range(lanes):
        for other in range(lanes):
            if other != n:  # in the row of the lane that it gives to
                fuse = boxes[f"fuse{n}{other}"]
                assert fuse.x > branches[0].x + branches[0].width
                assert all(middle(fuse) > middle(each) for each in branches[:n])
                assert all(middle(fuse) < middle(each) for each in branches[n + 1 :])
        ends = [boxes[f"branch{n}"], boxes[f"sum{n}_{lanes - 1}"], boxes[f"act{n}"]]
        assert all(one.x + one.width < other.x for one, other in pairwise(ends))
        edge = find_edge(scene, f"sum{n}_{lanes - 1}", f"act{n}")
        assert edge.points[1] == pytest.approx(edge.points[-1], abs=0.1)
    check_edges(scene)


def test_each_lane_tells_its_size_once(engine: LayoutEngine) -> None:
    scene = compose(make_lanes(3), engine)
    told = sorted(edge.label for edge in scene.edges if " × " in edge.label)
    assert told == ["16 × 16 × 32", "32 × 32 × 16", "64 × 64 × 8"]


def draw(model: Model) -> Picture:
    return make_picture(model, ViewOptions.parse({"grouping": "names"}))


def test_a_block_of_lanes_is_drawn_beside_the_picture() -> None:
    picture = draw(make_lanes(3, 4, "module", finals=1))
    assert len(picture.scene.zooms) == 1
    closed = [box.item for box in picture.scene.boxes if box.item.repeat and not box.item.is_open]
    assert [len(item.repeat.children) for item in closed] == [4]
    shown = [box for box in picture.scene.boxes if "/branch" in box.item.key]
    heights = [box.y for box in sorted(shown, key=lambda box: box.item.key)]
    assert len(heights) == 3
    assert heights == sorted(heights)


def test_modules_of_lanes_are_one_stack_where_their_lanes_are_alike() -> None:
    """A lane that is made smaller for another one makes no stage of its own."""
    model = make_lanes(3, 4, "module")
    assert [len(group.children) for group in repeats(build_group_tree(model.graph))] == [4]


def test_what_gives_several_resolutions_has_no_ratio_of_its_own() -> None:
    picture = draw(make_lanes(3, 4, "module"))
    told = find_ratios(picture.scene, picture.model)
    spans = [
        (box.y, box.y + box.height)
        for box in picture.scene.boxes
        if box.item.label.startswith("module") and box.parent < 0 and not box.item.is_open
    ]
    assert not [ratio for ratio in told for top, end in spans if top < ratio.y < end]


def test_blocks_of_several_resolutions_are_found_once_for_all_alike() -> None:
    view = View(make_lanes(3, 4, "module"), grouping="names")
    assert [item.label for item in find_parallel(view)] == ["module0 … module3"]
    assert find_parallel(View(make_lanes(3), grouping="names")) == []
