"""Stacks of blocks, by which blocks they have in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import netloupe

_WIDTH = 8


def make_stack(
    order: Sequence[int],
    *,
    named_by: str = "block",
    prefix: str = "layers.",
    changed: Callable[[int, np.ndarray], np.ndarray] = lambda block, array: array,
    activation: Callable[[int], str] = lambda block: "Tanh",
    more: Sequence[onnx.NodeProto] = (),
) -> onnx.ModelProto:
    """Return a model of blocks, each with weights that are its own.

    Parameters
    ----------
    order
        The blocks by number: a number that stands twice is the same block twice.
    named_by
        ``block``: names have the number of the block; ``place``: that of its place.
    prefix
        What the names of blocks begin with.
    changed
        What is made of the weights of a block.
    activation
        The operator of a block.
    more
        Nodes behind the first one.
    """
    nodes = [helper.make_node("Mul", ["x", "scale"], ["h"], "/stem/Mul"), *more]
    arrays = {"scale": np.linspace(1, 2, _WIDTH, dtype=np.float32)}
    stream = "h"
    for place, block in enumerate(order):
        name = f"{prefix}{block if named_by == 'block' else place}"
        if named_by == "block" and block in order[:place]:
            name += f"_{place}"
        chance = np.random.default_rng(100 + block)
        weight = changed(block, chance.standard_normal((_WIDTH, _WIDTH)).astype(np.float32))
        arrays[f"{name}.fc.weight"] = weight
        arrays[f"{name}.fc.bias"] = chance.standard_normal(_WIDTH).astype(np.float32)
        scope = f"/{name}"
        out = f"h{place}"
        nodes += [
            helper.make_node(
                "MatMul", [stream, f"{name}.fc.weight"], [f"{scope}/m"], f"{scope}/fc/MatMul"
            ),
            helper.make_node(
                "Add", [f"{scope}/m", f"{name}.fc.bias"], [f"{scope}/a"], f"{scope}/fc/Add"
            ),
            helper.make_node(activation(block), [f"{scope}/a"], [f"{scope}/t"], f"{scope}/act"),
            helper.make_node("Add", [stream, f"{scope}/t"], [out], f"{scope}/Add"),
        ]
        stream = out
    nodes.append(helper.make_node("Softmax", [stream], ["y"], "/head/Softmax"))
    shape = ["n", _WIDTH]
    graph = helper.make_graph(
        nodes,
        "stack",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])


def compare(left: onnx.ModelProto, right: onnx.ModelProto) -> netloupe.Diff:
    """Return what differs between two models."""
    one, other = (netloupe.load(model.SerializeToString()) for model in (left, right))
    return netloupe.diff(one, other)
