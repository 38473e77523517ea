"""All that ONNX's messages say of an element: what their fields mean beyond the schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloupe.explorer.model.statement import Statement, Way
from netloupe.explorer.readers.protobuf.statements import StatementReader, Wording

from .dialect import ONNX
from .parts import ELEMENT_FIELDS, OnnxParts

if TYPE_CHECKING:
    from .tensors import TensorReader

WORDING = Wording(
    apart=frozenset(
        {
            # elements of their own
            *(("GraphProto", name) for name in ("node", "initializer", "sparse_initializer")),
            *(("GraphProto", name) for name in ("input", "output", "value_info")),
            *(("FunctionProto", name) for name in ("node", "value_info")),
            ("ModelProto", "functions"),
            # names of values: who gives and takes what is compared
            *(("NodeProto", name) for name in ("input", "output")),
            *(("FunctionProto", name) for name in ("input", "output")),
            ("ValueInfoProto", "name"),
        }
    ),
    keys={
        ("FunctionProto", "attribute_proto"): "name",
        ("FunctionProto", "metadata_props"): "key",
        ("FunctionProto", "opset_import"): "domain",
        ("GraphProto", "metadata_props"): "key",
        ("ModelProto", "configuration"): "name",
        ("ModelProto", "metadata_props"): "key",
        ("ModelProto", "opset_import"): "domain",
        ("NodeProto", "attribute"): "name",
        ("NodeProto", "metadata_props"): "key",
        ("TensorAnnotation", "quant_parameter_tensor_names"): "key",
        ("TensorProto", "external_data"): "key",
        ("TensorProto", "metadata_props"): "key",
        ("ValueInfoProto", "metadata_props"): "key",
    },
    spellings={
        (owner, "opset_import"): dict.fromkeys(ONNX.domain_spellings, ONNX.domain)
        for owner in ("ModelProto", "FunctionProto")
    },
    names=frozenset({("TensorAnnotation", "tensor_name"), ("ShardingSpecProto", "tensor_name")}),
    sizes=frozenset({("TensorShapeProto.Dimension", "dim_param")}),
    tensors=frozenset({"TensorProto"}),
    element_fields=frozenset(ELEMENT_FIELDS),
    graphs=frozenset({"GraphProto"}),
    telling=frozenset({("NodeDeviceConfigurationProto", "pipeline_stage")}),
)


def read_onnx_statement(
    message: Any,
    parts: OnnxParts,
    tensors: TensorReader,
    *,
    way: Way = (),
    with_elements: bool = True,
) -> Statement:
    """Return all that a message says; see :meth:`StatementReader.read`."""
    reader = StatementReader(parts, WORDING, tensors.read)
    return reader.read(message, way=way, with_elements=with_elements)
