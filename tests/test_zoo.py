"""Skeletons of real architectures: small, silent of the machine, filled when unpacked."""

from __future__ import annotations

import lzma
import re
from math import prod
from pathlib import Path

import onnx
import pytest

from tests.zoo import ZOO, unpack

FOLDER = Path(__file__).parent / "zoo"


@pytest.mark.parametrize("name", ZOO)
def test_a_skeleton_is_small_and_tells_nothing_of_a_machine(name: str) -> None:
    packed = (FOLDER / f"{name}.xz").read_bytes()
    assert len(packed) < 100_000
    stored = lzma.decompress(packed)
    assert not re.search(rb"site-packages|stack_trace|/home/|/tmp/|[a-z]\.py\b", stored)


@pytest.mark.parametrize("name", ZOO)
def test_every_tensor_is_filled_the_same_in_every_run(name: str) -> None:
    data = unpack(name)
    assert data == unpack(name)
    model = onnx.ModelProto.FromString(data)
    weights = [tensor for tensor in model.graph.initializer if prod(tensor.dims)]
    assert len(weights) >= 4
    for tensor in weights:
        assert onnx.numpy_helper.to_array(tensor).shape == tuple(tensor.dims)


@pytest.mark.parametrize("name", ZOO)
def test_every_input_is_used_for_more_than_its_shape(name: str) -> None:
    graph = onnx.ModelProto.FromString(unpack(name)).graph
    pending = [graph]
    users: dict[str, set[str]] = {}
    while pending:
        inner = pending.pop()
        for node in inner.node:
            pending += [a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
            for value in node.input:
                users.setdefault(value, set()).add(node.op_type)
    for value in graph.input:
        assert users[value.name] - {"Shape", "Size"}, value.name
