"""What several nodes take that became one, and who takes what they give."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.compare import diff
from netloupe.explorer.compare.difference import Diff

_CHANNELS = 3
Arrays = dict[str, np.ndarray[Any, Any]]


class Wiring(NamedTuple):
    """What the second block takes, and which results a subtraction takes."""

    second: str
    taken: tuple[str, str]


#: x is the input, b0 and b1 are what the two blocks give
WIRINGS = [
    Wiring(second, taken)
    for second in ("x", "b0")
    for taken in itertools.product(("b0", "b1"), repeat=2)
]


def make_block(kind: str, number: int, *, is_fused: bool) -> tuple[list[dict[str, Any]], Arrays]:
    """Return the nodes of a block, which takes ``in`` and gives ``out``, and its weights."""
    chance = np.random.default_rng(number)
    weight = chance.normal(size=(_CHANNELS, _CHANNELS, 1, 1)).astype(np.float32)
    bias, shift, mean = chance.normal(size=(3, _CHANNELS)).astype(np.float32)
    scale, variance = chance.uniform(0.5, 1.5, (2, _CHANNELS)).astype(np.float32)
    if kind == "activation":
        if is_fused:
            node = {"op_type": "FusedConv", "inputs": ["in", "w"], "outputs": ["out"]}
            return [{**node, "domain": "com.microsoft", "activation": "Relu"}], {"w": weight}
        return [
            {"op_type": "Conv", "inputs": ["in", "w"], "outputs": ["c"]},
            {"op_type": "Relu", "inputs": ["c"], "outputs": ["out"]},
        ], {"w": weight}
    given: Arrays = {"w": weight, "b": bias} if kind == "bias" else {"w": weight}
    if is_fused:
        factor = scale / np.sqrt(variance + np.float32(1e-5))
        first = bias if kind == "bias" else np.float32(0)
        given = {
            "w": weight * factor[:, None, None, None],
            "b": (first - mean) * factor + shift,
        }
        return [{"op_type": "Conv", "inputs": ["in", *given], "outputs": ["out"]}], given
    norms = {"s": scale, "t": shift, "m": mean, "v": variance}
    return [
        {"op_type": "Conv", "inputs": ["in", *given], "outputs": ["c"]},
        {"op_type": "BatchNormalization", "inputs": ["c", *norms], "outputs": ["out"]},
    ], given | norms


def make_model(kind: str, wiring: Wiring, *, is_fused: bool) -> onnx.ModelProto:
    """Make a model of two blocks of a kind, and the difference of two of their results."""
    nodes, stored = [], []
    for number, source in enumerate(("x", wiring.second)):
        block, weights = make_block(kind, number, is_fused=is_fused)
        names = {"in": source, "out": f"b{number}"}
        for each in block:
            inputs, outputs = (
                [names.get(name, f"{name}{number}") for name in each.pop(key)]
                for key in ("inputs", "outputs")
            )
            nodes.append(helper.make_node(each.pop("op_type"), inputs, outputs, **each))
        stored += [numpy_helper.from_array(a, f"{n}{number}") for n, a in weights.items()]
    nodes.append(helper.make_node("Sub", wiring.taken, ["y"]))
    shape = [1, _CHANNELS, 4, 4]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy"]
    graph = helper.make_graph(nodes, "graph", ends[:1], ends[1:], stored)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def list_told(found: Diff) -> list[str]:
    """Return what differs beside that several nodes became one."""
    return [change.what for entry in found.entries if entry.is_real for change in entry.changes] + [
        entry.topic for entry in found.entries if entry.is_real and entry.topic != "fused"
    ]


@pytest.mark.parametrize("kind", ["activation", "normalization", "bias"])
@pytest.mark.parametrize("is_turned", [False, True])
def test_fused_nodes_that_are_wired_otherwise_are_told(kind: str, is_turned: bool) -> None:
    """All wirings of two blocks, each beside each: only of equal ones is nothing told."""
    for wirings in itertools.product(WIRINGS, WIRINGS):
        sides = [
            make_model(kind, wiring, is_fused=place != is_turned)
            for place, wiring in enumerate(wirings)
        ]
        found = diff(*sides)
        assert bool(list_told(found)) == (wirings[0] != wirings[1]), wirings


@pytest.mark.parametrize("taken", ["x", "u"])
def test_an_operand_that_fused_nodes_take_no_more_is_told(taken: str) -> None:
    def make(nodes: list[onnx.NodeProto]) -> onnx.ModelProto:
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 4]) for name in "xuy"]
        stored = [numpy_helper.from_array(np.arange(4, dtype=np.float32), name) for name in "gb"]
        graph = helper.make_graph(nodes, "graph", ends[:2], ends[2:], stored)
        imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=imports, ir_version=8)

    written = [
        helper.make_node("Add", ["x", "u"], ["s"]),
        helper.make_node("LayerNormalization", ["s", "g", "b"], ["y"], epsilon=1e-5),
    ]
    fused = helper.make_node(
        "SkipLayerNormalization",
        ["x", taken, "g", "b"],
        ["y"],
        domain="com.microsoft",
        epsilon=1e-5,
    )
    found = diff(make(written), make([fused]))
    changes = [change.what for entry in found.entries if entry.is_real for change in entry.changes]
    assert changes == (["input"] if taken == "x" else [])
