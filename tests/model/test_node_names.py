"""Names of nodes: each once, and of very many without one made only when they are asked for."""

from __future__ import annotations

import tracemalloc

import netloupe
from netloupe.explorer.model.paths import find_element
from netloupe.proto import onnx_pb2
from tests.hostile_models import redefined_values


def _load(*names: str) -> netloupe.Model:
    proto = onnx_pb2.ModelProto(ir_version=10)
    proto.opset_import.add(version=21)
    for number, name in enumerate(names):
        proto.graph.node.add(op_type="Relu", name=name, input=[f"x{number}"])
    return netloupe.load(proto.SerializeToString())


def _list_ends(model: netloupe.Model) -> list[str]:
    return [node.path.removeprefix("main/") for node in model.graph.nodes]


def test_names_of_nodes_of_which_few_have_one() -> None:
    model = _load("", "/a", "", "", "b")
    assert _list_ends(model) == ["#0:Relu", "a", "#2:Relu", "#3:Relu", "b"]
    for node in model.graph.nodes:
        assert model[node.path] is node
    for path in ("#0:Gelu", "#1:Relu", "#7:Relu", "#:Relu", f"#{'9' * 5000}:Relu"):
        assert find_element(model, f"main/{path}") is None


def test_a_name_like_that_of_another_node_or_a_value_is_told_apart() -> None:
    assert _list_ends(_load("", "", "", "", "#0:Relu")) == [
        *("#0:Relu", "#1:Relu", "#2:Relu", "#3:Relu", "#0:Relu#2"),
    ]
    assert _list_ends(_load("", "", "", "", "%x"))[-1] == "#4:%x"
    assert _list_ends(_load("", "", "", "", "a", "/a"))[-2:] == ["a", "/a"]


def test_a_path_among_very_many_nodes_is_followed_in_little_memory() -> None:
    def remember(count: int) -> int:
        model = netloupe.load(redefined_values(count))
        assert len(model.graph.nodes) == count + 1
        tracemalloc.start()
        try:
            assert find_element(model, "main/#7:Relu") is model.graph.nodes[7]
            return tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()

    assert (remember(20_000) - remember(10_000)) / 10_000 < 10
