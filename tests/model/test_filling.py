"""Graphs that are filled late: nothing is read before it is asked for, and then all of it."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from netloupe.explorer.model import Graph, Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.onnx.value_infos import Declared
from netloupe.proto import onnx_pb2
from tests.onnx_text import load_text


def make_chain(count: int = 20) -> bytes:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.name = "chain"
    proto.graph.doc_string = "what it is for"
    proto.graph.input.add(name="v0")
    for number in range(count):
        proto.graph.node.add(op_type="Relu", input=[f"v{number}"], output=[f"v{number + 1}"])
    proto.graph.output.add(name=f"v{count}")
    data: bytes = proto.SerializeToString()
    return data


def is_filled(graph: Graph) -> bool:
    return graph._filler is None


@pytest.mark.parametrize(
    "name", ["nodes", "values", "inputs", "outputs", "initializers", "doc", "metadata", "warnings"]
)
def test_whatever_is_asked_for_fills_the_graph(name: str) -> None:
    model = load(make_chain())
    assert not is_filled(model.graph)
    assert model.graph.name == "chain"
    assert model.ir_version == 8
    assert not is_filled(model.graph)
    first = getattr(model.graph, name)
    assert is_filled(model.graph)
    assert getattr(model.graph, name) is first
    assert len(model.graph.nodes) == 20
    assert model.graph.doc == "what it is for"
    assert model.graph.outputs[0].producer is model.graph.nodes[-1]


def test_graphs_that_hold_or_call_others_are_read_at_once() -> None:
    assert is_filled(
        load_text(
            """g (bool c, float[N] x) => (float[N] y) {
                y = If (c) <
                    then_branch = t () => (float[N] z) { z = Neg (x) },
                    else_branch = e () => (float[N] z) { z = Relu (x) }
                >
            }"""
        ).graph
    )
    proto = onnx_pb2.ModelProto.FromString(make_chain())
    proto.functions.add(name="f", domain="d")
    assert is_filled(load(proto.SerializeToString()).graph)


def test_an_unknown_attribute_is_an_error() -> None:
    model = load(make_chain())
    with pytest.raises(AttributeError, match="no attribute 'edges'"):
        model.graph.edges  # type: ignore[attr-defined]  # noqa: B018 - asking is the test
    assert not is_filled(model.graph)


def test_after_an_interrupt_the_graph_is_filled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(make_chain())
    read = Declared.finish

    def interrupt(self: Declared, *arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Declared, "finish", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.graph.nodes  # noqa: B018 - asking is the test
    monkeypatch.setattr(Declared, "finish", read)
    assert [node.index for node in model.graph.nodes] == list(range(20))
    assert len(model.graph.inputs) == len(model.graph.outputs) == 1
    assert not model.graph.warnings


def test_other_threads_see_the_whole_graph_or_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Declared.finish

    def slow(self: Declared, *arguments: Any) -> Any:
        time.sleep(0.05)
        return read(self, *arguments)

    monkeypatch.setattr(Declared, "finish", slow)
    model: Model = load(make_chain())
    seen: list[tuple[int, int]] = []

    def look() -> None:
        seen.append((len(model.graph.nodes), len(model.graph.outputs)))

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [(20, 1)] * 4
