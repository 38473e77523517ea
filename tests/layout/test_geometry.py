"""Where things are: boxes apart and inside one another, edges and ports on the borders."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netloupe.explorer.errors import LayoutError
from netloupe.explorer.layout import Composer, LayoutEngine, Scene
from netloupe.explorer.layout.placement import Curve, Curves, sample_pieces
from netloupe.explorer.model import Model
from netloupe.explorer.options import Direction
from netloupe.explorer.progress import Cancelled, watched
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.picture import Picture, make_picture, render_picture
from netloupe.explorer.view import View, ViewOptions, expand_view
from netloupe.proto import onnx_pb2
from tests.corpus import LIGHT_MODELS, light_file, shared_model
from tests.graph_strategies import random_models
from tests.onnx_text import load_text
from tests.scene_check import find_geometry_faults
from tests.trees import Change, make_view, random_changes, take_random_step
from tests.wiring_check import find_lost_edges

MODELS = [
    "exported/gpt2.legacy.onnx",
    "exported/vit.dynamo.onnx",
    "exported/condloop.dynamo.onnx",
    "exported/scripted.legacy.onnx",
    "exported/lstm.legacy-functions.onnx",
    "quantized/bert.qdq.onnx",
    "features/control_flow_3deep.onnx",
    "features/functions_nested_transformer.onnx",
    "hostile/scope_cycle.onnx",
    "hostile/cycle_self.onnx",
    "hostile/cycle_scc_dense.onnx",
    "hostile/empty_subgraph.onnx",
    "hostile/evil_names.onnx",
    "hostile/parallel_edges.onnx",
    "hostile/zero_nodes.onnx",
    "hostile/name_1mb_nospace_unicode.onnx",
]


class BrokenEngine(LayoutEngine):
    """An engine that never gives a layout."""

    def place(self, *_: object, **__: object) -> None:  # type: ignore[override]
        raise LayoutError("Graphviz failed: it is broken")


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def draw(
    model: Model,
    engine: LayoutEngine,
    *,
    expand: str | int = "auto",
    direction: str = "TB",
    grouping: str = "auto",
) -> Picture:
    options = ViewOptions.parse({"expand": expand, "direction": direction, "grouping": grouping})
    return make_picture(model, options, composer=Composer(engine), deadline=600)


def check(picture: Picture) -> Scene:
    assert picture.notices == []
    assert find_geometry_faults(picture.scene, picture.view, picture.insets) == []
    return picture.scene


BRANCHES = """
g (bool c, int64 n, float[N] x) => (float[N] y, float[N] z) {
    [pre] p = Relu (x)
    [loop] l, z = Loop (n, c, p, x) <body = b (int64 i, bool cin, float[N] s, float[N] same)
        => (bool cin, float[N] t, float[N] same) {
        [mul] m = Mul (s, x)
        [add] t = Add (m, p)
    }>
    [if] y = If (c) <
        then_branch = then () => (float[N] a) { [neg] a = Neg (l) },
        else_branch = else () => (float[N] l) { }
    >
}"""


@pytest.mark.parametrize("direction", ["TB", "LR"])
def test_bodies_and_values_that_only_pass_through(engine: LayoutEngine, direction: str) -> None:
    scene = check(draw(load_text(BRANCHES), engine, expand="all", direction=direction))
    data = [edge for edge in scene.edges if edge.kind != "loop"]
    through = [edge for edge in data if edge.source == edge.target >= 0]
    assert len(through) == 2  # `same` in the loop, `l` in the else branch
    assert {port.path for port in scene.ports} >= {"main/%x", "main/%p", "main/%l", "main/%y"}


@pytest.mark.parametrize("direction", ["TB", "LR"])
def test_values_flow_in_one_direction(engine: LayoutEngine, direction: str) -> None:
    scene = check(draw(load_text(BRANCHES), engine, expand="all", direction=direction))
    axis = 1 if direction == "TB" else 0
    for edge in scene.edges:
        if edge.kind != "loop":  # it leads back
            assert edge.points[axis] < edge.points[-2 + axis]


def test_an_edge_ends_in_an_arrow_at_closed_boxes_only(engine: LayoutEngine) -> None:
    scene = check(draw(load_text(BRANCHES), engine, expand="all"))
    for edge in scene.edges:
        target = scene.boxes[edge.target]
        inside = edge.source >= 0 and scene.boxes[edge.source].parent == edge.target
        if not target.item.is_open:
            assert edge.arrow
        elif inside:
            assert not edge.arrow
    conditions = [
        edge for edge in scene.edges if edge.arrow and scene.boxes[edge.target].item.is_open
    ]
    assert conditions  # that of the If is used by nothing inside


def test_a_graph_without_nodes(engine: LayoutEngine) -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.SetInParent()
    picture = draw(load(proto.SerializeToString()), engine)
    assert picture.notices == ["main: nothing to draw: no nodes, inputs or outputs."]
    picture.notices.clear()
    scene = check(picture)
    assert scene.boxes == ()
    assert scene.width > 0


@pytest.mark.parametrize("direction", ["TB", "LR"])
@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_light_models(engine: LayoutEngine, name: str, direction: str) -> None:
    check(draw(shared_model(name), engine, direction=direction))


@pytest.mark.parametrize("direction", ["TB", "LR"])
@pytest.mark.parametrize("expand", ["auto", "all"])
@pytest.mark.parametrize("name", MODELS)
def test_corpus_models(engine: LayoutEngine, name: str, expand: str, direction: str) -> None:
    picture = draw(shared_model(name), engine, expand=expand, direction=direction)
    check(picture)
    assert find_lost_edges(picture.view) == []


@settings(max_examples=60)
@given(random_models(), st.sampled_from(["TB", "LR"]), st.sampled_from(["auto", "all", 1]))
def test_random_models(
    engine: LayoutEngine, model: Model, direction: str, expand: str | int
) -> None:
    check(draw(model, engine, expand=expand, direction=direction))


@settings(max_examples=60, deadline=None)
@given(random_models(), random_changes(), st.sampled_from(["TB", "LR"]), st.data())
def test_random_steps_among_repeats_and_shapes(
    engine: LayoutEngine, model: Model, change: Change, direction: Direction, data: st.DataObject
) -> None:
    view = make_view(model, change)
    composer, labels = Composer(engine), Labels()
    for _ in range(data.draw(st.integers(1, 4))):
        take_random_step(view, data)
        scene = composer.compose(view, labels, direction, deadline=600)
        assert scene.notices == ()
        assert find_geometry_faults(scene, view) == []


def check_simple(picture: Picture) -> None:
    assert all("simpler layout" in notice for notice in picture.notices)
    assert find_geometry_faults(picture.scene, picture.view, picture.insets) == []


@pytest.mark.parametrize("direction", ["TB", "LR"])
@pytest.mark.parametrize("name", [*MODELS[:2], *MODELS[5:]])
def test_the_simple_layout_of_corpus_models(name: str, direction: str) -> None:
    model = shared_model(name)
    check_simple(draw(model, BrokenEngine(), expand="all", direction=direction))


@settings(max_examples=60)
@given(random_models(), st.sampled_from(["TB", "LR"]))
def test_the_simple_layout_of_random_models(model: Model, direction: str) -> None:
    check_simple(draw(model, BrokenEngine(), expand="all", direction=direction))


def test_the_simple_layout_breaks_long_rows() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    for number in range(300):
        proto.graph.node.add(op_type="RandomNormal", output=[f"v{number}"])
    scene = draw(load(proto.SerializeToString()), BrokenEngine()).scene
    assert scene.width < 7000
    assert find_geometry_faults(scene) == []


def test_a_failing_engine_leaves_a_notice() -> None:
    picture = draw(load_text(BRANCHES), BrokenEngine(), expand="all")
    assert picture.notices == ["Shown with a simpler layout: Graphviz failed: it is broken."]


class CountingEngine(LayoutEngine):
    """An engine that counts what it is asked."""

    count = 0

    def place(self, *arguments: object, **options: object):  # type: ignore[no-untyped-def]
        self.count += 1
        return super().place(*arguments, **options)  # type: ignore[arg-type]


def chain_of_layers(count: int) -> Model:
    """Return layers of three nodes, each with an edge around the second."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.input.add(name="v0")
    for layer in range(count):
        for part in range(3):
            number = 3 * layer + part
            inputs = [f"v{number}"] if part < 2 else [f"v{number}", f"v{number - 1}"]
            proto.graph.node.add(
                op_type="Relu" if part < 2 else "Add",
                name=f"layer{layer}/n{part}",
                input=inputs,
                output=[f"v{number + 1}"],
            )
    proto.graph.output.add(name=f"v{3 * count}")
    return load(proto.SerializeToString())


def test_layers_alike_are_laid_out_once() -> None:
    counting = CountingEngine()
    view = View(chain_of_layers(4))
    expand_view(view, "all")
    composer = Composer(counting)
    try:
        scene = composer.compose(view, Labels())
        assert find_geometry_faults(scene, view) == []
        assert counting.count == 1  # the four layers; the chain of them needs no Graphviz
        view.close("main/layer2/")
        view.open("main/layer2/")
        composer.compose(view, Labels())
        assert counting.count == 1
    finally:
        counting.stop()


def test_the_same_picture_twice(engine: LayoutEngine) -> None:
    model = load(light_file("light_inception_v1.onnx"))
    first = render_picture(draw(model, engine), "svg")
    assert render_picture(draw(model, engine), "svg") == first
    other = LayoutEngine()
    try:
        assert render_picture(draw(model, other), "svg") == first
    finally:
        other.stop()


def test_the_same_picture_in_two_processes(tmp_path: Path) -> None:
    pictures = []
    for seed in ("1", "2"):
        script = (
            "import sys; from netloupe.explorer.readers.load import load\n"
            "load(sys.argv[1]).to_svg(sys.argv[2], expand='all')"
        )
        path = tmp_path / f"{seed}.svg"
        subprocess.run(
            [sys.executable, "-c", script, str(light_file("light_shufflenet.onnx")), str(path)],
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))},
        )
        pictures.append(path.read_bytes())
    assert pictures[0] == pictures[1]


def test_cancelling_between_layers(engine: LayoutEngine) -> None:
    view = View(load_text(BRANCHES))

    def end(what: str, share: float | None) -> None:
        if what == "laying out" and share:
            raise Cancelled

    with pytest.raises(Cancelled), watched(end):
        Composer(engine).compose(view, Labels())


def test_without_time_the_simple_layout_is_shown(engine: LayoutEngine) -> None:
    view = View(load_text(BRANCHES))
    scene = Composer(engine).compose(view, Labels(), deadline=0.0)
    assert scene.notices == (
        "Shown with a simpler layout: the layout took too long and was stopped.",
    )
    assert find_geometry_faults(scene, view) == []


def sample_curve(points: Curve, steps: int) -> list[tuple[float, float]]:
    pieces = sample_pieces(Curves.of([points]).list_controls(), steps)
    return [tuple(pieces[0, 0]), *(tuple(point) for piece in pieces for point in piece[1:])]


def test_points_on_a_curve() -> None:
    assert sample_curve((0, 0, 1, 0, 2, 0, 3, 0), 1) == [(0, 0), (3, 0)]
    curve = sample_curve((0, 0, 0, 3, 3, 3, 3, 0, 3, -1, 3, -2, 3, -3), 2)
    assert curve == [(0, 0), (1.5, 2.25), (3, 0), (3, -1.5), (3, -3)]


@pytest.mark.parametrize(
    ("name", "group", "value"),
    [
        (
            "built/genai_llama.matmulnbits_int4.onnx",
            "/layers.0-11/",
            "embed_tokens/Gather/output_0",
        ),
        ("exported/scripted.legacy.onnx", "main/Loop.body/If_1", "Cast_output_0"),
    ],
)
def test_what_ends_at_a_frame_has_an_arrow_and_no_port(
    engine: LayoutEngine, name: str, group: str, value: str
) -> None:
    options = ViewOptions.parse({})
    picture = make_picture(shared_model(name), options, composer=Composer(engine))
    scene = picture.scene
    frame = next(n for n, box in enumerate(scene.boxes) if box.item.path.endswith(group))
    entering = [e for e in scene.edges if e.target == frame and e.path.endswith(value)]
    assert [edge.arrow for edge in entering] == [True]
    end = entering[0].points[-2:]
    assert end not in [(port.x, port.y) for port in scene.ports]
    assert find_geometry_faults(scene, picture.view, picture.insets) == []
