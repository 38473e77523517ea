"""Tensors, sequences, maps and optionals that stand alone, as data sets of models hold them."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from google.protobuf import json_format, text_format
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases

from netloupe.explorer.errors import ModelFormatError, TensorDataError
from netloupe.explorer.readers.load import load
from netloupe.proto import onnx_data_pb2


def messages(model: Any) -> list[str]:
    return [warning.message for warning in model.all_warnings()]


def load_proto(proto: Any) -> Any:
    return load(proto.SerializeToString())


def test_a_tensor_without_elements_and_without_a_data_field() -> None:
    for dims in ([0], [3, 0], [0, 2**40]):
        model = load_proto(TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims))
        assert (model.format, messages(model)) == ("ONNX TensorProto", [])
        assert model["w"].shape == tuple(dims)
    assert load_proto(TensorProto(data_type=7, dims=[0])).graph.initializers[0].numpy().size == 0


def test_raw_data_that_does_not_fit_the_dimensions() -> None:
    proto = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[3], raw_data=bytes(8))
    model = load_proto(proto)
    assert messages(model) == ["8 bytes are stored where 12 are claimed"]
    with pytest.raises(TensorDataError, match="8 bytes of raw data: 2 elements"):
        model["w"].numpy()


@pytest.mark.parametrize("code", [0, 29, 999])
def test_types_that_are_unknown(code: int) -> None:
    model = load_proto(TensorProto(name="w", data_type=code, dims=[2], raw_data=bytes(8)))
    assert model.format == "ONNX TensorProto"
    assert f"the element type is {'undefined' if code == 0 else f'unknown({code})'}" in messages(
        model
    )


def test_a_sequence_of_tensors() -> None:
    arrays = [np.ones((2, 3), np.float32), np.arange(4, dtype=np.float32)]
    model = load_proto(numpy_helper.from_list(arrays, "seq"))
    assert (model.format, messages(model)) == ("ONNX SequenceProto", [])
    assert str(model["seq"].type) == "sequence(float32)"
    for index, array in enumerate(arrays):
        value = model.graph.values[f"seq[{index}]"]
        assert (value.initializer.numpy() == array).all()
        assert value.type == value.initializer.type
    assert model.to_svg()


def test_a_map_of_integers_and_one_of_strings() -> None:
    model = load_proto(numpy_helper.from_dict({7: np.ones(2), 9: np.zeros(2)}, "m"))
    assert (model.format, str(model["m"].type)) == ("ONNX MapProto", "map(int64, float64[2])")
    assert model["m[9]"].numpy().tolist() == [0, 0]
    proto = onnx_data_pb2.MapProto(name="m", key_type=TensorProto.STRING)
    proto.string_keys.extend([b'a"b', b"\xff"])
    sequence = numpy_helper.from_list([np.ones(1), np.zeros(1)])
    proto.values.MergeFromString(sequence.SerializeToString())
    assert [*load_proto(proto).graph.values] == ["m", 'm["a\\"b"]', 'm["\\\\xff"]']
    del proto.string_keys[1]
    assert messages(load_proto(proto)) == ["has 1 key and 2 values"]


def test_an_optional_with_a_sequence_within_a_sequence() -> None:
    inner = numpy_helper.from_list([np.ones(2), np.zeros(2)], "")
    proto = onnx_data_pb2.SequenceProto(name="s", elem_type=onnx_data_pb2.SequenceProto.OPTIONAL)
    for _ in range(2):
        optional = proto.optional_values.add(elem_type=onnx_data_pb2.OptionalProto.SEQUENCE)
        optional.sequence_value.MergeFromString(inner.SerializeToString())
    model = load_proto(proto)
    assert str(model["s"].type) == "sequence(optional(sequence(float64[2])))"
    assert [*model.graph.values] == ["s", "s[0][0]", "s[0][1]", "s[1][0]", "s[1][1]"]


def test_sparse_tensors_of_a_sequence() -> None:
    values = numpy_helper.from_array(np.float32([1, 2]), "v")
    indices = numpy_helper.from_array(np.int64([1, 3]))
    sparse = onnx.helper.make_sparse_tensor(values, indices, [5])
    proto = onnx.SequenceProto(name="s", elem_type=2, sparse_tensor_values=[sparse, sparse])
    model = load_proto(proto)
    assert [t.numpy().tolist() for t in model.graph.sparse_initializers] == [[0, 1, 0, 2, 0]] * 2


def test_a_sequence_of_one_and_an_optional_are_written_alike_and_that_is_said() -> None:
    sequence = numpy_helper.from_list([np.ones(3, np.int8)], "y")
    optional = numpy_helper.from_optional(np.ones(3, np.int8), "y")
    assert sequence.SerializeToString() == optional.SerializeToString()
    model = load_proto(sequence)
    assert model.format == "ONNX SequenceProto or OptionalProto"
    assert "written alike" in messages(model)[0]
    assert model["y[0]"].numpy().tolist() == [1, 1, 1]


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_text_says_which_of_them_it_is(form: str) -> None:
    optional = numpy_helper.from_optional(np.ones(3, np.int8), "y")
    write = text_format.MessageToString if form == "text" else json_format.MessageToJson
    model = load(write(optional).encode())
    assert (model.format, str(model["y"].type)) == ("ONNX OptionalProto", "optional(int8[3])")


def test_an_element_type_that_is_not_that_of_the_elements_is_said() -> None:
    text = b'name: "y" elem_type: 3 tensor_value { dims: 1 data_type: 3 raw_data: "a" }'
    assert messages(load(text)) == ["holds tensor_value, but gives 3 as element type"]


def list_data() -> Iterator[tuple[str, Any]]:
    """Yield the inputs and outputs of all cases of onnx's own backend tests as messages."""
    for case in collect_testcases(None):
        graph = case.model.graph
        for inputs, outputs in case.data_sets or ():
            for infos, values in ((graph.input, inputs), (graph.output, outputs)):
                for info, value in zip(infos, values, strict=False):
                    kind = info.type.WhichOneof("value")
                    if isinstance(value, TensorProto):
                        yield case.name, value
                    elif kind == "sequence_type":
                        yield case.name, numpy_helper.from_list(value, info.name)
                    elif kind == "optional_type":
                        yield case.name, numpy_helper.from_optional(value, info.name)
                    else:
                        yield case.name, numpy_helper.from_array(np.asarray(value), info.name)


def test_the_data_of_onnx_are_shown_as_what_they_are() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = list(list_data())
    kinds = set()
    for name, proto in data:
        kind = type(proto).__name__
        model = load_proto(proto)
        assert kind in model.format, (name, model.format)
        kinds.add(kind)
        if kind == "TensorProto" and proto.name:
            array = numpy_helper.to_array(proto)
            assert model.graph.initializers[0].numpy().shape == array.shape
    assert kinds == {"TensorProto", "SequenceProto", "OptionalProto"}
    assert len(data) > 1000


@pytest.mark.parametrize(
    "data",
    [
        b"\x10\x00",  # an optional without value and name: nothing tells it from anything else
        b"\x10\x06",  # no element type
        b"\x10\x01\x2a\x00",  # elements of another type
        b"\x0a\x01\x00\x10\x00",  # a name that is no text
        struct.pack("<8f", *range(8)),
    ],
)
def test_what_is_no_value_is_refused(data: bytes) -> None:
    with pytest.raises(ModelFormatError):
        load(data)
