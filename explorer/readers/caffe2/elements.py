"""What the elements of Caffe2's messages are called when one of them cannot be read."""

from __future__ import annotations

from netloupe.explorer.readers.protobuf.elements import Element, Elements

_ARGUMENT = Element("argument")

ELEMENTS: Elements = {
    ("NetDef", ""): Element(opens="main"),
    ("PlanDef", "network"): Element(opens="nets/{own}"),
    ("PlanDef", "execution_step"): Element("step", opens="main"),
    ("ExecutionStep", "substep"): Element("step", opens="{graph}/{inside}.body"),
    ("NetDef", "op"): Element("operator", operator="type"),
    ("NetDef", "arg"): _ARGUMENT,
    ("NetDef", "device_option"): Element("device option", ()),
    ("OperatorDef", "arg"): _ARGUMENT,
    ("OperatorDef", "device_option"): Element("device option", ()),
    ("Argument", "n"): Element(opens="{graph}/{inside}"),
    ("Argument", "nets"): Element(opens="{graph}/{inside}[{index}]"),
    ("Argument", "t"): Element(),
    ("Argument", "tensors"): Element("tensor"),
    ("Argument", "qtensors"): Element("tensor"),
    ("TensorProtos", "protos"): Element("tensor"),
    ("TensorShapes", "shapes"): Element("shape"),
    ("TensorProto", "external_data"): Element(),
    ("TensorProto", "device_detail"): Element("device option", ()),
    ("TensorProto", "segment"): Element(),
    ("BlobProto", "tensor"): Element("tensor"),
    ("BlobProto", "qtensor"): Element("tensor"),
}
