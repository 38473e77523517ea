"""The longest way through a level, which is drawn straight, and what ends at circles beside it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

import pytest

from netloupe.explorer.layout import Composer, LayoutEngine, Scene
from netloupe.explorer.layout.level import Child, Level, Wire
from netloupe.explorer.layout.longest_path import find_longest_path
from netloupe.explorer.options import Direction
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.view import ViewOptions
from tests.onnx_text import load_text

RESIDUAL = """g (float[N] x, float[N] mask) => (float[N] y) {
    [first] a = Relu (x)
    [second] b = Exp (a)
    [third] c = Max (b, mask)
    [sum] s = Add (x, c)
    [norm] d = Relu (s)
    [mlp] e = Exp (d)
    [sum2] y = Add (e, s)
}"""


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def make_level(count: int, *ends: tuple[int, int]) -> Level:
    return Level(
        "TB",
        [Child(50, 20) for _ in range(count)],
        1 + max((-1 - source for source, _ in ends if source < 0), default=-1),
        1 + max((-1 - target for _, target in ends if target < 0), default=-1),
        [Wire(source, target) for source, target in ends],
    )


def test_what_goes_around_is_no_part_of_it() -> None:
    level = make_level(4, (-1, 0), (-1, 3), (0, 1), (1, 3), (2, 3), (3, -1))
    assert find_longest_path(level) == {0, 2, 3, 5}


def test_of_equal_ways_the_first_is_taken() -> None:
    assert find_longest_path(make_level(4, (0, 1), (0, 2), (1, 3), (2, 3))) == {0, 2}


def test_a_way_to_the_border_is_longer_than_one_that_ends_inside() -> None:
    assert find_longest_path(make_level(3, (0, 1), (0, 2), (2, -1))) == {1, 2}


def test_stubs_and_cycles_are_left_out() -> None:
    level = make_level(3, (0, 1), (1, 2), (2, 1))
    level.wires[0] = Wire(0, 1, is_main=False)
    assert find_longest_path(level) == set()
    assert find_longest_path(make_level(2, (0, 0), (0, 1), (1, 1))) == {1}
    assert find_longest_path(make_level(0)) == set()


@pytest.mark.parametrize("seed", range(20))
def test_no_way_is_longer(seed: int) -> None:
    chance = random.Random(seed)
    count = 7
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count) if chance.random() < 0.4]
    level = make_level(count, *pairs)
    path = [level.wires[number] for number in sorted(find_longest_path(level))]
    longest = [0] * count
    for source, target in pairs:
        longest[target] = max(longest[target], longest[source] + 1)
    assert len(path) == max(longest)
    assert all(before.target == after.source for before, after in pairwise(path))


def draw(engine: LayoutEngine, direction: Direction) -> Scene:
    options = ViewOptions(direction=direction, expand="all", wrap=False)
    return make_picture(load_text(RESIDUAL), options, composer=Composer(engine)).scene


@pytest.mark.parametrize("direction", ["TB", "LR"])
def test_the_main_stream_runs_straight(engine: LayoutEngine, direction: Direction) -> None:
    scene = draw(engine, direction)
    across = 0 if direction == "TB" else 1
    names = ("first", "second", "third", "sum", "norm", "mlp", "sum2")
    boxes = {box.item.key.removeprefix("main/"): box for box in scene.boxes}
    middles = [
        (boxes[name].x + boxes[name].width / 2, boxes[name].y + boxes[name].height / 2)[across]
        for name in names
    ]
    assert max(middles) - min(middles) < 1


@pytest.mark.parametrize("direction", ["TB", "LR"])
def test_what_goes_around_ends_at_the_side_of_a_circle(
    engine: LayoutEngine, direction: Direction
) -> None:
    scene = draw(engine, direction)
    across = 0 if direction == "TB" else 1
    ends = {
        (scene.boxes[edge.source].item.key, box.item.key): (
            edge.points[-2] - box.x - box.width / 2,
            edge.points[-1] - box.y - box.height / 2,
        )
        for edge in scene.edges
        for box in (scene.boxes[edge.target],)
        if box.item.key in ("main/sum", "main/sum2")
    }
    radius = 12
    for inner, outer in (("third", "sum"), ("mlp", "sum2")):
        end = ends[f"main/{inner}", f"main/{outer}"]
        assert end[across] == pytest.approx(0, abs=1)
        assert end[1 - across] == pytest.approx(-radius, abs=1.5)
    for source, outer in (("%x", "sum"), ("sum", "sum2")):
        end = ends[f"main/{source}", f"main/{outer}"]
        assert abs(end[across]) == pytest.approx(radius, abs=0.1)
        assert end[1 - across] == pytest.approx(0, abs=0.1)
