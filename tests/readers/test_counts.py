"""How many elements are stored is compared with the dimensions, and none is decoded for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import Model, Tensor
from netloupe.explorer.readers import source
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.protobuf import parts
from netloupe.explorer.readers.protobuf.stored_field import StoredField
from netloupe.proto import caffe2_pb2, onnx_pb2

WAYS = ("whole", "scanned")
STRINGS = [b"a", b"", b"\xff", b"long" * 300]


@contextmanager
def reading(way: str) -> Iterator[None]:
    """Read whole or with the scanner; whoever decodes a list of the file fails."""

    def refuse(*_: Any) -> Any:
        raise AssertionError("the elements are decoded")

    with pytest.MonkeyPatch.context() as patch:
        for module in (source, parts):
            patch.setattr(module, "WHOLE_BYTES", 2**40 if way == "whole" else -1)
        patch.setattr(parts, "SMALL_MESSAGE_BYTES", 0)
        patch.setattr(StoredField, "strings", refuse)
        patch.setattr(StoredField, "numbers", refuse)
        yield


def write_onnx(folder: Path, place: str = "initializer", **fields: Any) -> Path:
    proto = onnx_pb2.ModelProto(ir_version=10)
    tensor = onnx_pb2.TensorProto(name="w", **fields)
    if place == "initializer":
        proto.graph.initializer.append(tensor)
    else:
        node = proto.graph.node.add(op_type="Constant", output=["y"])
        node.attribute.add(name="value", type=onnx_pb2.AttributeProto.TENSOR, t=tensor)
    path = folder / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


def messages(model: Model) -> list[str]:
    """Return the warnings that tell of what is stored."""
    found = (warning.message for warning in model.all_warnings())
    return [message for message in found if "stored" in message or "elements are in" in message]


def only_tensor(model: Model) -> Tensor:
    (tensor,) = model.graph.initializers
    assert isinstance(tensor, Tensor)
    return tensor


#: element type, what holds the elements, how many elements they are
ONNX_LISTS: dict[str, tuple[int, dict[str, Any], int]] = {
    "string": (8, {"string_data": STRINGS}, 4),
    "float32": (1, {"float_data": [1.0, 2.0, 3.0]}, 3),
    "float64": (11, {"double_data": [1.0, 2.0, 3.0]}, 3),
    "int32": (6, {"int32_data": [1, -2, 300]}, 3),
    "int64": (7, {"int64_data": [1, -2, 300, 2**62, -(2**63)]}, 5),
    "uint64": (13, {"uint64_data": [1, 2**64 - 1]}, 2),
    "float16": (10, {"int32_data": [15360, 0]}, 2),
    "complex64": (14, {"float_data": [1.0, 2.0, 3.0, 4.0]}, 2),
    "complex128": (15, {"double_data": [1.0, 2.0]}, 1),
    "int4": (22, {"int32_data": [0x21, 0x43]}, 4),
    "uint2": (25, {"int32_data": [0x21, 0x43]}, 8),
    "float6e2m3": (27, {"int32_data": [1, 2, 3]}, 3),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", ["initializer", "attribute"])
@pytest.mark.parametrize("name", ONNX_LISTS)
def test_lists_of_onnx(tmp_path: Path, name: str, place: str, way: str) -> None:
    code, fields, size = ONNX_LISTS[name]
    (entries,) = map(len, fields.values())
    what = "strings" if name == "string" else "numbers"
    for claimed in (size, size + 8, 0):
        path = write_onnx(tmp_path, place, data_type=code, dims=[claimed], **fields)
        with reading(way):
            told = messages(load(path))
        needed = claimed * entries // size
        assert told == (
            [] if claimed == size else [f"{entries} {what} are stored where {needed} are needed"]
        )


@pytest.mark.parametrize("way", WAYS)
def test_the_bytes_of_strings_are_known_without_reading_them(tmp_path: Path, way: str) -> None:
    path = write_onnx(tmp_path, data_type=8, dims=[4], string_data=STRINGS)
    with reading(way):
        tensor = only_tensor(load(path))
        path.unlink()
        assert tensor.stored_bytes == sum(map(len, STRINGS))


def test_strings_in_parts_that_are_merged(tmp_path: Path) -> None:
    first, second = (
        onnx_pb2.TensorProto(data_type=8, dims=[2], string_data=texts).SerializeToString()
        for texts in ([b"a", b"bc"], [b"def"])
    )
    value = b"".join(b"\x2a" + bytes([len(data)]) + data for data in (first, second))
    attribute = b"\x0a\x05value" + value
    node = b"\x12\x01y\x22\x08Constant\x2a" + bytes([len(attribute)]) + attribute
    graph = b"\x0a" + bytes([len(node)]) + node
    path = tmp_path / "model.onnx"
    path.write_bytes(b"\x3a" + bytes([len(graph)]) + graph)
    for way in WAYS:
        with reading(way):
            model = load(path)
            tensor = model.graph.nodes[0].attributes["value"].value
            assert tensor.stored_bytes == 6
            # dims are joined too: [2, 2]
            assert messages(model) == ["3 strings are stored where 4 are needed"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("code", "fields", "told"),
    [
        (1, {"int64_data": [1, 2]}, "its elements are in int64_data instead of float_data"),
        (7, {"string_data": [b"a", b"b"]}, "its elements are in string_data instead of int64_data"),
        (8, {"raw_data": b"ab"}, "its elements are in raw_data instead of string_data"),
        (3, {"float_data": [1.0, 2.0]}, "its elements are in float_data instead of int32_data"),
    ],
)
def test_elements_in_the_field_of_another_type(
    tmp_path: Path, code: int, fields: dict[str, Any], told: str, way: str
) -> None:
    path = write_onnx(tmp_path, data_type=code, dims=[2], **fields)
    with reading(way):
        tensor = only_tensor(load(path))
        assert [warning.message for warning in tensor.warnings] == [told]
    with pytest.raises(TensorDataError, match="cannot be stored as"):
        tensor.numpy()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("size", "stored", "told"),
    [
        (2, 2, []),
        (2, 3, []),  # the last group of four elements is filled up to its three bytes
        (4, 3, []),
        (4, 4, ["4 bytes are stored where 3 are claimed"]),
        (2, 1, ["1 byte is stored where 2 are claimed"]),
    ],
)
def test_bytes_of_six_bit_elements(
    tmp_path: Path, size: int, stored: int, told: list[str], way: str
) -> None:
    path = write_onnx(tmp_path, data_type=27, dims=[size], raw_data=bytes(stored))
    with reading(way):
        tensor = only_tensor(load(path))
        assert [warning.message for warning in tensor.warnings] == told
    if not told:
        assert tensor.numpy().shape == (size,)


@pytest.mark.parametrize("way", WAYS)
def test_a_segment_holds_its_own_elements(tmp_path: Path, way: str) -> None:
    for stored, told in ((2, []), (3, ["3 numbers are stored where 2 are needed"])):
        path = write_onnx(
            tmp_path,
            data_type=1,
            dims=[10],
            float_data=[1.0] * stored,
            segment={"begin": 4, "end": 6},
        )
        with reading(way):
            assert messages(load(path)) == told


def test_long_lists_of_integers_are_judged_by_their_bytes(tmp_path: Path) -> None:
    count = 2**20 // 2 + 1  # of two bytes each: just over what is looked at to count them
    most, least = 2 * count, -(-2 * count // 10)
    cases: list[tuple[int, list[str]]] = [
        (count, []),
        (most, []),
        (least, []),
        (most + 1, [f"at most {most} numbers are stored where {most + 1} are needed"]),
        (3, [f"at least {least} numbers are stored where 3 are needed"]),
    ]
    for claimed, told in cases:
        path = write_onnx(tmp_path, data_type=7, dims=[claimed], int64_data=[300] * count)
        with reading("scanned"):
            assert messages(load(path)) == told
    path = write_onnx(tmp_path, data_type=7, dims=[2 * count], int64_data=[300] * count)
    with pytest.raises(TensorDataError, match=f"{count:,} entries are stored in int64_data"):
        only_tensor(load(path)).numpy()


def test_a_file_that_is_gone_contradicts_nothing(tmp_path: Path) -> None:
    path = write_onnx(tmp_path, data_type=7, dims=[4], int64_data=[1] * 5)
    with reading("scanned"):
        tensor = only_tensor(load(path))
        path.unlink()
        assert tensor.warnings == ()
    with pytest.raises(TensorDataError, match="it is gone"):
        tensor.numpy()


def test_sparse_tensors_tell_of_their_parts(tmp_path: Path) -> None:
    proto = onnx_pb2.ModelProto(ir_version=10)
    sparse = proto.graph.sparse_initializer.add(dims=[9])
    sparse.values.CopyFrom(onnx_pb2.TensorProto(name="s", data_type=1, dims=[2], float_data=[1]))
    sparse.indices.CopyFrom(onnx_pb2.TensorProto(data_type=7, dims=[2], int64_data=[1, 2, 3]))
    path = tmp_path / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    for way in WAYS:
        with reading(way):
            assert messages(load(path)) == [
                "1 number is stored where 2 are needed",
                "3 numbers are stored where 2 are needed",
            ]


def fill(kind: str, shape: int, **values: Any) -> caffe2_pb2.NetDef:
    net = caffe2_pb2.NetDef(name="init")
    operator = net.op.add(type=kind, output=["w"])
    operator.arg.add(name="shape", ints=[shape])
    operator.arg.add(name="values", **values)
    net.op.add(type="Relu", input=["w"], output=["y"])
    return net


CAFFE2_FILLS: dict[str, tuple[dict[str, Any], int, int]] = {
    "GivenTensorStringFill": ({"strings": STRINGS}, 4, sum(map(len, STRINGS))),
    "GivenTensorByteStringToUInt8Fill": ({"strings": STRINGS}, 1202, 1202),
    "Int8GivenTensorFill": ({"s": b"abc"}, 3, 3),
    "GivenTensorFill": ({"floats": [1.0, 2.0]}, 2, 8),
    "GivenTensorInt64Fill": ({"ints": [1, 300, -1]}, 3, 24),
    "GivenTensorIntFill": ({"ints": [1, 300, -1]}, 3, 12),
    "GivenTensorBoolFill": ({"ints": [1, 0]}, 2, 2),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", CAFFE2_FILLS)
def test_fills_of_caffe2(tmp_path: Path, kind: str, way: str) -> None:
    values, count, size = CAFFE2_FILLS[kind]
    path = tmp_path / "net.pb"
    for claimed in (count, count + 1):
        path.write_bytes(fill(kind, claimed, **values).SerializeToString())
        with reading(way):
            model = load(path)
            told = messages(model)
            tensor = model.graph.nodes[0].details.constant
            assert tensor is not None
            assert tensor.stored_bytes == size
        elements = "1 element is" if count == 1 else f"{count} elements are"
        assert told == (
            [] if claimed == count else [f"{elements} stored where {claimed} are claimed"]
        )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("data_type", "fields"),
    [
        (4, {"string_data": [b"a", b"", b"c"]}),
        (1, {"float_data": [1, 2, 3]}),
        (2, {"int32_data": [1, -2, 300]}),
        (10, {"int64_data": [1, -2, 300]}),
        (13, {"double_data": [1, 2, 3]}),
    ],
)
def test_tensors_of_caffe2(
    tmp_path: Path, data_type: int, fields: dict[str, Any], way: str
) -> None:
    path = tmp_path / "tensors.pb"
    for claimed in (3, 4):
        tensors = caffe2_pb2.TensorProtos()
        tensors.protos.add(name="w", dims=[claimed], data_type=data_type, **fields)
        path.write_bytes(tensors.SerializeToString())
        with reading(way):
            told = messages(load(path))
        assert told == ([] if claimed == 3 else ["3 elements are stored where 4 are claimed"])
