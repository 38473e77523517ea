"""Tables of very many nodes are read in columns, and are what they are when read one by one."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

from netloupe.explorer.grouping import signatures
from netloupe.explorer.grouping.signatures import NodeTable
from netloupe.explorer.model import Node
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file

MODELS = [
    "exported/gpt2.legacy.onnx",
    "exported/unet.dynamo.onnx",
    "exported/condloop.dynamo.onnx",
    "exported/lstm.legacy-functions.onnx",
    "quantized/bert.qdq.onnx",
    "features/control_flow_3deep.onnx",
    "features/functions_nested_transformer.onnx",
    "caffe2/control/predict_net.pb",
    "hostile/caffe2/control_input_predict_net.pb",
    "runtimes/missing_inputs.onnx",
]


def read_both(nodes: list[Node], monkeypatch: pytest.MonkeyPatch) -> tuple[NodeTable, NodeTable]:
    tables = []
    for many in (0, len(nodes) + 1):
        monkeypatch.setattr(signatures, "_MANY", many)
        tables.append(NodeTable(nodes, {}))
    return tables[0], tables[1]


def list_edges(table: NodeTable) -> list[tuple[int, int]]:
    return sorted(zip(table.sources.tolist(), table.targets.tolist(), strict=True))


def test_nodes_of_very_many_operands_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 31 operands on a form is no number any more; of a Concat it tells nothing."""
    taken = {
        **{f"a{k}": ("Relu", ["x"]) for k in range(3)},
        "b": ("Join", ["a0"] * 31),
        "c": ("Join", ["a1"] * 31),
        "d": ("Join", ["a0"] * 30),
        "e": ("Join", ["", *["a0"] * 30]),
        "f": ("Concat", ["a0", "a1"]),
        "g": ("Concat", ["a0", "a1", "a2"]),
        "y": ("Join", ["b", "c", "d", "e", "f", "g"]),
    }
    nodes = [
        helper.make_node(op_type, inputs, [name], domain="own" if op_type == "Join" else "")
        for name, (op_type, inputs) in taken.items()
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y")]
    model = helper.make_model(helper.make_graph(nodes, "main", ends[:1], ends[1:]))
    columns, loop = read_both([*load(model.SerializeToString()).graph.nodes], monkeypatch)
    assert columns.kinds.tolist() == loop.kinds.tolist() == [0, 0, 0, 1, 1, 2, 3, 4, 4, 5]
    assert np.array_equal(columns.producers, loop.producers)
    assert list_edges(columns) == list_edges(loop)


@pytest.mark.parametrize("part", ["all", "every second", "backwards", "the first half"])
@pytest.mark.parametrize("name", MODELS)
def test_both_ways_give_the_same(name: str, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for graph in load(corpus_file(name)).graphs:
        nodes = {
            "all": [*graph.nodes],
            "every second": graph.nodes[::2],
            "backwards": graph.nodes[::-1],
            "the first half": graph.nodes[: len(graph.nodes) // 2],
        }[part]
        if not nodes:
            continue
        columns, loop = read_both([*nodes], monkeypatch)
        for field in ("kinds", "producers", "sources", "starts", "recurrent", "used_outside"):
            assert np.array_equal(getattr(columns, field), getattr(loop, field)), field
        assert list_edges(columns) == list_edges(loop)
