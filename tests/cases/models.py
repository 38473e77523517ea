"""What the cases are made of: a small ONNX model around given nodes and weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import onnx
import onnx.parser
from onnx import TensorProto, helper


def value(name: str, dims: Sequence[int | str | None] = (1,), kind: int = TensorProto.FLOAT) -> Any:
    """Return the declaration of a tensor."""
    return helper.make_tensor_value_info(name, kind, list(dims))


def make_model(
    nodes: Iterable[onnx.NodeProto],
    weights: Iterable[onnx.TensorProto] = (),
    inputs: Iterable[Any] | None = None,
    outputs: Iterable[Any] | None = None,
    **fields: Any,
) -> onnx.ModelProto:
    """Return a model from x to y, where nothing else is given; ``fields`` are of the model."""
    graph = onnx.GraphProto(name="g")
    graph.node.extend(nodes)
    graph.initializer.extend(weights)
    graph.input.extend([value("x")] if inputs is None else inputs)
    graph.output.extend([value("y")] if outputs is None else outputs)
    opsets = fields.pop("opsets", {"": 18})
    model = onnx.ModelProto(**({"ir_version": 8, "graph": graph} | fields))
    for domain, version in opsets.items():
        model.opset_import.add(domain=domain, version=version)
    return model


def node(op_type: str, inputs: str, outputs: str, name: str = "", **attributes: Any) -> Any:
    """Return a node; its inputs and outputs are given as words."""
    return helper.make_node(op_type, inputs.split(), outputs.split(), name=name, **attributes)


def relu(name: str = "r") -> Any:
    """Return a node from x to y."""
    return node("Relu", "x", "y", name)


def weighted(*weights: onnx.TensorProto) -> bytes:
    """Return a model of one node that holds weights."""
    return make_model([relu()], weights).SerializeToString()


def parse(text: str, header: str = 'ir_version: 10, opset_import: ["": 18, "local": 1]') -> Any:
    """Return the model of a text in ONNX's own syntax."""
    return onnx.parser.parse_model(f"<{header}>\n{text}")
