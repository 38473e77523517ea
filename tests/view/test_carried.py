"""What repetitions hand on: ports in place of stubs, and names that say what it is."""

from __future__ import annotations

import pytest

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.view import BORDER, Item, View
from netloupe.explorer.view.value_names import find_written_name, name_passing_values
from netloupe.proto import onnx_pb2
from tests.flows import make_undone
from tests.onnx_text import load_text
from tests.unrolled import (
    make_lstm,
    make_memory,
    make_recurrent,
    make_refinement,
    make_skip_stack,
)
from tests.wiring_check import find_lost_edges


def open_repeat(model: Model) -> tuple[View, Item]:
    """Return a view with its only repeat below the root open."""
    view = View(model)
    (repeat,) = [item for item in view.root.children if item.repeat is not None]
    view.open(repeat.path)
    return view, repeat


def list_stubs(item: Item) -> list[str]:
    return [child.label for child in item.children if child.kind == "stub"]


@pytest.mark.parametrize("naming", ["legacy", "plain"])
def test_the_state_of_a_plain_cell_is_named(naming: str) -> None:
    view, loop = open_repeat(make_recurrent(naming=naming))
    for shown in range(5):
        view.show_repetition(loop.path, shown)
        assert loop.carried.loop == ("state h",)
        assert list_stubs(loop) == []
        assert find_lost_edges(view) == []


def test_states_of_an_lstm_share_a_port_where_they_start_at_zero() -> None:
    view, loop = open_repeat(make_lstm())
    carried = loop.carried
    assert {*carried.loop} == {"state h", "cell state c"}
    assert len({*carried.entering.values()}) == len({*carried.leaving.values()}) == 1
    assert {*carried.entering.values()} == {carried.start}
    assert {*carried.leaving.values()} == {carried.end}
    links = view.links(loop)
    ends = {link.source_value for link in links if link.source == BORDER}
    assert {value.name for value in ends} == {"x0", carried.start and carried.start.name}
    assert list_stubs(loop) == []
    assert find_lost_edges(view) == []


def test_what_a_loop_improves_is_called_as_the_output_that_it_becomes() -> None:
    view, loop = open_repeat(make_refinement())
    assert loop.carried.loop == ("flow",)
    assert loop.carried.entering == loop.carried.leaving == {}
    assert loop.carried.start is view.model.graph.inputs[0]
    assert list_stubs(loop) == []


@pytest.mark.parametrize("is_undone", [True, False])
def test_what_nothing_tells_to_be_a_state_is_what_the_last_step_gave(*, is_undone: bool) -> None:
    _, loop = open_repeat(make_undone(layers=1, is_undone=is_undone))
    assert loop.carried.loop == ("last output",)


def test_both_streams_of_a_stack_pass_through_ports() -> None:
    view, stack = open_repeat(make_skip_stack())
    names = {*stack.carried.names.values()}
    assert names == {"residual stream", "sum of skips"}
    (leaving,) = stack.carried.leaving  # nobody reads the residuals of the last block
    assert stack.carried.names[leaving] == "residual stream"
    assert any(link.target == BORDER and link.value is leaving for link in view.links(stack))
    assert stack.carried.loop == ()
    assert list_stubs(stack) == []
    assert find_lost_edges(view) == []


def test_names_that_exporters_make_are_no_authors_names() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.input.add(name="x_1")
    results = ["Mul_2_output_0", "val_244", "permute_9", "add", "t7", "12", "a/b", "embedding"]
    for result in results:
        proto.graph.node.add(op_type="Add", name=result, input=["x_1"], output=[result])
    proto.graph.node.add(op_type="Add", name="z", input=["x_1"], output=["z"])
    proto.graph.node[-1].metadata_props.add(key="namespace", value="")
    proto.graph.output.add(name="12")
    model = load(proto.SerializeToString())
    told = {name: find_written_name(value) for name, value in model.graph.values.items()}
    assert {name for name, written in told.items() if written} == {"x_1", "embedding"}


def test_what_bodies_of_nodes_take_is_called_after_the_input_that_it_is_computed_of() -> None:
    model = load_text("""g (float[N] x, bool c) => (float[N] y) {
        a = Sigmoid (x)
        val_1 = Mul (x, a)
        y = If (c) <
            then_branch = t () => (float[N] t) { t = Relu (val_1) },
            else_branch = e () => (float[N] e) { e = Neg (val_1) }>
    }""")
    value = model.graph.values["val_1"]
    assert all(user.graph is not model.graph for user in value.users)
    assert name_passing_values([value], View(model).borders(model.graph).tree) == "from x"


def test_what_is_added_to_scores_alone_is_a_bias_of_attention() -> None:
    model = load_text("""g (float[2,N] x, float[N] m) => (float[2,N] y) {
        v_1 = Sigmoid (m)
        v_2 = Tanh (m)
        axes = Constant <value_ints = [0]> ()
        u = Unsqueeze (v_1, axes)
        a = Add (x, u)
        p = Softmax (a)
        b = Add (p, v_1)
        q = Softmax (b)
        y = Add (q, v_2)
    }""")
    values = model.graph.values
    tree = View(model).borders(model.graph).tree
    assert name_passing_values([values["v_1"]], tree) == "attention bias"
    assert name_passing_values([values["v_2"]], tree) != "attention bias"


def test_what_attention_reads_by_and_from_is_named() -> None:
    _, loop = open_repeat(make_memory())
    assert {*loop.carried.loop} == {"attention weights", "alignment so far", "context", "memory"}


def test_nothing_is_written_where_a_stack_hands_on_what_has_no_name() -> None:
    lines = "".join(
        f"a{n} = MatMul (x{n}, w{n}) b{n} = Sigmoid (a{n}) c{n} = MatMul (b{n}, w{n})"
        f" d{n} = Sub (c{n}, {f'b{n - 1}' if n else 'x0'}) x{n + 1} = Tanh (d{n}) "
        for n in range(6)
    )
    stored = ", ".join(f"float[3, 3] w{n} = {{1,2,3,4,5,6,7,8,{n}}}" for n in range(6))
    model = load_text(f"g (float[n, 3] x0) => (float[n, 3] x6) <{stored}> {{ {lines} }}")
    view, stack = open_repeat(model)
    view.show_repetition(stack.path, 2)
    assert {*stack.carried.names.values()} == {""}
