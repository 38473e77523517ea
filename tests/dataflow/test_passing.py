"""What a value was before operators that hand it on."""

from __future__ import annotations

import pytest
from onnx import helper

from netloupe.explorer.dataflow import (
    find_giver,
    find_operand,
    find_source,
    list_users,
    takes_computed,
    trace_back,
    trace_back_where,
    trace_on,
)
from netloupe.explorer.model import Model
from netloupe.explorer.operators import (
    CONVERTING_TRAITS,
    HANDING_TRAITS,
    LAYOUT_TRAITS,
    MOVING_TRAITS,
    PASSING_TRAITS,
    find_operator,
)
from netloupe.explorer.readers.load import load
from tests.onnx_text import load_text

#: an operator for each trait that hands its first operand on, with its further operands
_HANDING = {
    "casts": ("Cast", []),
    "copies": ("Identity", []),
    "permutes": ("Transpose", []),
    "reshapes": ("Reshape", ["w"]),
    "dequantizes": ("DequantizeLinear", ["w"]),
    "quantizes": ("QuantizeLinear", ["w"]),
    "drops_out": ("Dropout", []),
    "picks": ("Slice", ["w", "w"]),
    "repeats": ("Expand", ["w"]),
    "gathers": ("Gather", ["w"]),
    "moves_pixels": ("DepthToSpace", []),
}
_SETS = {
    "layout": LAYOUT_TRAITS,
    "converting": CONVERTING_TRAITS,
    "handing": HANDING_TRAITS,
    "passing": PASSING_TRAITS,
    "moving": MOVING_TRAITS,
}


def make_chain(*operators: tuple[str, list[str]]) -> Model:
    """Return a model in which operators take one after the other what a Relu gives."""
    nodes = [helper.make_node("Relu", ["x"], ["v0"])]
    for place, (op_type, more) in enumerate(operators):
        nodes.append(helper.make_node(op_type, [f"v{place}", *more], [f"v{place + 1}"]))
    given = helper.make_tensor_value_info("x", 1, [1])
    output = helper.make_tensor_value_info(f"v{len(operators)}", 1, [1])
    stored = [helper.make_tensor("w", 7, [1], [1])]
    opset = [helper.make_opsetid("", 21)]
    graph = helper.make_graph(nodes, "g", [given], [output], stored)
    return load(helper.make_model(graph, opset_imports=opset))


def test_every_trait_that_hands_on_is_tried() -> None:
    assert _HANDING.keys() == {trait for traits in _SETS.values() for trait in traits}
    for trait, (op_type, _) in _HANDING.items():
        assert find_operator("", op_type).has(trait), op_type


@pytest.mark.parametrize("trait", _HANDING)
@pytest.mark.parametrize("asked", _SETS)
def test_each_trait_hands_on_where_it_is_asked_for(trait: str, asked: str) -> None:
    model = make_chain(_HANDING[trait])
    source = find_source(model.graph.values["v1"], *_SETS[asked])
    wanted = "v0" if trait in _SETS[asked] else "v1"
    assert source is model.graph.values[wanted]


def test_all_on_the_way_are_given_the_nearest_first() -> None:
    model = make_chain(_HANDING["casts"], _HANDING["copies"], _HANDING["permutes"])
    found = [value.name for value in trace_back(model.graph.values["v3"], *LAYOUT_TRAITS)]
    assert found == ["v3", "v2", "v1", "v0"]
    found = [value.name for value in trace_back(model.graph.values["v3"], "permutes", "copies")]
    assert found == ["v3", "v2", "v1"]
    assert [value.name for value in trace_back(model.graph.values["v3"], "casts")] == ["v3"]


def test_so_many_values_at_most() -> None:
    value = make_chain(*[_HANDING["copies"]] * 9).graph.values["v9"]
    assert [one.name for one in trace_back(value, "copies", most=3)] == ["v9", "v8", "v7"]
    assert len([*trace_back(value, "copies", most=100)]) == 10
    source = find_source(value, "copies", most=2)
    assert source is not None
    assert source.name == "v8"


def test_of_nothing_there_is_nothing() -> None:
    assert [*trace_back(None, *HANDING_TRAITS)] == []
    assert find_source(None, *HANDING_TRAITS) is None
    assert find_giver(None, "copies", through=HANDING_TRAITS) is None


def test_a_cycle_and_an_operand_that_is_missing_end_the_way() -> None:
    nodes = [
        helper.make_node("Identity", ["b"], ["a"]),
        helper.make_node("Identity", ["a"], ["b"]),
        helper.make_node("Identity", [""], ["c"]),
        helper.make_node("Identity", [], ["d"]),
    ]
    output = helper.make_tensor_value_info("b", 1, [1])
    values = load(helper.make_model(helper.make_graph(nodes, "g", [], [output]))).graph.values
    assert len([*trace_back(values["a"], "copies", most=7)]) == 7
    assert [one.name for one in trace_back(values["c"], "copies")] == ["c"]
    assert [one.name for one in trace_back(values["d"], "copies")] == ["d"]


def test_a_way_leads_out_of_a_body() -> None:
    model = load_text("""
        g (bool c, float[N] x) => (float[N] y) {
            r = Relu (x)
            t = Identity (r)
            y = If (c) <
                then_branch = a () => (float[N] p) { i = Identity (t) p = Abs (i) },
                else_branch = b () => (float[N] q) { q = Neg (x) }
            >
        }
    """)
    body, _ = model.graph.subgraphs
    assert find_source(body.values["i"], "copies") is model.graph.values["r"]


def test_which_nodes_hand_on_may_be_told_of_each() -> None:
    model = make_chain(_HANDING["copies"], _HANDING["casts"])
    passing = model.graph.nodes[2]
    found = trace_back_where(model.graph.values["v2"], lambda node: node is passing)
    assert [value.name for value in found] == ["v2", "v1"]


def test_the_nearest_giver_is_found() -> None:
    model = make_chain(_HANDING["casts"], _HANDING["copies"])
    value = model.graph.values["v2"]
    assert find_giver(value, "activates", through=LAYOUT_TRAITS) is model.graph.nodes[0]
    assert find_giver(value, "casts", "activates", through=("copies",)) is model.graph.nodes[1]
    assert find_giver(value, "activates", through=("copies",)) is None
    assert find_giver(value, "activates", through=LAYOUT_TRAITS, most=2) is None
    assert find_giver(model.graph.inputs[0], "activates", through=LAYOUT_TRAITS) is None


def test_users_of_all_results() -> None:
    model = load_text("""
        g (float[4] x) => (float[2] y) <int64[2] n = {2, 2}> {
            a, b = Split (x, n)
            c = Add (a, b)
            y = Mul (b, c)
        }
    """)
    split, add, mul = model.graph.nodes
    assert list_users(split) == [add, add, mul]
    assert list_users(mul) == []


def test_operands_by_role() -> None:
    model = load_text("""
        g (float[1, 3, 4, 4] x) => (float[1, 2, 4, 4] y) <float[2, 3, 1, 1] w> {
            c = Conv (x, w)
            y = Reshape (c, s)
        }
    """)
    conv, reshape = model.graph.nodes
    assert find_operand(conv, "weight") is conv.inputs[1]
    assert find_operand(conv, "bias") is None
    assert find_operand(conv, "shape") is None
    assert find_operand(reshape, "weight", "shape") is reshape.inputs[1]


def test_a_node_takes_what_is_computed_or_constants_alone() -> None:
    model = load_text("""
        g (float[N] x) => (float[N] y) <float[1] w = {1}> {
            k = Constant <value = float {3}> ()
            a = Add (w, k)
            b = Clip (w, , k)
            c = Clip (a, , k)
            d = RandomNormal <shape = [1]> ()
            y = Add (x, c)
        }
    """)
    found = {node.output(0).name: takes_computed(node) for node in model.graph.nodes}  # type: ignore[union-attr]
    assert found == {"k": False, "a": False, "b": False, "c": True, "d": False, "y": True}


def test_uses_behind_what_hands_on() -> None:
    model = load_text("""
        g (float[N] x) => (float[N] y) {
            r = Relu (x)
            a = Identity (r)
            t = Transpose (a)
            s = Shape (t)
            n = Neg (r)
            y = Reshape (n, s)
        }
    """)
    values, (_, copy, turn, shape, negate, _) = model.graph.values, model.graph.nodes
    found = [*trace_on(values["r"], *LAYOUT_TRAITS)]
    assert found == [(negate, values["r"]), (shape, values["t"])]
    # what is handed on is the first operand alone
    assert [user for user, _ in trace_on(values["s"], *LAYOUT_TRAITS)] == [model.graph.nodes[-1]]
    assert [*trace_on(values["r"])] == [(copy, values["r"]), (negate, values["r"])]
    assert [user for user, _ in trace_on(values["r"], *LAYOUT_TRAITS, most=1)] == [negate, turn]
    assert [*trace_on(values["y"], *LAYOUT_TRAITS)] == []


def test_uses_in_a_cycle_and_by_many_ways_are_told_once() -> None:
    nodes = [helper.make_node("Identity", ["b"], ["a"])]
    nodes += [helper.make_node("Identity", ["a"], ["b"]), helper.make_node("Neg", ["b"], ["c"])]
    output = helper.make_tensor_value_info("c", 1, [1])
    graph = load(helper.make_model(helper.make_graph(nodes, "g", [], [output]))).graph
    assert [user for user, _ in trace_on(graph.values["a"], "copies")] == [graph.nodes[2]]
