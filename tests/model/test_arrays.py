"""Tensors where arrays are wanted: numpy's protocol, of NumPy 1 and 2, and DLPack."""

from __future__ import annotations

import numpy as np
import pytest

from netloupe import TensorDataError
from netloupe.explorer.model import Payload, Tensor, data_type
from netloupe.explorer.readers.load import load
from netloupe.proto import onnx_pb2

NUMPY_2 = np.lib.NumpyVersion(np.__version__) >= "2.0.0"
WEIGHTS = np.array([[1.5, -2.0, 0.0], [3.25, 1e30, -0.0]], np.float32)


def make_tensor(elements: np.ndarray, name: str = "") -> Tensor:
    payload = Payload("raw", elements.tobytes())
    dtype = data_type(name or elements.dtype.name)
    return Tensor("w", "main/%w", dtype, elements.shape, "raw_data", None, lambda: payload)


def test_asarray_gives_the_elements() -> None:
    array = np.asarray(make_tensor(WEIGHTS))
    assert array.shape == (2, 3)
    assert array.dtype == np.float32
    np.testing.assert_array_equal(array, WEIGHTS)
    assert float(np.abs(make_tensor(np.array([3, -4], np.int8))).max()) == 4


def test_asarray_converts_to_another_dtype() -> None:
    array = np.asarray(make_tensor(np.array([1, 2], np.int8)), dtype=np.float64)
    assert array.dtype == np.float64
    assert array.tolist() == [1.0, 2.0]


def test_array_gives_what_may_be_written_to() -> None:
    tensor = make_tensor(WEIGHTS)
    array = np.array(tensor)
    array[0, 0] = 7
    assert np.asarray(tensor)[0, 0] == 1.5


@pytest.mark.skipif(not NUMPY_2, reason="NumPy 1 has no copy=False that forbids")
def test_a_forbidden_copy_is_refused() -> None:
    with pytest.raises(ValueError, match=r"read from its file.*np.asarray"):
        np.asarray(make_tensor(WEIGHTS), copy=False)
    assert np.asarray(make_tensor(WEIGHTS), copy=True).flags.writeable


def test_the_protocol_as_numpy_1_uses_it() -> None:
    tensor = make_tensor(WEIGHTS)
    np.testing.assert_array_equal(tensor.__array__(), WEIGHTS)
    assert tensor.__array__(np.dtype(np.float64)).dtype == np.float64


def test_narrow_types_and_strings_stay_what_they_are() -> None:
    import ml_dtypes

    halves = make_tensor(np.array([1, 2], ml_dtypes.bfloat16))
    assert np.asarray(halves).dtype == ml_dtypes.bfloat16
    assert np.asarray(halves, np.float32).tolist() == [1.0, 2.0]
    payload = Payload("strings", [b"a", b"\xff"])
    strings = Tensor("s", "", data_type("string"), (2,), "string_data", None, lambda: payload)
    assert np.asarray(strings).tolist() == ["a", b"\xff"]


def test_a_sparse_tensor_is_dense_as_an_array() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    sparse = proto.graph.sparse_initializer.add(dims=[4])
    sparse.values.name = "few"
    sparse.values.data_type, sparse.indices.data_type = 1, 7
    sparse.values.dims.append(1)
    sparse.indices.dims.append(1)
    sparse.values.float_data.append(5)
    sparse.indices.int64_data.append(2)
    tensor = load(proto.SerializeToString()).graph.sparse_initializers[0]
    assert np.asarray(tensor).tolist() == [0, 0, 5, 0]
    assert np.from_dlpack(tensor).tolist() == [0, 0, 5, 0]


def test_what_cannot_be_decoded_says_so() -> None:
    tensor = Tensor("w", "w", data_type("float32"), (3,), "none", 0, lambda: Payload("absent"))
    with pytest.raises(TensorDataError):
        np.asarray(tensor)
    with pytest.raises(TensorDataError):
        np.from_dlpack(tensor)


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "bool", "complex64", "float16"])
def test_dlpack_gives_the_elements(dtype: str) -> None:
    elements = np.array([[0, 1], [2, 3]]).astype(dtype)
    tensor = make_tensor(elements)
    assert tensor.__dlpack_device__() == (1, 0)
    array = np.from_dlpack(tensor)
    assert array.dtype == elements.dtype
    np.testing.assert_array_equal(array, elements)


def test_dlpack_refuses_what_it_cannot_give() -> None:
    import ml_dtypes

    with pytest.raises(BufferError, match="without a copy"):
        make_tensor(WEIGHTS).__dlpack__(copy=False)
    with pytest.raises(BufferError, match="another device"):
        make_tensor(WEIGHTS).__dlpack__(dl_device=(2, 0))
    assert make_tensor(WEIGHTS).__dlpack__(max_version=(1, 0), dl_device=(1, 0), copy=True)
    with pytest.raises(BufferError):
        np.from_dlpack(make_tensor(np.array([1], ml_dtypes.bfloat16)))


def test_types_are_compared_by_name_and_with_those_of_numpy() -> None:
    dtype = make_tensor(WEIGHTS).dtype
    assert dtype == "float32"
    assert dtype == np.float32
    assert dtype == np.dtype("float32")
    assert np.dtype("float32") == dtype
    assert dtype == data_type("float32")
    assert dtype != "float64"
    assert dtype != np.float64
    assert dtype != np.dtype(object)
    assert dtype != "float"
    assert dtype != 1
    assert dtype != None  # noqa: E711 - the comparison is the test
    assert data_type("bfloat16") == "bfloat16"
    assert data_type("string") == "string"
    assert data_type("unknown(77)") != np.dtype(object)


def test_a_type_is_found_by_its_name_among_keys() -> None:
    assert {"float32": 1}[make_tensor(WEIGHTS).dtype] == 1  # type: ignore[index]
    assert len({data_type("int8"), "int8", data_type("int4")}) == 2
