"""Constants: which values never change, and which nodes only give them.

A constant is shown as a row on the face of its consumers instead of as a node.
"""

from __future__ import annotations

from typing import Literal

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.operators import Operator, kept_with_catalogue

from .graph import Graph
from .node import Node
from .sparse_tensor import SparseTensor
from .tensor import Tensor
from .value import Value
from .wiring import find_nodes_where

#: how an operator gives a constant: it holds the elements itself (``stored``), it converts a
#: stored constant that is its first operand (``dequantized``), or it repeats one element in a
#: shape that is its first operand (``filled``)
ConstantSource = Literal["stored", "dequantized", "filled"]
#: of functions inside of one another that a constant is followed into
_MOST_CALLS = 40


@kept_with_catalogue(maxsize=1024)
def find_constant_source(operator: Operator) -> ConstantSource | None:
    """Return how an operator gives a constant; None for all others."""
    if operator.has("stores_constant"):
        return "stored"
    if operator.has("dequantizes") and operator.is_quantized:
        return "dequantized"
    return "filled" if operator.has("fills") else None


def is_constant_node(node: Node) -> bool:
    """Return whether a node only gives a constant.

    That is an operator without inputs that stores one (ONNX: Constant; Caffe2: fills), and one
    that dequantizes stored constants or fills a shape that is one. A node is not counted as such
    where its result is an output of the graph, since then there would be nothing to show the
    output on.
    """
    source = find_constant_source(node.operator)
    if source is None or len(node.outputs) != 1 or not _is_used_inside(node):
        return False
    if source == "stored":
        return not node.inputs and not node.control_inputs
    # only directly over stored constants, so that odd chains need no recursion
    return bool(node.inputs) and all(
        operand is None or _is_stored(operand) for operand in node.inputs
    )


def find_constant_nodes(graph: Graph) -> list[int]:
    """Return the indices of the nodes of a graph that only give a constant."""
    giving = find_nodes_where(graph, lambda operator: find_constant_source(operator) is not None)
    return [index for index in giving.tolist() if is_constant_node(graph.nodes[index])]


def is_constant(value: Value) -> bool:
    """Return whether a value is a weight or other initializer, or a constant node's result."""
    if value.initializer is not None or value.is_parameter:
        return True
    return value.producer is not None and is_constant_node(value.producer)


def _is_stored(value: Value) -> bool:
    if value.initializer is not None:
        return True
    producer = value.producer
    return producer is not None and not producer.inputs and _gives(producer, "stored")


def _gives(node: Node, source: ConstantSource) -> bool:
    return find_constant_source(node.operator) == source


def _is_used_inside(node: Node) -> bool:
    value = node.output(0)
    return value is not None and not value.is_output and value.is_used


def called_constant(value: Value) -> Value | None:
    """Return the stored constant inside a function that a call of it gives as a value.

    A function may give what it only stores, as those of torch's older exporter do for constants
    that are shared across modules. None where anything is computed for the value.
    """
    found: Value | None = value
    for _ in range(_MOST_CALLS):
        node = None if found is None else found.producer
        function = None if node is None else node.function
        if node is None or function is None or found not in node.outputs:
            break
        index = node.outputs.index(found)
        found = function.outputs[index] if index < len(function.outputs) else None
    if found is None or found is value or found.producer is None:
        return None
    is_stored = not found.producer.inputs and _gives(found.producer, "stored")
    return found if is_stored else None


def constant_tensor(value: Value) -> Tensor | SparseTensor | None:
    """Return the stored tensor behind a constant value; None where there is none.

    For a dequantized constant this is the quantized tensor.
    """
    if value.initializer is not None:
        return value.initializer
    producer = value.producer
    if producer is None:
        return None
    if _gives(producer, "dequantized"):
        operand = producer.input(0)
        if operand is None or operand is value or operand.producer is producer:
            return None
        if operand.initializer is not None:
            return operand.initializer
        producer = operand.producer
        if producer is None:
            return None
    return producer.details.constant if _gives(producer, "stored") else None


def describe_constant(value: Value, limit: int = 8) -> str:
    """Return a constant that no stored tensor holds: ``[0, -1]``, ``"abc"``, ``@k``, ``⟨3×4⟩``."""
    if value.is_parameter:
        return "in the init net"
    producer = value.producer
    if producer is not None and _gives(producer, "filled"):
        return _describe_fill(producer, limit)
    if producer is None or not _gives(producer, "stored"):
        return ""
    for attribute in producer.attributes.values():
        if attribute.reference:
            return f"@{attribute.reference}"
        if attribute.name not in producer.graph.dialect.constant_attributes:
            continue
        content = attribute.value
        if isinstance(content, tuple):
            shown = ", ".join(_describe_scalar(entry) for entry in content[:limit])
            return f"[{shown}{', …' if len(content) > limit else ''}]"
        if isinstance(content, (int, float, str, bytes)):
            return _describe_scalar(content)
    return ""


def _describe_fill(node: Node, limit: int) -> str:
    operand = node.input(0)
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
