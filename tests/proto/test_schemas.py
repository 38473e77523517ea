"""The ONNX schema against the descriptors of the ``onnx`` package."""

import re
from pathlib import Path
from typing import Any

import onnx
import pytest
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from netloupe.proto import onnx_data_pb2, onnx_pb2

# The IR version that the schema follows. A released onnx with a lower one lacks what came later;
# one with a higher one has what the schema must learn, and fails the comparison.
IR_VERSION = 14

# Differences that are meant: none.
DIFFERENCES: set[str] = set()


def describe_schema(schema: FileDescriptorProto) -> dict[str, Any]:
    """Return every fact of a schema by the qualified name of its element."""
    facts: dict[str, Any] = {}
    for enum in schema.enum_type:
        facts |= describe_enum(enum, "")
    for message in schema.message_type:
        facts |= describe_message(message, "", f".{schema.package}.")
    return facts


def describe_enum(enum: EnumDescriptorProto, prefix: str) -> dict[str, Any]:
    name = prefix + enum.name
    return {name: "enum"} | {f"{name}.{value.name}": value.number for value in enum.value}


def describe_message(message: DescriptorProto, prefix: str, package: str) -> dict[str, Any]:
    name = prefix + message.name
    reserved = {n for span in message.reserved_range for n in range(span.start, span.end)}
    facts: dict[str, Any] = {
        name: "message",
        f"{name} reserved numbers": reserved,
        f"{name} reserved names": set(message.reserved_name),
    }
    for field in message.field:
        facts[f"{name}.{field.name}"] = describe_field(field, message, package)
    for enum in message.enum_type:
        facts |= describe_enum(enum, f"{name}.")
    for nested in message.nested_type:
        facts |= describe_message(nested, f"{name}.", package)
    return facts


def describe_field(
    field: FieldDescriptorProto, message: DescriptorProto, package: str
) -> dict[str, Any]:
    return {
        "number": field.number,
        "type": FieldDescriptorProto.Type.Name(field.type),
        "type_name": field.type_name.removeprefix(package),
        "label": FieldDescriptorProto.Label.Name(field.label),
        "oneof": message.oneof_decl[field.oneof_index].name
        if field.HasField("oneof_index")
        else None,
        "packed": field.options.packed,
        "deprecated": field.options.deprecated,
        "default": field.default_value if field.HasField("default_value") else None,
        "json_name": field.json_name or to_json_name(field.name),
    }


def to_json_name(name: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def copy_schema(descriptor: Any) -> FileDescriptorProto:
    schema = FileDescriptorProto()
    descriptor.CopyToProto(schema)
    return schema


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    return describe_schema(copy_schema(onnx_pb2.DESCRIPTOR))


@pytest.fixture(scope="module")
def theirs() -> dict[str, Any]:
    return describe_schema(copy_schema(onnx.ModelProto.DESCRIPTOR.file))


def test_the_schema_is_that_of_the_onnx_package(
    ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    if theirs["Version.IR_VERSION"] < IR_VERSION:
        # Compare what the older release has, but not its IR_VERSION, which has a dated name in the
        # newer schema, nor what it had not yet reserved.
        theirs = {name: fact for name, fact in theirs.items() if " reserved " not in name}
        del theirs["Version.IR_VERSION"]
        ours = {name: fact for name, fact in ours.items() if name in theirs}
    names = sorted(ours.keys() | theirs.keys())
    different = {name for name in names if ours.get(name) != theirs.get(name)}
    assert {name: (ours.get(name), theirs.get(name)) for name in different - DIFFERENCES} == {}
    assert different >= DIFFERENCES


def test_the_comparison_sees_the_whole_schema(ours: dict[str, Any]) -> None:
    messages = [name for name, fact in ours.items() if fact == "message"]
    fields = [name for name, fact in ours.items() if isinstance(fact, dict)]
    text = (Path(onnx_pb2.__file__).parent / "onnx.proto").read_text(encoding="utf-8")
    assert len(messages) == len(re.findall(r"^ *message \w+ {", text, re.MULTILINE))
    assert len(fields) == len(re.findall(r"^ *[\w ]+ [a-z]\w* = \d+", text, re.MULTILINE))
    assert ours["TensorProto.DataType.FLOAT6E3M2"] == 28
    assert ours["TypeProto.opaque_type"]["oneof"] == "value"


def test_the_descriptor_pool_knows_the_schema_under_our_names() -> None:
    assert onnx_pb2.DESCRIPTOR.name == "netloupe/proto/onnx.proto"
    assert onnx_pb2.DESCRIPTOR.package == "netloupe.onnx"


def test_bytes_mean_the_same_to_both() -> None:
    node = onnx.helper.make_node("Conv", ["x", "w"], ["y"], name="c", kernel_shape=[3, 3])
    graph = onnx.helper.make_graph(
        [node],
        "g",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["N", 3, 8, 8])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        [onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [1, 3, 3, 3], [0.5] * 27)],
    )
    data = onnx.helper.make_model(graph).SerializeToString()
    model = onnx_pb2.ModelProto.FromString(data)
    assert model.graph.node[0].attribute[0].ints == [3, 3]
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "N"
    assert not model.graph.output[0].type.tensor_type.HasField("shape")
    assert model.SerializeToString() == data


def test_fields_of_a_newer_writer_survive() -> None:
    unknown = b"\xf8\x3f\x2a"  # field 1023, varint 42
    model = onnx_pb2.ModelProto.FromString(b"\x08\x63" + unknown)
    assert model.ir_version == 99
    assert model.SerializeToString() == b"\x08\x63" + unknown


def test_the_schema_of_values_is_that_of_the_onnx_package() -> None:
    ours = describe_schema(copy_schema(onnx_data_pb2.DESCRIPTOR))
    theirs = describe_schema(copy_schema(onnx.SequenceProto.DESCRIPTOR.file))
    assert ours == theirs
    assert {"SequenceProto.elem_type", "MapProto.string_keys"} <= ours.keys()
