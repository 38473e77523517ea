"""Decoding, for every dtype and storage form, against the onnx package."""

import math

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import Payload, Segment, SparseTensor, Tensor, data_type
from netloupe.explorer.tensors import decode_sparse_tensor, decode_tensor

FIELDS = {
    "float_data": np.float32,
    "int32_data": np.int32,
    "int64_data": np.int64,
    "double_data": np.float64,
    "uint64_data": np.uint64,
}
DTYPES = [
    code for name, code in TensorProto.DataType.items() if name not in ("UNDEFINED", "STRING")
]
SHAPES = [(), (0,), (1,), (3,), (4,), (5,), (2, 3), (7, 1, 3), (2, 0, 3)]


def make_tensor(dtype, dims, kind, data, storage="", segment=None):
    payload = Payload(kind, data)
    return Tensor(
        "w", "main/%w", data_type(dtype), tuple(dims), storage or kind, None, lambda: payload,
        segment=segment,
    )  # fmt: skip


def convert(proto):
    """Build our tensor from a TensorProto by hand."""
    dtype = "string" if proto.data_type == TensorProto.STRING else name_of(proto.data_type)
    if proto.HasField("raw_data"):
        return make_tensor(dtype, proto.dims, "raw", proto.raw_data, "raw_data")
    if proto.data_type == TensorProto.STRING:
        return make_tensor(dtype, proto.dims, "strings", list(proto.string_data), "string_data")
    for field, element in FIELDS.items():
        if getattr(proto, field):
            data = np.array(getattr(proto, field), element)
            return make_tensor(dtype, proto.dims, "typed", data, field)
    return make_tensor(dtype, proto.dims, "absent", b"", "none")


def name_of(code):
    return helper.tensor_dtype_to_np_dtype(code).name


def random_bytes(size):
    return np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()


def assert_same_bits(ours, theirs):
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("dims", SHAPES, ids=str)
@pytest.mark.parametrize("code", DTYPES, ids=TensorProto.DataType.Name)
def test_raw_data_equals_onnx(code, dims):
    dtype = data_type(name_of(code))
    size = (math.prod(dims) * dtype.bits + 7) // 8
    proto = TensorProto(data_type=code, dims=dims, raw_data=random_bytes(size))
    assert_same_bits(decode_tensor(convert(proto)), numpy_helper.to_array(proto))


@pytest.mark.parametrize("dims", SHAPES, ids=str)
@pytest.mark.parametrize("code", DTYPES, ids=TensorProto.DataType.Name)
def test_typed_data_equals_onnx(code, dims):
    dtype = data_type(name_of(code))
    count = math.prod(dims)
    field = helper.tensor_dtype_to_field(code)
    if dtype.is_complex:
        entries = 2 * count
    elif dtype.bits in (2, 4):
        entries = (count * dtype.bits + 7) // 8
    else:
        entries = count
    generator = np.random.default_rng(code)
    if dtype.bits in (2, 4):
        data = generator.integers(0, 256, entries)
    elif field == "int32_data" and dtype.is_integer and dtype.bits < 32:
        info = np.iinfo(dtype.numpy)
        data = generator.integers(info.min, info.max + 1, entries)
    elif field == "int32_data" and dtype.bits < 32:
        data = generator.integers(0, 2 if dtype.name == "bool" else 2**dtype.bits, entries)
    elif FIELDS[field] in (np.float32, np.float64):
        data = generator.standard_normal(entries)
    elif dtype.name == "uint32":
        data = generator.integers(0, 2**32, entries)
    else:
        info = np.iinfo(FIELDS[field])
        data = generator.integers(info.min, info.max, entries, FIELDS[field])
    proto = TensorProto(data_type=code, dims=dims)
    getattr(proto, field).extend(data.tolist())
    assert_same_bits(decode_tensor(convert(proto)), numpy_helper.to_array(proto))


def test_every_dtype_of_onnx_is_covered():
    assert len(DTYPES) + 1 == 28
    assert all(data_type(name_of(code)).is_known for code in DTYPES)


def test_strings():
    tensor = make_tensor("string", (2, 2), "strings", [b"a", "日本".encode(), b"", b"\xff\x00"])
    array = decode_tensor(tensor)
    assert array.dtype == object
    assert array.tolist() == [["a", "日本"], ["", b"\xff\x00"]]


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint4"])
def test_what_is_decoded_is_a_copy_that_can_be_written_to(dtype):
    stored = np.arange(48, dtype=np.uint8).tobytes()
    tensor = make_tensor(dtype, (384 // data_type(dtype).bits,), "raw", stored)
    array = decode_tensor(tensor)
    before = array.copy()
    array[:] = 0
    assert (decode_tensor(tensor) == before).all()
    assert stored == bytes(range(48))


def test_raw_data_from_a_memoryview():
    stored = memoryview(b"x" + np.arange(3, dtype="<i8").tobytes())[1:]
    assert decode_tensor(make_tensor("int64", (3,), "raw", stored)).tolist() == [0, 1, 2]


def test_out_of_range_integers_wrap_like_onnx():
    proto = TensorProto(data_type=TensorProto.INT8, dims=[3], int32_data=[300, -200, 5])
    assert_same_bits(decode_tensor(convert(proto)), numpy_helper.to_array(proto))


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (
            make_tensor("float32", (6,), "raw", b"12345678", "raw_data"),
            ["main/%w", "6 elements of float32", "8 bytes of raw data: 2 elements"],
        ),
        (make_tensor("float32", (2**62,), "raw", b"1234"), [str(2**62), "4 bytes"]),
        (make_tensor("int4", (2**62, 2**62), "raw", b"1234"), [str(2**124)]),
        (make_tensor("float6_e2m3fn", (2**61,), "raw", b"1234"), [str(2**61)]),
        (make_tensor("float32", (-1, 3), "raw", b""), ["[-1, 3]", "negative"]),
        (make_tensor("float32", (1,) * 65, "raw", b"1234"), ["65 dimensions"]),
        (make_tensor("float32", (1,) * 10**6, "raw", b"1234"), ["1000000 dimensions"]),
        (make_tensor("float32", (2**62, 2**62, 0), "raw", b""), [str(2**62)]),
        (make_tensor("unknown(77)", (1,), "raw", b"1"), ["unknown(77)"]),
        (make_tensor("undefined", (1,), "raw", b"1"), ["undefined"]),
        (make_tensor("float32", (2,), "absent", b""), ["stores none"]),
        (
            make_tensor("float32", (2,), "typed", np.zeros(3, np.float32), "float_data"),
            ["3 entries are stored in float_data", "expected 2"],
        ),
        (
            make_tensor("complex64", (2,), "typed", np.zeros(3, np.float32), "float_data"),
            ["3 entries", "expected 4"],
        ),
        (
            make_tensor("int2", (9,), "typed", np.zeros(2, np.int32), "int32_data"),
            ["2 entries", "expected 3"],
        ),
        (
            make_tensor("float32", (1,), "typed", np.zeros(1, np.int64), "int64_data"),
            ["float32", "int64"],
        ),
        (make_tensor("string", (2,), "strings", [b"a"]), ["2 elements", "1 string is"]),
        (make_tensor("string", (1,), "raw", b"a"), ["string", "raw"]),
        (make_tensor("float32", (1,), "strings", [b"a"]), ["float32", "strings"]),
        (
            make_tensor("uint8", (4,), "raw", b"12", segment=Segment(2, 4)),
            ["2 to 4 of 4"],
        ),
    ],
)
def test_contradictions_are_told(tensor, words):
    with pytest.raises(TensorDataError) as caught:
        decode_tensor(tensor)
    message = str(caught.value)
    assert all(word in message for word in words), message
    assert "\n" not in message


def test_a_segment_that_is_the_whole_is_read():
    tensor = make_tensor("uint8", (2,), "raw", b"12", segment=Segment(0, 2))
    assert decode_tensor(tensor).tolist() == [49, 50]


def make_sparse(values, indices, dims):
    values = convert(numpy_helper.from_array(values))
    if indices is not None:
        indices = convert(numpy_helper.from_array(np.array(indices, np.int64)))
    return SparseTensor("main/%s", values, indices, dims)


def test_sparse_with_both_forms_of_indices():
    expected = np.zeros((3, 4, 5), np.float32)
    places = [[0, 0, 1], [1, 2, 3], [2, 3, 4]]
    values = np.array([1.5, -2, 3], np.float32)
    for place, value in zip(places, values, strict=True):
        expected[tuple(place)] = value
    linear = [np.ravel_multi_index(place, expected.shape) for place in places]
    for indices in (places, linear):
        dense = decode_sparse_tensor(make_sparse(values, indices, expected.shape))
        assert_same_bits(dense, expected)


def test_sparse_one_dimension_and_nothing_given():
    dense = decode_sparse_tensor(make_sparse(np.array([7], np.int8), [[2]], (4,)))
    assert dense.tolist() == [0, 0, 7, 0]
    assert decode_sparse_tensor(make_sparse(np.zeros(0, np.int8), None, (2, 2))).sum() == 0


def test_sparse_scalar():
    assert decode_sparse_tensor(make_sparse(np.array([7], np.int8), np.empty((1, 0)), ())) == 7


@pytest.mark.parametrize(
    ("indices", "dims", "word"),
    [
        (None, (4,), "without indices"),
        ([0, 4], (4,), "outside"),
        ([0, -1], (4,), "outside"),
        ([[0, 0], [0, 3]], (2, 3), "outside"),
        ([[0, 0, 0], [0, 1, 0]], (2, 3), "need indices of shape"),
        ([0], (4,), "need indices of shape"),
        ([[0], [1]], (0,), "outside"),
        ([[0, 0], [0, 1]], (0, 2**62), "outside"),
        ([0, 1], (2**31, 2**31), "more than 268435456"),
        ([0, 1], (-4,), "negative"),
    ],
)
def test_odd_sparse_tensors_are_told(indices, dims, word):
    with pytest.raises(TensorDataError, match=word):
        decode_sparse_tensor(make_sparse(np.ones(2, np.float32), indices, dims))


def test_onnx_is_recent_enough_to_compare_with():
    assert tuple(map(int, onnx.__version__.split(".")[:2])) >= (1, 16)
