"""Stubs for what goes into many stages from beside; the main stream keeps its edges."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import GroupTree
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.view import View
from netloupe.proto import onnx_pb2
from tests.trees import make_view as make_changed_view
from tests.trees import wrap
from tests.wiring_check import find_lost_edges

Row = tuple[str, list[str], str]


def make_view(rows: list[Row], inputs: list[str], outputs: list[str]) -> View:
    """Return a flat view of nodes, each an operator, its operands and its result."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    for name in inputs:
        proto.graph.input.add(name=name)
    for operator, operands, result in rows:
        node = proto.graph.node.add(op_type=operator, name=f"n_{result}", input=operands)
        node.output.append(result)
    for name in outputs:
        proto.graph.output.add(name=name)
    view = View(load(proto.SerializeToString()), grouping="none")
    assert find_lost_edges(view) == []
    return view


def list_stubs(view: View) -> dict[str, int]:
    """Return the labels of the stubs beside consumers, with how many there are."""
    labels = [item.label for item in view.root.children if item.kind == "stub" and item.outputs]
    return {label: labels.count(label) for label in labels}


def stages(side: str, count: int) -> list[Row]:
    """Return stages one behind another that all take a side value too."""
    return [("Add", [f"h{number}", side], f"h{number + 1}") for number in range(count)]


def test_a_time_embedding_that_goes_into_many_stages_is_a_stub_at_each() -> None:
    rows: list[Row] = [("Sin", ["time"], "t"), ("Relu", ["t"], "embedding")]
    view = make_view(rows + stages("embedding", 5), ["time", "h0"], ["h5"])
    assert list_stubs(view) == {"embedding": 5}
    children = view.root.children
    stubbed = {link.value.name for link in view.links(view.root) if link.target >= 0} - {
        link.value.name
        for link in view.links(view.root)
        if "stub" not in (children[link.source].kind, children[link.target].kind)
    }
    assert stubbed == {"embedding"}  # all else is an edge


def test_few_stages_have_edges() -> None:
    view = make_view(
        [("Relu", ["time"], "embedding"), *stages("embedding", 3)], ["time", "h0"], ["h3"]
    )
    assert list_stubs(view) == {}


def test_consumers_beside_each_other_have_edges() -> None:
    rows: list[Row] = [("Relu", ["x"], "a")]
    rows += [("Add", ["a", f"b{number}"], f"y{number}") for number in range(5)]
    inputs = ["x", *(f"b{number}" for number in range(5))]
    assert list_stubs(make_view(rows, inputs, [f"y{number}" for number in range(5)])) == {}


def test_the_features_of_a_dense_block_have_edges() -> None:
    rows: list[Row] = [("Relu", ["x"], "f0")]
    for number in range(1, 6):
        rows.append(("Concat", [f"f{k}" for k in range(number)], f"c{number}"))
        rows.append(("Conv", [f"c{number}"], f"f{number}"))
    assert list_stubs(make_view(rows, ["x"], ["f5"])) == {}


def test_what_a_stage_takes_nothing_but_is_no_side_value() -> None:
    rows: list[Row] = [("Relu", ["x"], "h1"), ("Tanh", ["h1"], "h2")]
    rows += [("Add", [f"h{number}", "x"], f"h{number + 1}") for number in range(2, 6)]
    assert list_stubs(make_view(rows, ["x"], ["h6"])) == {}


def test_a_shape_that_a_side_value_is_made_to_fit_does_not_count() -> None:
    rows: list[Row] = [("Shape", ["h0"], "s"), ("Expand", ["time", "s"], "embedding")]
    view = make_view(rows + stages("embedding", 5), ["time", "h0"], ["h5"])
    assert list_stubs(view) == {"embedding": 5}


def test_a_hub_keeps_the_edge_that_carries_the_main_stream() -> None:
    rows: list[Row] = [("Relu", ["x"], "h"), ("Conv", ["h"], "m0")]
    rows += [("Add", [f"m{number}", "h"], f"m{number + 1}") for number in range(10)]
    view = make_view(rows, ["x"], ["m10"])
    assert list_stubs(view) == {"h": 10}
    children = view.root.children
    kept = [
        (children[link.source].path, children[link.target].path)
        for link in view.links(view.root)
        if link.value.name == "h"
        and "stub" not in (children[link.source].kind, children[link.target].kind)
    ]
    assert kept == [("main/n_h", "main/n_m0")]


def test_a_hub_that_only_branches_take_has_stubs_at_all_of_them() -> None:
    rows: list[Row] = [("Relu", ["x"], "h")]
    rows += [("Conv", ["h"], f"y{number}") for number in range(10)]
    assert list_stubs(make_view(rows, ["x"], [f"y{number}" for number in range(10)])) == {"h": 10}


@pytest.mark.parametrize("count", [5, 12])
def test_an_input_that_stubs_stand_for_says_at_how_many_places(count: int) -> None:
    view = make_view(stages("context", count), ["context", "h0"], [f"h{count}"])
    assert list_stubs(view) == {"context": count}
    faces = FaceBook()
    rows = {
        item.label: [run.text for run in faces.face(item).texts]
        for item in view.root.children
        if item.kind == "input"
    }
    assert rows["context"][-1] == f"→ {count} places, by name"
    assert not any("places" in text for text in rows["h0"])


def test_an_input_with_edges_says_nothing_of_places() -> None:
    view = make_view(stages("context", 3), ["context", "h0"], ["h3"])
    for item in view.root.children:
        assert not any("place" in run.text for run in FaceBook().face(item).texts)


def test_what_preparation_gives_to_the_same_stages_is_one_stub_at_each() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    for name in ("m_a", "m_b", "h0"):
        proto.graph.input.add(name=name)
    rows = [("Sin", ["m_a"], "v_1"), ("Cos", ["m_b"], "v_2")]
    rows += [("Sum", [f"h{n}", "v_1", "v_2"], f"h{n + 1}") for n in range(5)]
    for operator, operands, result in rows:
        proto.graph.node.add(op_type=operator, name=f"n_{result}", input=operands, output=[result])
    proto.graph.output.add(name="h5")
    model = load(proto.SerializeToString())

    def prepare(tree: GroupTree) -> None:
        wrap(tree.root, "preparation", 0, 2, "angles")

    prepared = make_changed_view(model, prepare, "none")
    stubs = [item for item in prepared.root.children if item.kind == "stub"]
    assert len([stub for stub in stubs if stub.inputs]) == 1
    assert len([stub for stub in stubs if stub.outputs]) == 5
    assert all(
        len(stub.members(port)) == 2 for stub in stubs for port in (*stub.inputs, *stub.outputs)
    )
    assert all({*stub.inputs, *stub.outputs} == stub.of_one for stub in stubs)
    assert find_lost_edges(prepared) == []
    alone = make_changed_view(model, lambda tree: None, "none")
    assert len([item for item in alone.root.children if item.kind == "stub"]) == 12
