"""At which block a difference stands that is told of the whole model, but is about a part of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.compare import diff
from netloupe.explorer.ladder.account import Account
from netloupe.explorer.readers.load import load

_BLOCKS = 4
_CHANGED = 2
Give = Callable[[onnx.GraphProto, str, float], None]


def give_dense(graph: onnx.GraphProto, name: str, number: float) -> None:
    graph.initializer.append(numpy_helper.from_array(np.full(4, number, np.float32), name))


def make_sparse(name: str, number: float) -> onnx.SparseTensorProto:
    return helper.make_sparse_tensor(
        helper.make_tensor(name, TensorProto.FLOAT, [1], [number]),
        helper.make_tensor("", TensorProto.INT64, [1], [2]),
        [4],
    )


def give_sparse(graph: onnx.GraphProto, name: str, number: float) -> None:
    graph.sparse_initializer.append(make_sparse(name, number))


def give_constant(graph: onnx.GraphProto, name: str, number: float) -> None:
    graph.node.insert(0, helper.make_node("Constant", [], [name], value_float=number))


def give_sparse_constant(graph: onnx.GraphProto, name: str, number: float) -> None:
    sparse = make_sparse("", number)
    graph.node.insert(0, helper.make_node("Constant", [], [name], sparse_value=sparse))


def make_blocks(give: Give, number: float) -> onnx.ModelProto:
    """Return blocks that each add a constant; that of one of them has a number of its own."""
    graph = onnx.GraphProto(name="g")
    last = "x"
    for block in range(_BLOCKS):
        scope = f"/block.{block}"
        weight = np.full((4, 4), block + 1, np.float32)
        graph.initializer.append(numpy_helper.from_array(weight, f"w{block}"))
        graph.node.extend(
            [
                helper.make_node("MatMul", [last, f"w{block}"], [f"m{block}"], f"{scope}/MatMul"),
                helper.make_node("Add", [f"m{block}", f"c{block}"], [f"a{block}"], f"{scope}/Add"),
                helper.make_node("Relu", [f"a{block}"], [f"r{block}"], f"{scope}/Relu"),
            ]
        )
        give(graph, f"c{block}", number if block == _CHANGED else float(block))
        last = f"r{block}"
    graph.input.append(helper.make_tensor_value_info("x", 1, [2, 4]))
    graph.output.append(helper.make_tensor_value_info(last, 1, [2, 4]))
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def call_functions(alpha: float) -> onnx.ModelProto:
    """Return blocks that each call a function of their own with a default."""
    proto = make_blocks(give_dense, 2.0)
    for block in range(_BLOCKS):
        call = next(node for node in proto.graph.node if node.name == f"/block.{block}/Add")
        call.op_type, call.domain = f"F{block}", "local"
        number = alpha if block == _CHANGED else 0.5
        inner = helper.make_node("LeakyRelu", ["p"], ["s"])
        inner.attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="alpha", type=1))
        add = helper.make_node("Add", ["s", "c"], ["q"])
        proto.functions.append(
            helper.make_function(
                *("local", f"F{block}", ["p", "c"], ["q"], [inner, add]),
                [helper.make_opsetid("", 18)],
                attribute_protos=[helper.make_attribute("alpha", number)],
            )
        )
    return proto


def list_places(before: onnx.ModelProto, after: onnx.ModelProto) -> tuple[list[str], list[int]]:
    """Return the nodes of both main graphs at which something differs, and what has no place."""
    found = Account(diff(load(before), load(after)))
    nodes = {
        node.name for side in found._sides for node in (*side._entries, *side._held) if node.name
    }
    return sorted(nodes), found.around["model"]


@pytest.mark.parametrize(
    "give",
    [give_dense, give_sparse, give_constant, give_sparse_constant],
    ids=lambda give: give.__name__,
)
def test_other_numbers_of_a_constant_are_at_the_block_that_takes_it(give: Give) -> None:
    before, after = make_blocks(give, 2.0), make_blocks(give, 7.0)
    assert list_places(before, after) == ([f"/block.{_CHANGED}/Add"], [])


def test_a_sparse_constant_that_became_a_dense_one_is_at_its_block() -> None:
    def give(graph: onnx.GraphProto, name: str, number: float) -> None:
        (give_dense if name == f"c{_CHANGED}" else give_sparse)(graph, name, number)

    before, after = make_blocks(give_sparse, 2.0), make_blocks(give, 2.0)
    for sides in ((before, after), (after, before)):
        assert list_places(*sides) == ([f"/block.{_CHANGED}/Add"], [])


def test_a_sparse_constant_of_a_branch_is_at_the_node_that_holds_the_branch() -> None:
    def make(number: float) -> onnx.ModelProto:
        proto = make_blocks(give_dense, 2.0)
        relu = next(node for node in proto.graph.node if node.name == f"/block.{_CHANGED}/Relu")
        branches = []
        for name in ("then", "else"):
            inner = helper.make_graph(
                [helper.make_node("Add", [relu.input[0], f"{name}_c"], [f"{name}_r"])],
                name,
                [],
                [helper.make_tensor_value_info(f"{name}_r", 1, [2, 4])],
            )
            give_sparse(inner, f"{name}_c", number if name == "then" else 1.0)
            branches.append(inner)
        del relu.input[:]
        relu.input.append("c")
        relu.op_type = "If"
        relu.attribute.append(helper.make_attribute("then_branch", branches[0]))
        relu.attribute.append(helper.make_attribute("else_branch", branches[1]))
        proto.graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
        return proto

    assert list_places(make(2.0), make(7.0)) == ([f"/block.{_CHANGED}/Relu"], [])


def test_the_default_of_a_function_is_at_the_nodes_that_call_it() -> None:
    places = list_places(call_functions(0.5), call_functions(0.25))
    assert places == ([f"/block.{_CHANGED}/Add"], [])


def test_what_nothing_takes_is_of_the_whole_model() -> None:
    before, after = make_blocks(give_dense, 2.0), make_blocks(give_dense, 2.0)
    give_sparse(before.graph, "unused", 1.0)
    give_sparse(after.graph, "unused", 3.0)
    assert list_places(before, after) == ([], [0])
