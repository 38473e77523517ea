"""A graph that is read by columns is the same as one that is read node by node."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Graph
from netloupe.explorer.model.reading import get_model_reading
from netloupe.explorer.model.wiring import read_wiring
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.onnx import graph as onnx_graph
from netloupe.explorer.readers.onnx import model as reader
from netloupe.explorer.readers.onnx import parts
from tests.model_check import list_facts


@contextmanager
def columns_from(least: int, packed: int = 2**40) -> Iterator[list[bool]]:
    """Read graphs of so many nodes by columns; gives whether that went well, for each graph.

    The nodes of graphs of at least ``packed`` are not kept as messages.
    """
    done: list[bool] = []
    add_nodes = onnx_graph.add_nodes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "MANY_NODES", least)
        patch.setattr(parts, "MOST_MESSAGES", packed)
        patch.setattr(
            onnx_graph,
            "add_nodes",
            lambda *given: done.append(add_nodes(*given)) or done[-1],
        )
        yield done


def facts_of(source: Path | onnx.ModelProto) -> object:
    try:
        model = load(source)
        for graph in model.graphs:
            assert_wiring(graph)
        return list_facts(model)
    except NetloupeError as error:
        return str(error)


def assert_wiring(graph: Graph) -> None:
    """Compare the wiring that a reader made with one made from the nodes."""
    wiring = graph.wiring
    inputs = [value for node in graph.nodes for value in node.inputs]
    assert [wiring.values[n] if n >= 0 else None for n in wiring.used.tolist()] == inputs
    assert np.diff(wiring.bounds).tolist() == [len(node.inputs) for node in graph.nodes]
    for value, index in zip(wiring.values, wiring.producers.tolist(), strict=True):
        producer = value.producer
        inside = producer is not None and producer.graph is graph
        assert index == (producer.index if inside and producer is not None else -1)
    made = read_wiring(graph)
    numbers = zip(wiring.operators.tolist(), made.operators.tolist(), strict=True)
    assert len(set(numbers)) == len(set(wiring.operators.tolist()))
    assert len(set(made.operators.tolist())) == len(set(wiring.operators.tolist()))
    assert wiring.with_others == made.with_others


def assert_same_both_ways(source: Path | onnx.ModelProto) -> list[bool]:
    with columns_from(2**40):
        expected = facts_of(source)
    with columns_from(0, packed=0) as done:
        assert facts_of(source) == expected
    with columns_from(0) as done:
        assert facts_of(source) == expected
    return done


def model_of(*nodes: onnx.NodeProto, infos: tuple[str, ...] = ()) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
        [helper.make_tensor("w", TensorProto.FLOAT, [2], [1, 2])],
        value_info=[
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [number])
            for number, name in enumerate(infos)
        ],
    )
    return helper.make_model(graph)


RELU = helper.make_node("Relu", ["x"], ["a"], "relu")
ADD = helper.make_node("Add", ["a", "w"], ["y"], "add")


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(model_of(RELU, ADD), id="plain"),
        pytest.param(model_of(RELU, ADD, infos=("a", "y")), id="with types"),
        pytest.param(model_of(RELU, ADD, infos=("a", "gone")), id="a type of nothing"),
        pytest.param(model_of(RELU, ADD, infos=("a", "a", "x", "w")), id="types given twice"),
        pytest.param(
            model_of(
                helper.make_node("Clip", ["x", "", "w"], ["a"]),
                helper.make_node("Unique", ["a"], ["", "b", "", "c"]),
                helper.make_node("Sum", ["b", "c", "b", "x"], ["y"], domain="com.example"),
            ),
            id="operands left out",
        ),
        pytest.param(model_of(ADD, infos=("a",)), id="a type alone defines nothing"),
    ],
)
def test_graphs_of_each_kind(model: onnx.ModelProto) -> None:
    assert_same_both_ways(model)


@pytest.mark.parametrize(
    ("model", "is_read"),
    [
        (model_of(RELU, ADD, infos=("a",)), True),
        (model_of(ADD, RELU), False),  # used before it is defined
        (model_of(RELU, RELU, ADD), True),  # defined twice
        (model_of(RELU, helper.make_node("Relu", ["a"], ["w"]), ADD), True),
        (model_of(helper.make_node("Relu", ["a"], ["a"]), ADD), False),
        (model_of(helper.make_node("Relu", ["nobody"], ["a"]), ADD), False),
    ],
)
def test_columns_are_for_graphs_as_they_should_be(model: onnx.ModelProto, is_read: bool) -> None:
    assert assert_same_both_ways(model) == [is_read]


def test_a_name_like_the_key_of_another_value_is_read_one_by_one() -> None:
    model = model_of(RELU, RELU, helper.make_node("Relu", ["a"], ["a#2"]), ADD)
    assert assert_same_both_ways(model) == []


@given(st.data())
def test_any_wiring(data: st.DataObject) -> None:
    names = st.sampled_from(["", "x", "w", "a", "b", "c", "d", "e", "y", "x#2", "a#2", "a#3"])
    nodes = [
        helper.make_node(
            data.draw(st.sampled_from(["Relu", "Add", "Constant"])),
            data.draw(st.lists(names, max_size=3)),
            data.draw(st.lists(names, max_size=2)),
            domain=data.draw(st.sampled_from(["", "com.example"])),
        )
        for _ in range(data.draw(st.integers(1, 6)))
    ]
    infos = tuple(data.draw(st.lists(names, max_size=4)))
    assert_same_both_ways(model_of(*nodes, infos=infos))


def test_packed_nodes_are_read_one_by_one_where_columns_are_not_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reader, "MANY_NODES", 0)
    expected = facts_of(model_of(RELU, ADD))
    monkeypatch.setattr(parts, "MOST_MESSAGES", 0)
    monkeypatch.setattr(parts, "read_columns", lambda *_: None)
    assert facts_of(model_of(RELU, ADD)) == expected


def test_shapes_are_inferred_where_nodes_are_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MANY_NODES", 0)
    monkeypatch.setattr(parts, "MOST_MESSAGES", 0)
    model = load(model_of(RELU, ADD), infer_shapes=True)
    assert len(get_model_reading(model).parts.proto.graph.node) == 0
    assert str(model.value("a").inferred_type) == "float32[2]"


def test_small_graphs_and_those_with_subgraphs_are_read_one_by_one() -> None:
    body = helper.make_graph([helper.make_node("Relu", ["x"], ["r"])], "b", [], [])
    branch = helper.make_node("If", ["x"], ["y"], then_branch=body, else_branch=body)
    with columns_from(0) as done:
        assert load(model_of(branch)).graph.nodes[0].subgraphs
        assert done == []
    with columns_from(reader.MANY_NODES) as done:
        assert len(load(model_of(RELU, ADD)).graph.nodes) == 2
        assert done == []
