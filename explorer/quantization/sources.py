"""Where a model says how a value is quantized: annotations, and operands of operators.

Only the wiring is read here, and the arguments of Caffe2's operators, which have no operands for
scales; other attributes and tensor data are left to :mod:`netloupe.explorer.quantization.record`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from netloupe.explorer.model import Graph, Node, StatedQuantization, Tensor, Value, data_type

from .products import INTEGER_OPS, find_integer_scale

ANNOTATION = "quantization_annotation"
PAIRS = "QuantizeLinear/DequantizeLinear"
PAIR_OPS = ("QuantizeLinear", "DequantizeLinear")
#: operators whose weights are packed, with a scale for each block
BLOCKED_OPS = ("MatMulNBits", "MatMulNBitsMlp", "MatMulNBitsQkv", "GatherBlockQuantized")


@dataclass(frozen=True, slots=True)
class Statement:
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
        Scale and zero point themselves, where no values hold them (Caffe2).
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
    if producer is not None and producer.op_type in _OPERANDS:
        for operand in _list_operands(producer):
            if operand.is_output and _at(producer.outputs, operand.index) is value:
                return operand.state(producer)
    for user in value.users if users is None else users:
        if user.op_type in _OPERANDS:
            for operand in _list_operands(user):
                if not operand.is_output and _at(user.inputs, operand.index) is value:
                    return operand.state(user)
    return None


def state_zero_point(value: Value) -> Statement | None:
    """Find the weights that a value is the zero points of, where a blocked operator takes both."""
    for user in value.users:
        if user.op_type in BLOCKED_OPS:
            for operand in _list_operands(user):
                if _at(user.inputs, operand.zero_point) is value:
                    return operand.state(user)
    return None


def _find_stated(value: Value) -> StatedQuantization | None:
    """Return what stands beside a tensor, or in the arguments of the Int8 operator that gives it.

    Caffe2 (operators/quantized): ``Y_scale`` and ``Y_zero_point`` are those of the first output,
    which is uint8; of Int8GivenIntTensorFill it is int32.
    """
    if isinstance(value.initializer, Tensor):
        return value.initializer.quantization
    node = value.producer
    if node is None or node.domain != "caffe2" or not node.op_type.startswith("Int8"):
        return None
    if value.output_index != 0 or _read_number(node, "dequantize_output"):
        return None
    scale, zero_point = _read_number(node, "Y_scale"), _read_number(node, "Y_zero_point")
    if scale is None:
        return None
    storage = "int32" if node.op_type == "Int8GivenIntTensorFill" else "uint8"
    return StatedQuantization(
        f"arguments of {node.op_type}",
        (scale,),
        () if zero_point is None else (zero_point,),
        None,
        data_type(storage),
    )


def _read_number(node: Node, name: str) -> float | None:
    attribute = node.attributes.get(name)
    value = attribute.value if attribute is not None else None
    return float(value) if isinstance(value, int | float) else None


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


@dataclass(frozen=True, slots=True)
class _Operand:
    """Where a quantized operator has one quantized operand, and its scale and zero point.

    Indices are those of inputs; of ``index`` that of outputs where ``is_output``, and of
    ``quantized`` with its own flag: the place of the stored numbers.
    """

    index: int
    scale: int | None
    zero_point: int | None
    is_output: bool = False
    axis: int | None = None
    quantized: int | None = None
    quantized_is_output: bool = False
    scale_is_output: bool = False

    def state(self, node: Node) -> Statement:
        parameters = node.outputs if self.scale_is_output else node.inputs
        scale = _at(parameters, self.scale)
        if node.op_type in INTEGER_OPS:
            scale = find_integer_scale(node, self.index)
        quantized = self.index if self.quantized is None else self.quantized
        is_output = self.is_output if self.quantized is None else self.quantized_is_output
        name = node.op_type
        return Statement(
            PAIRS if name in PAIR_OPS else f"operands of {name}",
            node,
            _at(node.outputs if is_output else node.inputs, quantized),
            scale,
            _at(parameters, self.zero_point),
            self.axis,
        )


def _at(values: tuple[Value | None, ...], index: int | None) -> Value | None:
    return values[index] if index is not None and 0 <= index < len(values) else None


_UNARY = (_Operand(0, 1, 2), _Operand(0, 3, 4, is_output=True))
_BINARY = (_Operand(0, 1, 2), _Operand(3, 4, 5), _Operand(0, 6, 7, is_output=True))

# operands of quantized operators: ONNX operator specification and the com.microsoft
# operators of ONNX Runtime (ContribOperators)
_OPERANDS: dict[str, tuple[_Operand, ...]] = {
    "QuantizeLinear": (
        _Operand(0, 1, 2, is_output=True),
        _Operand(0, 1, 2, quantized=0, quantized_is_output=True),
    ),
    "DequantizeLinear": (
        _Operand(0, 1, 2),
        _Operand(0, 1, 2, is_output=True, quantized=0),
    ),
    "DynamicQuantizeLinear": (_Operand(0, 1, 2, is_output=True, scale_is_output=True),),
    "QLinearConv": (
        _Operand(0, 1, 2),
        _Operand(3, 4, 5, axis=0),
        _Operand(0, 6, 7, is_output=True),
    ),
    "QLinearMatMul": (
        _Operand(0, 1, 2, axis=-2),
        _Operand(3, 4, 5, axis=-1),
        _Operand(0, 6, 7, is_output=True),
    ),
    "ConvInteger": (_Operand(0, None, 2), _Operand(1, None, 3, axis=0)),
    "MatMulInteger": (_Operand(0, None, 2), _Operand(1, None, 3, axis=-1)),
    "MatMulNBits": (_Operand(1, 2, 3, axis=1),),
    "MatMulNBitsMlp": (_Operand(3, 4, None, axis=1), _Operand(6, 7, None, axis=1)),
    "MatMulNBitsQkv": tuple(_Operand(index, index + 1, None, axis=1) for index in (3, 6, 9)),
    "GatherBlockQuantized": (_Operand(0, 2, 3),),
    "MatMulIntegerToFloat": (_Operand(0, 2, 4), _Operand(1, 3, 5, axis=-1)),
    "DynamicQuantizeMatMul": (_Operand(1, 2, 3, axis=-1),),
    "DynamicQuantizeLSTM": (_Operand(1, 8, 9), _Operand(2, 10, 11)),
    "QAttention": (_Operand(0, 3, 6), _Operand(1, 4, 7, axis=-1)),
    "QGemm": (_Operand(0, 1, 2), _Operand(3, 4, 5), _Operand(0, 7, 8, is_output=True)),
    "QLinearAdd": _BINARY,
    "QLinearMul": _BINARY,
    "QLinearWhere": (
        _Operand(1, 2, 3),
        _Operand(4, 5, 6),
        _Operand(0, 7, 8, is_output=True),
    ),
    "QLinearConcat": (_Operand(0, 0, 1, is_output=True),),
    "QLinearAveragePool": _UNARY,
    "QLinearGlobalAveragePool": _UNARY,
    "QLinearLeakyRelu": _UNARY,
    "QLinearReduceMean": _UNARY,
    "QLinearSigmoid": _UNARY,
    "QLinearSoftmax": _UNARY,
}


def _list_operands(node: Node) -> Iterator[_Operand]:
    if node.domain not in ("", "ai.onnx", "com.microsoft"):
        return
    yield from _OPERANDS[node.op_type]
    if node.op_type == "QLinearConcat":  # data, scale and zero point for each of its inputs
        for index in range(2, len(node.inputs), 3):
            yield _Operand(index, index + 1, index + 2)
