"""What is found of nodes and values once, though many groups around them ask for it."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper, numpy_helper

from netloupe.explorer.model import Graph
from netloupe.explorer.patterns import attention_streams, recognise, try_to_recognise
from netloupe.explorer.patterns.graph_context import find_graph_context
from netloupe.explorer.patterns.operations import Operations
from netloupe.explorer.patterns.readings import holds_ones
from netloupe.explorer.readers.load import load

_HEADER = '<ir_version: 10, opset_import: ["" : 21]>'


def graph_of(nodes: str, given: str = "float[n] y") -> Graph:
    return load(f"{_HEADER} g (float[n] x) => ({given}) {{ {nodes} }}".encode()).graph


def test_the_same_nodes_are_recognised_once() -> None:
    nodes = graph_of("s = Sigmoid(x)  y = Mul(x, s)").nodes
    found = try_to_recognise(nodes)
    assert found == recognise(nodes)
    assert found is not None
    assert found.name == "SiLU"
    assert try_to_recognise(tuple(nodes)) is found
    assert try_to_recognise(nodes[:1]) != found


def test_groups_that_are_asked_for_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    module = __import__(recognise.__module__, fromlist=["recognise"])
    monkeypatch.setattr(module, "_MOST_KNOWN", 2)
    asked: list[int] = []
    monkeypatch.setattr(module, "recognise", lambda nodes, _: asked.append(len(nodes)))
    nodes = graph_of("a = Abs(x)  b = Abs(a)  y = Abs(b)").nodes
    for count in (1, 2, 3, 3, 2, 1, 3):
        try_to_recognise(nodes[:count])
    assert asked == [1, 2, 3, 1]


def test_forms_of_many_values_are_not_all_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_streams, "_MOST_KNOWN", 2)
    graph = graph_of("a = Relu(x)  b = Relu(a)  c = Relu(b)  y = Relu(c)")
    operations = Operations(graph.nodes, find_graph_context(graph))
    values = [node.output(0) for node in graph.nodes]
    forms = [attention_streams.find_common_form(operations, one, values[0]) for one in values]
    again = [attention_streams.find_common_form(operations, one, values[0]) for one in values]
    assert None not in forms
    assert forms == again
    assert len(graph._kept[attention_streams._KnownForms]) == 2


def test_ones_are_told_from_other_numbers() -> None:
    def holds(array: np.ndarray, most: int = 4) -> bool:
        tensor = numpy_helper.from_array(array, "t")
        model = helper.make_model(
            helper.make_graph([helper.make_node("Identity", ["t"], ["y"])], "g", [], [], [tensor])
        )
        return holds_ones(load(model.SerializeToString()).graph.initializers[0], most)

    assert holds(np.ones(4, np.float32))
    assert holds(np.ones((), np.int64))
    assert not holds(np.array([1, 1, 2, 1], np.float32))
    assert not holds(np.array([1, np.nan], np.float32))
    assert not holds(np.ones(5, np.float32))
    assert not holds(np.ones(0, np.float32))
    assert not holds(np.array(["1"], object))
    assert not holds_ones(None, 4)
