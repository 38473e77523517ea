"""What Caffe2 operators say of themselves, read when it is asked for."""

from __future__ import annotations

from typing import Any

from netloupe.explorer.model import (
    Attribute,
    ModelWarning,
    Node,
    NodeDetails,
    StatedQuantization,
    Tensor,
)
from netloupe.explorer.model.statement import StatedFact, Statement
from netloupe.explorer.model.unknown import UnknownFields
from netloupe.explorer.operators import find_schema
from netloupe.explorer.readers.protobuf.texts import read_text

from .arguments import ArgumentReader, Graphs
from .fills import find_result_type, is_fill, read_fill
from .parts import Net
from .statements import read_caffe2_statement
from .tensors import read_device

#: formal names of operands that are weights
_WEIGHTS = frozenset(("filter", "bias", "W", "w", "b", "scale", "mean", "var", "slope"))
#: arguments of 8-bit operators that say how operand and result are quantized
_SCALES = frozenset(("X_scale", "X_zero_point", "Y_scale", "Y_zero_point"))


class Caffe2NodeLoader:
    """Reads the details of a net's nodes from their messages when they are asked for.

    Parameters
    ----------
    indexes
        Of the operators that are nodes, in their order.
    arguments
        Reads their arguments.
    subgraphs
        The nets among the arguments of an operator, by its index.
    """

    def __init__(
        self,
        net: Net,
        indexes: range | list[int],
        arguments: ArgumentReader,
        subgraphs: dict[int, Graphs],
    ) -> None:
        self._net = net
        self._indexes = indexes
        self._arguments = arguments
        self._subgraphs = subgraphs

    def may_have_attributes(self, node: Node) -> bool:
        """Return True: arguments are read with the details."""
        return True

    def oddities(self, node: Node) -> tuple[str, ...] | None:
        """Return None: what is odd about an operator may be anywhere in what is said of it."""
        return None

    def metadata(self, node: Node) -> dict[str, str]:
        """Return nothing: operators have none."""
        return {}

    def attribute_key(self, node: Node, *, is_whole: bool = False) -> bytes:
        """Return what is equal for operators of equal arguments, nets among them left out.

        So are the scales of 8-bit operators, but for ``is_whole``: these are weights, not
        structure.
        """
        operator = self._net.message.op[self._indexes[node.index]]
        is_quantized = node.graph.dialect.is_self_quantized(node)
        left_out = _SCALES if is_quantized and not is_whole else ()
        return b"".join(
            argument.SerializeToString()
            for argument in operator.arg
            if not argument.HasField("n") and not argument.nets and argument.name not in left_out
        )

    def statement_key(self, node: Node) -> bytes:
        """Return the bytes of an operator without its name and those of its operands."""
        operator = self._net.message.op[self._indexes[node.index]]
        statement = type(operator)()
        statement.CopyFrom(operator)
        for field in ("name", "input", "output", "control_input"):
            statement.ClearField(field)
        return bytes(statement.SerializeToString(deterministic=True))

    def state(self, node: Node) -> Statement:
        """List all that the file says of an operator, but for its operands and nets in it."""
        operator = self._net.message.op[self._indexes[node.index]]
        found = read_caffe2_statement(operator, self._net.parts)
        if not operator.HasField("device_option") and self._net.message.HasField("device_option"):
            found = {**found, ("device_option", "of the net"): StatedFact("NetDef", "", "given")}
        return found

    def unknown_fields(self, node: Node) -> UnknownFields:
        """Return the fields of a node's message that the schema does not know."""
        operator = self._net.message.op[self._indexes[node.index]]
        return self._net.parts.find_unknown(operator, frozenset(("NetDef",)))

    def details(self, node: Node) -> NodeDetails:
        """Read everything that the file says of a node."""
        index = self._indexes[node.index]
        message = self._net.message
        operator = message.op[index]
        constant = self._read_constant(operator, node) if is_fill(operator) else None
        constants = {}
        if constant is not None and constant.storage not in ("none", "value"):
            # the tensor is in the place of the plain list that it is made of, which may be long
            constants[_find_values(operator)] = constant
        attributes, warnings = self._arguments.read(
            operator.arg, node.path, self._subgraphs.get(index, {}), constants
        )
        if constant is not None and not constants:  # else one of the attributes is the constant
            warnings += constant.warnings
        if not node.op_type:
            warnings.append(ModelWarning(node.path, "has no type"))
        device = None
        if operator.HasField("device_option"):
            device = read_device(operator.device_option)
        elif message.HasField("device_option"):
            device = read_device(message.device_option, is_inherited=True)
        return NodeDetails(
            attributes,
            warnings=tuple(warnings),
            constant=constant,
            quantization=_read_quantization(node, attributes),
            engine=read_text(operator.engine),
            device=device,
            is_gradient=operator.is_gradient_op if operator.HasField("is_gradient_op") else None,
            debug_info=read_text(operator.debug_info),
            op_version=operator.op_version if operator.HasField("op_version") else None,
        )

    def _read_constant(self, operator: Any, node: Node) -> Tensor:
        """Return the tensor that a fill among the nodes gives."""
        field = "value" if operator.type == "ConstantFill" else "values"
        path = f"{node.path}.{field}"
        tensor = read_fill(operator, read_text(operator.output[0]), path, self._net.parts)
        tensor.metadata, tensor.device = {}, None  # the node itself shows them
        return tensor


def _read_quantization(node: Node, attributes: dict[str, Attribute]) -> StatedQuantization | None:
    """Return how the first result of an 8-bit operator is quantized (operators/quantized).

    ``Y_scale`` and ``Y_zero_point`` are those of the first output, which is uint8; of
    Int8GivenIntTensorFill it is int32.
    """
    is_quantized = node.graph.dialect.is_self_quantized(node)
    if not is_quantized or _read_number(attributes, "dequantize_output"):
        return None
    scale = _read_number(attributes, "Y_scale")
    zero_point = _read_number(attributes, "Y_zero_point")
    if scale is None:
        return None
    return StatedQuantization(
        f"arguments of {node.op_type}",
        (scale,),
        () if zero_point is None else (zero_point,),
        None,
        find_result_type(node.op_type),
    )


def _read_number(attributes: dict[str, Attribute], name: str) -> float | None:
    attribute = attributes.get(name)
    value = attribute.value if attribute is not None else None
    return float(value) if isinstance(value, int | float) else None


def _find_values(operator: Any) -> int:
    return next(
        position for position, argument in enumerate(operator.arg) if argument.name == "values"
    )


def is_weight(node: Node, position: int) -> bool:
    """Return whether an operator takes a weight at a position, going by its operands' names."""
    if node.operator.has("adds", "multiplies_elements") and position == 1:
        return "broadcast" in node.attributes
    schema = find_schema(node.domain, node.op_type, None)
    return schema is not None and schema.input_name(position) in _WEIGHTS
