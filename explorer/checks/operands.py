"""What rules ask of nodes and their operands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeGuard

import numpy as np

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import (
    DataType,
    Graph,
    Node,
    SparseTensorType,
    TensorType,
    Value,
    find_nodes_where,
)
from netloupe.explorer.model.operand_places import count_places
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import Operator

Array = np.ndarray[Any, Any]

#: domains of which the table of operators has every operator
KNOWN_DOMAINS = frozenset({"", "ai.onnx.ml"})
#: that of ONNX Runtime, of which the table has what one release of it has
CONTRIB_DOMAIN = "com.microsoft"
#: constants of more elements are not read for a rule about one node
MOST_ELEMENTS_READ = 65_536


def list_own_nodes(graphs: Iterable[Graph], op_type: str) -> Iterator[Node]:
    """Yield the nodes of one of the format's own operators, or of the same in other domains."""
    return _list_own_nodes_where(graphs, lambda operator: operator.op_type == op_type)


def list_own_nodes_with(graphs: Iterable[Graph], *traits: str) -> Iterator[Node]:
    """Yield the nodes of those of the format's own operators that have any of some traits."""
    return _list_own_nodes_where(graphs, lambda operator: operator.has(*traits))


def _list_own_nodes_where(
    graphs: Iterable[Graph], holds: Callable[[Operator], bool]
) -> Iterator[Node]:
    for graph in graphs:
        for index in find_nodes_where(graph, holds).tolist():
            node = graph.nodes[index]
            if graph.dialect.is_own(node):
                yield node


def is_operator(node: Node | None, op_type: str) -> TypeGuard[Node]:
    """Return whether there is a node, of this one of the format's own operators."""
    return node is not None and node.op_type == op_type and node.graph.dialect.is_own(node)


def take_attribute(node: Node, name: str, default: Any = None) -> Any:
    """Return the value of an attribute; the default without it, None for a reference."""
    attribute = node.attributes.get(name)
    return default if attribute is None else attribute.value


def find_output_channel_axis(node: Node, rank: int) -> int | None:
    """Return the axis of a weight along which output channels lie; None where no one axis is it.

    ONNX operators: Conv [M, C/group, …], ConvTranspose with one group [C, M, …], Gemm [K, N]
    or [N, K] with transB, MatMul [K, N].
    """
    match node.operator.weight_layout:
        case "conv" | "linear_transposed":
            return 0
        case "conv_transposed":
            return 1 if take_attribute(node, "group", 1) == 1 else None
        case "linear":
            return 0 if take_attribute(node, "transB", 0) else rank - 1
        case _:
            return None


def read_constant(value: Value | None, most: int = MOST_ELEMENTS_READ) -> Array | None:
    """Return the elements of a stored constant; None where it is computed, large or unreadable."""
    tensor = find_stored_tensor(value) if value is not None else None
    if tensor is None or tensor.size > most:
        return None
    try:
        found = tensor.numpy()
    except NetloupeError:
        return None
    return found if found.dtype.kind != "O" else None


def find_dtype_of(value: Value | None) -> DataType | None:
    """Return the element type of a value as far as the file states it."""
    if value is None:
        return None
    stated = value.type
    if isinstance(stated, TensorType | SparseTensorType):
        return stated.dtype
    tensor = find_stored_tensor(value)
    return None if tensor is None else tensor.dtype


def find_only_user(value: Value | None) -> Node | None:
    """Return the node that alone takes a value, where that is no output of the graph."""
    if value is None or value.is_output or len(value.users) != 1:
        return None
    user = value.users[0]
    return user if user.graph is value.graph and count_places(user, value) == 1 else None
