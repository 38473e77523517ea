"""Nothing of the Caffe2 schema is dropped: each field is found in model and inspector."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from google.protobuf.descriptor import FieldDescriptor

from netloupe.explorer.model import Model
from netloupe.explorer.readers.caffe2.model import read_caffe2
from netloupe.explorer.readers.protobuf.parts import Parts
from netloupe.explorer.readers.source import Source
from netloupe.proto import caffe2_pb2
from tests.every_field import (
    Case,
    Named,
    choose_value,
    everything_in,
    is_in_model,
    is_told,
    is_told_in,
    list_cases,
    list_unreached,
    write_message,
)

ROOTS = (
    "NetDef",
    "PlanDef",
    "TensorProtos",
    "TensorProto",
    "QTensorProto",
    "BlobProto",
    "DBReaderProto",
)
#: messages that no file has as its root and no other message holds
NOT_REACHED = {"TensorShape", "TensorShapes"}

#: fields whose number or truth value stands for something
NAMED: dict[tuple[str, str], Named] = {
    ("TensorProto", "data_type"): Named(7, "int8", "element type"),
    ("TensorProto", "storage_type"): Named(4, "no content", "stored in"),
    ("QTensorProto", "data_type"): Named(7, "int8", "element type"),
    ("ExternalDataProto", "source_type"): Named(1, "SIMPLE_FILE", "external source_type"),
}
#: values of elements in other forms than the elements themselves have
VALUES: dict[tuple[str, str], tuple[Any, object]] = {
    ("TensorProto", "raw_data"): (np.array(40961, "<i4").tobytes(), 40961),
    ("TensorProto", "byte_data"): (b"\xe9", 233),
    ("BlobProto", "content"): (b"\xe9", 233),
}
#: what is set beside a field, or in a message on the way to it
CONTEXT: dict[tuple[str, str], dict[str, Any]] = {
    ("TensorProto", "int32_data"): {"data_type": 2},
    ("TensorProto", "byte_data"): {"data_type": 3},
    ("TensorProto", "string_data"): {"data_type": 4},
    ("TensorProto", "int64_data"): {"data_type": 10},
    ("TensorProto", "double_data"): {"data_type": 13},
    ("TensorProto", "raw_data"): {"data_type": 2, "storage_type": 2},
}
#: what the inspector does not show, and why
NOT_TOLD: dict[tuple[str, str], str] = {}

ALL_CASES = list_cases(caffe2_pb2, ROOTS)
CASES = [
    pytest.param(case, id=str(case))
    for case in ALL_CASES
    if case.field.cpp_type != FieldDescriptor.CPPTYPE_BOOL
]
BOOLEANS = [
    pytest.param(case, id=str(case))
    for case in ALL_CASES
    if case.field.cpp_type == FieldDescriptor.CPPTYPE_BOOL
]


def read(case: Case) -> tuple[Model, object]:
    """Return a model in which one field is set, and what has to be found."""
    named = NAMED.get(case.key)
    if named is not None:
        value, wanted = named.value, named.label
    else:
        value, wanted = VALUES.get(case.key) or (choose_value(case.field),) * 2
    return write_and_read(case, value), wanted


def write_and_read(case: Case, value: object) -> Model:
    message = write_message(caffe2_pb2, case, value, CONTEXT)
    return read_caffe2(Parts(Source("<test>", b""), message))


@pytest.mark.parametrize("case", CASES)
def test_a_field_lands_in_the_model(case: Case) -> None:
    model, wanted = read(case)
    if case.key in VALUES:
        wanted = VALUES[case.key][0]
    assert is_in_model(model, wanted)


@pytest.mark.parametrize("case", CASES)
def test_a_field_is_told_by_the_inspector(case: Case) -> None:
    model, wanted = read(case)
    named = NAMED.get(case.key)
    if case.key in NOT_TOLD:
        assert not is_told(model, wanted), "strike it from the list"
    elif named is not None:
        assert is_told_in(model, named.row, named.label)
    else:
        assert is_told(model, wanted)


@pytest.mark.parametrize("case", BOOLEANS)
def test_the_model_tells_true_from_false(case: Case) -> None:
    def count(value: bool) -> Counter[tuple[type, str]]:
        things = everything_in(write_and_read(case, value))
        return Counter((type(thing), repr(thing)) for thing in things)

    assert count(True) != count(False)


#: field -> the inspector's row, and what it says for true and for false
TOLD_BOOLEANS = {
    ("OperatorDef", "is_gradient_op"): ("gradient operator", "yes", "no"),
}


@pytest.mark.parametrize("case", BOOLEANS)
def test_the_inspector_tells_true_from_false(case: Case) -> None:
    row, yes, no = TOLD_BOOLEANS.get(case.key, (case.field.name, "True", "False"))
    if case.owner == "ExecutionStep":  # shown as an attribute, and these have no truth values
        yes, no = "1", "0"
    for value, label, other in ((True, yes, no), (False, no, yes)):
        model = write_and_read(case, value)
        assert is_told_in(model, row, label)
        assert not is_told_in(model, row, other)


def test_the_cases_cover_every_message_of_the_schema() -> None:
    assert list_unreached(caffe2_pb2, ROOTS) == NOT_REACHED


def test_few_fields_are_not_shown() -> None:
    assert len(NOT_TOLD) <= 5
