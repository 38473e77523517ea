"""Where a model says how a value is quantized: annotations, and operands of operators.

Only the wiring is read here, and what operators without operands for scales state of themselves;
other attributes and tensor data are left to :mod:`netloupe.explorer.quantization.record`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from netloupe.explorer.model import (
    Graph,
    Node,
    QuantizedOperand,
    StatedQuantization,
    Tensor,
    Value,
    find_nodes_where,
    list_quantized_operands,
)
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.operators import Operator

from .products import find_integer_scale

ANNOTATION = "quantization_annotation"

#: what FINN and QONNX annotate beside types
_NOT_OF_QUANTIZATION = ("tensor_layout", "tensor_sparsity")
_FLOAT_TYPES = ("FLOAT16", "FLOAT32", "FLOAT64")

#: of a value with more users it is looked up which of them say how it is quantized
_MANY_USERS = 1_000


class Statement(NamedTuple):
    """What the file says of a value's quantization, before attributes and data are read.

    Parameters
    ----------
    source
        As in :class:`~netloupe.explorer.quantization.record.Quantization`.
    node
        The operator that says it; None for an annotation.
    quantized
        The value that holds the stored numbers.
    scale, zero_point
        The values that hold these.
    axis
        The axis that the operator's definition fixes for scales that differ; None where
        attributes say it, or nothing does.
    extra
        Other keys of an annotation, verbatim.
    stated
        Scale and zero point themselves, where no values hold them.
    """

    source: str
    node: Node | None = None
    quantized: Value | None = None
    scale: Value | None = None
    zero_point: Value | None = None
    axis: int | None = None
    extra: tuple[tuple[str, str], ...] = ()
    stated: StatedQuantization | None = None


def find_statement(value: Value, users: Iterable[Node] | None = None) -> Statement | None:
    """Find what says how a value is quantized: annotation, then producer, then users.

    Parameters
    ----------
    value
        Any value.
    users
        The nodes that take the value to look at; None for all, which may be many thousands.
    """
    if value.annotation is not None:
        return _read_annotation(value)
    stated = _find_stated(value)
    if stated is not None:
        return Statement(stated.source, value.producer, value, stated=stated)
    producer = value.producer
    if producer is not None:
        for operand in list_quantized_operands(producer):
            if operand.is_output and _at(producer.outputs, operand.index) is value:
                return _state(operand, producer)
    for user in _choose_users(value) if users is None else users:
        for operand in list_quantized_operands(user):
            if not operand.is_output and _at(user.inputs, operand.index) is value:
                return _state(operand, user)
    return None


def is_quantizing(statement: Statement) -> bool:
    """Return whether a statement says that a value is quantized: annotations may say it is float.

    FINN and QONNX annotate every tensor with its type in ``finn_datatype``, those of floating
    point as ``FLOAT32`` too, and with its layout (qonnx, ``core/datatype.py``); their small
    floating-point types, such as ``FLOAT<4,3,7>``, are quantized.
    """
    value = statement.quantized
    if statement.source != ANNOTATION or value is None or value.annotation is None:
        return True
    told = [each for each in value.annotation.entries if each[0] not in _NOT_OF_QUANTIZATION]
    return any(key != "finn_datatype" or text not in _FLOAT_TYPES for key, text in told)


class QuantizingNodes(NamedTuple):
    """By value of a graph, the nodes that take it and say how it is quantized."""

    by_value: dict[Value, set[Node]]


def _choose_users(value: Value) -> Sequence[Node]:
    """Return users of a value, in order, among them all that say how it is quantized.

    Of a value with very many the few are found that do, if any: it may be asked for by each of
    its users.
    """
    users = value.users
    if len(users) <= _MANY_USERS:
        return users
    graph = value.graph
    quantizing = find_kept(graph, QuantizingNodes, lambda: _find_quantizing(graph))
    chosen = quantizing.by_value.get(value)
    return [user for user in users if user in chosen] if chosen else ()


def _find_quantizing(graph: Graph) -> QuantizingNodes:
    """Return by value the nodes that take it, and say how it is quantized, for a graph's values."""
    found: dict[Value, set[Node]] = {}
    model = graph.model  # training graphs see the values of the main graph
    for each in model.graphs if graph is model.graph else (graph, *graph.subgraphs):
        for index in find_nodes_where(each, _is_quantized).tolist():
            node = each.nodes[index]
            for operand in list_quantized_operands(node):
                value = None if operand.is_output else _at(node.inputs, operand.index)
                if value is not None and value.graph is graph:
                    found.setdefault(value, set()).add(node)
    return QuantizingNodes(found)


def list_statements(graph: Graph) -> Iterator[Statement]:
    """Yield everything that annotations and nodes of a graph say of quantized values."""
    for annotation in graph.annotations:
        value = graph.values.get(annotation.tensor_name)
        if value is not None and value.annotation is not None:
            yield _read_annotation(value)
    for index in find_nodes_where(graph, _is_quantized).tolist():
        node = graph.nodes[index]
        for operand in list_quantized_operands(node):
            yield _state(operand, node)


def may_state_quantization(graph: Graph) -> bool:
    """Return whether annotations or nodes of a graph may say how values are quantized."""
    if graph.annotations or graph.dialect.self_quantized_prefixes:
        return True
    return len(find_nodes_where(graph, _is_quantized)) > 0


def _is_quantized(operator: Operator) -> bool:
    return operator.is_quantized


def state_zero_point(value: Value) -> Statement | None:
    """Find the weights that a value is the zero points of, where an operator takes both packed."""
    for user in value.users:
        if user.operator.has("packed_weight"):
            for operand in list_quantized_operands(user):
                if _at(user.inputs, operand.zero_point) is value:
                    return _state(operand, user)
    return None


def _find_stated(value: Value) -> StatedQuantization | None:
    """Return what stands beside a tensor, or in the attributes of the operator that gives it."""
    if isinstance(value.initializer, Tensor):
        return value.initializer.quantization
    node = value.producer
    if node is None or value.output_index != 0:
        return None
    return node.details.quantization if node.graph.dialect.is_self_quantized(node) else None


def _read_annotation(value: Value) -> Statement:
    assert value.annotation is not None  # noqa: S101 - the caller has looked
    named: dict[str, Value | None] = {"SCALE_TENSOR": None, "ZERO_POINT_TENSOR": None}
    extra = []
    for key, text in value.annotation.entries:
        if key in named:
            named[key] = _find_value(value.graph, text)
        else:
            extra.append((key, text))
    return Statement(
        ANNOTATION,
        quantized=value,
        scale=named["SCALE_TENSOR"],
        zero_point=named["ZERO_POINT_TENSOR"],
        extra=tuple(extra),
    )


def _find_value(graph: Graph, name: str) -> Value | None:
    """Find a value by name in a graph or those around it."""
    scope: Graph | None = graph
    while scope is not None:
        if name in scope.values:
            return scope.values[name]
        scope = scope.parent_node.graph if scope.parent_node is not None else None
    return None


def _state(operand: QuantizedOperand, node: Node) -> Statement:
    """Return what a node says of one of its quantized operands."""
    parameters = node.outputs if operand.scale_is_output else node.inputs
    scale = _at(parameters, operand.scale)
    if operand.scales_product:
        scale = find_integer_scale(node, operand.index)
    quantized = operand.index if operand.quantized is None else operand.quantized
    is_output = operand.is_output if operand.quantized is None else operand.quantized_is_output
    return Statement(
        operand.source or f"operands of {node.op_type}",
        node,
        _at(node.outputs if is_output else node.inputs, quantized),
        scale,
        _at(parameters, operand.zero_point),
        operand.axis,
    )


def _at(values: tuple[Value | None, ...], index: int | None) -> Value | None:
    return values[index] if index is not None and 0 <= index < len(values) else None
