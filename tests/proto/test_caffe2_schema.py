"""The Caffe2 schema against the facts of caffe2.proto, which no maintained package carries."""

from collections.abc import Iterator

import pytest
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.message import Message

from netloupe.proto import caffe2_pb2

# message -> field -> (number, type, label)
FIELDS: dict[str, dict[str, tuple[int, str, str]]] = {
    "ExternalDataProto": {
        "source_type": (1, "ExternalDataProto.SourceType", "optional"),
        "record_id": (2, "string", "optional"),
        "record_size": (5, "uint64", "optional"),
        "offset": (3, "int64", "optional"),
        "strides": (4, "int64", "repeated"),
    },
    "TensorProto": {
        "dims": (1, "int64", "repeated"),
        "data_type": (2, "TensorProto.DataType", "optional"),
        "storage_type": (12, "TensorProto.StorageType", "optional"),
        "float_data": (3, "float", "repeated"),
        "int32_data": (4, "int32", "repeated"),
        "byte_data": (5, "bytes", "optional"),
        "string_data": (6, "bytes", "repeated"),
        "double_data": (9, "double", "repeated"),
        "int64_data": (10, "int64", "repeated"),
        "raw_data": (13, "bytes", "optional"),
        "external_data": (14, "ExternalDataProto", "optional"),
        "name": (7, "string", "optional"),
        "device_detail": (8, "DeviceOption", "optional"),
        "segment": (11, "TensorProto.Segment", "optional"),
    },
    "TensorProto.Segment": {
        "begin": (1, "int64", "required"),
        "end": (2, "int64", "required"),
    },
    "QTensorProto": {
        "dims": (1, "int64", "repeated"),
        "precision": (2, "int32", "required"),
        "scale": (3, "double", "required"),
        "bias": (4, "double", "required"),
        "is_signed": (5, "bool", "required"),
        "data": (6, "int32", "repeated"),
        "name": (7, "string", "optional"),
        "data_type": (8, "TensorProto.DataType", "optional"),
        "scales": (9, "double", "repeated"),
        "biases": (10, "double", "repeated"),
        "axis": (11, "int32", "optional"),
        "is_multiparam": (12, "bool", "optional"),
    },
    "TensorProtos": {
        "protos": (1, "TensorProto", "repeated"),
    },
    "TensorShape": {
        "dims": (1, "int64", "repeated"),
        "data_type": (2, "TensorProto.DataType", "optional"),
        "unknown_dims": (3, "int32", "repeated"),
        "unknown_shape": (4, "bool", "optional"),
        "name": (5, "string", "optional"),
    },
    "TensorShapes": {
        "shapes": (1, "TensorShape", "repeated"),
    },
    "Argument": {
        "name": (1, "string", "optional"),
        "f": (2, "float", "optional"),
        "i": (3, "int64", "optional"),
        "s": (4, "bytes", "optional"),
        "t": (10, "TensorProto", "optional"),
        "n": (8, "NetDef", "optional"),
        "floats": (5, "float", "repeated"),
        "ints": (6, "int64", "repeated"),
        "strings": (7, "bytes", "repeated"),
        "tensors": (11, "TensorProto", "repeated"),
        "nets": (9, "NetDef", "repeated"),
        "qtensors": (12, "QTensorProto", "repeated"),
    },
    "DeviceOption": {
        "device_type": (1, "int32", "optional"),
        "device_id": (2, "int32", "optional"),
        "random_seed": (3, "uint32", "optional"),
        "node_name": (4, "string", "optional"),
        "numa_node_id": (5, "int32", "optional"),
        "extra_info": (6, "string", "repeated"),
    },
    "OperatorDef": {
        "input": (1, "string", "repeated"),
        "output": (2, "string", "repeated"),
        "name": (3, "string", "optional"),
        "type": (4, "string", "optional"),
        "arg": (5, "Argument", "repeated"),
        "device_option": (6, "DeviceOption", "optional"),
        "engine": (7, "string", "optional"),
        "control_input": (8, "string", "repeated"),
        "is_gradient_op": (9, "bool", "optional"),
        "debug_info": (10, "string", "optional"),
        "domain": (11, "string", "optional"),
        "op_version": (12, "int64", "optional"),
    },
    "NetDef": {
        "name": (1, "string", "optional"),
        "op": (2, "OperatorDef", "repeated"),
        "type": (3, "string", "optional"),
        "num_workers": (4, "int32", "optional"),
        "device_option": (5, "DeviceOption", "optional"),
        "arg": (6, "Argument", "repeated"),
        "external_input": (7, "string", "repeated"),
        "external_output": (8, "string", "repeated"),
    },
    "ExecutionStep": {
        "name": (1, "string", "optional"),
        "substep": (2, "ExecutionStep", "repeated"),
        "network": (3, "string", "repeated"),
        "num_iter": (4, "int64", "optional"),
        "criteria_network": (5, "string", "optional"),
        "report_net": (7, "string", "optional"),
        "report_interval": (8, "int32", "optional"),
        "run_every_ms": (11, "int64", "optional"),
        "concurrent_substeps": (6, "bool", "optional"),
        "should_stop_blob": (9, "string", "optional"),
        "only_once": (10, "bool", "optional"),
        "create_workspace": (12, "bool", "optional"),
        "num_concurrent_instances": (13, "int32", "optional"),
    },
    "PlanDef": {
        "name": (1, "string", "optional"),
        "network": (2, "NetDef", "repeated"),
        "execution_step": (3, "ExecutionStep", "repeated"),
    },
    "BlobProto": {
        "name": (1, "string", "optional"),
        "type": (2, "string", "optional"),
        "tensor": (3, "TensorProto", "optional"),
        "content": (4, "bytes", "optional"),
        "qtensor": (5, "QTensorProto", "optional"),
        "content_num_chunks": (6, "int32", "optional"),
        "content_chunk_id": (7, "int32", "optional"),
    },
    "DBReaderProto": {
        "name": (1, "string", "optional"),
        "source": (2, "string", "optional"),
        "db_type": (3, "string", "optional"),
        "key": (4, "string", "optional"),
    },
}

# enum -> value -> number
ENUMS: dict[str, dict[str, int]] = {
    "DeviceTypeProto": {
        "PROTO_CPU": 0,
        "PROTO_CUDA": 1,
        "PROTO_MKLDNN": 2,
        "PROTO_OPENGL": 3,
        "PROTO_OPENCL": 4,
        "PROTO_IDEEP": 5,
        "PROTO_HIP": 6,
        "PROTO_FPGA": 7,
        "PROTO_MSNPU": 8,
        "PROTO_XLA": 9,
        "PROTO_COMPILE_TIME_MAX_DEVICE_TYPES": 10,
        "PROTO_ONLY_FOR_TEST": 20901,
    },
    "ExternalDataProto.SourceType": {
        "INLINE_CONTAINER": 0,
        "SIMPLE_FILE": 1,
    },
    "TensorProto.DataType": {
        "UNDEFINED": 0,
        "FLOAT": 1,
        "INT32": 2,
        "BYTE": 3,
        "STRING": 4,
        "BOOL": 5,
        "UINT8": 6,
        "INT8": 7,
        "UINT16": 8,
        "INT16": 9,
        "INT64": 10,
        "FLOAT16": 12,
        "DOUBLE": 13,
    },
    "TensorProto.StorageType": {
        "TYPED": 1,
        "RAW": 2,
        "EXTERNAL": 3,
        "NO_CONTENT": 4,
    },
}

# field -> declared default, as a descriptor spells it
DEFAULTS = {
    "ExternalDataProto.source_type": "INLINE_CONTAINER",
    "ExternalDataProto.offset": "0",
    "TensorProto.data_type": "FLOAT",
    "TensorProto.storage_type": "TYPED",
    "QTensorProto.data_type": "INT32",
    "QTensorProto.is_multiparam": "false",
    "TensorShape.data_type": "FLOAT",
    "TensorShape.unknown_shape": "false",
    "DeviceOption.device_type": "0",
    "OperatorDef.is_gradient_op": "false",
}

# field -> option
OPTIONS = {
    "TensorProto.float_data": "packed",
    "TensorProto.int32_data": "packed",
    "TensorProto.double_data": "packed",
    "TensorProto.int64_data": "packed",
    "QTensorProto.data": "packed",
    "NetDef.num_workers": "deprecated",
    "ExecutionStep.criteria_network": "deprecated",
}

# Required in the original. Optional here, so that a file that lacks one still opens.
RELAXED = {
    "TensorProto.Segment.begin",
    "TensorProto.Segment.end",
    "QTensorProto.precision",
    "QTensorProto.scale",
    "QTensorProto.bias",
    "QTensorProto.is_signed",
}


def read_schema() -> FileDescriptorProto:
    schema = FileDescriptorProto()
    caffe2_pb2.DESCRIPTOR.CopyToProto(schema)
    return schema


def walk_messages(
    messages: list[DescriptorProto], prefix: str = ""
) -> Iterator[tuple[str, DescriptorProto]]:
    for message in messages:
        yield prefix + message.name, message
        yield from walk_messages(list(message.nested_type), f"{prefix}{message.name}.")


def walk_fields() -> Iterator[tuple[str, FieldDescriptorProto]]:
    for name, message in walk_messages(list(read_schema().message_type)):
        for field in message.field:
            yield f"{name}.{field.name}", field


def describe_field(field: FieldDescriptorProto) -> tuple[int, str, str]:
    scalar = FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
    label = FieldDescriptorProto.Label.Name(field.label).removeprefix("LABEL_").lower()
    return field.number, field.type_name.removeprefix(".netloupe.caffe2.") or scalar, label


def describe_enum(enum: EnumDescriptorProto) -> dict[str, int]:
    return {value.name: value.number for value in enum.value}


def test_fields_are_those_of_caffe2() -> None:
    expected = {
        f"{message}.{name}": (
            number,
            kind,
            "optional" if f"{message}.{name}" in RELAXED else label,
        )
        for message, fields in FIELDS.items()
        for name, (number, kind, label) in fields.items()
    }
    assert {name: describe_field(field) for name, field in walk_fields()} == expected
    messages = walk_messages(list(read_schema().message_type))
    assert {name for name, _ in messages} == set(FIELDS)


def test_every_required_field_and_no_other_is_relaxed() -> None:
    required = {
        f"{message}.{name}"
        for message, fields in FIELDS.items()
        for name, (_, _, label) in fields.items()
        if label == "required"
    }
    assert required == RELAXED


def test_enums_are_those_of_caffe2() -> None:
    schema = read_schema()
    enums = {enum.name: describe_enum(enum) for enum in schema.enum_type}
    for name, message in walk_messages(list(schema.message_type)):
        enums |= {f"{name}.{enum.name}": describe_enum(enum) for enum in message.enum_type}
    assert enums == ENUMS


def test_defaults_and_options_are_those_of_caffe2() -> None:
    fields = dict(walk_fields())
    defaults = {n: f.default_value for n, f in fields.items() if f.HasField("default_value")}
    assert defaults == DEFAULTS
    options = {n: "packed" for n, f in fields.items() if f.options.packed}
    options |= {n: "deprecated" for n, f in fields.items() if f.options.deprecated}
    assert options == OPTIONS


@pytest.mark.parametrize(
    ("message", "data"),
    [
        (caffe2_pb2.QTensorProto, b"\x08\x03"),
        (caffe2_pb2.TensorProto.Segment, b"\x08\x03"),
        (caffe2_pb2.TensorProto, b"\x5a\x00"),
    ],
)
def test_a_missing_required_field_does_not_refuse_the_file(
    message: type[Message], data: bytes
) -> None:
    parsed = message.FromString(data)
    assert parsed.IsInitialized()
    assert parsed.SerializeToString() == data


def test_the_descriptor_pool_knows_the_schema_under_our_names() -> None:
    assert caffe2_pb2.DESCRIPTOR.name == "netloupe/proto/caffe2.proto"
    assert caffe2_pb2.DESCRIPTOR.package == "netloupe.caffe2"
