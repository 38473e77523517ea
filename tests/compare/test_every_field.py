"""No two models are called identical that differ in any field of either schema.

The schemas' descriptors list the fields. Of each, on each way to it, two models are compared that
differ in it alone: in what it says, and in whether it says anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor

from netloupe.explorer.compare import Change, Diff, diff
from netloupe.explorer.model import Model
from netloupe.explorer.readers.caffe2.model import read_caffe2
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.protobuf.parts import Parts
from netloupe.explorer.readers.source import Source
from netloupe.proto import caffe2_pb2, onnx_pb2
from tests.every_field import Case, choose_value, list_cases, list_routes, name_of, write_message
from tests.readers import test_caffe2_every_field as caffe2_fields
from tests.readers import test_every_field as onnx_fields

Field = tuple[str, str]

#: what a difference in a field belongs to; of all others that it is more than may be ignored
ASPECTS: dict[Field, str] = {
    **{
        (message, "doc_string"): "docs"
        for message in ("AttributeProto", "FunctionProto", "GraphProto", "ModelProto", "NodeProto")
    },
    ("TensorProto", "doc_string"): "docs",
    ("ValueInfoProto", "doc_string"): "docs",
    **{
        ("ModelProto", field): "docs"
        for field in ("producer_name", "producer_version", "domain", "model_version")
    },
    ("OperatorDef", "debug_info"): "docs",
    **{
        (message, "name"): "names"
        for message in ("GraphProto", "NodeProto", "OperatorDef", "PlanDef")
    },
}
#: fields that say nothing alone, with what differs all the same where they do
FREE: dict[Field, str] = {
    ("StringStringEntryProto", "key"): "a key of documents, of bindings or of where data lie",
    ("StringStringEntryProto", "value"): "likewise",
    ("TensorProto", "name"): "names an initializer in a graph, and nobody elsewhere",
    ("QTensorProto", "name"): "likewise",
    ("ValueInfoProto", "name"): "names an input or output, or a value",
    ("FunctionProto", "name"): "tells functions apart",
    ("FunctionProto", "domain"): "likewise",
    ("FunctionProto", "overload"): "likewise",
    ("FunctionProto", "input"): "names an input, which programs do not see",
    ("FunctionProto", "output"): "likewise",
    ("NodeProto", "input"): "names a value, which may be called anything",
    ("NodeProto", "output"): "likewise",
    ("OperatorDef", "input"): "likewise",
    ("OperatorDef", "output"): "likewise",
    ("OperatorDef", "control_input"): "likewise",
    ("NetDef", "external_output"): "likewise",
    ("NetDef", "external_input"): "likewise, in nets within nets",
    ("NetDef", "name"): "tells the nets of a plan apart",
    ("BlobProto", "name"): "names a blob, as a text that only people read",
    ("DBReaderProto", "name"): "likewise",
    ("TensorShapeProto.Dimension", "dim_param"): "names a size",
    ("ExecutionStep", "name"): "names a step, by which it is found",
    ("TensorProto", "data_location"): "says where elements are",
    ("TensorProto", "storage_type"): "likewise",
    ("TensorProto", "float_data"): "may be elements that nobody reads",
    ("TensorProto", "int32_data"): "likewise",
    ("TensorProto", "int64_data"): "likewise",
    ("TensorProto", "double_data"): "likewise",
    ("TensorProto", "uint64_data"): "likewise",
    ("TensorProto", "string_data"): "likewise",
    ("TensorProto", "raw_data"): "likewise",
    ("TensorProto", "byte_data"): "likewise",
}

ONNX_CASES = list_cases(onnx_pb2, onnx_fields.ROOTS)
CAFFE2_CASES = list_cases(caffe2_pb2, (*caffe2_fields.ROOTS, "TensorShapes"))


def choose_other(case: Case, value: Any) -> Any:
    """Return another value than one of a field."""
    if isinstance(value, bool):
        return not value
    if case.field.enum_type is not None:
        numbers = [entry.number for entry in case.field.enum_type.values]
        return next((number for number in numbers if number not in (value, 0)), 0)
    if isinstance(value, bytes):
        return value[:-1] + bytes([value[-1] ^ 1])
    return f"{value}2" if isinstance(value, str) else value + 1


def choose(case: Case, fields: Any) -> Any:
    if case.field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return True
    if case.key in fields.NAMED:
        return fields.NAMED[case.key].value
    if case.key in fields.VALUES:
        return fields.VALUES[case.key][0]
    if case.field.enum_type is not None:
        return 7
    return choose_value(case.field)


def read_onnx(message: Any) -> Model:
    if not message.HasField("graph"):
        message.graph.SetInParent()
    return load(message)


def read_net(message: Any) -> Model:
    return read_caffe2(Parts(Source("<test>", b""), message))


def make(case: Case) -> Iterator[tuple[Model, Model]]:
    """Yield models that differ in a field alone: in its content, and in whether it is there."""
    is_onnx = case.field.file.name == onnx_pb2.DESCRIPTOR.name
    schema: Any = onnx_pb2 if is_onnx else caffe2_pb2
    fields: Any = onnx_fields if is_onnx else caffe2_fields
    read = read_onnx if is_onnx else read_net
    value = choose(case, fields)
    messages = [
        write_message(schema, case, one, fields.CONTEXT)
        for one in (value, choose_other(case, value))
    ]
    yield read(messages[0]), read(messages[1])
    bare = type(messages[0])()
    bare.CopyFrom(messages[0])
    inner = bare
    for name in case.route:
        inner = getattr(inner, name)
        inner = inner[0] if hasattr(inner, "append") else inner
    inner.ClearField(case.field.name)
    yield read(messages[0]), read(bare)


def judge(case: Case, found: Diff) -> None:
    assert found.verdict != "identical"
    assert format_all(found), "the difference is told"
    for change in list_changes(found):
        assert change.left is None or change.left != change.right
    wanted = ASPECTS.get(case.key)
    if wanted is not None:
        assert (found.verdict, found.aspects) == ("cosmetic", [wanted])
    elif case.key not in FREE and "metadata_props" not in case.route:
        assert found.verdict in ("structure", "weights", "unread")


def list_changes(found: Diff) -> list[Change]:
    told = [*found.interface, *found.about]
    return [*told, *(change for node in found.nodes for change in node.changes)]


def format_all(found: Diff) -> list[str]:
    told = [change.what for change in list_changes(found)]
    told += [one.left.path for one in found.tensors]
    told += [t.path for t in (*found.left_tensors, *found.right_tensors)]
    return [*told, *(node.path for node in (*found.left_alone, *found.right_alone))]


@pytest.mark.parametrize("case", [pytest.param(case, id=str(case)) for case in ONNX_CASES])
def test_no_field_of_onnx_is_overlooked(case: Case) -> None:
    for left, right in make(case):
        judge(case, diff(left, right))
        judge(case, diff(right, left))


@pytest.mark.parametrize("case", [pytest.param(case, id=str(case)) for case in CAFFE2_CASES])
def test_no_field_of_caffe2_is_overlooked(case: Case) -> None:
    for left, right in make(case):
        judge(case, diff(left, right))
        judge(case, diff(right, left))


@pytest.mark.parametrize(
    ("schema", "cases", "roots"),
    [
        (onnx_pb2, ONNX_CASES, onnx_fields.ROOTS),
        (caffe2_pb2, CAFFE2_CASES, (*caffe2_fields.ROOTS, "TensorShapes")),
    ],
)
def test_the_mutants_cover_every_field(schema: Any, cases: list[Case], roots: Any) -> None:
    covered = {case.key for case in cases}
    reached = {descriptor.full_name for _, _, descriptor in list_routes(schema, roots)}
    pending = [*schema.DESCRIPTOR.message_types_by_name.values()]
    while pending:
        descriptor = pending.pop()
        pending += descriptor.nested_types
        assert descriptor.full_name in reached
        for field in descriptor.fields:
            if field.message_type is None:
                assert (name_of(descriptor), field.name) in covered
            else:  # covered by what it holds
                assert field.message_type.full_name in reached


def test_the_lists_name_fields_that_are_there() -> None:
    known = {case.key for case in (*ONNX_CASES, *CAFFE2_CASES)}
    assert not {*ASPECTS, *FREE} - known
