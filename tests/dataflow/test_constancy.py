"""In which grade a value is constant: of constants, of shapes, or independent of inputs."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

from netloupe.explorer.dataflow import (
    find_determined_nodes,
    find_input_independence,
    find_leading_nodes,
    find_of_constants,
    find_of_shapes,
    find_taking,
    is_input_independent,
    is_of_shapes,
    list_edges,
)
from netloupe.explorer.model import Graph, Model, is_constant
from netloupe.explorer.readers.load import load
from tests.onnx_text import load_text


def grade(model: Model, name: str, graph: Graph | None = None) -> str:
    """Return by letters which grades hold for a value: stored, of constants, fixed, of shapes."""
    value = (graph or model.graph).values[name]
    node = value.producer
    of_constants = value.initializer is not None
    if node is not None:
        of_constants = bool(find_of_constants(node.graph)[node.index])
    held = (is_constant(value), of_constants, is_input_independent(value), is_of_shapes(value))
    return "".join(letter for letter, holds in zip("scfh", held, strict=True) if holds)


_GRADES = """
    g (float[N] x) => (float[N] y)
    <float[2] w = {1, 2}> {
        k = Constant <value = float {3}> ()
        sum = Add (w, k)
        turned = Identity (sum)
        noise = RandomNormal <shape = [2]> ()
        noisy = Add (w, noise)
        shape = Shape (x)
        filled = ConstantOfShape (shape)
        both = Mul (filled, sum)
        data = Mul (x, turned)
        mixed = Add (data, both)
        size = Size (mixed)
        missing = Clip (sum, , k)
        clipped = Clip (x, , k)
        y = Add (mixed, noisy)
    }
"""


@pytest.mark.parametrize(
    ("name", "grades"),
    [
        ("w", "scfh"),
        ("k", "scfh"),
        ("sum", "cfh"),
        ("turned", "cfh"),
        # no input changes it, though it differs from run to run
        ("noise", "fh"),
        ("noisy", "fh"),
        ("x", ""),
        ("shape", "h"),
        ("filled", "h"),
        ("both", "h"),
        ("data", ""),
        ("mixed", ""),
        ("size", "h"),
        ("missing", "cfh"),
        ("clipped", ""),
        ("y", ""),
    ],
)
def test_each_grade(name: str, grades: str) -> None:
    assert grade(load_text(_GRADES), name) == grades


def test_an_initializer_that_is_listed_as_an_input_is_constant() -> None:
    nodes = [helper.make_node("Neg", ["w"], ["n"]), helper.make_node("Add", ["x", "n"], ["y"])]
    inputs = [helper.make_tensor_value_info(name, 1, [2]) for name in "xw"]
    stored = [helper.make_tensor("w", 1, [2], [1.0, 2.0])]
    output = helper.make_tensor_value_info("y", 1, [2])
    model = load(helper.make_model(helper.make_graph(nodes, "g", inputs, [output], stored)))
    assert grade(model, "w") == "scfh"
    assert grade(model, "n") == "cfh"
    assert grade(model, "y") == ""


def test_bodies_that_take_values_from_around() -> None:
    model = load_text("""
        g (bool c, float[N] x) => (float[N] y)
        <float[2] w = {1, 2}, bool yes = {1}> {
            t = Neg (w)
            z = If (yes) <
                then_branch = a () => (float[2] p) { p = Abs (t) },
                else_branch = b () => (float[2] q) { r = Neg (w) q = Add (r, t) }
            >
            v = If (yes) <
                then_branch = d () => (float[N] u) { u = Abs (x) },
                else_branch = e () => (float[N] m) { s = Shape (x) m = Neg (x) }
            >
            y = Add (x, v)
        }
    """)
    left, right, other, last = model.graph.subgraphs
    assert grade(model, "p", left) == "fh"
    assert grade(model, "r", right) == "cfh"
    assert grade(model, "q", right) == "fh"
    assert grade(model, "s", last) == "h"
    assert grade(model, "u", other) == ""
    # what holds a body is no arithmetic on constants or shapes, even where nothing in it varies
    assert grade(model, "z") == "f"
    assert grade(model, "v") == ""


def test_what_a_body_is_given_anew_each_time_varies() -> None:
    model = load_text("""
        g (float[N] x) => (float[N] y)
        <int64 n = {3}, bool yes = {1}, float[1] w = {1}> {
            l = Loop (n, yes, w) <
                body = b (int64 i, bool c, float[1] s) => (bool d, float[1] t) {
                    d = Identity (c) t = Add (s, w) k = Neg (w)
                }
            >
            y = Add (x, l)
        }
    """)
    (body,) = model.graph.subgraphs
    assert grade(model, "t", body) == ""
    assert grade(model, "k", body) == "cfh"


_CALLS = """
    g (float[N] x) => (float[N] y)
    <float[2] w = {1, 2}> {
        a = local.scale (x, w)
        b = local.scale (a, w)
        k = local.negate (w)
        y = local.mix (b, k)
    }
    <opset_import: ["": 21], domain: "local">
    scale (data, weight) => (result) { turned = Neg (weight) result = Mul (data, turned) }
    <opset_import: ["": 21, "local": 1], domain: "local">
    negate (data) => (result) { result = local.inner (data) }
    <opset_import: ["": 21], domain: "local">
    inner (data) => (result) { result = Neg (data) }
    <opset_import: ["": 21], domain: "local">
    mix (one, two) => (result) { result = Add (one, two) }
"""


def test_functions_take_what_every_call_gives() -> None:
    model = load_text(_CALLS)
    scale, negate, inner, mix = model.functions
    assert grade(model, "turned", scale) == "fh"
    assert grade(model, "result", scale) == ""
    assert grade(model, "result", negate) == "fh"
    assert grade(model, "result", inner) == "fh"
    assert [is_input_independent(value) for value in mix.inputs] == [False, True]
    assert grade(model, "k") == "cfh"


def test_functions_that_call_one_another_in_a_circle_end() -> None:
    model = load_text("""
        g (float[N] x) => (float[N] y) <float[2] w = {1, 2}> { y = local.one (w) }
        <opset_import: ["": 21, "local": 1], domain: "local">
        one (a) => (b) { b = local.two (a) }
        <opset_import: ["": 21, "local": 1], domain: "local">
        two (a) => (b) { b = local.one (a) }
    """)
    for function in model.functions:
        assert not is_input_independent(function.inputs[0])


def test_nodes_in_a_cycle_are_of_no_grade() -> None:
    nodes = [
        helper.make_node("Add", ["w", "b"], ["a"]),
        helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node("Shape", ["b"], ["s"]),
        helper.make_node("Neg", ["w"], ["n"]),
    ]
    stored = [helper.make_tensor("w", 1, [1], [1.0])]
    output = helper.make_tensor_value_info("b", 1, [1])
    model = load(helper.make_model(helper.make_graph(nodes, "g", [], [output], stored)))
    assert [grade(model, name) for name in "absn"] == ["", "", "h", "cfh"]


def test_the_order_of_the_file_does_not_matter() -> None:
    graph = onnx.GraphProto()
    graph.CopyFrom(helper.make_graph([], "g", [], [helper.make_tensor_value_info("c", 1, [1])]))
    graph.initializer.append(helper.make_tensor("w", 1, [1], [1.0]))
    for taken, given in (("b", "c"), ("a", "b"), ("w", "a")):
        graph.node.add(op_type="Neg", input=[taken], output=[given])
    model = load(helper.make_model(graph))
    assert [grade(model, name) for name in "abc"] == ["cfh"] * 3


def test_a_value_that_nothing_gives_varies() -> None:
    model = load_text("g (float[N] x) => (float[N] y) { y = Add (x, nowhere) }")
    assert grade(model, "nowhere") == ""
    assert find_input_independence(model.graph).nodes == b"\0"


def test_values_are_told_as_an_array_too() -> None:
    graph = load_text(_GRADES).graph
    found = find_input_independence(graph)
    for value, is_fixed in zip(graph.wiring.values, found.values.tolist(), strict=True):
        assert is_fixed == is_input_independent(value), value.name
    assert len(find_of_shapes(graph)) == len(find_of_constants(graph)) == len(graph.nodes)


def chain(count: int) -> Graph:
    """Return a graph of two chains of nodes, one from an input and one from a constant."""
    nodes = []
    for name in "xw":
        for index in range(count):
            taken = f"{name}{index}" if index else name
            nodes.append(helper.make_node("Neg", [taken], [f"{name}{index + 1}"]))
    given = helper.make_tensor_value_info("x", 1, [1])
    output = helper.make_tensor_value_info(f"x{count}", 1, [1])
    stored = [helper.make_tensor("w", 1, [1], [1.0])]
    return load(helper.make_model(helper.make_graph(nodes, "g", [given], [output], stored))).graph


@pytest.mark.parametrize("count", [1, 3, 4, 5, 100])
def test_chains_of_any_length_are_followed(count: int) -> None:
    graph = chain(count)
    assert find_of_constants(graph) == b"\0" * count + b"\1" * count


def test_edges_are_given_for_each_use() -> None:
    graph = load_text("g (float[N] x) => (float[N] y) { a = Neg (x) y = Add (a, a) }").graph
    sources, targets = list_edges(graph)
    assert (sources.tolist(), targets.tolist()) == ([0, 0], [1, 1])
    allowed = np.array([True, False])
    assert find_determined_nodes(allowed, sources, targets).tolist() == [True, False]


def test_what_takes_from_some_operators_is_found_at_once() -> None:
    text = (
        "g (float[2] x) => (float[2] y) { a = Neg (x) b = Softmax (a) c = Neg (b) y = Add (c, b) }"
    )
    graph = load_text(text).graph
    assert find_taking(graph, "distributes").tolist() == [False, False, True, True]
    assert find_taking(graph, "adds").tolist() == [False] * 4


def test_what_leads_to_some_nodes() -> None:
    #   0 → 1 → 2    3 ⇄ 4    5 → 2
    sources, targets = np.array([0, 1, 3, 4, 5]), np.array([1, 2, 4, 3, 2])
    ends = np.array([False, False, True, False, False, False])
    assert find_leading_nodes(ends, sources, targets).tolist() == [1, 1, 1, 0, 0, 1]
    ends[[2, 3]] = False, True
    assert find_leading_nodes(ends, sources, targets).tolist() == [0, 0, 0, 1, 1, 0]
    assert not ends[4]  # what was given is left as it is
    none = np.zeros(0, np.int64)
    assert find_leading_nodes(np.zeros(2, np.bool_), none, none).tolist() == [0, 0]
