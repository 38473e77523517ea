"""Small networks that notes are written on, in several versions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load


def make_chain(
    depth: int = 4,
    *,
    seed: int = 0,
    names: str = "layer.{}/{}",
    left_out: int | None = None,
    doubled: bool = False,
) -> onnx.ModelProto:
    """Return layers of MatMul, Add and Relu, one behind the other.

    Parameters
    ----------
    depth
        How many layers.
    seed
        Of the weights; those of a layer do not depend on the others.
    names
        How nodes are called, with places for the layer's number and the operator.
    left_out
        The layer that is missing.
    doubled
        Whether all layers have the same weights.
    """
    nodes, weights, value = [], [], "x"
    count = 0
    for layer in range(depth):
        if layer == left_out:
            continue
        random = np.random.default_rng(seed if doubled else 1_000 * seed + layer)
        for kind in ("MatMul", "Add", "Relu"):
            taken = [value]
            if kind != "Relu":
                shape = (16, 16) if kind == "MatMul" else (16,)
                weight = f"w{count}"
                array = random.normal(size=shape).astype(np.float32)
                weights.append(numpy_helper.from_array(array, weight))
                taken.append(weight)
            value = f"v{count}"
            nodes.append(helper.make_node(kind, taken, [value], names.format(layer, kind, n=count)))
            count += 1
    nodes[-1].output[0] = "y"
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        weights,
    )
    opsets = [helper.make_opsetid("", 21)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def save_chain(path: Path, proto: onnx.ModelProto | None = None) -> Model:
    """Write a network to a file and load it."""
    path.write_bytes((make_chain() if proto is None else proto).SerializeToString())
    return load(path)
