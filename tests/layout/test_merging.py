"""Edges between the same two closed boxes: one line that says how many values it has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from netloupe import Paint
from netloupe.explorer.layout import Composer, LayoutEngine, Scene, SceneEdge
from netloupe.explorer.layout.labels import HEIGHT
from netloupe.explorer.options import Direction
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.svg import draw_svg
from netloupe.explorer.render.wire import SceneEncoder
from netloupe.explorer.view import View
from netloupe.proto import onnx_pb2
from tests.scene_check import find_geometry_faults


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def make_view(given: int = 3) -> View:
    """Return two groups with some values between them, and a node that takes two of these."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    graph = proto.graph
    graph.input.add(name="x")
    for number in range(given):
        graph.node.add(op_type="Relu", name=f"down/r{number}", input=["x"], output=[f"v{number}"])
        graph.node.add(
            op_type="Neg", name=f"up/n{number}", input=[f"v{number}"], output=[f"w{number}"]
        )
    graph.node.add(op_type="Concat", name="up/join", input=["w0", "w1", "w2"], output=["y"])
    graph.node.add(op_type="Mul", name="gate/Mul", input=["v0", "v1"], output=["z"])
    graph.node.add(op_type="Split", name="split/Split", input=["z"], output=["a", "b"])
    graph.node.add(op_type="Sub", name="difference/Sub", input=["a", "b"], output=["d"])
    graph.output.add(name="y")
    graph.output.add(name="d")
    return View(load(proto.SerializeToString()), grouping="names")


def list_edges(scene: Scene, source: str, target: str) -> list[SceneEdge]:
    """Return the edges from one box to another."""
    boxes = [box.item.path for box in scene.boxes]
    return [
        edge
        for edge in scene.edges
        if (boxes[edge.source], boxes[edge.target]) == (f"main/{source}", f"main/{target}")
    ]


VALUES = ("main/%v0", "main/%v1", "main/%v2")


def test_values_between_two_closed_groups_run_as_one_edge(engine: LayoutEngine) -> None:
    scene = Composer(engine).compose(make_view(), Labels())
    (edge,) = list_edges(scene, "down/", "up/")
    assert edge.bundle == edge.paths == VALUES
    assert edge.label == "×3"


def test_a_node_and_a_group_have_one_edge_but_two_nodes_one_for_each_operand(
    engine: LayoutEngine,
) -> None:
    scene = Composer(engine).compose(make_view(), Labels())
    (edge,) = list_edges(scene, "down/", "gate/Mul")
    assert (edge.bundle, edge.label) == (("main/%v0", "main/%v1"), "×2")
    singles = list_edges(scene, "split/Split", "difference/Sub")
    assert [(edge.path, edge.bundle) for edge in singles] == [("main/%a", ()), ("main/%b", ())]


@pytest.mark.parametrize("opened", ["down/", "up/"])
def test_edges_part_when_a_group_is_opened_and_meet_when_it_is_closed(
    engine: LayoutEngine, opened: str
) -> None:
    view, labels, composer = make_view(), Labels(), Composer(engine)
    before = composer.compose(view, labels)
    view.open(f"main/{opened}")
    scene = composer.compose(view, labels)
    assert find_geometry_faults(scene, view) == []
    parted = list_edges(scene, "down/", "up/")
    assert [(edge.path, edge.bundle) for edge in parted] == [(path, ()) for path in VALUES]
    ends = {edge.points[:2] if opened == "down/" else edge.points[-2:] for edge in parted}
    assert len(ends) == 3  # each has its own port
    view.close(f"main/{opened}")
    again = composer.compose(view, labels)
    assert list_edges(again, "down/", "up/") == list_edges(before, "down/", "up/")


def test_the_browser_gets_one_edge_for_all_its_values(engine: LayoutEngine) -> None:
    view, labels, composer = make_view(), Labels(), Composer(engine)
    encoder = SceneEncoder(labels.faces)
    counts, bundles = [], []
    for opened in (False, True, False):
        if opened:
            view.open("main/up/")
        elif counts:
            view.close("main/up/")
        scene = composer.compose(view, labels)
        header, buffers = encoder.encode(scene)
        counts.append(header["counts"]["edges"] == len(scene.edges))
        bundles.append('"main/%v0","main/%v1","main/%v2","main/%v0",' in buffers[2].decode())
    assert counts == [True] * 3
    assert bundles == [True, False, True]


@pytest.mark.parametrize("path", VALUES)
def test_each_value_marks_and_paints_the_edge_it_runs_along(
    engine: LayoutEngine, path: str
) -> None:
    labels = Labels()
    scene = Composer(engine).compose(make_view(), labels)
    plain = draw_svg(scene, labels.faces)
    assert "<title>" + "\n".join(VALUES) + "</title>" in plain
    assert draw_svg(scene, labels.faces, selected=frozenset([path])) != plain
    assert draw_svg(scene, labels.faces, paints={path: Paint("added")}) != plain


def test_values_that_leave_an_open_group_by_one_port_run_as_one(engine: LayoutEngine) -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    graph = proto.graph
    names = []
    for number in range(4):
        graph.input.add(name=f"x{number}")
        for operator, taken, given in (
            ("Relu", f"x{number}", f"a{number}"),
            ("Neg", f"a{number}", f"b{number}"),
            ("Tanh", f"b{number}", f"c{number}"),
        ):
            node = graph.node.add(op_type=operator, name=f"head.{number}/{operator}")
            node.input.append(taken)
            node.output.append(given)
        names.append(f"c{number}")
    graph.node.add(op_type="Concat", name="join/Concat", input=names, output=["y"])
    graph.output.add(name="y")
    view = View(load(proto.SerializeToString()), grouping="names")
    (repeat,) = [item for item in view.root.children if item.repeat is not None]
    for is_open in (False, True):
        if is_open:
            view.open(repeat.key)
        scene = Composer(engine).compose(view, Labels())
        assert find_geometry_faults(scene, view) == []
        (edge,) = [
            edge for edge in scene.edges if scene.boxes[edge.target].item.path == "main/join/Concat"
        ]
        assert edge.bundle == tuple(f"main/%c{number}" for number in range(4))
        assert edge.label == "×4"


def list_unsaid(scene: Scene) -> list[SceneEdge]:
    """Return the edges of several values of which neither a label nor a box says how many.

    What is one thing to a reader, as all states of one kind, is not counted.
    """
    unsaid = []
    for edge in scene.edges:
        ends = [scene.boxes[end].item for end in (edge.source, edge.target) if end >= 0]
        said = [sum(map(len, end.merged.values())) for end in ends if end.is_terminal]
        count = len(edge.bundle)
        is_one = any(end.of_one for end in ends)
        if count > 1 and not is_one and count not in said and edge.label != f"×{count}":
            unsaid.append(edge)
    return unsaid


def make_pyramid(count: int) -> View:
    """Return stages one behind another, and a head that projects what each gives and joins it."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    graph = proto.graph
    graph.input.add(name="x")
    above = "x"
    for number in range(count):
        for name, operator, taken, given in (
            (f"stages.{number}/relu", "Relu", above, f"a{number}"),
            (f"stages.{number}/neg", "Neg", f"a{number}", f"b{number}"),
            (f"head/projections.{number}/tanh", "Tanh", f"b{number}", f"c{number}"),
            (f"head/projections.{number}/sin", "Sin", f"c{number}", f"d{number}"),
        ):
            graph.node.add(op_type=operator, name=name, input=[taken], output=[given])
        above = f"b{number}"
    joined = [f"d{number}" for number in range(count)]
    graph.node.add(op_type="Concat", name="head/join", input=joined, output=["y"])
    graph.output.add(name="y")
    return View(load(proto.SerializeToString()), grouping="names")


@pytest.mark.parametrize("direction", ["TB", "LR"])
@pytest.mark.parametrize("count", [4, 12, 120])
def test_edges_between_open_stacks_say_how_many_values_they_have_and_have_room_for_it(
    engine: LayoutEngine, count: int, direction: Direction
) -> None:
    view = make_pyramid(count)
    pending = list(view.root.children)
    while pending:
        item = pending.pop()
        if item.openable:
            view.open(item.key)
            pending += item.children
    labels = Labels(direction=direction)
    scene = Composer(engine).compose(view, labels, direction)
    assert list_unsaid(scene) == []
    numbers = [edge for edge in scene.edges if edge.label == f"×{count}"]
    assert len(numbers) == 2  # from stack to stack, and from there to what joins them
    half = labels.count_label(count)[1] / 2
    for edge in numbers:
        for box in scene.boxes:
            across = min(box.x + box.width, edge.label_x + half) - max(box.x, edge.label_x - half)
            top, bottom = edge.label_y - HEIGHT / 2, edge.label_y + HEIGHT / 2
            along = min(box.y + box.height, bottom) - max(box.y, top)
            # it may stand in a box, clear of its walls, and on no closed one
            is_in = box.item.is_open and across > 2 * half - 1e-6 and along > HEIGHT - 1e-6
            assert is_in or across <= 0 or along <= 0, (box.item, across, along)
    assert f">×{count}</text>" in draw_svg(scene, labels.faces)


def test_an_edge_of_some_of_the_values_of_an_output_says_how_many(engine: LayoutEngine) -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    graph = proto.graph
    graph.input.add(name="x")
    for number in range(6):
        for kind in ("key", "value"):
            name = f"present.{number}.{kind}"
            graph.node.add(
                op_type="Relu" if kind == "key" else "Neg",
                name=f"h.{number}/{kind}",
                input=["x"],
                output=[name],
            )
            graph.output.add(name=name)
    view = View(load(proto.SerializeToString()), grouping="names")
    scene = Composer(engine).compose(view, Labels())
    found = [
        (len(edge.bundle), edge.label)
        for edge in scene.edges
        if scene.boxes[edge.target].item.kind == "output"
    ]
    assert found in ([(6, "×6"), (6, "×6")], [(12, "")])


def test_the_results_of_a_branch_are_as_many_as_those_of_its_if(engine: LayoutEngine) -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    graph = proto.graph
    graph.input.add(name="x")
    graph.input.add(name="flag")
    choice = graph.node.add(op_type="If", name="choice", input=["flag"])
    for field in ("then_branch", "else_branch"):
        branch = choice.attribute.add(name=field, type=5).g
        for number in range(12):
            branch.node.add(op_type="Relu", input=["x"], output=[f"{field}.{number}"])
            branch.output.add(name=f"{field}.{number}")
    for number in range(12):
        name = f"present.{number // 2}.{('key', 'value')[number % 2]}"
        choice.output.append(name)
        graph.output.add(name=name)
    view = View(load(proto.SerializeToString()))
    view.open("main/choice")
    for path in ("main/choice.then_branch", None):
        if path is not None:
            view.open(path)
        scene = Composer(engine).compose(view, Labels())
        leaving = [
            edge
            for edge in scene.edges
            if edge.source >= 0 and scene.boxes[edge.source].item.kind == "branch" and edge.bundle
        ]
        assert [len(edge.bundle) for edge in leaving] == [12, 12]
        assert list_unsaid(scene) == []
