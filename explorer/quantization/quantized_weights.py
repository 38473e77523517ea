"""The stored weights of a model that are quantized, whichever operator or format says so.

Listing them reads no elements. :func:`open_weight` reads scales and zero points of one of them, and
gives its codes and real numbers piece by piece.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from netloupe.explorer.dataflow import find_source, trace_on
from netloupe.explorer.model import (
    Graph,
    Node,
    Tensor,
    Value,
    find_nodes_where,
    find_nodes_with,
    find_quantized_bias,
    list_quantized_operands,
)
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import HANDING_TRAITS, MOVING_TRAITS

from .codebooks import count_codebook_weights
from .layout import (
    Granularity,
    find_storage,
    foresee_granularity,
    is_narrow,
    read_integer,
    read_layout,
)
from .packing import is_packed, unpack_weights
from .simulated import foresee_simulated, read_bit_width, rounds_floats
from .sources import ANNOTATION, Statement, find_statement, list_statements

#: how a file holds a weight: between DequantizeLinear and its user; as operand of an operator on
#: integers; of one that quantizes its other operand as it runs; of one that takes it packed; as
#: floats that are rounded when the model runs; in a Caffe2 tensor; with an annotation
Scheme = Literal[
    "QDQ", "QOperator", "dynamic", "weight-only", "simulated", "Caffe2 int8", "annotation"
]

#: no file holds so many elements
MOST_STORED = 2**63
#: integers of more bits are biases
_MOST_BITS = 16
#: what hands a weight on, perhaps rounded
_HANDING = (*HANDING_TRAITS, "simulates_quantization")
#: by layout of a weight the axis of output channels, -1 for the last one
_AXES = {"conv": 0, "conv_transposed": 1, "linear": -1, "linear_transposed": 0, "table": 0}
_MOST_PASSED = 8
_MOST_CHANNELS = 2**20
_MOST_USERS = 64


@dataclass(frozen=True, slots=True, eq=False)
class QuantizedWeight:
    """A stored weight that is quantized.

    Parameters
    ----------
    value
        The value that holds the codes; the real numbers where rounding is simulated.
    tensor
        The stored tensor, as the file has it.
    scheme
        How the file holds it.
    statement
        What says how it is quantized; None where rounding is simulated, or a code book is used.
    node
        The operator that says it; None for an annotation and for Caffe2's tensors.
    storage
        The name of the codes' type: ``int8``, ``uint4``, ``nf4``; "" where it is not known.
    bits
        Of a code; None where that is not known. Simulated rounding may have fractions.
    dims
        The shape of the codes, one by one; None where they cannot be told apart.
    granularity
        How many weights share a scale, where that is told without reading.
    axis, block_size
        Along which axis scales differ, and how many weights along it share one.
    is_bias
        Whether it is a bias: integers of 32 bits.
    """

    value: Value
    tensor: Tensor
    scheme: Scheme
    statement: Statement | None
    node: Node | None
    storage: str
    bits: float | None
    dims: tuple[int, ...] | None
    granularity: Granularity | None
    axis: int | None
    block_size: int | None
    is_bias: bool = False

    @property
    def path(self) -> str:
        """The path of the stored tensor."""
        return self.tensor.path

    @property
    def size(self) -> int:
        """How many weights there are; 0 where that is not known."""
        if self.dims is None:
            return 0
        count = 1
        for dim in self.dims:
            count *= dim
        return count

    def list_users(self) -> list[Node]:
        """Return the nodes that take the weight: behind DequantizeLinear and Transpose, too."""
        return list_weight_users(self.value, self.node)


def list_quantized_weights(graph: Graph) -> Iterator[QuantizedWeight]:
    """Yield the quantized weights that a graph stores, each once; no elements are read.

    What claims more elements than any file can hold is none.
    """
    return (weight for weight in _list_claimed(graph) if weight.size < MOST_STORED)


def _list_claimed(graph: Graph) -> Iterator[QuantizedWeight]:
    seen: set[Value] = set()
    for statement in list_statements(graph):
        value = _find_source(statement)
        tensor = find_stored_tensor(value) if value is not None else None
        if value is None or tensor is None or value in seen:
            continue
        seen.add(value)
        found = _describe(value, tensor, statement)
        if found is not None:
            yield found
    yield from _list_biases(graph, seen)
    yield from _list_stated(graph, seen)
    yield from _list_simulated(graph, seen)
    yield from _list_coded(graph, seen)


def _find_source(statement: Statement) -> Value | None:
    """Return what holds the codes: perhaps a table whose rows are taken before dequantizing."""
    value = statement.quantized
    source = find_source(value, *MOVING_TRAITS, most=_MOST_PASSED + 1)
    is_moved = source is not value
    return None if is_moved and foresee_granularity(statement) != "per tensor" else source


def _describe(value: Value, tensor: Tensor, statement: Statement) -> QuantizedWeight | None:
    storage = find_storage(statement)
    if storage is None or not is_narrow(storage):
        return None
    if statement.source == ANNOTATION and statement.scale is None and not statement.extra:
        return None
    bits = storage.bits or 0
    block_size, axis = read_layout(statement, value)
    dims: tuple[int, ...] | None = tensor.dims
    if is_packed(statement):
        unpacked = unpack_weights(statement)
        dims = None if unpacked is None else unpacked.dims
    return QuantizedWeight(
        value,
        tensor,
        _name_scheme(statement),
        statement,
        statement.node,
        storage.name,
        bits,
        dims,
        foresee_granularity(statement),
        axis,
        block_size,
        bits > _MOST_BITS,
    )


def _name_scheme(statement: Statement) -> Scheme:
    node = statement.node
    if node is None or statement.source == ANNOTATION:
        return "annotation" if statement.stated is None else "Caffe2 int8"
    if node.operator.has("quantizes", "dequantizes"):
        return "QDQ"
    if node.operator.has("packed_weight"):
        return "weight-only"
    is_dynamic = node.operator.has("dequantizes_result", "scales_product")
    return "dynamic" if is_dynamic else "QOperator"


def _list_biases(graph: Graph, seen: set[Value]) -> Iterator[QuantizedWeight]:
    """Yield the biases of operators on integers, whose scale is the product of two others."""
    for index in find_nodes_where(graph, lambda each: find_quantized_bias(each) is not None):
        node = graph.nodes[int(index)]
        place = find_quantized_bias(node.operator)
        value = None if place is None else node.input(place)
        tensor = find_stored_tensor(value) if value is not None else None
        if value is None or value in seen:
            continue
        if tensor is None or not is_narrow(tensor.dtype):
            continue
        seen.add(value)
        scales = [find_stored_tensor(scale) for scale in list_bias_scales(node)]
        is_single = all(scale is None or scale.size == 1 for scale in scales)
        granularity: Granularity = "per tensor" if is_single else "per channel"
        yield QuantizedWeight(
            value,
            tensor,
            "QOperator",
            Statement(f"operands of {node.op_type}", node, value),
            node,
            tensor.dtype.name,
            tensor.dtype.bits,
            tensor.dims,
            granularity,
            None if is_single else len(tensor.dims) - 1,
            None,
            is_bias=True,
        )


def list_bias_scales(node: Node) -> list[Value]:
    """Return the scales of the two factors that an operator on integers adds a bias to."""
    operands = [*list_quantized_operands(node)]
    places = [each.scale for each in operands if not each.is_output and each.scale is not None]
    found = [node.inputs[place] for place in places if place < len(node.inputs)]
    return [value for value in found[:2] if value is not None]


def _list_stated(graph: Graph, seen: set[Value]) -> Iterator[QuantizedWeight]:
    """Yield tensors beside which scale and zero point stand themselves (Caffe2)."""
    for value in graph.values.values():
        if value in seen or (value.initializer is None and not _gives_stated(value)):
            continue
        statement = find_statement(value, ())
        if statement is None or statement.stated is None:
            continue
        tensor = find_stored_tensor(value)
        if tensor is None:
            continue
        seen.add(value)
        stated, storage = statement.stated, statement.stated.storage
        bits = storage.bits if storage is not None else None
        yield QuantizedWeight(
            value,
            tensor,
            "Caffe2 int8",
            statement,
            None,
            storage.name if storage is not None else "",
            bits,
            tensor.dims,
            "per tensor" if len(stated.scale) == 1 else "per channel",
            stated.axis,
            None,
            (bits or 0) > _MOST_BITS,
        )


def _gives_stated(value: Value) -> bool:
    node = value.producer
    if node is None or node.inputs:
        return False
    return node.graph.dialect.is_self_quantized(node)


def _list_simulated(graph: Graph, seen: set[Value]) -> Iterator[QuantizedWeight]:
    """Yield float weights that are rounded when the model runs."""
    for index in find_nodes_where(graph, rounds_floats).tolist():
        node = graph.nodes[index]
        value = node.input(0)
        tensor = find_stored_tensor(value) if value is not None else None
        if value is None or tensor is None or value in seen or not tensor.dtype.is_float:
            continue
        seen.add(value)
        storage, granularity, axis, block_size = foresee_simulated(node, tensor)
        bits = read_bit_width(node)
        yield QuantizedWeight(
            value,
            tensor,
            "simulated",
            None,
            node,
            storage,
            bits,
            tensor.dims,
            granularity,
            axis,
            block_size,
        )


def _list_coded(graph: Graph, seen: set[Value]) -> Iterator[QuantizedWeight]:
    """Yield weights whose codes stand for the entries of a code book."""
    for index in find_nodes_with(graph, "codebook_weight").tolist():
        node = graph.nodes[index]
        value = node.input(1)
        tensor = find_stored_tensor(value) if value is not None else None
        if value is None or tensor is None or value in seen:
            continue
        seen.add(value)
        counted = count_codebook_weights(node, tensor)
        yield QuantizedWeight(
            value,
            tensor,
            "weight-only",
            None,
            node,
            "nf4" if read_integer(node, "quant_type", 1) == 1 else "fp4",
            4,
            counted,
            "per block",
            None,
            read_integer(node, "block_size"),
        )


def list_weight_users(value: Value, node: Node | None) -> list[Node]:
    """Return the nodes that take a weight; what only hands it on is passed by.

    Parameters
    ----------
    value
        The value that holds the stored numbers.
    node
        The operator that says how they are quantized; None for all users of the value.
    """
    if node is not None and not node.operator.has(*_HANDING):
        return [node]
    if any(u.operator.weight_layout == "table" and u.input(0) is value for u in value.users[:1]):
        return [*value.users[:_MOST_USERS]]
    found: dict[Node, None] = {}
    for user, _ in trace_on(value, *_HANDING, most=_MOST_PASSED):
        found[user] = None
        if len(found) >= _MOST_USERS:
            break
    return [*found]


def find_output_axis(weight: QuantizedWeight) -> int | None:
    """Return the axis of a weight along which its output channels lie.

    Returns
    -------
    int or None
        Where scales differ along one axis it is that one. Else what the operator's definition
        says: Conv [M, C/group, …] and Caffe2's Int8FC [M, K] have 0, ConvTranspose of one group
        and a matrix [K, N] of MatMul 1, a table of Gather its rows. None where nothing tells it,
        and of more than a million channels.
    """
    axis = _find_axis(weight)
    dims = weight.dims or ()
    return axis if axis is not None and dims[axis] <= _MOST_CHANNELS else None


def has_many_channels(weight: QuantizedWeight) -> bool:
    """Return whether a weight has more output channels than are looked at one by one."""
    axis = _find_axis(weight)
    return axis is not None and (weight.dims or ())[axis] > _MOST_CHANNELS


def _find_axis(weight: QuantizedWeight) -> int | None:
    dims = weight.dims
    if not dims:
        return None
    if weight.granularity == "per channel" and weight.axis is not None:
        return weight.axis if 0 <= weight.axis < len(dims) else None
    node = weight.node
    if node is not None and node.operator.has("packed_weight"):
        return None if node.operator.has("routes_experts") else 0  # each expert has its own
    users = weight.list_users()
    taker = next((user for user in users if user.operator.weight_layout in _AXES), None)
    if taker is None:
        return None
    axis = 0 if read_integer(taker, "transB", 0) else _AXES[taker.operator.weight_layout]
    if taker.operator.has("transposed") and read_integer(taker, "group", 1) != 1:
        return None
    if axis == -1:
        axis = len(dims) - 1 if len(dims) == 2 else len(dims)
    return axis if axis < len(dims) and len(dims) > 1 else None
