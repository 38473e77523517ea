"""Element types: the numbers that ONNX gives them."""

from __future__ import annotations

import pytest

from netloupe.explorer.model.dtype import ONNX_DATA_TYPES, data_type

_OTHER_NAMES = {"float": "float32", "double": "float64", "float4e2m1": "float4_e2m1fn"}


def test_every_number_of_the_specification_has_its_name() -> None:
    onnx = pytest.importorskip("onnx")
    numbers = dict(onnx.TensorProto.DataType.items())
    assert set(range(max(numbers.values()) + 1)) == set(numbers.values())
    for name, number in numbers.items():
        ours = ONNX_DATA_TYPES[number]
        plain = _OTHER_NAMES.get(name.lower(), name.lower())
        assert ours.replace("_", "") in (plain.replace("_", ""), plain + "fn", plain + "fnu"), name


def test_every_name_is_a_known_type() -> None:
    assert all(data_type(name).is_known for name in ONNX_DATA_TYPES)
    assert len(set(ONNX_DATA_TYPES)) == len(ONNX_DATA_TYPES)
