"""Inputs and outputs in large numbers are one box, which lists them when it is opened."""

from __future__ import annotations

import re
import sys
import tracemalloc

import pytest

from netloupe.explorer.describe import describe_path, format_text
from netloupe.explorer.layout import Composer
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.asked_view import make_view
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.picture import draw_picture
from netloupe.explorer.view import View, ViewOptions
from netloupe.explorer.view.item import MOST_SELECTED, Item
from netloupe.explorer.view.terminals import MOST_DIFFERENT, MOST_LISTED, MOST_TERMINALS
from netloupe.proto import onnx_pb2
from tests.expanding import open_view
from tests.hostile_models import graph_inputs, outputs, undefined_inputs
from tests.scene_check import find_geometry_faults
from tests.wiring_check import check_items, find_lost_edges

MAKERS = {"input": graph_inputs, "output": outputs}


def terminals(view: View, kind: str) -> list[Item]:
    return [child for child in view.root.children if child.kind == kind]


@pytest.mark.parametrize("kind", MAKERS)
def test_a_few_terminals_keep_their_boxes(kind: str) -> None:
    for count in (2, MOST_TERMINALS):
        view = View(load(MAKERS[kind](count)))
        assert len(terminals(view, kind)) == count
        assert not any(item.openable for item in view.root.children)


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("count", [MOST_TERMINALS + 1, 85, 500, 2_000])
def test_many_terminals_of_one_box_are_one(kind: str, count: int) -> None:
    view, _ = make_view(load(MAKERS[kind](count)), ViewOptions())
    (stub,) = terminals(view, kind)
    letter = "x" if kind == "input" else "y"
    assert (stub.label, stub.names) == (f"{count:,} {kind}s", f"{letter}0 … {letter}{count - 1}")
    assert len(stub.value_paths()) == count
    assert len(view.root.children) == 3
    assert [link.count for link in view.links(view.root) if link.count > 1] == [count]
    assert find_lost_edges(view) == []
    check_items(view)


def keep_states(*names: str, apart: bool = False) -> View:
    """Return the view of a model whose inputs are added up, or each negated on its own."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.opset_import.add(version=17)
    graph = proto.graph
    for name in names:
        graph.input.add(name=name)
    for number, inputs in enumerate([[name] for name in names] if apart else [names]):
        graph.node.add(op_type="Sum", name=f"n{number}", input=inputs, output=[f"y{number}"])
        graph.output.add(name=f"y{number}")
    return View(load(proto.SerializeToString()))


PAST = [f"past_key_values.{layer}.{kind}" for layer in range(3) for kind in ("key", "value")]


def test_the_states_of_all_layers_are_one_box() -> None:
    view = keep_states("input_ids", *PAST)
    ids, past = terminals(view, "input")
    assert (ids.label, past.label, past.names) == ("input_ids", "past_key_values", "")
    assert past.value_paths() == [f"main/%{name}" for name in PAST]
    assert find_lost_edges(view) == []
    check_items(view)
    labels = Labels()
    assert [run.text for run in labels.faces.face(past).texts][:3] == ["past_key_values", "+", "×6"]
    view.open(past.path)
    assert [child.label for child in past.children] == PAST


def test_inputs_that_are_no_states_of_layers_keep_their_boxes() -> None:
    for names in (
        ["h.0.weight", "h.0.bias", "h.1.weight", "h.2.weight"],  # not each layer has both
        ["past.0.key", "past.0.value"],  # one layer
        [f"h.0.part{number}" for number in range(6)],
    ):
        assert [item.label for item in terminals(keep_states(*names), "input")] == names
    spread = terminals(keep_states(*PAST, apart=True), "input")  # each leads elsewhere
    assert [item.label for item in spread] == PAST


def join_levels(*names: str) -> View:
    """Return the view of a model that joins the inputs of each level with what it has so far."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.opset_import.add(version=17)
    graph = proto.graph
    given = "points"
    for name in (given, *names):
        graph.input.add(name=name)
    for level, op in enumerate(("Sum", "Max", "Min", "Mean")):
        inputs = [given, *(name for name in names if name.endswith(f"_{level}"))]
        given = f"y{level}"
        graph.node.add(op_type=op, name=op, input=inputs, output=[given])
    graph.output.add(name=given)
    return View(load(proto.SerializeToString()))


LEVELS = [f"{kind}_{level}" for kind in ("xyz", "near", "up", "down") for level in range(4)]


def test_inputs_of_each_level_are_one_box_for_each_kind() -> None:
    view = join_levels(*LEVELS)
    inputs = terminals(view, "input")
    assert [len(item.value_paths()) for item in inputs] == [1, 4, 4, 4, 4]
    assert find_lost_edges(view) == []
    check_items(view)


@pytest.mark.parametrize("names", [LEVELS[:8], [*LEVELS, "down_4"]])
def test_inputs_of_levels_that_are_few_or_not_whole_keep_their_boxes(names: list[str]) -> None:
    kept = terminals(join_levels(*names), "input")
    assert [item.label for item in kept] == ["points", *names]


def test_states_stay_one_box_among_many_inputs() -> None:
    view = keep_states(*(f"x{number}" for number in range(20)), *PAST)
    assert [item.label for item in terminals(view, "input")] == ["20 inputs", "past_key_values"]
    check_items(view)


def test_the_picture_of_inputs_does_not_grow_with_them() -> None:
    drawn = {}
    for count in (500, 2_000):
        svg = draw_picture(load(graph_inputs(count)), "svg").decode()
        assert f"{count:,} inputs" in svg
        width = re.search(r'<svg[^>]* width="([\d.]+)"', svg)
        assert width is not None
        drawn[count] = len(svg), float(width[1])
    assert drawn[2_000][0] < drawn[500][0] + 200
    assert drawn[2_000][1] < 300


@pytest.mark.parametrize("kind", MAKERS)
def test_opened_it_shows_them_in_bounded_columns(kind: str) -> None:
    view = View(load(MAKERS[kind](500)))
    (stub,) = terminals(view, kind)
    labels, composer = Labels(), Composer()
    closed = composer.compose(view, labels)
    assert view.open(stub.value_paths()[7]) is stub
    assert [child.label for child in stub.children] == [
        f"{'x' if kind == 'input' else 'y'}{number}" for number in range(500)
    ]
    scene = composer.compose(view, labels)
    assert find_geometry_faults(scene, view) == []
    boxes = [box for box in scene.boxes if box.item in stub.children]
    columns: dict[float, list[float]] = {}
    for box in boxes:
        columns.setdefault(box.x, []).append(box.y)
    assert len(boxes) == 500
    assert 10 < len(columns) < 40
    assert all(rows == sorted(rows) for rows in columns.values())  # read downwards
    assert scene.width < 3_000
    assert scene.height < 3_000
    assert len(scene.edges) == len(closed.edges) == 2
    inner = view.shown(stub.value_paths()[7])
    assert inner is stub.children[7]
    assert view.close(stub.key) is stub
    again = composer.compose(view, labels)
    assert (again.width, again.height) == (closed.width, closed.height)


def test_very_many_are_listed_in_parts() -> None:
    view = View(load(undefined_inputs(MOST_LISTED + 500)))
    (stub,) = terminals(view, "input")
    assert stub.label == f"{MOST_LISTED + 500:,} undefined inputs"
    view.open(stub.key)
    assert [child.label for child in stub.children] == [
        "1,000 undefined inputs",
        "1,000 undefined inputs",
        "500 undefined inputs",
    ]
    inner = stub.children[1]
    view.open(inner.key)
    assert [child.label for child in inner.children[:2]] == ["undefined 1000", "undefined 1001"]
    assert view.shown("main/%undefined 1001") is inner.children[1]


def test_unused_inputs_are_one_box() -> None:
    proto = onnx_pb2.ModelProto.FromString(graph_inputs(3))
    for number in range(40):
        proto.graph.input.add(name=f"spare{number}")
    view = View(load(proto.SerializeToString()))
    labels = [item.label for item in terminals(view, "input")]
    assert labels == ["x0", "x1", "x2", "40 unused inputs"]


def test_inputs_that_are_outputs_too_are_two_boxes() -> None:
    proto = onnx_pb2.ModelProto(ir_version=10)
    for number in range(40):
        proto.graph.input.add(name=f"x{number}")
        proto.graph.output.add(name=f"x{number}")
    view = View(load(proto.SerializeToString()))
    assert [item.label for item in view.root.children] == ["40 inputs", "x*"]
    (link,) = view.links(view.root)
    assert link.count == 40


def test_constants_that_are_outputs_are_one_box() -> None:
    proto = onnx_pb2.ModelProto(ir_version=10)
    for number in range(40):
        proto.graph.initializer.add(name=f"w{number}", data_type=1, dims=[1], raw_data=b"1234")
        proto.graph.output.add(name=f"w{number}")
    view = View(load(proto.SerializeToString()))
    assert [item.label for item in view.root.children] == ["40 constants", "w*"]
    (link,) = view.links(view.root)
    assert link.count == 40


def test_inputs_with_ends_of_their_own_are_bounded_too() -> None:
    proto = onnx_pb2.ModelProto(ir_version=10)
    for number in range(10):
        proto.graph.node.add(op_type=f"Op{'abcdefghij'[number]}", name=f"n{number}")
    for number in range(1, 1_000):
        proto.graph.input.add(name=f"x{number}")
        for index in range(10):
            if number >> index & 1:  # every input goes to another set of nodes
                proto.graph.node[index].input.append(f"x{number}")
    view = View(load(proto.SerializeToString()), grouping="none")
    inputs = terminals(view, "input")
    assert len(inputs) == MOST_DIFFERENT + 2 * 10 + 1
    assert sum(len(item.value_paths()) for item in inputs) == 999


def test_inputs_in_an_open_call_are_listed_nowhere_twice() -> None:
    proto = onnx_pb2.ModelProto(ir_version=10)
    proto.opset_import.add(version=21)
    proto.opset_import.add(domain="local", version=1)
    names = [f"x{number}" for number in range(40)]
    for name in names:
        proto.graph.input.add(name=name)
    proto.graph.output.add(name="y")
    proto.graph.node.add(op_type="f", domain="local", name="call", input=names, output=["y"])
    formal = [f"a{number}" for number in range(40)]
    body = onnx_pb2.NodeProto(op_type="Concat", input=formal, output=["b"])
    proto.functions.add(name="f", domain="local", input=formal, output=["b"], node=[body])
    view = View(load(proto.SerializeToString()))
    view.open("main/call")
    assert [item.label for item in terminals(view, "input")] == ["40 inputs"]
    check_items(view)
    assert find_lost_edges(view) == []


@pytest.mark.parametrize("mode", ["all", "auto", 3])
def test_lists_are_opened_on_demand_alone(mode: str | int) -> None:
    view = View(load(graph_inputs(30)))
    open_view(view, mode)
    assert not any(item.is_open for item in terminals(view, "input"))


def test_the_box_of_very_many_inputs_is_described_by_the_first() -> None:
    count = MOST_SELECTED + 100
    model = load(graph_inputs(count))
    view = View(model)
    (stub,) = terminals(view, "input")
    assert stub.is_selected_whole
    text = format_text(describe_path(model, stub.path, view))
    assert text.startswith(f"{count:,} inputs  ({count:,} values, 1 consumer of the first 2,000)")
    assert "100 more" in text


@pytest.mark.parametrize("kind", MAKERS)
def test_little_is_done_for_each_of_many_terminals(kind: str) -> None:
    def first_view(count: int) -> int:
        model = load(MAKERS[kind](count))
        assert len(model.graph.wiring.values) == count + 1
        calls = 0

        def count_calls(_frame: object, event: str, _arg: object) -> None:
            nonlocal calls
            calls += event == "call"

        sys.setprofile(count_calls)
        try:
            view, _ = make_view(model, ViewOptions())
            Composer().compose(view, Labels())
        finally:
            sys.setprofile(None)
        return calls

    few, many = first_view(2_000), first_view(6_000)
    assert (many - few) / 4_000 < 5


@pytest.mark.parametrize("kind", MAKERS)
def test_little_is_remembered_of_each_of_many_terminals(kind: str) -> None:
    def peak(count: int) -> int:
        model = load(MAKERS[kind](count))
        assert len(model.graph.wiring.values) == count + 1
        tracemalloc.start()
        try:
            view, _ = make_view(model, ViewOptions())
            view.links(view.root)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    # the sizes of dicts are powers of two: between equal fillings nothing but the values counts
    few, many = peak(5_000), peak(20_000)
    assert (many - few) / 15_000 < 300


def make_merged_decoder(takers: tuple[bool, bool], name: str = "past_key_values") -> View:
    """Return an If of which some branches take the states of past tokens."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    graph = proto.graph
    states = [f"{name}.{layer}.{kind}" for layer in range(2) for kind in ("key", "value")]
    for given in ("x", "use_cache_branch", *states):
        graph.input.add(name=given)
    choice = graph.node.add(op_type="If", name="choice", input=["use_cache_branch"], output=["y"])
    for field, takes in zip(("then_branch", "else_branch"), takers, strict=True):
        branch = choice.attribute.add(name=field, type=5).g
        inputs = ["x", *states] if takes else ["x", "x"]
        branch.node.add(op_type="Concat", input=inputs, output=[f"{field}_y"])
        branch.output.add(name=f"{field}_y")
    graph.output.add(name="y")
    view = View(load(proto.SerializeToString()))
    view.open("main/choice")
    return view


@pytest.mark.parametrize(
    ("takers", "name", "labels"),
    [
        (
            (True, False),
            "past_key_values",
            ["then_branch · with past", "else_branch · without past"],
        ),
        ((True, True), "past_key_values", ["then_branch", "else_branch"]),
        ((False, False), "past_key_values", ["then_branch", "else_branch"]),
        ((True, False), "features", ["then_branch", "else_branch"]),
    ],
)
def test_branches_are_named_by_the_past_where_one_alone_takes_it(
    takers: tuple[bool, bool], name: str, labels: list[str]
) -> None:
    view = make_merged_decoder(takers, name)
    branches = [item for item in view.items.values() if item.kind == "branch"]
    assert [branch.label for branch in branches] == labels
