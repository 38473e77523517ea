"""Lanes: a row for each resolution, arms down and up beside each other, and level lines."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from onnx import helper, numpy_helper

from netloupe.explorer.layout import Composer, LayoutEngine, SceneBox
from netloupe.explorer.layout.lane_rows import Maps, find_ladder
from netloupe.explorer.layout.lane_tracks import Line, order_tracks
from netloupe.explorer.layout.lane_worth import reads_better
from netloupe.explorer.layout.level import Level
from netloupe.explorer.layout.placement import Curves, Places
from netloupe.explorer.model import Model
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.view import View
from tests.layout.test_u_shape import Network, check_edges, compose, find_edge, named

ACTS = ("Relu", "Tanh", "Elu", "Selu", "Sigmoid", "Softplus")


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


class Pyramid(Network):
    """A network with a backbone; blocks differ, so that none of them are folded."""

    def double(self, name: str, value: str) -> str:
        scales = f"s{len(self.weights)}"
        factors = np.array([1, 1, *[2] * (self.rank - 2)], np.float32)
        self.weights.append(numpy_helper.from_array(factors, scales))
        return self.add("Resize", name, value, "", scales, mode="nearest")

    def block(self, name: str, value: str, width: int, stride: int = 1, acts: int = 1) -> str:
        value = self.convolve(f"{name}/conv", value, width, stride)
        for number in range(acts):
            value = self.add(ACTS[number % len(ACTS)], f"{name}/act{number}", value)
        return value

    def descend(self, levels: int) -> list[str]:
        value, found = self.block("stem", "x", 8, 2), []
        for level in range(levels):
            value = self.block(f"stage{level}", value, 8 << level, 2, level + 1)
            found.append(value)
        return found


def make_fpn(*dims: int | str, levels: int = 3, steered: bool = False) -> Model:
    """Return a pyramid of features with a head that takes all of its levels."""
    net = Pyramid(*dims)
    steer = ""
    if steered:  # by a value that every block takes
        net.inputs.append(helper.make_tensor_value_info("step", 1, [1] * len(dims)))
        steer = net.add("Softplus", "step/act", net.add("Sin", "step/wave", "step"))
    maps = [net.convolve(f"side{n}/conv", each, 8) for n, each in enumerate(net.descend(levels))]
    value, merged = maps[-1], [maps[-1]]
    for level in reversed(range(levels - 1)):
        value = net.add("Add", f"sum{level}", net.double(f"up{level}", value), maps[level])
        value = net.add("Mul", f"steer{level}", value, steer) if steer else value
        merged.insert(0, value)
    heads = [net.block(f"out{n}", each, 8, acts=2 + n) for n, each in enumerate(merged)]
    if steer:
        heads = [net.add("Mul", f"out{n}/steer", each, steer) for n, each in enumerate(heads)]
    flat = [net.add("GlobalAveragePool", "head/pool", each) for each in heads]
    return net.finish(net.add("Concat", "head/join", *flat, axis=1))


def make_pan(*dims: int | str, levels: int = 3) -> Model:
    """Return a way upwards and one downwards behind a backbone, joined at each level."""
    net = Pyramid(*dims)
    maps = net.descend(levels)
    value, up = maps[-1], [maps[-1]]
    for level in reversed(range(levels - 1)):
        value = net.add(
            "Concat", f"join{level}", net.double(f"up{level}", value), maps[level], axis=1
        )
        value = net.block(f"top{level}", value, 8 << level, 1, level + 2)
        up.insert(0, value)
    found = [value]
    for level in range(1, levels):
        value = net.block(f"down{level}", value, 8 << level, 2, level + 1)
        value = net.add("Concat", f"merge{level}", value, up[level], axis=1)
        value = net.block(f"low{level}", value, 8 << level, 1, level + 3)
        found.append(value)
    flat = [net.add("GlobalAveragePool", "head/pool", each) for each in found]
    return net.finish(net.add("Concat", "head/join", *flat, axis=1))


def middle(box: SceneBox) -> float:
    return box.y + box.height / 2


def is_lanes(model: Model, engine: LayoutEngine) -> bool:
    composer, view = Composer(engine), View(model, grouping="names")
    composer.compose(view, Labels())
    composed = composer.recall(view)
    return (
        composed is not None
        and composed.plan.level.lanes is not None
        and (composed.arranged.assembly.is_exact)
    )


@pytest.mark.parametrize("levels", [3, 4])
@pytest.mark.parametrize("dims", [(1, 3, 128, 128), ("batch", 3, 128, 96), (1, 2, 4096)])
def test_each_level_of_a_pyramid_is_a_row(
    engine: LayoutEngine, levels: int, dims: tuple[int | str, ...]
) -> None:
    scene = compose(make_fpn(*dims, levels=levels), engine)
    boxes = named(scene)
    for level in range(levels):
        stage, side, out = (boxes[f"{name}{level}"] for name in ("stage", "side", "out"))
        assert middle(stage) == pytest.approx(middle(side), abs=0.5)
        assert middle(side) == pytest.approx(middle(out), abs=0.5)
        edge = find_edge(scene, f"stage{level}", f"side{level}")
        assert edge.points[1] == pytest.approx(edge.points[-1], abs=0.1)  # a level line
        assert stage.x + stage.width < side.x < side.x + side.width < out.x
    stages = [boxes[f"stage{level}"] for level in range(levels)]
    assert all(middle(later) - middle(one) > 40 for one, later in pairwise(stages))
    assert len({round(box.x + box.width / 2) for box in stages}) == 1  # one above another
    sums = [boxes[f"sum{level}"] for level in range(levels - 1)]
    assert len({round(box.x + box.width / 2) for box in sums}) == 1
    for level in range(levels - 1):  # values flow upwards there
        edge = find_edge(scene, f"up{level}", f"sum{level}")
        assert edge.points[1] > edge.points[-1]
        assert edge.points[0] == pytest.approx(edge.points[-2], abs=0.1)
    outs = [boxes[f"out{level}"] for level in range(levels)]
    assert len({round(box.x + box.width / 2) for box in outs}) == 1
    assert boxes["head"].x > boxes["out0"].x + boxes["out0"].width
    check_edges(scene)


@pytest.mark.parametrize("levels", [3, 4])
def test_a_way_down_behind_one_up_is_a_column_of_its_own(engine: LayoutEngine, levels: int) -> None:
    scene = compose(make_pan(1, 3, 256, 256, levels=levels), engine)
    boxes = named(scene)
    for level in range(levels - 1):
        for one, other in ((f"stage{level}", f"join{level}"), (f"top{level}", f"merge{level}")):
            if other in boxes:
                edge = find_edge(scene, one, other)
                assert edge.points[1] == pytest.approx(edge.points[-1], abs=0.1)
                assert boxes[one].x + boxes[one].width < boxes[other].x
    lows = [middle(boxes[f"low{level}"]) for level in range(1, levels)]
    assert lows == sorted(lows)
    tops = [middle(boxes[f"top{level}"]) for level in range(levels - 1)]
    assert tops == sorted(tops)
    columns = [boxes[name] for name in ("stage0", "top0", "down1", "head")]
    assert all(one.x + one.width < other.x for one, other in pairwise(columns))
    check_edges(scene)


def test_a_resolution_is_told_once(engine: LayoutEngine) -> None:
    scene = compose(make_pan(1, 3, 256, 256), engine)
    told = [edge.label for edge in scene.edges if " × " in edge.label]
    assert told == ["128 × 128 × 8", "64 × 64 × 8", "32 × 32 × 16"]


def test_what_every_sum_takes_by_name_is_at_its_side(engine: LayoutEngine) -> None:
    scene = compose(make_fpn(1, 3, 128, 128, levels=4, steered=True), engine)
    stubs = [box for box in scene.boxes if box.item.kind == "stub"]
    assert len(stubs) > 2
    check_edges(scene)


@pytest.mark.parametrize("opened", ["stage1", "out1", "out2", "stem", "head"])
def test_an_open_group_is_reached_around(engine: LayoutEngine, opened: str) -> None:
    model = make_fpn(1, 3, 128, 128)
    view, composer = View(model, grouping="names"), Composer(engine)
    before = composer.compose(view, Labels())
    view.open(f"main/{opened}/")
    scene = composer.compose(view, Labels())
    check_edges(scene)
    frame = next(box for box in scene.boxes if box.item.key == f"main/{opened}/")
    outside = [
        edge
        for edge in scene.edges
        if all(end < 0 or scene.boxes[end].parent == frame.parent for end in edge[2:4])
    ]
    for edge in outside:  # values come to an open group above, and leave it below
        if scene.boxes[edge.target] is frame:
            assert edge.points[-1] == pytest.approx(frame.y, abs=0.1)
        if scene.boxes[edge.source] is frame:
            assert edge.points[1] == pytest.approx(frame.y + frame.height, abs=0.1)
    view.close(f"main/{opened}/")
    after = composer.compose(view, Labels())
    assert [box[1:5] for box in after.boxes] == [box[1:5] for box in before.boxes]


def test_the_same_lanes_are_drawn_each_time(engine: LayoutEngine) -> None:
    model = make_pan(1, 3, 256, 256)
    one, other = compose(model, engine), compose(model, engine)
    assert [edge.points for edge in one.edges] == [edge.points for edge in other.edges]


def test_one_way_through_resolutions_makes_no_lanes(engine: LayoutEngine) -> None:
    assert is_lanes(make_fpn(1, 3, 128, 128), engine)
    assert is_lanes(make_pan(1, 3, 256, 256), engine)
    net = Pyramid(1, 3, 256, 256)
    assert not is_lanes(net.finish(net.descend(4)[-1]), engine)


def test_a_head_at_each_level_is_beside_it(engine: LayoutEngine) -> None:
    net = Pyramid(1, 3, 256, 256)
    heads = [net.block(f"out{n}", each, 8, acts=2 + n) for n, each in enumerate(net.descend(4))]
    scene = compose(net.finish(*heads), engine)
    boxes = named(scene)
    stages = [boxes[f"stage{level}"] for level in range(4)]
    assert len({round(box.x + box.width / 2) for box in stages}) == 1
    for level, stage in enumerate(stages):
        assert middle(stage) == pytest.approx(middle(boxes[f"out{level}"]), abs=0.5)
    check_edges(scene)


@pytest.mark.parametrize("is_joined", [False, True])
def test_two_heads_at_each_level_come_together_at_the_side(
    engine: LayoutEngine, is_joined: bool
) -> None:
    """A detector of single shots: boxes and scores of all levels are put together."""
    net = Pyramid(1, 3, 256, 256)
    maps = net.descend(4)
    found = []
    for number, kind in enumerate(("cls", "reg")):
        heads = [
            net.block(f"{kind}{n}", each, 4 + number, acts=1 + n + number)
            for n, each in enumerate(maps)
        ]
        flat = [net.add("Flatten", f"join_{kind}/flat{n}", each) for n, each in enumerate(heads)]
        found.append(net.add("Concat", f"join_{kind}/all", *flat, axis=1))
    if is_joined:
        found = [net.add("Mul", "scored", net.add("Sigmoid", "join/act", found[0]), found[1])]
    model = net.finish(*found)
    assert is_lanes(model, engine)
    scene = compose(model, engine)
    boxes = named(scene)
    for level in range(4):
        stage = boxes[f"stage{level}"]
        for kind in ("cls", "reg"):
            head = boxes[f"{kind}{level}"]
            assert stage.x + stage.width < head.x
            assert head.x + head.width < min(boxes["join_cls"].x, boxes["join_reg"].x)
    check_edges(scene)


def test_two_pathways_with_fusions_run_side_by_side(engine: LayoutEngine) -> None:
    net = Pyramid(1, 3, 256, 256)
    fast = net.block("fast0", "x", 4, 2)
    slow = net.block("slow0", "x", 8, 4)
    for level in range(1, 4):
        fused = net.block(f"fuse{level}", fast, 8, 2)
        slow = net.add("Concat", f"join{level}", slow, fused, axis=1)
        fast = net.block(f"fast{level}", fast, 4 << level, 2, level)
        slow = net.block(f"slow{level}", slow, 8 << level, 2, level + 1)
    means = [net.add("GlobalAveragePool", f"pool{n}", each) for n, each in enumerate((fast, slow))]
    model = net.finish(net.convolve("head", net.add("Concat", "all", *means, axis=1), 5))
    assert is_lanes(model, engine)
    scene = compose(model, engine)
    boxes = named(scene)
    for kind in ("fast", "slow"):
        middles = {round(box.x + box.width / 2) for name, box in boxes.items() if kind in name}
        assert len(middles) == 1
    check_edges(scene)


def test_what_comes_in_at_several_resolutions_is_in_their_rows(engine: LayoutEngine) -> None:
    """A neck in a group of its own: values come from the border, and go there, in outer gutters."""
    net = Pyramid(1, 3, 256, 256)
    maps = net.descend(3)
    for level in (1, 0):
        value = net.double(f"neck/up{level}", maps[level + 1])
        value = net.add("Concat", f"neck/join{level}", value, maps[level], axis=1)
        maps[level] = net.block(f"neck/top{level}", value, 8 << level, 1, level + 2)
    for level in (1, 2):
        value = net.block(f"neck/down{level}", maps[level - 1], 8 << level, 2, level + 1)
        value = net.add("Concat", f"neck/merge{level}", value, maps[level], axis=1)
        maps[level] = net.block(f"neck/low{level}", value, 8 << level, 1, level + 3)
    heads = [net.convolve(f"head{n}/conv", each, 4) for n, each in enumerate(maps)]
    scene = compose(net.finish(*heads), engine, "main/neck/")
    check_edges(scene)
    frame = next(n for n, box in enumerate(scene.boxes) if box.item.key == "main/neck/")
    inside = {box.item.label: box for box in scene.boxes if box.parent == frame}
    assert inside["top0"].y < inside["top1"].y < inside["low2"].y
    assert inside["top0"].x + inside["top0"].width < inside["low1"].x
    for edge in scene.edges:
        if edge.source == frame and scene.boxes[edge.target].parent == frame:
            assert edge.points[0] < inside["top1"].x
        if edge.target == frame and scene.boxes[edge.source].parent == frame:
            assert edge.points[-2] > inside["top1"].x + inside["top1"].width


def test_a_resolution_that_is_not_known_makes_no_lanes(engine: LayoutEngine) -> None:
    """A row would say at which resolution a box works."""
    net = Pyramid(1, 3, 128, 128)
    maps = net.descend(3)
    hidden = net.add("Unknown", "stage3/own", maps[-1], domain="elsewhere")
    net.widths[hidden] = 8
    value = hidden
    for level in reversed(range(3)):
        value = net.add("Add", f"sum{level}", net.double(f"up{level}", value), maps[level])
        value = net.block(f"out{level}", value, 8, acts=2 + level)
    assert not is_lanes(net.finish(value), engine)


def make_places(width: float, height: float, *lines: tuple[float, float, float, float]) -> Places:
    def curve(x0: float, y0: float, x1: float, y1: float) -> tuple[float, ...]:
        step = (x1 - x0) / 3, (y1 - y0) / 3
        return (
            *(x0, y0, x0 + step[0], y0 + step[1]),
            *(x0 + 2 * step[0], y0 + 2 * step[1], x1, y1),
        )

    none = np.zeros((0, 2))
    return Places(width, height, none, none, none, Curves.of(curve(*line) for line in lines))


def test_lanes_are_refused_where_they_read_worse() -> None:
    ordinary = make_places(1100, 800, (0, 0, 0, 400), (50, 0, 50, 400))
    assert reads_better(make_places(1100, 800, (0, 0, 0, 450), (50, 0, 50, 450)), ordinary)
    assert not reads_better(make_places(2200, 800, (0, 0, 0, 400), (50, 0, 50, 400)), ordinary)
    assert not reads_better(make_places(1100, 800, (0, 0, 0, 400), (50, 0, 50, 800)), ordinary)
    assert not reads_better(make_places(1600, 400, (0, 0, 0, 100)), ordinary)  # a strip
    # much less to follow may be smaller
    assert reads_better(make_places(1100, 1400, (0, 0, 0, 500)), ordinary)
    assert not reads_better(make_places(1100, 1400, (0, 0, 0, 700)), ordinary)
    crossing = make_places(1100, 800, (0, 0, 300, 300), (0, 300, 300, 0))
    assert not reads_better(crossing, make_places(1100, 800, (0, 0, 0, 330), (50, 0, 50, 330)))


def test_lines_in_a_gutter_are_ordered_so_that_few_cross() -> None:
    down = [Line([at], [at + 100]) for at in (0.0, 20.0, 40.0)]
    assert order_tracks(down) == [2, 1, 0]
    up = [Line([at + 100], [at]) for at in (0.0, 20.0, 40.0)]
    assert order_tracks(up) == [0, 1, 2]


def test_a_large_level_takes_no_longer(engine: LayoutEngine) -> None:
    model = make_pan(1, 3, 1 << 12, 1 << 12, levels=7)
    compose(model, engine)
    start = time.perf_counter()
    compose(model, engine)
    assert time.perf_counter() - start < 10


def test_as_many_tokens_are_no_resolutions_of_one_picture() -> None:
    """Series of 11, 7 and 4 variates were not halved from one another; 11, 6 and 3 steps may be."""

    def list_rows(*sizes: int) -> dict[int, int]:
        return find_ladder(Level("TB"), [Maps(sizes, is_picture=True, has_places=True)])

    assert list_rows(11, 7, 4) == {}
    assert list_rows(11, 6, 3) == {11: 0, 6: 1, 3: 2}
    assert list_rows(50 * 50, 25 * 25, 13 * 13) == {2500: 0, 625: 1, 169: 2}
