"""A picture in columns keeps everything, and is cut only where one value passes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from onnx import helper

from netloupe.explorer.layout import Composer, LayoutEngine, Scene
from netloupe.explorer.layout.column_cutter import ColumnCutter, choose_cuts
from netloupe.explorer.layout.cuts import Cut
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.picture import Picture, make_picture
from netloupe.explorer.view import ViewOptions
from tests.corpus import corpus_file, light_file
from tests.scene_check import find_geometry_faults

_MODELS = [
    light_file("light_resnet50.onnx"),
    light_file("light_squeezenet.onnx"),
    light_file("light_inception_v2.onnx"),
    corpus_file("exported/gpt2.legacy.onnx"),
    corpus_file("exported/t5.legacy.onnx"),
    corpus_file("exported/segformer.dynamo.onnx"),
    corpus_file("exported/vae_decoder.dynamo.onnx"),
    corpus_file("exported/lstm.legacy-functions.onnx"),  # a call with an input that it never uses
]
_EACH = pytest.mark.parametrize("path", _MODELS, ids=[path.name for path in _MODELS])


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


@pytest.fixture(scope="module")
def draw(engine: LayoutEngine) -> object:
    @cache
    def make(path: Path, direction: str = "TB") -> Picture:
        options = ViewOptions.parse({"wrap": False, "direction": direction, "expand": 2})
        return make_picture(load(path), options, composer=Composer(engine), deadline=600)

    return make


def make_chain(length: int, *, branches: bool = False) -> bytes:
    """Return operators in a row, or in two rows beside each other that meet at the end."""
    nodes = []
    for row in "ab" if branches else "a":
        last = "x"
        for number in range(length):
            nodes.append(
                helper.make_node("Relu", [last], [f"{row}{number}"], name=f"{row}{number}")
            )
            last = f"{row}{number}"
    ends = [f"{row}{length - 1}" for row in ("ab" if branches else "a")]
    nodes.append(helper.make_node("Sum", ends, ["y"], name="sum"))
    x, y = (helper.make_tensor_value_info(name, 1, [4]) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y])
    return helper.make_model(graph).SerializeToString()


def picture_of(data: bytes, engine: LayoutEngine, **options: object) -> Picture:
    checked = ViewOptions.parse({"grouping": "none", **options})
    return make_picture(load(data), checked, composer=Composer(engine))


def list_tops(scene: Scene) -> list[float]:
    """Return where columns begin, seen by the left ends of what is in them."""
    return sorted({round(box.x) for box in scene.boxes})


@_EACH
@pytest.mark.parametrize("direction", ["TB", "LR"])
def test_columns_keep_every_box_edge_and_port(path: Path, direction: str, draw: object) -> None:
    picture: Picture = draw(path, direction)  # type: ignore[operator]
    before, cutter = picture.scene, ColumnCutter(picture.scene, picture.labels)
    assert cutter.most >= 3
    for count in (2, 3, 5):
        columns = cutter.columns(count)
        scene = columns.draw()
        assert columns.count == min(count, cutter.most)
        assert (scene.width, scene.height) == columns.size
        assert find_geometry_faults(scene) == []
        kept = [box for box in scene.boxes if box.enters is None]
        assert [box.item.key for box in kept] == [box.item.key for box in before.boxes]
        whole = [box for box in scene.boxes if not box.item.is_open]
        sizes = {box.item.key: (box.width, box.height) for box in before.boxes}
        assert [(box.width, box.height) for box in whole] == [sizes[b.item.key] for b in whole]
        assert [e.path for e in scene.edges] == [e.path for e in before.edges]
        assert [p.path for p in scene.ports] == [p.path for p in before.ports]
        ends = [
            (scene.boxes[e.source].item.key, scene.boxes[e.target].item.key) for e in scene.edges
        ]
        assert ends == [
            (before.boxes[e.source].item.key, before.boxes[e.target].item.key) for e in before.edges
        ]


@_EACH
def test_one_value_at_most_passes_a_cut(path: Path, draw: object) -> None:
    picture: Picture = draw(path)  # type: ignore[operator]
    scene = picture.scene
    cuts = ColumnCutter(scene, picture.labels)._cuts
    for cut in cuts:
        y = cut.y + 1
        for box in scene.boxes:
            assert box.item.is_open or not box.y < y < box.y + box.height
        open_here = [b for b in scene.boxes if b.item.is_open and b.y < y < b.y + b.height]
        assert len(open_here) == cut.depth == len({box.depth for box in open_here})
        crossing = {edge.path for edge in scene.edges if edge.points[1] < y < edge.points[-1]}
        assert len(crossing) <= 1


@_EACH
def test_groups_go_on_in_the_next_column_with_a_frame_of_their_own(
    path: Path, draw: object
) -> None:
    picture: Picture = draw(path)  # type: ignore[operator]
    cutter = ColumnCutter(picture.scene, picture.labels)
    inner = [cut for cut in cutter._cuts if cut.depth]
    scene = cutter.columns(cutter.most).draw()
    begun = [box for box in scene.boxes if box.leaves is not None]
    gone_on = [box for box in scene.boxes if box.enters is not None]
    assert len(begun) == len(gone_on) == sum(cut.depth for cut in inner)
    for box in [*begun, *gone_on]:
        for place in filter(None, (box.enters, box.leaves)):
            assert 0 < place < box.width


def test_more_columns_are_lower_and_others(draw: object) -> None:
    picture: Picture = draw(_MODELS[0])  # type: ignore[operator]
    cutter = ColumnCutter(picture.scene, picture.labels)
    two, three = cutter.columns(2).draw(), cutter.columns(3).draw()
    assert three.height < two.height < picture.scene.height
    assert two.boxes != three.boxes
    assert cutter.columns(3).draw().boxes == three.boxes


def test_branches_beside_each_other_are_not_cut(engine: LayoutEngine) -> None:
    one = picture_of(make_chain(40, branches=True), engine, wrap=False)
    assert ColumnCutter(one.scene, one.labels).most == 3  # above them and below
    wrapped = picture_of(make_chain(40, branches=True), engine, wrap=6)
    assert any("branches run beside each other" in notice for notice in wrapped.notices)
    chain = picture_of(make_chain(40), engine, wrap=6)
    assert chain.notices == []
    assert len(list_tops(chain.scene)) > 1


def test_what_fits_the_window_stays_in_one_column(engine: LayoutEngine) -> None:
    data = make_chain(40)
    plain = picture_of(data, engine, wrap=False).scene
    assert plain.height > 1_500
    wide = picture_of(data, engine, fit=(400, 3_000)).scene
    assert (wide.width, wide.height) == (plain.width, plain.height)
    wrapped = picture_of(data, engine).scene
    assert wrapped.height < 1_000
    low, high = (picture_of(data, engine, fit=fit).scene for fit in ("3000x350", "600x1000"))
    assert low.height < wrapped.height < high.height
    assert low.width > wrapped.width > high.width


def test_a_second_input_further_down_is_no_chain(draw: object) -> None:
    """An encoder and a decoder are torn apart by columns, unless somebody asks for them."""
    picture: Picture = draw(corpus_file("exported/t5.legacy.onnx"))  # type: ignore[operator]
    scene = picture.scene
    later = max(box.y + box.height for box in scene.boxes if box.item.kind == "input")
    assert any(cut.y < later for cut in ColumnCutter(scene, picture.labels)._cuts)
    after = ColumnCutter(scene, picture.labels, after_inputs=True)._cuts
    assert after
    assert all(cut.y >= later for cut in after)


@pytest.mark.parametrize("count", [2, 3, 5, 9])
def test_columns_are_even_and_begin_between_groups_where_they_can(count: int) -> None:
    cuts = [Cut(float(y), y, 0 if y % 200 == 0 else 1) for y in range(50, 2_000, 50)]
    chosen = choose_cuts(cuts, 2_000.0, count)
    assert len(chosen) == count - 1
    bounds = [0.0, *(cut.y for cut in chosen), 2_000.0]
    longest = max(end - begin for begin, end in pairwise(bounds))
    assert longest <= 2_000 / count * 1.35 + 50
    if count in (2, 5):
        assert {cut.depth for cut in chosen} == {0}


def test_very_many_cuts_are_chosen_among_quickly_and_evenly() -> None:
    cuts = [Cut(float(y), y, y % 3) for y in range(1, 300_000, 3)]
    chosen = choose_cuts(cuts, 300_000.0, 200)
    assert len(chosen) == 199
    bounds = [0.0, *(cut.y for cut in chosen), 300_000.0]
    assert max(end - begin for begin, end in pairwise(bounds)) < 2 * 300_000 / 200


def test_there_are_so_many_columns_as_asked_for_where_there_are_cuts() -> None:
    cuts = [Cut(float(y), y, 0) for y in (10, 20, 30, 1_500)]
    assert [len(choose_cuts(cuts, 2_000.0, count)) for count in (1, 2, 3, 4, 5)] == [0, 1, 2, 3, 4]


def test_a_strip_is_cut_and_a_short_chain_is_not(engine: LayoutEngine) -> None:
    """Nothing is drawn over 3 : 1 that fits its window, but for what is short in any case."""
    strip = picture_of(make_chain(15), engine).scene
    plain = picture_of(make_chain(15), engine, wrap=False).scene
    assert plain.height < 800  # it would fit
    assert plain.height > 3 * plain.width
    assert strip.height <= 3 * strip.width
    assert len(list_tops(strip)) == 2
    short = picture_of(make_chain(5), engine).scene
    assert short.height > 2 * short.width
    assert len({box.x + box.width / 2 for box in short.boxes}) == 1


def make_chain_behind_branches(length: int, tail: int) -> bytes:
    """Return four rows beside each other, which are not cut, and a chain where they meet."""
    nodes = []
    for row in "abcd":
        names = ["x", *(f"{row}{number}" for number in range(length))]
        nodes += [
            helper.make_node("Relu", [before], [after], name=after)
            for before, after in pairwise(names)
        ]
    ends = [f"{row}{length - 1}" for row in "abcd"]
    nodes.append(helper.make_node("Sum", ends, ["t0"], name="sum"))
    names = [*(f"t{number}" for number in range(tail)), "y"]
    nodes += [
        helper.make_node("Abs", [before], [after], name=after) for before, after in pairwise(names)
    ]
    x, y = (helper.make_tensor_value_info(name, 1, [4]) for name in "xy")
    return helper.make_model(helper.make_graph(nodes, "g", [x], [y])).SerializeToString()


@pytest.mark.parametrize(("tail", "count"), [(4, 1), (16, 2)])
def test_a_few_boxes_at_the_end_are_no_column(engine: LayoutEngine, tail: int, count: int) -> None:
    data = make_chain_behind_branches(18, tail)
    scene = picture_of(data, engine, fit="1100x700").scene
    plain = picture_of(data, engine, fit="1100x700", wrap=False).scene
    assert (scene.width > plain.width) is (count > 1)


@pytest.mark.parametrize(("zoom", "count"), [(0.63, 2), (0.67, 1)])
def test_columns_are_for_what_could_not_be_read(
    engine: LayoutEngine, zoom: float, count: int
) -> None:
    data = make_chain(32)
    asked = picture_of(data, engine, wrap=2).scene
    plain = picture_of(data, engine, wrap=False).scene
    height = round(plain.height * zoom)
    room = f"{height // 3 - 10}x{height}"  # as narrow as what would otherwise be a strip
    assert asked.width < height // 3 - 10
    scene = picture_of(data, engine, fit=room).scene
    assert (scene.width > plain.width) is (count > 1)


def make_deep_blocks(blocks: int, length: int) -> bytes:
    """Return like blocks of operators in a row, between a few others."""
    nodes, last = [], "x"
    names = [
        *(f"stem.{number}/a" for number in range(3)),
        *(f"layers.{block}/n{number}" for block in range(blocks) for number in range(length)),
        *(f"head.{number}/b" for number in range(3)),
    ]
    kinds = ["Relu", "Neg", "Abs", "Sin", "Cos", "Exp", "Tanh", "Floor", "Ceil", "Sqrt"]
    for number, name in enumerate(names):
        kind = kinds[int(name.split("/n")[1]) % len(kinds)] if "/n" in name else "Relu"
        nodes.append(helper.make_node(kind, [last], [f"v{number}"], name=f"/{name}"))
        last = f"v{number}"
    nodes.append(helper.make_node("Identity", [last], ["y"], name="/out"))
    x, y = (helper.make_tensor_value_info(name, 1, [4]) for name in "xy")
    return helper.make_model(helper.make_graph(nodes, "g", [x], [y])).SerializeToString()


@pytest.mark.parametrize("direction", ["TB", "LR"])
def test_the_one_repetition_that_stands_for_all_is_not_cut(
    engine: LayoutEngine, direction: str
) -> None:
    data = make_deep_blocks(6, 18)
    options = {"grouping": "names", "expand": 2, "direction": direction, "fit": "900x700"}
    plain = picture_of(data, engine, **options, wrap=False)
    whole = next(box for box in plain.scene.boxes if box.item.repetition is not None)
    asked = picture_of(data, engine, **options, wrap=3).scene
    assert any(box.leaves is not None for box in asked.boxes)  # cut where somebody asks for it
    scene = picture_of(data, engine, **options).scene
    frames = [box for box in scene.boxes if box.item.repetition is not None]
    assert [(box.enters, box.leaves) for box in frames] == [(None, None)]
    assert frames[0].width == whole.width
    assert (scene.width, scene.height) != (plain.scene.width, plain.scene.height)
