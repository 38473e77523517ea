"""Constants: which values never change, and which nodes only give them.

A constant is shown as a row on the face of its consumers instead of as a node.
"""

from __future__ import annotations

from netloupe.explorer.errors import TensorDataError

from .graph import Graph
from .node import Node
from .sparse_tensor import SparseTensor
from .tensor import Tensor
from .value import Value
from .wiring import find_operators

_ONNX = ("", "ai.onnx")
#: Caffe2 operators that give a stored tensor, or one element many times
_FILLS = frozenset(
    (
        "ConstantFill",
        "GivenTensorBoolFill",
        "GivenTensorByteStringToUInt8Fill",
        "GivenTensorDoubleFill",
        "GivenTensorFill",
        "GivenTensorInt16Fill",
        "GivenTensorInt64Fill",
        "GivenTensorIntFill",
        "GivenTensorStringFill",
        "Int8GivenIntTensorFill",
        "Int8GivenTensorFill",
    )
)
#: operators that only give a constant, or may
_GIVERS = _FILLS | {"Constant", "ConstantOfShape", "DequantizeLinear"}


def is_constant_node(node: Node) -> bool:
    """Return whether a node only gives a constant.

    That is Constant, DequantizeLinear or ConstantOfShape over stored constants, and a fill of
    Caffe2 without inputs. A node is not counted as such where its result is an output of the
    graph, since then there would be nothing to show the output on.
    """
    if node.op_type not in _GIVERS or len(node.outputs) != 1 or not _is_used_inside(node):
        return False
    if node.domain == "caffe2":
        return node.op_type in _FILLS and not node.inputs and not node.control_inputs
    if node.domain not in _ONNX:
        return False
    if node.op_type == "Constant":
        return not node.inputs
    # only directly over stored constants, so that odd chains need no recursion
    return (
        node.op_type in ("DequantizeLinear", "ConstantOfShape")
        and bool(node.inputs)
        and all(operand is None or _is_stored(operand) for operand in node.inputs)
    )


def find_constant_nodes(graph: Graph) -> list[int]:
    """Return the indices of the nodes of a graph that only give a constant."""
    candidates = find_operators(graph, _GIVERS).tolist()
    return [index for index in candidates if is_constant_node(graph.nodes[index])]


def is_constant(value: Value) -> bool:
    """Return whether a value is a weight or other initializer, or a constant node's result."""
    if value.initializer is not None or value.is_parameter:
        return True
    return value.producer is not None and is_constant_node(value.producer)


def _is_stored(value: Value) -> bool:
    if value.initializer is not None:
        return True
    producer = value.producer
    return producer is not None and producer.op_type == "Constant" and not producer.inputs


def _is_used_inside(node: Node) -> bool:
    value = node.outputs[0]
    return value is not None and not value.is_output and value.is_used


def constant_tensor(value: Value) -> Tensor | SparseTensor | None:
    """Return the stored tensor behind a constant value; None where there is none.

    For a dequantized constant this is the quantized tensor.
    """
    if value.initializer is not None:
        return value.initializer
    producer = value.producer
    if producer is None:
        return None
    if producer.op_type == "DequantizeLinear":
        operand = producer.inputs[0] if producer.inputs else None
        if operand is None or operand is value or operand.producer is producer:
            return None
        if operand.initializer is not None:
            return operand.initializer
        producer = operand.producer
        if producer is None:
            return None
    if producer.domain == "caffe2":
        return producer.details.constant if producer.op_type in _FILLS else None
    if producer.op_type != "Constant":
        return None
    for attribute in producer.attributes.values():
        if isinstance(attribute.value, (Tensor, SparseTensor)):
            return attribute.value
    return None


def describe_constant(value: Value, limit: int = 8) -> str:
    """Return a constant that no stored tensor holds: ``[0, -1]``, ``"abc"``, ``@k``, ``⟨3×4⟩``."""
    if value.is_parameter:
        return "in the init net"
    producer = value.producer
    if producer is not None and producer.op_type == "ConstantOfShape":
        return _describe_fill(producer, limit)
    if producer is None or producer.op_type != "Constant":
        return ""
    for attribute in producer.attributes.values():
        if attribute.reference:
            return f"@{attribute.reference}"
        content = attribute.value
        if isinstance(content, tuple):
            shown = ", ".join(_describe_scalar(entry) for entry in content[:limit])
            return f"[{shown}{', …' if len(content) > limit else ''}]"
        if isinstance(content, (int, float, str, bytes)):
            return _describe_scalar(content)
    return ""


def _describe_fill(node: Node, limit: int) -> str:
    operand = node.inputs[0] if node.inputs else None
    shape = constant_tensor(operand) if operand is not None else None
    if shape is None or shape.size > limit:
        return "filled"
    try:
        dims = [str(dim) for dim in shape.numpy().ravel()]
    except TensorDataError:
        return "filled"
    return f"⟨{'×'.join(dims)}⟩" if dims else "scalar"


def _describe_scalar(entry: object) -> str:
    if isinstance(entry, float):
        return f"{entry:.6g}"
    return repr(entry) if isinstance(entry, (str, bytes)) else str(entry)
