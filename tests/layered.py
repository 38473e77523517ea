"""A small model of named layers with named groups in them, as exporters write transformers."""

from __future__ import annotations

from onnx import ModelProto, helper

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load

PARTS = {"attn": ("Relu", "Sigmoid", "Tanh"), "mlp": ("Neg", "Abs", "Exp")}


def make_layers(count: int = 4, *, extra_in: int = -1) -> Model:
    """Return layers ``layers.0/attn``, ``layers.0/mlp``, …; one may hold a group more."""
    return load(make_layers_proto(count, extra_in=extra_in).SerializeToString())


def make_layers_proto(count: int = 4, *, extra_in: int = -1) -> ModelProto:
    """Return the same as a message."""
    nodes = []
    last = "x"
    for layer in range(count):
        parts = {"norm": ("Log", "Sqrt"), **PARTS} if layer == extra_in else PARTS
        for part, operators in parts.items():
            for op_type in operators:
                name = f"/layers.{layer}/{part}/{op_type}"
                nodes.append(helper.make_node(op_type, [last], [name], name=name))
                last = name
    nodes.append(helper.make_node("Identity", [last], ["y"], name="/out"))
    x, y = (helper.make_tensor_value_info(name, 1, [4]) for name in "xy")
    return helper.make_model(helper.make_graph(nodes, "layers", [x], [y]))
