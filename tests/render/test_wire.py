"""Scenes as messages: whole, and by what is new; read back by the format's description."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netloupe.explorer.grouping import Group
from netloupe.explorer.layout import Composer, LayoutEngine, Scene
from netloupe.explorer.model import Model, Node
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.wire import SceneEncoder
from netloupe.explorer.view import Item, View, expand_view
from netloupe.proto import caffe2_pb2
from tests.corpus import corpus_file
from tests.graph_strategies import random_models
from tests.layout.test_geometry import chain_of_layers
from tests.view.test_bundles import make_pair
from tests.wire_reader import SceneReader


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def row_texts(item: Item) -> list[str]:
    """Return what the rows of an item are said to stand for."""
    if item.is_open and item.repeat is not None:
        told = [str(len(item.repeat.children)), "-1" if item.is_unrolled else str(item.shown)]
        shown = item.repetition
        has_no_box = isinstance(shown, Group) and shown.kind != "repeat"
        return [*told, item.instance.path_of(shown.path)] if shown and has_no_box else told
    if item.kind in ("stub", "input", "output") and item.merged:
        (values,) = item.merged.values()
        return [value.path for value in values]
    if item.is_open and isinstance(item.element, Node) and item.element.function is not None:
        return [item.element.function.path]
    return [] if item.is_open else [row.path for row in item.constants]


def check_bundles(reader: SceneReader, view: View) -> None:
    """Compare the values of edges with those of the view's links."""
    wanted = [
        [value.path for value in link.bundle]
        for item in view.open_items()
        for link in view.links(item)
        if link.count > 1
    ]
    assert sorted(reader.bundles()) == sorted(wanted)


def check(reader: SceneReader, scene: Scene) -> None:
    """Compare what was read with what was written."""
    read = reader.boxes()
    assert [box[0] for box in read] == [box.item.key for box in scene.boxes]
    for found, box in zip(read, scene.boxes, strict=True):
        assert found[1:5] == pytest.approx((box.x, box.y, box.width, box.height), abs=0.01)
        assert found[5] == box.parent
        assert bool(found[6] & 1) == box.item.is_open
        assert found[7] == row_texts(box.item)
    edges = reader.edges()
    assert len(edges) == len(scene.edges)
    for (path, label, arrow, points), edge in zip(edges, scene.edges, strict=True):
        assert (path, label, arrow) == (edge.path, edge.label, edge.arrow)
        assert points == pytest.approx(edge.points, abs=0.03)
    assert sum(len(level.form.ports) for level in reader.levels.values()) == len(scene.ports)
    counts = reader.header["counts"]
    assert counts["boxes"] == len(scene.boxes)
    assert counts["edges"] == len(scene.edges)
    assert counts["ports"] == len(scene.ports)
    assert counts["levels"] == len(reader.levels)


def test_opening_sends_what_is_new(engine: LayoutEngine) -> None:
    view = View(chain_of_layers(200))
    expand_view(view, "all")
    labels, composer = Labels(), Composer(engine)
    encoder, reader = SceneEncoder(labels.faces), SceneReader()
    scene = composer.compose(view, labels)
    whole = encoder.encode(scene)
    reader.read(*whole)
    check(reader, scene)
    assert len(reader.levels) == 202  # the root, the repeat and its layers
    assert len(reader.forms) <= 5  # the levels look alike
    view.close("main/layer7/")
    scene = composer.compose(view, labels)
    reader.read(*encoder.encode(scene))
    check(reader, scene)
    assert "main/layer7/n0" not in reader.paths()
    view.open("main/layer7/")
    scene = composer.compose(view, labels)
    header, buffers = encoder.encode(scene)
    reader.read(header, buffers)
    check(reader, scene)
    assert header["levels"] == 3  # the group and what is around it
    assert not header["faces"]
    assert "main/layer7/n0" in reader.paths()
    header, buffers = encoder.encode(composer.compose(view, labels))
    assert header["levels"] == 0
    assert sum(map(len, buffers)) == 0


def test_a_whole_scene_needs_nothing_before(engine: LayoutEngine) -> None:
    view = View(chain_of_layers(3))
    expand_view(view, "all")
    labels, composer = Labels(), Composer(engine)
    encoder = SceneEncoder(labels.faces)
    encoder.encode(composer.compose(view, labels))
    reader = SceneReader()
    scene = composer.compose(view, labels)
    reader.read(*encoder.encode(scene, whole=True))
    check(reader, scene)


def test_an_open_call_tells_which_function_it_shows(engine: LayoutEngine) -> None:
    view = View(load(corpus_file("features/functions_nested_transformer.onnx")))
    expand_view(view, "all")
    labels, composer = Labels(), Composer(engine)
    scene, reader = composer.compose(view, labels), SceneReader()
    reader.read(*SceneEncoder(labels.faces).encode(scene))
    check(reader, scene)
    assert any(row.startswith("functions/") for box in reader.boxes() for row in box[7])


def test_a_scene_without_levels_is_refused() -> None:
    with pytest.raises(ValueError, match="levels"):
        SceneEncoder(Labels().faces).encode(Scene(1, 1))


@settings(max_examples=40, deadline=None)
@given(random_models(), st.data())
def test_any_sequence_of_scenes(engine: LayoutEngine, model: Model, data: st.DataObject) -> None:
    view = View(model)
    labels, composer = Labels(), Composer(engine)
    encoder, reader = SceneEncoder(labels.faces), SceneReader()
    for _ in range(4):
        scene = composer.compose(view, labels)
        reader.read(*encoder.encode(scene, whole=data.draw(st.booleans())))
        check(reader, scene)
        choices = [item for item in view.items.values() if item.openable and item is not view.root]
        if choices:
            item = data.draw(st.sampled_from(choices))
            if item.is_open:
                view.close_item(item)
            else:
                view.open_item(item)


@pytest.mark.parametrize("users", [3, 10])
def test_edges_and_stubs_for_several_values_name_all_of_them(
    engine: LayoutEngine, users: int
) -> None:
    view = View(make_pair(30, users), grouping="names")
    labels, composer = Labels(), Composer(engine)
    encoder, reader = SceneEncoder(labels.faces), SceneReader()
    names = {"main/%mask", *(f"main/%v{number}" for number in range(30))}
    for path in (None, "main/give/", "main/c/"):
        if path is not None:
            view.open(path)
        scene = composer.compose(view, labels)
        reader.read(*encoder.encode(scene))
        check(reader, scene)
        check_bundles(reader, view)
        assert any(set(bundle) == names for bundle in reader.bundles())
        # to three users there are edges, to ten there are stubs
        stubs = [set(box[7]) for box in reader.boxes() if box[0].startswith("main/%v0 ")]
        assert stubs == ([] if users == 3 else [names] * (users + 1))


def test_paths_of_edges_are_those_of_blobs_written_again(engine: LayoutEngine) -> None:
    net = caffe2_pb2.NetDef(name="net", external_input=["x"], external_output=["x"])
    for op_type in ("Relu", "Softmax", "Tanh"):
        net.op.add(type=op_type, input=["x"], output=["x"])
    model = load(net.SerializeToString())
    scene = Composer(engine).compose(View(model), Labels())
    paths = {edge.path for edge in scene.edges}
    assert len(paths) == 4  # as many as the blob has versions
    assert all(model[path].path == path for path in paths)
