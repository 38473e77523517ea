"""What nested Caffe2 nets write is seen in the net around them."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import text_format

from netloupe.explorer.model import Model, Node, Value
from netloupe.explorer.readers.caffe2 import scope as caffe2_scope
from netloupe.explorer.readers.load import load
from netloupe.explorer.view import View, expand_view
from netloupe.proto import caffe2_pb2
from tests.wiring_check import find_lost_edges


def read(text: str) -> Model:
    message: Any = text_format.Parse(text, caffe2_pb2.NetDef())
    return load(message)


def input_of(node: Node, index: int = 0) -> Value:
    value = node.inputs[index]
    assert value is not None
    return value


def assert_drawn(model: Model) -> None:
    for expand in ("none", "all"):
        view = View(model)
        expand_view(view, expand)
        assert find_lost_edges(view) == []


def test_a_blob_that_a_branch_overwrites() -> None:
    model = read("""
    external_input: "c" external_input: "x" external_output: "z"
    op { type: "Relu" input: "x" output: "x" }
    op { type: "If" input: "c"
         arg { name: "then_net" n { op { type: "Tanh" input: "x" output: "x" } } }
         arg { name: "else_net" n { op { type: "Sin" input: "c" output: "s" } } } }
    op { type: "Relu" input: "x" output: "z" }
    """)
    first, branch, last = model.graph.nodes
    value = input_of(last)
    assert (value.path, value.producer, value.output_index) == ("main/%x#3", branch, 0)
    assert branch.outputs == (value,)
    assert value.metadata == {"written by": "main/#1:If.then_net"}
    then, other = branch.subgraphs
    assert input_of(then.nodes[0]) is first.outputs[0]
    assert then.outputs == [then.nodes[0].outputs[0]]
    # the branch that leaves it alone gives it as it was
    assert other.outputs == [first.outputs[0]]
    assert branch.captures.count(first.outputs[0]) == 1  # type: ignore[arg-type]
    assert not list(model.all_warnings())
    assert_drawn(model)


def test_a_new_blob_is_seen_and_one_that_nobody_uses_is_not() -> None:
    model = read("""
    external_input: "c" external_output: "kept"
    op { type: "While" input: "c"
         arg { name: "loop_net" n {
             op { type: "Sin" input: "c" output: "new" }
             op { type: "Sin" input: "c" output: "unused" }
             op { type: "Sin" input: "c" output: "kept" } } } }
    op { type: "Relu" input: "new" output: "y" }
    """)
    loop, last = model.graph.nodes
    assert [value.name for value in loop.outputs if value is not None] == ["new", "kept"]
    assert input_of(last).producer is loop
    assert model.graph.outputs == [loop.outputs[1]]
    assert not list(model.all_warnings())
    assert_drawn(model)


def test_a_blob_that_the_operator_lists_is_its_output_once() -> None:
    model = read("""
    external_input: "c"
    op { type: "If" input: "c" output: "y"
         arg { name: "then_net" n { op { type: "Sin" input: "c" output: "y" } } } }
    op { type: "Relu" input: "y" output: "z" }
    """)
    assert [value.path for value in model.graph.nodes[0].outputs if value] == ["main/%y"]


def test_writes_of_several_operators_follow_each_other() -> None:
    branch = 'arg { name: "then_net" n { op { type: "Sin" input: "c" output: "x" } } }'
    model = read(f"""
    external_input: "c" external_input: "x"
    op {{ type: "If" input: "c" {branch} }}
    op {{ type: "If" input: "c" {branch} arg {{ name: "else_net" n {{ }} }} }}
    op {{ type: "If" input: "c" arg {{ name: "then_net" n {{
         op {{ type: "Tanh" input: "x" output: "t" }} }} }} }}
    op {{ type: "Relu" input: "x" output: "x" }}
    op {{ type: "Relu" input: "x" output: "y" }}
    """)
    first, second, third, fourth, last = model.graph.nodes
    assert input_of(third.subgraphs[0].nodes[0]).producer is second
    assert second.subgraphs[1].outputs == [first.outputs[0]]
    assert input_of(fourth).producer is second
    assert input_of(last).producer is fourth


def test_writes_go_through_several_levels() -> None:
    model = read("""
    external_input: "c" external_input: "x"
    op { type: "While" input: "c" arg { name: "loop_net" n {
        op { type: "If" input: "c"
             arg { name: "then_net" n { op { type: "Tanh" input: "x" output: "x" } } }
             arg { name: "else_net" n { op { type: "Sin" input: "c" output: "s" } } } }
        } } }
    op { type: "Relu" input: "x" output: "y" }
    """)
    loop, last = model.graph.nodes
    value = input_of(last)
    assert value.producer is loop
    assert value.metadata == {"written by": "main/#0:While.loop_net"}
    (body,) = loop.subgraphs
    (inner,) = body.nodes
    assert body.outputs == [inner.outputs[0]]
    assert inner.subgraphs[1].outputs == [model.graph.values["x"]]
    assert model.graph.values["x"] in inner.captures
    assert model.graph.values["x"] in loop.captures
    assert_drawn(model)


def test_of_a_do_only_bound_blobs_are_seen() -> None:
    model = read("""
    external_input: "a"
    op { type: "Sin" input: "a" output: "hidden" }
    op { type: "Do" input: "a" output: "b"
         arg { name: "net" n {
             op { type: "Relu" input: "i" output: "i" }
             op { type: "Relu" input: "i" output: "o" }
             op { type: "Relu" input: "i" output: "hidden" } } }
         arg { name: "inner_blobs" strings: "i" strings: "o" }
         arg { name: "outer_blobs_idx" ints: 0 ints: 1 } }
    op { type: "Sum" input: "a" input: "b" input: "hidden" output: "y" }
    """)
    sine, do, last = model.graph.nodes
    assert [input_of(last, index).producer for index in range(3)] == [do, do, sine]
    assert [value.path for value in do.outputs if value] == ["main/%b", "main/%a#2"]
    assert [value.path for value in do.subgraphs[0].outputs] == [
        "main/#1:Do.net/%o",
        "main/#1:Do.net/%i",
    ]
    assert_drawn(model)


def test_of_steps_only_blobs_that_were_there_are_seen() -> None:
    model = read("""
    external_input: "x" external_input: "n" external_input: "state"
    op { type: "RecurrentNetwork" input: "x" output: "all"
         arg { name: "step_net" n {
             op { type: "Relu" input: "x" output: "n" }
             op { type: "Relu" input: "x" output: "state" } } } }
    op { type: "Sum" input: "state" input: "new" output: "y" }
    """)
    step, last = model.graph.nodes
    assert input_of(last, 0).producer is step
    assert input_of(last, 1).producer is None
    assert [str(warning) for warning in model.all_warnings()] == [
        "main/#1:Sum: uses %new, which nothing defines"
    ]


def test_names_are_followed_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caffe2_scope, "MOST_FOLLOWED", 2)
    model = read("""
    external_input: "c"
    op { type: "If" input: "c" arg { name: "then_net" n {
        op { type: "Sin" input: "c" output: "a" output: "b" output: "d" } } } }
    """)
    (warning,) = model.all_warnings()
    assert warning.message == "holds nets that write more blobs than are followed out of them"


def test_an_output_without_a_name_has_no_result_inside() -> None:
    model = read("""
    external_input: "c"
    op { type: "If" input: "c" output: "" output: "y"
         arg { name: "then_net" n { external_output: "s"
             op { type: "Sin" input: "c" output: "s" }
             op { type: "Sin" input: "s" output: "y" } } } }
    """)
    (branch,) = model.graph.nodes
    assert branch.outputs == (None, model.graph.values["y"])
    assert [value.name for value in branch.subgraphs[0].outputs] == ["y"]
