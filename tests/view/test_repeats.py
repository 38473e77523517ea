"""Repeats: closed, open with one repetition, unrolled; and what crosses their borders."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netloupe.explorer.describe import describe_path
from netloupe.explorer.errors import ViewError
from netloupe.explorer.grouping import GroupTree
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.faces import make_face
from netloupe.explorer.view import BORDER, Item, View, expand_view
from netloupe.explorer.view.families import name_family
from netloupe.proto import onnx_pb2
from tests.graph_strategies import random_models
from tests.trees import Change, make_view, random_changes, take_random_step, wrap, wrap_repeat
from tests.wiring_check import check_items, find_lost_edges

COUNT = 6


def make_decoder(count: int = COUNT, *, first_extra: bool = False) -> Model:
    """Return layers with a residual, a shared mask, and past and present states of their own."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    graph = proto.graph
    for name in ("x", "mask", *(f"past.{number}.key" for number in range(count))):
        graph.input.add(name=name)
    hidden = "x"
    for number in range(count):
        inputs = [hidden, "mask", f"past.{number}.key"]
        if number == 0 and first_extra:
            graph.node.add(op_type="Sin", name="first/sin", input=["mask"], output=["rotary"])
        elif first_extra:
            inputs.append("rotary")
        for op_type, taken, results in (
            ("Attention", inputs, [f"a{number}", f"present.{number}.key"]),
            ("Add", [hidden, f"a{number}"], [f"h{number}"]),
        ):
            graph.node.add(op_type=op_type, name=f"{op_type}_{number}", input=taken, output=results)
        hidden = f"h{number}"
    graph.node.add(op_type="Norm", name="norm", input=[hidden], output=["y"])
    graph.output.add(name="y")
    for number in range(count):
        graph.output.add(name=f"present.{number}.key")
    return load(proto.SerializeToString())


def decoder_view(count: int = COUNT) -> View:
    def change(tree: GroupTree) -> None:
        wrap_repeat(tree.root, 0, 2, count)

    return make_view(make_decoder(count), change, "none")


def wires(view: View, item: Item) -> set[str]:
    names = {BORDER: "|"} | {
        index: child.key.removeprefix("main/") for index, child in enumerate(item.children)
    }
    return {
        f"{names[link.source]} -{link.value.name}×{link.count}> {names[link.target]}"
        for link in view.links(item)
    }


def words(item: Item) -> list[str]:
    return [run.text for run in make_face(item).texts]


def test_a_closed_repeat_is_a_stack() -> None:
    view = decoder_view()
    assert wires(view, view.root) == {
        "%x -x×1> Block A/",
        "%mask -mask×1> Block A/",
        "%past.0.key … %past.5.key -past.0.key×6> Block A/",
        "Block A/ -h5×1> norm",
        "norm -y×1> %y output",
        "Block A/ -present.0.key×6> %present.0.key … %present.5.key output",
    }
    repeat = view.items["main/Block A/"]
    assert words(repeat)[:1] == ["Block A"]
    assert "×6" in words(repeat)
    assert "Attention" in words(repeat)
    face = make_face(repeat)
    assert face.stack == 2
    assert all(run.y > 10 for run in face.texts)
    pasts = view.items["main/%past.0.key … %past.5.key"]
    assert words(pasts)[0] == "past.*.key"
    assert "×6" in words(pasts)
    assert view.reveal("main/%past.4.key") is pasts
    assert view.reveal("main/%present.4.key").kind == "output"
    assert find_lost_edges(view) == []


@pytest.mark.parametrize("index", [0, 3, COUNT - 1])
def test_an_open_repeat_shows_one_repetition(index: int) -> None:
    view = decoder_view()
    repeat = view.show_repetition("main/Block A/", index)
    before, after = ("x" if index == 0 else f"h{index - 1}"), f"h{index}"
    attention, add = f"Attention_{index}", f"Add_{index}"
    assert wires(view, repeat) == {
        f"| -{before}×1> {attention}",
        f"| -mask×1> {attention}",
        f"| -past.{index}.key×1> {attention}",
        f"| -{before}×1> {add}",
        f"{attention} -a{index}×1> {add}",
        f"{add} -{after}×1> |",
        f"{attention} -present.{index}.key×1> |",
    }
    ends = {(link.source_value.name, link.target_value.name) for link in view.links(repeat)}
    assert ("x", before) in ends  # the residual stream enters at the repeat's port
    assert (after, f"h{COUNT - 1}") in ends  # and leaves at it
    assert (f"present.{index}.key", "present.0.key") in ends
    assert repeat.unmatched == (0, 0)
    title = words(repeat)
    assert title[:2] == ["Block A", "×6"]
    shown = {0: "the first", COUNT - 1: "the last"}.get(index, f"{index + 1} of 6")
    assert {"Attention", f"shows {shown}"} <= set(title)
    assert find_lost_edges(view) == []


def test_what_is_revealed_decides_which_repetition_is_shown() -> None:
    view = decoder_view()
    assert view.shown("main/Add_4") is view.items["main/Block A/"]
    assert view.reveal("main/Add_4").key == "main/Add_4"
    repeat = view.items["main/Block A/"]
    assert repeat.shown == 4
    assert view.shown("main/Add_1") is repeat
    assert view.reveal("main/%a1").key == "main/Attention_1"
    assert repeat.shown == 1
    assert view.open("main/Block A/5/") is repeat
    assert repeat.shown == 5
    assert view.close("main/Block A/5/") is repeat
    assert not repeat.is_open
    assert view.open("main/Block A/").shown == 5  # as it was left
    check_items(view)


def test_unrolling_and_folding() -> None:
    view = decoder_view()
    repeat = view.unroll("main/Block A/")
    blocks = [f"main/Block A/{number}/" for number in range(COUNT)]
    stubs = ["main/%mask from main/Block A/"]  # goes into every block from beside
    stubs += [f"main/%mask to {block}" for block in blocks]
    assert [child.key for child in repeat.children] == blocks + stubs
    assert "Block A/2/ -h2×1> Block A/3/" in wires(view, repeat)
    assert "| -past.3.key×1> Block A/3/" in wires(view, repeat)
    assert {"Attention", "all shown"} <= set(words(repeat))
    assert view.reveal("main/Add_4").parent is view.items["main/Block A/4/"]
    assert find_lost_edges(view) == []
    view.show_shapes()  # makes everything anew
    assert view.items["main/Block A/4/"].is_open
    assert len(view.fold("main/Block A/").children) == 2
    view.unroll("main/Block A/")
    view.close("main/Block A/")
    assert not view.open("main/Block A/").is_unrolled
    check_items(view)


def test_all_open_means_unrolled() -> None:
    view = decoder_view()
    assert expand_view(view, "all") is None
    assert {f"main/Add_{number}" for number in range(COUNT)} < set(view.items)
    assert find_lost_edges(view) == []


def test_what_only_one_repetition_has() -> None:
    def change(tree: GroupTree) -> None:
        repeat = wrap(tree.root, "repeat", 0, 2 * COUNT + 1, "Block A")
        wrap(repeat, "block", 0, 3, "0")
        for number in range(1, COUNT):
            wrap(repeat, "block", number, number + 2, str(number))
        repeat.exemplar = 2

    model = make_decoder(first_extra=True)
    view = make_view(model, change, "none")
    repeat = view.open("main/Block A/")
    stubs = [child for child in repeat.children if child.kind == "stub"]
    assert [stub.path for stub in stubs] == ["main/%rotary"]  # made by the first for all others
    assert find_lost_edges(view) == []
    view.show_repetition("main/Block A/", 0)
    given = [child for child in repeat.children if child.kind == "stub"]
    assert [stub.key for stub in given] == ["main/%rotary for other repetitions"]
    assert find_lost_edges(view) == []
    described = describe_path(model, "main/Block A/", view)
    assert described.subtitle == "6 repetitions, 2 to 3 nodes each"
    differs = next(section for section in described.sections if section.title == "What differs")
    assert [(row.name, row.value) for row in differs.rows] == [
        ("1 to 5", "5 of 6 repetitions alike"),
        ("0", "Sin more"),
    ]
    view.close("main/Block A/")
    said = ["Block A", "Attention", "+", "×6", "the first with Sin"]
    assert words(view.items["main/Block A/"]) == said


def layers(*ops: str) -> list[tuple[str, str]]:
    """Return what is said of layers that hold Neg, MatMul, Add and some operators more."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.input.add(name="x")
    last = "x"
    for number, extra in enumerate(ops):
        for op in ["Neg", "MatMul", "Add", "Relu", "Tanh", *filter(None, extra.split(" "))]:
            name = f"layer.{number}/{op}_{len(proto.graph.node)}"
            inputs = [last, last] if op in ("MatMul", "Add") else [last]
            proto.graph.node.add(op_type=op, name=name, input=inputs, output=[name])
            last = name
    proto.graph.output.add(name=last)

    def change(tree: GroupTree) -> None:
        repeat = wrap(tree.root, "repeat", 0, len(proto.graph.node), "layers")
        for number, extra in enumerate(ops):
            wrap(repeat, "block", number, number + 5 + len(extra.split()), f"layer.{number}")

    model = load(proto.SerializeToString())
    view = make_view(model, change, "none")
    repeat = view.items["main/layers/"]
    described = describe_path(model, repeat.path, view)
    differs = next(section for section in described.sections if section.title == "What differs")
    return [(described.subtitle, "".join(words(repeat)))] + [
        (row.name, f"{row.value} {row.note}".strip()) for row in differs.rows
    ]


def test_repetitions_that_differ_alike_are_told_in_one_row_and_counted_exactly() -> None:
    (subtitle, face), *rows = layers("", "Erf", "Erf", "", "Erf", "Sin Sin")
    assert subtitle == "6 repetitions, 5 to 7 nodes each"
    assert face.endswith("×63 of 6 with Erf, the last with Sin")
    assert rows == [
        ("3 repetitions", "3 of 6 repetitions alike layer.1, layer.2, layer.4"),
        ("2 repetitions", "Erf less layer.0, layer.3"),
        ("layer.5", "Sin ×2 more; Erf less"),
    ]


def test_repetitions_none_of_which_are_alike_are_compared_with_the_first() -> None:
    _, *rows = layers("", "Erf", "Sin")
    assert rows == [
        ("layer.0", "the others are compared with it"),
        ("layer.1", "Erf more"),
        ("layer.2", "Sin more"),
    ]


def test_values_without_a_part_in_the_shown_repetition_are_told() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.input.add(name="x")
    proto.graph.input.add(name="once")
    for number in range(3):
        source = f"v{number - 1}" if number else "x"
        inputs = [source] if number != 1 else [source, "once"]
        proto.graph.node.add(op_type="Op", name=f"n{number}", input=inputs, output=[f"v{number}"])
    proto.graph.output.add(name="v2")
    view = make_view(
        load(proto.SerializeToString()),
        lambda tree: wrap_repeat(tree.root, 0, 1, 3) and None,
        "none",
    )
    repeat = view.open("main/Block A/")
    assert repeat.unmatched == (1, 0)
    assert words(repeat) == ["Block A", "×3", "1 of 3 wired differently", "shows the first"]
    assert view.show_repetition("main/Block A/", 1).unmatched == (0, 0)
    assert find_lost_edges(view) == []


@pytest.mark.parametrize("path", ["main/norm", "main/nothing", "main/%x"])
def test_what_is_no_repeat(path: str) -> None:
    view = decoder_view()
    for act in (view.unroll, view.fold, lambda path: view.show_repetition(path, 0)):
        with pytest.raises(ViewError):
            act(path)
    with pytest.raises(ViewError, match="repetitions 0 to 5"):
        view.show_repetition("main/Block A/", 6)


def test_names_of_families() -> None:
    assert name_family(["past.0.key", "past.1.key"]) == "past.*.key"
    assert name_family(["k8_1", "k8_2"]) == "k8_*"
    assert name_family(["12", "15", "18"]) == "12 … 18"
    assert name_family(["a", "b"]) == "a … b"


@settings(max_examples=120, deadline=None)
@given(random_models(), random_changes(), st.data())
def test_random_steps_lose_no_edge(model: Model, change: Change, data: st.DataObject) -> None:
    view = make_view(model, change)
    assert find_lost_edges(view) == []
    for _ in range(data.draw(st.integers(1, 8))):
        take_random_step(view, data)
        check_items(view)
        assert find_lost_edges(view) == []


def test_by_which_port_a_value_crosses_is_found_once_for_all_repetitions() -> None:
    view = decoder_view()
    stack = view.show_repetition("main/Block A/", 0)
    found = stack.ports_by_value(stack.inputs)
    assert found == {value: port for port in stack.inputs for value in stack.members(port)}
    assert {*found.values()} < {*found}  # a family crosses by one of its values
    assert view.show_repetition("main/Block A/", 1) is stack
    assert stack.ports_by_value(stack.outputs) is not found
    assert stack.ports_by_value(stack.inputs) is found
    merged, stack.merged = stack.merged, {}
    assert stack.ports_by_value(stack.inputs) == {port: port for port in stack.inputs}
    stack.merged = merged
    assert stack.ports_by_value(stack.inputs) == found


def test_a_first_that_lacks_what_the_others_begin_with_takes_the_stream_in_their_place() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.input.add(name="x")
    value = "x"
    for layer in range(4):
        for kind in (*("Softsign",)[: layer > 0], "Sin", "Exp", "Tanh"):
            name = f"rnns.{layer}/{kind}"
            proto.graph.node.add(op_type=kind, name=name, input=[value], output=[name])
            value = name
    proto.graph.output.add(name=value)

    def change(tree: GroupTree) -> None:
        repeat = wrap(tree.root, "repeat", 0, 15, "rnns")
        for number, (start, end) in enumerate(((0, 3), (1, 5), (2, 6), (3, 7))):
            wrap(repeat, "block", start, end, str(number))
        repeat.exemplar = 1

    view = make_view(load(proto.SerializeToString()), change, "none")
    repeat = view.open("main/rnns/")
    assert [child.label for child in repeat.children if child.kind == "stub"] == []
    (entering,) = [link for link in view.links(repeat) if link.source == BORDER]
    assert entering.source_value is view.model.graph.values["x"]
    assert find_lost_edges(view) == []


def test_masks_of_a_first_without_a_norm_are_not_taken_for_its_stream() -> None:
    """Layers take one of two masks; the first one lacks the norm, but not the residual."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    for name in ("x", "wide", "near"):
        proto.graph.input.add(name=name)
    value, sizes = "x", []
    for layer in range(4):
        begin, taken = len(proto.graph.node), value
        for kind in (*("Softsign",)[: layer > 0], "Sin", "Mul", "Exp", "Add"):
            name = f"{layer}/{kind}"
            more = {"Mul": ["near" if layer % 3 else "wide"], "Add": [taken]}.get(kind, [])
            proto.graph.node.add(op_type=kind, name=name, input=[value, *more], output=[name])
            value = name
        sizes.append(len(proto.graph.node) - begin)
    proto.graph.output.add(name=value)

    def change(tree: GroupTree) -> None:
        repeat = wrap(tree.root, "repeat", 0, sum(sizes), "layers")
        for number, size in enumerate(sizes):
            wrap(repeat, "block", number, number + size, str(number))
        repeat.exemplar = 1

    view = make_view(load(proto.SerializeToString()), change, "none")
    repeat = view.open("main/layers/")
    bound = {
        link.target_value.name: link.source_value.name
        for link in view.links(repeat)
        if link.source == BORDER
    }
    assert bound == {"0/Add": "x", "near": "near"}
    assert find_lost_edges(view) == []
