"""Nothing of the ONNX schema is dropped: each field is found in the model and in the inspector."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netloupe.explorer.model import Model, SparseTensor
from netloupe.explorer.readers.load import load
from netloupe.proto import onnx_pb2
from tests.every_field import (
    Case,
    Named,
    choose_value,
    is_in_model,
    is_told,
    is_told_in,
    list_cases,
    list_unreached,
    write_message,
)

ROOTS = ("ModelProto",)
UNKNOWN_TYPE = "unknown(4242)"

#: fields whose number stands for a name
NAMED: dict[tuple[str, str], Named] = {
    ("AttributeProto", "type"): Named(9, "tensors", '""'),
    ("TensorProto", "data_location"): Named(1, "external", "stored in"),
    ("TensorProto", "data_type"): Named(4242, UNKNOWN_TYPE, "element type"),
    ("TypeProto.Tensor", "elem_type"): Named(4242, UNKNOWN_TYPE, "type"),
    ("TypeProto.SparseTensor", "elem_type"): Named(
        4242, f"sparse({UNKNOWN_TYPE})", "type", UNKNOWN_TYPE
    ),
    ("TypeProto.Map", "key_type"): Named(4242, f"map({UNKNOWN_TYPE}, ?)", "type", UNKNOWN_TYPE),
}
#: values of elements in other forms than the elements themselves have
VALUES: dict[tuple[str, str], tuple[Any, object]] = {
    ("TensorProto", "raw_data"): (np.array(40961, "<i4").tobytes(), 40961),
}
#: what is set beside a field, or in a message on the way to it
CONTEXT: dict[tuple[str, str], dict[str, Any]] = {
    ("ModelProto", "graph"): {"ir_version": 10},
    ("TensorProto", "float_data"): {"data_type": 1},
    ("TensorProto", "int32_data"): {"data_type": 6},
    ("TensorProto", "string_data"): {"data_type": 8},
    ("TensorProto", "int64_data"): {"data_type": 7},
    ("TensorProto", "double_data"): {"data_type": 11},
    ("TensorProto", "uint64_data"): {"data_type": 13},
    ("TensorProto", "raw_data"): {"data_type": 6},
}
#: what the inspector does not show, and why
NOT_TOLD: dict[tuple[str, str], str] = {}

CASES = [pytest.param(case, id=str(case)) for case in list_cases(onnx_pb2, ROOTS)]


def read(case: Case) -> tuple[Model, object]:
    """Return a model in which one field is set, and what has to be found."""
    named = NAMED.get(case.key)
    if named is not None:
        value, wanted = named.value, named.label
    else:
        value, wanted = VALUES.get(case.key) or (choose_value(case.field),) * 2
    message = write_message(onnx_pb2, case, value, CONTEXT)
    if not message.HasField("graph"):
        message.graph.SetInParent()
    return load(message), wanted


@pytest.mark.parametrize("case", CASES)
def test_a_field_lands_in_the_model(case: Case) -> None:
    model, wanted = read(case)
    if case.key in VALUES:
        wanted = VALUES[case.key][0]
    named = NAMED.get(case.key)
    if named is not None and named.kept is not None:
        wanted = named.kept
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


def test_the_cases_cover_every_message_of_the_schema() -> None:
    assert not list_unreached(onnx_pb2, ROOTS)


def test_few_fields_are_not_shown() -> None:
    assert len(NOT_TOLD) <= 5


def test_sparse_tensors_of_attributes_hold_both_parts() -> None:
    proto = onnx_pb2.ModelProto()
    node = proto.graph.node.add(op_type="Constant")
    attribute = node.attribute.add(name="sparse_value", type=11)
    attribute.sparse_tensor.values.float_data.append(2.5)
    attribute.sparse_tensor.indices.int64_data.append(3)
    attribute.sparse_tensor.dims.append(5)
    value = load(proto.SerializeToString()).graph.nodes[0].attributes["sparse_value"].value
    assert isinstance(value, SparseTensor)
    assert value.indices is not None
    assert value.shape == (5,)
    assert value.indices.payload().kind == "typed"
