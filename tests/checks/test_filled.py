"""Stored numbers that are nothing to calculate with: no rule fails of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from netloupe.explorer.checks import check
from netloupe.explorer.readers.load import load

from .test_numbers import _CASES as _ON_NUMBERS
from .test_quantized_rules import CASES as _QUANTIZED

_FILLS = {
    "NaN": np.nan,
    "infinity": np.inf,
    "minus infinity": -np.inf,
    "the largest": np.finfo(np.float32).max,
    "the least": np.finfo(np.float32).smallest_subnormal,
    "zero": 0.0,
}


#: what the rules on numbers are tried on
_MODELS = [
    pytest.param(made, id=f"{rule}-{place}")
    for rule, *both in (*_ON_NUMBERS, *_QUANTIZED)
    for place, made in enumerate(both)
    if not isinstance(made, str)
]


def list_filled(model: onnx.ModelProto, number: float) -> Iterator[onnx.ModelProto]:
    """Yield the model with each array of floats filled with a number, and with all."""
    places = [
        place
        for place, tensor in enumerate(model.graph.initializer)
        if tensor.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)
    ]
    for chosen in (*([place] for place in places), places):
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        for place in chosen:
            tensor = copy.graph.initializer[place]
            array = numpy_helper.to_array(tensor)
            with np.errstate(over="ignore"):
                filled = np.full_like(array, number)
            tensor.CopyFrom(numpy_helper.from_array(filled, tensor.name))
        yield copy


@pytest.mark.parametrize("number", _FILLS.values(), ids=_FILLS.keys())
@pytest.mark.parametrize("made", _MODELS)
def test_no_rule_fails_of_numbers(made: Callable[[], onnx.ModelProto], number: float) -> None:
    for model in list_filled(made(), number):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            list(check(load(model.SerializeToString())))
