"""The view model: plain typed classes for everything that a model file says.

Readers fill it, everything else reads it. It knows neither protobuf nor any file format's
wire names, and nothing of colours, boxes or positions.
"""

from typing import TYPE_CHECKING

from netloupe.explorer.later import import_later

from .attribute import Attribute
from .constant import (
    called_constant,
    constant_tensor,
    describe_constant,
    find_constant_nodes,
    find_constant_source,
    is_constant,
    is_constant_node,
)
from .dialect import BodyBinding, Dialect
from .dtype import DataType, data_type
from .escaped import EscapedText
from .filling import fill_later
from .graph import Function, Graph, NetDetails
from .header import TrainingInfo
from .model import Model
from .nesting import find_outer_node, is_before
from .node import Node, NodeDetails, NodeLoader, wire_nodes
from .paths import resolve_path
from .quantized_operands import (
    QuantizedOperand,
    find_quantized_bias,
    list_quantized_operands,
)
from .sparse_tensor import SparseTensor
from .storage import ExternalLocation, Payload, Segment, StatedQuantization, StoredRow
from .tensor import Tensor
from .types import (
    Dimension,
    MapType,
    OpaqueType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
    UnknownType,
    ValueType,
)
from .value import QuantizationAnnotation, Value
from .warning import ModelWarning
from .wiring import (
    Wiring,
    count_each_operator,
    find_nodes_by_op_type,
    find_nodes_where,
    find_nodes_with,
)

if TYPE_CHECKING:
    from .device import (
        DeviceConfiguration,
        DeviceOption,
        NodeDeviceConfiguration,
        ShardedDimension,
        ShardingSpec,
    )
else:
    __getattr__ = import_later(
        __name__,
        {
            "device": [
                "DeviceConfiguration",
                "DeviceOption",
                "NodeDeviceConfiguration",
                "ShardedDimension",
                "ShardingSpec",
            ],
        },
    )

__all__ = [
    "Attribute",
    "BodyBinding",
    "DataType",
    "DeviceConfiguration",
    "DeviceOption",
    "Dialect",
    "Dimension",
    "EscapedText",
    "ExternalLocation",
    "Function",
    "Graph",
    "MapType",
    "Model",
    "ModelWarning",
    "NetDetails",
    "Node",
    "NodeDetails",
    "NodeDeviceConfiguration",
    "NodeLoader",
    "OpaqueType",
    "OptionalType",
    "Payload",
    "QuantizationAnnotation",
    "QuantizedOperand",
    "Segment",
    "SequenceType",
    "ShardedDimension",
    "ShardingSpec",
    "SparseTensor",
    "SparseTensorType",
    "StatedQuantization",
    "StoredRow",
    "Tensor",
    "TensorType",
    "TrainingInfo",
    "UnknownType",
    "Value",
    "ValueType",
    "Wiring",
    "called_constant",
    "constant_tensor",
    "count_each_operator",
    "data_type",
    "describe_constant",
    "fill_later",
    "find_constant_nodes",
    "find_constant_source",
    "find_nodes_by_op_type",
    "find_nodes_where",
    "find_nodes_with",
    "find_outer_node",
    "find_quantized_bias",
    "is_before",
    "is_constant",
    "is_constant_node",
    "list_quantized_operands",
    "resolve_path",
    "wire_nodes",
]
