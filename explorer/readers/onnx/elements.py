"""What the elements of ONNX's messages are called when one of them cannot be read."""

from __future__ import annotations

from typing import Any

from netloupe.explorer.readers.protobuf.elements import Element, Elements
from netloupe.explorer.readers.protobuf.texts import read_text

_NODE = Element("node", operator="op_type")
_ATTRIBUTE = Element("attribute")
_KEYED = ("key",)

ELEMENTS: Elements = {
    ("GraphProto", ""): Element(opens="main"),
    ("FunctionProto", ""): Element(names=("domain", "name"), opens="functions/{own}"),
    ("ModelProto", "graph"): Element(opens="main"),
    ("ModelProto", "functions"): Element(names=("domain", "name"), opens="functions/{own}"),
    ("ModelProto", "training_info"): Element("training info"),
    ("ModelProto", "opset_import"): Element("operator set", ("domain",)),
    ("ModelProto", "metadata_props"): Element("metadata entry", _KEYED),
    ("ModelProto", "configuration"): Element("device configuration"),
    ("TrainingInfoProto", "initialization"): Element(opens="training_{inside}.initialization"),
    ("TrainingInfoProto", "algorithm"): Element(opens="training_{inside}.algorithm"),
    ("GraphProto", "node"): _NODE,
    ("GraphProto", "initializer"): Element("initializer"),
    ("GraphProto", "sparse_initializer"): Element("sparse initializer"),
    ("GraphProto", "input"): Element("input"),
    ("GraphProto", "output"): Element("output"),
    ("GraphProto", "value_info"): Element("value info"),
    ("GraphProto", "quantization_annotation"): Element(
        "quantization annotation", ("tensor_name",)
    ),
    ("GraphProto", "metadata_props"): Element("metadata entry", _KEYED),
    ("FunctionProto", "node"): _NODE,
    ("FunctionProto", "attribute_proto"): _ATTRIBUTE,
    ("FunctionProto", "opset_import"): Element("operator set", ("domain",)),
    ("FunctionProto", "value_info"): Element("value info"),
    ("FunctionProto", "metadata_props"): Element("metadata entry", _KEYED),
    ("NodeProto", "attribute"): _ATTRIBUTE,
    ("NodeProto", "metadata_props"): Element("metadata entry", _KEYED),
    ("NodeProto", "device_configurations"): Element("device configuration", ("configuration_id",)),
    ("AttributeProto", "t"): Element(),
    ("AttributeProto", "tp"): Element(),
    ("AttributeProto", "sparse_tensor"): Element(),
    ("AttributeProto", "g"): Element(opens="{graph}/{inside}"),
    ("AttributeProto", "graphs"): Element(opens="{graph}/{inside}[{index}]"),
    ("AttributeProto", "tensors"): Element("tensor"),
    ("AttributeProto", "sparse_tensors"): Element("sparse tensor"),
    ("AttributeProto", "type_protos"): Element("type"),
    ("ValueInfoProto", "type"): Element(),
    ("ValueInfoProto", "metadata_props"): Element("metadata entry", _KEYED),
    ("TensorProto", "external_data"): Element("external data entry", _KEYED),
    ("TensorProto", "metadata_props"): Element("metadata entry", _KEYED),
    ("TensorProto", "segment"): Element(),
    ("TensorAnnotation", "quant_parameter_tensor_names"): Element("entry", _KEYED),
    ("SparseTensorProto", "values"): Element("values"),
    ("SparseTensorProto", "indices"): Element("indices"),
    ("SequenceProto", "tensor_values"): Element("tensor"),
    ("SequenceProto", "sparse_tensor_values"): Element("sparse tensor"),
    ("SequenceProto", "sequence_values"): Element("sequence"),
    ("SequenceProto", "map_values"): Element("map"),
    ("SequenceProto", "optional_values"): Element("optional"),
    ("OptionalProto", "tensor_value"): Element("tensor"),
    ("OptionalProto", "sparse_tensor_value"): Element("sparse tensor"),
    ("OptionalProto", "sequence_value"): Element("sequence"),
    ("OptionalProto", "map_value"): Element("map"),
    ("OptionalProto", "optional_value"): Element("optional"),
    ("MapProto", "values"): Element(),
    # the inside of a type has no name of its own
    **{
        (message, field): Element()
        for message, fields in {
            "TypeProto": (
                "tensor_type", "sequence_type", "map_type", "optional_type",
                "sparse_tensor_type", "opaque_type",
            ),
            "Tensor": ("shape",),
            "SparseTensor": ("shape",),
            "Sequence": ("elem_type",),
            "Optional": ("elem_type",),
            "Map": ("value_type",),
        }.items()
        for field in fields
    },
    ("TensorShapeProto", "dim"): Element("dimension", ()),
}  # fmt: skip


def name_node(index: int, proto: Any) -> str:
    """Return what a NodeProto at a place is called: ``node 'Conv_12'``, ``node '#3:Relu'``."""
    return f"node '{read_text(proto.name) or f'#{index}:{read_text(proto.op_type)}'}'"


def name_message(proto: Any, kind: str) -> str:
    """Return what a message of some kind is called by its name: ``initializer 'w'``."""
    return f"{kind} '{read_text(proto.name)}'"
