"""Linear attention of chunks with a state between them, however many chunks there are."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.patterns import recognise
from netloupe.explorer.readers.load import load

_HEADS, _WIDTH, _LENGTH = 2, 4, 3


class _Writer:
    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.stored: list[onnx.TensorProto] = []

    def add(self, op_type: str, *inputs: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(op_type, inputs, [f"v{len(self.nodes)}"], **attributes))
        return f"v{len(self.nodes) - 1}"

    def store(self, *dims: int) -> str:
        array = np.arange(1, 1 + np.prod(dims), dtype="f").reshape(dims)
        self.stored.append(numpy_helper.from_array(array, f"w{len(self.stored)}"))
        return self.stored[-1].name

    def numbers(self, *values: int) -> str:
        name = f"w{len(self.stored)}"
        self.stored.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def project(self, x: str, *, is_mapped: bool) -> str:
        width = _HEADS * _WIDTH
        y = self.add("MatMul", x, self.store(width, width))
        if is_mapped:
            y = self.add("Mul", y, self.add("Sigmoid", y))
        y = self.add("Reshape", y, self.numbers(1, -1, _HEADS, _WIDTH))
        return self.add("Transpose", y, perm=[0, 2, 1, 3])

    def cut(self, value: str, number: int) -> str:
        start, end = number * _LENGTH, (number + 1) * _LENGTH
        return self.add("Slice", value, *map(self.numbers, (start, end, 2)))


def _tell(count: int, *, is_mapped: bool = True, square: int = _LENGTH) -> str:
    """Return what attention of so many chunks is recognised as."""
    writer = _Writer()
    query, key, value = (writer.project("x", is_mapped=is_mapped) for _ in range(3))
    state = writer.store(1, _HEADS, _WIDTH, _WIDTH)
    results = []
    for number in range(count):
        q, k, v = (writer.cut(each, number) for each in (query, key, value))
        scores = writer.add("MatMul", q, writer.add("Transpose", k, perm=[0, 1, 3, 2]))
        scores = writer.add("Mul", scores, writer.store(1, _HEADS, square, _LENGTH))
        before = writer.add("Mul", q, writer.store(_HEADS, _LENGTH, 1))
        before = writer.add("MatMul", before, state)
        results.append(writer.add("Add", before, writer.add("MatMul", scores, v)))
        if number < count - 1:
            fallen = writer.add("Mul", k, writer.store(_HEADS, _LENGTH, 1))
            more = writer.add("MatMul", writer.add("Transpose", fallen, perm=[0, 1, 3, 2]), v)
            state = writer.add("Add", writer.add("Mul", state, writer.store(_HEADS, 1, 1)), more)
    joined = writer.add("Concat", *results, axis=2)
    turned = writer.add("Transpose", joined, perm=[0, 2, 1, 3])
    shape = writer.numbers(1, -1, _HEADS * _WIDTH)
    y = writer.add("MatMul", writer.add("Reshape", turned, shape), writer.store(8, 8))
    dims = [1, count * _LENGTH, _HEADS * _WIDTH]
    given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)]
    taken = [helper.make_tensor_value_info(y, TensorProto.FLOAT, dims)]
    graph = helper.make_graph(writer.nodes, "", given, taken, writer.stored)
    opsets = [helper.make_opsetid("", 21)]
    nodes = load(helper.make_model(graph, opset_imports=opsets).SerializeToString()).graph.nodes
    found = recognise([node for node in nodes if node.op_type != "Constant"])
    return found.text if found is not None else ""


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("is_mapped", [False, True])
def test_chunks_with_a_state_are_linear_attention(count: int, *, is_mapped: bool) -> None:
    told = "Linear attention, 2 heads × 4, causal, chunks of 3"
    assert _tell(count, is_mapped=is_mapped) == told


def test_what_has_no_stored_square_of_decays_is_none() -> None:
    assert "Linear attention" not in _tell(3, square=1)
