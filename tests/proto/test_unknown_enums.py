import pytest

from netloupe.proto import caffe2_pb2, onnx_pb2
from netloupe.proto.unknown_enums import read_enum_number

TYPE = b"\xa0\x01"  # field 20, varint: AttributeProto.type


@pytest.mark.parametrize(
    ("data", "number"),
    [
        (b"", None),
        (TYPE + b"\x00", 0),
        (TYPE + b"\x02", 2),
        (TYPE + b"\x63", 99),
        (TYPE + b"\xff" * 9 + b"\x01", -1),
        (TYPE + b"\x63" + TYPE + b"\x64", 100),
        (TYPE + b"\x63" + TYPE + b"\x02", 2),
        (b"\xa2\x01\x01\x63", None),  # the same field number, but of bytes
    ],
)
def test_attribute_type(data: bytes, number: int | None) -> None:
    attribute = onnx_pb2.AttributeProto.FromString(data)
    assert read_enum_number(attribute, "type") == number


def test_the_field_itself_hides_an_unknown_number() -> None:
    attribute = onnx_pb2.AttributeProto.FromString(TYPE + b"\x63")
    assert not attribute.HasField("type")
    assert attribute.type == onnx_pb2.AttributeProto.UNDEFINED
    assert attribute.SerializeToString() == TYPE + b"\x63"


def test_data_location() -> None:
    tensor = onnx_pb2.TensorProto.FromString(b"\x70\x07")
    assert tensor.data_location == onnx_pb2.TensorProto.DEFAULT
    assert read_enum_number(tensor, "data_location") == 7


def test_caffe2_data_type_does_not_pretend_to_be_the_default() -> None:
    tensor = caffe2_pb2.TensorProto.FromString(b"\x10\x63")
    assert tensor.data_type == caffe2_pb2.TensorProto.FLOAT
    assert read_enum_number(tensor, "data_type") == 99


def test_an_integer_field_needs_no_help() -> None:
    assert onnx_pb2.TensorProto.FromString(b"\x10\x63").data_type == 99
